//! Orthogonal polynomials, by their recurrences (Abramowitz and Stegun, 22.7); those of Chebyshev within (-1, 1) from
//! degree 7 on by angles, which costs the same for every degree. The degree is truncated to an integer; below 0 the
//! result is 0.

use super::float::Float;

/// The highest degree that is computed, which bounds the time of a call.
const HIGHEST: i64 = 1 << 24;

/// `p[k + 1] = step(k, p[k], p[k - 1])` from degrees 0 and 1 up to `n`; NaN beyond the highest degree.
fn climb<T: Float>(n: i64, first: T, step: impl Fn(i64, T, T) -> T) -> T {
    if n > HIGHEST {
        return T::NAN;
    }
    let (mut before, mut value) = (T::of(1.0), first);
    for k in 1..n {
        // NaN is preserved.
        if value.is_nan() {
            break;
        }
        (before, value) = (value, step(k, value, before));
    }
    value
}

/// The value at an end of the interval: `right` at 1; at -1 `left`, negated for an odd degree.
fn alternating<T: Float>(x: T, n: i64, right: T, left: T) -> T {
    if x > T::of(0.0) {
        right
    } else if n % 2 == 0 {
        left
    } else {
        -left
    }
}

/// The four kinds of Chebyshev polynomials differ in their first polynomial, in their values at the ends of the
/// interval (as a multiple of 2 n + 1, n + 1, 1), and in the angle formula.
struct Kind<T> {
    first: T,
    right: T,
    left: T,
}

fn chebyshev<T: Float>(x: T, n: T, kind: impl Fn(i64) -> Kind<T>, by_angle: impl Fn(T, T) -> T) -> T {
    let (degree, one) = (n.whole(), T::of(1.0));
    if degree < 0 {
        return T::of(0.0);
    }
    let kind = kind(degree);
    if x.abs() == one {
        return alternating(x, degree, kind.right, kind.left);
    }
    if degree > 6 && x.abs() < one {
        return by_angle(x.acos(), T::of(degree as f64));
    }
    match degree {
        0 => one,
        1 => kind.first,
        _ => climb(degree, kind.first, |_, value, before| (x + x) * value - before),
    }
}

/// T_n(x) = cos(n arccos x)
pub(super) fn chebyshev_t<T: Float>(x: T, n: T) -> T {
    let one = T::of(1.0);
    chebyshev(x, n, |_| Kind { first: x, right: one, left: one }, |angle, n| (n * angle).cos())
}

/// U_n(x) = sin((n + 1) arccos x) / sin(arccos x)
pub(super) fn chebyshev_u<T: Float>(x: T, n: T) -> T {
    let one = T::of(1.0);
    let end = |n: i64| T::of(n as f64 + 1.0);
    chebyshev(
        x,
        n,
        |n| Kind { first: x + x, right: end(n), left: end(n) },
        |angle, n| ((n + one) * angle).sin() / angle.sin(),
    )
}

/// V_n(x) = cos((n + 1/2) arccos x) / cos(arccos x / 2)
pub(super) fn chebyshev_v<T: Float>(x: T, n: T) -> T {
    let (one, half) = (T::of(1.0), T::of(0.5));
    chebyshev(
        x,
        n,
        |n| Kind { first: x + x - one, right: one, left: T::of(2.0 * n as f64 + 1.0) },
        |angle, n| ((n + half) * angle).cos() / (angle * half).cos(),
    )
}

/// W_n(x) = sin((n + 1/2) arccos x) / sin(arccos x / 2)
pub(super) fn chebyshev_w<T: Float>(x: T, n: T) -> T {
    let (one, half) = (T::of(1.0), T::of(0.5));
    chebyshev(
        x,
        n,
        |n| Kind { first: x + x + one, right: T::of(2.0 * n as f64 + 1.0), left: one },
        |angle, n| ((n + half) * angle).sin() / (angle * half).sin(),
    )
}

/// The interval [0, 1] brought to [-1, 1].
fn shifted<T: Float>(x: T) -> T {
    x + x - T::of(1.0)
}

/// T_n(2 x - 1)
pub(super) fn shifted_chebyshev_t<T: Float>(x: T, n: T) -> T {
    chebyshev_t(shifted(x), n)
}

/// U_n(2 x - 1)
pub(super) fn shifted_chebyshev_u<T: Float>(x: T, n: T) -> T {
    chebyshev_u(shifted(x), n)
}

/// V_n(2 x - 1)
pub(super) fn shifted_chebyshev_v<T: Float>(x: T, n: T) -> T {
    chebyshev_v(shifted(x), n)
}

/// W_n(2 x - 1)
pub(super) fn shifted_chebyshev_w<T: Float>(x: T, n: T) -> T {
    chebyshev_w(shifted(x), n)
}

/// A family without special cases: its first polynomial and its recurrence.
fn recurrent<T: Float>(n: T, first: T, step: impl Fn(T, T, T) -> T) -> T {
    match n.whole() {
        ..0 => T::of(0.0),
        0 => T::of(1.0),
        degree => climb(degree, first, |k, value, before| step(T::of(k as f64), value, before)),
    }
}

/// Degrees from which a Hermite polynomial leaves the range of the type.
fn too_high<T: Float>(n: T) -> bool {
    n.whole() > if T::SINGLE { 128 } else { 512 }
}

/// The physicists' Hermite polynomial
pub(super) fn hermite_h<T: Float>(x: T, n: T) -> T {
    if too_high(n) {
        return T::NAN;
    }
    let two = T::of(2.0);
    recurrent(n, x + x, |k, value, before| (x + x).mul_add(value, -(two * k * before)))
}

/// The probabilists' Hermite polynomial
pub(super) fn hermite_he<T: Float>(x: T, n: T) -> T {
    if too_high(n) {
        return T::NAN;
    }
    recurrent(n, x, |k, value, before| x.mul_add(value, -(k * before)))
}

/// Laguerre's polynomial
pub(super) fn laguerre<T: Float>(x: T, n: T) -> T {
    let one = T::of(1.0);
    if x == T::of(0.0) && n.whole() >= 0 {
        return one;
    }
    recurrent(n, one - x, |k, value, before| ((k + k + one - x) * value - k * before) / (k + one))
}

/// Legendre's polynomial
pub(super) fn legendre<T: Float>(x: T, n: T) -> T {
    let one = T::of(1.0);
    if x.abs() == one && n.whole() >= 0 {
        return alternating(x, n.whole(), one, one);
    }
    recurrent(n, x, |k, value, before| ((k + k + one) * x * value - k * before) / (k + one))
}
