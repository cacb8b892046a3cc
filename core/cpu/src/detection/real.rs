//! Element types whose arithmetic rounds after each operation. The kernels of devices include this file
//! (`core/cuda/kernels`).

use rushlight_base::{Element, f16};
use std::ops::{Add, Div, Mul, Sub};

/// An element type with arithmetic that rounds after each operation.
pub(crate) trait Real:
    Element
    + Copy
    + Default
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// The nearest value.
    fn of(value: f64) -> Self;
    /// The value, exactly.
    fn to_f64(self) -> f64;
}

impl Real for f32 {
    #[inline(always)]
    fn of(value: f64) -> f32 {
        value as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

impl Real for f16 {
    #[inline(always)]
    fn of(value: f64) -> f16 {
        f16::from_f32(value as f32)
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self.to_f32())
    }
}
