//! Losses that compare each element with its target, and their gradients, of floats: in vectors, halves in `f32`.
//!
//! Forward operands are (out, a, target), those of a gradient (out, grad, a, target). A `factor` carries what a mean
//! divides by.

use crate::math;
use crate::pointwise::{HEAVY, LIGHT, float_kernels};

/// A number in all lanes.
macro_rules! constant {
    ($value:expr) => {
        V::from_f64($value)
    };
}

float_kernels! {
    /// out = (a - target)^2
    squared<3>("mse_cpu", LIGHT): |x, target| {
        let away = x - target;
        away * away
    };
    /// out = 2 (a - target) grad factor
    squared_backward<4>("mse_backward_cpu_out", LIGHT, factor): |grad, x, target| {
        (x - target) * grad * (factor + factor)
    };
    /// out = d^2 / (2 beta) where d = |a - target| < beta, else d - beta / 2
    smooth_l1<3>("smooth_l1_cpu", LIGHT, beta): |x, target| {
        let (away, half) = ((x - target).abs(), constant!(0.5));
        V::select(away.lt(beta), half * away * away / beta, away - half * beta)
    };
    /// out = the slope of `smooth_l1` times grad factor
    smooth_l1_backward<4>("smooth_l1_backward_cpu_out", LIGHT, beta, factor): |grad, x, target| {
        let away = x - target;
        let share = grad * factor;
        let near = share * away / beta;
        V::select(away.le(-beta), -share, V::select(beta.le(away), share, near))
    };
    /// out = d^2 / 2 where d = |a - target| <= delta, else delta (d - delta / 2)
    huber<3>("huber_cpu", LIGHT, delta): |x, target| {
        let (away, half) = ((x - target).abs(), constant!(0.5));
        V::select(away.le(delta), half * away * away, delta * (away - half * delta))
    };
    /// out = the slope of `huber` times grad factor
    huber_backward<4>("huber_backward_cpu_out", LIGHT, delta, factor): |grad, x, target| {
        let away = x - target;
        let share = grad * factor;
        let far = share * delta;
        V::select(away.le(-delta), -far, V::select(delta.le(away), far, share * away))
    };
    /// out = -(target ln a + (1 - target) ln(1 - a)), logarithms not below -100
    cross_entropy<3>("binary_cross_entropy", HEAVY): |x, target| {
        let (one, least) = (constant!(1.0), constant!(-100.0));
        let (yes, no) = (math::log(x).max(least), math::log1p(-x).max(least));
        (target - one) * no - target * yes
    };
    /// out = grad (a - target) / max(a (1 - a), 1e-12)
    cross_entropy_backward<4>("binary_cross_entropy_backward", LIGHT, factor): |grad, x, target| {
        grad * factor * (x - target) / (x * (constant!(1.0) - x)).max(constant!(1e-12))
    };
}
