//! The functions of `math` and `cmath`.

use super::args::Args;
use super::objects::tuple;
use crate::runtime::value::Value;
use rushlight_base::{Complex, Result, bail, ensure};

/// Functions of C that Rust's library does not have. They are part of the C runtime that Rust's library links.
mod c {
    unsafe extern "C" {
        pub(super) fn erf(x: f64) -> f64;
        pub(super) fn erfc(x: f64) -> f64;
        pub(super) fn tgamma(x: f64) -> f64;
        pub(super) fn lgamma(x: f64) -> f64;
        pub(super) fn remainder(x: f64, y: f64) -> f64;
        pub(super) fn ldexp(x: f64, exponent: i32) -> f64;
        pub(super) fn frexp(x: f64, exponent: *mut i32) -> f64;
    }
}

fn erf_of(x: f64) -> f64 {
    // SAFETY: a function of C's library without conditions on its argument.
    unsafe { c::erf(x) }
}

fn erfc_of(x: f64) -> f64 {
    // SAFETY: a function of C's library without conditions on its argument.
    unsafe { c::erfc(x) }
}

fn gamma_of(x: f64) -> f64 {
    // SAFETY: a function of C's library without conditions on its argument.
    unsafe { c::tgamma(x) }
}

fn lgamma_of(x: f64) -> f64 {
    // SAFETY: a function of C's library without conditions on its argument. It writes the sign of the result to a global
    // variable of the C library, which is not read.
    unsafe { c::lgamma(x) }
}

macro_rules! real {
    ($($name:ident: $function:expr;)*) => {$(
        pub(super) fn $name(args: &mut Args<'_>) -> Result<Value> {
            let function: fn(f64) -> f64 = $function;
            Ok(function(args.float(0)?).into())
        }
    )*};
}

real! {
    degrees: |x| x * (180.0 / std::f64::consts::PI);
    erf: erf_of;
    erfc: erfc_of;
    expm1: f64::exp_m1;
    fabs: f64::abs;
    gamma: gamma_of;
    lgamma: lgamma_of;
    log1p: f64::ln_1p;
    radians: |x| x * (std::f64::consts::PI / 180.0);
    round: f64::round_ties_even;
}

macro_rules! real_or_complex {
    ($($name:ident: $real:expr, $complex:expr;)*) => {$(
        pub(super) fn $name(args: &mut Args<'_>) -> Result<Value> {
            let (real, complex): (fn(f64) -> f64, fn(Complex<f64>) -> Complex<f64>) = ($real, $complex);
            Ok(match args.get(0)? {
                Value::Complex(value) => complex(*value).into(),
                other => real(other.as_float()?).into(),
            })
        }
    )*};
}

real_or_complex! {
    acos: f64::acos, |z| z.acos();
    acosh: f64::acosh, |z| z.acosh();
    asin: f64::asin, |z| z.asin();
    asinh: f64::asinh, |z| z.asinh();
    atan: f64::atan, |z| z.atan();
    atanh: f64::atanh, |z| z.atanh();
    cos: f64::cos, |z| z.cos();
    cosh: f64::cosh, |z| z.cosh();
    exp: f64::exp, |z| z.exp();
    log10: f64::log10, |z| z.log10();
    sin: f64::sin, |z| z.sin();
    sinh: f64::sinh, |z| z.sinh();
    sqrt: f64::sqrt, |z| z.sqrt();
    tan: f64::tan, |z| z.tan();
    tanh: f64::tanh, |z| z.tanh();
}

fn complex_log(value: &Value) -> Result<Complex<f64>> {
    Ok(match value {
        Value::Complex(value) => value.ln(),
        real => {
            let log = real.as_float()?.ln();
            Complex::new(log, if log.is_nan() { log } else { 0.0 })
        }
    })
}

/// `log(a)`, and `log(a, base)`.
pub(super) fn log(args: &mut Args<'_>) -> Result<Value> {
    if args.all().iter().any(|value| matches!(value, Value::Complex(_))) {
        let value = complex_log(args.get(0)?)?;
        return Ok(match args.get(1) {
            Err(_) => value.into(),
            // A real base has a real logarithm, which is NaN for negative numbers.
            Ok(Value::Complex(base)) => (value / base.ln()).into(),
            Ok(base) => {
                let base = base.as_float()?.ln();
                Complex::new(value.re / base, value.im / base).into()
            }
        });
    }
    let value = args.float(0)?.ln();
    Ok(if args.len() > 1 { value / args.float(1)?.ln() } else { value }.into())
}

pub(super) fn angle(args: &mut Args<'_>) -> Result<Value> {
    Ok(match args.get(0)? {
        Value::Complex(value) => value.arg(),
        other => match other.as_float()? {
            value if value.is_nan() => value,
            value if value < 0.0 => std::f64::consts::PI,
            _ => 0.0,
        },
    }
    .into())
}

pub(super) fn atan2(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.float(0)?.atan2(args.float(1)?).into())
}

pub(super) fn copysign(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.float(0)?.copysign(args.float(1)?).into())
}

pub(super) fn remainder(args: &mut Args<'_>) -> Result<Value> {
    let (a, b) = (args.float(0)?, args.float(1)?);
    // SAFETY: a function of C's library without conditions on its arguments.
    Ok(unsafe { c::remainder(a, b) }.into())
}

pub(super) fn polar(args: &mut Args<'_>) -> Result<Value> {
    Ok(Complex::from_polar(args.float(0)?, args.float(1)?).into())
}

fn rounded(args: &Args<'_>, round: fn(f64) -> f64) -> Result<Value> {
    Ok(match args.get(0)? {
        Value::Float(value) => super::numbers::truncated(round(*value)).into(),
        Value::Complex(_) => bail!(Runtime, "complex numbers are not ordered"),
        other => other.as_int()?.into(),
    })
}

pub(super) fn ceil(args: &mut Args<'_>) -> Result<Value> {
    rounded(args, f64::ceil)
}

pub(super) fn floor(args: &mut Args<'_>) -> Result<Value> {
    rounded(args, f64::floor)
}

pub(super) fn factorial(args: &mut Args<'_>) -> Result<Value> {
    let count = args.int(0)?;
    ensure!(count >= 0, Runtime, "factorial() not defined for negative values");
    // From 66 on all 64 bits of the product are 0.
    Ok((1..=count.min(70)).fold(1i64, |product, factor| product.wrapping_mul(factor)).into())
}

pub(super) fn gcd(args: &mut Args<'_>) -> Result<Value> {
    let (mut a, mut b) = (args.int(0)?.unsigned_abs(), args.int(1)?.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Ok((a as i64).into())
}

pub(super) fn frexp(args: &mut Args<'_>) -> Result<Value> {
    let mut exponent = 0;
    let value = args.float(0)?;
    // SAFETY: a function of C's library that writes the exponent to a local variable.
    let mantissa = unsafe { c::frexp(value, &raw mut exponent) };
    Ok(tuple([mantissa.into(), i64::from(exponent).into()]))
}

pub(super) fn ldexp(args: &mut Args<'_>) -> Result<Value> {
    let exponent = args.int(1)?.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
    let value = args.float(0)?;
    // SAFETY: a function of C's library without conditions on its arguments.
    Ok(unsafe { c::ldexp(value, exponent) }.into())
}

pub(super) fn modf(args: &mut Args<'_>) -> Result<Value> {
    let value = args.float(0)?;
    let fraction = if value.is_infinite() { 0.0f64.copysign(value) } else { value.fract().copysign(value) };
    Ok(tuple([fraction.into(), value.trunc().into()]))
}

macro_rules! tests {
    ($($name:ident: $real:expr, $both:expr;)*) => {$(
        pub(super) fn $name(args: &mut Args<'_>) -> Result<Value> {
            let (test, both): (fn(f64) -> bool, fn(bool, bool) -> bool) = ($real, $both);
            Ok(match args.get(0)? {
                Value::Complex(value) => both(test(value.re), test(value.im)),
                other => test(other.as_float()?),
            }
            .into())
        }
    )*};
}

tests! {
    isnan: f64::is_nan, |a, b| a || b;
    isinf: f64::is_infinite, |a, b| a || b;
    isfinite: f64::is_finite, |a, b| a && b;
}
