//! Rounding, signs, remainders and element-wise combinations: arithmetic that the compiler vectorizes.

// The loops are written once for every type, also where nothing is below zero.
#![allow(clippy::bool_comparison, clippy::absurd_extreme_comparisons, unused_comparisons)]

#[cfg(target_arch = "nvptx64")]
use crate::floats::{Functions, Roundings};
use crate::math;
use crate::number::{Analytic, Flag, Number, Ordered, Real, Wide};
use crate::pointwise::{HEAVY, LIGHT, Loop, functions};
use crate::raised::Raised;
use rushlight_base::{Complex, Complex64, Complex128, DType, Result, Scalar, bf16, ensure, f16};

/// Kernels `out = f(a)` of floats: their PyTorch name and the function of a number.
macro_rules! of_floats {
    ($($(#[$doc:meta])* $name:ident($kernel:literal): |$a:ident| $value:expr;)*) => {$(
        kernels! { "numeric";
            $(#[$doc])*
            pub fn $name(walk: &Loop<2>) -> Result<()> {
                compute!(walk.common(), $kernel, half float, T => walk.map::<T, T>(LIGHT, |$a| $value))
            }
        }
    )*};
}

of_floats! {
    /// out = the next whole number above a
    ceil("ceil"): |a| a.ceil();
    /// out = the next whole number below a
    floor("floor"): |a| a.floor();
    /// out = the next whole number towards zero
    trunc("trunc"): |a| a.trunc();
    /// out = the nearest whole number, ties to even
    round("round_vml_cpu"): |a| a.round_ties_even();
    /// out = a less its whole part
    frac("frac_cpu"): |a| a - a.trunc();
}

kernels! { "numeric";
    /// out = a rounded to `decimals` digits after the point; negative: before it.
    pub fn round_decimals(walk: &Loop<2>, decimals: i64) -> Result<()> {
        compute!(walk.common(), "round_cpu", half float, T => {
            type W = <T as Number>::Wide;
            let power = W::from_f64(10f64.powi(decimals.unsigned_abs().min(400) as i32));
            if decimals < 0 {
                walk.map::<T, T>(LIGHT, move |a| (a / power).round_ties_even() * power)
            } else {
                walk.map::<T, T>(LIGHT, move |a| (a * power).round_ties_even() / power)
            }
        })
    }

    /// out = |a|; for a complex number, its magnitude, which is real.
    pub fn abs(walk: &Loop<2>) -> Result<()> {
        match walk.common() {
            DType::C32 | DType::C64 => walk.map::<f32, Complex64>(HEAVY, |a| a.re.hypot(a.im)),
            DType::C128 => walk.map::<f64, Complex128>(HEAVY, |a| a.re.hypot(a.im)),
            // An unsigned number, or a flag, is its own absolute value.
            other if other.is_integral(true) => {
                compute!(other, "abs_cpu", integer bool, T => {
                    type W = <T as Number>::Wide;
                    walk.map::<T, T>(LIGHT, |a| if a < W::ZERO { W::ZERO.sub(a) } else { a })
                })
            }
            other => compute!(other, "abs_cpu", half float, T => walk.map::<T, T>(LIGHT, |a| a.abs())),
        }
    }

    /// out = the sign of a: -1, 0 or 1; for a complex number, a / |a|.
    pub fn sgn(walk: &Loop<2>) -> Result<()> {
        compute!(walk.common(), "sign_cpu", integer half float bool complex chalf, T => walk.map::<T, T>(LIGHT, Signed::sign))
    }

    /// out = whether a is below zero, or minus zero
    pub fn signbit(walk: &Loop<2>) -> Result<()> {
        compute!(walk.common(), "signbit_cpu", integer half float bool, T => walk.map::<Flag, T>(LIGHT, Signed::is_minus))
    }

    /// out = whether a is infinite
    pub fn isinf(walk: &Loop<2>) -> Result<()> {
        compute!(walk.common(), "isinf", integer unsigned half float bool complex chalf, T => {
            walk.map::<Flag, T>(LIGHT, Signed::is_infinity)
        })
    }

    /// out = whether a is finite
    pub fn isfinite(walk: &Loop<2>) -> Result<()> {
        compute!(walk.common(), "isfinite", integer unsigned half float bool complex chalf, T => {
            walk.map::<Flag, T>(LIGHT, |a| !a.is_infinity() && !a.is_nan())
        })
    }

    /// out = whether a is plus infinity (or minus infinity)
    pub fn is_infinity_of(walk: &Loop<2>, minus: bool) -> Result<()> {
        let name = if minus { "isneginf_cpu" } else { "isposinf_cpu" };
        compute!(walk.common(), name, integer half float bool, T => {
            walk.map::<Flag, T>(LIGHT, move |a| a.is_infinity() && a.is_minus() == minus)
        })
    }
}

/// Types with a sign or a phase.
trait Signed: Wide {
    fn sign(self) -> Self;
    fn is_minus(self) -> bool;
    fn is_infinity(self) -> bool;
}

macro_rules! signed {
    ($($type:ty),*; whole $($whole:ty),*) => {
        $(impl Signed for $type {
            #[inline(always)]
            fn sign(self) -> $type {
                // NaN is neither above nor below zero.
                f32::from(self > 0.0) as $type - f32::from(self < 0.0) as $type
            }
            #[inline(always)]
            fn is_minus(self) -> bool {
                self.is_sign_negative()
            }
            #[inline(always)]
            fn is_infinity(self) -> bool {
                self.abs() == <$type>::INFINITY
            }
        }
        impl Signed for num_complex::Complex<$type> {
            #[inline(always)]
            fn sign(self) -> Self {
                let size = self.re.hypot(self.im);
                if size == 0.0 { Self::ZERO } else { Self::new(self.re / size, self.im / size) }
            }
            #[inline(always)]
            fn is_minus(self) -> bool {
                false
            }
            #[inline(always)]
            fn is_infinity(self) -> bool {
                self.re.is_infinity() || self.im.is_infinity()
            }
        })*
        $(impl Signed for $whole {
            #[inline(always)]
            fn sign(self) -> $whole {
                let (above, below) = ((self > 0) as $whole, (self < 0) as $whole);
                above.wrapping_sub(below)
            }
            #[inline(always)]
            fn is_minus(self) -> bool {
                self < 0
            }
            #[inline(always)]
            fn is_infinity(self) -> bool {
                false
            }
        })*
        impl Signed for bool {
            #[inline(always)]
            fn sign(self) -> bool {
                self
            }
            #[inline(always)]
            fn is_minus(self) -> bool {
                false
            }
            #[inline(always)]
            fn is_infinity(self) -> bool {
                false
            }
        }
    };
}

signed!(f32, f64; whole u8, i8, i16, i32, i64, u16, u32, u64);

functions! {
    Fmod: |a, b| math::fmod(a, b);
    Remainder: |a, b| {
        let rest = math::fmod(a, b);
        // Where the signs differ.
        V::select(rest.copysign(b).ne(rest), rest + b, rest)
    };
}

kernels! { "numeric";
    /// out = the magnitude of a with the sign of b
    pub fn copysign(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "copysign_cpu", half float, T => walk.map::<T, T, T>(LIGHT, |a, b| a.copysign(b)))
    }

    /// out = a - b trunc(a/b), with a's sign; or a - b floor(a/b), with b's. An integer divided by zero is an error.
    pub fn remainder(walk: &Loop<3>, floor: bool) -> Result<()> {
        let name = if floor { "remainder_cpu" } else { "fmod_cpu" };
        if walk.common().is_floating() {
            return compute!(walk.common(), name, half float, T => {
                if floor { walk.apply::<T>(HEAVY, Remainder {}) } else { walk.apply::<T>(HEAVY, Fmod {}) }
            });
        }
        let by_zero = Raised::of(walk);
        dispatch!(walk.common(), name, integer, T => {
            let by_zero = &by_zero;
            walk.map::<T, T, T>(HEAVY, move |a, b| {
                if b == 0 {
                    by_zero.raise();
                    return 0;
                }
                let rest = a.wrapping_rem(b);
                if floor && rest != 0 && (b < 0) != (rest < 0) { rest.wrapping_add(b) } else { rest }
            })
        })?;
        ensure!(!by_zero.is_raised(), Runtime, "ZeroDivisionError");
        Ok(())
    }
}

/// The first unless it is NaN or the second is better.
#[inline(always)]
fn ignoring_nan<T: Ordered>(a: T, b: T, b_is_better: bool) -> T {
    if a.is_nan() || b_is_better { b } else { a }
}

kernels! { "numeric";
    /// out = max(a, b), the other where one is NaN
    pub fn fmax(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "fmax_cpu", integer half float bool, T => {
            walk.map::<T, T, T>(LIGHT, |a, b| ignoring_nan(a, b, b > a))
        })
    }

    /// out = min(a, b), the other where one is NaN
    pub fn fmin(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "fmin_cpu", integer half float bool, T => {
            walk.map::<T, T, T>(LIGHT, |a, b| ignoring_nan(a, b, b < a))
        })
    }

    /// out = b where a is 0, else 1 where a > 0, else 0
    pub fn heaviside(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "heaviside_cpu", integer half float bool, T => {
            type W = <T as Number>::Wide;
            walk.map::<T, T, T>(LIGHT, |a, b| if a == W::ZERO { b } else if a > W::ZERO { W::ONE } else { W::ZERO })
        })
    }

    /// out = a, or one of these where it is not finite; for a complex number, each of its parts.
    pub fn nan_to_num(walk: &Loop<2>, nan: f64, infinity: f64, minus_infinity: f64) -> Result<()> {
        let others = [nan, infinity, minus_infinity];
        match walk.common() {
            DType::C64 => replace_parts(walk, others.map(|other| other as f32)),
            DType::C128 => replace_parts(walk, others),
            _ => compute!(walk.common(), "nan_to_num", half float, T => {
                let others = others.map(<T as Number>::Wide::from_f64);
                walk.map::<T, T>(LIGHT, move |a| finite_or(a, others))
            }),
        }
    }
}

#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn replace_parts<R: Real>(walk: &Loop<2>, others: [R; 3]) -> Result<()>
where
    Complex<R>: Number<Wide = Complex<R>>,
{
    walk.map::<Complex<R>, Complex<R>>(LIGHT, move |a| Complex::new(finite_or(a.re, others), finite_or(a.im, others)))
}

/// The number, or one of these for NaN, infinity and minus infinity.
#[inline(always)]
fn finite_or<R: Real>(a: R, [nan, infinity, minus_infinity]: [R; 3]) -> R {
    if a.is_nan() {
        return nan;
    }
    let infinite = R::ONE.div(R::ZERO);
    if a == infinite {
        infinity
    } else if a == R::ZERO.sub(infinite) {
        minus_infinity
    } else {
        a
    }
}

/// a + weight (b - a), from the nearer end.
#[inline(always)]
fn between<W: Weight>(a: W, b: W, weight: W) -> W {
    let way = b.sub(a);
    if weight.is_small() { a.add(weight.mul(way)) } else { b.sub(way.mul(W::ONE.sub(weight))) }
}

kernels! { "numeric";
    /// out = a + weight (b - a): operands (out, a, b, weight).
    pub fn lerp(walk: &Loop<4>) -> Result<()> {
        compute!(walk.common(), "lerp_kernel_tensor", half float complex, T => {
            walk.map_wide::<T, T, T, T>(LIGHT, between)
        })
    }

    /// out = a + weight (b - a). The weight is not rounded to half precision.
    pub fn lerp_scalar(walk: &Loop<3>, weight: Scalar) -> Result<()> {
        compute!(walk.common(), "lerp_kernel_scalar", half float complex, T => {
            let weight = <T as Number>::Wide::from_scalar(weight);
            walk.map_wide::<T, T, T>(LIGHT, move |a, b| between(a, b, weight))
        })
    }

    /// out = the angle of a real number in the complex plane: 0 or pi, or NaN
    pub fn angle(walk: &Loop<2>) -> Result<()> {
        compute!(walk.common(), "angle_cpu", half float, T => {
            type W = <T as Number>::Wide;
            walk.map::<T, T>(LIGHT, |a| {
                // NaN is preserved.
                if a.is_nan() {
                    a
                } else if a < W::ZERO {
                    W::from_f64(std::f64::consts::PI)
                } else {
                    W::ZERO
                }
            })
        })
    }

    /// out = the greatest common divisor, not negative
    pub fn gcd(walk: &Loop<3>) -> Result<()> {
        dispatch!(walk.common(), "gcd_cpu", integer, T => walk.map::<T, T, T>(HEAVY, Divisible::gcd))
    }

    /// out = the least common multiple, not negative
    pub fn lcm(walk: &Loop<3>) -> Result<()> {
        dispatch!(walk.common(), "lcm_cpu", integer, T => walk.map::<T, T, T>(HEAVY, Divisible::lcm))
    }
}

/// Integers as divisors; results outside of the dtype wrap.
trait Divisible: Wide {
    fn gcd(self, other: Self) -> Self;
    fn lcm(self, other: Self) -> Self;
}

macro_rules! divisible {
    ($($type:ty: $size:expr;)*) => {$(
        impl Divisible for $type {
            #[inline(always)]
            fn gcd(self, other: $type) -> $type {
                let (mut a, mut b) = ($size(self), $size(other));
                while a != 0 {
                    (a, b) = (b % a, a);
                }
                b as $type
            }
            #[inline(always)]
            fn lcm(self, other: $type) -> $type {
                let divisor = self.gcd(other);
                if divisor == 0 { 0 } else { $size(self.wrapping_div(divisor).wrapping_mul(other)) as $type }
            }
        }
    )*};
}

divisible! {
    u8: (|value: u8| value);
    i8: i8::unsigned_abs;
    i16: i16::unsigned_abs;
    i32: i32::unsigned_abs;
    i64: i64::unsigned_abs;
}

kernels! { "numeric";
    /// out = the mantissa of a, in [0.5, 1)
    pub fn mantissa(walk: &Loop<2>) -> Result<()> {
        compute!(walk.common(), "frexp", half float, T => walk.map::<T, T>(LIGHT, |a| Binary::take_apart(a).0))
    }

    /// out = the exponent of 2 that belongs to the mantissa of a
    pub fn exponent(walk: &Loop<2>) -> Result<()> {
        compute!(walk.common(), "frexp", half float, T => walk.map::<i32, T>(LIGHT, |a| Binary::take_apart(a).1))
    }

    /// out = the representable number next to a towards b. Half precision steps in its own digits.
    pub fn nextafter(walk: &Loop<3>) -> Result<()> {
        dispatch!(walk.common(), "nextafter_cpu", half float, T => walk.map_bits::<T>(LIGHT, Binary::next_towards))
    }
}

/// Floating numbers, as their bits are seen.
pub(crate) trait Binary: Copy {
    fn take_apart(self) -> (Self, i32);
    fn next_towards(self, other: Self) -> Self;
}

macro_rules! binary {
    ($($type:ident, $bits:ident, mantissa $mantissa:expr, bias $bias:expr, zero $zero:expr;)*) => {$(
        impl Binary for $type {
            #[inline(always)]
            fn take_apart(self) -> ($type, i32) {
                const EXPONENT: $bits = <$bits>::MAX >> 1 >> $mantissa;
                const HALF: $bits = ($bias - 1) << $mantissa;
                let stored = self.to_bits() >> $mantissa & EXPONENT;
                if stored == EXPONENT || self == $zero {
                    return (self, 0);
                }
                // A subnormal number is shifted up to a normal one.
                let shift = if stored == 0 { (self.to_bits() << 1 >> 1).leading_zeros() as i32 - ($bits::BITS as i32 - 1 - $mantissa) } else { 0 };
                let kept = self.to_bits() & !(EXPONENT << $mantissa);
                let kept = if stored == 0 { (kept << shift) & !(EXPONENT << $mantissa) | (self.to_bits() & !(<$bits>::MAX >> 1)) } else { kept };
                let exponent = if stored == 0 { 1 - shift } else { stored as i32 };
                ($type::from_bits(kept | HALF), exponent - ($bias - 1))
            }
            #[inline(always)]
            fn next_towards(self, other: $type) -> $type {
                if self.is_nan() || other.is_nan() {
                    return $type::NAN;
                }
                if self == other {
                    return other;
                }
                let sign = <$bits>::MAX ^ <$bits>::MAX >> 1;
                if self == $zero {
                    return $type::from_bits(other.to_bits() & sign | 1);
                }
                // Away from zero the bits count up.
                let away = (self < other) == (self > $zero);
                let bits = self.to_bits();
                $type::from_bits(if away { bits + 1 } else { bits - 1 })
            }
        }
    )*};
}

binary! {
    f32, u32, mantissa 23, bias 127, zero 0.0;
    f64, u64, mantissa 52, bias 1023, zero 0.0;
    f16, u16, mantissa 10, bias 15, zero f16::ZERO;
    bf16, u16, mantissa 7, bias 127, zero bf16::ZERO;
}

/// Whether a weight is nearer to 0 than to 1.
trait Weight: Wide {
    fn is_small(self) -> bool;
}

macro_rules! weights {
    ($($type:ty),*) => {$(
        impl Weight for $type {
            #[inline(always)]
            fn is_small(self) -> bool {
                self.abs() < 0.5
            }
        }
        impl Weight for num_complex::Complex<$type> {
            #[inline(always)]
            fn is_small(self) -> bool {
                self.re * self.re + self.im * self.im < 0.25
            }
        }
    )*};
}

weights!(f32, f64);

kernels! { "numeric";
    /// out = a + value b c
    pub fn addcmul(walk: &Loop<4>, value: Scalar) -> Result<()> {
        compute!(walk.common(), "addcmul_cpu_out", integer half float complex chalf, T => {
            let value = <T as Number>::Wide::from_scalar(value);
            walk.map_wide::<T, T, T, T>(LIGHT, move |a, b, c| a.add(value.mul(b).mul(c)))
        })
    }

    /// out = a + value b / c
    pub fn addcdiv(walk: &Loop<4>, value: Scalar) -> Result<()> {
        compute!(walk.common(), "addcdiv_cpu_out", half float complex chalf, T => {
            let value = <T as Number>::Wide::from_scalar(value);
            walk.map_wide::<T, T, T, T>(LIGHT, move |a, b, c| a.add(value.mul(b).div(c)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_numbers_are_joined() {
        for x in [1.0f32, -0.75, 3e38, 1e-40, -f32::MIN_POSITIVE, f32::from_bits(1)] {
            let (mantissa, exponent) = x.take_apart();
            assert!((0.5..1.0).contains(&mantissa.abs()), "{x}: {mantissa}");
            assert_eq!(f64::from(mantissa) * 2f64.powi(exponent), f64::from(x));
        }
        assert_eq!((0f64.take_apart(), f64::INFINITY.take_apart()), ((0.0, 0), (f64::INFINITY, 0)));
    }

    #[test]
    fn neighbours_are_one_step_away() {
        assert_eq!(1f32.next_towards(2.0), 1.0 + f32::EPSILON);
        assert_eq!((0f64.next_towards(-1.0), (-1f64).next_towards(-1.0)), (-f64::from_bits(1), -1.0));
        assert_eq!(bf16::ONE.next_towards(bf16::ZERO).to_f32(), 1.0 - 1.0 / 256.0);
        assert!(1f32.next_towards(f32::NAN).is_nan());
    }

    #[test]
    fn divisors_are_not_negative() {
        assert_eq!((Divisible::gcd(-12i32, 18), Divisible::gcd(0u8, 0), Divisible::lcm(4i64, -6)), (6, 0, 12));
        assert_eq!(Divisible::gcd(i8::MIN, 0), i8::MIN);
    }
}
