//! How an element at an indexed position and a new one are combined. CUDA kernels include this file.

use crate::number::Ordered;
use rushlight_base::Complex;

/// The maximum; NaN if the new element is.
#[inline(always)]
pub(crate) fn greater<W: Ordered>(there: W, new: W) -> W {
    if new > there || new.is_nan() { new } else { there }
}

/// The minimum; NaN if the new element is.
#[inline(always)]
pub(crate) fn less<W: Ordered>(there: W, new: W) -> W {
    if new < there || new.is_nan() { new } else { there }
}

/// Division by a positive count.
pub(crate) trait Divided {
    fn divided(self, count: i64) -> Self;
}

macro_rules! divided {
    ($($type:ty),*; $($float:ty),*) => {
        $(impl Divided for $type {
            fn divided(self, count: i64) -> $type {
                // In 64 bits, because a count may exceed the range of the type.
                i64::from(self).div_euclid(count) as $type
            }
        })*
        $(impl Divided for $float {
            fn divided(self, count: i64) -> $float {
                self / count as $float
            }
        }
        impl Divided for Complex<$float> {
            fn divided(self, count: i64) -> Complex<$float> {
                self / count as $float
            }
        })*
    };
}

divided!(u8, i8, i16, i32, i64; f32, f64);
