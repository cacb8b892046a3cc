//! Cholesky factorization of the lower triangle, as LAPACK's `potrf`.

use crate::block::{Block, add_product};
use crate::field::{Field, Real};
use crate::triangular::{UPPER, solve_right};
use rushlight_base::Result;
use rushlight_cpu::simd::{Kernel, Simd, run_narrow};

/// Order up to which columns are computed one by one.
const SMALL: usize = 24;

/// Elements of working memory for a matrix of this order.
pub fn scratch(order: usize) -> usize {
    if order <= SMALL { 0 } else { order.div_ceil(2) * order.div_ceil(2) * 2 }
}

/// Replaces the lower triangle of A by the L of A = L L^H; above the diagonal nothing is read, and the elements are
/// unspecified afterwards. Returns the order of the first leading block that is not positive definite, or 0.
pub fn factorize<T: Field>(a: &mut Block<'_, T>, spare: &mut [T]) -> Result<i32> {
    let order = a.rows();
    if order <= SMALL {
        return Ok(run_narrow(Columns { a }));
    }
    let half = order / 2;
    let [mut first, _, mut below, mut last] = a.again().quarters(half, half);
    let info = factorize(&mut first, spare)?;
    if info != 0 {
        return Ok(info);
    }
    let (adjoint, rest) = spare.split_at_mut(half * half.max(order - half));
    // below L^-H: a triangular system with the upper triangular L^H.
    let mut upper = Block::over(adjoint, half, half);
    upper.copy_adjoint(&first);
    solve_right(&upper.view(), UPPER, &mut below)?;
    let mut upper = Block::over(adjoint, half, order - half);
    upper.copy_adjoint(&below);
    subtract_square(&mut last, &mut below, &mut upper)?;
    let info = factorize(&mut last, rest)?;
    Ok(if info == 0 { 0 } else { info + half as i32 })
}

/// out -= a b on and below the diagonal.
fn subtract_square<T: Field>(out: &mut Block<'_, T>, a: &mut Block<'_, T>, b: &mut Block<'_, T>) -> Result<()> {
    let order = out.rows();
    if order <= 64 {
        return add_product(out, -1.0, a, b);
    }
    let half = order / 2;
    let [mut first, _, mut below, mut last] = out.again().quarters(half, half);
    let (mut top, mut bottom) = a.again().split_rows(half);
    let (mut left, mut right) = b.again().split_columns(half);
    subtract_square(&mut first, &mut top, &mut left)?;
    add_product(&mut below, -1.0, &bottom, &left)?;
    subtract_square(&mut last, &mut bottom, &mut right)
}

/// Factorizes column by column.
struct Columns<'a, 'b, T> {
    a: &'a mut Block<'b, T>,
}

impl<T: Field> Kernel for Columns<'_, '_, T> {
    type Output = i32;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> i32 {
        columns(self.a)
    }
}

#[inline(always)]
fn columns<T: Field>(a: &mut Block<'_, T>) -> i32 {
    let order = a.rows();
    for at in 0..order {
        for known in 0..at {
            let (from, to) = a.pair(known, at);
            let factor = from[at].conj();
            for (to, &from) in to[at..].iter_mut().zip(&from[at..]) {
                *to -= from * factor;
            }
        }
        let square = a.get(at, at).re();
        let is_positive = square > T::Real::ZERO;
        if !is_positive {
            return at as i32 + 1;
        }
        let root = square.sqrt();
        let factor = T::Real::ONE / root;
        let column = a.column_mut(at);
        column[at] = T::from_real(root);
        column[at + 1..].iter_mut().for_each(|value| *value = value.scale(factor));
    }
    0
}
