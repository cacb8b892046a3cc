//! Kernels of layer norm: statistics, weights and biases are passed to the loops in the dtype that these compute in.

use super::access::{array, copy_into};
use crate::dense::{Dense, Spec};
use rushlight_base::plan::Plan;
use rushlight_base::{DType, Result, Scalar};
use rushlight_cpu::layer_norm::{self, Outputs};
use rushlight_cpu::{Loop, fill};
use std::borrow::Cow;

/// A copy in `dtype`, without gaps.
fn packed_copy(dense: &Dense, dtype: DType) -> Result<Dense> {
    let copy = Spec::new(dense.sizes(), dtype, dense.device).allocate()?;
    copy_into(&copy, dense)?;
    Ok(copy)
}

/// `dense` in `dtype`, without gaps: vectors of a row's or a column's length.
pub(super) fn numbers(dense: &Dense, dtype: DType) -> Result<Cow<'_, Dense>> {
    let fits = dense.dtype == dtype && dense.is_contiguous();
    Ok(if fits { Cow::Borrowed(dense) } else { Cow::Owned(packed_copy(dense, dtype)?) })
}

/// A parameter in `dtype`, or as many times `value`.
fn parameter<'a>(dense: Option<&'a Dense>, value: f64, like: &Dense, dtype: DType) -> Result<Cow<'a, Dense>> {
    if let Some(dense) = dense {
        return numbers(dense, dtype);
    }
    let same = Spec::new(like.sizes(), dtype, like.device).allocate()?;
    fill::fill(&Loop::new([array(&same)])?, Scalar::Float(value))?;
    Ok(Cow::Owned(same))
}

/// `dense` if the elements of a row, the dimensions from `axis` on, have one common step (`packed`: a step of 1), else
/// a copy. A row is read several times, so its elements should be close together.
fn rows(dense: &Dense, axis: usize, packed: bool) -> Result<Cow<'_, Dense>> {
    let plan = Plan::row_major(&dense.sizes()[axis..], [&dense.strides()[axis..]]);
    let even = plan.row_len() == plan.numel() && (!packed || plan.numel() <= 1 || plan.row_steps() == [1]);
    let fits = even || dense.numel() == 0;
    Ok(if fits { Cow::Borrowed(dense) } else { Cow::Owned(packed_copy(dense, dense.dtype)?) })
}

/// out0 = rows of input normalised, times weight, plus bias; out1, out2 = the mean and the reciprocal deviation of each
#[allow(clippy::too_many_arguments)] // the operator's
pub fn native_layer_norm(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    input: &Dense,
    normalized_shape: &[i64],
    weight: Option<&Dense>,
    bias: Option<&Dense>,
    eps: f64,
) -> Result<()> {
    let axis = input.ndim() - normalized_shape.len();
    let dtype = input.dtype.opmath();
    let input = rows(input, axis, false)?;
    // A missing one is replaced by 1 or 0.
    let affine = match weight.or(bias) {
        Some(like) => Some([parameter(weight, 1.0, like, dtype)?, parameter(bias, 0.0, like, dtype)?]),
        None => None,
    };
    let affine = affine.as_ref().map(|[weight, bias]| [array(weight), array(bias)]);
    let affine = affine.as_ref().map(|[weight, bias]| [weight, bias]);
    let is_direct = |out: &Dense| out.dtype == dtype && out.is_contiguous();
    let (mean, rstd) = (!is_direct(out1), !is_direct(out2));
    let temporary = |out: &Dense| Spec::new(out.sizes(), dtype, out.device).allocate();
    let mean = if mean { Some(temporary(out1)?) } else { None };
    let rstd = if rstd { Some(temporary(out2)?) } else { None };
    // An out= argument may have any strides.
    let normalized = match rows(out0, axis, false)? {
        Cow::Borrowed(_) => None,
        Cow::Owned(copy) => Some(copy),
    };
    let outputs = Outputs {
        out: array(normalized.as_ref().unwrap_or(out0)),
        mean: array(mean.as_ref().unwrap_or(out1)),
        rstd: array(rstd.as_ref().unwrap_or(out2)),
    };
    layer_norm::layer_norm(&outputs, &array(&input), axis, affine, eps)?;
    for (out, result) in [(out0, &normalized), (out1, &mean), (out2, &rstd)] {
        if let Some(result) = result {
            copy_into(out, result)?;
        }
    }
    Ok(())
}

/// out = the gradient by input
pub fn layer_norm_backward_input(
    out: &Dense,
    grad: &Dense,
    input: &Dense,
    normalized_shape: &[i64],
    mean: &Dense,
    rstd: &Dense,
    weight: Option<&Dense>,
) -> Result<()> {
    let axis = input.ndim() - normalized_shape.len();
    let dtype = input.dtype.opmath();
    let (grad, input) = (rows(grad, axis, false)?, rows(input, axis, false)?);
    let (mean, rstd) = (numbers(mean, dtype)?, numbers(rstd, dtype)?);
    let weight = weight.map(|weight| numbers(weight, dtype)).transpose()?;
    let weight = weight.as_ref().map(|weight| array(weight));
    let statistics = [&array(&mean), &array(&rstd)];
    layer_norm::layer_norm_backward_input(&array(out), &array(&grad), &array(&input), axis, statistics, weight.as_ref())
}

/// out = the gradient by weight
#[allow(clippy::too_many_arguments)] // the operator's
pub fn layer_norm_backward_weight(
    out: &Dense,
    grad: &Dense,
    input: &Dense,
    normalized_shape: &[i64],
    mean: &Dense,
    rstd: &Dense,
    _dtype: DType,
) -> Result<()> {
    if input.numel() == 0 {
        return fill::fill(&Loop::new([array(out)])?, Scalar::Int(0));
    }
    let axis = input.ndim() - normalized_shape.len();
    let dtype = input.dtype.opmath();
    let (grad, input) = (rows(grad, axis, true)?, rows(input, axis, true)?);
    let (mean, rstd) = (numbers(mean, dtype)?, numbers(rstd, dtype)?);
    let statistics = [&array(&mean), &array(&rstd)];
    let (grad, input) = (array(&grad), array(&input));
    if out.dtype == dtype {
        return layer_norm::layer_norm_backward_weight(&array(out), &grad, &input, axis, statistics);
    }
    let sums = Spec::new(out.sizes(), dtype, out.device).allocate()?;
    layer_norm::layer_norm_backward_weight(&array(&sums), &grad, &input, axis, statistics)?;
    copy_into(out, &sums)
}
