//! Losses that compare each element with its target, and their gradients, for floating-point tensors: vectorized, half
//! precision in `f32`. Two of the gradients take integers as well, as in PyTorch.
//!
//! Forward operands are (out, a, target), those of a gradient (out, grad, a, target). A `factor` includes the divisor
//! of a mean.

use crate::cast::{Source, Target};
#[cfg(target_arch = "nvptx64")]
use crate::floats::Functions;
use crate::math;
use crate::number::{Analytic, Wide};
use crate::pointwise::{HEAVY, LIGHT, Loop, float_kernels};
use rushlight_base::Result;

/// A number in all lanes.
macro_rules! constant {
    ($value:expr) => {
        V::from_f64($value)
    };
}

float_kernels! { "deviation";
    /// out = (a - target)^2 of floats
    squared_of_floats<3>("mse_cpu", LIGHT): |x, target| {
        let away = x - target;
        away * away
    };
    /// out = 2 (a - target) grad factor of floats
    squared_backward_of_floats<4>("mse_backward_cpu_out", LIGHT, factor): |grad, x, target| {
        (x - target) * grad * (factor + factor)
    };
    /// out = d^2 / (2 beta) where d = |a - target| < beta, else d - beta / 2
    smooth_l1<3>("smooth_l1_cpu", LIGHT, beta): |x, target| {
        let (away, half) = ((x - target).abs(), constant!(0.5));
        V::select(away.lt(beta), half * away * away / beta, away - half * beta)
    };
    /// out = the slope of `smooth_l1` times grad factor, of floats
    smooth_l1_backward_of_floats<4>("smooth_l1_backward_cpu_out", LIGHT, beta, factor): |grad, x, target| {
        let away = x - target;
        let share = grad * factor;
        let near = share * away / beta;
        V::select(away.le(-beta), -share, V::select(beta.le(away), share, near))
    };
    /// out = d^2 / 2 where d = |a - target| <= delta, else delta (d - delta / 2), of floats
    huber_of_floats<3>("huber_cpu", LIGHT, delta): |x, target| {
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
    /// out = -(target ln a + (1 - target) ln(1 - a)) of floats, logarithms not below -100
    cross_entropy_of_floats<3>("binary_cross_entropy", HEAVY): |x, target| {
        let (one, least) = (constant!(1.0), constant!(-100.0));
        let (yes, no) = (math::log(x).max(least), math::log1p(-x).max(least));
        (target - one) * no - target * yes
    };
    /// out = grad (a - target) / max(a (1 - a), 1e-12)
    cross_entropy_backward<4>("binary_cross_entropy_backward", LIGHT, factor): |grad, x, target| {
        grad * factor * (x - target) / (x * (constant!(1.0) - x)).max(constant!(1e-12))
    };
}

kernels! { "deviation";
    /// out = -(target ln a + (1 - target) ln(1 - a)), logarithms not below -100
    pub fn cross_entropy(walk: &Loop<3>) -> Result<()> {
        if walk.common().is_half() {
            return stepwise!(walk.common(), "binary_cross_entropy", T => walk.map::<T, T, T>(HEAVY, |x, target| {
                let (yes, no) = (x.of(|x| x.ln().max(-100.0)), x.of(|x| (-x).ln_1p().max(-100.0)));
                target.sub(T::ONE).mul(no).sub(target.mul(yes))
            }));
        }
        cross_entropy_of_floats(walk)
    }

    /// out = (a - target)^2
    pub fn squared(walk: &Loop<3>) -> Result<()> {
        if walk.common().is_half() {
            return stepwise!(walk.common(), "mse_cpu", T => walk.map::<T, T, T>(LIGHT, |x, target| {
                let away = x.sub(target);
                away.mul(away)
            }));
        }
        squared_of_floats(walk)
    }

    /// out = d^2 / 2 where d = |a - target| <= delta, else delta (d - delta / 2)
    pub fn huber(walk: &Loop<3>, delta: f64) -> Result<()> {
        if walk.common().is_half() {
            return stepwise!(walk.common(), "huber_cpu", T => {
                let (delta, half) = (T::from_f64(delta), T::from_f64(0.5));
                walk.map::<T, T, T>(LIGHT, move |x, target| {
                    let away = x.sub(target).of(f32::abs);
                    if away <= delta { half.mul(away).mul(away) } else { delta.mul(away.sub(half.mul(delta))) }
                })
            });
        }
        huber_of_floats(walk, delta)
    }

    /// out = 2 (a - target) grad factor
    ///
    /// For integers the factor is truncated: that of a mean of more than two elements is 0.
    pub fn squared_backward(walk: &Loop<4>, factor: f64) -> Result<()> {
        if walk.common().is_integral(false) {
            return dispatch!(walk.common(), "mse_backward_cpu_out", integer, T => {
                let factor = <T as Target>::cast(2.0 * factor);
                walk.map::<T, T, T, T>(LIGHT, move |grad, x, target| factor.mul(x.sub(target)).mul(grad))
            });
        }
        squared_backward_of_floats(walk, factor)
    }

    /// out = the slope of `smooth_l1` times grad factor
    ///
    /// For integers the factor is truncated, and so is the result; differences do not wrap.
    pub fn smooth_l1_backward(walk: &Loop<4>, beta: f64, factor: f64) -> Result<()> {
        if walk.common().is_integral(false) {
            let factor = factor as i64;
            return dispatch!(walk.common(), "smooth_l1_backward_cpu_out", integer, T => {
                walk.map::<T, T, T, T>(LIGHT, move |grad, x, target| {
                    let away = x.to_i64().wrapping_sub(target.to_i64());
                    let share = factor.wrapping_mul(grad.to_i64());
                    <T as Target>::cast(if away as f64 <= -beta {
                        share.wrapping_neg()
                    } else if away as f64 >= beta {
                        share
                    } else {
                        (share.wrapping_mul(away) as f64 / beta) as i64
                    })
                })
            });
        }
        smooth_l1_backward_of_floats(walk, beta, factor)
    }
}
