//! Normalization layers.

use super::{check_alike, selected};
use crate::autograd::{Expr, GradModeGuard, formulas, should_record};
use crate::dispatch;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, Scalar, ensure, format_sizes};

/// Normalizes each channel over the batch.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn batch_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    training: bool,
    momentum: f64,
    eps: f64,
    _cudnn_enabled: bool,
) -> Result<Tensor> {
    if input.numel() == 0 {
        return empty_batch(input, weight, bias);
    }
    Ok(ops::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)?.0)
}

/// A batch without elements. It leaves the running statistics as they are, and the parameters get zero gradients.
fn empty_batch(input: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>) -> Result<Tensor> {
    let mut out = ops::clone(input, None)?;
    if let Some(weight) = weight {
        out = ops::mul_tensor(&out, &ops::select_int(weight, 0, 0)?)?;
    }
    if let Some(bias) = bias {
        out = ops::add_tensor(&out, &ops::select_int(bias, 0, 0)?, 1.into())?;
    }
    Ok(out)
}

/// The running statistics are updated.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn native_batch_norm_legit(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &Tensor,
    running_var: &Tensor,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)> {
    let (mean, variance) = (Some(running_mean), Some(running_var));
    let results = ops::native_batch_norm(input, weight, bias, mean, variance, training, momentum, eps);
    let results = dispatch::written(results, [running_mean, running_var])?;
    if training {
        running_mean.bump_version();
        running_var.bump_version();
    }
    Ok(results)
}

/// The running statistics are missing.
pub fn native_batch_norm_legit_no_stats(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)> {
    ops::native_batch_norm(input, weight, bias, None, None, training, momentum, eps)
}

/// In training, with an empty fourth result.
pub fn batch_norm_with_update(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &Tensor,
    running_var: &Tensor,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let (out, mean, rstd) =
        native_batch_norm_legit(input, weight, bias, running_mean, running_var, true, momentum, eps)?;
    let reserve = ops::empty_memory_format(&[0], Options::of(DType::U8).on(input.device()), None)?;
    Ok((out, mean, rstd, reserve))
}

/// The gradients of batch norm that `mask` selects.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn native_batch_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    save_mean: Option<&Tensor>,
    save_invstd: Option<&Tensor>,
    train: bool,
    eps: f64,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)> {
    let [by_input, by_weight, by_bias] = super::output_mask("native_batch_norm_backward", output_mask)?;
    check_alike("native_batch_norm_backward", grad_out, input)?;
    ensure!(
        input.ndim() >= 2,
        Runtime,
        "native_batch_norm_backward: expected an input of at least two dimensions (N, C, *), got {}",
        format_sizes(&input.sizes())
    );
    let running = [("running_mean", running_mean), ("running_var", running_var)];
    let saved = [("save_mean", save_mean), ("save_invstd", save_invstd)];
    let statistics = if train { saved } else { running };
    for (name, tensor) in statistics {
        ensure!(tensor.is_some(), Runtime, "native_batch_norm_backward: {name} must be defined for train={train}");
    }
    let channels = input.sizes()[1];
    for (name, tensor) in running.into_iter().chain(saved).chain([("weight", weight)]) {
        let fits =
            tensor.is_none_or(|tensor| tensor.ndim() == 1 && (tensor.numel() == channels || tensor.numel() == 0));
        ensure!(fits, Runtime, "{name} should contain {channels} elements not {}", tensor.map_or(0, Tensor::numel));
    }
    let recorded = should_record([grad_out, input].into_iter().chain(weight));
    let _guard = (!recorded).then(|| GradModeGuard::new(false));
    let constant = |tensor: Option<&Tensor>| tensor.map(|tensor| Expr::from(tensor).detach());
    let (running_mean, running_var) = (constant(running_mean), constant(running_var));
    let [mean, rstd] = statistics.map(|(_, tensor)| constant(tensor).unwrap_or_else(|| Expr::from(input)));
    let (grad, x, scale) = (Expr::from(grad_out), Expr::from(input), weight.map(Expr::from));
    let (of_mean, of_var) = (running_mean.as_ref(), running_var.as_ref());
    let needs = [by_input, by_weight, by_bias];
    let gradients = formulas::batch_norm(&grad, &x, scale.as_ref(), of_mean, of_var, &mean, &rstd, train, eps, needs);
    let [by_input, by_weight, by_bias] = gradients.map(|gradient| match gradient {
        Some(gradient) => gradient.into_tensor(),
        None => ops::empty_memory_format(&[0], grad_out.options(), None),
    });
    let gradients = [by_input?, by_weight?, by_bias?];
    cast(gradients, input, weight)
}

/// The same; other devices use `reserve`.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn batch_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    save_mean: Option<&Tensor>,
    save_var: Option<&Tensor>,
    update: bool,
    eps: f64,
    output_mask: &[bool],
    _reserve: &Tensor,
) -> Result<(Tensor, Tensor, Tensor)> {
    let (mean, var, weight) = (running_mean, running_var, Some(weight));
    native_batch_norm_backward(grad_out, input, weight, mean, var, save_mean, save_var, update, eps, output_mask)
}

/// The gradients in the dtypes of input and parameters, in which float32 is used beside half precision if they are missing.
fn cast(gradients: [Tensor; 3], input: &Tensor, weight: Option<&Tensor>) -> Result<(Tensor, Tensor, Tensor)> {
    let parameter = weight.map_or(input.dtype().opmath(), Tensor::dtype);
    let to = |tensor: &Tensor, dtype: DType| ops::to_dtype(tensor, dtype, false, false, None);
    let [by_input, by_weight, by_bias] = gradients;
    Ok((to(&by_input, input.dtype())?, to(&by_weight, parameter)?, to(&by_bias, parameter)?))
}

/// Instance norm as batch norm: the channels of all samples are channels of one sample.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn instance_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    use_input_stats: bool,
    momentum: f64,
    eps: f64,
    cudnn_enabled: bool,
) -> Result<Tensor> {
    ensure!(
        use_input_stats || (running_mean.is_some() && running_var.is_some()),
        Runtime,
        "Expected running_mean and running_var to be defined when use_input_stats is false"
    );
    let sizes = input.sizes();
    ensure!(
        sizes.len() >= 2,
        Index,
        "instance_norm: expected an input of at least 2 dimensions (N, C, *), got {}",
        format_sizes(&sizes)
    );
    let (samples, channels) = (sizes[0], sizes[1]);
    let each = |tensor: Option<&Tensor>| tensor.map(|tensor| repeated(tensor, samples)).transpose();
    let (weight, bias, mean, variance) = (each(weight)?, each(bias)?, each(running_mean)?, each(running_var)?);
    let mut merged = DimVec::from_slice(&sizes);
    (merged[0], merged[1]) = (1, samples * channels);
    let out = ops::batch_norm(
        &ops::reshape(input, &merged)?,
        weight.as_ref(),
        bias.as_ref(),
        mean.as_ref(),
        variance.as_ref(),
        use_input_stats,
        momentum,
        eps,
        cudnn_enabled,
    )?;
    if use_input_stats {
        let _guard = GradModeGuard::new(false);
        for (running, new) in [(running_mean, &mean), (running_var, &variance)] {
            if let (Some(running), Some(new)) = (running, new) {
                let means = ops::mean_dim(&ops::view(new, &[samples, channels])?, Some(&[0]), false, None)?;
                ops::copy_(running, &means, false)?;
            }
        }
    }
    ops::view(&out, &sizes)
}

/// `tensor`, which has one dimension, repeated `count` times, in separate memory.
fn repeated(tensor: &Tensor, count: i64) -> Result<Tensor> {
    let rows = ops::expand(&ops::unsqueeze(tensor, 0)?, &[count, -1], false)?;
    ops::reshape(&ops::clone(&rows, Some(rushlight_base::MemoryFormat::Contiguous))?, &[-1])
}

/// Normalizes groups of the channels of each sample.
pub fn group_norm(
    input: &Tensor,
    num_groups: i64,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
    _cudnn_enabled: bool,
) -> Result<Tensor> {
    Ok(ops::_group_norm(input, num_groups, weight, bias, eps)?.0)
}

/// Checks the numbers that describe the input of group norm.
fn check_described(input: &Tensor, [samples, channels, inner]: [i64; 3]) -> Result<()> {
    let numel = samples.checked_mul(channels).and_then(|count| count.checked_mul(inner));
    ensure!(
        [samples, channels, inner].iter().all(|&count| count >= 0) && numel == Some(input.numel()),
        Runtime,
        "Expected X.numel() == N * C * HxW to be true, but got false. X has the shape {}",
        format_sizes(&input.sizes())
    );
    Ok(())
}

/// `group_norm` of an input described by numbers, with mean and reciprocal deviation of each group.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn native_group_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    samples: i64,
    channels: i64,
    inner: i64,
    group: i64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)> {
    check_described(input, [samples, channels, inner])?;
    let dtype = input.dtype();
    ensure!(dtype.is_floating(), Runtime, "\"GroupNormKernelImpl\" not implemented for '{}'", dtype.c10_name());
    let described = ops::reshape(input, &[samples, channels, inner])?;
    let (out, mean, rstd) = ops::_group_norm(&described, group, weight, bias, eps)?;
    let out = ops::reshape(&out, &input.sizes())?;
    if !should_record([input]) || input.numel() == 0 {
        return Ok((out, mean, rstd));
    }
    // The statistics are differentiable here, other than those of `_group_norm`.
    let (of_mean, of_rstd) = formulas::group_statistics(&described.into(), group, eps);
    let like = |function: Expr| function.to_dtype(mean.dtype(), false, false, None).into_tensor();
    Ok((out, like(of_mean)?, like(of_rstd)?))
}

/// The gradients of `native_group_norm` that `mask` selects. The statistics are those of the forward pass, and functions of
/// the input where the gradients are differentiated again.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn native_group_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    samples: i64,
    channels: i64,
    inner: i64,
    group: i64,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)> {
    let [by_input, by_weight, by_bias] = super::output_mask("native_group_norm_backward", output_mask)?;
    check_described(input, [samples, channels, inner])?;
    check_alike("native_group_norm_backward", grad_out, input)?;
    ensure!(
        group > 0 && channels % group == 0,
        Runtime,
        "Expected number of channels {channels} to be evenly divisible by number of groups {group}"
    );
    let fits = weight.is_none_or(|weight| weight.ndim() == 1 && weight.numel() == channels);
    ensure!(fits, Runtime, "native_group_norm_backward: expected a weight of {channels} elements");
    let groups = samples.checked_mul(group);
    ensure!(
        groups == Some(mean.numel()) && groups == Some(rstd.numel()),
        Runtime,
        "native_group_norm_backward: expected mean and rstd of shape [{samples}, {group}]"
    );
    let recorded = should_record([grad_out, input].into_iter().chain(weight));
    let _guard = (!recorded).then(|| GradModeGuard::new(false));
    let described = |tensor: &Tensor| Expr::from(tensor).reshape(&[samples, channels, inner]);
    let statistics = |tensor: &Tensor| Expr::from(tensor).detach().reshape(&[samples, group]);
    let (grad, x, scale) = (described(grad_out), described(input), weight.map(Expr::from));
    let (mean, rstd) = (statistics(mean), statistics(rstd));
    let eps = if recorded { formulas::group_eps(&x, group, &rstd) } else { rstd.clone() };
    let gradients = [
        selected(by_input, grad_out.options(), || {
            formulas::group_norm_input(&grad, &x, group, scale.as_ref(), &mean, &rstd, &eps).reshape(&input.sizes())
        })?,
        selected(by_weight, grad_out.options(), || formulas::group_norm_weight(&grad, &x, group, &mean, &rstd, &eps))?,
        selected(by_bias, grad_out.options(), || formulas::sum_channels(&grad))?,
    ];
    cast(gradients, input, weight)
}

/// The machine epsilon of the dtype that sums are computed in.
fn epsilon(wide: DType) -> f64 {
    if wide.to_real() == DType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) }
}

/// Divides the last dimensions by their root mean square.
pub fn rms_norm(input: &Tensor, normalized_shape: &[i64], weight: Option<&Tensor>, eps: Option<f64>) -> Result<Tensor> {
    let (dtype, wide) = (input.dtype(), input.dtype().opmath());
    ops::rules::check_normalized_shape(&input.sizes(), normalized_shape, [("weight", weight.map(Tensor::sizes))])?;
    ensure!(dtype.is_differentiable(), Runtime, "\"rms_norm\" not implemented for '{}'", dtype.c10_name());
    let dims: DimVec = (1..=normalized_shape.len() as i64).map(|dim| -dim).collect();
    let rows = Expr::from(ops::to_dtype(input, wide, false, false, None)?);
    let square = (&rows * &rows).mean_dim(Some(&dims), true, None) + Scalar::Float(eps.unwrap_or(epsilon(wide)));
    let normal = &rows * square.rsqrt();
    let scaled = weight.map_or(normal.clone(), |weight| normal * Expr::from(weight));
    scaled.to_dtype(dtype, false, false, None).into_tensor()
}
