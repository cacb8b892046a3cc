//! Self-attention and encoder layers in one call, as the modules of transformers use them without gradients, and weight
//! normalization.

use super::norm_except_dim;
use crate::autograd::Expr;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, MemoryFormat, Result, Scalar, bail, ensure, format_sizes, same_sizes, wrap_dim};

/// v scaled to the norms g along a dimension
pub fn weight_norm(v: &Tensor, g: &Tensor, dim: i64) -> Result<Tensor> {
    ensure!(v.device() == g.device(), Runtime, "weight_norm: expected v_in and g_in to be on the same device.");
    (Expr::from(v) * (Expr::from(g) / Expr::from(norm_except_dim(v, 2, dim)?))).into_tensor()
}

/// Checks that a dimension is one of those along which norms are computed with the weight.
fn check_outer(operator: &str, v: &Tensor, dim: i64) -> Result<()> {
    let outer = dim == 0 || dim == v.ndim() as i64 - 1;
    ensure!(outer, Runtime, "{operator}: fused kernels can only be applied for first or last dim");
    Ok(())
}

/// The weight and the norms, which are in single precision for bfloat16.
pub fn weight_norm_interface(v: &Tensor, g: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    check_outer("_weight_norm_interface", v, dim)?;
    let norms = norm_except_dim(&ops::detach(v)?, 2, dim)?;
    let norms = if g.dtype() == DType::BF16 { ops::to_dtype(&norms, DType::F32, false, false, None)? } else { norms };
    Ok((weight_norm(v, g, dim)?, norms))
}

/// The gradients with respect to v and g, with these norms.
fn weight_norm_gradients(grad: &Tensor, v: &Tensor, g: &Tensor, norms: &Expr, dim: i64) -> Result<(Tensor, Tensor)> {
    let dim = wrap_dim(dim, v.ndim())? as i64;
    let others: DimVec = (0..v.ndim() as i64).filter(|&other| other != dim).collect();
    let (grad, v, g) = (Expr::from(grad), Expr::from(v), Expr::from(g));
    let dots = &grad * &v;
    let dots = if others.is_empty() { dots } else { dots.sum_dim_intlist(Some(&others), true, None) };
    let by_g = &dots / norms;
    let by_v = &g / norms * (&grad - &v * (&by_g / norms));
    let kept = |result: Expr, of: &Expr| result.to_dtype(of.dtype(), false, false, None).into_tensor();
    Ok((kept(by_v, &v)?, kept(by_g, &g)?))
}

/// The gradients with respect to v and g.
pub fn weight_norm_interface_backward(
    grad_w: &Tensor,
    saved_v: &Tensor,
    saved_g: &Tensor,
    saved_norms: &Tensor,
    dim: i64,
) -> Result<(Tensor, Tensor)> {
    check_outer("_weight_norm_interface_backward", saved_v, dim)?;
    weight_norm_gradients(grad_w, saved_v, saved_g, &Expr::from(saved_norms), dim)
}

/// The gradients with respect to v and g, whose norms are computed again so that they depend on v.
pub fn weight_norm_differentiable_backward(
    grad_w: &Tensor,
    saved_v: &Tensor,
    saved_g: &Tensor,
    _saved_norms: &Tensor,
    dim: i64,
) -> Result<(Tensor, Tensor)> {
    check_outer("_weight_norm_differentiable_backward", saved_v, dim)?;
    let norms = Expr::from(norm_except_dim(saved_v, 2, dim)?);
    weight_norm_gradients(grad_w, saved_v, saved_g, &norms, dim)
}

/// The mask of every element: masks of pairs (0) and of keys (1) are broadcast over the other dimensions.
fn full_mask(self_: &Tensor, mask: &Tensor, mask_type: Option<i64>) -> Result<Tensor> {
    ensure!(mask.dtype() == DType::Bool, Runtime, "Mask should be a boolean tensor");
    let (sizes, given) = (self_.sizes(), mask.sizes());
    let Some(kind) = mask_type else { bail!(Runtime, "Mask Type should be defined") };
    ensure!(
        (0..=2).contains(&kind),
        Runtime,
        "Mask Type should be 0 (src_mask), 1 (src_key_padding_mask), or 2 (default_mask)"
    );
    let (&[batch, _, rows, _], &[first, second]) = (&sizes[..], &given[..]) else {
        ensure!(
            same_sizes(&sizes, &given),
            Runtime,
            "For mask_type == 2 mask shape should match input shape, but got {} and {}",
            format_sizes(&given),
            format_sizes(&sizes)
        );
        return Ok(mask.clone());
    };
    match kind {
        0 => {
            ensure!([first, second] == [rows; 2], Runtime, "For mask_type == 0 mask shape should be (L, L)");
            ops::expand(&ops::view(mask, &[1, 1, rows, rows])?, &sizes, false)
        }
        1 => {
            ensure!([first, second] == [batch, rows], Runtime, "For mask_type == 1 mask shape should be (B, L)");
            ops::expand(&ops::reshape(mask, &[batch, 1, 1, rows])?, &sizes, false)
        }
        _ => bail!(
            Runtime,
            "For mask_type == 2 mask shape should match input shape, but got {} and {}",
            format_sizes(&given),
            format_sizes(&sizes)
        ),
    }
}

/// The softmax function over the elements where the mask is false
pub fn masked_softmax(self_: &Tensor, mask: &Tensor, dim: Option<i64>, mask_type: Option<i64>) -> Result<Tensor> {
    let mask = full_mask(self_, mask, mask_type)?;
    let left = ops::masked_fill_scalar(self_, &mask, Scalar::Float(f64::NEG_INFINITY))?;
    ops::_softmax(&left, dim.unwrap_or(self_.ndim() as i64 - 1), false)
}

/// Its gradient.
pub fn masked_softmax_backward(
    grad_output: &Tensor,
    output: &Tensor,
    mask: &Tensor,
    dim: Option<i64>,
) -> Result<Tensor> {
    ensure!(same_sizes(&grad_output.sizes(), &mask.sizes()), Runtime, "Mask shape should match grad shape");
    ensure!(mask.dtype() == DType::Bool, Runtime, "Mask should be a boolean tensor");
    let dim = dim.unwrap_or(output.ndim() as i64 - 1);
    let held = |tensor: &Tensor| ops::masked_fill_scalar(tensor, mask, Scalar::Int(0));
    ops::_softmax_backward_data(&held(grad_output)?, &held(output)?, dim, grad_output.dtype())
}

/// Query, key and value by head, the query divided by the square root of its width
pub fn transform_bias_rescale_qkv(qkv: &Tensor, qkv_bias: &Tensor, num_heads: i64) -> Result<(Tensor, Tensor, Tensor)> {
    let sizes = qkv.sizes();
    let &[batch, rows, width] = &sizes[..] else { bail!(Runtime, "expected 3-D `qkv`, got {}-D tensor", sizes.len()) };
    ensure!(width % 3 == 0, Runtime, "last dim of qkv should be divisible by 3, but got {}", format_sizes(&sizes));
    let dims = width / 3;
    ensure!(num_heads > 0 && dims % num_heads == 0, Runtime, "`embed_dim` must divide evenly by `num_heads`");
    let of_head = dims / num_heads;
    let all = (Expr::from(qkv) + Expr::from(qkv_bias)).reshape(&[batch, rows, 3, num_heads, of_head]);
    let all = all.permute(&[2, 0, 3, 1, 4]);
    let part = |index: i64| all.select_int(0, index);
    let query = part(0) * Scalar::Float(1.0 / (of_head as f64).sqrt());
    let kept = |part: Expr| ops::contiguous(part.tensor()?, MemoryFormat::Contiguous);
    Ok((kept(query)?, kept(part(1))?, kept(part(2))?))
}

/// Checks the inputs of self-attention.
fn check_attention(
    [query, key, value]: [&Tensor; 3],
    embed_dim: i64,
    num_head: i64,
    weight: &Tensor,
    bias: &Tensor,
) -> Result<()> {
    for (name, input) in [("query", query), ("key", key), ("value", value)] {
        ensure!(input.ndim() == 3, Runtime, "expected 3-D `{name}`, got {}-D tensor", input.ndim());
    }
    let sizes = query.sizes();
    ensure!(
        sizes[2] == embed_dim,
        Runtime,
        "passed-in embed_dim {embed_dim} didn't match last dim of query {}",
        sizes[2]
    );
    let alike = same_sizes(&sizes, &key.sizes()) && same_sizes(&sizes, &value.sizes());
    ensure!(alike, Runtime, "expected `query`/`key`/`value` shapes to match");
    let weight = weight.sizes();
    ensure!(weight.len() == 2, Runtime, "expected 2-D `qkv_weight`, got {}-D tensor", weight.len());
    let triple = embed_dim.checked_mul(3);
    ensure!(
        triple == Some(weight[0]),
        Runtime,
        "expected `qkv_weight` first dim to be 3x embed_dim, but got {}",
        format_sizes(&weight)
    );
    ensure!(
        weight[1] == embed_dim,
        Runtime,
        "expected `qkv_weight` second dim to be embed_Dim, but got {}",
        format_sizes(&weight)
    );
    ensure!(
        bias.sizes()[..] == weight[..1],
        Runtime,
        "expected `qkv_bias` to have 3x embed_dim elements, but got {}",
        format_sizes(&bias.sizes())
    );
    ensure!(num_head > 0 && embed_dim % num_head == 0, Runtime, "`embed_dim` must divide evenly by `num_heads`");
    Ok(())
}

/// The packed projections of query, key and value, which are often one tensor.
fn projections([query, key, value]: [&Tensor; 3], weight: &Tensor, embed_dim: i64) -> Result<Tensor> {
    if key.is(value) && query.is(key) {
        return ops::linear(query, weight, None);
    }
    let project =
        |input: &Tensor, part: i64| ops::linear(input, &ops::narrow(weight, 0, part * embed_dim, embed_dim)?, None);
    let parts = [project(query, 0)?, project(key, 1)?, project(value, 2)?];
    ops::cat(&[&parts[0], &parts[1], &parts[2]], 2)
}

fn no_tensor(like: &Tensor) -> Result<Tensor> {
    ops::empty_memory_format(&[0], Options::of(like.dtype()), None)
}

/// Self-attention with several heads
#[allow(clippy::too_many_arguments)] // the operator's
pub fn native_multi_head_attention(
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    embed_dim: i64,
    num_head: i64,
    qkv_weight: &Tensor,
    qkv_bias: &Tensor,
    proj_weight: &Tensor,
    proj_bias: &Tensor,
    mask: Option<&Tensor>,
    need_weights: bool,
    average_attn_weights: bool,
    mask_type: Option<i64>,
) -> Result<(Tensor, Tensor)> {
    let inputs = [query, key, value];
    check_attention(inputs, embed_dim, num_head, qkv_weight, qkv_bias)?;
    if query.numel() == 0 {
        return Ok((ops::empty_like(query, Options::default(), None)?, no_tensor(query)?));
    }
    let packed = projections(inputs, qkv_weight, embed_dim)?;
    let (q, k, v) = transform_bias_rescale_qkv(&packed, qkv_bias, num_head)?;
    let scores = ops::matmul(&q, &ops::transpose_int(&k, 2, 3)?)?;
    let weights = match mask {
        Some(mask) => {
            let mask = ops::to_dtype(mask, DType::Bool, false, false, None)?;
            masked_softmax(&scores, &mask, Some(3), mask_type)?
        }
        None => ops::_softmax(&scores, 3, false)?,
    };
    let context = Expr::from(ops::matmul(&weights, &v)?).transpose_int(1, 2).reshape(&query.sizes());
    let out = ops::linear(context.tensor()?, proj_weight, Some(proj_bias))?;
    let weights = match (need_weights, average_attn_weights) {
        (false, _) => no_tensor(query)?,
        (true, false) => weights,
        (true, true) => {
            (Expr::from(weights).sum_dim_intlist(Some(&[1]), false, None) / num_head as f64).into_tensor()?
        }
    };
    Ok((out, weights))
}

/// A layer of a transformer encoder
#[allow(clippy::too_many_arguments)] // the operator's
pub fn transformer_encoder_layer_fwd(
    src: &Tensor,
    embed_dim: i64,
    num_heads: i64,
    qkv_weight: &Tensor,
    qkv_bias: &Tensor,
    proj_weight: &Tensor,
    proj_bias: &Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: f64,
    norm_weight_1: &Tensor,
    norm_bias_1: &Tensor,
    norm_weight_2: &Tensor,
    norm_bias_2: &Tensor,
    ffn_weight_1: &Tensor,
    ffn_bias_1: &Tensor,
    ffn_weight_2: &Tensor,
    ffn_bias_2: &Tensor,
    mask: Option<&Tensor>,
    mask_type: Option<i64>,
) -> Result<Tensor> {
    if src.numel() == 0 {
        return ops::clone(src, None);
    }
    let norm = |x: &Tensor, weight: &Tensor, bias: &Tensor| {
        ops::layer_norm(x, &[embed_dim], Some(weight), Some(bias), eps, true)
    };
    let first = |x: &Tensor| norm(x, norm_weight_1, norm_bias_1);
    let second = |x: &Tensor| norm(x, norm_weight_2, norm_bias_2);
    let attention = |x: &Tensor| -> Result<Tensor> {
        let (out, _) = ops::_native_multi_head_attention(
            x,
            x,
            x,
            embed_dim,
            num_heads,
            qkv_weight,
            qkv_bias,
            proj_weight,
            proj_bias,
            mask,
            false,
            true,
            mask_type,
        )?;
        Ok(out)
    };
    let network = |x: &Tensor| -> Result<Tensor> {
        let inner = ops::linear(x, ffn_weight_1, Some(ffn_bias_1))?;
        let inner = if use_gelu { ops::gelu(&inner, "none")? } else { ops::relu(&inner)? };
        ops::linear(&inner, ffn_weight_2, Some(ffn_bias_2))
    };
    let plus = |x: &Tensor, y: &Tensor| ops::add_tensor(x, y, Scalar::Int(1));
    if norm_first {
        let x = plus(src, &attention(&first(src)?)?)?;
        return plus(&x, &network(&second(&x)?)?);
    }
    let x = first(&plus(src, &attention(src)?)?)?;
    second(&plus(&x, &network(&x)?)?)
}
