//! The functions of `f32` and `f64` that the standard library has and `core` has not, under the same names. Their
//! elementary functions are those of `math`.

use crate::math;
use num_complex::Complex;
use crate::simd::{Double, FloatVector, Single};

/// Roundings.
pub trait Roundings: Copy {
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round(self) -> Self;
    fn round_ties_even(self) -> Self;
}

/// Square root and fused multiply-add.
pub trait Roots: Copy {
    fn sqrt(self) -> Self;
    fn mul_add(self, factor: Self, term: Self) -> Self;
}

/// Elementary functions that `number::Analytic` has as well.
pub trait Powers: Copy {
    fn exp(self) -> Self;
    fn ln(self) -> Self;
}

/// The other elementary functions.
pub trait Functions: Copy {
    fn exp2(self) -> Self;
    fn exp_m1(self) -> Self;
    fn ln_1p(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn sin_cos(self) -> (Self, Self);
    fn tan(self) -> Self;
    fn acos(self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn asinh(self) -> Self;
    fn hypot(self, other: Self) -> Self;
    fn atan2(self, x: Self) -> Self;
    fn powf(self, exponent: Self) -> Self;
    fn powi(self, exponent: i32) -> Self;
}

macro_rules! floats {
    ($($type:ident $vector:ident;)*) => {$(
        impl Roundings for $type {
            #[inline(always)]
            fn floor(self) -> $type {
                core::$type::math::floor(self)
            }
            #[inline(always)]
            fn ceil(self) -> $type {
                core::$type::math::ceil(self)
            }
            #[inline(always)]
            fn trunc(self) -> $type {
                core::$type::math::trunc(self)
            }
            #[inline(always)]
            fn round(self) -> $type {
                core::$type::math::round(self)
            }
            #[inline(always)]
            fn round_ties_even(self) -> $type {
                core::$type::math::round_ties_even(self)
            }
        }

        impl Roots for $type {
            #[inline(always)]
            fn sqrt(self) -> $type {
                core::$type::math::sqrt(self)
            }
            #[inline(always)]
            fn mul_add(self, factor: $type, term: $type) -> $type {
                core::$type::math::mul_add(self, factor, term)
            }
        }

        impl Powers for $type {
            floats!(@functions $type $vector exp exp, ln log);
        }

        impl Functions for $type {
            floats!(@functions $type $vector exp2 exp2, exp_m1 expm1, ln_1p log1p, sin sin, cos cos, tan tan, acos acos,
                sinh sinh, cosh cosh, asinh asinh);
            #[inline(always)]
            fn sin_cos(self) -> ($type, $type) {
                (Functions::sin(self), Functions::cos(self))
            }
            #[inline(never)]
            fn hypot(self, other: $type) -> $type {
                crate::elementary::distance($vector::splat(self), $vector::splat(other)).sum()
            }
            #[inline(never)]
            fn atan2(self, x: $type) -> $type {
                crate::elementary::angle($vector::splat(self), $vector::splat(x)).sum()
            }
            #[inline(never)]
            fn powf(self, exponent: $type) -> $type {
                math::pow($vector::splat(self), $vector::splat(exponent)).sum()
            }
            // By the steps of the compiler's library, so that results have the same bits.
            #[inline(never)]
            fn powi(self, exponent: i32) -> $type {
                let (mut base, mut rest, mut power) = (self, exponent.unsigned_abs(), 1.0);
                loop {
                    if rest & 1 == 1 {
                        power *= base;
                    }
                    rest /= 2;
                    if rest == 0 {
                        break;
                    }
                    base *= base;
                }
                if exponent < 0 { 1.0 / power } else { power }
            }
        }
    )*};
    (@functions $type:ident $vector:ident $($name:ident $function:ident),*) => {$(
        // A call: complex and special functions have many, and their code is long.
        #[inline(never)]
        fn $name(self) -> $type {
            // The sum of one lane is that lane.
            math::$function($vector::splat(self)).sum()
        }
    )*};
}

floats! {
    f32 Single;
    f64 Double;
}

macro_rules! free_functions {
    ($($type:ident $bits:ident $mantissa:literal;)*) => {$(
        /// The same as functions, where methods of this name are in scope.
        pub mod $type {
            use super::{Functions, Powers, Roots, Roundings};

            free_functions!(@one $type Powers exp ln);
            free_functions!(@one $type Roots sqrt);
            free_functions!(@one $type Functions ln_1p sin cos tan acos);
            free_functions!(@one $type Roundings floor ceil trunc round round_ties_even);
            free_functions!(@two $type Functions hypot atan2 powf);

            #[inline(always)]
            pub fn abs(x: $type) -> $type {
                $type::abs(x)
            }

            #[inline(always)]
            pub fn mul_add(x: $type, factor: $type, term: $type) -> $type {
                Roots::mul_add(x, factor, term)
            }
        }

        impl Rest for $type {
            // Long division of the mantissas, a bit at a time: exact.
            #[inline(never)]
            fn rest(self, other: $type) -> $type {
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                let (a, b) = (self.to_bits() & !SIGN, other.to_bits() & !SIGN);
                let infinity = $type::INFINITY.to_bits();
                if a >= infinity || b > infinity || b == 0 {
                    return $type::NAN;
                }
                if a < b {
                    return self;
                }
                let exponent = |bits: $bits| if bits >> $mantissa == 0 { 1 } else { (bits >> $mantissa) as i32 };
                let whole = |bits: $bits| {
                    let fraction = bits & ((1 << $mantissa) - 1);
                    if bits >> $mantissa == 0 { fraction } else { fraction | 1 << $mantissa }
                };
                let divisor = whole(b);
                // A divisor that is subnormal may be many times smaller than the mantissa of a.
                let mut rest = whole(a) % divisor;
                let mut steps = exponent(a) - exponent(b);
                loop {
                    if rest >= divisor {
                        rest -= divisor;
                    }
                    if steps == 0 {
                        break;
                    }
                    rest <<= 1;
                    steps -= 1;
                }
                if rest == 0 {
                    return $type::from_bits(self.to_bits() & SIGN);
                }
                // Up to the place of a normal number, but not below the exponent of subnormal ones.
                let shift = (rest.leading_zeros() as i32 - ($bits::BITS as i32 - 1 - $mantissa)).min(exponent(b) - 1);
                let size = exponent(b) - shift;
                let rest = rest << shift;
                let stored = if rest >> $mantissa == 0 { 0 } else { size as $bits };
                let bits = (rest & ((1 << $mantissa) - 1)) | stored << $mantissa;
                $type::from_bits(bits | self.to_bits() & SIGN)
            }
        }
    )*};
    (@one $type:ident $Trait:ident $($name:ident)*) => {$(
        #[inline(always)]
        pub fn $name(x: $type) -> $type {
            $Trait::$name(x)
        }
    )*};
    (@two $type:ident $Trait:ident $($name:ident)*) => {$(
        #[inline(always)]
        pub fn $name(x: $type, y: $type) -> $type {
            $Trait::$name(x, y)
        }
    )*};
}

free_functions! {
    f32 u32 23;
    f64 u64 52;
}

/// Division with remainder.
pub trait Rest: Copy {
    fn rest(self, other: Self) -> Self;
}

macro_rules! complex_functions {
    ($($exp:ident $sqrt:ident $type:ident;)*) => {$(
        impl Curved for Complex<$type> {
            #[inline(always)]
            fn exp(self) -> Self {
                let Complex { re, mut im } = self;
                if re.is_infinite() {
                    if re < 0.0 {
                        if !im.is_finite() {
                            return Complex::new(0.0, 0.0);
                        }
                    } else if im == 0.0 || !im.is_finite() {
                        if im.is_infinite() {
                            im = $type::NAN;
                        }
                        return Complex::new(re, im);
                    }
                } else if re.is_nan() && im == 0.0 {
                    return self;
                }
                let size = Powers::exp(re);
                Complex::new(size * Functions::cos(im), size * Functions::sin(im))
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                let Complex { re, im } = self;
                if im == 0.0 {
                    if re.is_sign_positive() {
                        return Complex::new(Roots::sqrt(re), im);
                    }
                    return Complex::new(0.0, Roots::sqrt(-re).copysign(im));
                }
                if re == 0.0 {
                    let half = Roots::sqrt(im.abs() / 2.0);
                    return Complex::new(half, half.copysign(im));
                }
                let (size, angle) = (Roots::sqrt(Functions::hypot(re, im)), Functions::atan2(im, re) / 2.0);
                Complex::new(size * Functions::cos(angle), size * Functions::sin(angle))
            }
        }
    )*};
}

complex_functions! {
    exp_32 sqrt_32 f32;
    exp_64 sqrt_64 f64;
}

/// Functions of complex numbers, by the formulas of `num_complex`.
pub trait Curved: Copy {
    fn exp(self) -> Self;
    fn sqrt(self) -> Self;
}

/// e to this power.
#[inline(always)]
pub fn complex_exp<T: Curved>(z: T) -> T {
    z.exp()
}

/// Principal square root.
#[inline(always)]
pub fn complex_sqrt<T: Curved>(z: T) -> T {
    z.sqrt()
}
