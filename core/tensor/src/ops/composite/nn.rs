//! Softmax, layer norm, tables of embeddings and bilinear forms.

use super::softmax_input;
use crate::autograd::Expr;
use crate::ops;
use crate::options::cpp_name;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, Scalar, bail, ensure};

/// softmax along a dimension
pub fn softmax(self_: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    ops::_softmax(&softmax_input(self_, dtype)?, dim, false)
}

/// softmax along a dimension; 0 where all is minus infinity
pub fn _safe_softmax(self_: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    let nothing = ops::all_dim(&ops::eq_scalar(self_, Scalar::Float(f64::NEG_INFINITY))?, dim, true)?;
    // Such a row becomes one of equals first: what is no number would come back with the gradient.
    let scores = ops::masked_fill_scalar(self_, &nothing, Scalar::Int(0))?;
    ops::masked_fill_scalar(&ops::softmax_int(&scores, dim, dtype)?, &nothing, Scalar::Int(0))
}

/// As `softmax`, written to `out`.
pub fn softmax_out(self_: &Tensor, dim: i64, dtype: Option<DType>, out: &Tensor) -> Result<()> {
    ops::_softmax_out(&softmax_input(self_, dtype)?, dim, false, out)
}

/// The last dimensions normalised; the mean and the deviation are dropped.
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
    let width = grad_output.sizes().last().copied().unwrap_or(1);
    let (rows, mut grad) = (ops::reshape(indices, &[-1])?, ops::reshape(grad_output, &[indices.numel(), width])?);
    if scale_grad_by_freq {
        let ones = ops::ones(&rows.sizes(), grad.options())?;
        let zeros = ops::zeros(&[num_weights], grad.options())?;
        let counts = ops::index_add(&zeros, 0, &rows, &ones, Scalar::Int(1))?;
        grad = ops::div_tensor(&grad, &ops::unsqueeze(&ops::index_select(&counts, 0, &rows)?, 1)?)?;
    }
    if padding_idx >= 0 {
        let padding = ops::unsqueeze(&ops::eq_scalar(&rows, Scalar::Int(padding_idx))?, 1)?;
        grad = ops::masked_fill_scalar(&grad, &padding, Scalar::Int(0))?;
    }
    ops::index_add(&ops::zeros(&[num_weights, width], grad.options())?, 0, &rows, &grad, Scalar::Int(1))
}

/// A 1 at each index of a last dimension.
pub fn one_hot(self_: &Tensor, num_classes: i64) -> Result<Tensor> {
    ensure!(self_.dtype() == DType::I64, Runtime, "one_hot is only applicable to index tensor of type LongTensor.");
    ensure!(self_.numel() > 0 || num_classes > 0, Runtime, "Can not infer total number of classes from empty tensor.");
    let largest = if self_.numel() > 0 { ops::max(self_)?.item()?.to_i64() } else { -1 };
    let least = if self_.numel() > 0 { ops::min(self_)?.item()?.to_i64() } else { 0 };
    ensure!(least >= 0, Runtime, "Class values must be non-negative.");
    ensure!(num_classes == -1 || num_classes > largest, Runtime, "Class values must be smaller than num_classes.");
    let mut sizes = self_.sizes();
    sizes.push(if num_classes == -1 { largest + 1 } else { num_classes });
    ops::scatter_value(&ops::zeros(&sizes, self_.options())?, -1, &ops::unsqueeze(self_, -1)?, Scalar::Int(1))
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
