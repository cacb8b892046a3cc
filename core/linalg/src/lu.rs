//! LU factorization with partial pivoting, as LAPACK's `getrf`.

use crate::block::{Block, add_product};
use crate::field::{Field, Real};
use crate::triangular::{UNIT_LOWER, solve_left};
use rushlight_base::Result;
use rushlight_cpu::simd::{Kernel, Simd, run_narrow};

/// Number of columns up to which they are eliminated one by one.
const NARROW: usize = 8;
/// Order up to which a whole matrix is eliminated column by column.
const SMALL: usize = 24;

/// Factorizes A = P L U in place: U on and above the diagonal, L below, whose diagonal is 1. `pivots[i]` is the row
/// (from 1) that row i was exchanged with. Returns the number (from 1) of the first
/// diagonal element of U that is 0, or 0.
pub fn factorize<T: Field>(a: &mut Block<'_, T>, pivots: &mut [i32]) -> Result<i32> {
    let (rows, columns) = (a.rows(), a.columns());
    let order = rows.min(columns);
    if columns <= NARROW || order <= 1 || (rows <= SMALL && columns <= SMALL) {
        return Ok(run_narrow(Eliminate { a, pivots }));
    }
    let half = order / 2;
    let (mut left, mut right) = a.again().split_columns(half);
    let (first, rest) = pivots.split_at_mut(half);
    let mut info = factorize(&mut left, first)?;
    exchange(&mut right, first);
    let (pivot, mut below) = left.split_rows(half);
    let (mut top, mut bottom) = right.split_rows(half);
    solve_left(&pivot.view(), UNIT_LOWER, &mut top)?;
    add_product(&mut bottom, -1.0, &below, &top)?;
    let second = factorize(&mut bottom, rest)?;
    if info == 0 && second > 0 {
        info = second + half as i32;
    }
    exchange(&mut below, rest);
    rest.iter_mut().for_each(|pivot| *pivot += half as i32);
    Ok(info)
}

/// Exchanges rows as a factorization did.
pub fn exchange<T: Field>(a: &mut Block<'_, T>, pivots: &[i32]) {
    for column in 0..a.columns() {
        let column = a.column_mut(column);
        for (row, &pivot) in pivots.iter().enumerate() {
            column.swap(row, pivot as usize - 1);
        }
    }
}

/// Undoes [`exchange`].
pub fn exchange_back<T: Field>(a: &mut Block<'_, T>, pivots: &[i32]) {
    for column in 0..a.columns() {
        let column = a.column_mut(column);
        for (row, &pivot) in pivots.iter().enumerate().rev() {
            column.swap(row, pivot as usize - 1);
        }
    }
}

/// Eliminates column by column.
struct Eliminate<'a, 'b, T> {
    a: &'a mut Block<'b, T>,
    pivots: &'a mut [i32],
}

impl<T: Field> Kernel for Eliminate<'_, '_, T> {
    type Output = i32;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> i32 {
        eliminate(self.a, self.pivots)
    }
}

#[inline(always)]
fn eliminate<T: Field>(a: &mut Block<'_, T>, pivots: &mut [i32]) -> i32 {
    let mut info = 0;
    for at in 0..a.rows().min(a.columns()) {
        let row = at + largest(&a.column(at)[at..]);
        pivots[at] = row as i32 + 1;
        let pivot = a.get(row, at);
        if pivot == T::ZERO {
            if info == 0 {
                info = at as i32 + 1;
            }
            continue;
        }
        a.swap_rows(at, row);
        scale(&mut a.column_mut(at)[at + 1..], pivot);
        for column in at + 1..a.columns() {
            let (factors, to) = a.pair(at, column);
            let value = to[at];
            for (to, &factor) in to[at + 1..].iter_mut().zip(&factors[at + 1..]) {
                *to -= factor * value;
            }
        }
    }
    info
}

/// Divides by the pivot: a multiplication where its reciprocal is a normal number.
#[inline(always)]
fn scale<T: Field>(values: &mut [T], pivot: T) {
    if pivot.abs1() >= T::Real::TINY {
        let reciprocal = T::ONE / pivot;
        values.iter_mut().for_each(|value| *value *= reciprocal);
    } else {
        values.iter_mut().for_each(|value| *value = *value / pivot);
    }
}

/// The index of the first of the largest numbers.
#[inline(always)]
fn largest<T: Field>(values: &[T]) -> usize {
    let (mut best, mut size) = (0, T::Real::ZERO);
    for (index, value) in values.iter().enumerate() {
        let own = value.abs1();
        if own > size {
            (best, size) = (index, own);
        }
    }
    best
}
