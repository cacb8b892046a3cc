//! Triangular systems.

use crate::block::{Block, View, add_product};
use crate::field::Field;
use rushlight_base::Result;
use rushlight_cpu::simd::{Kernel, Simd, run_narrow};

/// Order up to which columns are eliminated one by one.
const SMALL: usize = 16;

/// Which elements of a triangular matrix count.
#[derive(Clone, Copy)]
pub struct Triangle {
    /// Those on and above the diagonal, else those on and below.
    pub upper: bool,
    /// The diagonal is taken to be 1.
    pub unit: bool,
}

impl Triangle {
    /// The triangle of the transpose.
    pub fn transposed(self) -> Triangle {
        Triangle { upper: !self.upper, unit: self.unit }
    }
}

/// Lower triangular with a diagonal of 1.
pub const UNIT_LOWER: Triangle = Triangle { upper: false, unit: true };
/// Lower triangular.
pub const LOWER: Triangle = Triangle { upper: false, unit: false };
/// Upper triangular.
pub const UPPER: Triangle = Triangle { upper: true, unit: false };

/// Replaces B by the X of A X = B.
pub fn solve_left<T: Field>(a: &View<'_, T>, shape: Triangle, b: &mut Block<'_, T>) -> Result<()> {
    let order = a.rows();
    if order <= SMALL || b.columns() == 0 {
        run_narrow(Solve { a, shape, b, left: true });
        return Ok(());
    }
    let half = order / 2;
    let [first, above, below, last] = a.quarters(half, half);
    let (mut top, mut bottom) = b.again().split_rows(half);
    if shape.upper {
        solve_left(&last, shape, &mut bottom)?;
        add_product(&mut top, -1.0, &above, &bottom)?;
        solve_left(&first, shape, &mut top)
    } else {
        solve_left(&first, shape, &mut top)?;
        add_product(&mut bottom, -1.0, &below, &top)?;
        solve_left(&last, shape, &mut bottom)
    }
}

/// Eliminates column by column.
struct Solve<'a, 'b, 'c, T> {
    a: &'a View<'b, T>,
    shape: Triangle,
    b: &'a mut Block<'c, T>,
    left: bool,
}

impl<T: Field> Kernel for Solve<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        if self.left {
            for column in 0..self.b.columns() {
                solve_column(self.a, self.shape, self.b.column_mut(column));
            }
        } else {
            solve_rows(self.a, self.shape, self.b);
        }
    }
}

#[inline(always)]
fn solve_column<T: Field>(a: &Block<'_, T>, shape: Triangle, x: &mut [T]) {
    let order = a.rows();
    let mut eliminate = |at: usize| {
        let column = a.column(at);
        if !shape.unit {
            x[at] = x[at] / column[at];
        }
        let value = x[at];
        let rows = if shape.upper { 0..at } else { at + 1..order };
        for (x, &factor) in x[rows.clone()].iter_mut().zip(&column[rows]) {
            *x -= factor * value;
        }
    };
    if shape.upper {
        (0..order).rev().for_each(&mut eliminate);
    } else {
        (0..order).for_each(eliminate);
    }
}

/// Replaces B by the X of X A = B.
pub fn solve_right<T: Field>(a: &View<'_, T>, shape: Triangle, b: &mut Block<'_, T>) -> Result<()> {
    let order = a.rows();
    if order <= SMALL || b.rows() == 0 {
        run_narrow(Solve { a, shape, b, left: false });
        return Ok(());
    }
    let half = order / 2;
    let [first, above, below, last] = a.quarters(half, half);
    let (mut left, mut right) = b.again().split_columns(half);
    if shape.upper {
        solve_right(&first, shape, &mut left)?;
        add_product(&mut right, -1.0, &left, &above)?;
        solve_right(&last, shape, &mut right)
    } else {
        solve_right(&last, shape, &mut right)?;
        add_product(&mut left, -1.0, &right, &below)?;
        solve_right(&first, shape, &mut left)
    }
}

#[inline(always)]
fn solve_rows<T: Field>(a: &Block<'_, T>, shape: Triangle, b: &mut Block<'_, T>) {
    let order = a.rows();
    let mut eliminate = |at: usize| {
        let known = if shape.upper { 0..at } else { at + 1..order };
        for other in known {
            let factor = a.get(other, at);
            let (from, to) = b.pair(other, at);
            for (to, &from) in to.iter_mut().zip(from) {
                *to -= from * factor;
            }
        }
        if !shape.unit {
            let pivot = a.get(at, at);
            b.column_mut(at).iter_mut().for_each(|value| *value = *value / pivot);
        }
    };
    if shape.upper {
        (0..order).for_each(eliminate);
    } else {
        (0..order).rev().for_each(&mut eliminate);
    }
}
