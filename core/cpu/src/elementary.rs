//! Elementary functions, one line each. Floats are computed in vectors by `math`, half precision in `f32`, complex
//! numbers one by one by `complex.rs`.

use crate::complex::ComplexFunctions;
use crate::math;
use crate::number::{Analytic, Number, Wide};
use crate::pointwise::{Function1, HEAVY, LIGHT, Loop, functions};
use crate::simd::FloatVector;
use rushlight_base::{Complex64, Complex128, DType, Result};

/// Kernels `out = f(a)`: PyTorch's name, the number of elements from which a second thread is worth it, the vector
/// function, and the complex function, unless complex numbers are rejected.
macro_rules! elementary {
    ($($(#[$doc:meta])* $name:ident($kernel:literal, $grain:ident): |$x:ident| $value:expr $(, complex $complex:path)?;)*) => {$(
        kernels! { "elementary";
            $(#[$doc])*
            pub fn $name(walk: &Loop<2>) -> Result<()> {
                functions! { F: |$x| $value; }
                $(if walk.common().is_complex() {
                    return complex(walk, $kernel, $complex, $complex);
                })?
                real(walk, $kernel, $grain, F {})
            }
        }
    )*};
}

elementary! {
    /// out = e^a
    exp("exp_vml_cpu", LIGHT): |x| math::exp(x), complex Analytic::exp;
    /// out = 2^a
    exp2("exp2", LIGHT): |x| math::exp2(x), complex ComplexFunctions::exp2;
    /// out = e^a - 1
    expm1("expm1_vml_cpu", HEAVY): |x| math::expm1(x), complex ComplexFunctions::expm1;
    /// out = ln a
    log("log_vml_cpu", LIGHT): |x| math::log(x), complex Analytic::ln;
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
    tanh("tanh_vml_cpu", LIGHT): |x| math::tanh(x), complex ComplexFunctions::tanh;
    /// out = arsinh a
    asinh("asinh_vml_cpu", HEAVY): |x| math::asinh(x), complex ComplexFunctions::asinh;
    /// out = arcosh a
    acosh("acosh_vml_cpu", HEAVY): |x| math::acosh(x), complex ComplexFunctions::acosh;
    /// out = artanh a
    atanh("atanh_vml_cpu", HEAVY): |x| math::atanh(x), complex ComplexFunctions::atanh;
    /// out = sin(pi a)/(pi a), 1 where a is 0
    sinc("sinc_cpu", HEAVY): |x| {
        let turned = x * V::from_f64(std::f64::consts::PI);
        V::select(x.eq(V::from_f64(0.0)), V::from_f64(1.0), math::sin(turned) / turned)
    }, complex ComplexFunctions::sinc;
    /// out = 1/(1 + e^-a)
    sigmoid("sigmoid_cpu", LIGHT): |x| math::sigmoid(x), complex ComplexFunctions::sigmoid;
    /// out = a sigmoid a
    silu("silu_cpu", LIGHT): |x| x * math::sigmoid(x), complex ComplexFunctions::silu;
    /// out = erf a
    erf("erf_vml_cpu", HEAVY): |x| math::erf(x);
    /// out = 1 - erf a
    erfc("erfc_vml_cpu", HEAVY): |x| math::erfc(x);
}

#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn real(walk: &Loop<2>, name: &str, grain: usize, f: impl Function1) -> Result<()> {
    compute!(walk.common(), name, half float, T => walk.apply::<T>(grain, f))
}

#[cfg_attr(target_arch = "nvptx64", inline(always))]
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

/// Kernels `out = f(a, b)` of floats.
macro_rules! of_two {
    ($($(#[$doc:meta])* $name:ident($kernel:literal): |$x:ident, $y:ident| $value:expr;)*) => {$(
        kernels! { "elementary";
            $(#[$doc])*
            pub fn $name(walk: &Loop<3>) -> Result<()> {
                functions! { F: |$x, $y| $value; }
                compute!(walk.common(), $kernel, half float, T => walk.apply::<T>(HEAVY, F {}))
            }
        }
    )*};
}

of_two! {
    /// out = the angle of the point (b, a)
    atan2("atan2_cpu"): |y, x| angle(y, x);
    /// out = sqrt(a^2 + b^2)
    hypot("hypot_cpu"): |x, y| distance(x, y);
    /// out = log2(2^a + 2^b)
    logaddexp2("logaddexp2_cpu"): |x, y| {
        let rest = math::log1p(math::exp2(-(x - y).abs())) * V::from_f64(std::f64::consts::LOG2_E);
        log_of_sum(x, y, rest)
    };
    /// out = a ln b of floats, 0 where a is, unless b is NaN
    xlogy_of_floats("xlogy_cpu"): |x, y| {
        let (zero, result) = (V::from_f64(0.0), x * math::log(y));
        V::select(x.eq(zero) & y.eq(y), zero, result)
    };
}

kernels! { "elementary";
    /// out = a ln b, 0 where a is, unless b is NaN
    pub fn xlogy(walk: &Loop<3>) -> Result<()> {
        if walk.common().is_half() {
            return stepwise!(walk.common(), "xlogy_cpu", T => walk.map::<T, T, T>(HEAVY, |x, y| {
                let none = x == T::ZERO && !y.is_nan();
                if none { T::ZERO } else { x.mul(y.ln()) }
            }));
        }
        xlogy_of_floats(walk)
    }
}

of_two! {
    /// out = a cos b
    real_of_polar("polar_cpu"): |size, angle| size * math::cos(angle);
    /// out = a sin b
    imaginary_of_polar("polar_cpu"): |size, angle| size * math::sin(angle);
}

/// The angle of the point (x, y), within 3 ulp, with the signs of the C standard.
#[inline(always)]
pub(crate) fn angle<V: FloatVector>(y: V, x: V) -> V {
    let (zero, one, infinity) = (V::from_f64(0.0), V::from_f64(1.0), V::from_f64(f64::INFINITY));
    let (height, width) = (y.abs(), x.abs());
    let steep = width.lt(height);
    let (greater, lesser) = (V::select(steep, height, width), V::select(steep, width, height));
    // On the axes through 0 and between infinities there is no quotient.
    let slope = V::select(greater.eq(zero), zero, V::select(lesser.eq(infinity), one, lesser / greater));
    let near = math::atan(slope);
    let pi = V::from_f64(std::f64::consts::PI);
    let right = V::select(steep, V::from_f64(std::f64::consts::FRAC_PI_2) - near, near);
    let minus = V::from_f64(1.0).copysign(x).lt(zero);
    let angle = V::select(minus, pi - right, right).copysign(y);
    V::select(x.is_nan() | y.is_nan(), x + y, angle)
}

/// The distance of the point (x, y) from 0, within 2.5 ulp, without overflow on the way.
#[inline(always)]
pub(crate) fn distance<V: FloatVector>(x: V, y: V) -> V {
    let (width, height) = (x.abs(), y.abs());
    let (infinity, zero) = (V::from_f64(f64::INFINITY), V::from_f64(0.0));
    let steep = width.lt(height);
    let (greater, lesser) = (V::select(steep, height, width), V::select(steep, width, height));
    let slope = V::select(greater.eq(zero), zero, lesser / greater);
    let size = greater * slope.mul_add(slope, V::from_f64(1.0)).sqrt();
    let size = V::select(x.is_nan() | y.is_nan(), x + y, size);
    V::select(width.eq(infinity) | height.eq(infinity), infinity, size)
}

/// The larger of two plus the logarithm of the sum of their powers relative to it; for two equal infinities, that
/// infinity.
#[inline(always)]
fn log_of_sum<V: FloatVector>(x: V, y: V, rest: V) -> V {
    let same = x.eq(y) & x.abs().eq(V::from_f64(f64::INFINITY));
    V::select(same, x, x.max(y) + rest)
}

/// ln(e^x + e^y)
#[inline(always)]
pub(crate) fn log_add<V: FloatVector>(x: V, y: V) -> V {
    log_of_sum(x, y, math::log1p(math::exp(-(x - y).abs())))
}

kernels! { "elementary";
    /// out = ln(e^a + e^b)
    pub fn logaddexp(walk: &Loop<3>) -> Result<()> {
        functions! { F: |x, y| log_add(x, y); }
        match walk.common() {
            DType::C64 => walk.map::<Complex64, Complex64, Complex64>(HEAVY, ComplexFunctions::logaddexp),
            DType::C128 => walk.map::<Complex128, Complex128, Complex128>(HEAVY, ComplexFunctions::logaddexp),
            _ => compute!(walk.common(), "logaddexp_cpu", half float, T => walk.apply::<T>(HEAVY, F {})),
        }
    }

    /// out = a factor
    pub fn scale(walk: &Loop<2>, factor: f64) -> Result<()> {
        compute!(walk.common(), "mul_cpu", half float, T => {
            let factor = <T as Number>::Wide::from_f64(factor);
            walk.map::<T, T>(LIGHT, move |a| a * factor)
        })
    }

    /// out = grad conj(1 - result^2), for result = tanh a: operands (out, grad, result).
    pub fn tanh_backward(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "tanh_backward_cpu", half float complex, T => {
            type W = <T as Number>::Wide;
            walk.map_wide::<T, T, T>(LIGHT, |grad, y| grad.mul(W::ONE.sub(y.mul(y)).conjugate()))
        })
    }

    /// out = grad conj((1 - result) result), for result = sigmoid a: operands (out, grad, result).
    pub fn sigmoid_backward(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "sigmoid_backward_cpu", half float complex, T => {
            type W = <T as Number>::Wide;
            walk.map_wide::<T, T, T>(LIGHT, |grad, y| grad.mul(W::ONE.sub(y).mul(y).conjugate()))
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
}

/// By repeated squaring.
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

kernels! { "elementary";
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `kernel` of two arrays of floats.
    fn call(kernel: impl Fn(&Loop<3>) -> Result<()>, a: &[f32], b: &[f32]) -> Vec<f32> {
        let mut out = vec![0f32; a.len()];
        let array = |at: *const f32| {
            // SAFETY: the address is that of one element of a slice that outlives the array; the kernel only reads its inputs.
            unsafe { crate::Array::new(at.cast_mut().cast(), DType::F32, &[], &[]) }
        };
        for index in 0..a.len() {
            let arrays = [array(&raw mut out[index]), array(&raw const a[index]), array(&raw const b[index])];
            kernel(&Loop::new(arrays).unwrap()).unwrap();
        }
        out
    }

    #[test]
    fn angles_and_distances_are_within_their_bounds() {
        let numbers =
            [0.0f32, -0.0, 1.0, -1.0, 0.3, -7.25, 1e-30, -1e30, 3e38, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        let pairs: Vec<(f32, f32)> = numbers.iter().flat_map(|&a| numbers.map(|b| (a, b))).collect();
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
        let (angles, distances) = (call(atan2, &a, &b), call(hypot, &a, &b));
        for (index, &(a, b)) in pairs.iter().enumerate() {
            let (angle, distance) = (f64::from(a).atan2(f64::from(b)) as f32, f64::from(a).hypot(f64::from(b)) as f32);
            for (got, exact) in [(angles[index], angle), (distances[index], distance)] {
                let close = (got - exact).abs() <= 3.0 * f32::EPSILON * exact.abs();
                let same = got == exact && got.is_sign_negative() == exact.is_sign_negative();
                assert!(same || close && exact != 0.0 || got.is_nan() && exact.is_nan(), "{a} {b}: {got}, not {exact}");
            }
        }
    }

    #[test]
    fn whole_powers_wrap() {
        assert_eq!(power(3i64, 5, i64::wrapping_mul), 243);
        assert_eq!(power(2u8, 8, u8::wrapping_mul), 0);
        assert_eq!(power(0i32, 0, i32::wrapping_mul), 1);
    }
}
