//! Softmax, layer norm, embeddings and bilinear forms.

use super::{selected, softmax_input};
use crate::autograd::{Expr, GradModeGuard, formulas, should_record};
use crate::ops;
use crate::options::cpp_name;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, Scalar, bail, ensure, wrap_dim};

/// softmax along a dimension
pub fn softmax(self_: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    ops::_softmax(&softmax_input(self_, dtype)?, dim, false)
}

/// softmax along a dimension; 0 where all is minus infinity
pub fn _safe_softmax(self_: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    let nothing = ops::all_dim(&ops::eq_scalar(self_, Scalar::Float(f64::NEG_INFINITY))?, dim, true)?;
    // Such a row becomes a constant first: NaN would propagate into the gradient.
    let scores = ops::masked_fill_scalar(self_, &nothing, Scalar::Int(0))?;
    ops::masked_fill_scalar(&ops::softmax_int(&scores, dim, dtype)?, &nothing, Scalar::Int(0))
}

/// Like `softmax`, written to `out`.
pub fn softmax_out(self_: &Tensor, dim: i64, dtype: Option<DType>, out: &Tensor) -> Result<()> {
    ops::_softmax_out(&softmax_input(self_, dtype)?, dim, false, out)
}

/// Normalizes the last dimensions; mean and deviation are not returned.
pub fn layer_norm(
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
    _cudnn_enable: bool,
) -> Result<Tensor> {
    Ok(ops::native_layer_norm(input, normalized_shape, weight, bias, eps)?.0)
}

/// The gradient of `embedding` by its table.
pub fn embedding_dense_backward(
    grad_output: &Tensor,
    indices: &Tensor,
    num_weights: i64,
    padding_idx: i64,
    scale_grad_by_freq: bool,
) -> Result<Tensor> {
    ops::rules::check_rows("embedding_backward", 2, indices.dtype())?;
    let Some(&width) = grad_output.sizes().last() else {
        bail!(Index, "embedding_dense_backward: Dimension specified as -1 but tensor has no dimensions");
    };
    let (rows, mut grad) = (ops::reshape(indices, &[-1])?, ops::reshape(grad_output, &[indices.numel(), width])?);
    if scale_grad_by_freq {
        let ones = ops::ones(&rows.sizes(), grad.options())?;
        let zeros = ops::zeros(&[num_weights], grad.options())?;
        let counts = ops::index_add(&zeros, 0, &rows, &ones, Scalar::Int(1))?;
        grad = ops::div_tensor(&grad, &ops::unsqueeze(&ops::index_select(&counts, 0, &rows)?, 1)?)?;
        grad = ops::to_dtype(&grad, grad_output.dtype(), false, false, None)?;
    }
    if padding_idx >= 0 {
        let padding = ops::unsqueeze(&ops::eq_scalar(&rows, Scalar::Int(padding_idx))?, 1)?;
        grad = ops::masked_fill_scalar(&grad, &padding, Scalar::Int(0))?;
    }
    ops::index_add(&ops::zeros(&[num_weights, width], grad.options())?, 0, &rows, &grad, Scalar::Int(1))
}

/// The gradient of `embedding` by its table.
pub fn embedding_backward(
    grad: &Tensor,
    indices: &Tensor,
    num_weights: i64,
    padding_idx: i64,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Result<Tensor> {
    if sparse {
        #[cfg(feature = "op-sparse")]
        return ops::embedding_sparse_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
        #[cfg(not(feature = "op-sparse"))]
        rushlight_base::bail!(NotImplemented, "embedding_backward: this build has no sparse tensors");
    }
    ops::embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)
}

/// The gradients of `layer_norm` that `mask` selects. The statistics are those of the forward pass, and functions of the
/// input where the gradients are differentiated again.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn native_layer_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    normalized_shape: &[i64],
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)> {
    let [by_input, by_weight, by_bias] = super::output_mask("native_layer_norm_backward", output_mask)?;
    super::check_alike("native_layer_norm_backward", grad_out, input)?;
    ops::rules::check_normalized_shape(&input.sizes(), normalized_shape, [("weight", weight.map(Tensor::sizes))])?;
    let recorded = should_record([grad_out, input].into_iter().chain(weight));
    let _guard = (!recorded).then(|| GradModeGuard::new(false));
    let mut rows = input.sizes();
    let leading = rows.len() - normalized_shape.len();
    rows[leading..].fill(1);
    let statistics = |tensor: &Tensor| Expr::from(tensor).detach().reshape(&rows);
    let (grad, x, scale) = (Expr::from(grad_out), Expr::from(input), weight.map(Expr::from));
    let (mean, rstd, scale) = (statistics(mean), statistics(rstd), scale.as_ref());
    let eps = if recorded { formulas::eps_of(&x, &formulas::last_dims(normalized_shape), &rstd) } else { rstd.clone() };
    let like = |gradient: Expr, tensor: &Tensor| gradient.to_dtype(tensor.dtype(), false, false, None);
    let (shape, options) = (normalized_shape, grad_out.options());
    let parameter = weight.or(bias).unwrap_or(input);
    Ok((
        selected(by_input, options, || {
            like(formulas::layer_norm_input(&grad, &x, shape, &mean, &rstd, scale, &eps), input)
        })?,
        selected(by_weight, options, || {
            like(formulas::layer_norm_weight(&grad, &x, shape, &mean, &rstd, scale, &eps), parameter)
        })?,
        selected(by_bias, options, || like(formulas::layer_norm_bias(&grad, shape), parameter))?,
    ))
}

/// The norms over all dimensions but `dim`; over all for -1.
pub fn norm_except_dim(v: &Tensor, pow: i64, dim: i64) -> Result<Tensor> {
    if dim == -1 {
        return ops::norm_scalar(v, Scalar::Int(pow));
    }
    ensure!(v.ndim() > 0, Index, "Dimension specified as {dim} but tensor has no dimensions");
    let dim = wrap_dim(dim, v.ndim())? as i64;
    let first = ops::transpose_int(v, 0, dim)?;
    let mut sizes = first.sizes();
    let rows = ops::reshape(&first, &[sizes[0], -1])?;
    sizes[1..].fill(1);
    let norms = ops::norm_scalaropt_dim(&rows, Some(Scalar::Int(pow)), &[1], false)?;
    ops::transpose_int(&ops::reshape(&norms, &sizes)?, 0, dim)
}

/// One-hot encoding: a 1 at each index of a new last dimension.
pub fn one_hot(self_: &Tensor, num_classes: i64) -> Result<Tensor> {
    ensure!(self_.dtype() == DType::I64, Runtime, "one_hot is only applicable to index tensor of type LongTensor.");
    ensure!(self_.numel() > 0 || num_classes > 0, Runtime, "Can not infer total number of classes from empty tensor.");
    let largest = if self_.numel() > 0 { ops::max(self_)?.item()?.to_i64() } else { -1 };
    let least = if self_.numel() > 0 { ops::min(self_)?.item()?.to_i64() } else { 0 };
    ensure!(least >= 0, Runtime, "Class values must be non-negative.");
    ensure!(num_classes == -1 || num_classes > largest, Runtime, "Class values must be smaller than num_classes.");
    let mut sizes = self_.sizes();
    sizes.push(if num_classes == -1 { largest + 1 } else { num_classes });
    let result = ops::zeros(&sizes, self_.options())?;
    ops::scatter_value_(&result, -1, &ops::unsqueeze(self_, -1)?, Scalar::Int(1))?;
    Ok(result)
}

/// input1 weight_k input2 + bias_k, for each k
pub fn bilinear(input1: &Tensor, input2: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let (a, b) = (input1.sizes(), input2.sizes());
    ensure!(a.len() == b.len(), Runtime, "bilinear(): input dimensions do not match: got {} and {}", a.len(), b.len());
    let names = [("input1", Some(input1)), ("input2", Some(input2)), ("weight", Some(weight)), ("bias", bias)];
    let given = names.into_iter().filter_map(|(name, tensor)| Some((name, tensor?.dtype())));
    if given.clone().any(|(_, dtype)| dtype != input1.dtype()) {
        let given: Vec<String> = given.map(|(name, dtype)| format!("{name}: {}", cpp_name(dtype))).collect();
        bail!(Runtime, "All tensors must have the same dtype, got {}", given.join(", "));
    }
    ensure!(!a.is_empty() && weight.ndim() == 3, Runtime, "bilinear(): inputs need 1 dimension or more, the weight 3");
    let (head, last) = (&a[..a.len() - 1], a.len() - 1);
    for (dim, (a, b)) in head.iter().zip(&b).enumerate() {
        ensure!(a == b, Runtime, "bilinear(): input batch dimensions do not match at dim {dim}: got {a} and {b}");
    }
    let sizes = weight.sizes();
    for (name, found, wanted) in [("input1", a[last], sizes[1]), ("input2", b[last], sizes[2])] {
        ensure!(
            found == wanted,
            Runtime,
            "bilinear(): {name} size does not match weight size: got {found} but expected {wanted}"
        );
    }
    if let Some(bias) = bias {
        ensure!(
            bias.numel() == sizes[0],
            Runtime,
            "bilinear(): bias size does not match weight size: got {} but expected {}",
            bias.numel(),
            sizes[0]
        );
    }
    let rows: i64 = head.iter().product();
    let [outputs, i, j] = [sizes[0], sizes[1], sizes[2]];
    let left = Expr::from(input1).reshape(&[rows, i]);
    let matrices = Expr::from(weight).permute(&[1, 0, 2]).reshape(&[i, outputs * j]);
    let halves = left.mm(matrices).reshape(&[rows, outputs, j]);
    let right = Expr::from(input2).reshape(&[rows, j, 1]);
    let mut shape = DimVec::from_slice(head);
    shape.push(outputs);
    let out = halves.bmm(right).reshape(&shape);
    bias.map_or(out.clone(), |bias| out + Expr::from(bias)).into_tensor()
}
