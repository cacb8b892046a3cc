//! Pseudoinverses and least squares, of batches.

use crate::batch::{Batch, each};
use crate::block::{Block, set_product};
use crate::field::Field;
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
        let (rows, columns) = (a.size(a.ndim() - 2), a.size(a.ndim() - 1));
        let width = b.size(b.ndim() - 1);
        let (tall, order) = (rows.max(columns), rows.min(columns));
        let scratch = order + tall * order + order * order + tall * width + householder::scratch(tall, order.max(width));
        each::<T>(to.len(), 2 * rows * columns * (order + width), scratch, &|index, spare| {
            let (tau, spare) = spare.split_at_mut(order);
            let (factors, spare) = spare.split_at_mut(tall * order);
            let (triangle, spare) = spare.split_at_mut(order * order);
            let (x, spare) = spare.split_at_mut(tall * width);
            let (mut factors, mut x) = (Block::over(factors, tall, order), Block::over(x, tall, width));
            let mut triangle = Block::over(triangle, order, order);
            x.fill(T::ZERO);
            let (mut known, _) = x.again().split_rows(rows);
            from.matrix(index).load(&mut known);
            let matrix = matrices.matrix(index);
            if rows >= columns {
                matrix.load(&mut factors);
                householder::factorize(&mut factors, tau, spare)?;
                householder::apply(&mut factors, tau, true, &mut x, spare)?;
                let (mut top, _) = x.again().split_rows(columns);
                let (mut r, _) = factors.again().split_rows(columns);
                solve_left(&mut r, UPPER, &mut top)?;
            } else {
                // A^H = Q R: X = Q R^-H B.
                matrix.load_adjoint(&mut factors);
                householder::factorize(&mut factors, tau, spare)?;
                let (r, _) = factors.again().split_rows(rows);
                triangle.copy_adjoint(&r);
                let (mut top, _) = x.again().split_rows(rows);
                solve_left(&mut triangle, LOWER, &mut top)?;
                householder::apply(&mut factors, tau, false, &mut x, spare)?;
            }
            let (solution, _) = x.split_rows(columns);
            to.matrix(index).store(&solution);
            Ok(())
        })
    })
}

/// The solution of least norm of the X that minimize |A X - B|, where singular values up to `tolerance` times the largest
/// count as 0.
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
        let (rows, columns) = (a.size(a.ndim() - 2), a.size(a.ndim() - 1));
        let (order, width) = (rows.min(columns), b.size(b.ndim() - 1));
        let scratch = order * (2 * rows + columns + 1) + rows * columns + (rows + order + columns) * width;
        each::<T>(to.len(), 20 * rows * columns * order, scratch, &|index, spare| {
            let (values, spare) = spare.split_at_mut(order);
            let (own, spare) = spare.split_at_mut(rows * columns);
            let (u, spare) = spare.split_at_mut(rows * order);
            let (v, spare) = spare.split_at_mut(columns * order);
            let (adjoint, spare) = spare.split_at_mut(rows * order);
            let (right, spare) = spare.split_at_mut(rows * width);
            let (turned, spare) = spare.split_at_mut(order * width);
            let (mut own, mut u) = (Block::over(own, rows, columns), Block::over(u, rows, order));
            let (mut v, mut adjoint) = (Block::over(v, columns, order), Block::over(adjoint, order, rows));
            let (mut right, mut turned) = (Block::over(right, rows, width), Block::over(turned, order, width));
            matrices.matrix(index).load(&mut own);
            from.matrix(index).load(&mut right);
            let finite = own.is_finite();
            if !(finite && (order == 0 || spectral::singular(&mut own, values, Some((&mut u, &mut v)))?)) {
                failures.add(index, finite);
                return Ok(());
            }
            adjoint.copy_adjoint(&u);
            set_product(&mut turned, 1.0, &adjoint, &right)?;
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
