//! Products of Householder reflections, as LAPACK stores them: Q = H_0 H_1 ..., H_i = I - tau_i v_i v_i^H, where v_i is 0
//! above element i, 1 there, and has its other elements below the diagonal of column i.

use crate::block::{Block, add_product, set_product};
use crate::field::{Field, Real};
use rushlight_base::Result;
use rushlight_cpu::simd::{Kernel, Simd, run_narrow};
use std::ops::Add;

/// Reflections that are applied together, as I - V T V^H.
const TOGETHER: usize = 32;

/// Elements of working memory for reflections of `rows` elements that are applied to `columns` columns.
pub fn scratch(rows: usize, columns: usize) -> usize {
    2 * rows * TOGETHER + TOGETHER * TOGETHER + 2 * TOGETHER * columns
}

/// Factorizes A = Q R in place: R on and above the diagonal, the reflections of Q below, as `geqrf`.
pub fn factorize<T: Field>(a: &mut Block<'_, T>, tau: &mut [T], spare: &mut [T]) -> Result<()> {
    let order = a.rows().min(a.columns());
    let mut start = 0;
    while start < order {
        let end = if order - start <= 2 * TOGETHER && a.columns() <= 2 * TOGETHER {
            order
        } else {
            order.min(start + TOGETHER)
        };
        let [_, _, _, rest] = a.again().quarters(start, start);
        let (mut panel, mut others) = rest.split_columns(end - start);
        run_narrow(Reflect { a: &mut panel, tau: &mut tau[start..end] });
        if others.columns() > 0 {
            apply_block(&mut panel, &tau[start..end], true, &mut others, spare)?;
        }
        start = end;
    }
    Ok(())
}

/// Factorizes column by column.
struct Reflect<'a, 'b, T> {
    a: &'a mut Block<'b, T>,
    tau: &'a mut [T],
}

impl<T: Field> Kernel for Reflect<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        reflect(self.a, self.tau);
    }
}

#[inline(always)]
fn reflect<T: Field>(a: &mut Block<'_, T>, tau: &mut [T]) {
    for at in 0..tau.len() {
        tau[at] = reflection(&mut a.column_mut(at)[at..]);
        let factor = tau[at].conj();
        if factor == T::ZERO {
            continue;
        }
        for column in at + 1..a.columns() {
            let (v, to) = a.pair(at, column);
            mirror(&v[at + 1..], factor, &mut to[at..]);
        }
    }
}

/// to = (I - factor v v^H) to, where v has a first element of 1 before `tail`.
#[inline(always)]
fn mirror<T: Field>(tail: &[T], factor: T, to: &mut [T]) {
    let (head, rest) = to.split_at_mut(1);
    let sum = (head[0] + dot(tail, rest)) * factor;
    head[0] -= sum;
    for (to, &v) in rest.iter_mut().zip(tail) {
        *to -= v * sum;
    }
}

/// Sums that are added side by side: vectors of each level, and additions that need not wait for each other.
const SUMS: usize = 8;

/// conj(a) . b
#[inline(always)]
fn dot<T: Field>(a: &[T], b: &[T]) -> T {
    if a.len() < SUMS {
        return a.iter().zip(b).fold(T::ZERO, |sum, (a, b)| sum + a.conj() * *b);
    }
    let mut sums = [T::ZERO; SUMS];
    let (mut left, mut right) = (a.chunks_exact(SUMS), b[..a.len()].chunks_exact(SUMS));
    for (a, b) in (&mut left).zip(&mut right) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a.conj() * *b;
        }
    }
    for (sum, (a, b)) in sums.iter_mut().zip(left.remainder().iter().zip(right.remainder())) {
        *sum += a.conj() * *b;
    }
    total(sums)
}

/// The sum, in halves.
#[inline(always)]
fn total<T: Copy + Add<Output = T>>(mut sums: [T; SUMS]) -> T {
    let mut half = SUMS / 2;
    while half > 0 {
        for at in 0..half {
            sums[at] = sums[at] + sums[at + half];
        }
        half /= 2;
    }
    sums[0]
}

/// The reflection that maps a vector to a multiple of the first unit vector, as `larfg`: writes the multiple and the
/// elements of v behind it, and returns tau.
#[inline(always)]
fn reflection<T: Field>(x: &mut [T]) -> T {
    let alpha = x[0];
    let tail = norm(&x[1..]);
    if tail == T::Real::ZERO && alpha.im() == T::Real::ZERO {
        return T::ZERO;
    }
    let beta = -(alpha.abs().hypot(tail).copysign(alpha.re()));
    let tau = (T::from_real(beta) - alpha).scale(T::Real::ONE / beta);
    let difference = alpha - T::from_real(beta);
    let factor = T::ONE / difference;
    if difference.abs1() >= T::Real::TINY {
        x[1..].iter_mut().for_each(|value| *value *= factor);
    } else {
        x[1..].iter_mut().for_each(|value| *value = *value / difference);
    }
    x[0] = T::from_real(beta);
    tau
}

/// The Euclidean norm, without overflow.
#[inline(always)]
pub fn norm<T: Field>(x: &[T]) -> T::Real {
    let mut sums = [T::Real::ZERO; SUMS];
    for values in x.chunks(SUMS) {
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = *sum + value.re() * value.re() + value.im() * value.im();
        }
    }
    let square = total(sums);
    let accurate = T::Real::TINY / T::Real::EPSILON;
    if square.is_finite() && square > accurate {
        return square.sqrt();
    }
    let largest = x.iter().fold(T::Real::ZERO, |most, value| if value.abs1() > most { value.abs1() } else { most });
    if largest == T::Real::ZERO || !largest.is_finite() {
        return square.sqrt();
    }
    let scaled = x.iter().fold(T::Real::ZERO, |sum, value| {
        let (re, im) = (value.re() / largest, value.im() / largest);
        sum + re * re + im * im
    });
    largest * scaled.sqrt()
}

/// Replaces C by Q C, or by Q^H C (`adjoint`), for Q = H_0 H_1 ... of all `tau`.
pub fn apply<T: Field>(
    reflections: &mut Block<'_, T>,
    tau: &[T],
    adjoint: bool,
    c: &mut Block<'_, T>,
    spare: &mut [T],
) -> Result<()> {
    let count = tau.len();
    let blocks = count.div_ceil(TOGETHER);
    for step in 0..blocks {
        // Q C begins with the last reflection, Q^H C with the first.
        let block = if adjoint { step } else { blocks - 1 - step };
        let (start, end) = (block * TOGETHER, count.min((block + 1) * TOGETHER));
        let [_, _, _, rest] = reflections.again().quarters(start, start);
        let (mut panel, _) = rest.split_columns(end - start);
        let (_, mut rows) = c.again().split_rows(start);
        apply_block(&mut panel, &tau[start..end], adjoint, &mut rows, spare)?;
    }
    Ok(())
}

/// The first columns of Q, as many as `out` has: `orgqr`. The reflections may be in another matrix only.
pub fn expand<T: Field>(
    reflections: &mut Block<'_, T>,
    tau: &[T],
    out: &mut Block<'_, T>,
    spare: &mut [T],
) -> Result<()> {
    out.set_identity();
    let count = tau.len();
    let blocks = count.div_ceil(TOGETHER);
    for block in (0..blocks).rev() {
        let (start, end) = (block * TOGETHER, count.min((block + 1) * TOGETHER));
        let [_, _, _, rest] = reflections.again().quarters(start, start);
        let (mut panel, _) = rest.split_columns(end - start);
        // The columns before are still those of the identity, on which this block has no effect.
        let known = start.min(out.columns());
        let [_, _, _, mut part] = out.again().quarters(start, known);
        apply_block(&mut panel, &tau[start..end], false, &mut part, spare)?;
    }
    Ok(())
}

/// C = (I - V T V^H) C, or with T^H (`adjoint`), for the reflections of a panel.
fn apply_block<T: Field>(
    panel: &mut Block<'_, T>,
    tau: &[T],
    adjoint: bool,
    c: &mut Block<'_, T>,
    spare: &mut [T],
) -> Result<()> {
    let (rows, count, columns) = (panel.rows(), tau.len(), c.columns());
    if columns == 0 {
        return Ok(());
    }
    if count * columns * rows <= 4096 {
        run_narrow(OneByOne { panel, tau, adjoint, c });
        return Ok(());
    }
    let (v, spare) = spare.split_at_mut(rows * count);
    let (v_adjoint, spare) = spare.split_at_mut(rows * count);
    let (t, spare) = spare.split_at_mut(count * count);
    let (first, second) = spare.split_at_mut(count * columns);
    let mut v = Block::over(v, rows, count);
    v.copy_from(panel);
    v.clear_above();
    (0..count).for_each(|at| v.set(at, at, T::ONE));
    let mut v_adjoint = Block::over(v_adjoint, count, rows);
    v_adjoint.copy_adjoint(&v);
    let mut t = Block::over(t, count, count);
    run_narrow(Join { v: &v, tau, t: &mut t });
    if adjoint {
        transpose_upper(&mut t);
    }
    let (mut first, mut second) = (Block::over(first, count, columns), Block::over(second, count, columns));
    set_product(&mut first, 1.0, &v_adjoint, c)?;
    set_product(&mut second, 1.0, &t, &first)?;
    add_product(c, -1.0, &v, &second)
}

/// Applies one reflection after the other.
struct OneByOne<'a, 'b, 'c, T> {
    panel: &'a Block<'c, T>,
    tau: &'a [T],
    adjoint: bool,
    c: &'a mut Block<'b, T>,
}

impl<T: Field> Kernel for OneByOne<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        one_by_one(self.panel, self.tau, self.adjoint, self.c);
    }
}

#[inline(always)]
fn one_by_one<T: Field>(panel: &Block<'_, T>, tau: &[T], adjoint: bool, c: &mut Block<'_, T>) {
    for step in 0..tau.len() {
        let at = if adjoint { step } else { tau.len() - 1 - step };
        let factor = if adjoint { tau[at].conj() } else { tau[at] };
        if factor == T::ZERO {
            continue;
        }
        for column in 0..c.columns() {
            mirror(&panel.column(at)[at + 1..], factor, &mut c.column_mut(column)[at..]);
        }
    }
}

/// The upper triangular T of H_0 H_1 ... = I - V T V^H, as `larft`.
struct Join<'a, 'b, 'c, T> {
    v: &'a Block<'c, T>,
    tau: &'a [T],
    t: &'a mut Block<'b, T>,
}

impl<T: Field> Kernel for Join<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        join(self.v, self.tau, self.t);
    }
}

#[inline(always)]
fn join<T: Field>(v: &Block<'_, T>, tau: &[T], t: &mut Block<'_, T>) {
    t.fill(T::ZERO);
    for at in 0..tau.len() {
        t.set(at, at, tau[at]);
        let mut products = [T::ZERO; TOGETHER];
        for (before, product) in products[..at].iter_mut().enumerate() {
            *product = -(dot(&v.column(before)[at..], &v.column(at)[at..]) * tau[at]);
        }
        for row in 0..at {
            let mut sum = T::ZERO;
            for (inner, &product) in products.iter().enumerate().take(at).skip(row) {
                sum += t.get(row, inner) * product;
            }
            t.set(row, at, sum);
        }
    }
}

/// The conjugate transpose, in place, of an upper triangular matrix.
fn transpose_upper<T: Field>(t: &mut Block<'_, T>) {
    for column in 0..t.columns() {
        for row in 0..=column {
            let value = t.get(row, column).conj();
            if row != column {
                t.set(row, column, T::ZERO);
            }
            t.set(column, row, value);
        }
    }
}
