//! Norms of layers.

use crate::autograd::{Expr, GradModeGuard};
use crate::dispatch;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, Scalar, ensure, format_sizes};

/// Each channel normalised over the batch.
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
    if input.numel() == 0 && input.ndim() < 2 {
        // Nothing has no channels: PyTorch lets it pass.
        return ops::clone(input, None);
    }
    Ok(ops::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)?.0)
}

/// The running statistics change.
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

/// There are no running statistics.
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

/// Each channel of each sample normalised: the samples' channels are channels of one sample.
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

/// `tensor`, which has one dimension, `count` times, in memory of its own.
fn repeated(tensor: &Tensor, count: i64) -> Result<Tensor> {
    let rows = ops::expand(&ops::unsqueeze(tensor, 0)?, &[count, -1], false)?;
    ops::reshape(&ops::clone(&rows, Some(rushlight_base::MemoryFormat::Contiguous))?, &[-1])
}

/// Groups of the channels of each sample normalised.
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

/// The distance of 1 from the next number.
fn epsilon(dtype: DType) -> f64 {
    match dtype.to_real() {
        DType::F64 => f64::EPSILON,
        DType::F16 => f64::powi(2.0, -10),
        DType::BF16 => f64::powi(2.0, -7),
        _ => f64::from(f32::EPSILON),
    }
}

/// The last dimensions divided by their root mean square.
pub fn rms_norm(input: &Tensor, normalized_shape: &[i64], weight: Option<&Tensor>, eps: Option<f64>) -> Result<Tensor> {
    let (dtype, wide) = (input.dtype(), input.dtype().opmath());
    ops::rules::check_normalized_shape(&input.sizes(), normalized_shape, [("weight", weight.map(Tensor::sizes))])?;
    ensure!(dtype.is_differentiable(), Runtime, "\"rms_norm\" not implemented for '{}'", dtype.c10_name());
    let dims: DimVec = (1..=normalized_shape.len() as i64).map(|dim| -dim).collect();
    let rows = Expr::from(ops::to_dtype(input, wide, false, false, None)?);
    let square = (&rows * &rows).mean_dim(Some(&dims), true, None) + Scalar::Float(eps.unwrap_or(epsilon(dtype)));
    let normal = (&rows * square.rsqrt()).to_dtype(dtype, false, false, None);
    weight.map_or(normal.clone(), |weight| normal * Expr::from(weight)).into_tensor()
}
