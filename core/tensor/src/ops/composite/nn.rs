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

/// As `softmax`, written to `out`.
pub fn softmax_out(self_: &Tensor, dim: i64, dtype: Option<DType>, out: &Tensor) -> Result<()> {
    ops::_softmax_out(&softmax_input(self_, dtype)?, dim, false, out)
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
    dropout_factors(input, p, train)?.map_or_else(|| Ok(input.clone()), |factors| ops::mul_tensor(input, &factors))
}

/// As `dropout`, in place.
pub fn dropout_(input: &Tensor, p: f64, train: bool) -> Result<()> {
    dropout_factors(input, p, train)?.map_or(Ok(()), |factors| ops::mul_tensor_(input, &factors))
}

/// What dropout multiplies elements by; nothing if they stay as they are.
fn dropout_factors(input: &Tensor, p: f64, train: bool) -> Result<Option<Tensor>> {
    ensure!((0.0..=1.0).contains(&p), Runtime, "dropout probability has to be between 0 and 1, but got {p}");
    if p == 0.0 || !train || input.numel() == 0 {
        return Ok(None);
    }
    if p == 1.0 {
        return ops::zeros(&[], input.options()).map(Some);
    }
    let noise = ops::empty_like(input, Options::default(), None)?;
    let default: Option<&Generator> = None;
    ops::bernoulli_float_(&noise, 1.0 - p, default)?;
    ops::div_scalar_(&noise, Scalar::Float(1.0 - p))?;
    Ok(Some(noise))
}

/// The gradient of `embedding` by its table.
pub fn embedding_dense_backward(
    grad_output: &Tensor,
    indices: &Tensor,
    num_weights: i64,
    padding_idx: i64,
    scale_grad_by_freq: bool,
) -> Result<Tensor> {
    let width = grad_output.sizes().last().copied().unwrap_or(1);
    let (rows, mut grad) = (ops::reshape(indices, &[-1])?, ops::reshape(grad_output, &[indices.numel(), width])?);
    if scale_grad_by_freq {
        let ones = ops::ones(&rows.sizes(), grad.options())?;
        let zeros = ops::zeros(&[num_weights], grad.options())?;
        let counts = ops::index_add(&zeros, 0, &rows, &ones, Scalar::Int(1))?;
        grad = ops::div_tensor(&grad, &ops::unsqueeze(&ops::index_select(&counts, 0, &rows)?, 1)?)?;
    }
    if padding_idx >= 0 {
        let padding = ops::unsqueeze(&ops::eq_scalar(&rows, Scalar::Int(padding_idx))?, 1)?;
        grad = ops::masked_fill_scalar(&grad, &padding, Scalar::Int(0))?;
    }
    ops::index_add(&ops::zeros(&[num_weights, width], grad.options())?, 0, &rows, &grad, Scalar::Int(1))
}

/// A 1 at each index of a last dimension.
pub fn one_hot(self_: &Tensor, num_classes: i64) -> Result<Tensor> {
    ensure!(self_.dtype() == DType::I64, Runtime, "one_hot is only applicable to index tensor of type LongTensor.");
    ensure!(self_.numel() > 0 || num_classes > 0, Runtime, "Can not infer total number of classes from empty tensor.");
    let largest = if self_.numel() > 0 { ops::max(self_)?.item()?.to_i64() } else { -1 };
    let least = if self_.numel() > 0 { ops::min(self_)?.item()?.to_i64() } else { 0 };
    ensure!(least >= 0, Runtime, "Class values must be non-negative.");
    ensure!(num_classes == -1 || num_classes > largest, Runtime, "Class values must be smaller than num_classes.");
    let mut sizes = self_.sizes();
    sizes.push(if num_classes == -1 { largest + 1 } else { num_classes });
    ops::scatter_value(&ops::zeros(&sizes, self_.options())?, -1, &ops::unsqueeze(self_, -1)?, Scalar::Int(1))
}
