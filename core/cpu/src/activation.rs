//! Activation functions and their gradients for floating-point tensors, vectorized; half precision is computed in
//! `f32`. Parameters are rounded to the computation type.

use crate::complex::ComplexFunctions;
use crate::math;
use crate::number::{Analytic, Number, Wide};
use crate::pointwise::{HEAVY, LIGHT, Loop, float_kernels};
use rushlight_base::{Complex64, Complex128, DType, Result, Scalar};

/// A number in all lanes.
macro_rules! constant {
    ($value:expr) => {
        V::from_f64($value)
    };
}

float_kernels! { "activation";
    /// out = a Phi(a), where Phi is the CDF of the standard normal distribution.
    gelu<2>("GeluKernelImpl", HEAVY): |x| x * math::phi(x);
    /// out = grad (Phi(a) + a phi(a)): operands (out, grad, a).
    gelu_backward<3>("GeluBackwardKernelImpl", HEAVY): |grad, x| {
        let density = math::exp(x * x * constant!(-0.5)) * constant!(0.398_942_280_401_432_7);
        grad * x.mul_add(density, math::phi(x))
    };
    /// out = a/2 (1 + tanh(sqrt(2/pi) (a + 0.044715 a^3)))
    gelu_tanh<2>("GeluKernelImpl", HEAVY): |x| {
        let half = constant!(0.5);
        x * half.mul_add(math::tanh(x * gelu_ratio(x, 1.0)), half)
    };
    /// The gradient of `gelu_tanh`: operands (out, grad, a).
    gelu_tanh_backward<3>("GeluBackwardKernelImpl", HEAVY): |grad, x| {
        let (half, one) = (constant!(0.5), constant!(1.0));
        let t = math::tanh(x * gelu_ratio(x, 1.0));
        grad * half.mul_add(t, half + half * x * (one - t * t) * gelu_ratio(x, 3.0))
    };
    /// out = grad s (1 + a (1 - s)), s = sigmoid a, of floats: operands (out, grad, a).
    silu_backward_of_floats<3>("silu_backward_cpu", HEAVY): |grad, x| {
        let (s, one) = (math::sigmoid(x), constant!(1.0));
        grad * s * x.mul_add(one - s, one)
    };
    /// out = a tanh(ln(1 + e^a))
    mish<2>("mish_cpu", HEAVY): |x| {
        let n = mish_ratio(x);
        V::select(constant!(20.0).lt(x), x, x * (n / (n + constant!(2.0))))
    };
    /// The gradient of `mish`: operands (out, grad, a).
    mish_backward<3>("mish_backward_cpu", HEAVY): |grad, x| {
        let (n, two) = (mish_ratio(x), constant!(2.0));
        let t = n / (n + two);
        let near = x.mul_add(math::sigmoid(x) * (constant!(1.0) - t * t), t);
        // As in PyTorch, NaN at infinity.
        V::select(constant!(20.0).lt(x), grad + constant!(0.0) * x, grad * near)
    };
    /// out = scale a where a > 0, else alpha scale (e^(input_scale a) - 1)
    elu<2>("elu_cpu", HEAVY, alpha, scale, input_scale): |x| {
        let below = math::expm1(x * input_scale) * (alpha * scale);
        V::select(constant!(0.0).lt(x), x * scale, below)
    };
    /// The gradient of `elu`: operands (out, grad, a).
    elu_backward<3>("elu_backward_cpu", HEAVY, alpha, scale, input_scale): |grad, x| {
        let below = grad * (input_scale * (alpha * scale)) * math::exp(x * input_scale);
        V::select(x.le(constant!(0.0)), below, grad * scale)
    };
    /// The gradient of `elu` by its result: operands (out, grad, result).
    elu_backward_of_result<3>("elu_backward_cpu", LIGHT, alpha, scale, input_scale): |grad, y| {
        let below = grad * input_scale * (y + alpha * scale);
        V::select(y.le(constant!(0.0)), below, grad * scale)
    };
    /// out = a where a > 0, else slope a
    leaky_relu<2>("leaky_relu_cpu", LIGHT, slope): |x| V::select(constant!(0.0).lt(x), x, x * slope);
    /// out = grad where a > 0, else slope grad: operands (out, grad, a).
    leaky_relu_backward<3>("leaky_relu_backward_cpu", LIGHT, slope): |grad, x| {
        V::select(constant!(0.0).lt(x), grad, grad * slope)
    };
    /// out = min(max(a + 3, 0), 6)/6
    hardsigmoid<2>("hardsigmoid_cpu", LIGHT): |x| hard_step(x) / constant!(6.0);
    /// out = grad/6 where -3 < a < 3, else 0: operands (out, grad, a).
    hardsigmoid_backward<3>("hardsigmoid_backward", LIGHT): |grad, x| {
        let within = constant!(-3.0).lt(x) & x.lt(constant!(3.0));
        V::select(within, grad / constant!(6.0), constant!(0.0))
    };
    /// out = a min(max(a + 3, 0), 6)/6
    hardswish<2>("hardswish_cpu", LIGHT): |x| x * hard_step(x) / constant!(6.0);
    /// The gradient of `hardswish`: operands (out, grad, a).
    hardswish_backward<3>("hardswish_backward_cpu", LIGHT): |grad, x| {
        let three = constant!(3.0);
        let within = grad * (x / three + constant!(0.5));
        V::select(x.lt(-three), constant!(0.0), V::select(x.le(three), within, grad))
    };
    /// out = grad where low < a < high, else 0: operands (out, grad, a).
    hardtanh_backward<3>("hardtanh_backward_cpu", LIGHT, low, high): |grad, x| {
        V::select(x.le(low) | high.le(x), constant!(0.0), grad)
    };
    /// out = ln(1 + e^(beta a))/beta, or a where beta a > threshold
    softplus<2>("softplus_cpu", HEAVY, beta, threshold): |x| {
        let scaled = x * beta;
        V::select(threshold.lt(scaled), x, math::log1p(math::exp(scaled)) / beta)
    };
    /// The gradient of `softplus`: operands (out, grad, a).
    softplus_backward<3>("softplus_backward_cpu", HEAVY, beta, threshold): |grad, x| {
        let scaled = x * beta;
        V::select(threshold.lt(scaled), grad, grad * math::sigmoid(scaled))
    };
    /// out = ln(sigmoid a)
    log_sigmoid<2>("log_sigmoid_cpu", HEAVY): |x| {
        constant!(0.0).min(x) - math::log1p(math::exp(-x.abs()))
    };
    /// out = a - lambda where a > lambda, a + lambda where a < -lambda, else 0
    softshrink<2>("softshrink_cpu", LIGHT, lambda): |x| {
        let inside = V::select(x.lt(-lambda), x + lambda, x * constant!(0.0));
        V::select(lambda.lt(x), x - lambda, inside)
    };
    /// out = 0 where -lambda <= a <= lambda, else a
    hardshrink<2>("hardshrink_cpu", LIGHT, lambda): |x| {
        V::select((-lambda).le(x) & x.le(lambda), constant!(0.0), x)
    };
    /// out = a sigmoid b: operands (out, a, b).
    glu<3>("glu_cpu", HEAVY): |x, gate| x * math::sigmoid(gate);
    /// out = ln(a / (1 - a)) of floats
    logit_of_floats<2>("logit_cpu", HEAVY): |x| math::log(x / (constant!(1.0) - x));
    /// Like `logit_of_floats`, for an argument clamped to [eps, 1 - eps].
    logit_of_floats_within<2>("logit_cpu", HEAVY, eps): |x| {
        let one = constant!(1.0);
        let x = V::select(x.lt(eps), eps, V::select((one - eps).lt(x), one - eps, x));
        math::log(x / (one - x))
    };
    /// out = 0 where -lambda <= a <= lambda, else grad: operands (out, grad, a).
    shrink_backward<3>("shrink_backward_cpu", LIGHT, lambda): |grad, x| {
        V::select((-lambda).le(x) & x.le(lambda), constant!(0.0), grad)
    };
}

kernels! { "activation";
    /// out = ln(a / (1 - a)), of an argument that is moved into [eps, 1 - eps] if `eps` is given.
    pub fn logit(walk: &Loop<2>, eps: Option<f64>) -> Result<()> {
        if walk.common().is_half() {
            return stepwise!(walk.common(), "logit_cpu", T => {
                let one = T::ONE;
                let bounds = eps.map(T::from_f64).map(|eps| (eps, one.sub(eps)));
                walk.map::<T, T>(HEAVY, move |x| {
                    let x = bounds.map_or(x, |(low, high)| if x < low { low } else if x > high { high } else { x });
                    x.div(one.sub(x)).ln()
                })
            });
        }
        match eps {
            Some(eps) => logit_of_floats_within(walk, eps),
            None => logit_of_floats(walk),
        }
    }

    /// out = grad s (1 + a (1 - s)), s = sigmoid a: operands (out, grad, a).
    pub fn silu_backward(walk: &Loop<3>) -> Result<()> {
        match walk.common() {
            DType::C64 => walk.map::<Complex64, Complex64, Complex64>(HEAVY, silu_slope),
            DType::C128 => walk.map::<Complex128, Complex128, Complex128>(HEAVY, silu_slope),
            _ => silu_backward_of_floats(walk),
        }
    }
}

/// The derivative of `silu` at x, times grad.
fn silu_slope<T: ComplexFunctions>(grad: T, x: T) -> T {
    let s = x.sigmoid();
    grad.mul(s).mul(T::ONE.add(x.mul(T::ONE.sub(s))))
}

/// sqrt(2/pi) (1 + power 0.044715 x^2): the argument of tanh in `gelu_tanh`, divided by x; or, with the power 3 of the
/// cube, its derivative.
#[inline(always)]
pub(crate) fn gelu_ratio<V: crate::simd::FloatVector>(x: V, power: f64) -> V {
    let beta = std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2;
    (x * x).mul_add(V::from_f64(beta * 0.044715 * power), V::from_f64(beta))
}

/// (1 + e^x)^2 - 1: tanh(ln(1 + e^x)) is this over itself and 2.
#[inline(always)]
fn mish_ratio<V: crate::simd::FloatVector>(x: V) -> V {
    let power = math::exp(V::from_f64(20.0).raw_min(x));
    power * (power + V::from_f64(2.0))
}

/// min(max(x + 3, 0), 6)
#[inline(always)]
pub(crate) fn hard_step<V: crate::simd::FloatVector>(x: V) -> V {
    V::from_f64(0.0).max(x + V::from_f64(3.0)).min(V::from_f64(6.0))
}

kernels! { "activation";
    /// out = min(max(a, low), high), also for integers.
    pub fn hardtanh(walk: &Loop<2>, low: Scalar, high: Scalar) -> Result<()> {
        crate::arithmetic::clamp_scalar(walk, Some(low), Some(high))
    }

    /// out = a where a > 0, else weight a: operands (out, a, weight).
    pub fn prelu(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "prelu_cpu", half float, T => {
            type W = <T as Number>::Wide;
            walk.map::<T, T, T>(LIGHT, |x, weight| if x > W::ZERO { x } else { weight.mul(x) })
        })
    }
}
