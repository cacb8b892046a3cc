//! Fused optimizer steps: one pass over parameter, gradient and state.
//!
//! The order of operations is that of `torch.optim` on single tensors, constants rounded to the wide type
//! at the same places, so that `f32` training follows PyTorch's to the last digits.

use crate::array::Array;
use crate::number::{Analytic, Number, Real, Wide};
use rushlight_base::plan::Plan;
use rushlight_base::{DimVec, Result, ensure};

/// Constants of a stochastic gradient descent step.
#[derive(Clone, Copy, Debug)]
pub struct Sgd {
    /// L2 penalty.
    pub weight_decay: f64,
    /// Momentum factor; 0: no buffer is read.
    pub momentum: f64,
    /// Learning rate.
    pub lr: f64,
    /// Dampening for momentum.
    pub dampening: f64,
    /// Nesterov momentum.
    pub nesterov: bool,
    /// Ascend instead.
    pub maximize: bool,
    /// The buffer holds nothing yet: it takes the gradient as it is.
    pub first_step: bool,
    /// Gradients are divided by this first.
    pub grad_scale: f64,
}

/// Constants of an Adam or AdamW step.
#[derive(Clone, Copy, Debug)]
pub struct Adam {
    /// Learning rate.
    pub lr: f64,
    /// Decay of the mean.
    pub beta1: f64,
    /// Decay of the mean square.
    pub beta2: f64,
    /// L2 penalty, or decoupled decay.
    pub weight_decay: f64,
    /// Added to the denominator.
    pub eps: f64,
    /// Ascend instead.
    pub maximize: bool,
    /// AdamW: decay multiplies the parameter instead of joining the gradient.
    pub decoupled: bool,
    /// Number of this step, from 1.
    pub step: f64,
    /// Gradients are divided by this first.
    pub grad_scale: f64,
}

/// Calls `each` with the offset of every element in each of `N` arrays of one shape.
fn walk<const N: usize>(arrays: [&Array; N], each: &mut dyn FnMut([isize; N])) -> Result<()> {
    let sizes = arrays[0].sizes();
    let same = arrays.iter().all(|array| array.sizes() == sizes && array.dtype() == arrays[0].dtype());
    ensure!(same, Runtime, "params, grads and optimizer state must have the same dtype and shape");
    if arrays.iter().all(|array| array.is_contiguous()) {
        (0..arrays[0].numel() as isize).for_each(|at| each([at; N]));
        return Ok(());
    }
    let strides: [DimVec; N] = std::array::from_fn(|operand| DimVec::from_slice(arrays[operand].strides()));
    Plan::new(sizes, std::array::from_fn(|operand| strides[operand].as_slice())).elements(each);
    Ok(())
}

/// One step of stochastic gradient descent; `momentum` is the buffer, present if `step.momentum` is not 0.
pub fn sgd(param: &Array, grad: &Array, momentum: Option<&Array>, step: &Sgd) -> Result<()> {
    dispatch!(param.dtype(), "fused_sgd", half float, T => sgd_step::<T>(param, grad, momentum, step))
}

fn sgd_step<T: Number<Wide: Real>>(param: &Array, grad: &Array, buffer: Option<&Array>, step: &Sgd) -> Result<()> {
    let constant = T::Wide::from_f64;
    let (decay, rate) = (constant(step.weight_decay), constant(-step.lr));
    let (momentum, share) = (constant(step.momentum), constant(1.0 - step.dampening));
    let scale = constant(step.grad_scale);
    // SAFETY (every access below): `walk` stays within the arrays, which `Array::new` vouches for.
    let (p, g) = (param.as_ptr::<T>(), grad.as_ptr::<T>());
    let gradient = |at_param: T::Wide, at_grad: T| {
        let mut value = at_grad.widen();
        if step.grad_scale != 1.0 {
            value = value.div(scale);
        }
        if step.maximize {
            value = T::Wide::ZERO.sub(value);
        }
        if step.weight_decay != 0.0 { value.add(decay.mul(at_param)) } else { value }
    };
    let Some(buffer) = buffer.filter(|_| step.momentum != 0.0) else {
        return walk([param, grad], &mut |[i, j]| {
            // SAFETY: see above.
            unsafe {
                let old = p.offset(i).read().widen();
                p.offset(i).write(T::narrow(old.add(rate.mul(gradient(old, g.offset(j).read())))));
            }
        });
    };
    let b = buffer.as_ptr::<T>();
    walk([param, grad, buffer], &mut |[i, j, k]| {
        // SAFETY: see above.
        unsafe {
            let old = p.offset(i).read().widen();
            let value = gradient(old, g.offset(j).read());
            let speed =
                if step.first_step { value } else { momentum.mul(b.offset(k).read().widen()).add(share.mul(value)) };
            b.offset(k).write(T::narrow(speed));
            let direction = if step.nesterov { value.add(momentum.mul(speed)) } else { speed };
            p.offset(i).write(T::narrow(old.add(rate.mul(direction))));
        }
    })
}

/// One step of Adam or AdamW; `max_square` is the running maximum of the mean square (AMSGrad).
pub fn adam(
    param: &Array,
    grad: &Array,
    mean: &Array,
    square: &Array,
    max_square: Option<&Array>,
    step: &Adam,
) -> Result<()> {
    dispatch!(param.dtype(), "fused_adam", half float, T => {
        match max_square {
            // The maximum's place is not touched without AMSGrad; the square stands in for it.
            None => adam_step::<T>([param, grad, mean, square, square], false, step),
            Some(max_square) => adam_step::<T>([param, grad, mean, square, max_square], true, step),
        }
    })
}

fn adam_step<T: Number<Wide: Real>>(arrays: [&Array; 5], amsgrad: bool, step: &Adam) -> Result<()> {
    let constant = T::Wide::from_f64;
    let correction1 = 1.0 - step.beta1.powf(step.step);
    let correction2 = constant((1.0 - step.beta2.powf(step.step)).sqrt());
    let step_size = constant(-(step.lr / correction1));
    let (weight1, beta2, weight2) = (1.0 - step.beta1, constant(step.beta2), constant(1.0 - step.beta2));
    let (eps, decay) = (constant(step.eps), constant(step.weight_decay));
    let shrink = constant(1.0 - step.lr * step.weight_decay);
    let scale = constant(step.grad_scale);
    let [p, g, m, v, top] = arrays.map(|array| array.as_ptr::<T>());
    walk(arrays, &mut |[i, j, k, l, n]| {
        // SAFETY: `walk` stays within the arrays, which `Array::new` vouches for.
        unsafe {
            let (mut value, mut gradient) = (p.offset(i).read().widen(), g.offset(j).read().widen());
            if step.grad_scale != 1.0 {
                gradient = gradient.div(scale);
            }
            if step.maximize {
                gradient = T::Wide::ZERO.sub(gradient);
            }
            if step.weight_decay != 0.0 && step.decoupled {
                value = value.mul(shrink);
            } else if step.weight_decay != 0.0 {
                gradient = gradient.add(decay.mul(value));
            }
            let mean = lerp(m.offset(k).read().widen(), gradient, constant(weight1), weight1 < 0.5);
            m.offset(k).write(T::narrow(mean));
            let square = v.offset(l).read().widen().mul(beta2).add(weight2.mul(gradient).mul(gradient));
            v.offset(l).write(T::narrow(square));
            let mut bound = square;
            if amsgrad {
                bound = crate::arithmetic::max_nan(top.offset(n).read().widen(), square);
                top.offset(n).write(T::narrow(bound));
            }
            let denominator = bound.sqrt().div(correction2).add(eps);
            p.offset(i).write(T::narrow(value.add(step_size.mul(mean).div(denominator))));
        }
    })
}

/// from + weight (to - from), from the nearer end, as `torch.lerp` rounds it.
#[inline(always)]
fn lerp<W: Wide>(from: W, to: W, weight: W, near: bool) -> W {
    if near { from.add(weight.mul(to.sub(from))) } else { to.sub(to.sub(from).mul(W::ONE.sub(weight))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    fn array(values: &mut [f64]) -> Array<'static> {
        // SAFETY: one element, alive for the whole test.
        unsafe { Array::new(values.as_mut_ptr().cast(), DType::F64, &[1], &[1]) }
    }

    #[test]
    fn the_first_adam_step_moves_by_the_learning_rate() {
        let (mut p, mut g, mut m, mut v) = ([1.0], [0.5], [0.0], [0.0]);
        let step = Adam {
            lr: 0.1,
            beta1: 0.9,
            beta2: 0.999,
            weight_decay: 0.0,
            eps: 0.0,
            maximize: false,
            decoupled: false,
            step: 1.0,
            grad_scale: 1.0,
        };
        adam(&array(&mut p), &array(&mut g), &array(&mut m), &array(&mut v), None, &step).unwrap();
        assert!((p[0] - 0.9).abs() < 1e-12 && (m[0] - 0.05).abs() < 1e-15 && (v[0] - 0.00025).abs() < 1e-15);
    }

    #[test]
    fn momentum_takes_the_first_gradient_whole() {
        let (mut p, mut g, mut b) = ([1.0], [0.5], [9.0]);
        let mut step = Sgd {
            weight_decay: 0.0,
            momentum: 0.5,
            lr: 0.1,
            dampening: 0.0,
            nesterov: false,
            maximize: false,
            first_step: true,
            grad_scale: 1.0,
        };
        sgd(&array(&mut p), &array(&mut g), Some(&array(&mut b)), &step).unwrap();
        assert_eq!((p[0], b[0]), (0.95, 0.5));
        step.first_step = false;
        sgd(&array(&mut p), &array(&mut g), Some(&array(&mut b)), &step).unwrap();
        assert!((b[0] - 0.75).abs() < 1e-15 && (p[0] - 0.875).abs() < 1e-15);
    }
}
