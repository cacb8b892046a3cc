//! Kernels of softmax and its logarithm.

use super::access::array;
use crate::dense::Dense;
use rushlight_base::{DType, Result, wrap_dim};
use rushlight_cpu::softmax as rows;

/// out = self - ln sum e^self along dim
pub fn log_softmax(out: &Dense, self_: &Dense, dim: i64, _half_to_float: bool) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    rows::log_softmax(&array(out), &array(self_), wrap_dim(dim, self_.ndim())?)
}

/// out = grad - e^output sum grad along dim
pub fn log_softmax_backward(
    out: &Dense,
    grad_output: &Dense,
    output: &Dense,
    dim: i64,
    _input_dtype: DType,
) -> Result<()> {
    rows::log_softmax_backward(&array(out), &array(grad_output), &array(output), wrap_dim(dim, output.ndim())?)
}

/// out = e^self / sum e^self along dim
pub fn softmax(out: &Dense, self_: &Dense, dim: i64, _half_to_float: bool) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    rows::softmax(&array(out), &array(self_), wrap_dim(dim, self_.ndim())?)
}

/// out = output (grad - sum grad output) along dim
pub fn softmax_backward(out: &Dense, grad_output: &Dense, output: &Dense, dim: i64, _input_dtype: DType) -> Result<()> {
    rows::softmax_backward(&array(out), &array(grad_output), &array(output), wrap_dim(dim, output.ndim())?)
}
