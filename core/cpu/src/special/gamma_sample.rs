//! The derivative of a sample of a gamma distribution with respect to its concentration, at a fixed quantile (implicit
//! reparameterization): `dx/da = -(dP(a, x)/da) / p(a, x)`, with the CDF `P` and the density `p`.
//!
//! Three formulas, none of which subtracts numbers that are close to each other. Abramowitz and Stegun, 6.5.29 and 6.5.31, for the
//! series and the continued fraction; Temme, "Asymptotic inversion of incomplete gamma functions", Math. Comp. 58 (1992), for
//! large concentrations. The tests compare with derivatives of 60 digits.

use super::float::Float;
use super::gamma::digamma;
use std::ops::{Add, Mul};

/// From this concentration on, the asymptotic formula is right to 1e-11: its error is 0.02 / a^2.
const LARGE: f64 = 1e5;

/// Computed in `f64` for every dtype.
pub(super) fn derivative<T: Float>(concentration: T, sample: T) -> T {
    T::of(of_double(concentration.into(), sample.into()))
}

fn of_double(a: f64, x: f64) -> f64 {
    if !(a > 0.0 && x >= 0.0) {
        return f64::NAN;
    }
    match () {
        _ if x == 0.0 => 0.0,
        _ if a >= LARGE => asymptotic(a, x),
        _ if x < a + 1.0 => series(a, x),
        _ => fraction(a, x),
    }
}

/// Below the mean: `P(a, x) = x^a e^-x / Gamma(a + 1) * S`, `S` the sum of `x^n / ((a + 1) ... (a + n))`. Both terms of the
/// derivative are negative.
fn series(a: f64, x: f64) -> f64 {
    let (mut sum, mut slope) = (1.0, 0.0);
    let (mut term, mut harmonic, mut at) = (1.0, 0.0, a);
    while term > sum * f64::EPSILON {
        at += 1.0;
        term *= x / at;
        harmonic += 1.0 / at;
        sum += term;
        slope -= term * harmonic;
    }
    -(x / a) * (sum * (Float::ln(x) - digamma(a + 1.0)) + slope)
}

/// Above the mean: `1 - P(a, x) = x^a e^-x / Gamma(a) * I`, `I` the integral of `e^(-x u) (1 + u)^(a - 1)` over `u > 0`, whose
/// continued fraction is evaluated with its derivative (Lentz's method). Both terms of the derivative are positive.
fn fraction(a: f64, x: f64) -> f64 {
    const LEAST: f64 = 1e-38;
    let away = |dual: Dual| if Float::abs(dual.value) < LEAST { Dual { value: LEAST, slope: 0.0 } } else { dual };
    let mut b = Dual { value: x + 1.0 - a, slope: -1.0 };
    let mut c = Dual { value: 1.0 / LEAST, slope: 0.0 };
    let mut d = away(b).inverse();
    let mut integral = d;
    let mut n = 1.0;
    loop {
        let numerator = Dual { value: n * (a - n), slope: n };
        b.value += 2.0;
        d = away(numerator * d + b).inverse();
        c = away(b + numerator * c.inverse());
        let change = d * c;
        integral = integral * change;
        let settled =
            Float::abs(change.value - 1.0) <= 2.0 * f64::EPSILON && Float::abs(change.slope) <= 2.0 * f64::EPSILON;
        // The bound is far above the 400 steps at the largest concentration.
        if settled || n > 1e5 || integral.slope.is_nan() {
            return x * (integral.value * (Float::ln(x) - digamma(a)) + integral.slope);
        }
        n += 1.0;
    }
}

/// For large concentrations `P(a, x)` is the CDF of a normal distribution at `sqrt(a) (eta - e(eta) / a)`, where
/// `eta^2 / 2 = l - 1 - ln l` and `l = x / a`. `x` is differentiated at a fixed argument of that CDF.
fn asymptotic(a: f64, x: f64) -> f64 {
    let (ratio, off) = (x / a, (x - a) / a);
    let eta = if Float::abs(off) < 0.1 {
        // (off - ln(1 + off)) / off^2
        let square = (0..16).rev().fold(0.0, |sum, n| 1.0 / f64::from(n + 2) - off * sum);
        off * Float::sqrt(2.0 * square)
    } else {
        let distance = Float::sqrt(2.0 * (off - Float::ln(ratio)));
        if off < 0.0 { -distance } else { distance }
    };
    // e, its derivative, and that of l.
    let (shift, slope, rise) = if Float::abs(eta) < 0.01 {
        let polynomial = |terms: [f64; 4]| terms.iter().rev().fold(0.0, |sum, term| sum * eta + term);
        (
            polynomial([-1.0 / 3.0, 1.0 / 36.0, 1.0 / 1620.0, -7.0 / 6480.0]),
            polynomial([1.0 / 36.0, 1.0 / 810.0, -7.0 / 2160.0, 0.0]),
            polynomial([1.0, 2.0 / 3.0, 1.0 / 12.0, -2.0 / 135.0]),
        )
    } else {
        let log = Float::ln(eta / off);
        let rise = eta * ratio / off;
        (log / eta, (1.0 / eta - rise / off) / eta - log / (eta * eta), rise)
    };
    let normal = eta - shift / a;
    ratio - rise * (normal / 2.0 * (1.0 + slope / a) + shift / a)
}

/// A number and its derivative with respect to the concentration.
#[derive(Clone, Copy)]
struct Dual {
    value: f64,
    slope: f64,
}

impl Dual {
    fn inverse(self) -> Dual {
        let value = 1.0 / self.value;
        Dual { value, slope: -self.slope * value * value }
    }
}

impl Add for Dual {
    type Output = Dual;
    fn add(self, other: Dual) -> Dual {
        Dual { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, other: Dual) -> Dual {
        Dual { value: self.value * other.value, slope: self.value * other.slope + self.slope * other.value }
    }
}
