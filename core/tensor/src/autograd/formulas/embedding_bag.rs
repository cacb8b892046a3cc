//! Derivatives of embedding bags.

use super::super::Expr;
use super::nn::widened;
use crate::ops::composite::embedding_bag::bag_of;
use rushlight_base::Result;

/// The gradients of the rows of all places: those of their bags.
fn of_places(grad: &Expr, indices: &Expr, offsets: &Expr) -> Result<Expr> {
    Ok(grad.index_select(0, bag_of(offsets, indices.numel())?))
}

/// The gradient of `_embedding_bag_sums` by its weight.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn embedding_bag_weight(
    grad: &Expr,
    weight: &Expr,
    indices: &Expr,
    offsets: &Expr,
    per_sample_weights: Option<&Expr>,
    padding_idx: i64,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Expr {
    Expr::of(|| {
        let mut rows = of_places(grad, indices, offsets)?;
        if let Some(factors) = per_sample_weights {
            rows = rows * widened(factors).unsqueeze(1);
        }
        let rows = rows.to_dtype(weight.dtype(), false, false, None);
        let count = weight.sizes()[0];
        rows.embedding_backward(indices, count, padding_idx, scale_grad_by_freq, sparse).into_tensor()
    })
}

/// The gradient of `_embedding_bag_sums` by the factors of the rows.
pub fn embedding_bag_factors(grad: &Expr, weight: &Expr, indices: &Expr, offsets: &Expr, padding_idx: i64) -> Expr {
    Expr::of(|| {
        let rows = widened(&weight.embedding(indices, padding_idx, false, false));
        let products = (of_places(grad, indices, offsets)? * rows).sum_dim_intlist(Some(&[1]), false, None);
        let counted = products.masked_fill_scalar(indices.eq_scalar(padding_idx), 0);
        counted.to_dtype(weight.dtype(), false, false, None).into_tensor()
    })
}
