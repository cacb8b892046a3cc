//! Losses of elements, pairs and triplets, as formulas.

use super::{number_minus, written};
use crate::autograd::Expr;
use crate::dense::check_cast;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, Scalar, bail, ensure, format_sizes};

/// Reduces the element losses.
fn reduced(losses: Expr, reduction: i64) -> Result<Tensor> {
    match reduction {
        0 => losses,
        1 => losses.mean(None),
        2 => losses.sum(None),
        _ => bail!(Value, "{reduction} is not a valid value for reduction"),
    }
    .into_tensor()
}

/// |self - target|
pub fn l1_loss(self_: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
    reduced((Expr::from(self_) - Expr::from(target)).abs(), reduction)
}

/// w (-l pos_weight t - ln(1 - s) (1 - t)), l = ln s the logarithm of the logistic function of self
pub fn binary_cross_entropy_with_logits(
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    pos_weight: Option<&Tensor>,
    reduction: i64,
) -> Result<Tensor> {
    let (scores, target) = (Expr::from(self_), Expr::from(target));
    let mut log = scores.log_sigmoid();
    if let Some(pos_weight) = pos_weight {
        log = log * ((Expr::from(pos_weight) - 1.0) * &target + 1.0);
    }
    // Each step is written to the tensor of the last one, and therefore has the dtype of `target`.
    let rest = number_minus(1.0, &target);
    let losses = written(&rest, &rest * scores);
    let losses = written(&losses, &losses - log);
    let losses = weight.map_or(losses.clone(), |weight| written(&losses, &losses * Expr::from(weight)));
    reduced(losses, reduction)
}

/// target (ln target - self)
pub fn kl_div(self_: &Tensor, target: &Tensor, reduction: i64, log_target: bool) -> Result<Tensor> {
    let complex = self_.dtype().is_complex() || target.dtype().is_complex();
    ensure!(!complex, Runtime, "kl_div: Complex inputs not supported.");
    let integral = self_.dtype().is_integral(true) || target.dtype().is_integral(true);
    ensure!(!integral, Runtime, "kl_div: Integral inputs not supported.");
    let (scores, target) = (Expr::from(self_), Expr::from(target));
    let losses =
        if log_target { target.exp() * (&target - scores) } else { target.xlogy_tensor(&target) - &target * scores };
    reduced(losses, reduction)
}

/// e^input - target input, or input - target ln(input + eps), and the rest of ln target! if `full`
pub fn poisson_nll_loss(
    input: &Tensor,
    target: &Tensor,
    log_input: bool,
    full: bool,
    eps: f64,
    reduction: i64,
) -> Result<Tensor> {
    let (input, target) = (Expr::from(input), Expr::from(target));
    let mut losses = if log_input { input.exp() - &target * &input } else { &input - &target * (&input + eps).log() };
    if full {
        let stirling = &target * target.log() - &target + (&target * std::f64::consts::TAU).log() * 0.5;
        let sum = &losses + stirling.masked_fill_scalar(target.le_scalar(1), 0);
        losses = written(&losses, sum);
    }
    reduced(losses, reduction)
}

/// ln(1 + e^(-target self))
pub fn soft_margin_loss(self_: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
    let scores = -Expr::from(self_);
    let unlikely = written(&scores, &scores * Expr::from(target));
    // As in PyTorch, the power is of the dtype of `self`, and infinite if it is out of range.
    reduced(written(&unlikely, unlikely.exp()).log1p(), reduction)
}

/// The gradient of `soft_margin_loss`: -target z / (1 + z), z = e^(-target self)
pub fn soft_margin_loss_backward(
    grad_output: &Tensor,
    self_: &Tensor,
    target: &Tensor,
    reduction: i64,
) -> Result<Tensor> {
    ensure!(
        self_.dtype().is_differentiable(),
        Runtime,
        "result type Float can't be cast to the desired output type {}",
        self_.dtype().c10_name()
    );
    let (count, target) = (self_.numel(), Expr::from(target));
    // As in PyTorch, NaN where the power is infinite.
    let power = (-&target * Expr::from(self_)).exp();
    let slopes = -target * &power / (&power + 1.0);
    let found = slopes.tensor()?;
    let sizes = ops::rules::broadcast_sizes(&found.sizes(), &grad_output.sizes())?;
    ensure!(
        sizes == found.sizes(),
        Runtime,
        "output with shape {} doesn't match the broadcast shape {}",
        format_sizes(&found.sizes()),
        format_sizes(&sizes)
    );
    let slopes = if reduction == 1 { slopes / count as f64 } else { slopes };
    let gradients = (slopes * Expr::from(grad_output)).into_tensor()?;
    check_cast(gradients.dtype(), self_.dtype())?;
    ops::to_dtype(&gradients, self_.dtype(), false, false, None)
}

/// self where target is 1, max(0, margin - self) where it is -1, both elsewhere
pub fn hinge_embedding_loss(self_: &Tensor, target: &Tensor, margin: f64, reduction: i64) -> Result<Tensor> {
    let (distances, target) = (Expr::from(self_), Expr::from(target));
    let short = number_minus(margin, &distances).clamp_min(0);
    let apart = target.ne_scalar(1).where_scalarother(short, 0);
    let alike = target.ne_scalar(-1).where_scalarother(distances, 0);
    reduced(apart + alike, reduction)
}

/// max(0, -target (input1 - input2) + margin)
pub fn margin_ranking_loss(
    input1: &Tensor,
    input2: &Tensor,
    target: &Tensor,
    margin: f64,
    reduction: i64,
) -> Result<Tensor> {
    let lead = Expr::from(input1) - Expr::from(input2);
    reduced((-Expr::from(target) * lead + margin).clamp_min(0), reduction)
}

/// The lower bound of norms, so that a zero vector is not divided by zero.
const LEAST_SQUARE: f64 = 1e-12;

/// 1 - cos where target is 1, max(0, cos - margin) where it is -1
pub fn cosine_embedding_loss(
    input1: &Tensor,
    input2: &Tensor,
    target: &Tensor,
    margin: f64,
    reduction: i64,
) -> Result<Tensor> {
    let dim = target.ndim();
    ensure!(dim <= 1, Runtime, "0D or 1D target tensor expected, multi-target not supported");
    ensure!(
        input1.ndim() == dim + 1 && input2.ndim() == dim + 1,
        Runtime,
        "{dim}D target tensor expects {}D input tensors, but found inputs with sizes {} and {}.",
        dim + 1,
        format_sizes(&input1.sizes()),
        format_sizes(&input2.sizes())
    );
    let (a, b, target) = (Expr::from(input1), Expr::from(input2), Expr::from(target));
    let dims = [dim as i64];
    let sum = |product: Expr| product.sum_dim_intlist(Some(&dims), false, None);
    let squares = (sum(&a * &a) + LEAST_SQUARE) * (sum(&b * &b) + LEAST_SQUARE);
    let cos = sum(&a * &b) / squares.sqrt();
    let alike = target.eq_scalar(1).where_scalarother(-&cos + 1.0, 0);
    let apart = target.eq_scalar(-1).where_scalarother((cos - margin).clamp_min(0), 0);
    reduced(alike + apart, reduction)
}

/// max(0, margin + |anchor - positive| - |anchor - negative|)
#[allow(clippy::too_many_arguments)] // the operator's
pub fn triplet_margin_loss(
    anchor: &Tensor,
    positive: &Tensor,
    negative: &Tensor,
    margin: f64,
    p: f64,
    eps: f64,
    swap: bool,
    reduction: i64,
) -> Result<Tensor> {
    let [a, b, c] = [anchor, positive, negative].map(Tensor::ndim);
    ensure!(
        a == b && b == c,
        Runtime,
        "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor \
         {a}D, positive {b}D, and negative {c}D inputs"
    );
    let distance = |a, b| ops::pairwise_distance(a, b, p, eps, false).map(Expr::from);
    let (near, mut far) = (distance(anchor, positive)?, distance(anchor, negative)?);
    if swap {
        far = far.minimum(distance(positive, negative)?);
    }
    reduced((near + margin - far).clamp_min(0), reduction)
}

fn check_image(self_: &Tensor, target: &Tensor) -> Result<()> {
    ensure!(
        target.ndim() == 3,
        Runtime,
        "only batches of spatial targets supported (3D tensors) but got targets of dimension: {}",
        target.ndim()
    );
    ensure!(
        self_.ndim() == 4,
        Runtime,
        "only batches of spatial inputs supported (4D tensors), but got input of dimension: {}",
        self_.ndim()
    );
    Ok(())
}

/// The negative log likelihood of scores (N, C, H, W).
pub fn nll_loss2d(
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
) -> Result<Tensor> {
    check_image(self_, target)?;
    ops::nll_loss(self_, target, weight, reduction, ignore_index)
}

/// Like `nll_loss2d`, with the total weight.
pub fn nll_loss2d_forward(
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
) -> Result<(Tensor, Tensor)> {
    check_image(self_, target)?;
    ops::nll_loss_forward(self_, target, weight, reduction, ignore_index)
}

/// The gradient of `nll_loss2d`.
pub fn nll_loss2d_backward(
    grad_output: &Tensor,
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
    total_weight: &Tensor,
) -> Result<Tensor> {
    check_image(self_, target)?;
    ops::nll_loss_backward(grad_output, self_, target, weight, reduction, ignore_index, total_weight)
}

/// Scores and targets of `multi_margin_loss` as (N, C) and (N).
fn multi_margin_rows(self_: &Tensor, target: &Tensor, weight: Option<&Tensor>) -> Result<(Expr, Expr)> {
    let sizes = self_.sizes();
    let (rows, classes) = match *sizes {
        [] => (1, 1),
        [classes] => (1, classes),
        [rows, classes] => (rows, classes),
        _ => (0, 0),
    };
    ensure!(
        classes > 0,
        Runtime,
        "Expected non-empty vector or matrix with optional 0-dim batch size, but got: {}",
        format_sizes(&sizes)
    );
    ensure!(
        target.ndim() <= 1 && target.numel() == rows,
        Runtime,
        "inconsistent target size, expected {rows} but got {}",
        format_sizes(&target.sizes())
    );
    ensure!(target.dtype() == DType::I64, Runtime, "expected scalar type Long but found {}", target.dtype().c10_name());
    if let Some(weight) = weight {
        ensure!(
            weight.ndim() <= 1 && weight.numel() == classes,
            Runtime,
            "inconsistent weight size, expected {classes} but got {}",
            format_sizes(&weight.sizes())
        );
    }
    Ok((Expr::from(self_).reshape(&[rows, classes]), Expr::from(target).reshape(&[rows, 1])))
}

/// Whether the losses of `multi_margin_loss` are squared.
fn check_multi_margin(kernel: &str, self_: &Tensor, p: Scalar) -> Result<bool> {
    p.check_convertible(DType::I32)?;
    let power = p.to_f64().trunc();
    ensure!(power == 1.0 || power == 2.0, Runtime, "only p == 1 and p == 2 supported");
    let dtype = self_.dtype();
    ensure!(dtype.is_floating(), Runtime, "\"{kernel}\" not implemented for '{}'", dtype.c10_name());
    Ok(power == 2.0)
}

/// The rows, multiplied by the weights of their classes.
fn of_class(rows: Expr, weight: Option<&Tensor>, target_rows: &Expr) -> Expr {
    let Some(weight) = weight else { return rows };
    rows * Expr::from(weight).reshape(&[-1]).index_select(0, target_rows.reshape(&[-1])).unsqueeze(1)
}

/// The sum over other classes of w_y max(0, margin - x_y + x_c)^p / C
pub fn multi_margin_loss(
    self_: &Tensor,
    target: &Tensor,
    p: Scalar,
    margin: Scalar,
    weight: Option<&Tensor>,
    reduction: i64,
) -> Result<Tensor> {
    let squared = check_multi_margin("multi_margin_loss_cpu_kernel", self_, p)?;
    let (scores, target_rows) = multi_margin_rows(self_, target, weight)?;
    let short = (&scores - scores.gather(1, &target_rows, false) + margin).relu();
    let losses = of_class(if squared { &short * &short } else { short }, weight, &target_rows);
    let others = losses.scatter_value(1, &target_rows, 0);
    let classes = scores.sizes().get(1).copied().unwrap_or(1);
    let each = others.sum_dim_intlist(Some(&[1]), false, None) / classes as f64;
    let single = self_.ndim() <= 1 && target.ndim() == 0;
    reduced(if single { each.reshape(&[]) } else { each }, reduction)
}

/// The gradient of `multi_margin_loss`: of the other classes, and minus their sum for the target.
pub fn multi_margin_loss_backward(
    grad_output: &Tensor,
    self_: &Tensor,
    target: &Tensor,
    p: Scalar,
    margin: Scalar,
    weight: Option<&Tensor>,
    reduction: i64,
) -> Result<Tensor> {
    let squared = check_multi_margin("multi_margin_loss_backward_cpu_kernel", self_, p)?;
    let (scores, target_rows) = multi_margin_rows(self_, target, weight)?;
    let (rows, classes) = (target.numel(), scores.sizes().get(1).copied().unwrap_or(1));
    let each = grad_output.numel();
    ensure!(
        each == 1 || (reduction == 0 && each == rows),
        Runtime,
        "inconsistent grad_output size, expected {rows} but got {}",
        format_sizes(&grad_output.sizes())
    );
    let short = &scores - scores.gather(1, &target_rows, false) + margin;
    let slopes =
        if squared { short.relu() * 2.0 } else { short.gt_scalar(0).to_dtype(self_.dtype(), false, false, None) };
    let others = of_class(slopes, weight, &target_rows).scatter_value(1, &target_rows, 0);
    let own = -others.sum_dim_intlist(Some(&[1]), true, None);
    let gradients = others.scatter_add(1, &target_rows, own) * Expr::from(grad_output).reshape(&[-1, 1]);
    let count = if reduction == 1 { rows * classes } else { classes };
    (gradients / count as f64).reshape(&self_.sizes()).into_tensor()
}

/// The loss of rows with several labels.
pub fn multilabel_margin_loss(self_: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
    Ok(ops::multilabel_margin_loss_forward(self_, target, reduction)?.0)
}
