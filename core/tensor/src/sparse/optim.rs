//! Steps of optimizers with sparse gradients: only the rows that a gradient specifies change, except by momentum.

use crate::autograd::GradModeGuard;
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, Scalar, ensure};

/// A parameter with its gradient and states.
struct Step<'a> {
    param: &'a Tensor,
    grad: Tensor,
    index: usize,
}

/// Calls `dense` with each parameter whose gradient is strided, and `sparse` with the others. The arguments 0 and 1 are
/// the parameters and gradients; `numbers` are the places of weight decay, of `maximize`, and of the scale of the
/// gradients, which `found_inf` follows.
fn each(
    name: &str,
    args: &Args<'_>,
    [weight_decay, maximize, grad_scale]: [usize; 3],
    dense: &dyn Fn(usize) -> Result<()>,
    sparse: &dyn Fn(&Step) -> Result<()>,
) -> Result<Value> {
    let (params, grads) = (args.tensors(0)?, args.tensors(1)?);
    ensure!(
        params.len() == grads.len(),
        Runtime,
        "{name}: expected as many gradients as parameters, but got {} and {}",
        grads.len(),
        params.len()
    );
    params.iter().try_for_each(|param| args.check_in_place(param))?;
    let _guard = GradModeGuard::new(false);
    let found_inf = args.tensor_opt(grad_scale + 1)?;
    if let Some(found) = found_inf
        && found.item()?.to_bool()
    {
        return Ok(Value::None);
    }
    for (index, (param, grad)) in params.iter().zip(&grads).enumerate() {
        if !grad.is_any_sparse() {
            dense(index)?;
            continue;
        }
        let decays = args.float(weight_decay)? != 0.0;
        ensure!(!decays, Runtime, "weight_decay option is not compatible with sparse gradients");
        let mut grad = (*grad).clone();
        if let Some(scale) = args.tensor_opt(grad_scale)? {
            grad = ops::div_tensor(&grad, scale)?;
        }
        if args.bool(maximize)? {
            grad = ops::neg(&grad)?;
        }
        sparse(&Step { param, grad, index })?;
    }
    Ok(Value::None)
}

/// `_fused_sgd_`
pub(super) fn sgd(args: &Args<'_>) -> Result<Value> {
    let name = "_fused_sgd_";
    let (params, grads, buffers) = (args.tensors(0)?, args.tensors(1)?, args.tensors(2)?);
    let (decay, momentum, lr, dampening) = (args.float(3)?, args.float(4)?, args.float(5)?, args.float(6)?);
    let (nesterov, maximize, is_first) = (args.bool(7)?, args.bool(8)?, args.bool(9)?);
    let (scale, found_inf) = (args.tensor_opt(10)?, args.tensor_opt(11)?);
    let has_buffers = momentum == 0.0 || buffers.len() == params.len();
    ensure!(has_buffers, Runtime, "{name}: expected a momentum buffer for each of {} parameters", params.len());
    let dense = |at: usize| {
        let buffer: Vec<&Tensor> = buffers.get(at).copied().into_iter().collect();
        let (param, grad) = ([params[at]], [grads[at]]);
        ops::_fused_sgd_(
            &param, &grad, &buffer, decay, momentum, lr, dampening, nesterov, maximize, is_first, scale, found_inf,
        )
    };
    each(name, args, [3, 8, 10], &dense, &|step| {
        if momentum == 0.0 {
            return ops::add_tensor_(step.param, &step.grad, Scalar::Float(-lr));
        }
        let buffer = buffers[step.index];
        if is_first {
            ops::zero_(buffer)?;
            ops::add_tensor_(buffer, &step.grad, Scalar::Int(1))?;
        } else {
            ops::mul_scalar_(buffer, Scalar::Float(momentum))?;
            ops::add_tensor_(buffer, &step.grad, Scalar::Float(1.0 - dampening))?;
        }
        if nesterov {
            ops::add_tensor_(step.param, &step.grad, Scalar::Float(-lr))?;
        }
        ops::add_tensor_(step.param, buffer, Scalar::Float(if nesterov { -lr * momentum } else { -lr }))
    })
}

/// `_fused_adagrad_`
pub(super) fn adagrad(args: &Args<'_>) -> Result<Value> {
    let name = "_fused_adagrad_";
    let (params, grads, sums, steps) = (args.tensors(0)?, args.tensors(1)?, args.tensors(2)?, args.tensors(3)?);
    let (lr, lr_decay, decay, eps) = (args.float(4)?, args.float(5)?, args.float(6)?, args.float(7)?);
    let (maximize, scale, found_inf) = (args.bool(8)?, args.tensor_opt(9)?, args.tensor_opt(10)?);
    let has_states = sums.len() == params.len() && steps.len() == params.len();
    ensure!(has_states, Runtime, "{name}: expected a sum and a step for each of {} parameters", params.len());
    let dense = |at: usize| {
        let (param, grad, sum, step) = ([params[at]], [grads[at]], [sums[at]], [steps[at]]);
        ops::_fused_adagrad_(&param, &grad, &sum, &step, lr, lr_decay, decay, eps, maximize, scale, found_inf)
    };
    each(name, args, [6, 8, 9], &dense, &|step| {
        let grad = ops::coalesce(&step.grad)?;
        let (sum, values) = (sums[step.index], ops::_values(&grad)?);
        let squares = ops::mul_tensor(&values, &values)?;
        ops::add_tensor_(sum, &super::convert::with_values(&grad, &squares)?, Scalar::Int(1))?;
        let roots = ops::sqrt(&ops::_values(&ops::sparse_mask(sum, &grad)?)?)?;
        let update = ops::div_tensor(&values, &ops::add_scalar(&roots, Scalar::Float(eps), Scalar::Int(1))?)?;
        let number = steps[step.index].item()?.to_f64();
        let rate = lr / (1.0 + (number - 1.0) * lr_decay);
        ops::add_tensor_(step.param, &super::convert::with_values(&grad, &update)?, Scalar::Float(-rate))
    })
}
