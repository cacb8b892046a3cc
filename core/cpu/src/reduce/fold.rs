//! Element-wise folds: sums, products, logical, extrema. [`Folding`] makes a [`Reducer`] of a fold over any element;
//! [`FloatFolding`] one over floats, in vectors of every level.

use super::reducer::{Reducer, Steps};
use crate::convert::Source;
use crate::number::{Analytic, Number, Real, Wide};
use crate::simd::{self, Float, FloatVector, Kernel, Mask, Simd};
use rushlight_base::{Complex128, DType, Element};
use std::marker::PhantomData;

#[cfg(test)]
use super::tests::run;
#[cfg(not(test))]
use crate::simd::run;

/// A fold: how an element is lifted, and how results are merged.
pub(crate) trait Fold: Copy + Send + Sync {
    /// The stored type.
    type In: Element;
    /// The accumulator type.
    type Acc: Copy + Send + Sync;
    /// Whether lines are folded in vectors of up to AVX2: for the folds that are worth their code.
    const IN_VECTORS: bool = false;
    /// Whether results do not depend on the order: integers. The compiler vectorizes the plain loop (0.4 of the time).
    const IN_ANY_ORDER: bool = false;
    /// The result of an empty range.
    fn empty(self) -> Self::Acc;
    /// The result of one element.
    fn lift(self, x: Self::In) -> Self::Acc;
    /// Merges two results.
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
        let lines = FoldLines { fold: self.0, at, len, between: steps.column, acc };
        if F::IN_VECTORS { simd::run_narrow(lines) } else { simd::run_plain(lines) }
    }

    unsafe fn tile(self, at: *const F::In, rows: usize, row_step: isize, _: usize, acc: &mut [F::Acc]) {
        let fold = self.0;
        for row in 0..rows as isize {
            let element = |column: usize| {
                // SAFETY: the caller guarantees `rows` rows with as many columns as `acc` has. The parts of complex
                // numbers may be less aligned than their type.
                fold.lift(unsafe { at.offset(row * row_step).add(column).read_unaligned() })
            };
            let mut column = 0;
            while column + LANES <= acc.len() {
                // Through a local block: the compiler must assume that the row aliases the accumulators.
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

/// Lines of `len` elements, `between` apart: see [`Reducer::lines`].
struct FoldLines<'a, F: Fold> {
    fold: F,
    at: *const F::In,
    len: usize,
    between: isize,
    acc: &'a mut [F::Acc],
}

impl<F: Fold> Kernel for FoldLines<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let FoldLines { fold, at, len, between, acc } = self;
        for (line, acc) in acc.iter_mut().enumerate() {
            let at = at.wrapping_offset(line as isize * between);
            let element = |i: usize| {
                // SAFETY: the caller of `lines` guarantees the lines, and `i` stays below `len`. The parts of complex
                // numbers may be less aligned than their type.
                fold.lift(unsafe { at.add(i).read_unaligned() })
            };
            if F::IN_ANY_ORDER {
                *acc = (0..len).fold(fold.empty(), |all, i| fold.merge(all, element(i)));
                continue;
            }
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
}

/// A fold over floats, the same for vectors and, in the tree, for single results.
pub(crate) trait FloatFold: Copy + Send + Sync {
    /// Cost of one element of this fold, in additions.
    const COST: usize = 1;
    /// Whether rows shorter than a vector are folded from the left, as PyTorch sums them.
    const IN_ORDER: bool = false;
    /// The result of an empty range.
    const EMPTY: f64;
    /// The results of elements.
    fn lift<V: FloatVector>(self, x: V) -> V;
    /// Merges vectors of results.
    fn merge<V: FloatVector>(self, a: V, b: V) -> V;
    /// Merges two results.
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

/// Number of independent vector accumulators, so that enough additions are in flight.
const CHAINS: usize = 8;

/// The results of `count` elements, at most a vector of them.
///
/// # Safety
/// The elements are readable.
#[inline(always)]
unsafe fn lifted<S: Simd, F: FloatFold, T: Float<Wide: Real>>(fold: F, at: *const T, count: usize) -> T::Vector<S> {
    // SAFETY: the caller guarantees `count` readable elements at `at`.
    fold.lift(unsafe { T::load_some::<S>(at, count) })
}

/// The result of `len` elements, one after the other.
///
/// # Safety
/// The elements are readable.
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
    // A slow operation keeps enough work in flight without several accumulators.
    if F::COST == 1 && len >= CHAINS * lanes {
        let mut chains = [empty; CHAINS];
        while i + CHAINS * lanes <= len {
            for (chain, acc) in chains.iter_mut().enumerate() {
                // SAFETY: the vector is inside the line of `len` elements that the caller guarantees.
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
        // SAFETY: `i + lanes` is at most `len`, the length of the line that the caller guarantees.
        total = fold.merge(total, unsafe { lifted::<S, F, T>(fold, at.add(i), lanes) });
        i += lanes;
    }
    if i < len {
        let count = len - i;
        // SAFETY: the last `count` elements of the line of `len` elements that the caller guarantees.
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
            // SAFETY: the kernel was created for lines of `len` readable elements, `between` apart.
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
            // Four rows are combined before they reach the accumulators, which are then accessed a quarter as often.
            let many = F::COST == 1 && row + 4 <= rows;
            let mut column = 0;
            while column < acc.len() {
                let count = lanes.min(acc.len() - column);
                // SAFETY: the caller guarantees `rows` rows with as many columns as `acc` has.
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
                // SAFETY: `acc` has at least `count` accumulators from `column` on.
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

/// The bits of an element.
pub(crate) trait Word: Element {
    /// Whether any of these bits is set.
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

/// The booleans that occur: whether any of these bits is set.
#[derive(Clone, Copy)]
pub(crate) struct Truth<T>(pub(crate) u64, pub(crate) PhantomData<T>);

/// In the result of [`Truth`]: an element has one of the bits.
pub(crate) const MET_TRUE: u8 = 1;
/// An element has none of them.
pub(crate) const MET_FALSE: u8 = 2;

macro_rules! folds {
    ($($name:ident<$T:ident: $bound:path>, [$in_vectors:expr, $in_any_order:expr], $acc:ty, $empty:expr, |$self_:ident, $x:ident| $lift:expr,
        |$a:ident, $b:ident| $merge:expr;)*) => {$(
        impl<$T: $bound> Fold for $name<$T> {
            type In = $T;
            type Acc = $acc;
            const IN_VECTORS: bool = $in_vectors;
            const IN_ANY_ORDER: bool = $in_any_order;
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
    Sum<T: Number>, [true, is_integer(T::DTYPE)], T::Wide, T::Wide::ZERO, |self, x| x.wide(), |a, b| a.add(b);
    SumToI64<T: Source>, [true, true], i64, 0, |self, x| x.to_i64(), |a, b| a.wrapping_add(b);
    Product<T: Number>, [false, is_integer(T::DTYPE)], T::Wide, T::Wide::ONE, |self, x| x.wide(), |a, b| a.mul(b);
    ProductToI64<T: Source>, [false, true], i64, 1, |self, x| x.to_i64(), |a, b| a.wrapping_mul(b);
    Count<T: Word>, [false, true], i64, 0, |self, x| i64::from(x.has_any(self.0)), |a, b| a + b;
    Truth<T: Word>, [false, true], u8, 0, |self, x| MET_FALSE - u8::from(x.has_any(self.0)), |a, b| a | b;
}

const fn is_integer(dtype: DType) -> bool {
    matches!(dtype, DType::U8 | DType::I8 | DType::I16 | DType::I32 | DType::I64)
}

/// Declares folds over floats without parameters.
macro_rules! float_folds {
    ($($(#[$doc:meta])* $vis:vis $name:ident $(in_order $in_order:literal)?, $empty:expr, |$x:ident| $lift:expr,
        |$a:ident, $b:ident| $merge:expr, $join:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        $vis struct $name;
        impl $crate::reduce::fold::FloatFold for $name {
            $(const IN_ORDER: bool = $in_order;)?
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
    pub(crate) FloatSum in_order true, 0.0, |x| x, |a, b| a + b, a.add(b);
    /// Product.
    pub(crate) FloatProduct, 1.0, |x| x, |a, b| a * b, a.mul(b);
    /// Largest; NaN wins.
    pub(crate) Largest, f64::NEG_INFINITY, |x| x, |a, b| b.max(a), if a.is_nan() | (a >= b) { a } else { b };
    /// Largest number that is not NaN: for rows whose sum will be NaN anyway. One instruction.
    pub(crate) LargestNumber, f64::NEG_INFINITY, |x| x, |a, b| b.raw_max(a), if b > a { b } else { a };
    /// Smallest; NaN wins.
    pub(crate) Smallest, f64::INFINITY, |x| x, |a, b| b.min(a), if a.is_nan() | (a <= b) { a } else { b };
}
