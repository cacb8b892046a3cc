//! Softmax, layer norm and dropout.

use super::softmax_input;
use crate::generator::Generator;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, Scalar, ensure};

/// softmax along a dimension
pub fn softmax(self_: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    ops::_softmax(&softmax_input(self_, dtype)?, dim, false)
}

/// The last dimensions normalised; the mean and the deviation are dropped.
pub fn layer_norm(
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
    _cudnn_enable: bool,
) -> Result<Tensor> {
    Ok(ops::native_layer_norm(input, normalized_shape, weight, bias, eps)?.0)
}

/// Zeroes elements with probability p and scales the others by 1 / (1 - p).
pub fn dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    ensure!((0.0..=1.0).contains(&p), Runtime, "dropout probability has to be between 0 and 1, but got {p}");
    if p == 0.0 || !train || input.numel() == 0 {
        return Ok(input.clone());
    }
    if p == 1.0 {
        return ops::mul_tensor(input, &ops::zeros(&[], input.options())?);
    }
    let noise = ops::empty_like(input, Options::default(), None)?;
    let default: Option<&Generator> = None;
    ops::bernoulli_float_(&noise, 1.0 - p, default)?;
    ops::div_scalar_(&noise, Scalar::Float(1.0 - p))?;
    ops::mul_tensor(input, &noise)
}
