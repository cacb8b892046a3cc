//! Pseudoinverses and least squares, of batches.

use crate::batch::{Batch, Strided, each};
use crate::block::{Block, set_product};
use crate::field::{Field, Real};
use crate::householder;
use crate::spectral;
use crate::triangular::{LOWER, UPPER, solve_left};
use crate::values::{Failures, Outcome};
use crate::with_field;
use rushlight_base::Result;
use rushlight_cpu::Array;

/// Tolerances of singular values: an absolute one, and one that is relative to the largest.
pub struct Tolerances<'a> {
    /// In the real dtype, of the shape of the batch or broadcast to it.
    pub absolute: &'a Array<'a>,
    /// The same.
    pub relative: &'a Array<'a>,
}

/// out = the Moore-Penrose pseudoinverse of a, in which singular values up to a tolerance count as 0.
pub fn pseudoinverse(out: &Array, a: &Array, tolerances: &Tolerances, hermitian: bool) -> Result<Outcome> {
    let failures = Failures::new();
    with_field!("linalg_svd_cpu", a.dtype(), T => {
        type R = <T as Field>::Real;
        let sizes = &out.sizes()[..out.ndim() - 2];
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(a, 2, sizes)?);
        let (absolute, relative) = (
            Batch::<R>::new(tolerances.absolute, 0, sizes)?,
            Batch::<R>::new(tolerances.relative, 0, sizes)?,
        );
        let (rows, columns) = (a.size(a.ndim() - 2), a.size(a.ndim() - 1));
        let order = rows.min(columns);
        let scratch = order + 2 * rows * columns + 2 * order * (rows + columns);
        each::<T>(to.len(), 20 * rows * columns * order, scratch, &|index, spare| {
            let (values, spare) = spare.split_at_mut(order);
            let (own, spare) = spare.split_at_mut(rows * columns);
            let (u, spare) = spare.split_at_mut(rows * order);
            let (v, spare) = spare.split_at_mut(columns * order);
            let (adjoint, spare) = spare.split_at_mut(rows * order);
            let (mut own, mut u) = (Block::over(own, rows, columns), Block::over(u, rows, order));
            let (mut v, mut adjoint) = (Block::over(v, columns, order), Block::over(adjoint, order, rows));
            from.matrix(index).load(&mut own);
            let finite = own.is_finite();
            let converged = finite && if hermitian {
                let converged = spectral::hermitian(&mut own, values, Some(&mut u))?;
                v.copy_from(&u);
                converged
            } else {
                spectral::singular(&mut own, values, Some((&mut u, &mut v)))?
            };
            if !converged {
                failures.add(index, finite);
                return Ok(());
            }
            let largest = values.iter().map(|value| Field::abs(value.re())).fold(R::ZERO, |most, value| most.max(value));
            let bound = absolute.matrix(index).take(0).max(relative.matrix(index).take(0) * largest);
            for (column, &value) in values.iter().enumerate() {
                let factor = if Field::abs(value.re()) > bound { R::ONE / value.re() } else { R::ZERO };
                v.column_mut(column).iter_mut().for_each(|value| *value = value.scale(factor));
            }
            adjoint.copy_adjoint(&u);
            to.matrix(index).write(spare, |block, _| set_product(block, 1.0, &v, &adjoint))
        })
    })?;
    Ok(failures.outcome())
}

/// The results of least squares.
pub struct Solution<'a> {
    /// (*, n, k)
    pub solution: &'a Array<'a>,
    /// The rank, int64.
    pub rank: Option<&'a Array<'a>>,
    /// The singular values.
    pub values: Option<&'a Array<'a>>,
}

/// The solution of least norm of the X that minimize |A X - B|, for an A of full rank.
pub fn least_squares_of_full_rank(out: &Array, a: &Array, b: &Array) -> Result<()> {
    with_field!("linalg_lstsq", a.dtype(), T => {
        let sizes = &out.sizes()[..out.ndim() - 2];
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(b, 2, sizes)?);
        let matrices = Batch::<T>::new(a, 2, sizes)?;
        let system = Size::of(a, b);
        each::<T>(to.len(), system.cost(), system.scratch(), &|index, spare| {
            by_factors(system, matrices.matrix(index), from.matrix(index), to.matrix(index), None, spare).map(|_| ())
        })
    })
}

/// The sizes of a system A X = B.
#[derive(Clone, Copy)]
struct Size {
    rows: usize,
    columns: usize,
    /// Columns of B.
    width: usize,
}

impl Size {
    fn of(a: &Array, b: &Array) -> Size {
        Size { rows: a.size(a.ndim() - 2), columns: a.size(a.ndim() - 1), width: b.size(b.ndim() - 1) }
    }

    fn order(self) -> usize {
        self.rows.min(self.columns)
    }

    fn tall(self) -> usize {
        self.rows.max(self.columns)
    }

    /// Multiplications of [`by_factors`].
    fn cost(self) -> usize {
        2 * self.rows * self.columns * (self.order() + self.width)
    }

    /// Elements of working memory of [`by_factors`].
    fn scratch(self) -> usize {
        let (tall, order) = (self.tall(), self.order());
        order + tall * order + order * order + tall * self.width + householder::scratch(tall, order.max(self.width))
    }
}

/// Solves a system by a QR factorization. With a tolerance of singular values relative to the largest, only if no
/// singular value is within it beyond doubt; returns whether it solved the system.
fn by_factors<T: Field>(
    size: Size,
    matrix: Strided<T>,
    right: Strided<T>,
    result: Strided<T>,
    tolerance: Option<f64>,
    spare: &mut [T],
) -> Result<bool> {
    let (tall, order) = (size.tall(), size.order());
    let (tau, spare) = spare.split_at_mut(order);
    let (factors, spare) = spare.split_at_mut(tall * order);
    let (triangle, spare) = spare.split_at_mut(order * order);
    let (x, spare) = spare.split_at_mut(tall * size.width);
    let (mut factors, mut x) = (Block::over(factors, tall, order), Block::over(x, tall, size.width));
    let mut triangle = Block::over(triangle, order, order);
    let is_tall = size.rows >= size.columns;
    if is_tall {
        matrix.load(&mut factors);
    } else {
        matrix.load_adjoint(&mut factors);
    }
    householder::factorize(&mut factors, tau, spare)?;
    if let Some(tolerance) = tolerance
        && !is_of_full_rank(&mut factors, &mut triangle, tolerance)?
    {
        return Ok(false);
    }
    x.fill(T::ZERO);
    let (mut known, _) = x.again().split_rows(size.rows);
    right.load(&mut known);
    if is_tall {
        // A = Q R: X = R^-1 Q^H B.
        householder::apply(&mut factors, tau, true, &mut x, spare)?;
        let (mut top, _) = x.again().split_rows(size.columns);
        let (r, _) = factors.again().split_rows(size.columns);
        solve_left(&r.view(), UPPER, &mut top)?;
    } else {
        // A^H = Q R: X = Q R^-H B.
        let (r, _) = factors.again().split_rows(size.rows);
        triangle.copy_adjoint(&r);
        let (mut top, _) = x.again().split_rows(size.rows);
        solve_left(&triangle.view(), LOWER, &mut top)?;
        householder::apply(&mut factors, tau, false, &mut x, spare)?;
    }
    let (solution, _) = x.split_rows(size.columns);
    result.store(&solution);
    Ok(true)
}

/// Whether the smallest singular value of R is larger than `tolerance` times the largest beyond doubt: their ratio is at
/// least 1 / (|R| |R^-1|) in Frobenius norms. `inverse` is working memory.
fn is_of_full_rank<T: Field>(factors: &mut Block<'_, T>, inverse: &mut Block<'_, T>, tolerance: f64) -> Result<bool> {
    let order = inverse.rows();
    let (r, _) = factors.again().split_rows(order);
    inverse.set_identity();
    solve_left(&r.view(), UPPER, inverse)?;
    let squares = |block: &Block<'_, T>| -> f64 {
        let column = |at: usize| block.column(at)[..=at].iter().map(|value| value.abs().to_f64().powi(2)).sum::<f64>();
        (0..order).map(column).sum()
    };
    // NaN compares as false.
    Ok((squares(&r) * squares(inverse)).sqrt() * tolerance < 0.5)
}

/// The solution of least norm of the X that minimize |A X - B|, where singular values up to `tolerance` times the largest
/// count as 0. A caller that does not want the singular values passes none: systems of full rank are then solved by a
/// QR factorization.
pub fn least_squares(out: &Solution, a: &Array, b: &Array, tolerance: f64) -> Result<Outcome> {
    let failures = Failures::new();
    with_field!("linalg_lstsq", a.dtype(), T => {
        type R = <T as Field>::Real;
        let solution = out.solution;
        let sizes = &solution.sizes()[..solution.ndim() - 2];
        let (to, from) = (Batch::<T>::new(solution, 2, sizes)?, Batch::<T>::new(b, 2, sizes)?);
        let matrices = Batch::<T>::new(a, 2, sizes)?;
        let ranks = out.rank.map(|rank| Batch::<i64>::new(rank, 0, sizes)).transpose()?;
        let spectrum = out.values.map(|values| Batch::<R>::new(values, 1, sizes)).transpose()?;
        let system = Size::of(a, b);
        let (Size { rows, columns, width }, order) = (system, system.order());
        let scratch = order * (2 * rows + columns + 1) + rows * columns + (rows + order + columns) * width;
        each::<T>(to.len(), 20 * rows * columns * order, scratch.max(system.scratch()), &|index, spare| {
            let (matrix, right) = (matrices.matrix(index), from.matrix(index));
            let by_factors = |spare: &mut [T]| by_factors(system, matrix, right, to.matrix(index), Some(tolerance), spare);
            if spectrum.is_none() && by_factors(spare)? {
                if let Some(ranks) = &ranks {
                    ranks.matrix(index).put(0, order as i64);
                }
                return Ok(());
            }
            let (values, spare) = spare.split_at_mut(order);
            let (own, spare) = spare.split_at_mut(rows * columns);
            let (u, spare) = spare.split_at_mut(rows * order);
            let (v, spare) = spare.split_at_mut(columns * order);
            let (adjoint, spare) = spare.split_at_mut(rows * order);
            let (known, spare) = spare.split_at_mut(rows * width);
            let (turned, spare) = spare.split_at_mut(order * width);
            let (mut own, mut u) = (Block::over(own, rows, columns), Block::over(u, rows, order));
            let (mut v, mut adjoint) = (Block::over(v, columns, order), Block::over(adjoint, order, rows));
            let (mut known, mut turned) = (Block::over(known, rows, width), Block::over(turned, order, width));
            matrix.load(&mut own);
            right.load(&mut known);
            let finite = own.is_finite();
            if !(finite && (order == 0 || spectral::singular(&mut own, values, Some((&mut u, &mut v)))?)) {
                failures.add(index, finite);
                return Ok(());
            }
            adjoint.copy_adjoint(&u);
            set_product(&mut turned, 1.0, &adjoint, &known)?;
            let bound = values.first().map_or(R::ZERO, |value| value.re()) * (tolerance as R);
            let mut rank = 0;
            for (row, value) in values.iter().enumerate() {
                let counts = value.re() > bound;
                rank += i64::from(counts);
                let factor = if counts { R::ONE / value.re() } else { R::ZERO };
                for column in 0..width {
                    let scaled = turned.get(row, column).scale(factor);
                    turned.set(row, column, scaled);
                }
            }
            to.matrix(index).write(spare, |block, _| set_product(block, 1.0, &v, &turned))?;
            if let Some(ranks) = &ranks {
                ranks.matrix(index).put(0, rank);
            }
            if let Some(spectrum) = &spectrum {
                let spectrum = spectrum.matrix(index);
                values.iter().enumerate().for_each(|(at, value)| spectrum.put(at, value.re()));
            }
            Ok(())
        })
    })?;
    Ok(failures.outcome())
}
