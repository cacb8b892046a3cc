//! What a loop may do with an element: the stored types and the wide types they compute in.
//!
//! `f16` and `bf16` are stored, and computed in `f32`; `complex32` in `Complex<f32>`; every other type
//! is its own wide type. Integers wrap, as in C; on `bool`, addition is "or" and multiplication "and".

use num_complex::Complex;
use rushlight_base::{Complex32, Complex64, Complex128, DType, Element, Scalar, bf16, f16};

/// A stored `bool`: a byte that is false when 0, whatever wrote it.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Flag(pub u8);

impl PartialEq for Flag {
    fn eq(&self, other: &Flag) -> bool {
        (self.0 != 0) == (other.0 != 0)
    }
}

impl std::fmt::Debug for Flag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0 != 0)
    }
}

// SAFETY: one byte, every pattern valid.
unsafe impl Element for Flag {
    const DTYPE: DType = DType::Bool;
}

/// A stored element type with its wide type.
pub trait Number: Element {
    /// What the loop computes in.
    type Wide: Wide;
    /// Into the wide type; exact.
    fn widen(self) -> Self::Wide;
    /// Back, rounding to nearest even.
    fn narrow(wide: Self::Wide) -> Self;
}

/// Arithmetic of a wide type.
pub trait Wide: Copy + PartialEq + Send + Sync + 'static {
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// Sum.
    fn add(self, other: Self) -> Self;
    /// Difference.
    fn sub(self, other: Self) -> Self;
    /// Product.
    fn mul(self, other: Self) -> Self;
    /// The scalar in this type, as a C cast would convert it.
    fn from_scalar(scalar: Scalar) -> Self;
    /// Is it not a number? Never, for integers.
    fn is_nan(self) -> bool;
}

/// A wide type with an order.
pub trait Ordered: Wide + PartialOrd {}

/// A wide type closed under division and the elementary functions.
pub trait Analytic: Wide {
    /// Quotient.
    fn div(self, other: Self) -> Self;
    /// e to this power.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Principal square root.
    fn sqrt(self) -> Self;
    /// A real constant.
    fn from_f64(value: f64) -> Self;
}

/// `f32` or `f64`.
pub trait Real: Analytic + Ordered {}

macro_rules! own_wide {
    ($($type:ty),*) => {$(
        impl Number for $type {
            type Wide = $type;
            #[inline(always)]
            fn widen(self) -> $type {
                self
            }
            #[inline(always)]
            fn narrow(wide: $type) -> $type {
                wide
            }
        }
    )*};
}

own_wide!(u8, i8, i16, i32, i64, u16, u32, u64, f32, f64, Complex64, Complex128);

macro_rules! half_number {
    ($($type:ty),*) => {$(
        impl Number for $type {
            type Wide = f32;
            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_f32()
            }
            #[inline(always)]
            fn narrow(wide: f32) -> $type {
                <$type>::from_f32(wide)
            }
        }
    )*};
}

half_number!(f16, bf16);

impl Number for Complex32 {
    type Wide = Complex<f32>;
    #[inline(always)]
    fn widen(self) -> Complex<f32> {
        Complex::new(self.re.to_f32(), self.im.to_f32())
    }
    #[inline(always)]
    fn narrow(wide: Complex<f32>) -> Complex32 {
        Complex::new(f16::from_f32(wide.re), f16::from_f32(wide.im))
    }
}

impl Number for Flag {
    type Wide = bool;
    #[inline(always)]
    fn widen(self) -> bool {
        self.0 != 0
    }
    #[inline(always)]
    fn narrow(wide: bool) -> Flag {
        Flag(wide as u8)
    }
}

macro_rules! integer_wide {
    ($($type:ty),*) => {$(
        impl Wide for $type {
            const ZERO: $type = 0;
            const ONE: $type = 1;
            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: $type) -> $type {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul(self, other: $type) -> $type {
                self.wrapping_mul(other)
            }
            fn from_scalar(scalar: Scalar) -> $type {
                match scalar {
                    Scalar::UInt(value) => value as $type,
                    other => other.to_i64() as $type,
                }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }
        impl Ordered for $type {}
    )*};
}

integer_wide!(u8, i8, i16, i32, i64, u16, u32, u64);

impl Wide for bool {
    const ZERO: bool = false;
    const ONE: bool = true;
    #[inline(always)]
    fn add(self, other: bool) -> bool {
        self | other
    }
    #[inline(always)]
    fn sub(self, other: bool) -> bool {
        self ^ other
    }
    #[inline(always)]
    fn mul(self, other: bool) -> bool {
        self & other
    }
    fn from_scalar(scalar: Scalar) -> bool {
        scalar.to_bool()
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
}

impl Ordered for bool {}

macro_rules! float_wide {
    ($($type:ident),*) => {$(
        impl Wide for $type {
            const ZERO: $type = 0.0;
            const ONE: $type = 1.0;
            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: $type) -> $type {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: $type) -> $type {
                self * other
            }
            fn from_scalar(scalar: Scalar) -> $type {
                match scalar {
                    Scalar::Int(value) => value as $type,
                    Scalar::UInt(value) => value as $type,
                    other => other.to_f64() as $type,
                }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $type::is_nan(self)
            }
        }
        impl Ordered for $type {}
        impl Analytic for $type {
            #[inline(always)]
            fn div(self, other: $type) -> $type {
                self / other
            }
            #[inline(always)]
            fn exp(self) -> $type {
                $type::exp(self)
            }
            #[inline(always)]
            fn ln(self) -> $type {
                $type::ln(self)
            }
            #[inline(always)]
            fn sqrt(self) -> $type {
                $type::sqrt(self)
            }
            #[inline(always)]
            fn from_f64(value: f64) -> $type {
                value as $type
            }
        }
        impl Real for $type {}
        impl Wide for Complex<$type> {
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            fn from_scalar(scalar: Scalar) -> Self {
                match scalar {
                    Scalar::Complex(value) => Complex::new(value.re as $type, value.im as $type),
                    other => Complex::new($type::from_scalar(other), 0.0),
                }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.re.is_nan() || self.im.is_nan()
            }
        }
        impl Analytic for Complex<$type> {
            /// Smith's method: scales by the larger part, so that squares neither overflow nor vanish.
            #[inline]
            fn div(self, other: Self) -> Self {
                if other.re == 0.0 && other.im == 0.0 {
                    return Complex::new(self.re / other.re.abs(), self.im / other.re.abs());
                }
                if other.re.abs() >= other.im.abs() {
                    let ratio = other.im / other.re;
                    let scale = 1.0 / (other.re + other.im * ratio);
                    Complex::new((self.re + self.im * ratio) * scale, (self.im - self.re * ratio) * scale)
                } else {
                    let ratio = other.re / other.im;
                    let scale = 1.0 / (other.re * ratio + other.im);
                    Complex::new((self.re * ratio + self.im) * scale, (self.im * ratio - self.re) * scale)
                }
            }
            #[inline]
            fn exp(self) -> Self {
                Complex::exp(self)
            }
            #[inline]
            fn ln(self) -> Self {
                Complex::new(self.re.hypot(self.im).ln(), self.im.atan2(self.re))
            }
            #[inline]
            fn sqrt(self) -> Self {
                Complex::sqrt(self)
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                Complex::new(value as $type, 0.0)
            }
        }
    )*};
}

float_wide!(f32, f64);
