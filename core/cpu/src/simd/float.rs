//! Floating-point elements in memory, and their vector types: `f32` and `f64` compute in themselves, half precision in
//! `f32`. A kernel over [`Float`] serves all four dtypes.

use super::Simd;
use super::vector::{FloatVector, HalfVector, MAX_LANES};
use crate::number::Number;
use rushlight_base::{bf16, f16};

/// An element of a float dtype; `Number::Wide` is its computation type.
pub trait Float: Number {
    /// The vectors that it is loaded into.
    type Vector<S: Simd>: FloatVector<Scalar = Self::Wide>;

    /// Reads a vector without regard to the vector's alignment.
    ///
    /// # Safety
    /// `LANES` elements at `source` can be read.
    unsafe fn load<S: Simd>(source: *const Self) -> Self::Vector<S>;

    /// Writes a vector, rounded to the element.
    ///
    /// # Safety
    /// `LANES` elements at `target` can be written.
    unsafe fn store<S: Simd>(vector: Self::Vector<S>, target: *mut Self);

    /// Reads `count` elements; the other lanes are zero.
    ///
    /// # Safety
    /// `count` elements at `source` can be read, and `count <= LANES`.
    unsafe fn load_partial<S: Simd>(source: *const Self, count: usize) -> Self::Vector<S>;

    /// Writes the first `count` lanes, rounded to the element.
    ///
    /// # Safety
    /// `count` elements at `target` can be written, and `count <= LANES`.
    unsafe fn store_partial<S: Simd>(vector: Self::Vector<S>, target: *mut Self, count: usize);

    /// Reads `count` elements, mostly a whole vector; the other lanes are zero. For loops whose body should be compiled
    /// once.
    ///
    /// # Safety
    /// The contract of `load_partial`.
    #[inline(always)]
    unsafe fn load_some<S: Simd>(source: *const Self, count: usize) -> Self::Vector<S> {
        // SAFETY: the caller guarantees `count` readable elements, and `count <= LANES`.
        unsafe {
            if count == Self::Vector::<S>::LANES {
                Self::load::<S>(source)
            } else {
                Self::load_partial::<S>(source, count)
            }
        }
    }

    /// Reads `count` elements, every second one; the other lanes are zero.
    ///
    /// # Safety
    /// The elements and those between them can be read, and `count` is from 1 to `LANES`.
    #[inline(always)]
    unsafe fn load_every_second<S: Simd>(source: *const Self, count: usize) -> Self::Vector<S> {
        let (lanes, reach) = (Self::Vector::<S>::LANES, 2 * count - 1);
        // SAFETY: both loads are within the `reach` elements that the caller guarantees.
        unsafe {
            let low = Self::load_some::<S>(source, reach.min(lanes));
            let high = match reach > lanes {
                true => Self::load_some::<S>(source.add(lanes), reach - lanes),
                false => Self::Vector::<S>::from_f64(0.0),
            };
            low.evens(high)
        }
    }

    /// Writes the first `count` lanes, mostly a whole vector, rounded to the element.
    ///
    /// # Safety
    /// The contract of `store_partial`.
    #[inline(always)]
    unsafe fn store_some<S: Simd>(vector: Self::Vector<S>, target: *mut Self, count: usize) {
        // SAFETY: the caller guarantees `count` writable elements, and `count <= LANES`.
        unsafe {
            if count == Self::Vector::<S>::LANES {
                Self::store::<S>(vector, target);
            } else {
                Self::store_partial::<S>(vector, target, count);
            }
        }
    }

    /// Reads `count` elements that are `stride` bytes apart; the other lanes are zero.
    ///
    /// # Safety
    /// They can be read and are aligned as the element is, and `count <= LANES`.
    #[inline(always)]
    unsafe fn load_strided<S: Simd>(source: *const Self, stride: isize, count: usize) -> Self::Vector<S> {
        let mut buffer = [0u64; MAX_LANES];
        let buffer = buffer.as_mut_ptr().cast::<Self>();
        // SAFETY: the caller guarantees `count <= LANES` readable, aligned elements at the stride; no vector is larger
        // than the buffer, and zeros are valid elements.
        unsafe {
            for lane in 0..count {
                *buffer.add(lane) = *source.byte_offset(lane as isize * stride);
            }
            Self::load::<S>(buffer)
        }
    }

    /// Writes the first `count` lanes `stride` bytes apart.
    ///
    /// # Safety
    /// They can be written and are aligned as the element is, and `count <= LANES`.
    #[inline(always)]
    unsafe fn store_strided<S: Simd>(vector: Self::Vector<S>, target: *mut Self, stride: isize, count: usize) {
        let mut buffer = [0u64; MAX_LANES];
        let buffer = buffer.as_mut_ptr().cast::<Self>();
        // SAFETY: the caller guarantees `count <= LANES` writable, aligned elements at the stride; no vector is larger
        // than the buffer.
        unsafe {
            Self::store::<S>(vector, buffer);
            for lane in 0..count {
                *target.byte_offset(lane as isize * stride) = *buffer.add(lane);
            }
        }
    }
}

macro_rules! own_vectors {
    ($($type:ident: $vector:ident),*) => {$(
        impl Float for $type {
            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            unsafe fn load<S: Simd>(source: *const $type) -> S::$vector {
                // SAFETY: the caller guarantees `LANES` readable elements at `source`.
                unsafe { S::$vector::load(source) }
            }

            #[inline(always)]
            unsafe fn store<S: Simd>(vector: S::$vector, target: *mut $type) {
                // SAFETY: the caller guarantees `LANES` writable elements at `target`.
                unsafe { vector.store(target) }
            }

            #[inline(always)]
            unsafe fn load_partial<S: Simd>(source: *const $type, count: usize) -> S::$vector {
                // SAFETY: the caller guarantees `count <= LANES` readable elements at `source`.
                unsafe { S::$vector::load_partial(source, count) }
            }

            #[inline(always)]
            unsafe fn store_partial<S: Simd>(vector: S::$vector, target: *mut $type, count: usize) {
                // SAFETY: the caller guarantees `count <= LANES` writable elements at `target`.
                unsafe { vector.store_partial(target, count) }
            }
        }
    )*};
}

own_vectors!(f32: F32, f64: F64);

macro_rules! halves {
    ($($type:ident: $load:ident, $store:ident;)*) => {$(
        impl Float for $type {
            type Vector<S: Simd> = S::F32;

            #[inline(always)]
            unsafe fn load<S: Simd>(source: *const $type) -> S::F32 {
                // SAFETY: the caller guarantees `LANES` readable elements at `source`.
                unsafe { S::F32::$load(source) }
            }

            #[inline(always)]
            unsafe fn store<S: Simd>(vector: S::F32, target: *mut $type) {
                // SAFETY: the caller guarantees `LANES` writable elements at `target`.
                unsafe { vector.$store(target) }
            }

            #[inline(always)]
            unsafe fn load_partial<S: Simd>(source: *const $type, count: usize) -> S::F32 {
                let mut buffer = [$type::ZERO; MAX_LANES];
                // SAFETY: the caller guarantees `count <= LANES` readable elements at `source`; no vector is larger
                // than the buffer.
                unsafe {
                    std::ptr::copy_nonoverlapping(source, buffer.as_mut_ptr(), count);
                    S::F32::$load(buffer.as_ptr())
                }
            }

            #[inline(always)]
            unsafe fn store_partial<S: Simd>(vector: S::F32, target: *mut $type, count: usize) {
                let mut buffer = [$type::ZERO; MAX_LANES];
                // SAFETY: the caller guarantees `count <= LANES` writable elements at `target`; no vector is larger
                // than the buffer.
                unsafe {
                    vector.$store(buffer.as_mut_ptr());
                    std::ptr::copy_nonoverlapping(buffer.as_ptr(), target, count);
                }
            }
        }
    )*};
}

halves! {
    f16: load_f16, store_f16;
    bf16: load_bf16, store_bf16;
}
