//! Operators made of operators. They get gradients from their parts.
//!
//! Those of the families that every build has are here, the others in a file for each family.

#[cfg(feature = "op-activation")]
mod activation;
#[cfg(feature = "op-linalg")]
mod linalg;
#[cfg(feature = "op-loss")]
mod loss;
#[cfg(feature = "op-nn")]
mod nn;

#[cfg(feature = "op-activation")]
pub use activation::*;
#[cfg(feature = "op-linalg")]
pub use linalg::*;
#[cfg(feature = "op-loss")]
pub use loss::*;
#[cfg(feature = "op-nn")]
pub use nn::*;

use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Device, DimVec, MemoryFormat, Result, Scalar, ensure, format_sizes, wrap_dim};

/// The complex conjugate; a real tensor is its own.
pub fn conj(self_: &Tensor) -> Result<Tensor> {
    if self_.dtype().is_complex() { ops::conj_physical(self_) } else { Ok(self_.clone()) }
}

/// Conjugates are computed at once here: there is never one to resolve.
pub fn resolve_conj(self_: &Tensor) -> Result<Tensor> {
    Ok(self_.clone())
}

/// The real part; a real tensor is its own.
pub fn real(self_: &Tensor) -> Result<Tensor> {
    if self_.dtype().is_complex() { ops::_real_part(self_) } else { Ok(self_.clone()) }
}

fn unbiased_correction(unbiased: bool) -> Option<Scalar> {
    Some(Scalar::Int(i64::from(unbiased)))
}

/// The variance of all elements.
pub fn var(self_: &Tensor, unbiased: bool) -> Result<Tensor> {
    ops::var_correction(self_, None, unbiased_correction(unbiased), false)
}

/// The variance along dimensions.
pub fn var_dim(self_: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
    ops::var_correction(self_, dim, unbiased_correction(unbiased), keepdim)
}

/// The standard deviation of all elements.
pub fn std(self_: &Tensor, unbiased: bool) -> Result<Tensor> {
    ops::std_correction(self_, None, unbiased_correction(unbiased), false)
}

/// The standard deviation along dimensions.
pub fn std_dim(self_: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
    ops::std_correction(self_, dim, unbiased_correction(unbiased), keepdim)
}

/// The variance and the mean of all elements.
pub fn var_mean(self_: &Tensor, unbiased: bool) -> Result<(Tensor, Tensor)> {
    var_mean_correction(self_, None, unbiased_correction(unbiased), false)
}

/// The variance and the mean along dimensions.
pub fn var_mean_dim(self_: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<(Tensor, Tensor)> {
    var_mean_correction(self_, dim, unbiased_correction(unbiased), keepdim)
}

/// The variance and the mean along dimensions.
pub fn var_mean_correction(
    self_: &Tensor,
    dim: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
) -> Result<(Tensor, Tensor)> {
    Ok((ops::var_correction(self_, dim, correction, keepdim)?, ops::mean_dim(self_, dim, keepdim, None)?))
}

/// The standard deviation and the mean of all elements.
pub fn std_mean(self_: &Tensor, unbiased: bool) -> Result<(Tensor, Tensor)> {
    std_mean_correction(self_, None, unbiased_correction(unbiased), false)
}

/// The standard deviation and the mean along dimensions.
pub fn std_mean_dim(self_: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<(Tensor, Tensor)> {
    std_mean_correction(self_, dim, unbiased_correction(unbiased), keepdim)
}

/// The standard deviation and the mean along dimensions.
pub fn std_mean_correction(
    self_: &Tensor,
    dim: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
) -> Result<(Tensor, Tensor)> {
    Ok((ops::std_correction(self_, dim, correction, keepdim)?, ops::mean_dim(self_, dim, keepdim, None)?))
}

/// The smallest and the largest element, along a dimension or of all.
pub fn aminmax(self_: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let dims: DimVec = dim.into_iter().collect();
    Ok((ops::amin(self_, &dims, keepdim)?, ops::amax(self_, &dims, keepdim)?))
}

/// The sum along dimensions of what is not NaN.
pub fn nansum(self_: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    ensure!(!self_.dtype().is_complex(), Runtime, "nansum does not support complex inputs");
    if self_.dtype().is_integral(true) {
        return ops::sum_dim_intlist(self_, dim, keepdim, dtype);
    }
    let numbers = ops::masked_fill_scalar(self_, &ops::isnan(self_)?, Scalar::Int(0))?;
    ops::sum_dim_intlist(&numbers, dim, keepdim, dtype)
}

/// The mean along dimensions of what is not NaN.
pub fn nanmean(self_: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    ensure!(
        self_.dtype().is_differentiable(),
        Runtime,
        "nanmean(): expected input to have floating point or complex dtype but got {}",
        self_.dtype().c10_name()
    );
    let numbers = ops::logical_not(&ops::isnan(&ops::detach(self_)?)?)?;
    let count = ops::sum_dim_intlist(&numbers, dim, keepdim, None)?;
    ops::div_tensor(&nansum(self_, dim, keepdim, dtype)?, &count)
}

/// The norm of all elements.
pub fn norm_scalar(self_: &Tensor, p: Scalar) -> Result<Tensor> {
    norm(self_, Some(p), &[], false, None)
}

/// The norm of all elements, computed in `dtype`.
pub fn norm_scalaropt_dtype(self_: &Tensor, p: Option<Scalar>, dtype: DType) -> Result<Tensor> {
    norm(self_, p, &[], false, Some(dtype))
}

/// The norm along dimensions.
pub fn norm_scalaropt_dim(self_: &Tensor, p: Option<Scalar>, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    norm(self_, p, dim, keepdim, None)
}

/// The norm along dimensions, computed in `dtype`.
pub fn norm_scalaropt_dim_dtype(
    self_: &Tensor,
    p: Option<Scalar>,
    dim: &[i64],
    keepdim: bool,
    dtype: DType,
) -> Result<Tensor> {
    norm(self_, p, dim, keepdim, Some(dtype))
}

/// The Euclidean norm along dimensions.
pub fn frobenius_norm_dim(self_: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    ops::linalg_vector_norm(self_, Scalar::Int(2), Some(dim), keepdim, None)
}

fn norm(self_: &Tensor, p: Option<Scalar>, dim: &[i64], keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    ensure!(
        self_.dtype().is_differentiable(),
        Runtime,
        "norm(): input dtype should be either floating point or complex. Got {} instead.",
        self_.dtype().c10_name()
    );
    ops::linalg_vector_norm(self_, p.unwrap_or(Scalar::Int(2)), Some(dim), keepdim, dtype)
}

/// The logarithm of a sum of exponentials, shifted by the largest so that none overflows.
pub fn logsumexp(self_: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    let floating;
    let self_ = if self_.dtype().is_integral(true) {
        floating = ops::to_dtype(self_, ops::rules::scalar_dtype(Scalar::Float(0.0)), false, false, None)?;
        &floating
    } else {
        self_
    };
    if self_.numel() == 0 {
        return ops::log(&ops::sum_dim_intlist(&ops::exp(self_)?, Some(dim), keepdim, None)?);
    }
    let most = ops::detach(&ops::amax(&ops::real(self_)?, dim, true)?)?;
    // Infinities are left where they are: their differences are none.
    let infinite = ops::eq_scalar(&ops::mul_scalar(&most, Scalar::Int(0))?, Scalar::Int(0))?;
    let most = ops::masked_fill_scalar(&most, &ops::logical_not(&infinite)?, Scalar::Int(0))?;
    let sum = ops::sum_dim_intlist(&ops::exp(&ops::sub_tensor(self_, &most, Scalar::Int(1))?)?, Some(dim), true, None)?;
    let result = ops::add_tensor(&ops::log(&sum)?, &most, Scalar::Int(1))?;
    if keepdim {
        return Ok(result);
    }
    let sizes = ops::rules::DimSet::new(Some(dim), self_.ndim())?.reduce(&self_.sizes(), false);
    ops::reshape(&result, &sizes)
}

/// The tensor itself if it is laid out so, else a copy that is.
pub fn contiguous(self_: &Tensor, memory_format: MemoryFormat) -> Result<Tensor> {
    ensure!(
        memory_format != MemoryFormat::Preserve,
        Runtime,
        "preserve memory format is unsupported by the contiguous operator"
    );
    if self_.is_contiguous(memory_format) { Ok(self_.clone()) } else { ops::clone(self_, Some(memory_format)) }
}

/// The tensor itself if nothing has to change, else a converted copy.
fn to(
    self_: &Tensor,
    options: Options,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    let keeps_device = options.device.is_none_or(|device| {
        let own = self_.device();
        own.kind == device.kind && (device.index < 0 || own.index.max(0) == device.index)
    });
    let keeps_layout = match memory_format {
        None | Some(MemoryFormat::Preserve) => true,
        Some(format) => self_.is_contiguous(format),
    };
    let keeps_dtype = options.dtype.is_none_or(|dtype| dtype == self_.dtype());
    if keeps_dtype && keeps_device && keeps_layout && !copy {
        return Ok(self_.clone());
    }
    ops::_to_copy(self_, options, non_blocking, memory_format)
}

/// As another dtype.
pub fn to_dtype(
    self_: &Tensor,
    dtype: DType,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    to(self_, Options::of(dtype), non_blocking, copy, memory_format)
}

/// As another dtype, on a device.
pub fn to_device(
    self_: &Tensor,
    device: Device,
    dtype: DType,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    to(self_, Options::of(dtype).on(device), non_blocking, copy, memory_format)
}

/// With dtype, layout and device as told.
pub fn to_dtype_layout(
    self_: &Tensor,
    options: Options,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    options.check()?;
    to(self_, options, non_blocking, copy, memory_format)
}

/// With dtype and device of another tensor.
pub fn to_other(
    self_: &Tensor,
    other: &Tensor,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    to(self_, other.options(), non_blocking, copy, memory_format)
}

/// A view where strides allow, else a copy.
pub fn reshape(self_: &Tensor, shape: &[i64]) -> Result<Tensor> {
    let sizes = ops::views::infer_size(shape, self_.numel())?;
    if ops::views::view_strides(&self_.sizes(), &self_.strides(), &sizes).is_some() {
        return ops::view(self_, &sizes);
    }
    ops::view(&ops::clone(self_, Some(MemoryFormat::Contiguous))?, &sizes)
}

/// A view in the shape of another tensor.
pub fn view_as(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    ops::view(self_, &other.sizes())
}

/// Expanded to the shape of another tensor.
pub fn expand_as(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    ops::expand(self_, &other.sizes(), false)
}

/// Dimensions `start_dim` to `end_dim` as one.
pub fn flatten(self_: &Tensor, start_dim: i64, end_dim: i64) -> Result<Tensor> {
    let (first, last) = (wrap_dim(start_dim, self_.ndim())?, wrap_dim(end_dim, self_.ndim())?);
    ensure!(first <= last, Runtime, "flatten() has invalid args: start_dim cannot come after end_dim");
    if self_.ndim() == 0 {
        return ops::reshape(self_, &[1]);
    }
    if first == last {
        return Ok(self_.clone());
    }
    let sizes = self_.sizes();
    let mut shape = DimVec::from_slice(&sizes[..first]);
    shape.push(sizes[first..=last].iter().product());
    shape.extend_from_slice(&sizes[last + 1..]);
    ops::reshape(self_, &shape)
}

/// `length` elements of a dimension from `start` on.
pub fn narrow(self_: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    ensure!(self_.ndim() > 0, Runtime, "narrow() cannot be applied to a 0-dim tensor.");
    ensure!(length >= 0, Runtime, "narrow(): length must be non-negative.");
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    ensure!(
        (-size..=size).contains(&start),
        Index,
        "start out of range (expected to be in range of [{}, {size}], but got {start})",
        -size
    );
    let start = if start < 0 { start + size } else { start };
    ensure!(start <= size - length, Runtime, "start ({start}) + length ({length}) exceeds dimension size ({size}).");
    ops::slice_tensor(self_, dim, Some(start), Some(start + length), 1)
}

/// Pieces of `split_size` along a dimension; the last may be smaller.
pub fn split(self_: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
    ensure!(self_.ndim() > 0, Runtime, "split expects at least a 1-dimensional tensor");
    ensure!(split_size >= 0, Runtime, "split expects split_size be non-negative, but got split_size={split_size}");
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    ensure!(
        split_size > 0 || size == 0,
        Runtime,
        "split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
    );
    let count = if split_size == 0 { 1 } else { ((size + split_size - 1) / split_size).max(1) };
    (0..count)
        .map(|at| {
            let start = at * split_size;
            ops::slice_tensor(self_, dim, Some(start), Some((start + split_size).min(size)), 1)
        })
        .collect()
}

/// Pieces of the given sizes along a dimension.
pub fn split_with_sizes(self_: &Tensor, split_size: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    ensure!(self_.ndim() != 0, Runtime, "split expects at least a 1-dimensional tensor");
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    ensure!(
        split_size.iter().all(|&length| length >= 0),
        Runtime,
        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={}",
        format_sizes(split_size)
    );
    ensure!(
        split_size.iter().sum::<i64>() == size,
        Runtime,
        "split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {dim}), but \
         got split_sizes={}",
        format_sizes(split_size)
    );
    let mut start = 0;
    let mut piece = |length: i64| {
        let end = start + length;
        let piece = ops::slice_tensor(self_, dim, Some(start), Some(end), 1);
        start = end;
        piece
    };
    split_size.iter().map(|&length| piece(length)).collect()
}

/// The slices of a dimension.
pub fn unbind(self_: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    ensure!(self_.ndim() > 0, Index, "Dimension specified as {dim} but tensor has no dimensions");
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    (0..size).map(|at| ops::select_int(self_, dim, at)).collect()
}

/// self, or a number, by a condition.
pub fn where_scalarother(condition: &Tensor, self_: &Tensor, other: Scalar) -> Result<Tensor> {
    ops::where_self(condition, self_, &number(other, condition)?)
}

/// A number, or other, by a condition.
pub fn where_scalarself(condition: &Tensor, self_: Scalar, other: &Tensor) -> Result<Tensor> {
    ops::where_self(condition, &number(self_, condition)?, other)
}

/// One of two numbers, by a condition.
pub fn where_scalar(condition: &Tensor, self_: Scalar, other: Scalar) -> Result<Tensor> {
    ops::where_self(condition, &number(self_, condition)?, &number(other, condition)?)
}

/// A number as a 0-dim tensor that yields in promotion.
fn number(value: Scalar, like: &Tensor) -> Result<Tensor> {
    let tensor = ops::full(&[], value, Options::of(value.dtype()).on(like.device()))?;
    tensor.set_wrapped_number(true)?;
    Ok(tensor)
}

/// The gradient of `index_select`: the gradient's slices added up where they came from.
pub fn index_select_backward(grad: &Tensor, self_sizes: &[i64], dim: i64, index: &Tensor) -> Result<Tensor> {
    ops::index_add(&ops::zeros(self_sizes, grad.options())?, dim, index, grad, Scalar::Int(1))
}

/// Elements at indices along a dimension, which broadcast with the tensor; of all elements without a dimension.
pub fn take_along_dim(self_: &Tensor, indices: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    let Some(dim) = dim else {
        return ops::gather(&ops::reshape(self_, &[-1])?, 0, &ops::reshape(indices, &[-1])?, false);
    };
    ensure!(
        self_.ndim() == indices.ndim(),
        Runtime,
        "torch.take_along_dim(): input and indices should have the same number of dimensions, but got {} dimensions for \
         input, and {} dimensions for indices",
        self_.ndim(),
        indices.ndim()
    );
    let dim = wrap_dim(dim, self_.ndim())?;
    let (mut own, mut others) = (self_.sizes(), indices.sizes());
    for at in (0..own.len()).filter(|&at| at != dim) {
        // Sizes that differ, neither of them 1, are what `expand` refuses.
        let size = if own[at] == 1 { others[at] } else { own[at] };
        (own[at], others[at]) = (size, size);
    }
    ops::gather(&ops::expand(self_, &own, false)?, dim as i64, &ops::expand(indices, &others, false)?, false)
}

/// The gradient of a reduction that picks one element: the gradient at the picked places.
pub fn value_selecting_reduction_backward(
    grad: &Tensor,
    dim: i64,
    indices: &Tensor,
    sizes: &[i64],
    keepdim: bool,
) -> Result<Tensor> {
    let zeros = ops::zeros(sizes, grad.options())?;
    if keepdim || sizes.is_empty() {
        return ops::scatter_src(&zeros, dim, indices, grad);
    }
    ops::scatter_src(&zeros, dim, &ops::unsqueeze(indices, dim)?, &ops::unsqueeze(grad, dim)?)
}

/// The floating dtype that softmax computes in.
#[cfg(any(feature = "op-loss", feature = "op-nn"))]
fn softmax_input(self_: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    match dtype {
        Some(dtype) => ops::to_dtype(self_, dtype, false, false, None),
        None => Ok(self_.clone()),
    }
}
