//! Object detection: what the kernels share with the CPU.

#[path = "../../../cpu/src/detection/bins.rs"]
pub(crate) mod bins;
#[path = "../../../cpu/src/detection/real.rs"]
pub(crate) mod real;
#[path = "../../../cpu/src/detection/taps.rs"]
pub(crate) mod taps;
#[path = "../../../cpu/src/detection/windows.rs"]
pub(crate) mod windows;

use crate::{DType, Element, f16};
use core::arch::asm;
use core::cmp::Ordering;
use core::ops::{Add, Div, Mul, Sub};
use real::Real;

/// `f16` with the device's instructions for conversions. Those of the crate `half` are long, and each operation here has some.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub(crate) struct Half(u16);

impl Half {
    #[inline(always)]
    fn wide(self) -> f32 {
        let wide: f32;
        // SAFETY: a register is converted.
        unsafe { asm!("cvt.f32.f16 {}, {};", out(reg32) wide, in(reg16) self.0, options(pure, nomem, nostack)) }
        wide
    }

    #[inline(always)]
    fn narrow(wide: f32) -> Half {
        let half: u16;
        // SAFETY: a register is converted.
        unsafe { asm!("cvt.rn.f16.f32 {}, {};", out(reg16) half, in(reg32) wide, options(pure, nomem, nostack)) }
        Half(half)
    }
}

// SAFETY: every bit pattern is valid, and stands for the same number as in an `f16`.
unsafe impl Element for Half {
    const DTYPE: DType = f16::DTYPE;
}

impl core::fmt::Debug for Half {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.wide().fmt(f)
    }
}

impl PartialEq for Half {
    #[inline(always)]
    fn eq(&self, other: &Half) -> bool {
        self.wide() == other.wide()
    }
}

impl PartialOrd for Half {
    #[inline(always)]
    fn partial_cmp(&self, other: &Half) -> Option<Ordering> {
        self.wide().partial_cmp(&other.wide())
    }
    #[inline(always)]
    fn lt(&self, other: &Half) -> bool {
        self.wide() < other.wide()
    }
    #[inline(always)]
    fn gt(&self, other: &Half) -> bool {
        self.wide() > other.wide()
    }
}

/// A sum, difference, product or quotient in `f32` is rounded to the same number as the exact one.
macro_rules! operations {
    ($($Trait:ident $name:ident $operator:tt;)*) => {$(
        impl $Trait for Half {
            type Output = Half;
            #[inline(always)]
            fn $name(self, other: Half) -> Half {
                Half::narrow(self.wide() $operator other.wide())
            }
        }
    )*};
}

operations! {
    Add add +;
    Sub sub -;
    Mul mul *;
    Div div /;
}

impl Real for Half {
    #[inline(always)]
    fn of(value: f64) -> Half {
        Half::narrow(value as f32)
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self.wide())
    }
}
