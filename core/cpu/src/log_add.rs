//! Sums of exponentials, as logarithms. CUDA kernels include this file.

use crate::complex::ComplexFunctions;
use crate::number::Wide;
use rushlight_base::Complex;

/// Numbers of which exponentials are added.
pub(crate) trait LogAdd: Wide {
    /// log(exp(self) + exp(other))
    fn log_add(self, other: Self) -> Self;
}

macro_rules! log_add {
    ($($type:ident),*) => {$(
        impl LogAdd for $type {
            #[inline(never)]
            fn log_add(self, other: $type) -> $type {
                if self == other && self.is_infinite() {
                    return self;
                }
                let (less, more) = if self < other { (self, other) } else { (other, self) };
                let small = standard!($type::exp(less - more));
                more + standard!($type::ln_1p(small))
            }
        }

        impl LogAdd for Complex<$type> {
            #[inline(never)]
            fn log_add(self, other: Self) -> Self {
                ComplexFunctions::logaddexp(self, other)
            }
        }
    )*};
}

log_add!(f32, f64);
