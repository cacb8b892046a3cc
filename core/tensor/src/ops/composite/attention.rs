//! Scaled dot-product attention.

use crate::autograd::{Expr, is_grad_enabled, should_record};
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, Scalar, ensure};

/// Scores that are stored at once if no gradient needs all of them.
const BLOCK: i64 = 1 << 18;

fn check(query: &Tensor, key: &Tensor, value: &Tensor, attn_mask: Option<&Tensor>, is_causal: bool) -> Result<()> {
    let name = |tensor: &Tensor| tensor.dtype().name();
    ensure!(
        query.dtype() == key.dtype() && query.dtype() == value.dtype(),
        Runtime,
        "Expected query, key, and value to have the same dtype, but got query.dtype: {} key.dtype: {} and value.dtype: \
         {} instead.",
        name(query),
        name(key),
        name(value)
    );
    ensure!(
        query.ndim() >= 2 && key.ndim() >= 2 && value.ndim() >= 2,
        Runtime,
        "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {} key.dim: {} and \
         value.dim: {} instead.",
        query.ndim(),
        key.ndim(),
        value.ndim()
    );
    let Some(mask) = attn_mask else { return Ok(()) };
    ensure!(
        !is_causal,
        Runtime,
        "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
    );
    ensure!(
        mask.dtype() == DType::Bool || mask.dtype() == DType::F32 || mask.dtype() == query.dtype(),
        Runtime,
        "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {} and  \
         query.dtype: {} instead.",
        name(mask),
        name(query)
    );
    Ok(())
}

/// Repeats each head of `tensor` for the query heads that share it.
fn shared_heads(tensor: &Tensor, query: &Tensor) -> Result<Tensor> {
    ensure!(
        query.ndim() >= 3 && tensor.ndim() >= 3,
        Runtime,
        "Number of heads in key and value must divide the number of heads in query: they need 3 dimensions or more"
    );
    let mut sizes = tensor.sizes();
    let at = sizes.len() - 3;
    let (heads, wanted) = (sizes[at], query.sizes()[query.ndim() - 3]);
    ensure!(
        heads > 0 && wanted % heads == 0,
        Runtime,
        "Number of heads in key and value must divide the number of heads in query, got {heads} and {wanted}"
    );
    sizes.insert(at + 1, wanted / heads);
    let spread = ops::expand(&ops::unsqueeze(tensor, at as i64 + 1)?, &sizes, false)?;
    sizes.remove(at + 1);
    sizes[at] = wanted;
    ops::reshape(&spread, &sizes)
}

/// The inputs of a block of queries.
struct Attention<'a> {
    key: Expr,
    value: Expr,
    mask: Option<&'a Tensor>,
    dropout: f64,
    is_causal: bool,
}

impl Attention<'_> {
    /// The scores' mask for the queries from `first` on.
    fn mask_of(&self, first: i64, rows: i64, options: Options) -> Result<Option<Tensor>> {
        if self.is_causal {
            let keys = self.key.sizes()[self.key.ndim() - 2];
            let ones = ops::ones(&[rows, keys], Options { dtype: Some(DType::Bool), ..options })?;
            return ops::tril(&ones, first).map(Some);
        }
        let Some(mask) = self.mask else { return Ok(None) };
        let by_row = mask.ndim() >= 2 && mask.sizes()[mask.ndim() - 2] != 1;
        Ok(Some(if by_row { ops::narrow(mask, -2, first, rows)? } else { mask.clone() }))
    }

    /// The results for the queries from `first` on, which have been scaled.
    fn of(&self, query: &Expr, first: i64, rows: i64) -> Result<Expr> {
        let scores = query.narrow(-2, first, rows).matmul(self.key.transpose_int(-2, -1));
        let scores = match self.mask_of(first, rows, query.options())? {
            None => scores,
            Some(mask) if mask.dtype() == DType::Bool => {
                scores.masked_fill_scalar(Expr::from(mask).logical_not(), f64::NEG_INFINITY)
            }
            Some(mask) => {
                let dtype = scores.dtype();
                (scores + Expr::from(mask)).to_dtype(dtype, false, false, None)
            }
        };
        let weights = ops::_safe_softmax(scores.tensor()?, -1, None)?;
        let weights = if self.dropout > 0.0 { ops::dropout(&weights, self.dropout, true)? } else { weights };
        Ok(Expr::from(weights).matmul(&self.value))
    }
}

/// softmax(scale query key^T + mask) value
#[allow(clippy::too_many_arguments)] // the operator's
pub fn scaled_dot_product_attention(
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    attn_mask: Option<&Tensor>,
    dropout_p: f64,
    is_causal: bool,
    scale: Option<f64>,
    enable_gqa: bool,
) -> Result<Tensor> {
    check(query, key, value, attn_mask, is_causal)?;
    let dtype = query.dtype();
    if dtype != dtype.opmath() {
        // Scores in half precision are not rounded in intermediate steps.
        let [query, key, value] =
            [query, key, value].map(|tensor| ops::to_dtype(tensor, dtype.opmath(), false, false, None));
        let (query, key, value) = (query?, key?, value?);
        let mask = attn_mask.map(|mask| match mask.dtype() {
            DType::Bool => Ok(mask.clone()),
            _ => ops::to_dtype(mask, dtype.opmath(), false, false, None),
        });
        let mask = mask.transpose()?;
        let out =
            scaled_dot_product_attention(&query, &key, &value, mask.as_ref(), dropout_p, is_causal, scale, enable_gqa)?;
        return ops::to_dtype(&out, dtype, false, false, None);
    }
    let (key, value) = if enable_gqa {
        (shared_heads(key, query)?, shared_heads(value, query)?)
    } else {
        (key.clone(), value.clone())
    };
    let sizes = query.sizes();
    let (rows, width) = (sizes[sizes.len() - 2], sizes[sizes.len() - 1]);
    let scale = scale.unwrap_or(1.0 / (width as f64).sqrt());
    let scaled = Expr::from(query) * Scalar::Float(scale);
    let inputs = [query, &key, &value];
    let attention =
        Attention { key: Expr::from(&key), value: Expr::from(&value), mask: attn_mask, dropout: dropout_p, is_causal };
    let per_row = query.numel() / (rows * width).max(1) * key.sizes()[key.ndim() - 2];
    let records = is_grad_enabled() && should_record(inputs.into_iter().chain(attn_mask));
    if records || dropout_p > 0.0 || rows * per_row <= BLOCK {
        return attention.of(&scaled, 0, rows)?.into_tensor();
    }
    // Rows are independent: blocks of them give the same results and need less memory.
    let block = (BLOCK / per_row.max(1)).max(16);
    let mut parts = Vec::new();
    for first in (0..rows).step_by(block as usize) {
        parts.push(attention.of(&scaled, first, block.min(rows - first))?.into_tensor()?);
    }
    ops::cat(&parts.iter().collect::<Vec<_>>(), -2)
}
