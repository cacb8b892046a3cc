//! Distances and angles.

use crate::autograd::{Expr, GradModeGuard};
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DeviceType, DimVec, Result, Scalar, ensure, format_sizes, list};

/// The cosine similarity of vectors along `dim`.
pub fn cosine_similarity(x1: &Tensor, x2: &Tensor, dim: i64, eps: f64) -> Result<Tensor> {
    let dtype = ops::rules::common_dtype(&[&*x1.dense()?, &*x2.dense()?])?;
    ensure!(
        dtype.is_floating(),
        Runtime,
        "expected common dtype to be floating point, yet common dtype is {}",
        dtype.c10_name()
    );
    let sizes = ops::rules::broadcast_sizes(&x1.sizes(), &x2.sizes())?;
    let direction = |tensor: &Tensor| -> Result<Expr> {
        // Only integers are converted: each vector is divided by its norm in its own dtype.
        let own = if tensor.dtype().is_integral(true) { dtype } else { tensor.dtype() };
        let vectors = Expr::from(tensor).to_dtype(own, false, false, None).expand(&sizes, false);
        let length = ops::clone(vectors.linalg_vector_norm(Scalar::Int(2), Some(&[dim]), true, None).tensor()?, None)?;
        {
            // The lower bound of the norm is a constant for the derivative.
            let _guard = GradModeGuard::new(false);
            ops::clamp_min_(&length, Scalar::Float(eps))?;
        }
        Ok(vectors / Expr::from(length))
    };
    (direction(x1)? * direction(x2)?).sum_dim_intlist(Some(&[dim]), false, None).into_tensor()
}

/// |x1 - x2 + eps|_p along the last dimension
pub fn pairwise_distance(x1: &Tensor, x2: &Tensor, p: f64, eps: f64, keepdim: bool) -> Result<Tensor> {
    let away = Expr::from(x1) - Expr::from(x2) + eps;
    away.norm_scalaropt_dim(Some(Scalar::Float(p)), &[-1], keepdim).into_tensor()
}

/// |self - other|_p
pub fn dist(self_: &Tensor, other: &Tensor, p: Scalar) -> Result<Tensor> {
    (Expr::from(self_) - Expr::from(other)).norm_scalar(p).into_tensor()
}

/// The factor of each slice along `dim`, in a broadcastable shape.
fn renorm_factors(self_: &Tensor, p: Scalar, dim: i64, maxnorm: Scalar) -> Result<Expr> {
    ensure!(!p.dtype().is_complex(), Runtime, "renorm: p must be real-valued");
    ensure!(p.to_f64() > 0.0, Runtime, "renorm: non-positive-norm not supported");
    ensure!(!maxnorm.dtype().is_complex(), Runtime, "renorm: maxnorm must be real-valued");
    let most = maxnorm.to_f64();
    ensure!(most >= 0.0, Runtime, "renorm: expected maxnorm to be >= 0 but got {most}");
    let ndim = self_.ndim();
    ensure!(ndim > 1, Runtime, "renorm: input needs at least 2 dimensions, got {ndim} dimensions");
    let dim = rushlight_base::wrap_dim(dim, ndim)? as i64;
    let others: DimVec = (0..ndim as i64).filter(|&other| other != dim).collect();
    let wide = self_.dtype().opmath();
    let norms = |tensor: &Expr| tensor.linalg_vector_norm(p, Some(&others), true, Some(wide));
    let tensor = Expr::from(self_);
    if !self_.requires_grad() {
        let norms = norms(&tensor);
        return Ok(norms.gt_scalar(most).where_scalarother((&norms + 1e-7).reciprocal() * most, 1));
    }
    // The norms of other slices, which may be NaN, have no gradient.
    let is_long = norms(&tensor.detach()).gt_scalar(most);
    let norms = norms(&is_long.where_scalarother(tensor, 0));
    Ok(is_long.where_scalarother((norms + 1e-7).reciprocal() * most, 1))
}

/// Slices scaled down to a norm of `maxnorm`.
pub fn renorm(self_: &Tensor, p: Scalar, dim: i64, maxnorm: Scalar) -> Result<Tensor> {
    let factors = renorm_factors(self_, p, dim, maxnorm)?;
    (Expr::from(self_) * factors).to_dtype(self_.dtype(), false, false, None).into_tensor()
}

fn check_rows(name: &str, tensor: &Tensor) -> Result<()> {
    ensure!(
        tensor.dtype().is_floating(),
        Runtime,
        "cdist only supports floating-point dtypes, {name} got: {}",
        tensor.dtype().c10_name()
    );
    ensure!(tensor.ndim() >= 2, Runtime, "cdist only supports at least 2D tensors, {name} got: {}D", tensor.ndim());
    Ok(())
}

/// The distances of all rows of `x1` from all of `x2`.
pub fn cdist(x1: &Tensor, x2: &Tensor, p: f64, compute_mode: Option<i64>) -> Result<Tensor> {
    check_rows("X1", x1)?;
    check_rows("X2", x2)?;
    let (a, b) = (x1.sizes(), x2.sizes());
    let ((a_head, a_tail), (b_head, b_tail)) = (a.split_at(a.len() - 2), b.split_at(b.len() - 2));
    ensure!(
        a_tail[1] == b_tail[1],
        Runtime,
        "X1 and X2 must have the same number of columns. X1: {} X2: {}",
        a_tail[1],
        b_tail[1]
    );
    ensure!(p >= 0.0, Runtime, "cdist only supports non-negative p values");
    let mode = compute_mode.unwrap_or(0);
    ensure!((0..=2).contains(&mode), Runtime, "possible modes: 0, 1, 2, but was: {mode}");
    let head = ops::rules::broadcast_sizes(a_head, b_head)?;
    let batch = |tensor: &Tensor, tail: &[i64]| {
        let mut sizes = head.clone();
        sizes.extend_from_slice(tail);
        ops::expand(tensor, &sizes, false)
    };
    ops::_cdist_forward(&batch(x1, a_tail)?, &batch(x2, b_tail)?, p, compute_mode)
}

/// The gradient of `cdist` by `x1`.
pub fn cdist_backward(grad: &Tensor, x1: &Tensor, x2: &Tensor, p: f64, cdist: &Tensor) -> Result<Tensor> {
    let (grad, x1, x2, distances) = (Expr::from(grad), Expr::from(x1), Expr::from(x2), Expr::from(cdist));
    if p == 0.0 {
        return x1.zeros().into_tensor();
    }
    // Identical rows have no direction: their gradient is zero.
    let together = distances.eq_scalar(0);
    if p == 2.0 {
        let share = (grad / distances.masked_fill_scalar(&together, 1)).masked_fill_scalar(&together, 0);
        let own = &x1 * share.sum_dim_intlist(Some(&[-1]), true, None);
        return (own - share.matmul(x2)).into_tensor();
    }
    let away = x1.unsqueeze(-2) - x2.unsqueeze(-3);
    let grad = grad.unsqueeze(-1);
    let slope = if p == 1.0 {
        away.sign()
    } else if p.is_infinite() {
        away.abs().eq_tensor(distances.unsqueeze(-1)).where_scalarother(away.sign(), 0)
    } else {
        let none = away.eq_scalar(0);
        let divisor = distances.masked_fill_scalar(&together, 1).unsqueeze(-1);
        let ratio = away.abs().masked_fill_scalar(&none, 1) / divisor;
        (away.sign() * (ratio.log() * (p - 1.0)).exp()).masked_fill_scalar(&none, 0)
    };
    (slope * grad).sum_dim_intlist(Some(&[-2]), false, None).into_tensor()
}

/// The distances of all pairs of rows.
pub fn pdist(self_: &Tensor, p: f64) -> Result<Tensor> {
    ensure!(self_.ndim() == 2, Runtime, "pdist only supports 2D tensors, got: {}D", self_.ndim());
    ensure!(self_.dtype().is_floating(), Runtime, "pdist only supports floating-point dtypes");
    ensure!(p >= 0.0, Runtime, "pdist only supports non-negative p values");
    if self_.device().kind == DeviceType::Cpu {
        return ops::_pdist_forward(self_, p);
    }
    let rows = self_.sizes()[0];
    let most = (PAIRS / rows.max(1)).max(1);
    let block = |first: i64| pairs_of_block(self_, p, first, most.min(rows - first));
    if most >= rows {
        return block(0);
    }
    // If there is no memory for the result, the call fails before the work begins.
    let pairs = rows.checked_mul(rows - 1).map_or(i64::MAX, |twice| twice / 2);
    drop(ops::empty_memory_format(&[pairs], self_.options(), None)?);
    let blocks = list::try_collect((0..rows).step_by(most as usize).map(block))?;
    ops::cat(&list::collect(&blocks)?, 0)
}

/// Number of distances that are computed together.
const PAIRS: i64 = 1 << 22;

/// The distances of `count` rows, from `first` on, from all rows after each.
fn pairs_of_block(self_: &Tensor, p: f64, first: i64, count: i64) -> Result<Tensor> {
    let width = self_.sizes()[0] - first;
    let all = ops::cdist(&ops::narrow(self_, 0, first, count)?, &ops::narrow(self_, 0, first, width)?, p, None)?;
    ops::index_select(&ops::reshape(&all, &[-1])?, 0, &places_above_diagonal(self_, count, width)?)
}

/// The places of the elements above the diagonal of a matrix, counted in row-major order.
fn places_above_diagonal(like: &Tensor, rows: i64, columns: i64) -> Result<Tensor> {
    let _guard = GradModeGuard::new(false);
    let options = Options::of(DType::I64).on(like.device());
    let pair = ops::triu_indices(rows, columns, 1, options)?;
    let row = Expr::from(&pair).select_int(0, 0).mul_scalar(columns);
    (row + Expr::from(&pair).select_int(0, 1)).into_tensor()
}

/// The gradient of [`pdist`]: that of the distances of all rows from all, of which each pair occurs twice.
pub fn pdist_backward(grad: &Tensor, self_: &Tensor, p: f64, pdist: &Tensor) -> Result<Tensor> {
    ensure!(self_.ndim() == 2, Runtime, "pdist only supports 2D tensors, got: {}D", self_.ndim());
    let rows = self_.sizes()[0];
    let places = places_above_diagonal(self_, rows, rows)?;
    let of_all = |pairs: &Tensor| -> Result<Expr> {
        ensure!(
            pairs.sizes() == places.sizes(),
            Runtime,
            "expected a number for each of {} pairs of rows, got a tensor of shape {}",
            places.numel(),
            format_sizes(&pairs.sizes())
        );
        let none = ops::zeros(&[rows * rows], pairs.options())?;
        let above = Expr::from(ops::index_copy(&none, 0, &places, pairs)?).reshape(&[rows, rows]);
        Ok(above.transpose_int(0, 1) + above)
    };
    let (grad, distances) = (of_all(grad)?.into_tensor()?, of_all(pdist)?.into_tensor()?);
    ops::_cdist_backward(&grad, self_, self_, p, &distances)
}
