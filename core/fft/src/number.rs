//! The numbers that transforms compute with.

use crate::plans::Plans;
use rushlight_base::{Complex, Element};
use rushlight_cpu::Array;
use rustfft::FftNum;
use std::sync::Mutex;

/// `f32` or `f64`.
pub trait Real: FftNum + Element + Value<Self> {
    /// The plans of this type.
    fn plans() -> &'static Mutex<Plans<Self>>;

    /// The number of this type that is closest to `value`.
    fn of(value: f64) -> Self;

    /// The first element of an array of complex numbers of this type.
    fn complex(array: &Array) -> *mut Complex<Self>;
}

/// A real or complex number that a scale multiplies.
pub trait Value<T>: Copy + Send + Sync {
    /// The product with a real number.
    fn times(self, scale: T) -> Self;
}

macro_rules! real {
    ($($real:ty)*) => {$(
        impl Real for $real {
            fn plans() -> &'static Mutex<Plans<$real>> {
                static PLANS: Mutex<Plans<$real>> = Mutex::new(Plans::new());
                &PLANS
            }

            fn of(value: f64) -> $real {
                value as $real
            }

            fn complex(array: &Array) -> *mut Complex<$real> {
                array.as_ptr::<Complex<$real>>()
            }
        }

        impl Value<$real> for $real {
            fn times(self, scale: $real) -> $real {
                self * scale
            }
        }
    )*};
}

real! { f32 f64 }

impl<T: FftNum> Value<T> for Complex<T> {
    fn times(self, scale: T) -> Complex<T> {
        Complex::new(self.re * scale, self.im * scale)
    }
}
