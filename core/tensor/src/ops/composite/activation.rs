//! Activation functions made of other operators.

use crate::autograd::{Expr, GradModeGuard};
use crate::generator::Generator;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, Scalar, ensure, wrap_dim};

/// The weight brought to the input's dimensions: along the second one, that of the channels.
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

/// The gradient of `glu`: both halves.
pub fn glu_backward(grad_output: &Tensor, self_: &Tensor, dim: i64) -> Result<Tensor> {
    ensure!(self_.ndim() > 0, Runtime, "glu does not support 0-dimensional tensors");
    let at = wrap_dim(dim, self_.ndim())?;
    let size = self_.sizes()[at];
    ensure!(size % 2 == 0, Runtime, "Halving dimension must be even, but dimension {at} is size {size}");
    let (grad, self_) = (Expr::from(grad_output), Expr::from(self_));
    let gate = self_.narrow(dim, size / 2, size / 2).sigmoid();
    let first = grad * &gate;
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

/// As `rrelu`, in place.
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

/// The factors of training; they are no function of the tensor that could be differentiated.
fn slopes(self_: &Tensor, lower: Scalar, upper: Scalar, generator: Option<&Generator>) -> Result<Tensor> {
    let _guard = GradModeGuard::new(false);
    ops::_rrelu_slopes(self_, lower, upper, generator)
}

fn mean_slope(lower: Scalar, upper: Scalar) -> Result<Scalar> {
    let (lower, upper) = (lower.to_f64(), upper.to_f64());
    ensure!(lower <= upper, Runtime, "Lower bound should be less than or equal to the upper bound");
    Ok(Scalar::Float((lower + upper) / 2.0))
}

/// As `rrelu`; the factors of training are written to `noise`.
pub fn rrelu_with_noise(
    self_: &Tensor,
    noise: &Tensor,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    if !training {
        return rrelu(self_, lower, upper, training, generator);
    }
    let (result, factors) = ops::_rrelu(self_, lower, upper, generator)?;
    let _guard = GradModeGuard::new(false);
    ops::copy_(noise, &factors, false)?;
    Ok(result)
}
