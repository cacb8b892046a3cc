//! The attention operators behind `scaled_dot_product_attention`, which return more than it does.

use super::args::Args;
use super::internal::operator;
use super::objects::tuple;
use crate::runtime::list::List;
use crate::runtime::value::Value;
use rushlight_base::{DType, MemoryFormat, Result, bail, ensure};

/// Query, key and value, with what changes the scores.
struct Attention {
    query: Value,
    key: Value,
    value: Value,
    mask: Value,
    causal: bool,
    scale: Value,
}

impl Attention {
    /// The first three arguments, and those at these indices.
    fn of(args: &Args<'_>, mask: usize, causal: usize, scale: usize) -> Result<Attention> {
        let (query, key) = (args.tensor(0)?.sizes(), args.tensor(1)?.sizes());
        ensure!(
            query.len() >= 2 && key.len() >= 2 && args.tensor(2)?.ndim() >= 2,
            Runtime,
            "scaled_dot_product_attention: Expected query, key, and value to all be at least 2 dimensional, but got {}, {} \
             and {}",
            query.len(),
            key.len(),
            args.tensor(2)?.ndim()
        );
        let (mask, causal) = (args.get(mask)?.clone(), args.bool(causal)?);
        ensure!(
            mask.is_none() || !causal,
            Runtime,
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        );
        let [query, key, value] = [0, 1, 2].map(|index| args.get(index).cloned().unwrap_or_default());
        Ok(Attention { query, key, value, mask, causal, scale: args.get(scale)?.clone() })
    }

    /// `scale * query @ key^T`, masked.
    fn scores(&self) -> Result<Value> {
        let query = self.query.as_tensor()?;
        let sizes = query.sizes();
        let width = sizes.last().copied().unwrap_or(1);
        let scale = match &self.scale {
            Value::None => 1.0 / (width as f64).sqrt(),
            scale => scale.as_float()?,
        };
        let turned = operator("transpose", "int", &[self.key.clone(), Value::Int(-2), Value::Int(-1)])?;
        let product = operator("matmul", "", &[self.query.clone(), turned])?;
        let scores = operator("mul", "Scalar", &[product, Value::Float(scale)])?;
        if self.causal {
            let hidden = operator("logical_not", "", &[self.triangle(&scores)?])?;
            return operator("masked_fill", "Scalar", &[scores, hidden, Value::Float(f64::NEG_INFINITY)]);
        }
        // A mask of booleans is added as well: `scaled_dot_product_attention` has replaced it by infinities.
        if self.mask.is_none() {
            Ok(scores)
        } else {
            operator("add", "Tensor", &[scores, self.mask.clone(), Value::Int(1)])
        }
    }

    /// The mask of the keys up to each query.
    fn triangle(&self, scores: &Value) -> Result<Value> {
        let scores = scores.as_tensor()?;
        let sizes = scores.sizes();
        let Some(&[rows, columns]) = sizes.last_chunk::<2>() else { bail!(Internal, "attention without scores") };
        let none = Value::None;
        let (dtype, device) = (Value::Int(DType::Bool as i64), Value::Device(scores.device()));
        let ones = operator("ones", "", &[List::ints(vec![rows, columns]).into(), dtype, none.clone(), device, none])?;
        operator("tril", "", &[ones, Value::Int(0)])
    }

    /// The weights of the values: rows without a key are 0.
    fn weights(&self, scores: &Value) -> Result<Value> {
        operator("_safe_softmax", "", &[scores.clone(), Value::Int(-1), Value::None])
    }
}

/// `_scaled_dot_product_attention_math(query, key, value, attn_mask, dropout_p, is_causal, dropout_mask, scale,
/// enable_gqa)`: the result and the weights
pub(super) fn math(args: &mut Args<'_>) -> Result<Value> {
    let mut attention = Attention::of(args, 3, 5, 7)?;
    if args.bool(8)? {
        attention.key = repeated(&attention.query, &attention.key)?;
        attention.value = repeated(&attention.query, &attention.value)?;
    }
    let dropout = args.float(4)?;
    let mut weights = attention.weights(&attention.scores()?)?;
    let mut value = attention.value.clone();
    if dropout > 0.0 {
        match args.get(6)? {
            Value::None => weights = operator("dropout", "", &[weights, Value::Float(dropout), true.into()])?,
            kept => {
                let lost = operator("logical_not", "", std::slice::from_ref(kept))?;
                weights = operator("masked_fill", "Scalar", &[weights, lost, Value::Float(0.0)])?;
                value = operator("mul", "Scalar", &[value, Value::Float(1.0 / (1.0 - dropout))])?;
            }
        }
    }
    let result = operator("matmul", "", &[weights.clone(), value])?;
    Ok(tuple(vec![result, weights]))
}

/// The heads of keys or values, repeated for those of the query.
fn repeated(query: &Value, heads: &Value) -> Result<Value> {
    let count =
        |value: &Value| -> Result<i64> { Ok(value.as_tensor()?.sizes().iter().rev().nth(2).copied().unwrap_or(1)) };
    let (wanted, given) = (count(query)?, count(heads)?);
    ensure!(
        given > 0 && wanted % given == 0,
        Runtime,
        "scaled_dot_product_attention: the {wanted} heads of the query are no multiple of the {given} heads of key or value"
    );
    operator("repeat_interleave", "self_int", &[heads.clone(), Value::Int(wanted / given), Value::Int(-3), Value::None])
}

/// `_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p, is_causal, attn_mask, scale)`: the result and
/// the logarithms of the sums of exponentials
pub(super) fn flash(args: &mut Args<'_>) -> Result<Value> {
    const NAME: &str = "scaled_dot_product_attention_flash_attention";
    let attention = Attention::of(args, 5, 4, 6)?;
    ensure!(args.float(3)? == 0.0, Runtime, "{NAME}: Currently do not support dropout > 0");
    let query = args.tensor(0)?;
    ensure!(query.ndim() == 4 && query.dtype().is_floating(), Runtime, "{NAME}: Accept only 4 dims inputs of floats");
    if let Value::Tensor(mask) = &attention.mask {
        ensure!(mask.dtype() == query.dtype(), Runtime, "{NAME}: Attention mask is the same data type as query");
    }
    let scores = attention.scores()?;
    let result = operator("matmul", "", &[attention.weights(&scores)?, attention.value.clone()])?;
    let sums = operator("logsumexp", "", &[scores, List::ints(vec![-1]).into(), false.into()])?;
    let kept = MemoryFormat::Contiguous as i64;
    Ok(tuple(vec![operator("contiguous", "", &[result, kept.into()])?, sums]))
}
