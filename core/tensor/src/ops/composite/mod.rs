//! Composite operators. Their gradients are those of the operators that they call.
//!
//! Operators of the families that every build contains are here, the others in a file for each family.

#[cfg(feature = "op-activation")]
mod activation;
mod advanced;
#[cfg(feature = "op-nn")]
mod attention;
#[cfg(feature = "op-bitwise")]
mod bitwise;
#[cfg(feature = "op-convolution")]
mod convolution;
#[cfg(feature = "op-loss")]
mod ctc;
#[cfg(feature = "op-detection")]
mod detection;
#[cfg(feature = "op-distance")]
mod distance;
#[cfg(feature = "op-nn")]
mod dropout;
#[cfg(feature = "op-linalg")]
mod einsum;
#[cfg(feature = "op-elementary")]
mod elementary;
#[cfg(feature = "op-nn")]
pub(crate) mod embedding_bag;
#[cfg(feature = "op-nn")]
mod encoder;
#[cfg(feature = "op-factory")]
mod factory;
#[cfg(feature = "op-sorting")]
mod histogram;
mod indexing;
#[cfg(feature = "op-joining")]
mod joining;
#[cfg(feature = "op-linalg")]
mod linalg;
#[cfg(feature = "op-loss")]
mod loss;
#[cfg(feature = "op-loss")]
mod losses;
#[cfg(feature = "op-linalg")]
mod matrices;
#[cfg(feature = "op-nested")]
mod nested;
#[cfg(feature = "op-nn")]
mod nn;
#[cfg(feature = "op-normalization")]
mod normalization;
#[cfg(feature = "op-numeric")]
mod numeric;
#[cfg(feature = "op-recurrent")]
mod packed;
#[cfg(feature = "op-pooling")]
mod pooling;
#[cfg(feature = "op-quantization")]
mod quantization;
#[cfg(feature = "op-random")]
mod random;
#[cfg(feature = "op-recurrent")]
pub(crate) mod recurrent;
#[cfg(feature = "op-sorting")]
mod segments;
#[cfg(feature = "op-series")]
mod series;
#[cfg(feature = "op-sorting")]
mod sorting;
#[cfg(feature = "op-sparse")]
mod sparse;
#[cfg(feature = "op-special")]
mod special;
mod view;
#[cfg(feature = "op-view_copy")]
mod view_copy;
#[cfg(feature = "op-vision")]
mod vision;

#[cfg(feature = "op-activation")]
pub use activation::*;
pub use advanced::*;
#[cfg(feature = "op-nn")]
pub use attention::*;
#[cfg(feature = "op-bitwise")]
pub use bitwise::*;
#[cfg(feature = "op-convolution")]
pub use convolution::*;
#[cfg(feature = "op-loss")]
pub use ctc::*;
#[cfg(feature = "op-detection")]
pub use detection::*;
#[cfg(feature = "op-distance")]
pub use distance::*;
#[cfg(feature = "op-nn")]
pub use dropout::*;
#[cfg(feature = "op-linalg")]
pub use einsum::*;
#[cfg(feature = "op-elementary")]
pub use elementary::*;
#[cfg(feature = "op-nn")]
pub use embedding_bag::*;
#[cfg(feature = "op-nn")]
pub use encoder::*;
#[cfg(feature = "op-factory")]
pub use factory::*;
#[cfg(feature = "op-sorting")]
pub use histogram::*;
pub use indexing::*;
#[cfg(feature = "op-joining")]
pub use joining::*;
#[cfg(feature = "op-linalg")]
pub use linalg::*;
#[cfg(feature = "op-loss")]
pub use loss::*;
#[cfg(feature = "op-loss")]
pub use losses::*;
#[cfg(feature = "op-linalg")]
pub use matrices::*;
#[cfg(feature = "op-nested")]
pub use nested::*;
#[cfg(feature = "op-nn")]
pub use nn::*;
#[cfg(feature = "op-normalization")]
pub use normalization::*;
#[cfg(feature = "op-numeric")]
pub use numeric::*;
#[cfg(feature = "op-recurrent")]
pub use packed::{pack_padded_sequence, pad_packed_sequence};
#[cfg(feature = "op-pooling")]
pub use pooling::*;
#[cfg(feature = "op-quantization")]
pub use quantization::*;
#[cfg(feature = "op-random")]
pub use random::*;
#[cfg(feature = "op-recurrent")]
pub use recurrent::*;
#[cfg(feature = "op-sorting")]
pub use segments::*;
#[cfg(feature = "op-series")]
pub use series::*;
#[cfg(feature = "op-sorting")]
pub use sorting::*;
#[cfg(feature = "op-sparse")]
pub use sparse::*;
#[cfg(feature = "op-special")]
pub use special::*;
pub use view::*;
#[cfg(feature = "op-view_copy")]
pub use view_copy::*;
#[cfg(feature = "op-vision")]
pub use vision::*;

#[cfg(any(feature = "op-convolution", feature = "op-nn"))]
use crate::autograd::Expr;
use crate::autograd::formulas;
use crate::dispatch;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Device, DimVec, MemoryFormat, Result, Scalar, ensure, format_sizes, wrap_dim};
#[cfg(feature = "op-nn")]
use rushlight_base::{DeviceType, Layout};

/// Whether kernels that only the CPU has accept the tensor. A plan of a compiled model is recorded with tensors of the meta
/// device in place of those of the CPU.
#[cfg(feature = "op-nn")]
fn has_host_kernels(tensor: &Tensor) -> bool {
    matches!(tensor.device().kind, DeviceType::Cpu | DeviceType::Meta) && tensor.layout() == Layout::Strided
}

/// The complex conjugate; a real tensor is returned unchanged.
pub fn conj(self_: &Tensor) -> Result<Tensor> {
    if self_.dtype().is_complex() { ops::_conj(self_) } else { Ok(self_.clone()) }
}

/// Materializes a lazy conjugation.
pub fn resolve_conj(self_: &Tensor) -> Result<Tensor> {
    if self_.is_conj() { dispatch::carried_out(self_) } else { Ok(self_.clone()) }
}

/// Materializes a lazy negation.
pub fn resolve_neg(self_: &Tensor) -> Result<Tensor> {
    if self_.is_neg() { dispatch::carried_out(self_) } else { Ok(self_.clone()) }
}

/// The real (0) or imaginary (1) parts of a complex tensor without the conj bit.
fn part(self_: &Tensor, which: i64) -> Result<Tensor> {
    ops::select_int(&ops::view_as_real(self_)?, -1, which)
}

/// The imaginary part; for a lazily conjugated tensor its lazy negation.
pub fn imag(self_: &Tensor) -> Result<Tensor> {
    ensure!(self_.dtype().is_complex(), Runtime, "imag is not implemented for tensors with non-complex dtypes.");
    if self_.is_conj() { ops::_neg_view(&part(&ops::_conj(self_)?, 1)?) } else { part(self_, 1) }
}

/// Pairs of half-precision numbers as complex numbers.
pub fn chalf(self_: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
    to(self_, Options::of(DType::C32), false, false, memory_format)
}

/// The real part; a real tensor is returned unchanged.
pub fn real(self_: &Tensor) -> Result<Tensor> {
    if !self_.dtype().is_complex() {
        return Ok(self_.clone());
    }
    if self_.is_conj() { part(&ops::_conj(self_)?, 0) } else { part(self_, 0) }
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

/// Like `var_dim`, written to `out`.
pub fn var_dim_out(self_: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool, out: &Tensor) -> Result<()> {
    ops::var_correction_out(self_, dim, unbiased_correction(unbiased), keepdim, out)
}

/// The standard deviation of all elements.
pub fn std(self_: &Tensor, unbiased: bool) -> Result<Tensor> {
    ops::std_correction(self_, None, unbiased_correction(unbiased), false)
}

/// The standard deviation along dimensions.
pub fn std_dim(self_: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
    ops::std_correction(self_, dim, unbiased_correction(unbiased), keepdim)
}

/// Like `std_dim`, written to `out`.
pub fn std_dim_out(self_: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool, out: &Tensor) -> Result<()> {
    ops::std_correction_out(self_, dim, unbiased_correction(unbiased), keepdim, out)
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

/// The tensor with zeros for NaN.
fn numbers(self_: &Tensor) -> Result<Tensor> {
    ensure!(!self_.dtype().is_complex(), Runtime, "nansum does not support complex inputs");
    if self_.dtype().is_integral(true) {
        return Ok(self_.clone());
    }
    ops::masked_fill_scalar(self_, &ops::isnan(self_)?, Scalar::Int(0))
}

/// The sum of the elements that are not NaN along dimensions.
pub fn nansum(self_: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    ops::sum_dim_intlist(&numbers(self_)?, dim, keepdim, dtype)
}

/// Like `nansum`, written to `out`.
pub fn nansum_out(
    self_: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
    out: &Tensor,
) -> Result<()> {
    ops::sum_intlist_out(&numbers(self_)?, dim, keepdim, dtype, out)
}

/// The sum over the dimensions that broadcasting from `size` would have expanded.
pub fn sum_to_size(self_: &Tensor, size: &[i64]) -> Result<Tensor> {
    let own = self_.sizes();
    let lead = own.len().checked_sub(size.len());
    let fits = lead.is_some_and(|lead| own[lead..].iter().zip(size).all(|(&own, &size)| own == size || size == 1));
    ensure!(fits, Runtime, "size {{{}}} is not expandable to size {{{}}}.", format_sizes(size), format_sizes(&own));
    if size.is_empty() {
        return ops::sum(self_, None);
    }
    let lead = lead.unwrap_or(0);
    let reduced = (0..own.len()).filter(|&dim| dim < lead || size[dim - lead] != own[dim]);
    let dims: DimVec = reduced.map(|dim| dim as i64).collect();
    if dims.is_empty() {
        return ops::alias(self_);
    }
    ops::reshape(&ops::sum_dim_intlist(self_, Some(&dims), true, None)?, size)
}

/// The sum and the number of the elements that are not NaN along dimensions.
fn sum_and_count(self_: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<(Tensor, Tensor)> {
    ensure!(
        self_.dtype().is_differentiable(),
        Runtime,
        "nanmean(): expected input to have floating point or complex dtype but got {}",
        self_.dtype().c10_name()
    );
    let numbers = ops::logical_not(&ops::isnan(&ops::detach(self_)?)?)?;
    let count = ops::sum_dim_intlist(&numbers, dim, keepdim, None)?;
    Ok((nansum(self_, dim, keepdim, dtype)?, count))
}

/// The mean of the elements that are not NaN along dimensions.
pub fn nanmean(self_: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let (sum, count) = sum_and_count(self_, dim, keepdim, dtype)?;
    ops::div_tensor(&sum, &count)
}

/// Like `nanmean`, written to `out`.
pub fn nanmean_out(
    self_: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
    out: &Tensor,
) -> Result<()> {
    let (sum, count) = sum_and_count(self_, dim, keepdim, dtype)?;
    ops::div_out(&sum, &count, out)
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

/// Like `norm_scalaropt_dim`, written to `out`.
pub fn norm_scalaropt_dim_out(
    self_: &Tensor,
    p: Option<Scalar>,
    dim: &[i64],
    keepdim: bool,
    out: &Tensor,
) -> Result<()> {
    norm_out(self_, p, dim, keepdim, None, out)
}

/// Like `norm_scalaropt_dim_dtype`, written to `out`.
pub fn norm_scalaropt_dim_dtype_out(
    self_: &Tensor,
    p: Option<Scalar>,
    dim: &[i64],
    keepdim: bool,
    dtype: DType,
    out: &Tensor,
) -> Result<()> {
    norm_out(self_, p, dim, keepdim, Some(dtype), out)
}

/// Like `frobenius_norm_dim`, written to `out`.
pub fn frobenius_norm_dim_out(self_: &Tensor, dim: &[i64], keepdim: bool, out: &Tensor) -> Result<()> {
    ops::linalg_vector_norm_out(self_, Scalar::Int(2), Some(dim), keepdim, None, out)
}

/// The Euclidean norm along dimensions.
pub fn frobenius_norm_dim(self_: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    ops::linalg_vector_norm(self_, Scalar::Int(2), Some(dim), keepdim, None)
}

fn norm(self_: &Tensor, p: Option<Scalar>, dim: &[i64], keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    check_norm(self_)?;
    ops::linalg_vector_norm(self_, p.unwrap_or(Scalar::Int(2)), Some(dim), keepdim, dtype)
}

fn norm_out(
    self_: &Tensor,
    p: Option<Scalar>,
    dim: &[i64],
    keepdim: bool,
    dtype: Option<DType>,
    out: &Tensor,
) -> Result<()> {
    check_norm(self_)?;
    ops::linalg_vector_norm_out(self_, p.unwrap_or(Scalar::Int(2)), Some(dim), keepdim, dtype, out)
}

fn check_norm(self_: &Tensor) -> Result<()> {
    ensure!(
        self_.dtype().is_differentiable(),
        Runtime,
        "norm(): input dtype should be either floating point or complex. Got {} instead.",
        self_.dtype().c10_name()
    );
    Ok(())
}

/// The logarithm of a sum of exponentials, shifted by the largest so that none overflows.
pub fn logsumexp(self_: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    let (sum, shift) = shifted_logsumexp(self_, dim, keepdim)?;
    shift.map_or_else(|| ops::log(&sum), |shift| ops::add_tensor(&ops::log(&sum)?, &shift, Scalar::Int(1)))
}

/// Like `logsumexp`, written to `out`.
pub fn logsumexp_out(self_: &Tensor, dim: &[i64], keepdim: bool, out: &Tensor) -> Result<()> {
    let (sum, shift) = shifted_logsumexp(self_, dim, keepdim)?;
    match shift {
        None => ops::log_out(&sum, out),
        Some(shift) => ops::add_out(&ops::log(&sum)?, &shift, Scalar::Int(1), out),
    }
}

/// A sum of exponentials and the shift of its logarithm.
fn shifted_logsumexp(self_: &Tensor, dim: &[i64], keepdim: bool) -> Result<(Tensor, Option<Tensor>)> {
    let floating;
    let self_ = if self_.dtype().is_integral(true) {
        floating = ops::to_dtype(self_, ops::rules::scalar_dtype(Scalar::Float(0.0)), false, false, None)?;
        &floating
    } else {
        self_
    };
    if self_.numel() == 0 {
        return Ok((ops::sum_dim_intlist(&ops::exp(self_)?, Some(dim), keepdim, None)?, None));
    }
    ensure!(
        !dim.is_empty() || keepdim || self_.ndim() == 0,
        Runtime,
        "output with shape [] doesn't match the broadcast shape {}",
        format_sizes(&vec![1; self_.ndim()])
    );
    let most = ops::detach(&ops::amax(&ops::real(self_)?, dim, true)?)?;
    // The maximum is not subtracted where it is infinite: the difference of infinities is NaN.
    let infinite = ops::eq_scalar(&ops::mul_scalar(&most, Scalar::Int(0))?, Scalar::Int(0))?;
    let most = ops::masked_fill_scalar(&most, &ops::logical_not(&infinite)?, Scalar::Int(0))?;
    let sum = ops::sum_dim_intlist(&ops::exp(&ops::sub_tensor(self_, &most, Scalar::Int(1))?)?, Some(dim), true, None)?;
    if keepdim {
        return Ok((sum, Some(most)));
    }
    let sizes = ops::rules::DimSet::new(Some(dim), self_.ndim())?.reduce(&self_.sizes(), false);
    Ok((ops::reshape(&sum, &sizes)?, Some(ops::reshape(&most, &sizes)?)))
}

/// The tensor itself if it is contiguous in this format, else a contiguous copy.
pub fn contiguous(self_: &Tensor, memory_format: MemoryFormat) -> Result<Tensor> {
    if self_.is_contiguous(memory_format) {
        return Ok(self_.clone());
    }
    ensure!(
        memory_format != MemoryFormat::Preserve,
        Runtime,
        "preserve memory format is unsupported by the contiguous operator"
    );
    ops::clone(self_, Some(memory_format))
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
        Some(format) => self_.suggested_format() == format,
    };
    let keeps_dtype = options.dtype.is_none_or(|dtype| dtype == self_.dtype());
    if keeps_dtype && keeps_device && keeps_layout && !copy {
        return Ok(self_.clone());
    }
    ops::_to_copy(self_, options, non_blocking, memory_format)
}

/// Converts to another dtype.
pub fn to_dtype(
    self_: &Tensor,
    dtype: DType,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    to(self_, Options::of(dtype), non_blocking, copy, memory_format)
}

/// Converts to another dtype, on a device.
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

/// Converts to the given dtype, layout and device.
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

/// Converts to dtype and device of another tensor.
pub fn to_other(
    self_: &Tensor,
    other: &Tensor,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    to(self_, other.options(), non_blocking, copy, memory_format)
}

/// Selects from self or a number, by a condition.
pub fn where_scalarother(condition: &Tensor, self_: &Tensor, other: Scalar) -> Result<Tensor> {
    ops::where_self(condition, self_, &number(other, condition)?)
}

/// Selects from a number or other, by a condition.
pub fn where_scalarself(condition: &Tensor, self_: Scalar, other: &Tensor) -> Result<Tensor> {
    ops::where_self(condition, &number(self_, condition)?, other)
}

/// Selects one of two numbers, by a condition.
pub fn where_scalar(condition: &Tensor, self_: Scalar, other: Scalar) -> Result<Tensor> {
    ops::where_self(condition, &number(self_, condition)?, &number(other, condition)?)
}

/// A number as a wrapped 0-dim tensor, which has lower priority in promotion.
fn number(value: Scalar, like: &Tensor) -> Result<Tensor> {
    let tensor = ops::full(&[], value, Options::of(value.dtype()).on(like.device()))?;
    tensor.set_wrapped_number(true)?;
    Ok(tensor)
}

/// The gradient of a reduction that selects one element: the gradient at the selected indices.
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

/// `found` as an in-place operator writes it to `target`: it must have the target's shape, and is cast to its dtype.
#[cfg(feature = "op-activation")]
fn written(target: &Expr, found: Expr) -> Expr {
    Expr::of(|| {
        let (target, found) = (target.tensor()?, found.tensor()?);
        let (sizes, dtype) = (target.sizes(), target.dtype());
        ensure!(
            found.sizes() == sizes,
            Runtime,
            "output with shape {} doesn't match the broadcast shape {}",
            format_sizes(&sizes),
            format_sizes(&found.sizes())
        );
        crate::dense::check_cast(found.dtype(), dtype)?;
        ops::to_dtype(found, dtype, false, false, None)
    })
}

/// `number` minus a tensor, in the dtype of the tensor: as in PyTorch, the number is converted to it first.
#[cfg(feature = "op-loss")]
fn number_minus(number: f64, self_: &Expr) -> Expr {
    let number = Expr::of(|| ops::full(&[], Scalar::Float(number), self_.options()));
    number - self_
}

/// The flags of `output_mask`, one for each gradient.
#[cfg(any(feature = "op-convolution", feature = "op-nn"))]
fn output_mask(operator: &str, mask: &[bool]) -> Result<[bool; 3]> {
    mask.try_into()
        .map_err(|_| rushlight_base::err!(Runtime, "{operator}: output_mask has three elements, not {}", mask.len()))
}

/// Checks that a gradient is like the input of a norm.
#[cfg(feature = "op-nn")]
fn check_alike(operator: &str, grad: &Tensor, input: &Tensor) -> Result<()> {
    ensure!(
        grad.sizes() == input.sizes() && grad.dtype() == input.dtype() && input.dtype().is_floating(),
        Runtime,
        "{operator}: expected a gradient like the floating-point input {} {}, but got {} {}",
        input.dtype().c10_name(),
        format_sizes(&input.sizes()),
        grad.dtype().c10_name(),
        format_sizes(&grad.sizes())
    );
    Ok(())
}

/// A gradient, or an empty tensor if it is not selected.
#[cfg(any(feature = "op-convolution", feature = "op-nn"))]
fn selected(wanted: bool, options: Options, gradient: impl FnOnce() -> Expr) -> Result<Tensor> {
    if wanted { gradient().into_tensor() } else { ops::empty_memory_format(&[0], options, None) }
}

/// A copy of `src` with the shape, strides and dtype of `self`.
pub fn copy(self_: &Tensor, src: &Tensor, non_blocking: bool) -> Result<Tensor> {
    let (sizes, strides) = (self_.sizes(), self_.strides());
    let out = if self_.dense()?.has_internal_overlap() {
        ops::empty_like(self_, Options::default(), None)?
    } else {
        ops::empty_strided(&sizes, &strides, self_.options())?
    };
    ops::copy_(&out, src, non_blocking)?;
    Ok(out)
}

/// The gradient of `cumprod`.
pub fn cumprod_backward(grad: &Tensor, input: &Tensor, dim: i64, output: &Tensor) -> Result<Tensor> {
    let at = wrap_dim(dim, input.ndim())?;
    if input.numel() <= 1 || input.sizes()[at] == 1 {
        return Ok(grad.clone());
    }
    let found = formulas::cumprod(&grad.into(), &input.into(), &output.into(), dim).into_tensor()?;
    // Without zeros the result is a quotient; beside zeros it has the dtype of the gradient.
    if found.dtype() == grad.dtype() || formulas::count_zeros(&input.into())? == 0 {
        return Ok(found);
    }
    ops::to_dtype(&found, grad.dtype(), false, false, None)
}

/// The gradient of `cummax` and `cummin`: added where the extrema were.
pub fn cummaxmin_backward(grad: &Tensor, input: &Tensor, indices: &Tensor, dim: i64) -> Result<Tensor> {
    if input.numel() == 0 {
        return Ok(input.clone());
    }
    ops::scatter_add(&ops::zeros(&input.sizes(), grad.options())?, dim, indices, grad)
}
