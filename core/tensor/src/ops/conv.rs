//! Kernels of convolutions.

use super::access::array;
use super::rules::convolution::Parameters;
use crate::dense::Dense;
use rushlight_base::{DType, Result};
use rushlight_cpu::convolution::{self, Walk};

impl Parameters {
    fn walk(&self) -> Walk<'_> {
        Walk { stride: &self.stride, padding: &self.padding, dilation: &self.dilation, groups: self.groups }
    }

    /// Whether PyTorch rounds this transposed convolution tap by tap. Its other kernels support neither `float16` nor
    /// an output padding of a step or more. In double precision the order of the sums no longer matters.
    fn is_summed_by_taps(&self, dtype: DType) -> bool {
        let beyond = || self.output_padding.iter().zip(&self.stride).any(|(padding, stride)| padding >= stride);
        dtype == DType::F16 || (matches!(dtype, DType::BF16 | DType::F32) && beyond())
    }
}

/// out = input convolved with weight, or the transpose of that, + bias
#[allow(clippy::too_many_arguments)] // the operator's
pub fn convolution(
    out: &Dense,
    input: &Dense,
    weight: &Dense,
    bias: Option<&Dense>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
) -> Result<()> {
    let spatial = weight.ndim() - 2;
    let parameters = Parameters::new(spatial, stride, padding, dilation, transposed, output_padding, groups)?;
    let run = match transposed {
        true if parameters.is_summed_by_taps(out.dtype) => convolution::transposed_by_taps,
        true => convolution::transposed,
        false => convolution::forward,
    };
    let bias = bias.map(array);
    run(&array(out), &array(input), &array(weight), bias.as_ref(), &parameters.walk())
}

/// out = the gradient by the weights
#[allow(clippy::too_many_arguments)] // the operator's
pub fn convolution_weight(
    out: &Dense,
    grad_output: &Dense,
    input: &Dense,
    _weight_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    groups: i64,
) -> Result<()> {
    let parameters = Parameters::new(out.ndim() - 2, stride, padding, dilation, false, &[0], groups)?;
    convolution::weight_gradient(&array(out), &array(grad_output), &array(input), &parameters.walk())
}
