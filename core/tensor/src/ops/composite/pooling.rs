//! Composite operators: pooling of one dimension, pooling without indices, and unpooling.

use crate::autograd::should_record;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, ensure, format_sizes};

/// One parameter of a dimension, in two dimensions of which the first is a single element.
fn with_height(op: &str, what: &str, values: &[i64], height: i64) -> Result<DimVec> {
    ensure!(values.len() <= 1, Runtime, "{op}: {what} must be a single int, or a tuple of one int");
    Ok(values.iter().flat_map(|&value| [height, value]).collect())
}

/// The kernel size, stride, padding and dilation of windows, or the first `N` of these, for images of height 1.
fn windows_of_image<const N: usize>(op: &str, given: [&[i64]; N]) -> Result<[DimVec; N]> {
    const HEIGHTS: [(&str, i64); 4] = [("kernel_size", 1), ("stride", 1), ("padding", 0), ("dilation", 1)];
    let mut all = std::array::from_fn(|_| DimVec::new());
    for ((values, to), (what, height)) in given.into_iter().zip(&mut all).zip(HEIGHTS) {
        *to = with_height(op, what, values, height)?;
    }
    Ok(all)
}

/// A 1-d input as an image of height 1.
fn as_image(op: &str, self_: &Tensor) -> Result<Tensor> {
    ensure!(
        matches!(self_.ndim(), 2 | 3),
        Runtime,
        "{op}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got: {}",
        format_sizes(&self_.sizes())
    );
    ops::unsqueeze(self_, -2)
}

/// The maximum of each window.
pub fn max_pool1d(
    self_: &Tensor,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
) -> Result<Tensor> {
    let op = "max_pool1d";
    let image = as_image(op, self_)?;
    let [kernel_size, stride, padding, dilation] = windows_of_image(op, [kernel_size, stride, padding, dilation])?;
    let values = ops::max_pool2d(&image, &kernel_size, &stride, &padding, &dilation, ceil_mode)?;
    ops::squeeze_dim(&values, -2)
}

/// Max pooling with indices.
pub fn max_pool1d_with_indices(
    self_: &Tensor,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
) -> Result<(Tensor, Tensor)> {
    let op = "max_pool1d";
    let image = as_image(op, self_)?;
    let [kernel_size, stride, padding, dilation] = windows_of_image(op, [kernel_size, stride, padding, dilation])?;
    let (values, indices) =
        ops::max_pool2d_with_indices(&image, &kernel_size, &stride, &padding, &dilation, ceil_mode)?;
    Ok((ops::squeeze_dim(&values, -2)?, ops::squeeze_dim(&indices, -2)?))
}

/// The maximum of each window.
pub fn max_pool2d(
    self_: &Tensor,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
) -> Result<Tensor> {
    if should_record([self_]) {
        return Ok(ops::max_pool2d_with_indices(self_, kernel_size, stride, padding, dilation, ceil_mode)?.0);
    }
    ops::_max_pool2d_values(self_, kernel_size, stride, padding, dilation, ceil_mode)
}

/// The maximum of each window.
pub fn max_pool3d(
    self_: &Tensor,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
) -> Result<Tensor> {
    if should_record([self_]) {
        return Ok(ops::max_pool3d_with_indices(self_, kernel_size, stride, padding, dilation, ceil_mode)?.0);
    }
    ops::_max_pool3d_values(self_, kernel_size, stride, padding, dilation, ceil_mode)
}

/// The means of windows.
pub fn avg_pool1d(
    self_: &Tensor,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    ceil_mode: bool,
    count_include_pad: bool,
) -> Result<Tensor> {
    let op = "avg_pool1d";
    let image = as_image(op, self_)?;
    let [kernel_size, stride, padding] = windows_of_image(op, [kernel_size, stride, padding])?;
    let means = ops::avg_pool2d(&image, &kernel_size, &stride, &padding, ceil_mode, count_include_pad, None)?;
    ops::squeeze_dim(&means, -2)
}

/// The mean of each window; the windows divide the input evenly.
pub fn adaptive_avg_pool1d(self_: &Tensor, output_size: &[i64]) -> Result<Tensor> {
    let op = "adaptive_avg_pool1d";
    let means = ops::adaptive_avg_pool2d(&as_image(op, self_)?, &with_height(op, "output_size", output_size, 1)?)?;
    ops::squeeze_dim(&means, -2)
}

/// Adaptive max pooling with indices.
pub fn adaptive_max_pool1d(self_: &Tensor, output_size: &[i64]) -> Result<(Tensor, Tensor)> {
    let op = "adaptive_max_pool1d";
    let size = with_height(op, "output_size", output_size, 1)?;
    let (values, indices) = ops::adaptive_max_pool2d(&as_image(op, self_)?, &size)?;
    Ok((ops::squeeze_dim(&values, -2)?, ops::squeeze_dim(&indices, -2)?))
}

/// Planes with the elements at the positions in `indices`, zeros elsewhere.
fn unpooled(op: &str, self_: &Tensor, indices: &Tensor, output_size: &[i64], spatial: usize) -> Result<Tensor> {
    ensure!(
        output_size.len() == spatial,
        Runtime,
        "There should be exactly {spatial} elements in output_size, but got {} elements in output_size.",
        output_size.len()
    );
    ensure!(
        indices.dtype() == DType::I64,
        Runtime,
        "elements in indices should be type int64 but got: {}",
        indices.dtype().c10_name()
    );
    let sizes = self_.sizes();
    ensure!(
        sizes.len() == spatial + 1 || sizes.len() == spatial + 2,
        Runtime,
        "Input to {op} should be a {}d or {}d Tensor, but got a tensor with {} dimensions",
        spatial + 1,
        spatial + 2,
        sizes.len()
    );
    ensure!(
        indices.sizes() == sizes,
        Runtime,
        "Expected shape of indices to be same as that of the input tensor ({}) but got indices tensor with shape: {}",
        format_sizes(&sizes),
        format_sizes(&indices.sizes())
    );
    ensure!(
        output_size.iter().all(|&size| size >= 0) && sizes[1..].iter().all(|&size| size > 0),
        Runtime,
        "{op}: Expected input to have non-zero size for non-batch dimensions, but got {}",
        format_sizes(&sizes)
    );
    let lead = &sizes[..sizes.len() - spatial];
    let plane = |count: i64| -> DimVec { lead.iter().copied().chain([count]).collect() };
    let (from, to) = (
        plane(sizes[lead.len()..].iter().product()),
        plane(output_size.iter().fold(1, |count: i64, &size| count.saturating_mul(size))),
    );
    let zeros = ops::zeros(&to, self_.options())?;
    let placed = ops::scatter_src(&zeros, -1, &ops::reshape(indices, &from)?, &ops::reshape(self_, &from)?)?;
    let shape: DimVec = lead.iter().chain(output_size).copied().collect();
    ops::reshape(&placed, &shape)
}

/// Images with the elements of `self_` at their original positions.
pub fn max_unpool2d(self_: &Tensor, indices: &Tensor, output_size: &[i64]) -> Result<Tensor> {
    unpooled("max_unpooling2d", self_, indices, output_size, 2)
}

/// Volumes with the elements of `self_` at their original positions.
pub fn max_unpool3d(
    self_: &Tensor,
    indices: &Tensor,
    output_size: &[i64],
    stride: &[i64],
    padding: &[i64],
) -> Result<Tensor> {
    let counts = [("stride", stride), ("padding", padding)];
    for (what, values) in counts {
        ensure!(
            values.len() == 3,
            Runtime,
            "There should be exactly three elements (depth, height, width) in {what}, but got: {} elements.",
            values.len()
        );
    }
    ensure!(
        stride.iter().all(|&step| step > 0),
        Runtime,
        "strides should be greater than zero, but got stride: {}",
        format_sizes(stride)
    );
    unpooled("max_unpooling3d", self_, indices, output_size, 3)
}

/// The gradient of max pooling without indices, which are computed again.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn max_pool2d_backward(
    grad_output: &Tensor,
    self_: &Tensor,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
) -> Result<Tensor> {
    let indices = ops::max_pool2d_with_indices(self_, kernel_size, stride, padding, dilation, ceil_mode)?.1;
    let stride = if stride.is_empty() { kernel_size } else { stride };
    ops::max_pool2d_with_indices_backward(
        grad_output,
        self_,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        &indices,
    )
}
