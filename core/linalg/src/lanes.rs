//! Linear systems of small matrices, [`LANES`] of a batch at once: the vector of a row and a column has that element of
//! every matrix, so that each step of an elimination is a few vector instructions for all of them. Pivots and the order
//! of the operations on a matrix are those of `lu` and `triangular`.
//!
//! One matrix at a time, an elimination of order 4 has loops of one to three elements, and most of its time is spent
//! around them. Measured with AVX2, one thread, `f32` with 8 right-hand sides, one by one and in groups: of order 4, batch
//! 1,000, `solve` 243 and 77 us, `inverse` 134 and 48, `cholesky_solve` 200 and 53; of order 16, batch 200, 309 and 168,
//! 494 and 236, 252 and 107. Complex matrices gain a factor of 1.3 to 2.5.

use crate::batch::{Batch, Strided, each, load_lanes, store_lanes};
use crate::field::{Field, Real};
use rushlight_base::Result;
use rushlight_cpu::simd::{Kernel, Simd, run_narrow};

/// Matrices of a group.
pub const LANES: usize = 8;
/// The largest order for which this is faster.
const LARGEST: usize = 16;
/// Order up to which rows are exchanged by selecting between vectors, not element-wise.
const SELECTED: usize = 8;
/// Right-hand sides for which the vectors of a group stay in the cache.
const MOST_COLUMNS: usize = 64;

/// An element of each matrix of a group.
type Lanes<T> = [T; LANES];

/// Whether these functions take `count` matrices of this order, with so many right-hand sides.
pub fn fits(count: usize, order: usize, columns: usize) -> bool {
    count > LANES / 2 && (1..=LARGEST).contains(&order) && (1..=MOST_COLUMNS).contains(&columns)
}

/// Calls `body(members, memory)` for each group, on any threads; `memory` has `elements` vectors.
fn groups<T: Field>(
    count: usize,
    cost: usize,
    elements: usize,
    body: &(impl Fn(Members, &mut [Lanes<T>]) + Sync),
) -> Result<()> {
    each::<T>(count.div_ceil(LANES), LANES * cost, LANES * elements, &|group, memory| {
        body(Members { first: group * LANES, count }, memory.as_chunks_mut().0);
        Ok(())
    })
}

/// The matrices of a group.
#[derive(Clone, Copy)]
struct Members {
    first: usize,
    count: usize,
}

impl Members {
    /// The index of the matrix in each lane; the last one fills lanes that remain.
    fn all(self) -> impl Iterator<Item = (usize, usize)> {
        (0..LANES).map(move |lane| (lane, (self.first + lane).min(self.count - 1)))
    }

    /// The index of each matrix once.
    fn once(self) -> impl Iterator<Item = (usize, usize)> {
        self.all().take(self.count - self.first)
    }

    fn matrices<T: Field>(self, of: &Batch<T>) -> [Strided<T>; LANES] {
        std::array::from_fn(|lane| of.matrix((self.first + lane).min(self.count - 1)))
    }

    fn load<T: Field>(self, from: &Batch<T>, to: &mut [Lanes<T>]) {
        load_lanes(&self.matrices(from), to, |row, _| row);
    }

    fn store<T: Field>(self, from: &[Lanes<T>], to: &Batch<T>) {
        match self.count - self.first {
            // A constant number, so that the loop over lanes is unrolled.
            LANES.. => store_lanes(from, &self.matrices(to), LANES),
            rest => store_lanes(from, &self.matrices(to), rest),
        }
    }
}

/// The row exchanges of a group, and the status of each matrix, as [`crate::lu::factorize`] returns them.
struct Pivots {
    rows: [Lanes<i32>; LARGEST],
    info: Lanes<i32>,
}

impl Pivots {
    const NONE: Pivots = Pivots { rows: [[0; LANES]; LARGEST], info: [0; LANES] };

    /// Which row each row comes from.
    fn origins(&self, order: usize, lane: usize) -> [usize; LARGEST] {
        let mut rows = std::array::from_fn(|row| row);
        for (row, pivot) in self.rows[..order].iter().enumerate() {
            rows.swap(row, pivot[lane] as usize - 1);
        }
        rows
    }

    fn load(order: usize, members: Members, from: &Batch<i32>) -> Pivots {
        let mut own = Pivots::NONE;
        for (lane, index) in members.all() {
            let from = from.matrix(index);
            own.rows[..order].iter_mut().enumerate().for_each(|(row, pivot)| pivot[lane] = from.take(row));
        }
        own
    }

    fn store(&self, order: usize, members: Members, to: &Batch<i32>) {
        for (lane, index) in members.once() {
            let to = to.matrix(index);
            self.rows[..order].iter().enumerate().for_each(|(row, pivot)| to.put(row, pivot[lane]));
        }
    }

    fn store_info(&self, members: Members, to: &Batch<i32>) {
        members.once().for_each(|(lane, index)| to.matrix(index).put(0, self.info[lane]));
    }
}

/// As [`crate::lu_factor`], of square matrices.
pub fn lu_factor<T: Field>(
    order: usize,
    factors: &Batch<T>,
    pivots: &Batch<i32>,
    info: &Batch<i32>,
    from: &Batch<T>,
) -> Result<()> {
    groups::<T>(from.len(), order.pow(3), order * order, &|members, a| {
        members.load(from, a);
        let mut own = Pivots::NONE;
        run_narrow(Factorize { order, a, pivots: &mut own });
        members.store(a, factors);
        own.store(order, members, pivots);
        own.store_info(members, info);
    })
}

/// X of A X = B, for the factors of A = P L U.
pub fn lu_solve<T: Field>(
    [order, columns]: [usize; 2],
    to: &Batch<T>,
    factors: &Batch<T>,
    pivots: &Batch<i32>,
    from: &Batch<T>,
) -> Result<()> {
    groups::<T>(to.len(), order * order * columns, order * (order + columns), &|members, memory| {
        let (a, x) = memory.split_at_mut(order * order);
        members.load(factors, a);
        let own = Pivots::load(order, members, pivots);
        load_exchanged(members, &own, order, from, x);
        run_narrow(Solve { order, a, x });
        members.store(x, to);
    })
}

/// Loads right-hand sides with their rows exchanged.
fn load_exchanged<T: Field>(members: Members, pivots: &Pivots, order: usize, from: &Batch<T>, x: &mut [Lanes<T>]) {
    let rows: [_; LANES] = std::array::from_fn(|lane| pivots.origins(order, lane));
    load_lanes(&members.matrices(from), x, |row, lane| rows[lane][row]);
}

/// As [`crate::solve`], with A on the left: X, and the LU factorization that it took.
pub fn solve<T: Field>(
    [order, columns]: [usize; 2],
    [to, factors]: [&Batch<T>; 2],
    [pivots, info]: [&Batch<i32>; 2],
    [matrices, from]: [&Batch<T>; 2],
) -> Result<()> {
    groups::<T>(to.len(), order * order * (order + columns), order * (order + columns), &|members, memory| {
        let (a, x) = memory.split_at_mut(order * order);
        members.load(matrices, a);
        let mut own = Pivots::NONE;
        run_narrow(Factorize { order, a, pivots: &mut own });
        members.store(a, factors);
        own.store(order, members, pivots);
        own.store_info(members, info);
        load_exchanged(members, &own, order, from, x);
        run_narrow(Solve { order, a, x });
        members.store(x, to);
    })
}

/// As [`crate::inverse`].
pub fn inverse<T: Field>(order: usize, to: &Batch<T>, info: &Batch<i32>, from: &Batch<T>) -> Result<()> {
    groups::<T>(from.len(), 2 * order.pow(3), 2 * order * order, &|members, memory| {
        let (a, x) = memory.split_at_mut(order * order);
        members.load(from, a);
        let mut own = Pivots::NONE;
        run_narrow(Factorize { order, a, pivots: &mut own });
        own.store_info(members, info);
        x.fill([T::ZERO; LANES]);
        for (lane, _) in members.all() {
            for (row, &column) in own.origins(order, lane)[..order].iter().enumerate() {
                x[column * order + row][lane] = T::ONE;
            }
        }
        run_narrow(Solve { order, a, x });
        members.store(x, to);
    })
}

/// X of L L^H X = B, or of U^H U X = B (`upper`).
pub fn cholesky_solve<T: Field>(
    [order, columns]: [usize; 2],
    to: &Batch<T>,
    factors: &Batch<T>,
    upper: bool,
    from: &Batch<T>,
) -> Result<()> {
    groups::<T>(to.len(), order * order * columns, order * (order + columns), &|members, memory| {
        let (l, x) = memory.split_at_mut(order * order);
        let factors = members.matrices(factors);
        load_lanes(&if upper { factors.map(Strided::transposed) } else { factors }, l, |row, _| row);
        if upper && T::IS_COMPLEX {
            l.as_flattened_mut().iter_mut().for_each(|value| *value = value.conj());
        }
        members.load(from, x);
        run_narrow(SolveCholesky { order, l, x });
        members.store(x, to);
    })
}

/// LU factorization of column-major vectors.
struct Factorize<'a, T> {
    order: usize,
    a: &'a mut [Lanes<T>],
    pivots: &'a mut Pivots,
}

impl<T: Field> Kernel for Factorize<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Factorize { order, a, pivots } = self;
        let a = &mut a[..order * order];
        for at in 0..order {
            let place = largest(&a[at * order..][..order], at);
            pivots.rows[at] = place.map(|row| row + 1);
            for column in a.chunks_exact_mut(order) {
                exchange(column, at, &place);
            }
            let pivot = a[at * order + at];
            let normal = pivot.iter().fold(true, |normal, pivot| normal & (pivot.abs1() >= T::Real::TINY));
            if !normal {
                (0..LANES).for_each(|lane| eliminate_one(a, order, at, lane, &mut pivots.info[lane]));
                continue;
            }
            let (known, rest) = a.split_at_mut((at + 1) * order);
            let factors = &mut known[at * order + at + 1..];
            let reciprocal = pivot.map(|pivot| T::ONE / pivot);
            for factor in factors.iter_mut() {
                for (factor, &reciprocal) in factor.iter_mut().zip(&reciprocal) {
                    *factor *= reciprocal;
                }
            }
            for column in rest.chunks_exact_mut(order) {
                let value = column[at];
                subtract_products(&mut column[at + 1..], factors, &value);
            }
        }
    }
}

/// The first of the rows from `at` on with the largest number, in each lane.
#[inline(always)]
fn largest<T: Field>(column: &[Lanes<T>], at: usize) -> Lanes<i32> {
    let (mut best, mut size) = ([at as i32; LANES], [T::Real::ZERO; LANES]);
    for (row, values) in column.iter().enumerate().skip(at) {
        for lane in 0..LANES {
            let own = values[lane].abs1();
            let is_larger = own > size[lane];
            size[lane] = if is_larger { own } else { size[lane] };
            best[lane] = if is_larger { row as i32 } else { best[lane] };
        }
    }
    best
}

/// Swaps element `at` with element `place`, in each lane.
#[inline(always)]
fn exchange<T: Field>(column: &mut [Lanes<T>], at: usize, place: &Lanes<i32>) {
    if column.len() > SELECTED {
        for (lane, &row) in place.iter().enumerate() {
            let other = column[row as usize][lane];
            column[row as usize][lane] = column[at][lane];
            column[at][lane] = other;
        }
        return;
    }
    let (top, mut moved) = (column[at], column[at]);
    for (row, values) in column.iter_mut().enumerate().skip(at + 1) {
        for lane in 0..LANES {
            let swaps = place[lane] == row as i32;
            moved[lane] = if swaps { values[lane] } else { moved[lane] };
            values[lane] = if swaps { top[lane] } else { values[lane] };
        }
    }
    column[at] = moved;
}

/// The step of an elimination in one lane whose pivot may be 0 or so small that its reciprocal overflows.
#[cold]
fn eliminate_one<T: Field>(a: &mut [Lanes<T>], order: usize, at: usize, lane: usize, info: &mut i32) {
    let pivot = a[at * order + at][lane];
    if pivot == T::ZERO {
        if *info == 0 {
            *info = at as i32 + 1;
        }
        return;
    }
    let (known, rest) = a.split_at_mut((at + 1) * order);
    let factors = &mut known[at * order + at + 1..];
    let reciprocal = (pivot.abs1() >= T::Real::TINY).then(|| T::ONE / pivot);
    for factor in factors.iter_mut() {
        factor[lane] = reciprocal.map_or_else(|| factor[lane] / pivot, |reciprocal| factor[lane] * reciprocal);
    }
    for column in rest.chunks_exact_mut(order) {
        let value = column[at][lane];
        for (to, factor) in column[at + 1..].iter_mut().zip(&*factors) {
            to[lane] -= factor[lane] * value;
        }
    }
}

/// to -= factors value
#[inline(always)]
fn subtract_products<T: Field>(to: &mut [Lanes<T>], factors: &[Lanes<T>], value: &Lanes<T>) {
    for (to, factor) in to.iter_mut().zip(factors) {
        for lane in 0..LANES {
            to[lane] -= factor[lane] * value[lane];
        }
    }
}

/// Replaces right-hand sides, whose rows are exchanged, by the solutions.
struct Solve<'a, T> {
    order: usize,
    a: &'a [Lanes<T>],
    x: &'a mut [Lanes<T>],
}

impl<T: Field> Kernel for Solve<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Solve { order, a, x } = self;
        for x in x.chunks_exact_mut(order) {
            for at in 0..order {
                let (known, rest) = x.split_at_mut(at + 1);
                subtract_products(rest, &a[at * order + at + 1..(at + 1) * order], &known[at]);
            }
            for at in (0..order).rev() {
                let column = &a[at * order..=at * order + at];
                let (rest, known) = x.split_at_mut(at);
                divide(&mut known[0], &column[at]);
                subtract_products(rest, column, &known[0]);
            }
        }
    }
}

#[inline(always)]
fn divide<T: Field>(values: &mut Lanes<T>, by: &Lanes<T>) {
    for (value, &by) in values.iter_mut().zip(by) {
        *value = *value / by;
    }
}

/// Replaces right-hand sides by the solutions, for Cholesky factors.
struct SolveCholesky<'a, T> {
    order: usize,
    l: &'a [Lanes<T>],
    x: &'a mut [Lanes<T>],
}

impl<T: Field> Kernel for SolveCholesky<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let SolveCholesky { order, l, x } = self;
        for x in x.chunks_exact_mut(order) {
            for at in 0..order {
                let (known, rest) = x.split_at_mut(at + 1);
                divide(&mut known[at], &l[at * order + at]);
                subtract_products(rest, &l[at * order + at + 1..(at + 1) * order], &known[at]);
            }
            for at in (0..order).rev() {
                let (rest, known) = x.split_at_mut(at);
                divide(&mut known[0], &l[at * order + at].map(T::conj));
                for (row, to) in rest.iter_mut().enumerate() {
                    let factor = &l[row * order + at];
                    for lane in 0..LANES {
                        to[lane] -= factor[lane].conj() * known[0][lane];
                    }
                }
            }
        }
    }
}
