//! Kernels of the fused optimizer steps: one pass per parameter.

use super::access::{array, number_of};
use crate::dense::Dense;
use rushlight_base::{Result, ensure};
use rushlight_cpu::optim::{self, Adagrad, Adam, RmsProp, Sgd};

/// The element of a one-element tensor.
fn number(dense: &Dense) -> Result<f64> {
    ensure!(dense.numel() == 1, Runtime, "expected a tensor of one element, got {}", dense.describe());
    number_of(dense)
}

/// The scale of the gradients; `None` if a scaler has found an infinity in them, and nothing is to be done.
fn scale(grad_scale: Option<&Dense>, found_inf: Option<&Dense>) -> Result<Option<f64>> {
    if found_inf.map(number).transpose()? == Some(1.0) {
        return Ok(None);
    }
    Ok(Some(grad_scale.map(number).transpose()?.unwrap_or(1.0)))
}

fn check_lengths(name: &str, params: &[Dense], lists: &[&[Dense]]) -> Result<()> {
    ensure!(
        lists.iter().all(|list| list.len() == params.len()),
        Runtime,
        "{name}: expected the lists of tensors to be as long as that of the {} parameters",
        params.len()
    );
    Ok(())
}

/// One step of stochastic gradient descent on every parameter.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn fused_sgd_(
    self_: &[Dense],
    grads: &[Dense],
    momentum_buffer_list: &[Dense],
    weight_decay: f64,
    momentum: f64,
    lr: f64,
    dampening: f64,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: Option<&Dense>,
    found_inf: Option<&Dense>,
) -> Result<()> {
    check_lengths("_fused_sgd_", self_, &[grads])?;
    if momentum != 0.0 {
        check_lengths("_fused_sgd_", self_, &[momentum_buffer_list])?;
    }
    let Some(grad_scale) = scale(grad_scale, found_inf)? else { return Ok(()) };
    let step = Sgd { weight_decay, momentum, lr, dampening, nesterov, maximize, first_step: is_first_step, grad_scale };
    for (at, (param, grad)) in self_.iter().zip(grads).enumerate() {
        let buffer = momentum_buffer_list.get(at).map(array);
        optim::sgd(&array(param), &array(grad), buffer.as_ref(), &step)?;
    }
    Ok(())
}

/// The state of Adam, list by list.
struct AdamState<'a> {
    means: &'a [Dense],
    squares: &'a [Dense],
    max_squares: &'a [Dense],
    steps: &'a [Dense],
}

fn fused(params: &[Dense], grads: &[Dense], state: &AdamState, amsgrad: bool, constants: Adam) -> Result<()> {
    check_lengths("_fused_adam_", params, &[grads, state.means, state.squares, state.steps])?;
    if amsgrad {
        check_lengths("_fused_adam_", params, &[state.max_squares])?;
    }
    for (at, (param, grad)) in params.iter().zip(grads).enumerate() {
        let (mean, square, steps) = (&state.means[at], &state.squares[at], &state.steps[at]);
        let step = number(steps)?;
        let max_square = state.max_squares.get(at).filter(|_| amsgrad).map(array);
        let constants = Adam { step, ..constants };
        optim::adam(&array(param), &array(grad), &array(mean), &array(square), max_square.as_ref(), &constants)?;
    }
    Ok(())
}

macro_rules! adam_kernel {
    ($(#[$doc:meta])* $name:ident, $decoupled:literal) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $name(
            self_: &[Dense],
            grads: &[Dense],
            exp_avgs: &[Dense],
            exp_avg_sqs: &[Dense],
            max_exp_avg_sqs: &[Dense],
            state_steps: &[Dense],
            lr: f64,
            beta1: f64,
            beta2: f64,
            weight_decay: f64,
            eps: f64,
            amsgrad: bool,
            maximize: bool,
            grad_scale: Option<&Dense>,
            found_inf: Option<&Dense>,
        ) -> Result<()> {
            let Some(grad_scale) = scale(grad_scale, found_inf)? else { return Ok(()) };
            let state =
                AdamState { means: exp_avgs, squares: exp_avg_sqs, max_squares: max_exp_avg_sqs, steps: state_steps };
            // The step number is set for each parameter by `fused`.
            let constants = Adam {
                lr, beta1, beta2, weight_decay, eps, maximize, decoupled: $decoupled, step: 1.0, grad_scale,
            };
            fused(self_, grads, &state, amsgrad, constants)
        }
    };
}

adam_kernel! {
    /// One step of Adam on every parameter; `state_steps` hold the number of this step, from 1.
    fused_adam_, false
}

adam_kernel! {
    /// One step of AdamW on every parameter; `state_steps` hold the number of this step, from 1.
    fused_adamw_, true
}

/// One step of Adagrad on every parameter; `state_steps` hold the number of this step, from 1.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn fused_adagrad_(
    self_: &[Dense],
    grads: &[Dense],
    state_sums: &[Dense],
    state_steps: &[Dense],
    lr: f64,
    lr_decay: f64,
    weight_decay: f64,
    eps: f64,
    maximize: bool,
    grad_scale: Option<&Dense>,
    found_inf: Option<&Dense>,
) -> Result<()> {
    check_lengths("_fused_adagrad_", self_, &[grads, state_sums, state_steps])?;
    let Some(grad_scale) = scale(grad_scale, found_inf)? else { return Ok(()) };
    for (at, (param, grad)) in self_.iter().zip(grads).enumerate() {
        let step = number(&state_steps[at])?;
        let constants = Adagrad { lr, lr_decay, weight_decay, eps, maximize, step, grad_scale };
        optim::adagrad(&array(param), &array(grad), &array(&state_sums[at]), &constants)?;
    }
    Ok(())
}

/// One step of RMSprop on every parameter.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn fused_rmsprop_(
    self_: &[Dense],
    grads: &[Dense],
    square_avgs: &[Dense],
    grad_avgs: &[Dense],
    momentum_buffer_list: &[Dense],
    lr: f64,
    alpha: f64,
    eps: f64,
    weight_decay: f64,
    momentum: f64,
    centered: bool,
    maximize: bool,
    grad_scale: Option<&Dense>,
    found_inf: Option<&Dense>,
) -> Result<()> {
    check_lengths("_fused_rmsprop_", self_, &[grads, square_avgs])?;
    if centered {
        check_lengths("_fused_rmsprop_", self_, &[grad_avgs])?;
    }
    if momentum != 0.0 {
        check_lengths("_fused_rmsprop_", self_, &[momentum_buffer_list])?;
    }
    let Some(grad_scale) = scale(grad_scale, found_inf)? else { return Ok(()) };
    let step = RmsProp { lr, alpha, eps, weight_decay, momentum, maximize, grad_scale };
    for (at, (param, grad)) in self_.iter().zip(grads).enumerate() {
        let mean = grad_avgs.get(at).filter(|_| centered).map(array);
        let speed = momentum_buffer_list.get(at).filter(|_| momentum != 0.0).map(array);
        let square = array(&square_avgs[at]);
        optim::rmsprop(&array(param), &array(grad), &square, mean.as_ref(), speed.as_ref(), &step)?;
    }
    Ok(())
}
