//! Factorization A = L D L^T, or L D L^H, of indefinite matrices with blocks of order 1 and 2 in D: the method of Bunch and
//! Kaufman on the lower triangle, with the pivots of LAPACK's `sytrf` and `hetrf`.

use crate::batch::{Batch, each};
use crate::block::Block;
use crate::direct::Pivots;
use crate::field::{Field, Real};
use crate::with_field;
use rushlight_base::Result;
use rushlight_cpu::Array;

/// out = L and D of the lower triangle of a, in one matrix; `pivots` and `info` are LAPACK's.
pub fn ldl_factor(out: &Array, pivots: &Array, info: &Array, a: &Array, hermitian: bool) -> Result<()> {
    with_field!("ldl_factor_kernel_cpu", a.dtype(), T => {
        let sizes = &a.sizes()[..a.ndim() - 2];
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(a, 2, sizes)?);
        let (exchanges, status) = (Batch::<i32>::new(pivots, 1, sizes)?, Batch::<i32>::new(info, 0, sizes)?);
        let order = a.size(a.ndim() - 1);
        each::<T>(from.len(), order.pow(3) / 3, order * order, &|index, spare| {
            let mut own = Pivots::new(order)?;
            to.matrix(index).write(spare, |block, _| {
                from.matrix(index).load(block);
                block.clear_above();
                status.matrix(index).put(0, factorize(block, own.numbers(), hermitian && T::IS_COMPLEX));
            });
            own.store(exchanges.matrix(index));
            Ok(())
        })
    })
}

/// out = X of A X = b for the factors of A.
pub fn ldl_solve(out: &Array, factors: &Array, pivots: &Array, b: &Array, hermitian: bool) -> Result<()> {
    with_field!("ldl_solve_kernel_cpu", b.dtype(), T => {
        let sizes = &out.sizes()[..out.ndim() - 2];
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(b, 2, sizes)?);
        let (factors, exchanges) = (Batch::<T>::new(factors, 2, sizes)?, Batch::<i32>::new(pivots, 1, sizes)?);
        let (order, columns) = (b.size(b.ndim() - 2), b.size(b.ndim() - 1));
        each::<T>(to.len(), order * order * columns, order * (order + columns), &|index, spare| {
            let (own, spare) = spare.split_at_mut(order * order);
            let mut own = Block::over(own, order, order);
            factors.matrix(index).load(&mut own);
            let mut pivots = Pivots::load(exchanges.matrix(index))?;
            to.matrix(index).write(spare, |x, _| {
                from.matrix(index).load(x);
                for column in 0..columns {
                    solve(&own, pivots.numbers(), hermitian && T::IS_COMPLEX, x.column_mut(column));
                }
            });
            Ok(())
        })
    })
}

/// The conjugate, if the matrix is Hermitian.
#[inline(always)]
fn mirrored<T: Field>(value: T, hermitian: bool) -> T {
    if hermitian { value.conj() } else { value }
}

fn size_of_diagonal<T: Field>(value: T, hermitian: bool) -> T::Real {
    if hermitian { Field::abs(value.re()) } else { value.abs1() }
}

/// The largest number of a part of a column, and its row.
fn largest<T: Field>(a: &Block<'_, T>, column: usize, rows: std::ops::Range<usize>) -> (usize, T::Real) {
    let (mut best, mut size) = (rows.start, T::Real::ZERO);
    for row in rows {
        let own = a.get(row, column).abs1();
        if own > size {
            (best, size) = (row, own);
        }
    }
    (best, size)
}

/// Chooses the row of the next pivot, and whether it is a block of order 2. `None`: the column is 0.
fn choose<T: Field>(a: &Block<'_, T>, at: usize, hermitian: bool) -> Option<(usize, bool)> {
    let order = a.rows();
    let alpha = T::Real::from_f64((1.0 + 17f64.sqrt()) / 8.0);
    let own = size_of_diagonal(a.get(at, at), hermitian);
    let (row, column_size) = largest(a, at, at + 1..order);
    let zero = T::Real::ZERO;
    if !(own > zero || column_size > zero) {
        return None;
    }
    if own >= alpha * column_size {
        return Some((at, false));
    }
    let larger = |a: T::Real, b: T::Real| if b > a { b } else { a };
    let left = (at..row).fold(zero, |most, column| larger(most, a.get(row, column).abs1()));
    let row_size = larger(left, largest(a, row, row + 1..order).1);
    if own >= alpha * column_size * (column_size / row_size) {
        Some((at, false))
    } else if size_of_diagonal(a.get(row, row), hermitian) >= alpha * row_size {
        Some((row, false))
    } else {
        Some((row, true))
    }
}

fn factorize<T: Field>(a: &mut Block<'_, T>, pivots: &mut [i32], hermitian: bool) -> i32 {
    let (order, mut info, mut at) = (a.rows(), 0, 0);
    while at < order {
        let Some((row, double)) = choose(a, at, hermitian) else {
            if info == 0 {
                info = at as i32 + 1;
            }
            pivots[at] = at as i32 + 1;
            at += 1;
            continue;
        };
        let target = at + usize::from(double);
        if row != target {
            exchange(a, target, row, hermitian);
            if double {
                let (first, second) = (a.get(at + 1, at), a.get(row, at));
                a.set(at + 1, at, second);
                a.set(row, at, first);
            }
        }
        if hermitian {
            for diagonal in at..=target {
                let real = T::from_real(a.get(diagonal, diagonal).re());
                a.set(diagonal, diagonal, real);
            }
        }
        if double {
            eliminate_two(a, at, hermitian);
            pivots[at] = -(row as i32 + 1);
            pivots[at + 1] = -(row as i32 + 1);
            at += 2;
        } else {
            eliminate_one(a, at, hermitian);
            pivots[at] = row as i32 + 1;
            at += 1;
        }
    }
    info
}

/// Exchanges rows and columns `first` < `second` of the trailing matrix.
fn exchange<T: Field>(a: &mut Block<'_, T>, first: usize, second: usize, hermitian: bool) {
    let mut swap = |one: (usize, usize), other: (usize, usize), conjugates: bool| {
        let (x, y) = (a.get(one.0, one.1), a.get(other.0, other.1));
        a.set(one.0, one.1, mirrored(y, conjugates));
        a.set(other.0, other.1, mirrored(x, conjugates));
    };
    for between in first + 1..second {
        swap((between, first), (second, between), hermitian);
    }
    swap((first, first), (second, second), false);
    if hermitian {
        let corner = a.get(second, first).conj();
        a.set(second, first, corner);
    }
    let order = a.rows();
    for row in second + 1..order {
        let (x, y) = (a.get(row, first), a.get(row, second));
        a.set(row, first, y);
        a.set(row, second, x);
    }
}

fn eliminate_one<T: Field>(a: &mut Block<'_, T>, at: usize, hermitian: bool) {
    let order = a.rows();
    let factor = T::ONE / a.get(at, at);
    for column in at + 1..order {
        let (x, to) = a.pair(at, column);
        let own = mirrored(x[column], hermitian) * factor;
        for (to, &x) in to[column..].iter_mut().zip(&x[column..]) {
            *to -= x * own;
        }
        if hermitian {
            to[column] = T::from_real(to[column].re());
        }
    }
    a.column_mut(at)[at + 1..].iter_mut().for_each(|value| *value *= factor);
}

/// Eliminates with the pivot block of rows `at` and `at + 1`.
fn eliminate_two<T: Field>(a: &mut Block<'_, T>, at: usize, hermitian: bool) {
    let order = a.rows();
    let [first, corner, second] = [a.get(at, at), a.get(at + 1, at), a.get(at + 1, at + 1)];
    // The inverse of [first, corner^; corner, second], scaled by the corner.
    let scale = if hermitian { T::from_real(corner.abs()) } else { corner };
    let turn = corner / scale;
    let (d11, d22) = (second / scale, first / scale);
    let factor = T::ONE / (d11 * d22 - T::ONE) / scale;
    for column in at + 2..order {
        let (x, y) = (a.get(column, at), a.get(column, at + 1));
        let w = factor * (d11 * x - turn * y);
        let z = factor * (d22 * y - mirrored(turn, hermitian) * x);
        for row in column..order {
            let product = a.get(row, at) * mirrored(w, hermitian) + a.get(row, at + 1) * mirrored(z, hermitian);
            let value = a.get(row, column) - product;
            a.set(row, column, value);
        }
        a.set(column, at, w);
        a.set(column, at + 1, z);
        if hermitian {
            let real = T::from_real(a.get(column, column).re());
            a.set(column, column, real);
        }
    }
}

/// Replaces b by the solution.
fn solve<T: Field>(a: &Block<'_, T>, pivots: &[i32], hermitian: bool, b: &mut [T]) {
    let order = pivots.len();
    let mut at = 0;
    while at < order {
        let row = pivots[at].unsigned_abs() as usize - 1;
        if pivots[at] > 0 || at + 1 == order {
            b.swap(at, row);
            subtract(a, at, at + 1, b);
            b[at] = b[at] / a.get(at, at);
            at += 1;
            continue;
        }
        b.swap(at + 1, row);
        subtract(a, at, at + 2, b);
        subtract(a, at + 1, at + 2, b);
        let corner = a.get(at + 1, at);
        let other = mirrored(corner, hermitian);
        let (first, second) = (a.get(at, at) / other, a.get(at + 1, at + 1) / corner);
        let determinant = first * second - T::ONE;
        let (x, y) = (b[at] / other, b[at + 1] / corner);
        b[at] = (second * x - y) / determinant;
        b[at + 1] = (first * y - x) / determinant;
        at += 2;
    }
    let mut end = order;
    while end > 0 {
        let last = end - 1;
        let row = pivots[last].unsigned_abs() as usize - 1;
        let single = pivots[last] > 0 || last == 0;
        let product = dot(a, last, end, hermitian, b);
        b[last] -= product;
        if !single {
            let product = dot(a, last - 1, end, hermitian, b);
            b[last - 1] -= product;
        }
        b.swap(last, row);
        end -= if single { 1 } else { 2 };
    }
}

fn subtract<T: Field>(a: &Block<'_, T>, column: usize, from: usize, b: &mut [T]) {
    let value = b[column];
    for (b, &factor) in b[from..].iter_mut().zip(&a.column(column)[from..]) {
        *b -= factor * value;
    }
}

fn dot<T: Field>(a: &Block<'_, T>, column: usize, from: usize, hermitian: bool, b: &[T]) -> T {
    a.column(column)[from..].iter().zip(&b[from..]).fold(T::ZERO, |sum, (&a, &b)| sum + mirrored(a, hermitian) * b)
}
