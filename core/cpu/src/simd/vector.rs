//! The vector operations of kernels: [`FloatVector`], its integers [`IntVector`], and [`Mask`], the results of
//! comparisons. `portable.rs`, `avx2.rs`, `avx512.rs` and `neon.rs` implement them.
//!
//! All but `fold` and the functions based on it are lane-wise, and a lane's result does not depend on the number of
//! lanes or on the other lanes. Splitting a loop into vectors and partial vectors in any way therefore gives the same
//! bits. Between levels results may differ where `mul_add` rounds once or twice; otherwise they do not, unless stated.

use crate::math::{Elementary, Huge};
use rushlight_base::{bf16, f16};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// No vector has more lanes: the size of buffers on the stack.
pub const MAX_LANES: usize = 16;

/// One boolean for each lane.
pub trait Mask:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// The number of lanes.
    const LANES: usize;

    /// Bit `i` is lane `i`; bits beyond the lanes are ignored.
    fn from_bits(bits: u32) -> Self;

    /// Lane `i` is bit `i`; the rest is zero.
    fn to_bits(self) -> u32;

    /// The same for all lanes.
    #[inline(always)]
    fn splat(value: bool) -> Self {
        Self::from_bits(if value { u32::MAX } else { 0 })
    }

    /// True in the first `count` lanes.
    #[inline(always)]
    fn first(count: usize) -> Self {
        Self::from_bits(if count >= 32 { u32::MAX } else { (1 << count) - 1 })
    }

    /// Whether any lane is true.
    #[inline(always)]
    fn any(self) -> bool {
        self.to_bits() != 0
    }

    /// Whether all lanes are true.
    #[inline(always)]
    fn all(self) -> bool {
        !(!self).any()
    }

    /// Lanes from bytes, true where not zero.
    ///
    /// # Safety
    /// `LANES` bytes at `source` can be read.
    #[inline(always)]
    unsafe fn load(source: *const u8) -> Self {
        let mut bits = 0;
        for lane in 0..Self::LANES {
            // SAFETY: the caller guarantees: `LANES` bytes at `source` can be read.
            bits |= u32::from(unsafe { *source.add(lane) } != 0) << lane;
        }
        Self::from_bits(bits)
    }

    /// Writes lanes as bytes 0 and 1.
    ///
    /// # Safety
    /// `LANES` bytes at `target` can be written.
    #[inline(always)]
    unsafe fn store(self, target: *mut u8) {
        let bits = self.to_bits();
        for lane in 0..Self::LANES {
            // SAFETY: the caller guarantees: `LANES` bytes at `target` can be written.
            unsafe { *target.add(lane) = (bits >> lane & 1) as u8 };
        }
    }

    /// Like `load`, of `count` bytes; the other lanes are false.
    ///
    /// # Safety
    /// `count` bytes at `source` can be read, and `count <= LANES`.
    #[inline(always)]
    unsafe fn load_partial(source: *const u8, count: usize) -> Self {
        let mut buffer = [0; MAX_LANES];
        // SAFETY: the caller guarantees: `count` bytes at `source` can be read, and `count <= LANES`; and no vector is
        // larger than the buffer.
        unsafe {
            std::ptr::copy_nonoverlapping(source, buffer.as_mut_ptr(), count);
            Self::load(buffer.as_ptr())
        }
    }

    /// Like `store`, of the first `count` lanes.
    ///
    /// # Safety
    /// `count` bytes at `target` can be written, and `count <= LANES`.
    #[inline(always)]
    unsafe fn store_partial(self, target: *mut u8, count: usize) {
        let mut buffer = [0; MAX_LANES];
        // SAFETY: the caller guarantees: `count` bytes at `target` can be written, and `count <= LANES`; and no vector
        // is larger than the buffer.
        unsafe {
            self.store(buffer.as_mut_ptr());
            std::ptr::copy_nonoverlapping(buffer.as_ptr(), target, count);
        }
    }
}

/// Integers as wide as the floats of a [`FloatVector`]: for bit patterns and exponents. Arithmetic wraps.
pub trait IntVector:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// `i32` or `i64`.
    type Scalar: Copy + Into<i64> + 'static;
    /// Result of a comparison.
    type Mask: Mask;
    /// The number of lanes.
    const LANES: usize;

    /// The same for all lanes.
    fn splat(value: Self::Scalar) -> Self;

    /// The same for all lanes, cut to the scalar's bits: for code over both widths.
    fn from_i64(value: i64) -> Self;

    /// # Safety
    /// `LANES` integers at `source` can be read.
    unsafe fn load(source: *const Self::Scalar) -> Self;

    /// # Safety
    /// `LANES` integers at `target` can be written.
    unsafe fn store(self, target: *mut Self::Scalar);

    /// Writes the lanes as `i64`. The compiler converts the lanes of a buffer one by one.
    ///
    /// # Safety
    /// `LANES` integers at `target` can be written.
    #[inline(always)]
    unsafe fn store_wide(self, target: *mut i64) {
        let mut buffer = [0i64; MAX_LANES];
        let buffer = buffer.as_mut_ptr().cast::<Self::Scalar>();
        // SAFETY: no vector of integers is larger than the buffer; the caller guarantees the integers at `target`.
        unsafe {
            self.store(buffer);
            (0..Self::LANES).for_each(|lane| target.add(lane).write((*buffer.add(lane)).into()));
        }
    }

    /// Shifts left; `bits` is less than the width.
    fn shl(self, bits: u32) -> Self;

    /// Shifts right, zeros enter; `bits` is less than the width.
    fn shr(self, bits: u32) -> Self;

    /// Shifts right, copies of the sign enter; `bits` is less than the width.
    fn sar(self, bits: u32) -> Self;

    /// Whether the lanes are equal.
    fn eq(self, other: Self) -> Self::Mask;

    /// Whether the lanes are less, as signed numbers.
    fn lt(self, other: Self) -> Self::Mask;

    /// `yes` where `mask` is true, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

/// A vector of `f32` or `f64`.
pub trait FloatVector:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// `f32` or `f64`.
    type Scalar: Elementary;
    /// Integers of the same width and number.
    type Int: IntVector<Mask = Self::Mask>;
    /// Result of a comparison.
    type Mask: Mask;
    /// The number of lanes.
    const LANES: usize;
    /// Whether `mul_add` rounds once.
    const FUSED: bool;
    /// Whether [`look_up`](Self::look_up) is one instruction.
    const LOOKUP: bool = false;

    /// The same for all lanes.
    fn splat(value: Self::Scalar) -> Self;

    /// A constant, rounded to the scalar: for code over both widths.
    fn from_f64(value: f64) -> Self;

    /// 0, 1, 2, ...
    fn iota() -> Self;

    /// Reads without regard to alignment.
    ///
    /// # Safety
    /// `LANES` numbers at `source` can be read.
    unsafe fn load(source: *const Self::Scalar) -> Self;

    /// Writes without regard to alignment.
    ///
    /// # Safety
    /// `LANES` numbers at `target` can be written.
    unsafe fn store(self, target: *mut Self::Scalar);

    /// Non-temporal store, where available: for outputs that are too large for the caches. Call
    /// [`Simd::stream_fence`](super::Simd::stream_fence) after the last one.
    ///
    /// # Safety
    /// `LANES` numbers at `target` can be written, and it is aligned to the size of the vector.
    #[inline(always)]
    unsafe fn stream(self, target: *mut Self::Scalar) {
        // SAFETY: the caller guarantees `LANES` writable, aligned numbers at `target`.
        unsafe { self.store(target) }
    }

    /// Reads `count` numbers, mostly a whole vector; the other lanes are zero.
    ///
    /// # Safety
    /// `count` numbers at `source` can be read, and `count <= LANES`.
    #[inline(always)]
    unsafe fn load_some(source: *const Self::Scalar, count: usize) -> Self {
        // SAFETY: the caller guarantees `count <= LANES` readable numbers.
        unsafe { if count == Self::LANES { Self::load(source) } else { Self::load_partial(source, count) } }
    }

    /// Reads `count` numbers; the other lanes are zero.
    ///
    /// # Safety
    /// `count` numbers at `source` can be read, and `count <= LANES`.
    #[inline(always)]
    unsafe fn load_partial(source: *const Self::Scalar, count: usize) -> Self {
        let mut buffer = [0u64; MAX_LANES];
        let buffer = buffer.as_mut_ptr().cast::<Self::Scalar>();
        // SAFETY: the caller guarantees `count <= LANES` readable numbers at `source`; no vector is larger than the
        // buffer, and zeros are valid numbers.
        unsafe {
            std::ptr::copy_nonoverlapping(source, buffer, count);
            Self::load(buffer)
        }
    }

    /// Writes the first `count` lanes.
    ///
    /// # Safety
    /// `count` numbers at `target` can be written, and `count <= LANES`.
    #[inline(always)]
    unsafe fn store_partial(self, target: *mut Self::Scalar, count: usize) {
        let mut buffer = [0u64; MAX_LANES];
        let buffer = buffer.as_mut_ptr().cast::<Self::Scalar>();
        // SAFETY: the caller guarantees `count <= LANES` writable numbers at `target`; no vector is larger than the
        // buffer.
        unsafe {
            self.store(buffer);
            std::ptr::copy_nonoverlapping(buffer, target, count);
        }
    }

    /// Reads `count` numbers that are `stride` bytes apart; the other lanes are zero.
    ///
    /// # Safety
    /// They can be read and are aligned as the scalar is, and `count <= LANES`.
    #[inline(always)]
    unsafe fn load_strided(source: *const Self::Scalar, stride: isize, count: usize) -> Self {
        let mut buffer = [0u64; MAX_LANES];
        let buffer = buffer.as_mut_ptr().cast::<Self::Scalar>();
        // SAFETY: the caller guarantees `count <= LANES` readable, aligned numbers at the stride; no vector is larger
        // than the buffer, and zeros are valid numbers.
        unsafe {
            for lane in 0..count {
                *buffer.add(lane) = *source.byte_offset(lane as isize * stride);
            }
            Self::load(buffer)
        }
    }

    /// Writes the first `count` lanes `stride` bytes apart.
    ///
    /// # Safety
    /// They can be written and are aligned as the scalar is, and `count <= LANES`.
    #[inline(always)]
    unsafe fn store_strided(self, target: *mut Self::Scalar, stride: isize, count: usize) {
        let mut buffer = [0u64; MAX_LANES];
        let buffer = buffer.as_mut_ptr().cast::<Self::Scalar>();
        // SAFETY: the caller guarantees `count <= LANES` writable, aligned numbers at the stride; no vector is larger
        // than the buffer.
        unsafe {
            self.store(buffer);
            for lane in 0..count {
                *target.byte_offset(lane as isize * stride) = *buffer.add(lane);
            }
        }
    }

    /// The lanes with even numbers, then those of `next`.
    #[inline(always)]
    fn evens(self, next: Self) -> Self {
        let mut buffer = [0u64; 2 * MAX_LANES];
        let buffer = buffer.as_mut_ptr().cast::<Self::Scalar>();
        // SAFETY: the buffer holds the two largest vectors; each number is written after all that precede it were read.
        unsafe {
            self.store(buffer);
            next.store(buffer.add(Self::LANES));
            for lane in 0..Self::LANES {
                *buffer.add(lane) = *buffer.add(2 * lane);
            }
            Self::load(buffer)
        }
    }

    /// Calls `function` on each lane: for rare lanes that need scalar code.
    #[inline(always)]
    fn map(self, mut function: impl FnMut(Self::Scalar) -> Self::Scalar) -> Self {
        let mut buffer = [0u64; MAX_LANES];
        let buffer = buffer.as_mut_ptr().cast::<Self::Scalar>();
        // SAFETY: the buffer holds the largest vector.
        unsafe {
            self.store(buffer);
            for lane in 0..Self::LANES {
                *buffer.add(lane) = function(*buffer.add(lane));
            }
            Self::load(buffer)
        }
    }

    /// `self * factor + term`: rounded once where [`FUSED`](Self::FUSED), else twice.
    fn mul_add(self, factor: Self, term: Self) -> Self;

    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;

    /// The absolute value.
    fn abs(self) -> Self;

    /// The magnitude of `self` with the sign of `sign`.
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        let minus = Self::from_f64(-0.0).bits();
        Self::from_bits((self.bits() & !minus) | (sign.bits() & minus))
    }

    /// The lesser; NaN if either is.
    fn min(self, other: Self) -> Self;

    /// The greater; NaN if either is.
    fn max(self, other: Self) -> Self;

    /// `self` if `self < other`, else `other`, also if either is NaN: one instruction on x86.
    fn raw_min(self, other: Self) -> Self;

    /// `self` if `self > other`, else `other`, also if either is NaN: one instruction on x86.
    fn raw_max(self, other: Self) -> Self;

    /// To the nearest whole number, ties to even.
    fn round(self) -> Self;

    /// To the next whole number below.
    fn floor(self) -> Self;

    /// To the next whole number above.
    fn ceil(self) -> Self;

    /// To the next whole number towards zero.
    fn trunc(self) -> Self;

    /// `self == other`.
    fn eq(self, other: Self) -> Self::Mask;

    /// `self < other`; false if either is NaN.
    fn lt(self, other: Self) -> Self::Mask;

    /// `self <= other`; false if either is NaN.
    fn le(self, other: Self) -> Self::Mask;

    /// `self != other`; true if either is NaN.
    #[inline(always)]
    fn ne(self, other: Self) -> Self::Mask {
        !self.eq(other)
    }

    /// `self > other`; false if either is NaN.
    #[inline(always)]
    fn gt(self, other: Self) -> Self::Mask {
        other.lt(self)
    }

    /// `self >= other`; false if either is NaN.
    #[inline(always)]
    fn ge(self, other: Self) -> Self::Mask {
        other.le(self)
    }

    /// Whether it is NaN.
    #[inline(always)]
    fn is_nan(self) -> Self::Mask {
        self.ne(self)
    }

    /// `yes` where `mask` is true, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// The bit patterns.
    fn bits(self) -> Self::Int;

    /// From bit patterns.
    fn from_bits(bits: Self::Int) -> Self;

    /// To the nearest integer, ties to even; unspecified beyond 2^22 (`f32`) or 2^51 (`f64`).
    fn to_int(self) -> Self::Int;

    /// From an integer; unspecified beyond 2^31 (`f32`, rounded) or 2^51 (`f64`).
    fn from_int(value: Self::Int) -> Self;

    /// `self * 2^exponent`, rounded once, also for subnormal and infinite results. `exponent` is an integer of
    /// magnitude at most 252 (`f32`) or 2044 (`f64`), else the result is unspecified.
    fn ldexp(self, exponent: Self) -> Self;

    /// `self * 2^n`, rounded once, for the greatest whole number `n` that is no greater than `exponent`, which may be any
    /// number, or infinite; NaN where `exponent` is.
    #[inline(always)]
    fn scale_by(self, exponent: Self) -> Self {
        // The range of `ldexp`, which is enough for every number to underflow or overflow.
        let most = Self::from_f64(if Self::Scalar::MANTISSA == 23 { 252.0 } else { 2044.0 });
        let whole = most.raw_min((-most).raw_max(exponent.floor()));
        Self::select(exponent.is_nan(), exponent, self.ldexp(whole))
    }

    /// `self`, or `most` with the sign of `self` where that is less in size, or `self` is NaN.
    #[inline(always)]
    fn limit(self, most: Self) -> Self {
        Self::select(self.abs().lt(most), self, most.copysign(self))
    }

    /// The table entries selected by the last five bits of each lane.
    #[inline(always)]
    fn look_up(table: &'static [Self::Scalar; 32], at: Self::Int) -> Self {
        let (mut places, mut found) = ([0u64; MAX_LANES], [0u64; MAX_LANES]);
        let places = places.as_mut_ptr().cast::<<Self::Int as IntVector>::Scalar>();
        let found = found.as_mut_ptr().cast::<Self::Scalar>();
        // SAFETY: both buffers hold the largest vector.
        unsafe {
            at.store(places);
            for lane in 0..Self::LANES {
                let place: i64 = (*places.add(lane)).into();
                *found.add(lane) = table[place as usize % 32];
            }
            Self::load(found)
        }
    }

    /// `(k, m)` with `self = 2^k m` and `1 <= m < 2`, where that is fast: `k` is infinite, and `m` 1, for infinities and
    /// zeros; `m` is NaN for numbers below zero.
    #[inline(always)]
    fn decompose(self) -> Option<(Self, Self)> {
        None
    }

    /// Combines all lanes with `combine`, which must commute: halves of the vector, then halves of these, and so on.
    fn fold(self, combine: impl Fn(Self, Self) -> Self) -> Self::Scalar;

    /// The sum of the lanes, in the order of [`fold`](Self::fold).
    #[inline(always)]
    fn sum(self) -> Self::Scalar {
        self.fold(|left, right| left + right)
    }

    /// The greatest lane; NaN if any is.
    #[inline(always)]
    fn reduce_max(self) -> Self::Scalar {
        self.fold(Self::max)
    }

    /// The least lane; NaN if any is.
    #[inline(always)]
    fn reduce_min(self) -> Self::Scalar {
        self.fold(Self::min)
    }
}

/// A vector of `f32`, with loads and stores of half precision. Conversions are those of `number.rs`, bit for bit.
pub trait HalfVector: FloatVector<Scalar = f32> {
    /// Reads 16-bit patterns into 32 bits each; the upper bits are zero.
    ///
    /// # Safety
    /// `LANES` numbers at `source` can be read.
    unsafe fn load_u16(source: *const u16) -> Self::Int;

    /// Writes the lower 16 bits of each lane; the upper ones are zero.
    ///
    /// # Safety
    /// `LANES` numbers at `target` can be written.
    unsafe fn store_u16(value: Self::Int, target: *mut u16);

    /// Reads half-precision numbers as `f32`.
    ///
    /// # Safety
    /// `LANES` half-precision numbers at `source` can be read.
    #[inline(always)]
    unsafe fn load_f16(source: *const f16) -> Self {
        // SAFETY: the caller guarantees `LANES` readable half-precision numbers at `source`.
        let bits = unsafe { Self::load_u16(source.cast()) };
        let constant = Self::Int::from_i64;
        let rest = bits & constant(0x7fff);
        let sign = (bits ^ rest).shl(16);
        // 2^112: the difference of the exponents' biases. The product also normalizes subnormal numbers.
        let moved = (Self::from_bits(rest.shl(13)) * Self::from_bits(constant(0x7780_0000))).bits();
        let zero = constant(0);
        let infinite = Self::Int::select(constant(0x7bff).lt(rest), constant(0x7f80_0000), zero);
        let quiet = Self::Int::select(constant(0x7c00).lt(rest), constant(0x0040_0000), zero);
        Self::from_bits(sign | moved | infinite | quiet)
    }

    /// Rounds to half precision and stores.
    ///
    /// # Safety
    /// `LANES` half-precision numbers at `target` can be written.
    #[inline(always)]
    unsafe fn store_f16(self, target: *mut f16) {
        let constant = Self::Int::from_i64;
        let rest = self.bits() & constant(0x7fff_ffff);
        let sign = (self.bits() ^ rest).shr(16);
        let special = Self::Int::select(constant(0x7f80_0000).lt(rest), constant(0x7e00), constant(0x7c00));
        // Adding 1/2 aligns the last bit of a subnormal half-precision number with the rounding of `f32`.
        let subnormal = (Self::from_bits(rest) + Self::splat(0.5)).bits() - constant(0x3f00_0000);
        // Rounds up by carrying into the kept bits; the exponent's bias goes from 127 to 15.
        let normal = (rest + constant(0xc800_0fff) + (rest.shr(13) & constant(1))).shr(13);
        let finite = Self::Int::select(rest.lt(constant(0x3880_0000)), subnormal, normal);
        let half = Self::Int::select(rest.lt(constant(0x4780_0000)), finite, special);
        // SAFETY: the caller guarantees `LANES` writable half-precision numbers at `target`.
        unsafe { Self::store_u16((sign | half) & constant(0xffff), target.cast()) }
    }

    /// Reads brain floats as `f32`.
    ///
    /// # Safety
    /// `LANES` bfloat16 numbers at `source` can be read.
    #[inline(always)]
    unsafe fn load_bf16(source: *const bf16) -> Self {
        // SAFETY: the caller guarantees `LANES` readable bfloat16 numbers at `source`.
        Self::from_bits(unsafe { Self::load_u16(source.cast()) }.shl(16))
    }

    /// Rounds to brain floats and writes them.
    ///
    /// # Safety
    /// `LANES` bfloat16 numbers at `target` can be written.
    #[inline(always)]
    unsafe fn store_bf16(self, target: *mut bf16) {
        let constant = Self::Int::from_i64;
        let bits = self.bits();
        let rounded = (bits + constant(0x7fff) + (bits.shr(16) & constant(1))).shr(16);
        let brain = Self::Int::select(self.is_nan(), constant(0x7fc0), rounded);
        // SAFETY: the caller guarantees `LANES` writable bfloat16 numbers at `target`.
        unsafe { Self::store_u16(brain, target.cast()) }
    }
}
