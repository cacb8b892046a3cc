//! Derivatives of layer norm.

use super::super::{Expr, is_grad_enabled};
use rushlight_base::DimVec;
use std::ops::Add;

/// The last dimensions, as many as `shape` has, counted from the end.
pub fn last_dims(shape: &[i64]) -> DimVec {
    (0..shape.len() as i64).map(|dim| -1 - dim).collect()
}

/// At least `f32`: the computation type of half precision.
pub(super) fn widened(expr: &Expr) -> Expr {
    let dtype = expr.dtype();
    if dtype == dtype.opmath() { expr.clone() } else { expr.to_dtype(dtype.opmath(), false, false, None) }
}

/// The deviations of the input of a norm from its means over `dims`, and the variances.
fn moments(input: &Expr, dims: &[i64]) -> (Expr, Expr) {
    let input = widened(input);
    let away = &input - input.mean_dim(Some(dims), true, None);
    let variance = (&away * &away).mean_dim(Some(dims), true, None);
    (away, variance)
}

/// The input of a norm, normalized over `dims`, and the reciprocal deviations, as functions of the input.
pub(super) fn normalised<E>(input: &Expr, dims: &[i64], eps: E) -> (Expr, Expr)
where
    Expr: Add<E, Output = Expr>,
{
    let (away, variance) = moments(input, dims);
    let rstd = (variance + eps).sqrt().reciprocal();
    (away * &rstd, rstd)
}

/// The summand that the variances over `dims` had in `rstd`, a constant: what `eps` is to [`normalised`] where a backward
/// operator does not get it.
pub fn eps_of(input: &Expr, dims: &[i64], rstd: &Expr) -> Expr {
    let (_, variance) = moments(input, dims);
    ((rstd * rstd).reciprocal() - variance).detach()
}

/// The gradient of layer_norm by the input: in one pass, unless it is to be differentiated again.
pub fn layer_norm_input<E>(
    grad: &Expr,
    input: &Expr,
    shape: &[i64],
    mean: &Expr,
    rstd: &Expr,
    weight: Option<&Expr>,
    eps: E,
) -> Expr
where
    Expr: Add<E, Output = Expr>,
{
    if !is_grad_enabled() {
        return grad._layer_norm_backward_input(input, shape, mean, rstd, weight);
    }
    let dims = last_dims(shape);
    let (normal, rstd) = normalised(input, &dims, eps);
    let grad = widened(grad);
    let grad = weight.map_or(grad.clone(), |weight| grad * widened(weight));
    let mean = grad.mean_dim(Some(&dims), true, None);
    let along = (&grad * &normal).mean_dim(Some(&dims), true, None);
    (grad - mean - normal * along) * rstd
}

/// All dimensions of a gradient but the last, which `shape` has, summed.
fn sum_rows(grad: Expr, shape: &[i64]) -> Expr {
    let leading: DimVec = (0..grad.ndim() as i64 - shape.len() as i64).collect();
    if leading.is_empty() { grad } else { grad.sum_dim_intlist(Some(&leading), false, None) }
}

/// The gradient of layer_norm by the weight: in one pass, unless it is to be differentiated again.
pub fn layer_norm_weight<E>(
    grad: &Expr,
    input: &Expr,
    shape: &[i64],
    mean: &Expr,
    rstd: &Expr,
    weight: Option<&Expr>,
    eps: E,
) -> Expr
where
    Expr: Add<E, Output = Expr>,
{
    if !is_grad_enabled() {
        let dtype = weight.map_or(grad.dtype(), Expr::dtype);
        return grad._layer_norm_backward_weight(input, shape, mean, rstd, dtype);
    }
    sum_rows(widened(grad) * normalised(input, &last_dims(shape), eps).0, shape)
}

/// The gradient of layer_norm by the bias.
pub fn layer_norm_bias(grad: &Expr, shape: &[i64]) -> Expr {
    sum_rows(widened(grad), shape)
}
