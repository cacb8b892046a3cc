//! Composite activation functions.

use crate::autograd::{Expr, GradModeGuard, formulas, should_record};
use crate::dispatch;
use crate::generator::Generator;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, Scalar, ensure, format_sizes, wrap_dim};

/// The weight in the shape of the input: along the second dimension, that of the channels.
pub fn prelu(self_: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let (ndim, weights) = (self_.ndim(), weight.numel());
    if weights != 1 {
        ensure!(ndim > 0, Runtime, "Not allow zero-dim input tensor.");
        let channels = if ndim > 1 { self_.sizes()[1] } else { 1 };
        ensure!(
            channels == weights,
            Runtime,
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = {weights} and channel size = \
             {channels}."
        );
    }
    ensure!(
        weight.ndim() <= 1,
        Runtime,
        "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {}",
        weight.ndim()
    );
    if ndim == 0 || weight.ndim() == 0 {
        return ops::_prelu_kernel(self_, &ops::reshape(weight, &[])?);
    }
    let mut sizes = vec![1; ndim];
    if ndim > 1 {
        sizes[1] = weights;
    }
    ops::_prelu_kernel(self_, &ops::reshape(weight, &sizes)?)
}

/// The gradient of `glu`, for both halves of the input.
pub fn glu_backward(grad_output: &Tensor, self_: &Tensor, dim: i64) -> Result<Tensor> {
    ensure!(self_.ndim() > 0, Runtime, "glu does not support 0-dimensional tensors");
    let at = wrap_dim(dim, self_.ndim())?;
    let size = self_.sizes()[at];
    ensure!(size % 2 == 0, Runtime, "Halving dimension must be even, but dimension {at} is size {size}");
    let (expected, found) = (self_.dtype().c10_name(), grad_output.dtype().c10_name());
    ensure!(expected == found, Runtime, "Found dtype {found} but expected {expected}");
    let (grad, self_) = (Expr::from(grad_output), Expr::from(self_));
    let gate = self_.narrow(dim, size / 2, size / 2).sigmoid();
    crate::dense::check_cast(gate.dtype(), self_.dtype())?;
    let first = super::written(&gate, grad * &gate);
    let second = &first * self_.narrow(dim, 0, size / 2) * (-gate + 1.0);
    ops::cat(&[first.tensor()?, second.tensor()?], dim)
}

/// Below zero scaled by the mean of the bounds, or in training by a factor between them for each element.
pub fn rrelu(
    self_: &Tensor,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    if training {
        return Ok(ops::_rrelu(self_, lower, upper, generator)?.0);
    }
    ops::leaky_relu(self_, mean_slope(lower, upper)?)
}

/// Like `rrelu`, in place.
pub fn rrelu_(
    self_: &Tensor,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<&Generator>,
) -> Result<()> {
    if training {
        return ops::mul_tensor_(self_, &slopes(self_, lower, upper, generator)?);
    }
    ops::leaky_relu_(self_, mean_slope(lower, upper)?)
}

/// The factors in training; they are not differentiable.
fn slopes(self_: &Tensor, lower: Scalar, upper: Scalar, generator: Option<&Generator>) -> Result<Tensor> {
    let _guard = GradModeGuard::new(false);
    ops::_rrelu_slopes(self_, lower, upper, generator)
}

fn mean_slope(lower: Scalar, upper: Scalar) -> Result<Scalar> {
    let (lower, upper) = (lower.to_f64(), upper.to_f64());
    ensure!(lower <= upper, Runtime, "Lower bound should be less than or equal to the upper bound");
    Ok(Scalar::Float((lower + upper) / 2.0))
}

/// Checks that the factors fit into `noise`.
fn check_noise(self_: &Tensor, noise: &Tensor, training: bool) -> Result<()> {
    ensure!(
        self_.sizes() == noise.sizes(),
        Runtime,
        "noise tensor shape must match self tensor shape. Got self.shape = {} noise.shape = {}",
        format_sizes(&self_.sizes()),
        format_sizes(&noise.sizes())
    );
    let (expected, found) = (self_.dtype(), noise.dtype());
    let alike = !training || expected == found;
    ensure!(alike, Runtime, "expected scalar type {} but found {}", expected.c10_name(), found.c10_name());
    Ok(())
}

fn write_noise(noise: &Tensor, factors: &Tensor) -> Result<()> {
    let _guard = GradModeGuard::new(false);
    ops::copy_(noise, factors, false)
}

/// Like `rrelu`; the factors of training are written to `noise`.
pub fn rrelu_with_noise(
    self_: &Tensor,
    noise: &Tensor,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    check_noise(self_, noise, training)?;
    if !training {
        return rrelu(self_, lower, upper, training, generator);
    }
    let (result, factors) = ops::_rrelu(self_, lower, upper, generator)?;
    write_noise(noise, &factors)?;
    Ok(result)
}

/// Like `rrelu_with_noise`, in place.
pub fn rrelu_with_noise_(
    self_: &Tensor,
    noise: &Tensor,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<&Generator>,
) -> Result<()> {
    check_noise(self_, noise, training)?;
    if !training {
        return rrelu_(self_, lower, upper, training, generator);
    }
    let factors = slopes(self_, lower, upper, generator)?;
    ops::mul_tensor_(self_, &factors)?;
    write_noise(noise, &factors)
}

/// Like `rrelu_with_noise`, written to `out`.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn rrelu_with_noise_out(
    self_: &Tensor,
    noise: &Tensor,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<&Generator>,
    out: &Tensor,
) -> Result<()> {
    dispatch::write_result(&rrelu_with_noise(self_, noise, lower, upper, training, generator)?, out)
}

/// The gradient of `rrelu_with_noise`: by the factors of training.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn rrelu_with_noise_backward(
    grad_output: &Tensor,
    self_: &Tensor,
    noise: &Tensor,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    self_is_result: bool,
) -> Result<Tensor> {
    if training {
        return ops::mul_tensor(grad_output, &ops::detach(noise)?);
    }
    let slope = Scalar::Float((lower.to_f64() + upper.to_f64()) / 2.0);
    ops::leaky_relu_backward(grad_output, self_, slope, self_is_result)
}

fn check_floating(operator: &str, self_: &Tensor) -> Result<()> {
    let dtype = self_.dtype();
    ensure!(dtype.is_floating(), Runtime, "\"{operator}_cpu\" not implemented for '{}'", dtype.c10_name());
    Ok(())
}

/// The gradient of `logit`.
pub fn logit_backward(grad_output: &Tensor, self_: &Tensor, eps: Option<f64>) -> Result<Tensor> {
    let dtype = ops::rules::common_dtype(&[&*grad_output.dense()?, &*self_.dense()?])?;
    ensure!(dtype.is_floating(), Runtime, "\"logit_backward_cpu\" not implemented for '{}'", dtype.c10_name());
    let [grad, scores] = [grad_output, self_].map(|tensor| ops::to_dtype(tensor, dtype, false, false, None));
    formulas::logit(&(&grad?).into(), &(&scores?).into(), eps).into_tensor()
}

/// The gradient of `gelu`, of products and sums whose derivatives have derivatives: NaN at infinity, unlike
/// `gelu_backward`.
pub fn infinitely_differentiable_gelu_backward(grad: &Tensor, self_: &Tensor) -> Result<Tensor> {
    use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};
    let x = Expr::from(self_);
    let cdf = ((&x * FRAC_1_SQRT_2).erf() + 1.0) * 0.5;
    // Squares of integers do not wrap around.
    let density = (&x * -0.5 * &x).exp() * (FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * 0.5);
    let slopes = cdf + x * density;
    super::written(&slopes, &slopes * Expr::from(grad)).into_tensor()
}

/// `log_sigmoid` with the exponentials that its gradient is computed from; they are not differentiable.
pub fn log_sigmoid_forward(self_: &Tensor) -> Result<(Tensor, Tensor)> {
    let result = ops::log_sigmoid(self_)?;
    let _guard = GradModeGuard::new(false);
    Ok((result, ops::exp(&ops::neg(&ops::abs(self_)?)?)?))
}

/// The gradient of `log_sigmoid` from the exponentials e: 1 / (1 + e) or e / (1 + e), which are sigmoid(-x).
pub fn log_sigmoid_backward(grad_output: &Tensor, self_: &Tensor, buffer: &Tensor) -> Result<Tensor> {
    check_floating("log_sigmoid_backward", self_)?;
    for dtype in [buffer.dtype(), grad_output.dtype()] {
        let (expected, found) = (self_.dtype().c10_name(), dtype.c10_name());
        let names = format!("Found dtype {found} but expected {expected}\n  in operator log_sigmoid_backward");
        ensure!(expected == found, Runtime, "{names}");
    }
    let (scores, buffer) = (Expr::from(self_), Expr::from(buffer).detach());
    let share = &buffer / (&buffer + 1.0);
    let slope = scores.detach().lt_scalar(0).where_self(-&share + 1.0, share);
    if !should_record([self_]) {
        return (Expr::from(grad_output) * slope).into_tensor();
    }
    // The value from the buffer, with the derivative of the function.
    let function = (-scores).sigmoid();
    (Expr::from(grad_output) * (&function + (slope - function.detach()))).into_tensor()
}

/// The tangent of `glu_backward`.
pub fn glu_backward_jvp(
    grad_x: &Tensor,
    grad_glu: &Tensor,
    x: &Tensor,
    dgrad_glu: &Tensor,
    dx: &Tensor,
    dim: i64,
) -> Result<Tensor> {
    let dim = wrap_dim(dim, x.ndim())?;
    ensure!(grad_glu.ndim() > 0, Index, "Dimension specified as {dim} but tensor has no dimensions");
    let half = grad_glu.sizes()[wrap_dim(dim as i64, grad_glu.ndim())?];
    let halves = |tensor: &Tensor| {
        let tensor = Expr::from(tensor);
        [0, half].map(|start| tensor.narrow(dim as i64, start, half))
    };
    let ([a, b], [da, db], [grad_a, grad_b]) = (halves(x), halves(dx), halves(grad_x));
    let (gate, grad, dgrad) = (b.sigmoid(), Expr::from(grad_glu), Expr::from(dgrad_glu));
    let (rest, bend) = (-&gate + 1.0, &gate * -2.0 + 1.0);
    let first = &dgrad * &gate + grad_a * &rest * &db;
    let second = (dgrad * a + grad * da) * gate * rest + grad_b * bend * db;
    ops::cat(&[first.tensor()?, second.tensor()?], dim as i64)
}
