//! Functions related to the gamma function: its logarithm, the derivatives of that, the Hurwitz zeta function, and the
//! incomplete gamma functions.
//!
//! Formulas: Abramowitz and Stegun, chapter 6, and 23.1 and 23.2 for Bernoulli numbers and the Euler-Maclaurin sum.

use super::coefficients::{BERNOULLI, LGAMMA};
use super::float::{Float, polynomial};
use crate::math;
use crate::simd::{FloatVector, Mask};
use std::f64::consts::PI;
use std::ops::{Add, Div, Mul, Sub};

/// From here on, asymptotic series hold to the last digit.
const FAR: f64 = 10.0;

const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;

/// ln |Gamma(x)|
#[inline(always)]
pub(super) fn lgamma<V: FloatVector>(x: V) -> V {
    let [zero, one] = [0.0, 1.0].map(V::from_f64);
    let infinity = V::from_f64(f64::INFINITY);
    let minus = x.le(zero);
    // Up to -1/2 the reflection formula; from there to 0, Gamma(x) = Gamma(x + 1)/x.
    let near_zero = minus & x.gt(V::from_f64(-0.5));
    let mut value = lgamma_of_positive(V::select(minus, V::select(near_zero, x + one, -x), x));
    if minus.any() {
        let sine = math::sin(turned(x.abs()) * V::from_f64(PI)).abs();
        let log = math::log(V::select(near_zero, x.abs(), V::from_f64(PI) / (sine * x.abs())));
        let reflected = V::select(near_zero, value - log, log - value);
        value = V::select(minus, V::select(x.eq(x.floor()), infinity, reflected), value);
    }
    value = V::select(x.abs().eq(infinity), infinity, value);
    V::select(x.is_nan(), x, value)
}

/// The remainder of x >= 0 modulo 2, exactly, in [-1, 1].
#[inline(always)]
fn turned<V: FloatVector>(x: V) -> V {
    let (one, two) = (V::from_f64(1.0), V::from_f64(2.0));
    let rest = x - (x / two).floor() * two;
    V::select(rest.gt(one), rest - two, rest)
}

/// ln Gamma(x), for x > 0
#[inline(always)]
fn lgamma_of_positive<V: FloatVector>(x: V) -> V {
    let [zero, half, one, two, three] = [0.0, 0.5, 1.0, 2.0, 3.0].map(V::from_f64);
    let below = x.lt(one);
    let from_one = V::select(below, x + one, x);
    let far = from_one.ge(V::from_f64(FAR));
    // Down to [1, 3], where the zeros at 1 and 2 are known.
    let (mut y, mut product) = (from_one, one);
    for _ in 0..FAR as usize - 3 {
        let above = y.gt(three) & !far;
        if !above.any() {
            break;
        }
        y = V::select(above, y - one, y);
        product = V::select(above, product * y, product);
    }
    let log = math::log(V::select(far, from_one, product));
    // Plus zero: the zeros are positive ones, as in PyTorch.
    let near = (y - one) * (y - two) * LGAMMA.of(y - two) + zero + log;
    let mut value = near;
    if far.any() {
        let distant = (from_one - half) * log - from_one + V::from_f64(HALF_LOG_TAU) + stirling(from_one);
        value = V::select(far, distant, value);
    }
    if below.any() {
        value = V::select(below, value - math::log(x), value);
    }
    value
}

/// The error of Stirling's formula for ln Gamma(x), for x >= 10.
#[inline(always)]
pub(super) fn stirling<V: FloatVector>(x: V) -> V {
    let square = V::from_f64(1.0) / (x * x);
    let mut sum = V::from_f64(0.0);
    for (n, bernoulli) in BERNOULLI.iter().enumerate().take(8).rev() {
        let twice = 2.0 * (n + 1) as f64;
        sum = sum.mul_add(square, V::from_f64(bernoulli / (twice * (twice - 1.0))));
    }
    sum / x
}

/// The derivative of ln Gamma
pub(super) fn digamma<T: Float>(x: T) -> T {
    let (zero, one) = (T::of(0.0), T::of(1.0));
    if x == zero {
        return if x.is_minus() { T::INFINITY } else { -T::INFINITY };
    }
    if x.is_nan() || x == -T::INFINITY {
        return T::NAN;
    }
    if x == T::INFINITY {
        return x;
    }
    if x < zero {
        if x == x.floor() {
            return T::NAN;
        }
        return digamma_of_positive(one - x) - T::of(PI) / (x.turned() * T::of(PI)).tan();
    }
    digamma_of_positive(x)
}

/// The derivative of ln Gamma, for x > 0
fn digamma_of_positive<T: Float>(x: T) -> T {
    let one = T::of(1.0);
    let (mut x, mut sum) = (x, T::of(0.0));
    while x < T::of(FAR) {
        sum = sum + one / x;
        x = x + one;
    }
    let terms: [f64; 8] = std::array::from_fn(|n| BERNOULLI[n] / (2.0 * (n + 1) as f64));
    let square = one / (x * x);
    x.ln() - T::of(0.5) / x - square * polynomial(square, &terms) - sum
}

/// The second derivative of ln Gamma
fn trigamma<T: Float>(x: T) -> T {
    let one = T::of(1.0);
    if x < T::of(0.5) {
        // Near a pole the last digits of pi x count; they are rounded as PyTorch rounds them.
        let sine = (x * T::of(PI)).sin();
        return T::of(PI * PI) / (sine * sine) - trigamma_of_positive(one - x);
    }
    trigamma_of_positive(x)
}

/// The second derivative of ln Gamma, for x >= 1/2
fn trigamma_of_positive<T: Float>(x: T) -> T {
    let one = T::of(1.0);
    let (mut x, mut sum) = (x, T::of(0.0));
    while x < T::of(FAR) {
        sum = sum + one / (x * x);
        x = x + one;
    }
    let square = one / (x * x);
    sum + one / x + square * T::of(0.5) + square / x * polynomial(square, &BERNOULLI[..8])
}

/// The n-th derivative of digamma
pub(super) fn polygamma<T: Float>(n: i64, x: T) -> T {
    match n {
        0 => digamma(x),
        1 => trigamma(x),
        _ => {
            // More is infinity in every dtype.
            let factorial = (2..=n.min(171)).fold(T::of(1.0), |product, i| product * T::of(i as f64));
            let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
            T::of(sign) * factorial * zeta(T::of(n as f64 + 1.0), x)
        }
    }
}

/// The sum of (q + k)^-x over k >= 0: the first terms one by one, the rest by Euler and Maclaurin
pub(super) fn zeta<T: Float>(x: T, q: T) -> T {
    let (zero, one) = (T::of(0.0), T::of(1.0));
    if x == one {
        return T::INFINITY;
    }
    if x < one || q.is_nan() {
        return T::NAN;
    }
    if q <= zero && q == q.floor() {
        return T::INFINITY;
    }
    if x.is_nan() {
        return T::NAN;
    }
    if q <= zero {
        // Each integer up to zero is a separate term: beyond a million the sum is not computed.
        if x != x.floor() || q < T::of(-1e6) {
            return T::NAN;
        }
    }
    let (mut sum, mut a) = (q.powf(-x), q);
    if sum == zero && (x == T::INFINITY || q == T::INFINITY) {
        // As in PyTorch: its formula multiplies the terms by infinity.
        return T::NAN;
    }
    let mut power = sum;
    let mut count = 0;
    while count < 9 || a <= T::of(9.0) {
        count += 1;
        a = a + one;
        power = a.powf(-x);
        sum = sum + power;
        // Terms that underflow are followed by smaller ones.
        if (power / sum).abs() < T::EPSILON || power == zero && a > zero {
            return sum;
        }
    }
    sum = sum + power * a / (x - one) - power * T::of(0.5);
    // B_2n / (2n)! x (x + 1) ... a^(-x - 2n + 1)
    let (mut factor, mut factorial, mut k) = (one, 1.0, zero);
    for (n, bernoulli) in BERNOULLI.iter().enumerate() {
        factor = factor * (x + k);
        power = power / a;
        factorial *= (2 * n + 1) as f64 * (2 * n + 2) as f64;
        let term = factor * power * T::of(bernoulli / factorial);
        sum = sum + term;
        if (term / sum).abs() < T::EPSILON {
            return sum;
        }
        k = k + one;
        factor = factor * (x + k);
        power = power / a;
        k = k + one;
    }
    sum
}

/// x^a e^-x / Gamma(a)
fn density<T: Float>(a: T, x: T) -> T {
    if a < T::of(FAR) {
        return (a * x.ln() - x - a.lgamma()).exp();
    }
    // The large terms cancel on paper, by Stirling's formula, instead of in the digits.
    let off = (x - a) / a;
    let distance = if off.abs() < T::of(0.5) { off - off.ln_1p() } else { off - (x / a).ln() };
    (a / T::of(2.0 * PI)).sqrt() * (-(a * distance) - a.stirling()).exp()
}

/// What the series and the continued fraction are made of: a float, or one with its derivative with respect to `a`.
pub(super) trait Term:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn constant(value: f64) -> Self;
    /// Whether adding it to `sum` changes nothing.
    fn vanishes_in(self, sum: Self) -> bool;
    /// Whether multiplying by it changes nothing, or NaN was reached.
    fn is_settled(self) -> bool;
    /// A number that can be divided by: itself, or one close to zero.
    fn away_from_zero(self) -> Self;
}

impl<T: Float> Term for T {
    fn constant(value: f64) -> T {
        T::of(value)
    }
    fn vanishes_in(self, sum: T) -> bool {
        // Not the opposite of `>`: NaN vanishes as well.
        let counts = self > sum * T::EPSILON;
        !counts
    }
    fn is_settled(self) -> bool {
        (self - T::of(1.0)).abs() <= T::EPSILON + T::EPSILON || self.is_nan()
    }
    fn away_from_zero(self) -> T {
        let least = T::EPSILON * T::EPSILON * T::of(1e-6);
        if self.abs() < least { least } else { self }
    }
}

/// The part of Gamma(a) below x, divided by `x^a e^-x / a`: a power series
pub(super) fn lower_series<N: Term>(a: N, x: N) -> N {
    let one = N::constant(1.0);
    let (mut sum, mut term, mut at, mut terms) = (one, one, a, 0);
    // The number of terms for a shape of 10^10, which bounds the time of any call.
    while !term.vanishes_in(sum) && terms < 1_000_000 {
        terms += 1;
        at = at + one;
        term = term * x / at;
        sum = sum + term;
    }
    sum
}

/// The part of Gamma(a) above x, divided by `x^a e^-x`: a continued fraction (Lentz's method)
pub(super) fn upper_fraction<N: Term>(a: N, x: N) -> N {
    let (one, two) = (N::constant(1.0), N::constant(2.0));
    let mut b = x + one - a;
    let mut c = one / N::constant(0.0).away_from_zero();
    let mut d = one / b.away_from_zero();
    let mut fraction = d;
    let (mut n, mut steps) = (one, 1);
    loop {
        let numerator = n * (a - n);
        b = b + two;
        d = one / (numerator * d + b).away_from_zero();
        c = (b + numerator / c).away_from_zero();
        let change = d * c;
        fraction = fraction * change;
        if change.is_settled() || steps > 1_000_000 {
            return fraction;
        }
        (n, steps) = (n + one, steps + 1);
    }
}

/// The regularized lower (`upper` false) or upper incomplete gamma function
fn incomplete<T: Float>(a: T, x: T, upper: bool) -> T {
    let (zero, one) = (T::of(0.0), T::of(1.0));
    let whole = |below: bool| if below == upper { zero } else { one };
    if a.is_nan() || x.is_nan() || a < zero || x < zero {
        return T::NAN;
    }
    if a == zero {
        return if x > zero { whole(true) } else { T::NAN };
    }
    if x == zero {
        return whole(false);
    }
    if a == T::INFINITY {
        return if x == T::INFINITY { T::NAN } else { whole(false) };
    }
    if x == T::INFINITY {
        return whole(true);
    }
    if x < a + one {
        let lower = lower_series(a, x) * density(a, x) / a;
        if upper { one - lower } else { lower }
    } else {
        let rest = upper_fraction(a, x) * density(a, x);
        if upper { rest } else { one - rest }
    }
}

/// The regularized lower incomplete gamma function
pub(super) fn igamma<T: Float>(a: T, x: T) -> T {
    incomplete(a, x, false)
}

/// The regularized upper incomplete gamma function
pub(super) fn igammac<T: Float>(a: T, x: T) -> T {
    incomplete(a, x, true)
}
