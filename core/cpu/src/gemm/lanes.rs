//! The vectors that make up the tiles of a product.
//!
//! A [`Vector`] says how one instruction set multiplies and adds packed elements; `tile` and `thin` are written once
//! over it. The implementations for x86-64 are in `x86`, those for ARMv8 in `neon`; [`Plain`] is for every processor.

use crate::number::{Wide, bf16_to_f32};
use rushlight_base::bf16;

/// Sums in a register, and their elements.
///
/// # Safety of the functions
/// The processor must have the instructions of the implementation, and pointers must be good for as many elements as
/// each function says; alignment is that of one element.
pub(super) trait Vector: Copy + 'static {
    /// A packed element.
    type In: Copy;
    /// A finished sum.
    type Sum: Copy;
    /// Elements of the left operand, repeated in every lane.
    type Left: Copy;
    /// Elements of the right operand, one group per lane.
    type Right: Copy;
    /// Finished sums, one per lane.
    type Total: Copy;
    /// Sums in a vector.
    const LANES: usize;
    /// Elements along k that one multiplication uses per lane.
    const GROUP: usize = 1;
    /// Whether panels of the right operand begin with a row of initial sums.
    const HEAD: bool = false;
    /// Whether sums can be clamped.
    const CLAMPS: bool = false;

    /// Sums to begin with.
    unsafe fn zero() -> Self;
    /// Sums to begin with, from the head of a panel. Only if `HEAD`.
    unsafe fn start(at: *const Self::Sum) -> Self {
        let _ = at;
        // SAFETY: `zero` needs only the instruction set, which the caller guarantees.
        unsafe { Self::zero() }
    }
    /// `LANES * GROUP` elements.
    unsafe fn load(at: *const Self::In) -> Self::Right;
    /// The groups of the first `count` lanes; zeros in the others, which are not read.
    unsafe fn load_first(at: *const Self::In, count: usize) -> Self::Right;
    /// `GROUP` elements, in every lane.
    unsafe fn splat(at: *const Self::In) -> Self::Left;
    /// The sums, with the products of the lanes added.
    unsafe fn mul_add(self, left: Self::Left, right: Self::Right) -> Self;
    /// The finished sums.
    unsafe fn total(self) -> Self::Total;
    /// Sums from memory, of the first `count` lanes.
    unsafe fn read(at: *const Self::Sum, count: usize) -> Self::Total;
    /// Sum of two.
    unsafe fn add(a: Self::Total, b: Self::Total) -> Self::Total;
    /// min(max(total, low), high); NaN is preserved. Only if `CLAMPS`.
    unsafe fn clamp(total: Self::Total, bounds: [f32; 2]) -> Self::Total {
        let _ = bounds;
        total
    }
    /// The first `count` lanes into memory.
    unsafe fn write(total: Self::Total, at: *mut Self::Sum, count: usize);
}

/// A vector that whole rows and columns of stored elements of `T` are streamed through, for `thin`.
pub(super) trait Stream<T>: Vector {
    /// The first `count` of `LANES` stored elements, converted; zeros in the other lanes, which are not read.
    unsafe fn stream(at: *const T, count: usize) -> Self::Right;
    /// One stored element, in every lane.
    unsafe fn repeat(at: *const T) -> Self::Left;
    /// Streamed elements as a left operand, one per lane.
    unsafe fn left(right: Self::Right) -> Self::Left;
    /// The sums of the first `count` lanes, to go on from.
    unsafe fn resume(at: *const Self::Sum, count: usize) -> Self;
    /// Lane by lane, the sum of two.
    unsafe fn join(self, other: Self) -> Self;
    /// The sum of the lanes, in an order that depends only on their number.
    unsafe fn across(self) -> Self::Sum;
    /// The sums of the lanes of four vectors, in an order that depends only on their number, stored next to each other.
    unsafe fn across_four(four: [Self; 4], at: *mut Self::Sum) {
        for (index, one) in four.into_iter().enumerate() {
            // SAFETY: the caller guarantees space for four sums at `at`.
            unsafe { at.add(index).write(one.across()) };
        }
    }
}

/// A vector of `f32` whose right operands may be stored as narrower elements of `T`, for `narrow`.
pub(super) trait Widen<T>: Vector<In = f32, Sum = f32> {
    /// `LANES` stored elements, converted exactly.
    unsafe fn widen(at: *const T) -> Self::Right;
    /// The sums, times `LANES` factors.
    unsafe fn scale(total: Self::Total, by: *const f32) -> Self::Total;
    /// The converted elements, as sums.
    unsafe fn total_of(right: Self::Right) -> Self::Total;
}

/// Lanes in an array, for any instruction set: the compiler vectorizes it.
#[derive(Clone, Copy)]
pub(super) struct Plain<W, const L: usize>([W; L]);

impl<W: Wide, const L: usize> Vector for Plain<W, L> {
    type In = W;
    type Sum = W;
    type Left = W;
    type Right = [W; L];
    type Total = [W; L];
    const LANES: usize = L;

    #[inline(always)]
    unsafe fn zero() -> Self {
        Plain([W::ZERO; L])
    }
    #[inline(always)]
    unsafe fn load(at: *const W) -> [W; L] {
        // SAFETY: the caller guarantees `L` readable elements at `at`.
        unsafe { at.cast::<[W; L]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn load_first(at: *const W, count: usize) -> [W; L] {
        // SAFETY: the caller guarantees `count` readable elements at `at`.
        unsafe { Self::read(at, count) }
    }
    #[inline(always)]
    unsafe fn splat(at: *const W) -> W {
        // SAFETY: the caller guarantees a readable element at `at`.
        unsafe { at.read() }
    }
    #[inline(always)]
    unsafe fn mul_add(mut self, left: W, right: [W; L]) -> Self {
        for (sum, right) in self.0.iter_mut().zip(right) {
            *sum = sum.add(left.mul(right));
        }
        self
    }
    #[inline(always)]
    unsafe fn total(self) -> [W; L] {
        self.0
    }
    #[inline(always)]
    unsafe fn read(at: *const W, count: usize) -> [W; L] {
        let mut lanes = [W::ZERO; L];
        for (lane, value) in lanes.iter_mut().enumerate().take(count) {
            // SAFETY: the caller guarantees `count` readable elements, and `lane` is below `count`.
            *value = unsafe { at.add(lane).read() };
        }
        lanes
    }
    #[inline(always)]
    unsafe fn add(a: [W; L], b: [W; L]) -> [W; L] {
        std::array::from_fn(|lane| a[lane].add(b[lane]))
    }
    #[inline(always)]
    unsafe fn write(total: [W; L], at: *mut W, count: usize) {
        for (lane, &value) in total.iter().enumerate().take(count) {
            // SAFETY: the caller guarantees space for `count` elements, and `lane` is below `count`.
            unsafe { at.add(lane).write(value) }
        }
    }
}

/// Elements as `f32`.
macro_rules! widen_plain {
    ($($of:ty: |$value:ident| $wide:expr;)*) => {$(
        impl<const L: usize> Widen<$of> for Plain<f32, L> {
            #[inline(always)]
            unsafe fn widen(at: *const $of) -> [f32; L] {
                let mut lanes = [0.0; L];
                for (lane, wide) in lanes.iter_mut().enumerate() {
                    // SAFETY: the caller guarantees `L` readable elements, and `lane` is below `L`.
                    let $value = unsafe { at.add(lane).read() };
                    *wide = $wide;
                }
                lanes
            }
            #[inline(always)]
            unsafe fn scale(mut total: [f32; L], by: *const f32) -> [f32; L] {
                for (lane, total) in total.iter_mut().enumerate() {
                    // SAFETY: the caller guarantees `L` readable factors, and `lane` is below `L`.
                    *total *= unsafe { by.add(lane).read() };
                }
                total
            }
            #[inline(always)]
            unsafe fn total_of(right: [f32; L]) -> [f32; L] {
                right
            }
        }
    )*};
}

widen_plain! {
    bf16: |value| bf16_to_f32(value);
    i8: |value| f32::from(value);
}
