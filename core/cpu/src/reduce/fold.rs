//! Folds of one element at a time: sums, products, truth, extrema. [`Folding`] makes a [`Reducer`] of a fold over any
//! element; [`FloatFolding`] one over floats, in vectors of every level.

use super::reducer::{Reducer, Steps};
use crate::convert::Source;
use crate::number::{Analytic, Number, Real, Wide};
use crate::simd::{Float, FloatVector, Kernel, Mask, Simd};
use rushlight_base::{Complex128, Element};
use std::marker::PhantomData;

#[cfg(test)]
use super::tests::run;
#[cfg(not(test))]
use crate::simd::run;

/// A fold: what an element counts for, and how results meet.
pub(crate) trait Fold: Copy + Send + Sync {
    /// What lies in memory.
    type In: Element;
    /// What is carried.
    type Acc: Copy + Send + Sync;
    /// The result of nothing.
    fn empty(self) -> Self::Acc;
    /// The result of one element.
    fn lift(self, x: Self::In) -> Self::Acc;
    /// The result of both.
    fn merge(self, a: Self::Acc, b: Self::Acc) -> Self::Acc;
}

/// The reducer of a fold.
#[derive(Clone, Copy)]
pub(crate) struct Folding<F>(pub(crate) F);

/// Accumulators of a line: enough for the vectors of a baseline processor.
const LANES: usize = 16;

impl<F: Fold> Reducer for Folding<F> {
    type In = F::In;
    type Acc = F::Acc;

    #[inline(always)]
    fn empty(self) -> F::Acc {
        self.0.empty()
    }

    #[inline(always)]
    fn merge(self, a: F::Acc, b: F::Acc) -> F::Acc {
        self.0.merge(a, b)
    }

    unsafe fn lines(self, at: *const F::In, len: usize, steps: Steps, _: usize, acc: &mut [F::Acc]) {
        let fold = self.0;
        for (line, acc) in acc.iter_mut().enumerate() {
            let at = at.wrapping_offset(line as isize * steps.column);
            let element = |i: usize| {
                // SAFETY: the caller vouches for the lines, and `i` stays below `len`. Words of complex numbers are
                // not aligned as words are.
                fold.lift(unsafe { at.add(i).read_unaligned() })
            };
            let mut i = 0;
            if len >= LANES {
                let mut block = [fold.empty(); LANES];
                while i + LANES <= len {
                    for (lane, acc) in block.iter_mut().enumerate() {
                        *acc = fold.merge(*acc, element(i + lane));
                    }
                    i += LANES;
                }
                let mut width = LANES;
                while width > 1 {
                    width /= 2;
                    for lane in 0..width {
                        block[lane] = fold.merge(block[lane], block[lane + width]);
                    }
                }
                *acc = block[0];
            }
            while i < len {
                *acc = fold.merge(*acc, element(i));
                i += 1;
            }
        }
    }

    unsafe fn tile(self, at: *const F::In, rows: usize, row_step: isize, _: usize, acc: &mut [F::Acc]) {
        let fold = self.0;
        for row in 0..rows as isize {
            let element = |column: usize| {
                // SAFETY: the caller vouches for `rows` rows of as many columns as `acc` has; as above.
                fold.lift(unsafe { at.offset(row * row_step).add(column).read_unaligned() })
            };
            let mut column = 0;
            while column + LANES <= acc.len() {
                // Through a local block: the row might alias the accumulators, for all the compiler knows.
                let mut block = [fold.empty(); LANES];
                for (lane, to) in block.iter_mut().enumerate() {
                    *to = fold.merge(acc[column + lane], element(column + lane));
                }
                acc[column..column + LANES].copy_from_slice(&block);
                column += LANES;
            }
            for (column, acc) in acc.iter_mut().enumerate().skip(column) {
                *acc = fold.merge(*acc, element(column));
            }
        }
    }
}

/// A fold over floats, the same for vectors and, in the tree, for single results.
pub(crate) trait FloatFold: Copy + Send + Sync {
    /// How many elements of this fold cost as much as one addition.
    const COST: usize = 1;
    /// The result of nothing.
    const EMPTY: f64;
    /// The results of elements.
    fn lift<V: FloatVector>(self, x: V) -> V;
    /// The results of both.
    fn merge<V: FloatVector>(self, a: V, b: V) -> V;
    /// The result of both.
    fn join<W: Real>(self, a: W, b: W) -> W;
}

/// The reducer of a fold over floats of type `T`.
#[derive(Clone, Copy)]
pub(crate) struct FloatFolding<F, T>(F, PhantomData<T>);

impl<F, T> FloatFolding<F, T> {
    /// The reducer of `fold`.
    pub(crate) fn new(fold: F) -> FloatFolding<F, T> {
        FloatFolding(fold, PhantomData)
    }
}

/// Vectors that are accumulated side by side, so that enough additions are under way at once.
const CHAINS: usize = 8;

/// The results of `count` elements, at most a vector of them.
///
/// # Safety
/// They can be read.
#[inline(always)]
unsafe fn lifted<S: Simd, F: FloatFold, T: Float<Wide: Real>>(fold: F, at: *const T, count: usize) -> T::Vector<S> {
    // SAFETY: the caller's promise.
    fold.lift(unsafe { T::load_some::<S>(at, count) })
}

/// The result of `len` elements, one after the other.
///
/// # Safety
/// They can be read.
#[inline(always)]
pub(super) unsafe fn fold_line<S: Simd, F: FloatFold, T: Float<Wide: Real>>(
    fold: F,
    at: *const T,
    len: usize,
) -> T::Wide {
    let lanes = T::Vector::<S>::LANES;
    let empty = T::Vector::<S>::from_f64(F::EMPTY);
    let mut i = 0;
    let mut total = empty;
    // What takes long by itself keeps enough additions under way without chains.
    if F::COST == 1 && len >= CHAINS * lanes {
        let mut chains = [empty; CHAINS];
        while i + CHAINS * lanes <= len {
            for (chain, acc) in chains.iter_mut().enumerate() {
                // SAFETY: the vector lies within the line, which the caller vouches for; so do those below.
                *acc = fold.merge(*acc, unsafe { lifted::<S, F, T>(fold, at.add(i + chain * lanes), lanes) });
            }
            i += CHAINS * lanes;
        }
        let mut width = CHAINS;
        while width > 1 {
            width /= 2;
            for chain in 0..width {
                chains[chain] = fold.merge(chains[chain], chains[chain + width]);
            }
        }
        total = chains[0];
    }
    while i + lanes <= len {
        // SAFETY: as above.
        total = fold.merge(total, unsafe { lifted::<S, F, T>(fold, at.add(i), lanes) });
        i += lanes;
    }
    if i < len {
        let count = len - i;
        // SAFETY: as above.
        let rest = unsafe { lifted::<S, F, T>(fold, at.add(i), count) };
        total = fold.merge(total, T::Vector::<S>::select(Mask::first(count), rest, empty));
    }
    total.fold(|a, b| fold.merge(a, b))
}

/// Lines of `len` elements, `between` apart: see [`Reducer::lines`].
struct Lines<'a, F, T: Number> {
    fold: F,
    at: *const T,
    len: usize,
    between: isize,
    acc: &'a mut [T::Wide],
}

impl<F: FloatFold, T: Float<Wide: Real>> Kernel for Lines<'_, F, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for (line, acc) in self.acc.iter_mut().enumerate() {
            // SAFETY: the maker of the kernel vouches for the lines.
            *acc = unsafe { fold_line::<S, F, T>(self.fold, self.at.offset(line as isize * self.between), self.len) };
        }
    }
}

/// A tile of `rows` rows: see [`Reducer::tile`].
struct Tile<'a, F, T: Number> {
    fold: F,
    at: *const T,
    rows: usize,
    row_step: isize,
    acc: &'a mut [T::Wide],
}

impl<F: FloatFold, T: Float<Wide: Real>> Kernel for Tile<'_, F, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Tile { fold, at, rows, row_step, acc } = self;
        let lanes = T::Vector::<S>::LANES;
        let mut row = 0;
        while row < rows {
            // Four rows meet before they reach the accumulators, which so are touched a quarter as often.
            let many = F::COST == 1 && row + 4 <= rows;
            let mut column = 0;
            while column < acc.len() {
                let count = lanes.min(acc.len() - column);
                // SAFETY: the caller vouches for `rows` rows of as many columns as `acc` has.
                let x = unsafe {
                    let first = at.offset(row as isize * row_step).add(column);
                    let x = lifted::<S, F, T>(fold, first, count);
                    if many {
                        let second = lifted::<S, F, T>(fold, first.offset(row_step), count);
                        let third = lifted::<S, F, T>(fold, first.offset(2 * row_step), count);
                        let fourth = lifted::<S, F, T>(fold, first.offset(3 * row_step), count);
                        fold.merge(fold.merge(x, second), fold.merge(third, fourth))
                    } else {
                        x
                    }
                };
                let at = acc[column..].as_mut_ptr();
                // SAFETY: `count` accumulators are there.
                unsafe {
                    if count == lanes {
                        fold.merge(T::Vector::<S>::load(at), x).store(at);
                    } else {
                        fold.merge(T::Vector::<S>::load_partial(at, count), x).store_partial(at, count);
                    }
                }
                column += lanes;
            }
            row += if many { 4 } else { 1 };
        }
    }
}

impl<F: FloatFold, T: Float<Wide: Real>> Reducer for FloatFolding<F, T> {
    type In = T;
    type Acc = T::Wide;
    const COST: usize = F::COST;

    #[inline(always)]
    fn empty(self) -> T::Wide {
        T::Wide::from_f64(F::EMPTY)
    }

    #[inline(always)]
    fn merge(self, a: T::Wide, b: T::Wide) -> T::Wide {
        self.0.join(a, b)
    }

    #[inline(always)]
    unsafe fn lines(self, at: *const T, len: usize, steps: Steps, _: usize, acc: &mut [T::Wide]) {
        run(Lines { fold: self.0, at, len, between: steps.column, acc })
    }

    #[inline(always)]
    unsafe fn tile(self, at: *const T, rows: usize, row_step: isize, _: usize, acc: &mut [T::Wide]) {
        run(Tile { fold: self.0, at, rows, row_step, acc });
    }
}

/// Sum in the wide type.
#[derive(Clone, Copy)]
pub(crate) struct Sum<T>(pub(crate) PhantomData<T>);

/// Sum of integers and bools in 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct SumToI64<T>(pub(crate) PhantomData<T>);

/// Product in the wide type.
#[derive(Clone, Copy)]
pub(crate) struct Product<T>(pub(crate) PhantomData<T>);

/// Product of integers and bools in 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct ProductToI64<T>(pub(crate) PhantomData<T>);

/// An element as bits.
pub(crate) trait Word: Element {
    /// Is any of these set?
    fn has_any(self, bits: u64) -> bool;
}

macro_rules! words {
    ($($type:ty),*) => {$(
        impl Word for $type {
            #[inline(always)]
            fn has_any(self, bits: u64) -> bool {
                self & bits as $type != 0
            }
        }
    )*};
}
words!(u8, u16, u32, u64);

impl Word for Complex128 {
    #[inline(always)]
    fn has_any(self, bits: u64) -> bool {
        (self.re.to_bits() | self.im.to_bits()).has_any(bits)
    }
}

/// Number of elements with one of these bits.
#[derive(Clone, Copy)]
pub(crate) struct Count<T>(pub(crate) u64, pub(crate) PhantomData<T>);

/// Which truth values occur: is any of these bits set?
#[derive(Clone, Copy)]
pub(crate) struct Truth<T>(pub(crate) u64, pub(crate) PhantomData<T>);

/// In the result of [`Truth`]: an element has one of the bits.
pub(crate) const MET_TRUE: u8 = 1;
/// An element has none of them.
pub(crate) const MET_FALSE: u8 = 2;

macro_rules! folds {
    ($($name:ident<$T:ident: $bound:path>, $acc:ty, $empty:expr, |$self_:ident, $x:ident| $lift:expr,
        |$a:ident, $b:ident| $merge:expr;)*) => {$(
        impl<$T: $bound> Fold for $name<$T> {
            type In = $T;
            type Acc = $acc;
            #[inline(always)]
            fn empty(self) -> $acc {
                $empty
            }
            #[inline(always)]
            fn lift($self_, $x: $T) -> $acc {
                $lift
            }
            #[inline(always)]
            fn merge(self, $a: $acc, $b: $acc) -> $acc {
                $merge
            }
        }
    )*};
}

folds! {
    Sum<T: Number>, T::Wide, T::Wide::ZERO, |self, x| x.wide(), |a, b| a.add(b);
    SumToI64<T: Source>, i64, 0, |self, x| x.to_i64(), |a, b| a.wrapping_add(b);
    Product<T: Number>, T::Wide, T::Wide::ONE, |self, x| x.wide(), |a, b| a.mul(b);
    ProductToI64<T: Source>, i64, 1, |self, x| x.to_i64(), |a, b| a.wrapping_mul(b);
    Count<T: Word>, i64, 0, |self, x| i64::from(x.has_any(self.0)), |a, b| a + b;
    Truth<T: Word>, u8, 0, |self, x| MET_FALSE - u8::from(x.has_any(self.0)), |a, b| a | b;
}

/// Declares folds over floats that need no numbers of their own.
macro_rules! float_folds {
    ($($(#[$doc:meta])* $vis:vis $name:ident, $empty:expr, |$x:ident| $lift:expr, |$a:ident, $b:ident| $merge:expr, $join:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        $vis struct $name;
        impl $crate::reduce::fold::FloatFold for $name {
            const EMPTY: f64 = $empty;
            #[inline(always)]
            fn lift<V: $crate::simd::FloatVector>(self, $x: V) -> V {
                $lift
            }
            #[inline(always)]
            fn merge<V: $crate::simd::FloatVector>(self, $a: V, $b: V) -> V {
                $merge
            }
            #[inline(always)]
            fn join<W: $crate::number::Real>(self, $a: W, $b: W) -> W {
                $join
            }
        }
    )*};
}
pub(super) use float_folds;

float_folds! {
    /// Sum.
    pub(crate) FloatSum, 0.0, |x| x, |a, b| a + b, a.add(b);
    /// Product.
    pub(crate) FloatProduct, 1.0, |x| x, |a, b| a * b, a.mul(b);
    /// Largest; NaN wins.
    pub(crate) Largest, f64::NEG_INFINITY, |x| x, |a, b| b.max(a), if a.is_nan() | (a >= b) { a } else { b };
    /// Largest of what is not NaN: for rows whose sum will be NaN anyway. One instruction.
    pub(crate) LargestNumber, f64::NEG_INFINITY, |x| x, |a, b| b.raw_max(a), if b > a { b } else { a };
    /// Smallest; NaN wins.
    pub(crate) Smallest, f64::INFINITY, |x| x, |a, b| b.min(a), if a.is_nan() | (a <= b) { a } else { b };
}
