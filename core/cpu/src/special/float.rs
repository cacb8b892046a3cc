//! The scalar that special functions are written over, `f32` or `f64`, and their Chebyshev series.

use super::error::erfinv;
use super::gamma::{lgamma, stirling};
use crate::math::Huge;
use crate::simd::{Double, FloatVector, Single};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `f32` or `f64`. Everything is computed in the type itself.
pub(super) trait Float:
    Copy
    + PartialOrd
    + Into<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The distance of 1 to the next number.
    const EPSILON: Self;
    const NAN: Self;
    const INFINITY: Self;
    /// Whether the terms of a series that matter for `f32` are enough.
    const SINGLE: bool;

    /// A constant, rounded.
    fn of(value: f64) -> Self;
    /// An integer; for values outside of `i64` the smallest one, like a C cast on the processors PyTorch runs on.
    fn whole(self) -> i64;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn sqrt(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn acos(self) -> Self;
    fn abs(self) -> Self;
    fn floor(self) -> Self;
    /// `self * factor + term`, rounded once.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    fn powf(self, exponent: Self) -> Self;
    fn is_nan(self) -> bool;
    fn is_minus(self) -> bool;
    /// ln |Gamma(self)|, as for vectors.
    fn lgamma(self) -> Self;
    /// The error of Stirling's formula, as for vectors.
    fn stirling(self) -> Self;
    /// The inverse of the error function, as for vectors.
    fn erfinv(self) -> Self;

    /// The remainder modulo 2, exactly, in [-1, 1]: sines and tangents of pi times a number depend on it alone.
    fn turned(self) -> Self {
        let two = Self::of(2.0);
        // The remainder of the absolute value is exact; that of a small negative number would round to 2.
        let rest = self.abs() - (self.abs() / two).floor() * two;
        let rest = if rest > Self::of(1.0) { rest - two } else { rest };
        if self < Self::of(0.0) { -rest } else { rest }
    }
}

macro_rules! floats {
    ($($type:ident, $Vector:ident, single $single:expr;)*) => {$(
        impl Float for $type {
            const EPSILON: $type = $type::EPSILON;
            const NAN: $type = $type::NAN;
            const INFINITY: $type = $type::INFINITY;
            const SINGLE: bool = $single;

            fn of(value: f64) -> $type {
                value as $type
            }
            fn whole(self) -> i64 {
                if self.abs() < 9.2e18 { self as i64 } else { i64::MIN }
            }
            floats!(@forward $type exp ln ln_1p sqrt sin cos tan acos abs floor);
            fn mul_add(self, factor: $type, term: $type) -> $type {
                standard!($type::mul_add(self, factor, term))
            }
            fn powf(self, exponent: $type) -> $type {
                standard!($type::powf(self, exponent))
            }
            fn is_nan(self) -> bool {
                $type::is_nan(self)
            }
            fn is_minus(self) -> bool {
                self.is_sign_negative()
            }
            fn lgamma(self) -> $type {
                lgamma($Vector::splat(self)).fold(|only, _| only)
            }
            fn stirling(self) -> $type {
                stirling($Vector::splat(self)).fold(|only, _| only)
            }
            fn erfinv(self) -> $type {
                erfinv($Vector::splat(self)).fold(|only, _| only)
            }
        }
    )*};
    (@forward $type:ident $($name:ident)*) => {$(
        fn $name(self) -> $type {
            standard!($type::$name(self))
        }
    )*};
}

floats! {
    f32, Single, single true;
    f64, Double, single false;
}

/// A Chebyshev series on [-1, 1].
pub(super) struct Series {
    /// The coefficients, as many as matter to a `f64`.
    pub(super) terms: &'static [f64],
    /// Number of terms that matter for `f32`.
    pub(super) single: usize,
}

impl Series {
    /// Its value, by Clenshaw's rule.
    pub(super) fn at<T: Float>(&self, t: T) -> T {
        let terms = if T::SINGLE { &self.terms[..self.single] } else { self.terms };
        let twice = t + t;
        let (mut next, mut after) = (T::of(0.0), T::of(0.0));
        for &term in terms[1..].iter().rev() {
            (next, after) = (twice * next - after + T::of(term), next);
        }
        t * next - after + T::of(terms[0])
    }

    /// [`Series::at`] of vectors.
    #[inline(always)]
    pub(super) fn of<V: FloatVector>(&self, t: V) -> V {
        let terms = if const { V::Scalar::MANTISSA == 23 } { &self.terms[..self.single] } else { self.terms };
        let twice = t + t;
        let (mut next, mut after) = (V::from_f64(0.0), V::from_f64(0.0));
        for &term in terms[1..].iter().rev() {
            (next, after) = (twice.mul_add(next, V::from_f64(term) - after), next);
        }
        t.mul_add(next, V::from_f64(terms[0]) - after)
    }
}

/// The polynomial of these coefficients, lowest first.
pub(super) fn polynomial<T: Float>(x: T, coefficients: &[f64]) -> T {
    coefficients.iter().rev().fold(T::of(0.0), |sum, &coefficient| sum * x + T::of(coefficient))
}
