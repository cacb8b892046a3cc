//! Rules of operators that write into regions of their output.

use super::promotion::common_dtype;
use crate::dense::{Dense, Geometry, Spec};
use crate::ops::views;
use rushlight_base::{Device, DimVec, Result, Scalar, ensure, format_sizes, wrap_dim};

/// One-dimensional tensors without elements are not checked, for compatibility with early PyTorch.
pub(crate) fn is_skipped(sizes: &[i64]) -> bool {
    sizes == [0]
}

/// The inputs one after another along `dim`.
pub fn cat(tensors: &[Dense], dim: i64) -> Result<Spec> {
    ensure!(!tensors.is_empty(), Runtime, "torch.cat(): expected a non-empty list of Tensors");
    for (at, tensor) in tensors.iter().enumerate() {
        ensure!(tensor.ndim() > 0, Runtime, "zero-dimensional tensor (at position {at}) cannot be concatenated");
    }
    let inputs: Vec<&Dense> = tensors.iter().collect();
    let dtype = common_dtype(&inputs)?;
    let Some(model) = tensors.iter().find(|tensor| !is_skipped(tensor.sizes())) else {
        wrap_dim(dim, 1)?;
        return Ok(Spec::new(&[0], dtype, tensors[0].device));
    };
    let dim = wrap_dim(dim, model.ndim())?;
    let mut sizes = DimVec::from_slice(model.sizes());
    sizes[dim] = 0;
    for (at, tensor) in tensors.iter().enumerate().filter(|(_, tensor)| !is_skipped(tensor.sizes())) {
        ensure!(
            tensor.ndim() == model.ndim(),
            Runtime,
            "Tensors must have same number of dimensions: got {} and {}",
            model.ndim(),
            tensor.ndim()
        );
        for (axis, (&size, &expected)) in tensor.sizes().iter().zip(model.sizes()).enumerate() {
            ensure!(
                axis == dim || size == expected,
                Runtime,
                "Sizes of tensors must match except in dimension {dim}. Expected size {expected} but got size {size} \
                 for tensor number {at} in the list."
            );
        }
        sizes[dim] += tensor.sizes()[dim];
    }
    Ok(Spec::new(&sizes, dtype, model.device))
}

/// The gradient of `select.int`: zeros with the gradient at one index.
pub fn select_backward(grad_output: &Dense, input_sizes: &[i64], dim: i64, index: i64) -> Result<Spec> {
    let dim = wrap_dim(dim, input_sizes.len())?;
    let size = input_sizes.get(dim).copied().unwrap_or(0);
    ensure!((-size..size).contains(&index), Index, "select_backward: index {index} is out of range for size {size}");
    let mut sizes = DimVec::from_slice(input_sizes);
    sizes.remove(dim);
    check_fits(grad_output, &sizes)?;
    Ok(Spec::new(input_sizes, grad_output.dtype, grad_output.device))
}

/// The gradient of `slice.Tensor`: zeros with the gradient in the slice.
pub fn slice_backward(
    grad_output: &Dense,
    input_sizes: &[i64],
    dim: i64,
    start: i64,
    end: i64,
    step: i64,
) -> Result<Spec> {
    let at = wrap_dim(dim, input_sizes.len())?;
    ensure!(at < input_sizes.len() && step > 0, Runtime, "slice_backward: no such slice");
    rushlight_base::numel(input_sizes)?;
    let (first, last) = views::slice_bounds(input_sizes[at], Some(start), Some(end));
    let mut sizes = DimVec::from_slice(input_sizes);
    sizes[at] = (last - first).div_euclid(step) + i64::from((last - first) % step != 0);
    check_fits(grad_output, &sizes)?;
    Ok(Spec::new(input_sizes, grad_output.dtype, grad_output.device))
}

/// Whether `grad` broadcasts to `sizes`.
fn check_fits(grad: &Dense, sizes: &[i64]) -> Result<()> {
    let found = super::broadcast_sizes(sizes, grad.sizes())?;
    ensure!(
        *found == *sizes,
        Runtime,
        "output with shape {} doesn't match the broadcast shape {}",
        format_sizes(sizes),
        format_sizes(&found)
    );
    Ok(())
}

/// `self_` with `src` in the region that `part` selects.
fn replaced(self_: &Dense, src: &Dense, part: &Geometry) -> Result<Spec> {
    ensure!(
        src.sizes() == &*part.sizes,
        Runtime,
        "expected src to have a size equal to the slice of self. src size = {}, slice size = {}",
        format_sizes(src.sizes()),
        format_sizes(&part.sizes)
    );
    super::like(self_)
}

/// One slice replaced.
pub fn select_scatter(self_: &Dense, src: &Dense, dim: i64, index: i64) -> Result<Spec> {
    replaced(self_, src, &views::select(self_, dim, index)?)
}

/// Slices replaced at a step.
pub fn slice_scatter(
    self_: &Dense,
    src: &Dense,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Spec> {
    replaced(self_, src, &views::slice(self_, dim, start, end, step)?)
}

/// A diagonal replaced.
pub fn diagonal_scatter(self_: &Dense, src: &Dense, offset: i64, dim1: i64, dim2: i64) -> Result<Spec> {
    replaced(self_, src, &views::diagonal(self_, offset, dim1, dim2)?)
}

/// Replaces the elements that as_strided selects. The result has the input's layout, so that the same strides select
/// the same elements.
pub fn as_strided_scatter(
    self_: &Dense,
    src: &Dense,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Result<Spec> {
    ensure!(
        src.sizes() == size,
        Runtime,
        "expected src to have a size equal to the slice of self. src size = {}, slice size = {}",
        format_sizes(src.sizes()),
        format_sizes(size)
    );
    ensure!(
        !self_.has_internal_overlap(),
        Runtime,
        "as_strided_scatter: elements of self share memory: sizes {}, strides {}",
        format_sizes(self_.sizes()),
        format_sizes(self_.strides())
    );
    let own = self_.geometry.offset;
    let at = storage_offset.unwrap_or(own) - own;
    let view = Geometry { sizes: DimVec::from_slice(size), strides: DimVec::from_slice(stride), offset: at };
    ensure!(size.len() == stride.len(), Runtime, "mismatch in length of strides and shape");
    let (low, high) = view.element_range();
    let (_, end) = self_.geometry.element_range();
    ensure!(
        view.numel() == 0 || (low >= 0 && high <= end - own),
        Runtime,
        "as_strided_scatter: sizes {}, strides {}, storage offset {:?} reach beyond the tensor of {}",
        format_sizes(size),
        format_sizes(stride),
        storage_offset,
        format_sizes(self_.sizes())
    );
    Ok(Spec::new(self_.sizes(), self_.dtype, self_.device).with_strides(DimVec::from_slice(self_.strides())))
}

/// The gradient of `unfold`.
pub fn unfold_backward(grad_in: &Dense, input_sizes: &[i64], dim: i64, size: i64, step: i64) -> Result<Spec> {
    let spec = Spec::new(input_sizes, grad_in.dtype, grad_in.device);
    if rushlight_base::numel(input_sizes)? == 0 {
        return Ok(spec);
    }
    let windows = views::unfold(&Spec { device: Device::META, ..spec.clone() }.allocate()?, dim, size, step)?;
    ensure!(
        *windows.sizes == *grad_in.sizes(),
        Runtime,
        "unfold_backward: gradient {} does not fit windows {}",
        format_sizes(grad_in.sizes()),
        format_sizes(&windows.sizes)
    );
    Ok(spec)
}

/// Matrices with one side of the diagonal kept.
pub fn triangle(self_: &Dense, _diagonal: i64) -> Result<Spec> {
    ensure!(self_.ndim() >= 2, Runtime, "tril/triu: input tensor must have at least 2 dimensions");
    Ok(Spec::new(self_.sizes(), self_.dtype, self_.device))
}

/// Padding of this many elements on both sides of the last dimensions.
pub fn constant_pad_nd(self_: &Dense, pad: &[i64], value: Scalar) -> Result<Spec> {
    value.check_convertible(self_.dtype)?;
    ensure!(pad.len().is_multiple_of(2), Runtime, "Length of pad must be even but instead it equals {}", pad.len());
    ensure!(
        pad.len() / 2 <= self_.ndim(),
        Runtime,
        "Length of pad should be no more than twice the number of dimensions of the input. Pad length is {} while the \
         input has {} dimensions.",
        pad.len(),
        self_.ndim()
    );
    let mut sizes = DimVec::from_slice(self_.sizes());
    for (nth, widths) in pad.chunks_exact(2).enumerate() {
        let dim = sizes.len() - 1 - nth;
        let (old, new) = (sizes[dim], sizes[dim].saturating_add(widths[0]).saturating_add(widths[1]));
        // The cropped part must be within the tensor.
        let kept = old.saturating_add(widths[0].min(0)).saturating_add(widths[1].min(0));
        ensure!(
            new >= 0 && kept >= 0,
            Runtime,
            "The input size {old}, plus negative padding {} and {} resulted in a negative output size, which is invalid. \
             Check dimension {dim} of your input.",
            widths[0],
            widths[1]
        );
        sizes[dim] = new;
    }
    Ok(Spec::new(&sizes, self_.dtype, self_.device))
}
