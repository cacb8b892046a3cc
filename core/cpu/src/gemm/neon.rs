//! Vectors of ARMv8. Integers and complex numbers use `Plain` lanes, which the compiler vectorizes.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every block is one instruction, which the callers of the trait's functions promise to be there"
)]

use super::lanes::{Stream, Vector, Widen};
use rushlight_base::bf16;
use std::arch::aarch64::*;

macro_rules! register {
    ($name:ident: $lanes:expr, $of:ty, $register:ty, $dup:ident, $load:ident, $store:ident, $fma:ident, $add:ident, $across:ident) => {
        /// Floating-point numbers in one register.
        #[derive(Clone, Copy)]
        pub(super) struct $name($register);

        impl Vector for $name {
            type In = $of;
            type Sum = $of;
            type Left = $register;
            type Right = $register;
            type Total = $register;
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn zero() -> Self {
                unsafe { $name($dup(0.0)) }
            }
            #[inline(always)]
            unsafe fn load(at: *const $of) -> $register {
                unsafe { $load(at) }
            }
            #[inline(always)]
            unsafe fn load_first(at: *const $of, count: usize) -> $register {
                unsafe { Self::read(at, count) }
            }
            #[inline(always)]
            unsafe fn splat(at: *const $of) -> $register {
                unsafe { $dup(*at) }
            }
            #[inline(always)]
            unsafe fn mul_add(self, left: $register, right: $register) -> Self {
                unsafe { $name($fma(self.0, left, right)) }
            }
            #[inline(always)]
            unsafe fn total(self) -> $register {
                self.0
            }
            #[inline(always)]
            unsafe fn read(at: *const $of, count: usize) -> $register {
                if count >= $lanes {
                    return unsafe { $load(at) };
                }
                let mut lanes = [0.0; $lanes];
                for (lane, value) in lanes.iter_mut().enumerate().take(count) {
                    *value = unsafe { *at.add(lane) };
                }
                unsafe { $load(lanes.as_ptr()) }
            }
            #[inline(always)]
            unsafe fn add(a: $register, b: $register) -> $register {
                unsafe { $add(a, b) }
            }
            #[inline(always)]
            unsafe fn write(total: $register, at: *mut $of, count: usize) {
                if count >= $lanes {
                    return unsafe { $store(at, total) };
                }
                let mut lanes = [0.0; $lanes];
                unsafe { $store(lanes.as_mut_ptr(), total) };
                for (lane, &value) in lanes.iter().enumerate().take(count) {
                    unsafe { at.add(lane).write(value) };
                }
            }
        }

        impl Stream<$of> for $name {
            #[inline(always)]
            unsafe fn stream(at: *const $of, count: usize) -> $register {
                unsafe { Self::read(at, count) }
            }
            #[inline(always)]
            unsafe fn repeat(at: *const $of) -> $register {
                unsafe { Self::splat(at) }
            }
            #[inline(always)]
            unsafe fn left(right: $register) -> $register {
                right
            }
            #[inline(always)]
            unsafe fn resume(at: *const $of, count: usize) -> Self {
                $name(unsafe { Self::read(at, count) })
            }
            #[inline(always)]
            unsafe fn join(self, other: Self) -> Self {
                $name(unsafe { $add(self.0, other.0) })
            }
            #[inline(always)]
            unsafe fn across(self) -> $of {
                unsafe { $across(self.0) }
            }
        }
    };
}

register!(F32x4: 4, f32, float32x4_t, vdupq_n_f32, vld1q_f32, vst1q_f32, vfmaq_f32, vaddq_f32, vaddvq_f32);
register!(F64x2: 2, f64, float64x2_t, vdupq_n_f64, vld1q_f64, vst1q_f64, vfmaq_f64, vaddq_f64, vaddvq_f64);

impl Widen<bf16> for F32x4 {
    #[inline(always)]
    unsafe fn widen(at: *const bf16) -> float32x4_t {
        unsafe { vreinterpretq_f32_u32(vshll_n_u16::<16>(vld1_u16(at.cast()))) }
    }
    #[inline(always)]
    unsafe fn scale(total: float32x4_t, by: *const f32) -> float32x4_t {
        unsafe { vmulq_f32(total, vld1q_f32(by)) }
    }
    #[inline(always)]
    unsafe fn total_of(right: float32x4_t) -> float32x4_t {
        right
    }
}

impl Widen<i8> for F32x4 {
    #[inline(always)]
    unsafe fn widen(at: *const i8) -> float32x4_t {
        unsafe {
            let bytes = vreinterpret_s8_u32(vdup_n_u32(at.cast::<u32>().read_unaligned()));
            vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(bytes))))
        }
    }
    #[inline(always)]
    unsafe fn scale(total: float32x4_t, by: *const f32) -> float32x4_t {
        unsafe { vmulq_f32(total, vld1q_f32(by)) }
    }
    #[inline(always)]
    unsafe fn total_of(right: float32x4_t) -> float32x4_t {
        right
    }
}
