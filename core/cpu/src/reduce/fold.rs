//! Folds of one element at a time: sums, products, truth, extrema. [`Folding`] makes a [`Reducer`] of a fold over any
//! element; [`FloatFolding`] one over floats, in vectors of every level.

use super::driver::{Reducer, Steps};
use crate::convert::Source;
use crate::number::{Analytic, Number, Real, Wide};
use crate::simd::{Float, FloatVector, Kernel, Mask, Simd};
use rushlight_base::Element;
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

    unsafe fn line(self, at: *const F::In, len: usize, step: isize, _: usize) -> F::Acc {
        let fold = self.0;
        // SAFETY: `i` stays below `len`, and the caller vouches for so many elements.
        let element = |i: usize| fold.lift(unsafe { at.offset(i as isize * step).read() });
        let (mut total, mut i) = (fold.empty(), 0);
        if len >= LANES {
            let mut block = [fold.empty(); LANES];
            while i + LANES <= len {
                for (lane, acc) in block.iter_mut().enumerate() {
                    // SAFETY: as for `element`; a constant step makes vectors.
                    let x = if step == 1 { fold.lift(unsafe { at.add(i + lane).read() }) } else { element(i + lane) };
                    *acc = fold.merge(*acc, x);
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
            total = block[0];
        }
        while i < len {
            total = fold.merge(total, element(i));
            i += 1;
        }
        total
    }

    unsafe fn tile(self, at: *const F::In, rows: usize, steps: Steps, _: usize, acc: &mut [F::Acc]) {
        let fold = self.0;
        acc.fill(fold.empty());
        for row in 0..rows as isize {
            let mut column = 0;
            while steps.column == 1 && column + LANES <= acc.len() {
                // Through a local block: the row might alias the accumulators, for all the compiler knows.
                let mut block = [fold.empty(); LANES];
                for (lane, to) in block.iter_mut().enumerate() {
                    // SAFETY: the caller vouches for `rows` rows of as many columns as `acc` has.
                    let x = unsafe { at.offset(row * steps.row).add(column + lane).read() };
                    *to = fold.merge(acc[column + lane], fold.lift(x));
                }
                acc[column..column + LANES].copy_from_slice(&block);
                column += LANES;
            }
            for (column, acc) in acc.iter_mut().enumerate().skip(column) {
                // SAFETY: as above.
                let x = unsafe { at.offset(row * steps.row + column as isize * steps.column).read() };
                *acc = fold.merge(*acc, fold.lift(x));
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
pub(crate) struct FloatFolding<F, T>(F, PhantomData<T>);

impl<F, T> FloatFolding<F, T> {
    /// The reducer of `fold`.
    pub(crate) fn new(fold: F) -> FloatFolding<F, T> {
        FloatFolding(fold, PhantomData)
    }
}

impl<F: Copy, T> Clone for FloatFolding<F, T> {
    fn clone(&self) -> FloatFolding<F, T> {
        *self
    }
}
impl<F: Copy, T> Copy for FloatFolding<F, T> {}
// SAFETY: no `T` is in it.
unsafe impl<F: Send, T> Send for FloatFolding<F, T> {}
// SAFETY: as above.
unsafe impl<F: Sync, T> Sync for FloatFolding<F, T> {}

/// Vectors that are accumulated side by side, so that enough additions are under way at once.
const CHAINS: usize = 8;

/// A line of `len` elements, `step` apart.
struct Line<F, T> {
    fold: F,
    at: *const T,
    len: usize,
    step: isize,
}

impl<F: FloatFold, T: Float<Wide: Real>> Kernel for Line<F, T> {
    type Output = T::Wide;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> T::Wide {
        let Line { fold, at, len, step } = self;
        let lanes = T::Vector::<S>::LANES;
        let empty = T::Vector::<S>::from_f64(F::EMPTY);
        let vector = |i: usize| {
            // SAFETY: `i` and `count` stay within the line, which the maker of the kernel vouches for; below too.
            unsafe { if step == 1 { T::load::<S>(at.add(i)) } else { strided::<T, S>(at, step, i, lanes) } }
        };
        let rest = |i: usize| {
            let count = len - i;
            // SAFETY: as above.
            let x = unsafe {
                if step == 1 { T::load_partial::<S>(at.add(i), count) } else { strided::<T, S>(at, step, i, count) }
            };
            T::Vector::<S>::select(Mask::first(count), fold.lift(x), empty)
        };
        let mut i = 0;
        let mut total = empty;
        if len >= CHAINS * lanes {
            let mut chains = [empty; CHAINS];
            while i + CHAINS * lanes <= len {
                for (chain, acc) in chains.iter_mut().enumerate() {
                    *acc = fold.merge(*acc, fold.lift(vector(i + chain * lanes)));
                }
                i += CHAINS * lanes;
            }
            let four: [_; 4] = std::array::from_fn(|chain| fold.merge(chains[chain], chains[chain + 4]));
            total = fold.merge(fold.merge(four[0], four[2]), fold.merge(four[1], four[3]));
        }
        while i + lanes <= len {
            total = fold.merge(total, fold.lift(vector(i)));
            i += lanes;
        }
        if i < len {
            total = fold.merge(total, rest(i));
        }
        total.fold(|a, b| fold.merge(a, b))
    }
}

/// `count` elements from number `i` on, `step` apart.
///
/// # Safety
/// They can be read, and `count` is at most the number of lanes.
#[inline(always)]
pub(crate) unsafe fn strided<T: Float, S: Simd>(at: *const T, step: isize, i: usize, count: usize) -> T::Vector<S> {
    // SAFETY: the caller's promise.
    unsafe { T::load_strided::<S>(at.offset(i as isize * step), step * size_of::<T>() as isize, count) }
}

/// A tile of `rows` rows: see [`Reducer::tile`].
struct Tile<'a, F, T: Number> {
    fold: F,
    at: *const T,
    rows: usize,
    steps: Steps,
    acc: &'a mut [T::Wide],
}

impl<F: FloatFold, T: Float<Wide: Real>> Kernel for Tile<'_, F, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Tile { fold, at, rows, steps, acc } = self;
        let lanes = T::Vector::<S>::LANES;
        acc.fill(T::Wide::from_f64(F::EMPTY));
        let mut row = 0;
        while row < rows {
            // Four rows meet before they reach the accumulators, which so are touched a quarter as often.
            let many = row + 4 <= rows;
            let mut column = 0;
            while column < acc.len() {
                let count = lanes.min(acc.len() - column);
                let vector = |below: usize| {
                    // SAFETY: the caller vouches for `rows` rows of as many columns as `acc` has.
                    fold.lift(unsafe {
                        let at = at.offset((row + below) as isize * steps.row);
                        if steps.column != 1 && count == lanes {
                            strided::<T, S>(at, steps.column, column, lanes)
                        } else if steps.column != 1 {
                            strided::<T, S>(at, steps.column, column, count)
                        } else if count == lanes {
                            T::load::<S>(at.add(column))
                        } else {
                            T::load_partial::<S>(at.add(column), count)
                        }
                    })
                };
                let mut x = vector(0);
                if many {
                    x = fold.merge(fold.merge(x, vector(1)), fold.merge(vector(2), vector(3)));
                }
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
    unsafe fn line(self, at: *const T, len: usize, step: isize, _: usize) -> T::Wide {
        run(Line { fold: self.0, at, len, step })
    }

    #[inline(always)]
    unsafe fn tile(self, at: *const T, rows: usize, steps: Steps, _: usize, acc: &mut [T::Wide]) {
        run(Tile { fold: self.0, at, rows, steps, acc });
    }
}

/// Sum in the wide type.
pub(crate) struct Sum<T>(PhantomData<T>);

/// Sum of integers and bools in 64 bits.
pub(crate) struct SumToI64<T>(PhantomData<T>);

/// Product in the wide type.
pub(crate) struct Product<T>(PhantomData<T>);

/// Product of integers and bools in 64 bits.
pub(crate) struct ProductToI64<T>(PhantomData<T>);

/// Number of elements that differ from zero.
pub(crate) struct Count<T>(PhantomData<T>);

/// Which truth values occur.
pub(crate) struct Truth<T>(PhantomData<T>);

impl<T> Truth<T> {
    /// An element differs from zero.
    pub(crate) const SET: u8 = 1;
    /// An element is zero.
    pub(crate) const ZERO: u8 = 2;
}

macro_rules! folds {
    ($($name:ident<$T:ident: $bound:path>, $acc:ty, $empty:expr, |$x:ident| $lift:expr, |$a:ident, $b:ident| $merge:expr;)*) => {$(
        impl<$T> $name<$T> {
            /// The fold.
            pub(crate) fn new() -> $name<$T> {
                $name(PhantomData)
            }
        }
        impl<$T> Clone for $name<$T> {
            fn clone(&self) -> $name<$T> {
                *self
            }
        }
        impl<$T> Copy for $name<$T> {}
        // SAFETY: there is nothing in it.
        unsafe impl<$T> Send for $name<$T> {}
        // SAFETY: as above.
        unsafe impl<$T> Sync for $name<$T> {}
        impl<$T: $bound> Fold for $name<$T> {
            type In = $T;
            type Acc = $acc;
            #[inline(always)]
            fn empty(self) -> $acc {
                $empty
            }
            #[inline(always)]
            fn lift(self, $x: $T) -> $acc {
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
    Sum<T: Number>, T::Wide, T::Wide::ZERO, |x| x.widen(), |a, b| a.add(b);
    SumToI64<T: Source>, i64, 0, |x| x.to_i64(), |a, b| a.wrapping_add(b);
    Product<T: Number>, T::Wide, T::Wide::ONE, |x| x.widen(), |a, b| a.mul(b);
    ProductToI64<T: Source>, i64, 1, |x| x.to_i64(), |a, b| a.wrapping_mul(b);
    Count<T: Source>, i64, 0, |x| i64::from(x.truth()), |a, b| a + b;
    Truth<T: Source>, u8, 0, |x| 2 - u8::from(x.truth()), |a, b| a | b;
}

macro_rules! float_folds {
    ($($(#[$doc:meta])* $name:ident, $empty:expr, |$x:ident| $lift:expr, |$a:ident, $b:ident| $merge:expr, $join:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name;
        impl FloatFold for $name {
            const EMPTY: f64 = $empty;
            #[inline(always)]
            fn lift<V: FloatVector>(self, $x: V) -> V {
                $lift
            }
            #[inline(always)]
            fn merge<V: FloatVector>(self, $a: V, $b: V) -> V {
                $merge
            }
            #[inline(always)]
            fn join<W: Real>(self, $a: W, $b: W) -> W {
                $join
            }
        }
    )*};
}

float_folds! {
    /// Sum.
    FloatSum, 0.0, |x| x, |a, b| a + b, a.add(b);
    /// Product.
    FloatProduct, 1.0, |x| x, |a, b| a * b, a.mul(b);
    /// Largest; NaN wins.
    Largest, f64::NEG_INFINITY, |x| x, |a, b| a.max(b), if a.is_nan() | (a >= b) { a } else { b };
    /// Largest of what is not NaN: for rows whose sum will be NaN anyway. One instruction.
    LargestNumber, f64::NEG_INFINITY, |x| x, |a, b| b.raw_max(a), if b > a { b } else { a };
    /// Smallest; NaN wins.
    Smallest, f64::INFINITY, |x| x, |a, b| a.min(b), if a.is_nan() | (a <= b) { a } else { b };
}
