//! Half precision that is rounded after every step: PyTorch computes some operators in the stored type, or composes
//! them of others, and every intermediate result is then a half-precision number. Kernels that must agree with it use
//! these types instead of `f32`.

use crate::number::{Analytic, Number, Ordered, Real, Wide};
use rushlight_base::{DType, Element, Scalar, bf16, f16};

/// A half-precision number whose sums, products and functions are rounded to half precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Stepwise<T>(T);

// SAFETY: `repr(transparent)` over `f16`, which is an `Element` of this dtype.
unsafe impl Element for Stepwise<f16> {
    const DTYPE: DType = DType::F16;
}

// SAFETY: `repr(transparent)` over `bf16`, which is an `Element` of this dtype.
unsafe impl Element for Stepwise<bf16> {
    const DTYPE: DType = DType::BF16;
}

impl<T: Number<Wide = f32>> Stepwise<T> {
    /// The number.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        self.0.wide()
    }

    /// A function of it, computed in `f32`.
    #[inline(always)]
    pub fn of(self, function: impl FnOnce(f32) -> f32) -> Stepwise<T> {
        Stepwise(T::narrow(function(self.0.wide())))
    }

    /// A function of two, computed in `f32`.
    #[inline(always)]
    pub fn with(self, other: Stepwise<T>, function: impl FnOnce(f32, f32) -> f32) -> Stepwise<T> {
        Stepwise(T::narrow(function(self.0.wide(), other.0.wide())))
    }
}

macro_rules! arithmetic {
    ($($half:ident),*) => {$(
        impl Number for Stepwise<$half> {
            type Wide = Stepwise<$half>;
            #[inline(always)]
            fn wide(self) -> Self {
                self
            }
            #[inline(always)]
            fn narrow(wide: Self) -> Self {
                wide
            }
        }
        impl From<Stepwise<$half>> for f64 {
            fn from(half: Stepwise<$half>) -> f64 {
                half.to_f32().into()
            }
        }
        impl Wide for Stepwise<$half> {
            const ZERO: Self = Stepwise($half::ZERO);
            const ONE: Self = Stepwise($half::ONE);
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.with(other, |a, b| a + b)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.with(other, |a, b| a - b)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.with(other, |a, b| a * b)
            }
            fn from_scalar(scalar: Scalar) -> Self {
                Stepwise(<$half as Number>::narrow(f32::from_scalar(scalar)))
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.0.is_nan()
            }
        }
        impl Ordered for Stepwise<$half> {}
        impl Analytic for Stepwise<$half> {
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                self.with(other, |a, b| a / b)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                self.of(f32::exp)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                self.of(f32::ln)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.of(f32::sqrt)
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                Stepwise(<$half as Number>::narrow(value as f32))
            }
        }
        impl Real for Stepwise<$half> {
            #[inline(always)]
            fn rest(self, other: Self) -> Self {
                self.with(other, f32::rest)
            }
        }
    )*};
}

arithmetic!(f16, bf16);

/// `stepwise!(dtype, "kernel_name", T => body)`: like `dispatch!` over half-precision dtypes, with `T` rounded after
/// every step.
macro_rules! stepwise {
    ($dtype:expr, $kernel:expr, $T:ident => $body:expr) => {
        match $dtype {
            rushlight_base::DType::F16 => {
                type $T = crate::stepwise::Stepwise<rushlight_base::f16>;
                $body
            }
            rushlight_base::DType::BF16 => {
                type $T = crate::stepwise::Stepwise<rushlight_base::bf16>;
                $body
            }
            other => Err(crate::dispatch::unsupported($kernel, other)),
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_rounded() {
        let half = |value: f32| Stepwise(f16::from_f32(value));
        // 1 + 2^-11 is halfway between two numbers and rounds to the even one: adding it twice leaves 1 unchanged.
        let step = half(2f32.powi(-11));
        assert_eq!(half(1.0).add(step).add(step), half(1.0));
        assert_eq!(half(300.0).mul(half(300.0)), half(f32::INFINITY));
        assert_eq!(half(300.0).mul(half(300.0)).div(half(300.0)), half(f32::INFINITY));
        assert_eq!(half(12.0).exp(), half(f32::INFINITY));
    }

    #[test]
    fn an_unknown_dtype_is_rejected() {
        let run =
            |dtype: DType| -> rushlight_base::Result<usize> { stepwise!(dtype, "some_cpu", T => Ok(size_of::<T>())) };
        assert_eq!(run(DType::BF16).unwrap(), 2);
        assert_eq!(run(DType::F32).unwrap_err().message(), "\"some_cpu\" not implemented for 'Float'");
    }
}
