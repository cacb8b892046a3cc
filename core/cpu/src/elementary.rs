//! Elementary functions of each element: a line each. Floats are computed in vectors by `math`, halves in `f32`,
//! complex numbers one by one by `complex.rs`.

use crate::complex::ComplexFunctions;
use crate::math;
use crate::number::{Analytic, Number, Wide};
use crate::pointwise::{Function1, HEAVY, LIGHT, Loop, functions};
use rushlight_base::{Complex64, Complex128, DType, Result};

/// Kernels `out = f(a)`: their PyTorch name, from how many elements on a second thread is worth it, the function of
/// vectors, and that of complex numbers, unless these are refused.
macro_rules! elementary {
    ($($(#[$doc:meta])* $name:ident($kernel:literal, $grain:ident): |$x:ident| $value:expr $(, complex $complex:path)?;)*) => {$(
        $(#[$doc])*
        pub fn $name(walk: &Loop<2>) -> Result<()> {
            functions! { F: |$x| $value; }
            $(if walk.common().is_complex() {
                return complex(walk, $kernel, $complex, $complex);
            })?
            real(walk, $kernel, $grain, F {})
        }
    )*};
}

elementary! {
    /// out = e^a
    exp("exp_vml_cpu", HEAVY): |x| math::exp(x), complex Analytic::exp;
    /// out = 2^a
    exp2("exp2", HEAVY): |x| math::exp2(x), complex ComplexFunctions::exp2;
    /// out = e^a - 1
    expm1("expm1_vml_cpu", HEAVY): |x| math::expm1(x), complex ComplexFunctions::expm1;
    /// out = ln a
    log("log_vml_cpu", HEAVY): |x| math::log(x), complex Analytic::ln;
    /// out = the logarithm of a to base 2
    log2("log2_vml_cpu", HEAVY): |x| math::log2(x), complex ComplexFunctions::log2;
    /// out = the logarithm of a to base 10
    log10("log10_vml_cpu", HEAVY): |x| math::log10(x), complex ComplexFunctions::log10;
    /// out = ln(1 + a)
    log1p("log1p_vml_cpu", HEAVY): |x| math::log1p(x), complex ComplexFunctions::log1p;
    /// out = sqrt a
    sqrt("sqrt_vml_cpu", LIGHT): |x| x.sqrt(), complex Analytic::sqrt;
    /// out = 1/sqrt a
    rsqrt("rsqrt_cpu", LIGHT): |x| V::from_f64(1.0) / x.sqrt(), complex ComplexFunctions::rsqrt;
    /// out = sin a
    sin("sin_vml_cpu", HEAVY): |x| math::sin(x), complex ComplexFunctions::sin;
    /// out = cos a
    cos("cos_vml_cpu", HEAVY): |x| math::cos(x), complex ComplexFunctions::cos;
    /// out = tan a
    tan("tan_vml_cpu", HEAVY): |x| math::tan(x), complex ComplexFunctions::tan;
    /// out = arcsin a
    asin("asin_vml_cpu", HEAVY): |x| math::asin(x), complex ComplexFunctions::asin;
    /// out = arccos a
    acos("acos_vml_cpu", HEAVY): |x| math::acos(x), complex ComplexFunctions::acos;
    /// out = arctan a
    atan("atan_vml_cpu", HEAVY): |x| math::atan(x), complex ComplexFunctions::atan;
    /// out = sinh a
    sinh("sinh_vml_cpu", HEAVY): |x| math::sinh(x), complex ComplexFunctions::sinh;
    /// out = cosh a
    cosh("cosh_vml_cpu", HEAVY): |x| math::cosh(x), complex ComplexFunctions::cosh;
    /// out = tanh a
    tanh("tanh_vml_cpu", HEAVY): |x| math::tanh(x), complex ComplexFunctions::tanh;
    /// out = arsinh a
    asinh("asinh_vml_cpu", HEAVY): |x| math::asinh(x), complex ComplexFunctions::asinh;
    /// out = arcosh a
    acosh("acosh_vml_cpu", HEAVY): |x| math::acosh(x), complex ComplexFunctions::acosh;
    /// out = artanh a
    atanh("atanh_vml_cpu", HEAVY): |x| math::atanh(x), complex ComplexFunctions::atanh;
    /// out = 1/(1 + e^-a)
    sigmoid("sigmoid_cpu", HEAVY): |x| math::sigmoid(x), complex ComplexFunctions::sigmoid;
    /// out = erf a
    erf("erf_vml_cpu", HEAVY): |x| math::erf(x);
    /// out = 1 - erf a
    erfc("erfc_vml_cpu", HEAVY): |x| math::erfc(x);
}

fn real(walk: &Loop<2>, name: &str, grain: usize, f: impl Function1) -> Result<()> {
    compute!(walk.common(), name, half float, T => walk.apply::<T>(grain, f))
}

fn complex(
    walk: &Loop<2>,
    name: &str,
    of_c64: impl Fn(Complex64) -> Complex64 + Copy + Sync,
    of_c128: impl Fn(Complex128) -> Complex128 + Copy + Sync,
) -> Result<()> {
    match walk.common() {
        DType::C64 => walk.map::<Complex64, Complex64>(HEAVY, of_c64),
        DType::C128 => walk.map::<Complex128, Complex128>(HEAVY, of_c128),
        other => Err(crate::dispatch::unsupported(name, other)),
    }
}

/// out = grad conj(1 - result^2), for result = tanh a: operands (out, grad, result).
pub fn tanh_backward(walk: &Loop<3>) -> Result<()> {
    compute!(walk.common(), "tanh_backward_cpu", half float complex, T => {
        type W = <T as Number>::Wide;
        walk.map::<T, T, T>(LIGHT, |grad, y| grad.mul(W::ONE.sub(y.mul(y)).conjugate()))
    })
}

/// out = grad conj((1 - result) result), for result = sigmoid a: operands (out, grad, result).
pub fn sigmoid_backward(walk: &Loop<3>) -> Result<()> {
    compute!(walk.common(), "sigmoid_backward_cpu", half float complex, T => {
        type W = <T as Number>::Wide;
        walk.map::<T, T, T>(LIGHT, |grad, y| grad.mul(W::ONE.sub(y).mul(y).conjugate()))
    })
}

/// out = a^b. Integers wrap; to a negative power they are 0, but for 1 and -1.
pub fn pow(walk: &Loop<3>) -> Result<()> {
    functions! { Pow: |x, y| math::pow(x, y); }
    let common = walk.common();
    if common.is_integral(true) {
        return dispatch!(common, "pow", integer, T => {
            // True only for signed types: the exponents of the others are never below zero.
            #[allow(unused_comparisons, clippy::absurd_extreme_comparisons)]
            walk.map::<T, T, T>(HEAVY, |base, exponent| {
                if exponent >= 0 {
                    return power(base, exponent as u64, |a, b| a.wrapping_mul(b));
                }
                let minus_one = (0 as T).wrapping_sub(1);
                if base == 1 || (base == minus_one && exponent % 2 == 0) {
                    1
                } else if base == minus_one {
                    base
                } else {
                    0
                }
            })
        });
    }
    match common {
        DType::C64 => walk.map::<Complex64, Complex64, Complex64>(HEAVY, ComplexFunctions::pow),
        DType::C128 => walk.map::<Complex128, Complex128, Complex128>(HEAVY, ComplexFunctions::pow),
        _ => compute!(common, "pow", half float, T => walk.apply::<T>(HEAVY, Pow {})),
    }
}

/// By squares.
#[inline(always)]
fn power<T: Wide>(mut base: T, mut exponent: u64, multiply: impl Fn(T, T) -> T) -> T {
    let mut result = T::ONE;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        exponent >>= 1;
    }
    result
}

/// A kernel `out = f(a)`.
pub type UnaryKernel = fn(&Loop<2>) -> Result<()>;

/// The kernel `out = a^exponent` for exponents that need no logarithm.
pub fn easy_power(exponent: f64) -> Option<UnaryKernel> {
    let kernels: [(f64, UnaryKernel); 6] =
        [(2.0, square), (3.0, cube), (0.5, sqrt), (-0.5, rsqrt), (-1.0, inverse), (-2.0, inverse_square)];
    kernels.into_iter().find(|(known, _)| *known == exponent).map(|(_, kernel)| kernel)
}

fn square(walk: &Loop<2>) -> Result<()> {
    compute!(walk.common(), "pow", integer half float complex, T => walk.map::<T, T>(LIGHT, |x| x.mul(x)))
}

fn cube(walk: &Loop<2>) -> Result<()> {
    compute!(walk.common(), "pow", integer half float complex, T => walk.map::<T, T>(LIGHT, |x| x.mul(x).mul(x)))
}

fn inverse(walk: &Loop<2>) -> Result<()> {
    compute!(walk.common(), "pow", half float complex, T => {
        type W = <T as Number>::Wide;
        walk.map::<T, T>(LIGHT, |x| W::ONE.div(x))
    })
}

fn inverse_square(walk: &Loop<2>) -> Result<()> {
    compute!(walk.common(), "pow", half float complex, T => {
        type W = <T as Number>::Wide;
        walk.map::<T, T>(LIGHT, |x| W::ONE.div(x.mul(x)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_powers_wrap() {
        assert_eq!(power(3i64, 5, i64::wrapping_mul), 243);
        assert_eq!(power(2u8, 8, u8::wrapping_mul), 0);
        assert_eq!(power(0i32, 0, i32::wrapping_mul), 1);
    }
}
