//! Factorizations, linear systems, inverses and determinants, of batches.

use crate::batch::{Batch, Strided, each};
use crate::block::Block;
use crate::field::Field;
use crate::triangular::{LOWER, Triangle, UNIT_LOWER, UPPER, solve_left, solve_right};
use crate::{cholesky as llh, householder, lanes, lu, with_field};
use rushlight_base::{DimVec, Result};
use rushlight_cpu::Array;

/// The batch dimensions of an array of matrices.
fn batch_of<'a>(array: &Array<'a>, dims: usize) -> &'a [i64] {
    &array.sizes()[..array.ndim() - dims]
}

/// A block in the memory of `spare`, and the rest.
fn carve<T: Field>(spare: &mut [T], rows: usize, columns: usize) -> (Block<'_, T>, &mut [T]) {
    let (own, rest) = spare.split_at_mut(rows * columns);
    (Block::over(own, rows, columns), rest)
}

/// out = L of a = L L^H, or U of a = U^H U (`upper`), of which that triangle is read; `info` is the order of the leading
/// minor that is not positive-definite, or 0.
pub fn cholesky(out: &Array, info: &Array, a: &Array, upper: bool) -> Result<()> {
    with_field!("cholesky", a.dtype(), T => {
        let sizes = batch_of(a, 2);
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(a, 2, sizes)?);
        let status = Batch::<i32>::new(info, 0, sizes)?;
        let order = a.size(a.ndim() - 1);
        let scratch = order * order + llh::scratch(order);
        each::<T>(from.len(), order.pow(3) / 3, scratch, &|index, spare| {
            let matrix = from.matrix(index);
            // The upper factor is the conjugate transpose of the lower one.
            let (matrix, target) = if upper { (matrix.transposed(), to.matrix(index).transposed()) } else { (matrix, to.matrix(index)) };
            target.write(spare, |block, spare| {
                if upper { matrix.load_conjugate(block) } else { matrix.load(block) }
                status.matrix(index).put(0, llh::factorize(block, spare)?);
                block.clear_above();
                if upper {
                    block.conjugate();
                }
                Ok(())
            })
        })
    })
}

/// out = X of L L^H X = b, or of U^H U X = b (`upper`).
pub fn cholesky_solve(out: &Array, b: &Array, l: &Array, upper: bool) -> Result<()> {
    with_field!("cholesky_solve", b.dtype(), T => {
        let sizes = batch_of(out, 2);
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(b, 2, sizes)?);
        let factors = Batch::<T>::new(l, 2, sizes)?;
        let (order, columns) = (l.size(l.ndim() - 1), b.size(b.ndim() - 1));
        if lanes::fits(to.len(), order, columns) {
            return lanes::cholesky_solve([order, columns], &to, &factors, upper, &from);
        }
        each::<T>(to.len(), order * order * columns, order * (2 * order + columns), &|index, spare| {
            let (mut lower, spare) = carve(spare, order, order);
            let (mut adjoint, spare) = carve(spare, order, order);
            load_factor(factors.matrix(index), upper, &mut lower, &mut adjoint);
            to.matrix(index).write(spare, |x, _| {
                from.matrix(index).load(x);
                solve_left(&lower.view(), LOWER, x)?;
                solve_left(&adjoint.view(), UPPER, x)
            })
        })
    })
}

/// L and L^H of a factor that is L or L^H.
fn load_factor<T: Field>(factor: Strided<T>, upper: bool, lower: &mut Block<'_, T>, adjoint: &mut Block<'_, T>) {
    if upper {
        factor.load(adjoint);
        factor.load_adjoint(lower);
    } else {
        factor.load(lower);
        factor.load_adjoint(adjoint);
    }
}

/// out = the inverse of L L^H, or of U^H U (`upper`); `info` is the number of the first zero on the diagonal, or 0.
pub fn cholesky_inverse(out: &Array, info: &Array, l: &Array, upper: bool) -> Result<()> {
    with_field!("cholesky_inverse", l.dtype(), T => {
        let sizes = batch_of(out, 2);
        let status = Batch::<i32>::new(info, 0, sizes)?;
        let (to, factors) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(l, 2, sizes)?);
        let order = l.size(l.ndim() - 1);
        each::<T>(to.len(), order.pow(3), 3 * order * order, &|index, spare| {
            let (mut lower, spare) = carve(spare, order, order);
            let (mut adjoint, spare) = carve(spare, order, order);
            load_factor(factors.matrix(index), upper, &mut lower, &mut adjoint);
            let zero = (0..order).find(|&at| lower.get(at, at) == T::ZERO);
            status.matrix(index).put(0, zero.map_or(0, |at| at as i32 + 1));
            to.matrix(index).write(spare, |x, _| {
                x.set_identity();
                solve_left(&lower.view(), LOWER, x)?;
                solve_left(&adjoint.view(), UPPER, x)
            })
        })
    })
}

/// out = L and U of a = P L U, in one matrix; `pivots` and `info` are those of `getrf`.
pub fn lu_factor(out: &Array, pivots: &Array, info: &Array, a: &Array) -> Result<()> {
    with_field!("lu_factor", a.dtype(), T => {
        let sizes = batch_of(a, 2);
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(a, 2, sizes)?);
        let (exchanges, status) = (Batch::<i32>::new(pivots, 1, sizes)?, Batch::<i32>::new(info, 0, sizes)?);
        let (rows, columns) = (a.size(a.ndim() - 2), a.size(a.ndim() - 1));
        let order = rows.min(columns);
        if rows == columns && lanes::fits(from.len(), order, 1) {
            return lanes::lu_factor(order, &to, &exchanges, &status, &from);
        }
        each::<T>(from.len(), rows * columns * order, rows * columns, &|index, spare| {
            let mut own = Pivots::new(order)?;
            to.matrix(index).write(spare, |block, _| {
                from.matrix(index).load(block);
                status.matrix(index).put(0, lu::factorize(block, own.numbers())?);
                Ok::<(), rushlight_base::Error>(())
            })?;
            own.store(exchanges.matrix(index));
            Ok(())
        })
    })
}

/// The pivots of a matrix.
pub(crate) struct Pivots {
    few: [i32; 32],
    many: Vec<i32>,
    count: usize,
}

impl Pivots {
    pub(crate) fn new(count: usize) -> Result<Pivots> {
        let many = if count > 32 { rushlight_base::list::filled(count, 0)? } else { Vec::new() };
        Ok(Pivots { few: [0; 32], many, count })
    }

    pub(crate) fn load(from: Strided<i32>) -> Result<Pivots> {
        let mut own = Pivots::new(from.rows)?;
        own.numbers().iter_mut().enumerate().for_each(|(at, pivot)| *pivot = from.take(at));
        Ok(own)
    }

    pub(crate) fn numbers(&mut self) -> &mut [i32] {
        if self.count > 32 { &mut self.many } else { &mut self.few[..self.count] }
    }

    pub(crate) fn store(&mut self, to: Strided<i32>) {
        self.numbers().iter().enumerate().for_each(|(at, &pivot)| to.put(at, pivot));
    }
}

/// The side of a system that the matrix is on, and how it is read.
#[derive(Clone, Copy)]
pub struct Side {
    /// A X = B, else X A = B.
    pub left: bool,
    /// With the conjugate transpose of A.
    pub adjoint: bool,
}

/// out = X of A X = b and the like, for the factors of A = P L U.
pub fn lu_solve(out: &Array, factors: &Array, pivots: &Array, b: &Array, side: Side) -> Result<()> {
    with_field!("lu_solve", b.dtype(), T => {
        let sizes = batch_of(out, 2);
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(b, 2, sizes)?);
        let (factors, exchanges) = (Batch::<T>::new(factors, 2, sizes)?, Batch::<i32>::new(pivots, 1, sizes)?);
        let (rows, columns) = (b.size(b.ndim() - 2), b.size(b.ndim() - 1));
        let order = if side.left { rows } else { columns };
        if side.left && !side.adjoint && lanes::fits(to.len(), order, columns) {
            return lanes::lu_solve([order, columns], &to, &factors, &exchanges, &from);
        }
        each::<T>(to.len(), order * rows * columns, order * order + rows * columns, &|index, spare| {
            let (mut own, spare) = carve(spare, order, order);
            factors.matrix(index).load(&mut own);
            let mut pivots = Pivots::load(exchanges.matrix(index))?;
            // X A = B is A^H X^H = B^H.
            let (target, source) = (to.matrix(index), from.matrix(index));
            let adjoint = side.adjoint == side.left;
            if side.left {
                return target.write(spare, |x, _| {
                    source.load(x);
                    solve_factored(&mut own, pivots.numbers(), adjoint, x)
                });
            }
            let (mut x, _) = carve(spare, columns, rows);
            source.load_adjoint(&mut x);
            solve_factored(&mut own, pivots.numbers(), adjoint, &mut x)?;
            target.store_adjoint(&mut x);
            Ok(())
        })
    })
}

/// Replaces B by X of A X = B, or of A^H X = B, for the factors of A, which may be overwritten.
pub(crate) fn solve_factored<T: Field>(
    factors: &mut Block<'_, T>,
    pivots: &[i32],
    adjoint: bool,
    x: &mut Block<'_, T>,
) -> Result<()> {
    if !adjoint {
        lu::exchange(x, pivots);
        solve_left(&factors.view(), UNIT_LOWER, x)?;
        return solve_left(&factors.view(), UPPER, x);
    }
    factors.transpose_conjugate();
    solve_left(&factors.view(), LOWER, x)?;
    solve_left(&factors.view(), Triangle { upper: true, unit: true }, x)?;
    lu::exchange_back(x, pivots);
    Ok(())
}

/// `result`, `factors`, `pivots`, `info`: X of A X = B, or of X A = B, and the LU factorization of A that it took.
pub fn solve([result, factors, pivots, info]: [&Array; 4], a: &Array, b: &Array, left: bool) -> Result<()> {
    let sizes = batch_of(result, 2);
    let (order, columns) = (a.size(a.ndim() - 1), result.size(result.ndim() - 1));
    let count = sizes.iter().product::<i64>() as usize;
    if left && sizes == batch_of(a, 2) && lanes::fits(count, order, columns) {
        return with_field!("linalg_solve", a.dtype(), T => {
            let matrices = |array| Batch::<T>::new(array, 2, sizes);
            lanes::solve(
                [order, columns],
                [&matrices(result)?, &matrices(factors)?],
                [&Batch::new(pivots, 1, sizes)?, &Batch::new(info, 0, sizes)?],
                [&matrices(a)?, &matrices(b)?],
            )
        });
    }
    lu_factor(factors, pivots, info, a)?;
    lu_solve(result, factors, pivots, b, Side { left, adjoint: false })
}

/// `inverse`, `info`: the inverse of A, and the number of the diagonal element of U that is 0.
pub fn inverse(out: &Array, info: &Array, a: &Array) -> Result<()> {
    with_field!("linalg_inv_ex", a.dtype(), T => {
        let sizes = batch_of(a, 2);
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(a, 2, sizes)?);
        let status = Batch::<i32>::new(info, 0, sizes)?;
        let order = a.size(a.ndim() - 1);
        if lanes::fits(from.len(), order, order) {
            return lanes::inverse(order, &to, &status, &from);
        }
        each::<T>(from.len(), 2 * order.pow(3), 2 * order * order, &|index, spare| {
            let (mut own, spare) = carve(spare, order, order);
            let mut pivots = Pivots::new(order)?;
            from.matrix(index).load(&mut own);
            let singular = lu::factorize(&mut own, pivots.numbers())?;
            status.matrix(index).put(0, singular);
            to.matrix(index).write(spare, |x, _| {
                x.set_identity();
                solve_factored(&mut own, pivots.numbers(), false, x)
            })
        })
    })
}

/// out = X of A X = b, or of X A = b, for a triangular A.
pub fn solve_triangular(out: &Array, a: &Array, b: &Array, left: bool, shape: [bool; 2]) -> Result<()> {
    with_field!("linalg_solve_triangular", b.dtype(), T => {
        let sizes = batch_of(out, 2);
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(b, 2, sizes)?);
        let matrices = Batch::<T>::new(a, 2, sizes)?;
        let [upper, unit] = shape;
        let shape = Triangle { upper, unit };
        let (rows, columns) = (b.size(b.ndim() - 2), b.size(b.ndim() - 1));
        let order = if left { rows } else { columns };
        each::<T>(to.len(), order * rows * columns, order * order + rows * columns, &|index, spare| {
            let (matrix, right, result) = (matrices.matrix(index), from.matrix(index), to.matrix(index));
            let [in_columns, in_rows] = [matrix, matrix.transposed()];
            // A matrix in rows is a transpose in columns, and is read where it is.
            if let (None, Some(transposed)) = (in_columns.view(), in_rows.view()) {
                let (mut x, _) = carve(spare, columns, rows);
                right.transposed().load(&mut x);
                let solve = if left { solve_right } else { solve_left };
                solve(&transposed, shape.transposed(), &mut x)?;
                result.transposed().store(&x);
                return Ok(());
            }
            let (mut own, spare) = carve(spare, order, order);
            let view = in_columns.view().unwrap_or_else(|| {
                matrix.load(&mut own);
                own.view()
            });
            result.write(spare, |x, _| {
                right.load(x);
                if left { solve_left(&view, shape, x) } else { solve_right(&view, shape, x) }
            })
        })
    })
}

/// out = P of the row exchanges `pivots`.
pub fn permutation(out: &Array, pivots: &Array) -> Result<()> {
    with_field!("lu_unpack", out.dtype(), T => {
        let sizes = batch_of(pivots, 1);
        let (to, exchanges) = (Batch::<T>::new(out, 2, sizes)?, Batch::<i32>::new(pivots, 1, sizes)?);
        let order = out.size(out.ndim() - 1);
        each::<T>(to.len(), order * order, order * order, &|index, spare| {
            let mut pivots = Pivots::load(exchanges.matrix(index))?;
            to.matrix(index).write(spare, |block, _| {
                block.set_identity();
                lu::exchange_back(block, pivots.numbers());
            });
            Ok(())
        })
    })
}

/// The determinant of the factors of P L U.
pub fn determinant(out: &Array, factors: &Array, pivots: &Array) -> Result<()> {
    with_field!("linalg_det", out.dtype(), T => {
        let sizes: DimVec = DimVec::from_slice(batch_of(pivots, 1));
        let (to, exchanges) = (Batch::<T>::new(out, 0, &sizes)?, Batch::<i32>::new(pivots, 1, &sizes)?);
        let factors = Batch::<T>::new(factors, 2, &sizes)?;
        each::<T>(to.len(), 1000, 0, &|index, _| {
            let (matrix, exchanges) = (factors.matrix(index), exchanges.matrix(index));
            let product = (0..exchanges.rows).fold(T::ONE, |product, at| {
                let factor = product * matrix.diagonal(at);
                if exchanges.take(at) == at as i32 + 1 { factor } else { -factor }
            });
            to.matrix(index).put(0, product);
            Ok(())
        })
    })
}

/// The sign of the determinant of the factors of P L U, and the logarithm of its absolute value.
pub fn log_determinant(sign: &Array, logarithm: &Array, factors: &Array, pivots: &Array) -> Result<()> {
    with_field!("linalg_slogdet", sign.dtype(), T => {
        type R = <T as Field>::Real;
        let sizes: DimVec = DimVec::from_slice(batch_of(pivots, 1));
        let (signs, exchanges) = (Batch::<T>::new(sign, 0, &sizes)?, Batch::<i32>::new(pivots, 1, &sizes)?);
        let (logarithms, factors) = (Batch::<R>::new(logarithm, 0, &sizes)?, Batch::<T>::new(factors, 2, &sizes)?);
        each::<T>(signs.len(), 1000, 0, &|index, _| {
            let (matrix, exchanges) = (factors.matrix(index), exchanges.matrix(index));
            let (mut phase, mut sum) = (T::ONE, R::ZERO);
            for at in 0..exchanges.rows {
                let value = matrix.diagonal(at);
                let size = Field::abs(value);
                phase *= if size == R::ZERO { T::ZERO } else { value.scale(R::ONE / size) };
                if exchanges.take(at) != at as i32 + 1 {
                    phase = -phase;
                }
                sum += size.ln();
            }
            signs.matrix(index).put(0, phase);
            logarithms.matrix(index).put(0, sum);
            Ok(())
        })
    })
}

/// `out`, `tau`: R and the reflections of Q of a = Q R, as `geqrf`.
pub fn geqrf(out: &Array, tau: &Array, a: &Array) -> Result<()> {
    with_field!("geqrf", a.dtype(), T => {
        let sizes = batch_of(a, 2);
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(a, 2, sizes)?);
        let factors = Batch::<T>::new(tau, 1, sizes)?;
        let (rows, columns) = (a.size(a.ndim() - 2), a.size(a.ndim() - 1));
        let order = rows.min(columns);
        let scratch = order + rows * columns + householder::scratch(rows, columns);
        each::<T>(from.len(), 2 * rows * columns * order, scratch, &|index, spare| {
            let (own, spare) = spare.split_at_mut(order);
            to.matrix(index).write(spare, |block, spare| {
                from.matrix(index).load(block);
                householder::factorize(block, own, spare)
            })?;
            factors.matrix(index).store(&Block::over(own, order, 1));
            Ok(())
        })
    })
}

/// out = the first columns of the product of the reflections in `a`, as `orgqr`.
pub fn householder_product(out: &Array, a: &Array, tau: &Array) -> Result<()> {
    with_field!("orgqr", a.dtype(), T => {
        let sizes = batch_of(a, 2);
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(a, 2, sizes)?);
        let factors = Batch::<T>::new(tau, 1, sizes)?;
        let (rows, columns) = (a.size(a.ndim() - 2), a.size(a.ndim() - 1));
        let count = tau.size(tau.ndim() - 1);
        let scratch = count + 2 * rows * columns + householder::scratch(rows, columns);
        each::<T>(from.len(), 2 * rows * columns * count, scratch, &|index, spare| {
            let (own, spare) = spare.split_at_mut(count);
            factors.matrix(index).load(&mut Block::over(own, count, 1));
            let (mut reflections, spare) = carve(spare, rows, columns);
            from.matrix(index).load(&mut reflections);
            to.matrix(index).write(spare, |block, spare| householder::expand(&mut reflections, own, block, spare))
        })
    })
}

/// out = Q c, c Q, or with Q^H (`adjoint`), for the product Q of the reflections in `a`, as `ormqr`.
pub fn apply_reflections(out: &Array, a: &Array, tau: &Array, c: &Array, side: Side) -> Result<()> {
    with_field!("ormqr", a.dtype(), T => {
        let sizes = batch_of(a, 2);
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(c, 2, sizes)?);
        let (matrices, factors) = (Batch::<T>::new(a, 2, sizes)?, Batch::<T>::new(tau, 1, sizes)?);
        let (rows, columns) = (a.size(a.ndim() - 2), a.size(a.ndim() - 1));
        let (height, width) = (c.size(c.ndim() - 2), c.size(c.ndim() - 1));
        let count = tau.size(tau.ndim() - 1);
        let scratch = count + rows * columns + height * width + householder::scratch(rows, height.max(width));
        each::<T>(from.len(), 2 * height * width * count, scratch, &|index, spare| {
            let (own, spare) = spare.split_at_mut(count);
            factors.matrix(index).load(&mut Block::over(own, count, 1));
            let (mut reflections, spare) = carve(spare, rows, columns);
            matrices.matrix(index).load(&mut reflections);
            let (target, source) = (to.matrix(index), from.matrix(index));
            if side.left {
                return target.write(spare, |block, spare| {
                    source.load(block);
                    householder::apply(&mut reflections, own, side.adjoint, block, spare)
                });
            }
            // C Q is (Q^H C^H)^H.
            let (mut block, spare) = carve(spare, width, height);
            source.load_adjoint(&mut block);
            householder::apply(&mut reflections, own, !side.adjoint, &mut block, spare)?;
            target.store_adjoint(&mut block);
            Ok(())
        })
    })
}

/// `q`, `r`: a = Q R. Q has as many columns as R has rows; without `q` only R is computed.
pub fn qr(q: Option<&Array>, r: &Array, a: &Array) -> Result<()> {
    with_field!("linalg_qr", a.dtype(), T => {
        let sizes = batch_of(a, 2);
        let (triangles, from) = (Batch::<T>::new(r, 2, sizes)?, Batch::<T>::new(a, 2, sizes)?);
        let to = q.map(|q| Batch::<T>::new(q, 2, sizes)).transpose()?;
        let (rows, columns) = (a.size(a.ndim() - 2), a.size(a.ndim() - 1));
        let width = q.map_or(0, |q| q.size(q.ndim() - 1));
        let order = rows.min(columns);
        let scratch = order + rows * (2 * columns + width) + householder::scratch(rows, columns.max(width));
        each::<T>(from.len(), 4 * rows * columns * order, scratch, &|index, spare| {
            let (tau, spare) = spare.split_at_mut(order);
            let (mut own, spare) = carve(spare, rows, columns);
            from.matrix(index).load(&mut own);
            householder::factorize(&mut own, tau, spare)?;
            let triangle = triangles.matrix(index);
            triangle.write(spare, |block, _| {
                for column in 0..columns {
                    let known = triangle.rows.min(column + 1).min(rows);
                    let to = block.column_mut(column);
                    to[..known].copy_from_slice(&own.column(column)[..known]);
                    to[known..].fill(T::ZERO);
                }
            });
            let Some(to) = &to else { return Ok(()) };
            to.matrix(index).write(spare, |block, spare| householder::expand(&mut own, tau, block, spare))
        })
    })
}

/// `l`, `u`: the factors in one matrix.
pub fn lu_unpack(l: &Array, u: &Array, factors: &Array) -> Result<()> {
    with_field!("lu_unpack", factors.dtype(), T => {
        let sizes = batch_of(factors, 2);
        let (lower, upper) = (Batch::<T>::new(l, 2, sizes)?, Batch::<T>::new(u, 2, sizes)?);
        let from = Batch::<T>::new(factors, 2, sizes)?;
        let (rows, columns) = (factors.size(factors.ndim() - 2), factors.size(factors.ndim() - 1));
        let order = rows.min(columns);
        each::<T>(from.len(), rows * columns, 2 * rows * columns, &|index, spare| {
            let (mut own, spare) = carve(spare, rows, columns);
            from.matrix(index).load(&mut own);
            lower.matrix(index).write(spare, |block, _| {
                for column in 0..order {
                    let to = block.column_mut(column);
                    to[..column].fill(T::ZERO);
                    to[column] = T::ONE;
                    to[column + 1..].copy_from_slice(&own.column(column)[column + 1..]);
                }
            });
            upper.matrix(index).write(spare, |block, _| {
                for column in 0..columns {
                    let known = order.min(column + 1);
                    let to = block.column_mut(column);
                    to[..known].copy_from_slice(&own.column(column)[..known]);
                    to[known..].fill(T::ZERO);
                }
            });
            Ok(())
        })
    })
}
