//! Row kernels: functions over whole rows, such as softmax, norms and their gradients.
//!
//! A [`Strip`] is one row, or as many neighbouring rows as a vector has lanes: if the rows themselves are far apart but
//! their neighbours are not (softmax over the first dimension), a vector holds one element of each of several rows, and
//! no lanes have to be folded at the end. A [`RowOp`] is written once for both, in passes over the strip, which stays
//! in the cache: [`Strip::fold`], [`Strip::map`] and [`Strip::map_and_fold`]. This is softmax:
//!
//! ```ignore
//! terms! {
//!     First(): |at| at.read(1);
//!     #[heavy]
//!     Powers(max): |at| math::exp(at.read(1) - max);
//!     Scaled(scale): |at| at.read(0) * scale;
//! }
//!
//! let max = strip.fold::<S>(LargestNumber, First([]));
//! let scale = one / strip.map_and_fold::<S>(FloatSum, Powers([max])); // also writes the terms to array 0, the output
//! strip.map::<S>(Scaled([scale]));
//! ```
//!
//! Each pass is a [`Term`]: a type with an always-inlined method. Closures do not inherit target features unless the
//! compiler inlines them.

use crate::array::Array;
use crate::convert;
use crate::number::Wide as _;
use crate::pointwise::Loop;
use crate::reduce::fold::FloatFold;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, MAX_LANES, Mask, Simd};
use rushlight_base::list::{filled, with_capacity};
use rushlight_base::plan::Plan;
use rushlight_base::runtime::{parallel_chunks, try_parallel_chunks};
use rushlight_base::{Result, ensure};
use std::marker::PhantomData;
use std::ops::Range;

#[cfg(test)]
use crate::reduce::tests::run;
#[cfg(not(test))]
use crate::simd::run;

/// Vectors that are folded, in four chains, before their result joins the others: keeps the error of sums small.
const LEAF: usize = 512;
/// Elements of rows worth another thread: they are read several times, and exponentials taken of them.
const GRAIN: usize = 4096;
/// Adjacent rows that are passed to a kernel together.
const ACROSS: usize = 64;

/// One row of each of `N` arrays, or one vector of adjacent rows. `ALONG`: a contiguous row, the most common case,
/// which has its own code.
#[derive(Clone, Copy)]
pub(crate) struct Strip<T, const N: usize, const ALONG: bool> {
    at: [*mut T; N],
    /// From a vector to the next.
    steps: [isize; N],
    /// From a lane to the next.
    lane_steps: [isize; N],
    /// Vectors with all lanes, and all vectors.
    full: usize,
    vectors: usize,
    /// Lanes of the others.
    rest: usize,
    /// Whether each lane is a row.
    across: bool,
}

/// One vector of a strip.
pub(crate) struct Place<'a, S, T, const N: usize, const ALONG: bool> {
    strip: &'a Strip<T, N, ALONG>,
    nth: usize,
    count: usize,
    level: PhantomData<S>,
}

/// The computation of a pass for each vector.
pub(crate) trait Term<S: Simd, T: Float, const N: usize, const ALONG: bool>: Copy {
    /// Whether it is slow enough that a single accumulator keeps the processor busy, and more would only add code.
    const HEAVY: bool = false;
    /// The value at a position.
    fn of(self, place: Place<'_, S, T, N, ALONG>) -> T::Vector<S>;
}

/// `terms! { Power(max): |at| math::exp(at.read(1) - max); }` declares terms; the parameters in parentheses are one
/// vector each, the same for all positions of a strip. Use `#[heavy]` for terms of tens of instructions.
macro_rules! terms {
    ($($(#[$heavy:ident])? $name:ident($($field:ident),*): |$at:ident| $value:expr;)*) => {$(
        struct $name<V>([V; <[&str]>::len(&[$(stringify!($field)),*])]);

        impl<V: Copy> Clone for $name<V> {
            #[inline(always)]
            fn clone(&self) -> $name<V> {
                *self
            }
        }
        impl<V: Copy> Copy for $name<V> {}

        impl<S: Simd, T: Float, const N: usize, const ALONG: bool> crate::rows::Term<S, T, N, ALONG>
            for $name<T::Vector<S>>
        {
            const HEAVY: bool = !<[&str]>::is_empty(&[$(stringify!($heavy))?]);

            #[inline(always)]
            fn of(self, $at: crate::rows::Place<'_, S, T, N, ALONG>) -> T::Vector<S> {
                let [$($field),*] = self.0;
                $value
            }
        }
    )*};
}

pub(crate) use terms;

impl<S: Simd, T: Float, const N: usize, const ALONG: bool> Place<'_, S, T, N, ALONG> {
    /// The elements of array `operand`; lanes that are not there are zero.
    #[inline(always)]
    pub(crate) fn read(&self, operand: usize) -> T::Vector<S> {
        let (at, lane_step) = self.strip.at(operand, self.nth);
        // SAFETY: the strip was created over live elements, and places are created within it.
        unsafe {
            if !ALONG && lane_step != 1 {
                T::load_strided::<S>(at, lane_step * size_of::<T>() as isize, self.count)
            } else {
                T::load_some::<S>(at, self.count)
            }
        }
    }

    /// The numbers of `vector`, which all rows share: one for each element of a row, side by side.
    #[inline(always)]
    pub(crate) fn shared(&self, vector: Shared<T::Wide>) -> T::Vector<S> {
        let lanes = T::Vector::<S>::LANES;
        let at = vector.get().wrapping_add(self.nth * lanes);
        // SAFETY: the vector was created with a number for each element of the row, and the place is within the row.
        unsafe {
            if self.count == lanes { T::Vector::<S>::load(at) } else { T::Vector::<S>::load_partial(at, self.count) }
        }
    }

    #[inline(always)]
    fn write(&self, operand: usize, value: T::Vector<S>) {
        let (at, lane_step) = self.strip.at(operand, self.nth);
        // SAFETY: the strip was created over live, writable elements, and places are created within it.
        unsafe {
            if !ALONG && lane_step != 1 {
                T::store_strided::<S>(value, at, lane_step * size_of::<T>() as isize, self.count);
            } else {
                T::store_some::<S>(value, at, self.count);
            }
        }
    }
}

impl<T: Float, const N: usize, const ALONG: bool> Strip<T, N, ALONG> {
    /// One row of `len` elements.
    #[inline(always)]
    fn along<S: Simd>(at: [*mut T; N], steps: [isize; N], len: usize) -> Strip<T, N, ALONG> {
        let lanes = T::Vector::<S>::LANES;
        let (full, rest, vectors) = (len / lanes, len % lanes, len.div_ceil(lanes));
        let vector_steps = if ALONG { [lanes as isize; N] } else { steps.map(|step| step * lanes as isize) };
        Strip { at, steps: vector_steps, lane_steps: steps, full, vectors, rest, across: false }
    }

    /// `width` neighbouring rows of `len` elements: one vector of them.
    #[inline(always)]
    fn across<S: Simd>(at: [*mut T; N], steps: [isize; N], len: usize, width: usize) -> Strip<T, N, ALONG> {
        let full = if width == T::Vector::<S>::LANES { len } else { 0 };
        Strip { at, steps, lane_steps: [1; N], full, vectors: len, rest: width, across: true }
    }

    #[inline(always)]
    fn at(&self, operand: usize, nth: usize) -> (*mut T, isize) {
        (self.at[operand].wrapping_offset(nth as isize * self.steps[operand]), self.lane_steps[operand])
    }

    #[inline(always)]
    fn place<S: Simd>(&self, nth: usize, count: usize) -> Place<'_, S, T, N, ALONG> {
        Place { strip: self, nth, count, level: PhantomData }
    }

    /// Lanes of vector `nth`.
    #[inline(always)]
    fn count<S: Simd>(&self, nth: usize) -> usize {
        if nth < self.full { T::Vector::<S>::LANES } else { self.rest }
    }

    /// Writes `term` of each vector to array 0.
    #[inline(always)]
    pub(crate) fn map<S: Simd>(&self, term: impl Term<S, T, N, ALONG>) {
        let (lanes, mut nth) = (T::Vector::<S>::LANES, 0);
        while ALONG && nth < self.full {
            self.place::<S>(nth, lanes).write(0, term.of(self.place(nth, lanes)));
            nth += 1;
        }
        while nth < self.vectors {
            let count = if ALONG { self.rest } else { self.count::<S>(nth) };
            self.place::<S>(nth, count).write(0, term.of(self.place(nth, count)));
            nth += 1;
        }
    }

    /// Folds `term` of each vector. The result is in all lanes, or per lane if the lanes are rows.
    #[inline(always)]
    pub(crate) fn fold<S: Simd>(&self, fold: impl FloatFold, term: impl Term<S, T, N, ALONG>) -> T::Vector<S> {
        self.pass::<S, _, false>(fold, term)
    }

    /// [`map`](Self::map) and [`fold`](Self::fold) at once; the folded values are not rounded.
    #[inline(always)]
    pub(crate) fn map_and_fold<S: Simd>(&self, fold: impl FloatFold, term: impl Term<S, T, N, ALONG>) -> T::Vector<S> {
        self.pass::<S, _, true>(fold, term)
    }

    #[inline(always)]
    fn pass<S: Simd, F: FloatFold, const WRITES: bool>(
        &self,
        fold: F,
        term: impl Term<S, T, N, ALONG>,
    ) -> T::Vector<S> {
        let lanes = T::Vector::<S>::LANES;
        let empty = empty_of::<S, T, _>(fold);
        // Light terms use four accumulators, so that enough operations are in flight. Heavy terms use one.
        let (together, leaf) = if heavy(term) { (1, LEAF / 4) } else { (4, LEAF) };
        let (mut total, mut nth) = (empty, 0);
        // The remainder of a contiguous row has separate code, since short rows consist of nothing else.
        let most = if ALONG { self.full } else { self.vectors };
        while nth < most {
            let end = most.min(nth + leaf);
            let mut chains = [empty; 4];
            let chained = nth + end.min(self.full).saturating_sub(nth) / together * together;
            while ALONG && nth < chained {
                for chain in &mut chains[..together] {
                    let value = term.of(self.place(nth, lanes));
                    if WRITES {
                        self.place::<S>(nth, lanes).write(0, value);
                    }
                    *chain = fold.merge(*chain, value);
                    nth += 1;
                }
            }
            while nth < end {
                let count = if ALONG { lanes } else { self.count::<S>(nth) };
                let value = term.of(self.place(nth, count));
                if WRITES {
                    self.place::<S>(nth, count).write(0, value);
                }
                // Other rows meet in the same order, in less code.
                let chain = if !ALONG && nth < chained { nth % together } else { 0 };
                chains[chain] = fold.merge(chains[chain], T::Vector::<S>::select(Mask::first(count), value, empty));
                nth += 1;
            }
            let [a, b, c, d] = chains;
            let part = if together == 1 { a } else { fold.merge(fold.merge(a, c), fold.merge(b, d)) };
            total = fold.merge(total, part);
        }
        while ALONG && nth < self.vectors {
            let value = term.of(self.place(nth, self.rest));
            if WRITES {
                self.place::<S>(nth, self.rest).write(0, value);
            }
            total = fold.merge(total, T::Vector::<S>::select(Mask::first(self.rest), value, empty));
            nth += 1;
        }
        if self.across {
            total
        } else if F::IN_ORDER && self.full == 0 {
            in_order::<S, T, F>(fold, total, self.rest)
        } else {
            T::Vector::<S>::splat(total.fold(|a, b| fold.merge(a, b)))
        }
    }
}

/// Folds the first `count` lanes from the left.
#[inline(always)]
fn in_order<S: Simd, T: Float, F: FloatFold>(fold: F, values: T::Vector<S>, count: usize) -> T::Vector<S> {
    let mut lanes = [<T::Wide as crate::number::Wide>::ZERO; MAX_LANES];
    // SAFETY: the array has as many elements as the largest vector.
    unsafe { values.store(lanes.as_mut_ptr()) };
    let mut total = T::Vector::<S>::splat(lanes[0]);
    for &lane in lanes.iter().take(count).skip(1) {
        total = fold.merge(total, T::Vector::<S>::splat(lane));
    }
    total
}

#[inline(always)]
fn heavy<S: Simd, T: Float, X: Term<S, T, N, ALONG>, const N: usize, const ALONG: bool>(_: X) -> bool {
    X::HEAVY
}

#[inline(always)]
fn empty_of<S: Simd, T: Float, F: FloatFold>(_: F) -> T::Vector<S> {
    T::Vector::<S>::from_f64(F::EMPTY)
}

/// The operation on the rows of `N` arrays; the first is the output.
pub(crate) trait RowOp<T: Float, const N: usize>: Copy + Send + Sync {
    /// The work on one strip, whose first row is number `row`, in row-major order.
    fn apply<S: Simd, const ALONG: bool>(self, strip: &Strip<T, N, ALONG>, row: usize);
}

/// `rows` rows that are `row_steps` apart.
struct Rows<O, T, const N: usize> {
    op: O,
    at: [*mut T; N],
    /// Steps along the rows.
    steps: [isize; N],
    len: usize,
    row_steps: [isize; N],
    rows: usize,
    /// Number of the first row.
    first_row: usize,
    /// Whether rows are processed together, a vector at a time.
    across: bool,
}

impl<T: Float, O: RowOp<T, N>, const N: usize> Kernel for Rows<O, T, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Rows { op, at, steps, len, row_steps, rows, first_row, across } = self;
        let from = |row: usize| std::array::from_fn(|nth| at[nth].wrapping_offset(row as isize * row_steps[nth]));
        if !across && steps == [1; N] {
            for row in 0..rows {
                op.apply::<S, true>(&Strip::along::<S>(from(row), steps, len), first_row + row);
            }
            return;
        }
        let lanes = T::Vector::<S>::LANES;
        for row in (0..rows).step_by(if across { lanes } else { 1 }) {
            let strip = if across {
                Strip::across::<S>(from(row), steps, len, lanes.min(rows - row))
            } else {
                Strip::along::<S>(from(row), steps, len)
            };
            op.apply::<S, false>(&strip, first_row + row);
        }
    }
}

/// Applies `op` to the rows along `dim` of arrays of one shape and dtype.
pub(crate) fn apply<T: Float, const N: usize>(arrays: [&Array; N], dim: usize, op: impl RowOp<T, N>) -> Result<()> {
    let steps = arrays.map(|array| array.stride(dim));
    let walk = rows_along(arrays, dim)?;
    let (neighbours, row_steps) = walk.inner();
    let across = steps != [1; N] && row_steps == [1; N] && neighbours >= 4;
    if !across && steps != [1; N] && arrays[0].is_contiguous() && arrays[0].numel() >= WORTH_A_COPY {
        let copies = Copies::<T, N>::new(&arrays)?;
        if copies.0.iter().any(|copy| !copy.is_empty()) {
            let copied = copies.arrays(&arrays);
            return apply(copied.each_ref(), dim, op);
        }
    }
    let at = arrays.map(|array| Shared::new(array.as_ptr::<T>()));
    drive(&walk, at, steps, arrays[0].size(dim), across, op)
}

/// Elements from which on inputs with other strides than a contiguous output are copied: rows of all arrays then lie in
/// the same direction of memory.
const WORTH_A_COPY: usize = 256;

/// Contiguous copies of the inputs with other strides than the output; empty for the others.
struct Copies<T, const N: usize>([Vec<T>; N]);

impl<T: Float, const N: usize> Copies<T, N> {
    fn new(arrays: &[&Array; N]) -> Result<Copies<T, N>> {
        let mut copies = Copies(std::array::from_fn(|_| Vec::new()));
        for nth in 1..N {
            if arrays[nth].strides() != arrays[0].strides() {
                copies.0[nth] = filled(arrays[0].numel(), T::narrow(T::Wide::ZERO))?;
                let [to, from] = [copies.arrays(arrays)[nth].clone(), arrays[nth].clone()];
                convert::copy(&Loop::new([to, from])?)?;
            }
        }
        Ok(copies)
    }

    /// The arrays, or the copies where there are some.
    fn arrays<'a>(&'a self, arrays: &[&Array<'a>; N]) -> [Array<'a>; N] {
        std::array::from_fn(|nth| {
            if self.0[nth].is_empty() {
                return arrays[nth].clone();
            }
            let at = self.0[nth].as_ptr().cast_mut().cast();
            // SAFETY: a copy has as many elements as the output, which is contiguous.
            unsafe { Array::new(at, T::DTYPE, arrays[0].sizes(), arrays[0].strides()) }
        })
    }
}

/// The traversal of the rows along `dim`.
#[inline(never)]
fn rows_along<const N: usize>(arrays: [&Array; N], dim: usize) -> Result<Plan<N>> {
    ensure!(
        arrays.iter().all(|array| array.sizes() == arrays[0].sizes()),
        Internal,
        "a row kernel got arrays of different shapes"
    );
    let parts = arrays.map(|array| array.without(dim));
    Ok(Plan::row_major(&parts[0].0, std::array::from_fn(|operand| parts[operand].1.as_slice())))
}

/// Applies `op` to rows of `len` elements, `steps` apart, which begin at the positions of `walk`. `across`: adjacent
/// rows of its innermost dimension, which then must be adjacent in memory, are processed together.
pub(crate) fn drive<T: Float, const N: usize>(
    walk: &Plan<N>,
    at: [Shared<T>; N],
    steps: [isize; N],
    len: usize,
    across: bool,
    op: impl RowOp<T, N>,
) -> Result<()> {
    let (_, row_steps) = walk.inner();
    each_block(walk, len, across, &|offsets, first_row, rows| {
        let at = std::array::from_fn(|nth| at[nth].get().wrapping_offset(offsets[nth]));
        run(Rows { op, at, steps, len, row_steps, rows, first_row, across });
    })
}

/// Splits the rows of a traversal, which have `len` elements, into blocks; calls `visit` with the offsets and the index
/// of the first row of a block, and its number of rows.
fn each_block<const N: usize>(
    walk: &Plan<N>,
    len: usize,
    across: bool,
    visit: &(dyn Fn([isize; N], usize, usize) + Sync),
) -> Result<()> {
    let (neighbours, row_steps) = walk.inner();
    // The unit of work: rows, or blocks of adjacent rows.
    let (unit, per_row) = if across { (ACROSS, neighbours.div_ceil(ACROSS)) } else { (1, neighbours) };
    if len == 0 || walk.numel() == 0 {
        return Ok(());
    }
    parallel_chunks(per_row * walk.outer(), (GRAIN / (len * unit)).max(1), &|chunk| {
        each_run(walk, per_row, chunk, |row, offsets, units| {
            let (first, end) = (units.start * unit, neighbours.min(units.end * unit));
            let offsets = std::array::from_fn(|nth| offsets[nth] + first as isize * row_steps[nth]);
            visit(offsets, row * neighbours + first, end - first);
        });
    })
}

/// Splits `range` (of `0..per_row * walk.outer()`) at the rows of the traversal; calls `visit` with the index and the
/// offsets of a row, and the range within it.
pub(crate) fn each_run<const N: usize>(
    walk: &Plan<N>,
    per_row: usize,
    range: Range<usize>,
    mut visit: impl FnMut(usize, [isize; N], Range<usize>),
) {
    let mut nth = range.start;
    walk.rows_in(range.start / per_row..range.end.div_ceil(per_row), |offsets| {
        let row = nth / per_row;
        let (start, end) = (row * per_row, range.end.min((row + 1) * per_row));
        visit(row, offsets, nth - start..end - start);
        nth = end;
    });
}

/// Calls `visit` with the offsets of each row of `range`, counted as in [`each_run`] with single neighbours.
pub(crate) fn each_row<const N: usize>(walk: &Plan<N>, range: Range<usize>, mut visit: impl FnMut([isize; N])) {
    let (neighbours, steps) = walk.inner();
    each_run(walk, neighbours, range, |_, at, part| {
        for row in part {
            visit(std::array::from_fn(|nth| at[nth] + row as isize * steps[nth]));
        }
    });
}

/// Calls `visit` with the offsets of each row of the traversal and an empty buffer with capacity for `len` elements, on
/// several threads if a share has at least `grain` elements.
pub(crate) fn each_row_with_buffer<T, const N: usize>(
    walk: &Plan<N>,
    len: usize,
    grain: usize,
    visit: &(impl Fn(&mut Vec<T>, [isize; N]) + Sync),
) -> Result<()> {
    if walk.numel() == 0 {
        return Ok(());
    }
    try_parallel_chunks(walk.numel(), (grain / len.max(1)).max(1), &|rows| {
        let mut buffer = with_capacity(len)?;
        each_row(walk, rows, |at| {
            buffer.clear();
            visit(&mut buffer, at);
        });
        Ok(())
    })
}
