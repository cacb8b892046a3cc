//! The element types of decompositions: `f32`, `f64` and their complex numbers.

use num_complex::Complex;
use rushlight_base::Element;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A real or complex number.
pub trait Field:
    Element
    + Default
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// The type of real and imaginary part.
    type Real: Real;
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// Whether it has an imaginary part.
    const IS_COMPLEX: bool;
    /// A real number.
    fn from_real(real: Self::Real) -> Self;
    /// Real part.
    fn re(self) -> Self::Real;
    /// Imaginary part.
    fn im(self) -> Self::Real;
    /// Complex conjugate.
    fn conj(self) -> Self;
    /// Product with a real number.
    fn scale(self, factor: Self::Real) -> Self;
    /// Absolute value, without overflow.
    fn abs(self) -> Self::Real;
    /// |re| + |im|: the size by which LAPACK chooses pivots.
    fn abs1(self) -> Self::Real;
}

/// `f32` or `f64`.
pub trait Real: Field<Real = Self> + PartialOrd {
    /// Distance from 1 to the next larger number.
    const EPSILON: Self;
    /// The smallest normal number.
    const TINY: Self;
    /// Conversion.
    fn from_f64(value: f64) -> Self;
    /// Conversion.
    fn to_f64(self) -> f64;
    /// Square root.
    fn sqrt(self) -> Self;
    /// sqrt(self^2 + other^2), without overflow.
    fn hypot(self, other: Self) -> Self;
    /// The absolute value with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// Whether it is neither infinite nor NaN.
    fn is_finite(self) -> bool;
}

macro_rules! fields {
    ($($real:ident)*) => {$(
        impl Field for $real {
            type Real = $real;
            const ZERO: $real = 0.0;
            const ONE: $real = 1.0;
            const IS_COMPLEX: bool = false;
            #[inline(always)]
            fn from_real(real: $real) -> $real {
                real
            }
            #[inline(always)]
            fn re(self) -> $real {
                self
            }
            #[inline(always)]
            fn im(self) -> $real {
                0.0
            }
            #[inline(always)]
            fn conj(self) -> $real {
                self
            }
            #[inline(always)]
            fn scale(self, factor: $real) -> $real {
                self * factor
            }
            #[inline(always)]
            fn abs(self) -> $real {
                <$real>::abs(self)
            }
            #[inline(always)]
            fn abs1(self) -> $real {
                <$real>::abs(self)
            }
        }

        impl Real for $real {
            const EPSILON: $real = <$real>::EPSILON;
            const TINY: $real = <$real>::MIN_POSITIVE;
            #[inline(always)]
            fn from_f64(value: f64) -> $real {
                value as $real
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn sqrt(self) -> $real {
                <$real>::sqrt(self)
            }
            #[inline(always)]
            fn hypot(self, other: $real) -> $real {
                <$real>::hypot(self, other)
            }
            #[inline(always)]
            fn copysign(self, sign: $real) -> $real {
                <$real>::copysign(self, sign)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$real>::is_finite(self)
            }
        }

        impl Field for Complex<$real> {
            type Real = $real;
            const ZERO: Complex<$real> = Complex::new(0.0, 0.0);
            const ONE: Complex<$real> = Complex::new(1.0, 0.0);
            const IS_COMPLEX: bool = true;
            #[inline(always)]
            fn from_real(real: $real) -> Complex<$real> {
                Complex::new(real, 0.0)
            }
            #[inline(always)]
            fn re(self) -> $real {
                self.re
            }
            #[inline(always)]
            fn im(self) -> $real {
                self.im
            }
            #[inline(always)]
            fn conj(self) -> Complex<$real> {
                Complex::new(self.re, -self.im)
            }
            #[inline(always)]
            fn scale(self, factor: $real) -> Complex<$real> {
                Complex::new(self.re * factor, self.im * factor)
            }
            #[inline(always)]
            fn abs(self) -> $real {
                self.re.hypot(self.im)
            }
            #[inline(always)]
            fn abs1(self) -> $real {
                self.re.abs() + self.im.abs()
            }
        }
    )*};
}

fields!(f32 f64);
