//! Rules of softmax, layer norm, dropout and the negative log likelihood.

use crate::dense::{Dense, Spec};
use rushlight_base::{DType, DimVec, Result, bail, ensure, format_sizes, wrap_dim};

/// Softmax along `dim` keeps the shape.
pub fn softmax(self_: &Dense, dim: i64, half_to_float: bool) -> Result<Spec> {
    wrap_dim(dim, self_.ndim())?;
    ensure!(!half_to_float, Runtime, "softmax with half to float conversion is not supported on CPU");
    Ok(Spec::new(self_.sizes(), self_.dtype, self_.device))
}

/// The gradient has the shape of the output.
pub fn softmax_backward(grad_output: &Dense, output: &Dense, dim: i64, input_dtype: DType) -> Result<Spec> {
    wrap_dim(dim, grad_output.ndim())?;
    ensure!(
        grad_output.sizes() == output.sizes() && grad_output.dtype == output.dtype && input_dtype == output.dtype,
        Runtime,
        "expected grad_output {} and output {} to be alike",
        grad_output.describe(),
        output.describe()
    );
    Ok(Spec::new(output.sizes(), input_dtype, output.device))
}

/// The dtype of the statistics: that of the parameters, if it differs from the input's.
pub(super) fn statistics_dtype<const N: usize>(input: &Dense, parameters: [Option<&Dense>; N]) -> Result<DType> {
    let mut given = parameters.into_iter().flatten();
    if given.clone().next().is_none_or(|first| first.dtype == input.dtype) {
        // The input's dtype is valid, so the mismatch is in another tensor.
        if let Some(other) = given.find(|parameter| parameter.dtype != input.dtype) {
            let (expected, found) = (input.dtype.c10_name(), other.dtype.c10_name());
            bail!(Runtime, "expected scalar type {expected} but found {found}");
        }
        return Ok(input.dtype);
    }
    ensure!(
        given.all(|parameter| parameter.dtype == DType::F32),
        Runtime,
        "mixed dtype (CPU): expect parameter to have scalar type of Float"
    );
    ensure!(
        matches!(input.dtype, DType::F16 | DType::BF16),
        Runtime,
        "mixed dtype (CPU): all inputs must share same datatype."
    );
    Ok(DType::F32)
}

/// The input ends in `normalized_shape`, which the parameters have.
pub fn check_normalized_shape<const N: usize>(
    sizes: &[i64],
    normalized_shape: &[i64],
    parameters: [(&str, Option<DimVec>); N],
) -> Result<()> {
    ensure!(
        !normalized_shape.is_empty(),
        Runtime,
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got \
         normalized_shape = {}",
        format_sizes(normalized_shape)
    );
    for (name, parameter) in parameters {
        let Some(parameter) = parameter else { continue };
        ensure!(
            *parameter == *normalized_shape,
            Runtime,
            "Expected {name} to be of same shape as normalized_shape, but got {name} of shape {} and \
             normalized_shape = {}",
            format_sizes(&parameter),
            format_sizes(normalized_shape)
        );
    }
    ensure!(
        sizes.ends_with(normalized_shape),
        Runtime,
        "Given normalized_shape={}, expected input with shape [*, {}], but got input of size{}",
        format_sizes(normalized_shape),
        format_sizes(normalized_shape).trim_matches(['[', ']']),
        format_sizes(sizes)
    );
    Ok(())
}

/// The normalised input, and a mean and a reciprocal deviation for each row.
pub fn native_layer_norm(
    input: &Dense,
    normalized_shape: &[i64],
    weight: Option<&Dense>,
    bias: Option<&Dense>,
    _eps: f64,
) -> Result<[Spec; 3]> {
    let parameters = [("weight", weight), ("bias", bias)];
    let shapes = parameters.map(|(name, given)| (name, given.map(|given| DimVec::from_slice(given.sizes()))));
    check_normalized_shape(input.sizes(), normalized_shape, shapes)?;
    let dtype = statistics_dtype(input, [weight, bias])?;
    let mut rows = DimVec::from_slice(input.sizes());
    rows[input.ndim() - normalized_shape.len()..].fill(1);
    let per_row = Spec::new(&rows, dtype, input.device);
    Ok([Spec::new(input.sizes(), input.dtype, input.device), per_row.clone(), per_row])
}

fn check_layer_norm_backward(
    grad: &Dense,
    input: &Dense,
    normalized_shape: &[i64],
    statistics: [&Dense; 2],
) -> Result<()> {
    let rows: i64 = input.sizes()[..input.ndim().saturating_sub(normalized_shape.len())].iter().product();
    ensure!(
        grad.sizes() == input.sizes()
            && grad.dtype == input.dtype
            && input.sizes().ends_with(normalized_shape)
            && statistics.iter().all(|numbers| numbers.numel() == rows),
        Runtime,
        "expected grad {} and input {} to be alike, with rows of shape {}",
        grad.describe(),
        input.describe(),
        format_sizes(normalized_shape)
    );
    Ok(())
}

/// The gradient by the input is like it.
pub fn layer_norm_backward_input(
    grad: &Dense,
    input: &Dense,
    normalized_shape: &[i64],
    mean: &Dense,
    rstd: &Dense,
    weight: Option<&Dense>,
) -> Result<Spec> {
    check_layer_norm_backward(grad, input, normalized_shape, [mean, rstd])?;
    if let Some(weight) = weight {
        ensure!(
            weight.sizes() == normalized_shape,
            Runtime,
            "expected weight of shape {}",
            format_sizes(normalized_shape)
        );
    }
    Ok(Spec::new(input.sizes(), input.dtype, input.device))
}

/// The gradient by the weight has its shape.
pub fn layer_norm_backward_weight(
    grad: &Dense,
    input: &Dense,
    normalized_shape: &[i64],
    mean: &Dense,
    rstd: &Dense,
    dtype: DType,
) -> Result<Spec> {
    check_layer_norm_backward(grad, input, normalized_shape, [mean, rstd])?;
    Ok(Spec::new(normalized_shape, dtype, input.device))
}

/// The input after dropout, and its mask.
pub fn native_dropout(input: &Dense, p: f64, _train: Option<bool>) -> Result<[Spec; 2]> {
    ensure!((0.0..=1.0).contains(&p), Runtime, "dropout probability has to be between 0 and 1, but got {p}");
    let like = super::like(input)?;
    let mask = Spec { dtype: DType::Bool, ..like.clone() };
    Ok([like, mask])
}

/// grad mask scale.
pub fn native_dropout_backward(grad_output: &Dense, mask: &Dense, _scale: f64) -> Result<Spec> {
    ensure!(mask.dtype == DType::Bool, Runtime, "Mask should be Bool Scalar Type {}", mask.dtype.c10_name());
    let dtype = if grad_output.dtype.is_integral(true) {
        super::promotion::scalar_dtype(rushlight_base::Scalar::Float(1.0))
    } else {
        grad_output.dtype
    };
    super::elementwise(dtype, &[grad_output, mask])
}

/// The shape without the class dimension, in which scores and targets must agree.
fn check_nll(self_: &Dense, target: &Dense, weight: Option<&Dense>) -> Result<()> {
    let (scores, targets) = (self_.sizes(), target.sizes());
    ensure!(!scores.is_empty(), Runtime, "input tensor should be 1D or 2D");
    ensure!(
        matches!(target.dtype, DType::I64 | DType::U8),
        Runtime,
        "expected scalar type Long but found {}",
        target.dtype.c10_name()
    );
    let class_dim = usize::from(scores.len() > 1);
    let targets_fit = match scores.len() {
        1 => target.ndim() <= 1,
        2 => target.ndim() == 1,
        rank => {
            ensure!(
                target.ndim() + 1 == rank,
                Runtime,
                "only batches of spatial targets supported ({}D tensors) but got targets of dimension: {}",
                rank - 1,
                target.ndim()
            );
            true
        }
    };
    ensure!(targets_fit, Runtime, "0D or 1D target tensor expected, multi-target not supported");
    // Of several targets for one vector of scores the first counts.
    let agree = if scores.len() == 1 {
        targets.is_empty() || targets == scores && scores[0] > 0
    } else {
        targets.iter().eq(scores[..class_dim].iter().chain(&scores[class_dim + 1..]))
    };
    ensure!(agree, Runtime, "size mismatch (got input: {}, target: {})", format_sizes(scores), format_sizes(targets));
    if let Some(weight) = weight {
        let classes = scores[class_dim];
        ensure!(
            weight.ndim() == 1 && weight.numel() == classes,
            Runtime,
            "weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of \
             shape: {}",
            format_sizes(weight.sizes())
        );
        ensure!(
            weight.dtype == self_.dtype,
            Runtime,
            "expected scalar type {} but found {}",
            self_.dtype.c10_name(),
            weight.dtype.c10_name()
        );
    }
    Ok(())
}

/// The loss and the total weight.
pub fn nll_loss_forward(
    self_: &Dense,
    target: &Dense,
    weight: Option<&Dense>,
    reduction: i64,
    _ignore_index: i64,
) -> Result<[Spec; 2]> {
    check_nll(self_, target, weight)?;
    let loss = match reduction {
        0 if self_.ndim() > 1 => Spec::new(target.sizes(), self_.dtype, self_.device),
        0..=2 => Spec::new(&[], self_.dtype, self_.device),
        _ => bail!(Value, "{reduction} is not a valid value for reduction"),
    };
    Ok([loss, Spec::new(&[], self_.dtype, self_.device)])
}

/// The gradient by the scores.
pub fn nll_loss_backward(
    grad_output: &Dense,
    self_: &Dense,
    target: &Dense,
    weight: Option<&Dense>,
    reduction: i64,
    ignore_index: i64,
    total_weight: &Dense,
) -> Result<Spec> {
    let [loss, _] = nll_loss_forward(self_, target, weight, reduction, ignore_index)?;
    ensure!(
        grad_output.numel() == loss.sizes.iter().product::<i64>() && grad_output.dtype == self_.dtype,
        Runtime,
        "Expected a tensor of shape {} for grad_output, but got {}",
        format_sizes(&loss.sizes),
        grad_output.describe()
    );
    ensure!(
        total_weight.numel() == 1 && total_weight.dtype == self_.dtype,
        Runtime,
        "expected total_weight to be a  single element tensor, got: {} ({} elements)",
        format_sizes(total_weight.sizes()),
        total_weight.numel()
    );
    Ok(Spec::new(self_.sizes(), self_.dtype, self_.device))
}
