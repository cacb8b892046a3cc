//! The derivative of a sample of a gamma distribution with respect to its concentration, at a fixed quantile (implicit
//! reparameterization): `dx/da = -(dP(a, x)/da) / p(a, x)`, with the CDF `P` and the density `p`.
//!
//! Three formulas, none of which subtracts numbers that are close to each other: the series and the continued fraction of
//! `gamma.rs` with their derivatives (Abramowitz and Stegun, 6.5.29 and 6.5.31), and for large concentrations Temme,
//! "Asymptotic inversion of incomplete gamma functions", Math. Comp. 58 (1992). The tests compare with 80 digits.

use super::float::Float;
use super::gamma::{Term, digamma, lower_series, upper_fraction};
use std::ops::{Add, Div, Mul, Sub};

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
    let (concentration, sample) = (Dual { value: a, slope: 1.0 }, Dual { value: x, slope: 0.0 });
    if x == 0.0 {
        0.0
    } else if a >= LARGE {
        asymptotic(a, x)
    } else if x < a + 1.0 {
        // P(a, x) = x^a e^-x / Gamma(a + 1) * sum. Both terms of the derivative are negative.
        let sum = lower_series(concentration, sample);
        -(x / a) * (sum.value * (Float::ln(x) - digamma(a + 1.0)) + sum.slope)
    } else {
        // 1 - P(a, x) = x^a e^-x / Gamma(a) * rest. Both terms of the derivative are positive.
        let rest = upper_fraction(concentration, sample);
        x * (rest.value * (Float::ln(x) - digamma(a)) + rest.slope)
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
pub(super) struct Dual {
    pub value: f64,
    pub slope: f64,
}

impl Term for Dual {
    fn constant(value: f64) -> Dual {
        Dual { value, slope: 0.0 }
    }
    fn vanishes_in(self, sum: Dual) -> bool {
        self.value.vanishes_in(sum.value)
    }
    fn is_settled(self) -> bool {
        let settled = self.value.is_settled() && Float::abs(self.slope) <= 2.0 * f64::EPSILON;
        settled || self.value.is_nan() || self.slope.is_nan()
    }
    fn away_from_zero(self) -> Dual {
        let value = self.value.away_from_zero();
        if value == self.value { self } else { Dual::constant(value) }
    }
}

impl Add for Dual {
    type Output = Dual;
    fn add(self, other: Dual) -> Dual {
        Dual { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Sub for Dual {
    type Output = Dual;
    fn sub(self, other: Dual) -> Dual {
        Dual { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, other: Dual) -> Dual {
        Dual { value: self.value * other.value, slope: self.value * other.slope + self.slope * other.value }
    }
}

impl Div for Dual {
    type Output = Dual;
    fn div(self, other: Dual) -> Dual {
        let value = self.value / other.value;
        Dual { value, slope: (self.slope - value * other.slope) / other.value }
    }
}
