//! Measures the errors that the functions state, at every level: `f32` against `f64`, `f64` against values of 60 digits
//! (`reference.txt`, written by `tests/oracle/math_reference.py`); and compares single lanes with whole vectors to the bit.
//!
//! `cargo test --release -p rushlight-cpu math -- --ignored --nocapture` writes a table of the errors, over many more numbers.

use super::*;
use crate::simd::{Float, Kernel, Level, MAX_LANES, Simd, run_at};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::LazyLock;

/// One of the functions, over vectors of any kind.
trait Function: Copy {
    fn call<V: FloatVector>(self, x: V, y: V) -> V;
}

/// Calls a function over arrays, in whole vectors or with one number in each.
struct Map<'a, F, T> {
    function: F,
    x: &'a [T],
    y: &'a [T],
    out: &'a mut [T],
    one_lane: bool,
}

impl<F: Function, T: Float<Wide = T>> Kernel for Map<'_, F, T> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let lanes = if self.one_lane { 1 } else { T::Vector::<S>::LANES };
        for ((x, y), out) in self.x.chunks(lanes).zip(self.y.chunks(lanes)).zip(self.out.chunks_mut(lanes)) {
            // SAFETY: the slices have `x.len()` numbers, at most a vector's lanes.
            unsafe {
                let x = T::load_partial::<S>(x.as_ptr(), x.len());
                let y = T::load_partial::<S>(y.as_ptr(), y.len());
                T::store_partial::<S>(self.function.call(x, y), out.as_mut_ptr(), out.len());
            }
        }
    }
}

fn results<T: Float<Wide = T>>(
    level: Level,
    function: impl Function,
    x: &[T],
    y: &[T],
    one_lane: bool,
) -> Option<Vec<T>> {
    let mut out = x.to_vec();
    run_at(level, Map { function, x, y, out: &mut out, one_lane }).map(|()| out)
}

macro_rules! functions {
    ($($name:ident($x:ident $(, $y:ident)?), bounds $single:expr, $double:expr, reference $reference:expr;)*) => {
        mod named {
            use super::*;
            $(
                #[allow(non_camel_case_types)]
                #[derive(Clone, Copy)]
                pub struct $name;
                impl Function for $name {
                    #[inline(always)]
                    #[allow(unused_variables)]
                    fn call<V: FloatVector>(self, x: V, y: V) -> V {
                        super::super::$name(x $(, { let $y = y; $y })?)
                    }
                }
            )*
        }

        /// Calls `$visit` for each function: its name, itself, its bounds in ulp, its value in `f64`.
        macro_rules! for_each_function {
            ($visit:ident) => {$(
                $visit(stringify!($name), named::$name, $single, $double, $reference);
            )*};
        }
    };
}

/// In `f64`, within the bounds that `f64_values_are_within_their_bounds` has measured.
fn own(function: impl Function, x: f64) -> f64 {
    results(Level::Portable, function, &[x], &[x], true).map_or(f64::NAN, |values| values[0])
}

functions! {
    exp(x), bounds 1.1, 1.0, reference |x: f64, _: f64| x.exp();
    exp2(x), bounds 1.5, 1.5, reference |x: f64, _: f64| x.exp2();
    expm1(x), bounds 2.0, 2.0, reference |x: f64, _: f64| x.exp_m1();
    log(x), bounds 1.0, 1.0, reference |x: f64, _: f64| x.ln();
    log1p(x), bounds 2.0, 2.0, reference |x: f64, _: f64| x.ln_1p();
    log2(x), bounds 1.0, 1.0, reference |x: f64, _: f64| x.log2();
    log10(x), bounds 1.0, 1.0, reference |x: f64, _: f64| x.log10();
    tanh(x), bounds 1.5, 1.5, reference |x: f64, _: f64| x.tanh();
    sigmoid(x), bounds 3.1, 2.5, reference |x: f64, _: f64| 1.0 / (1.0 + (-x).exp());
    erf(x), bounds 1.5, 1.5, reference |x: f64, _: f64| own(named::erf, x);
    erfc(x), bounds 4.0, 4.0, reference |x: f64, _: f64| own(named::erfc, x);
    sin(x), bounds 2.0, 2.0, reference |x: f64, _: f64| x.sin();
    cos(x), bounds 2.0, 2.0, reference |x: f64, _: f64| x.cos();
    tan(x), bounds 3.0, 3.0, reference |x: f64, _: f64| x.tan();
    pow(x, y), bounds 2.0, 2.0, reference |x: f64, y: f64| x.powf(y);
    atan(x), bounds 1.5, 1.5, reference |x: f64, _: f64| x.atan();
    asin(x), bounds 2.0, 2.0, reference |x: f64, _: f64| x.asin();
    acos(x), bounds 2.0, 2.0, reference |x: f64, _: f64| x.acos();
    sinh(x), bounds 3.0, 3.0, reference |x: f64, _: f64| x.sinh();
    cosh(x), bounds 2.0, 2.0, reference |x: f64, _: f64| x.cosh();
    asinh(x), bounds 3.0, 3.0, reference |x: f64, _: f64| x.abs().asinh().copysign(x);
    acosh(x), bounds 3.0, 3.0, reference |x: f64, _: f64| x.acosh();
    atanh(x), bounds 3.0, 3.0, reference |x: f64, _: f64| x.atanh();
}

/// The error of `got` in units in the last place; infinite if NaN, infinity or sign differ.
fn error_f32(got: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if nearest.is_nan() || got.is_nan() {
        return if nearest.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if nearest == got && (got != 0.0 || exact != 0.0 || got.is_sign_negative() == exact.is_sign_negative()) {
        return if got.is_infinite() || got == 0.0 { 0.0 } else { (f64::from(got) - exact).abs() / ulp_f32(exact) };
    }
    // Next to the largest number infinity counts as the one after it.
    let got = if got.is_infinite() { f64::from(got.signum()) * 2f64.powi(128) } else { f64::from(got) };
    if exact == 0.0 { f64::INFINITY } else { (got - exact).abs() / ulp_f32(exact) }
}

fn ulp_f32(exact: f64) -> f64 {
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    2f64.powi(exponent.clamp(-126, 127) - 23)
}

/// Patterns `step` apart: every exponent, both signs, infinities and NaN; and special values.
fn single_numbers(step: u32) -> Vec<f32> {
    let mut numbers: Vec<f32> = (0..u32::MAX / step).map(|index| f32::from_bits(index * step)).collect();
    // The range of most calls.
    numbers.extend(
        (0..1 << 20).step_by(step.clamp(1, 1 << 12) as usize >> 4 | 1).map(|index| index as f32 / 32768.0 - 16.0),
    );
    let edges = [
        0.0,
        1.0,
        0.5,
        2.0,
        88.72284,
        103.97208,
        104.0,
        10.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::INFINITY,
        1e-45,
        0.70710677,
    ];
    numbers.extend(edges.iter().chain(&[std::f32::consts::FRAC_PI_2, 131072.0, 1.5]).flat_map(|&edge| {
        let bits = edge.to_bits();
        let near = [bits, bits.saturating_sub(1), bits + 1].map(f32::from_bits);
        near.into_iter().chain(near.map(|value| -value))
    }));
    numbers.push(f32::NAN);
    numbers
}

/// Exponents that reach all results; and, in turn, the special cases of the C standard.
fn single_exponents(bases: &[f32]) -> Vec<f32> {
    const RULES: [f32; 12] =
        [0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, -2.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 16777217.0];
    let exponent = |(index, &x): (usize, &f32)| match index % 4 {
        0 => RULES[index / 4 % RULES.len()],
        1 => ((index / 4 % 41) as f32 - 20.0) * 0.5,
        2 => (index / 4 % 31) as f32 - 15.0,
        _ => ((index.wrapping_mul(2654435761) % 19997) as f32 / 100.0 - 106.0) / x.abs().ln(),
    };
    bases.iter().enumerate().map(exponent).collect()
}

/// The greatest error of a function in `f32` for each level, and where.
fn worst_f32(function: impl Function, reference: impl Fn(f64, f64) -> f64, step: u32) -> Vec<(Level, f64, f32, f32)> {
    let mut worst: Vec<_> = Level::ALL.into_iter().map(|level| (level, 0.0, 0.0, 0.0)).collect();
    let numbers = single_numbers(step);
    for x in numbers.chunks(1 << 16) {
        let y = single_exponents(x);
        let exact: Vec<f64> = x.iter().zip(&y).map(|(&x, &y)| reference(f64::from(x), f64::from(y))).collect();
        for (level, most, worst_x, worst_y) in &mut worst {
            let Some(got) = results(*level, function, x, &y, false) else { continue };
            for lane in 0..x.len() {
                let error = error_f32(got[lane], exact[lane]);
                if error > *most {
                    (*most, *worst_x, *worst_y) = (error, x[lane], y[lane]);
                }
            }
        }
    }
    worst
}

/// A prime, so that all low bits occur.
const STEP: u32 = 20011;

#[test]
fn f32_values_are_within_their_bounds() {
    fn check(name: &str, function: impl Function, bound: f64, _: f64, reference: impl Fn(f64, f64) -> f64) {
        for (level, error, x, y) in worst_f32(function, reference, STEP) {
            assert!(error <= bound, "{name}({x:e}, {y:e}) at {level:?} is off by {error} ulp");
        }
    }
    for_each_function!(check);
}

/// Arguments, the nearest `f64` and its difference from the exact value in ulp.
type Reference = BTreeMap<String, Vec<(f64, f64, f64, f64)>>;

fn parse(text: &str) -> Reference {
    let mut reference = Reference::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let number = |field: &str| u64::from_str_radix(field, 16).map(f64::from_bits).ok();
        let (Some(x), Some(y)) = (number(fields[1]), number(fields[fields.len() - 3])) else { unreachable!("{line}") };
        let (Some(value), Ok(rest)) = (number(fields[fields.len() - 2]), fields[fields.len() - 1].parse()) else {
            unreachable!("{line}")
        };
        reference.entry(fields[0].to_owned()).or_default().push((x, y, value, rest));
    }
    reference
}

/// The greatest error of a function in `f64` for each level, and where.
fn worst_f64(function: impl Function, reference: &[(f64, f64, f64, f64)]) -> Vec<(Level, f64, f64, f64)> {
    let x: Vec<f64> = reference.iter().map(|row| row.0).collect();
    let y: Vec<f64> = reference.iter().map(|row| row.1).collect();
    let mut worst = Vec::new();
    for level in Level::ALL {
        let Some(got) = results(level, function, &x, &y, false) else { continue };
        let errors = got.iter().zip(reference).map(|(got, &(_, _, nearest, rest))| {
            let ulp = f64::from_bits(nearest.abs().to_bits() | 1 << 63).abs();
            let ulp = (f64::from_bits((ulp.to_bits() >> 52).max(1) << 52)) * f64::EPSILON;
            if got.is_finite() { ((got - nearest) / ulp - rest).abs() } else { f64::INFINITY }
        });
        let (at, error) = errors.enumerate().fold((0, 0.0), |worst, new| if new.1 > worst.1 { new } else { worst });
        worst.push((level, error, x[at], y[at]));
    }
    worst
}

static REFERENCE: LazyLock<Reference> = LazyLock::new(|| parse(include_str!("reference.txt")));

#[test]
fn f64_values_are_within_their_bounds() {
    fn check(name: &str, function: impl Function, _: f64, bound: f64, _: impl Fn(f64, f64) -> f64) {
        for (level, error, x, y) in worst_f64(function, &REFERENCE[name]) {
            assert!(error <= bound, "{name}({x:e}, {y:e}) at {level:?} is off by {error} ulp");
        }
    }
    for_each_function!(check);
}

#[test]
fn special_values_in_f64_are_those_of_c() {
    const SPECIAL: [f64; 24] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        1.5,
        1e300,
        -1e300,
        1e-310,
        -1e-310,
        5e-324,
        710.0,
        -746.0,
        -1076.0,
        1025.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        9007199254740993.0,
    ];
    fn check(name: &str, function: impl Function, _: f64, _: f64, reference: impl Fn(f64, f64) -> f64) {
        for (x, y) in SPECIAL.into_iter().flat_map(|x| SPECIAL.map(|y| (x, y))) {
            for level in Level::ALL {
                let Some(got) = results(level, function, &[x; MAX_LANES], &[y; MAX_LANES], false) else { continue };
                let expected = reference(x, y);
                let same = if expected.is_finite() && expected.abs() >= f64::MIN_POSITIVE {
                    (got[0] / expected - 1.0).abs() < 1e-14
                } else if expected != 0.0 && expected.is_finite() {
                    (got[0] - expected).abs() < 1e-322
                } else {
                    got[0].to_bits() == expected.to_bits() || got[0].is_nan() && expected.is_nan()
                };
                assert!(same, "{name}({x:e}, {y:e}) at {level:?} is {:e}, not {expected:e}", got[0]);
            }
        }
    }
    for_each_function!(check);
    let limits =
        |function: fn(&[f64]) -> Option<Vec<f64>>| function(&[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
    let erf = limits(|x| results(Level::Portable, named::erf, x, x, false)).unwrap_or_default();
    assert_eq!(
        erf[..4].iter().map(|value| value.to_bits()).collect::<Vec<_>>(),
        [0.0, -0.0, 1.0, -1.0].map(f64::to_bits)
    );
    let erfc = limits(|x| results(Level::Portable, named::erfc, x, x, false)).unwrap_or_default();
    assert_eq!(erfc[..4], [1.0, 1.0, 0.0, 2.0]);
    assert!(erf[4].is_nan() && erfc[4].is_nan());
}

#[test]
fn a_single_lane_is_bitwise_equal_to_a_vector() {
    fn check(name: &str, function: impl Function, _: f64, _: f64, _: impl Fn(f64, f64) -> f64) {
        let x = single_numbers(STEP * 64 + 1);
        let y = single_exponents(&x);
        let (wide_x, wide_y): (Vec<f64>, Vec<f64>) =
            (x.iter().map(|&x| x.into()).collect(), y.iter().map(|&y| y.into()).collect());
        for level in Level::ALL {
            let (Some(vectors), Some(lanes)) =
                (results(level, function, &x, &y, false), results(level, function, &x, &y, true))
            else {
                continue;
            };
            for (index, (vector, lane)) in vectors.iter().zip(&lanes).enumerate() {
                let same = vector.to_bits() == lane.to_bits() || vector.is_nan() && lane.is_nan();
                assert!(same, "{name}({:e}, {:e}) at {level:?}", x[index], y[index]);
            }
            let vectors = results(level, function, &wide_x, &wide_y, false).unwrap_or_default();
            let lanes = results(level, function, &wide_x, &wide_y, true).unwrap_or_default();
            for (index, (vector, lane)) in vectors.iter().zip(&lanes).enumerate() {
                let same = vector.to_bits() == lane.to_bits() || vector.is_nan() && lane.is_nan();
                assert!(same, "{name}({:e}, {:e}) at {level:?}", wide_x[index], wide_y[index]);
            }
        }
    }
    for_each_function!(check);
}

#[test]
fn the_normal_distribution_is_exact_to_seven_digits() {
    #[derive(Clone, Copy)]
    struct Phi;
    impl Function for Phi {
        #[inline(always)]
        fn call<V: FloatVector>(self, x: V, _: V) -> V {
            phi(x)
        }
    }
    let mut x: Vec<f32> = (-9000..9000).map(|i| i as f32 / 1000.0).collect();
    x.extend([f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::NAN, -0.0]);
    for level in Level::ALL {
        let Some(got) = results(level, Phi, &x, &x, false) else { continue };
        for (&x, got) in x.iter().zip(got) {
            let exact = 0.5 + 0.5 * own(named::erf, f64::from(x) * std::f64::consts::FRAC_1_SQRT_2);
            let close = (f64::from(got) - exact).abs() <= 1e-7 || x.is_nan() && got.is_nan();
            assert!(close, "phi({x}) at {level:?} is {got}, not {exact}");
        }
    }
}

/// Bounds in ulp would let `cos(0)` be less than 1, which programs do not expect.
#[test]
fn round_numbers_give_round_numbers() {
    fn check<F: Function>(name: &str, function: F, x: f64, y: f64, expected: f64) {
        for level in Level::ALL {
            let double = results(level, function, &[x], &[y], false).map(|values| values[0]);
            let single = results(level, function, &[x as f32], &[y as f32], false).map(|values| f64::from(values[0]));
            for got in [double, single].into_iter().flatten() {
                assert_eq!(got.to_bits(), expected.to_bits(), "{name}({x}, {y}) at {level:?} is {got}");
            }
        }
    }
    check("exp", named::exp, 0.0, 0.0, 1.0);
    check("exp2", named::exp2, 5.0, 0.0, 32.0);
    check("log", named::log, 1.0, 0.0, 0.0);
    check("log2", named::log2, 8.0, 0.0, 3.0);
    check("tanh", named::tanh, -0.0, 0.0, -0.0);
    check("sigmoid", named::sigmoid, 0.0, 0.0, 0.5);
    check("erf", named::erf, 0.0, 0.0, 0.0);
    check("erfc", named::erfc, 0.0, 0.0, 1.0);
    check("sin", named::sin, -0.0, 0.0, -0.0);
    check("cos", named::cos, 0.0, 0.0, 1.0);
    check("cos", named::cos, 1e-9, 0.0, 1.0);
    check("pow", named::pow, 2.0, 10.0, 1024.0);
    check("pow", named::pow, 3.0, 1.0, 3.0);
}

/// The table of errors. `RUSHLIGHT_MATH_STEP` is the distance of the patterns of `f32` (1: all), `RUSHLIGHT_MATH_REFERENCE` a
/// file of more values in `f64`.
#[test]
#[ignore = "measures; checks nothing"]
fn table_of_errors() {
    fn check(name: &str, function: impl Function, _: f64, _: f64, reference: impl Fn(f64, f64) -> f64) {
        let step = std::env::var("RUSHLIGHT_MATH_STEP").ok().and_then(|step| step.parse().ok()).unwrap_or(1009);
        let file = std::env::var("RUSHLIGHT_MATH_REFERENCE").ok().and_then(|path| std::fs::read_to_string(path).ok());
        let double = file.map_or_else(|| REFERENCE.clone(), |text| parse(&text));
        let mut line = format!("{name:8}");
        for (level, error, x, y) in worst_f32(function, reference, step).into_iter().filter(|row| row.0.is_available())
        {
            line += &format!(" {} {error:.3} ({x:e}, {y:e})", level.name());
        }
        line += " | f64";
        for (level, error, x, y) in worst_f64(function, &double[name]) {
            line += &format!(" {} {error:.3} ({x:e}, {y:e})", level.name());
        }
        let _ = writeln!(std::io::stderr(), "{line}");
    }
    for_each_function!(check);
}
