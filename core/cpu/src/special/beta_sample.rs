//! The derivative of a sample of a Dirichlet distribution with respect to its concentration: each component has a beta
//! distribution, and is differentiated at a fixed quantile (implicit reparameterization).
//!
//! The CDF is `x^a (1 - x)^b / (a B(a, b))` times a continued fraction (Abramowitz and Stegun, 26.5.8), which is evaluated with
//! its derivative by `a`; above the mean `1 - x` takes the place of `x`, where the fraction converges too. The tests compare with
//! derivatives of 40 digits.

use super::float::Float;
use super::gamma::{Term, digamma};
use super::gamma_sample::Dual;

/// The derivative of the component by its concentration, divided by `1 - x`. Computed in `f64` for every dtype.
pub(super) fn derivative<T: Float>(sample: T, concentration: T, total: T) -> T {
    T::of(of_double(sample.into(), concentration.into(), total.into()))
}

fn of_double(x: f64, a: f64, total: f64) -> f64 {
    let b = total - a;
    if !(a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&x)) {
        return f64::NAN;
    }
    if x == 0.0 {
        return 0.0;
    }
    let (concentration, rest) = (Dual { value: a, slope: 1.0 }, Dual { value: b, slope: 0.0 });
    if x < (a + 1.0) / (total + 2.0) {
        let sum = fraction(concentration, rest, x);
        let slope = Float::ln(x) + digamma(total) - digamma(a + 1.0);
        -(x / a) * (sum.value * slope + sum.slope)
    } else {
        let sum = fraction(rest, concentration, 1.0 - x);
        let slope = Float::ln(x) + digamma(total) - digamma(a);
        (x / b) * (sum.value * slope + sum.slope)
    }
}

/// The continued fraction of the CDF by Lentz's method, and its derivative.
fn fraction(a: Dual, b: Dual, x: f64) -> Dual {
    let (one, x) = (Dual::constant(1.0), Dual::constant(x));
    let mut c = one;
    let mut d = one / (one - x * (a + b) / (a + one)).away_from_zero();
    let mut product = d;
    let (mut n, mut steps) = (one, 1);
    loop {
        let at = a + n + n;
        let even = n * x * (b - n) / ((at - one) * at);
        d = one / (one + even * d).away_from_zero();
        c = (one + even / c).away_from_zero();
        product = product * c * d;
        let odd = Dual::constant(0.0) - (a + n) * (a + b + n) * x / (at * (at + one));
        d = one / (one + odd * d).away_from_zero();
        c = (one + odd / c).away_from_zero();
        let change = c * d;
        product = product * change;
        // The bound is far above the steps that a concentration of 1e8 takes.
        if change.is_settled() || steps > 1_000_000 {
            return product;
        }
        (n, steps) = (n + one, steps + 1);
    }
}
