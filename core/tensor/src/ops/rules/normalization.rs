//! Rules of the norms of channels.

use super::nn::statistics_dtype;
use crate::dense::{Dense, Spec};
use rushlight_base::{Result, ensure, format_sizes};

/// Each of these has an element for each channel.
fn check_channels<const N: usize>(channels: i64, named: [(&str, Option<&Dense>); N]) -> Result<()> {
    for (name, given) in named {
        let Some(given) = given else { continue };
        let found = given.numel();
        ensure!(found == channels, Runtime, "{name} should contain {channels} elements not {found}");
    }
    Ok(())
}

fn check_floating(input: &Dense) -> Result<()> {
    ensure!(input.dtype.is_floating(), Runtime, "\"batch_norm\" not implemented for '{}'", input.dtype.c10_name());
    Ok(())
}

/// The normalised input; in training a mean and a reciprocal deviation for each channel, else none.
pub fn native_batch_norm(
    input: &Dense,
    weight: Option<&Dense>,
    bias: Option<&Dense>,
    running_mean: Option<&Dense>,
    running_var: Option<&Dense>,
    training: bool,
) -> Result<[Spec; 3]> {
    ensure!(
        input.ndim() >= 2,
        Index,
        "Dimension out of range (expected to be in range of [{}, {}], but got 1)",
        -(input.ndim().max(1) as i64),
        input.ndim().max(1) - 1
    );
    check_floating(input)?;
    ensure!(training || running_mean.is_some(), Runtime, "running_mean must be defined in evaluation mode");
    ensure!(training || running_var.is_some(), Runtime, "running_var must be defined in evaluation mode");
    ensure!(
        !training || input.numel() > 0,
        Runtime,
        "input tensor must have at least one element, but got input_sizes = {}",
        format_sizes(input.sizes())
    );
    let channels = input.sizes()[1];
    let named = [("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)];
    check_channels(channels, named)?;
    for given in [running_mean, running_var, weight, bias].into_iter().flatten() {
        ensure!(given.ndim() == 1, Runtime, "TensorAccessor expected 1 dims but tensor has {}", given.ndim());
    }
    let dtype = statistics_dtype(input, [weight, bias, running_mean, running_var])?;
    let per_channel = Spec::new(&[if training { channels } else { 0 }], dtype, input.device);
    Ok([super::like(input)?, per_channel.clone(), per_channel])
}

/// The gradient by the input, and those by the weight and the bias in the computation dtype.
pub fn batch_norm_backward(
    grad: &Dense,
    input: &Dense,
    weight: Option<&Dense>,
    mean: &Dense,
    rstd: &Dense,
) -> Result<[Spec; 3]> {
    check_floating(input)?;
    ensure!(
        grad.sizes() == input.sizes() && grad.dtype == input.dtype && input.ndim() >= 2,
        Runtime,
        "_batch_norm_backward: expected grad {} and input {} to be alike, of shape (N, C, *)",
        grad.describe(),
        input.describe()
    );
    let channels = input.sizes()[1];
    let named = [("mean", Some(mean)), ("rstd", Some(rstd)), ("weight", weight)];
    check_channels(channels, named)?;
    let per_channel = Spec::new(&[channels], input.dtype.opmath(), input.device);
    Ok([super::like(input)?, per_channel.clone(), per_channel])
}

/// The normalised input, and a mean and a reciprocal deviation for each group.
pub fn group_norm(input: &Dense, num_groups: i64, weight: Option<&Dense>, bias: Option<&Dense>) -> Result<[Spec; 3]> {
    ensure!(
        input.ndim() >= 2,
        Index,
        "Dimension out of range (expected to be in range of [{}, {}], but got 1)",
        -(input.ndim().max(1) as i64),
        input.ndim().max(1) - 1
    );
    check_floating(input)?;
    let (samples, channels) = (input.sizes()[0], input.sizes()[1]);
    ensure!(num_groups > 0, Runtime, "Expected num groups to be greater than 0, got {num_groups}");
    ensure!(
        channels % num_groups == 0,
        Runtime,
        "Expected number of channels in input to be divisible by num_groups, but got input of shape {} and \
         num_groups={num_groups}",
        format_sizes(input.sizes())
    );
    for (name, parameter) in [("weight", weight), ("bias", bias)] {
        let Some(parameter) = parameter else { continue };
        ensure!(
            parameter.ndim() == 1 && parameter.numel() == channels,
            Runtime,
            "Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape \
             {} and input of shape {}",
            format_sizes(parameter.sizes()),
            format_sizes(input.sizes())
        );
    }
    let dtype = statistics_dtype(input, [weight, bias, None, None])?;
    let per_group = Spec::new(&[samples, num_groups], dtype, input.device);
    Ok([Spec::new(input.sizes(), input.dtype, input.device), per_group.clone(), per_group])
}
