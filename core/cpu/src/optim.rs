//! Fused optimizer steps: one pass over parameter, gradient and state.
//!
//! The order of operations is that of `torch.optim` on single tensors, with constants rounded to the wide type at the
//! same points, so that `f32` training follows PyTorch's to the last digits.

#[allow(dead_code, reason = "devices read what the host writes")]
mod update;

use crate::array::Array;
use crate::device;
use crate::number::{Analytic, Number, Real};
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, MAX_LANES, Simd, run};
use rushlight_base::plan::Plan;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{DimVec, Result, ensure};
use update::{AdagradUpdate, AdamUpdate, Constant, Divisor, Gradient, Numbers, RmsPropUpdate, SgdUpdate, Update};

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
    /// The buffer is uninitialized: the gradient is stored in it unchanged.
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

/// Constants of an Adagrad step.
#[derive(Clone, Copy, Debug)]
pub struct Adagrad {
    /// Learning rate.
    pub lr: f64,
    /// Learning rate decay: the rate is divided by 1 + (step - 1) times this.
    pub lr_decay: f64,
    /// L2 penalty.
    pub weight_decay: f64,
    /// Added to the denominator.
    pub eps: f64,
    /// Ascend instead.
    pub maximize: bool,
    /// Number of this step, from 1.
    pub step: f64,
    /// Gradients are divided by this first.
    pub grad_scale: f64,
}

/// Constants of an RMSprop step.
#[derive(Clone, Copy, Debug)]
pub struct RmsProp {
    /// Learning rate.
    pub lr: f64,
    /// Decay of the mean square, and of the mean.
    pub alpha: f64,
    /// Added to the denominator.
    pub eps: f64,
    /// L2 penalty.
    pub weight_decay: f64,
    /// Momentum factor.
    pub momentum: f64,
    /// Ascend instead.
    pub maximize: bool,
    /// Gradients are divided by this first.
    pub grad_scale: f64,
}

/// Elements worth another thread: a step reads and writes several arrays.
const GRAIN: usize = 8192;

/// A row of a step: `len` elements of `N` arrays.
struct Row<U, T, const N: usize> {
    update: U,
    at: [*mut T; N],
    steps: [isize; N],
    len: usize,
}

impl<T: Float, U: Update<T, N>, const N: usize> Kernel for Row<U, T, N> {
    type Output = ();

    /// Whole vectors are updated in place, others in a buffer: one loop for both stays in registers.
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Row { update, at, steps, len } = self;
        let lanes = T::Vector::<S>::LANES;
        let mut buffers = [[0u64; MAX_LANES]; N];
        let buffers = buffers.each_mut().map(|buffer| buffer.as_mut_ptr().cast::<T>());
        let mut vectors = if steps == [1; N] { len / lanes } else { 0 };
        let (mut places, mut done) = (at, vectors * lanes);
        loop {
            for vector in 0..vectors {
                let mut values = [T::Vector::<S>::from_f64(0.0); N];
                for (value, place) in values.iter_mut().zip(places) {
                    // SAFETY: the vectors are inside the row, for which the kernel was created, or are buffers of a
                    // whole vector.
                    *value = unsafe { T::load::<S>(place.add(vector * lanes)) };
                }
                let values = update.update::<S>(values);
                for (nth, value) in values.into_iter().enumerate().filter(|&(nth, _)| update.writes(nth)) {
                    // SAFETY: the vectors are inside the row, for which the kernel was created, or are buffers of a
                    // whole vector.
                    unsafe { T::store::<S>(value, places[nth].add(vector * lanes)) };
                }
            }
            if places == buffers {
                let count = lanes.min(len - done);
                for nth in (0..N).filter(|&nth| update.writes(nth)) {
                    for lane in 0..count {
                        // SAFETY: `done + lane` is an element of the row; a buffer holds any vector.
                        unsafe { *at[nth].offset((done + lane) as isize * steps[nth]) = *buffers[nth].add(lane) };
                    }
                }
                done += count;
            }
            if done == len {
                return;
            }
            for nth in 0..N {
                for lane in 0..lanes.min(len - done) {
                    // SAFETY: `done + lane` is an element of the row; a buffer holds any vector.
                    unsafe { *buffers[nth].add(lane) = *at[nth].offset((done + lane) as isize * steps[nth]) };
                }
            }
            (places, vectors) = (buffers, 1);
        }
    }
}

/// Updates every element of `N` arrays of one shape, in one pass. They have the dtype `T`.
fn apply<T: Float, const N: usize>(arrays: [&Array; N], update: impl Update<T, N> + Constant) -> Result<()> {
    if !arrays[0].is_on_host() {
        return device::step(name_of(&update), arrays, Numbers::of(update));
    }
    each_row(arrays, &|at, steps, len| {
        run(Row { update, at: at.map(|at| at.cast::<T>()), steps, len });
    })
}

/// The name of the kernel of devices.
fn name_of<T: Float, const N: usize, U: Update<T, N>>(_: &U) -> &'static str {
    U::NAME
}

/// Calls `visit` with the addresses of rows of `N` arrays of one shape and dtype, the steps along them and their length.
fn each_row<const N: usize>(
    arrays: [&Array; N],
    visit: &(dyn Fn([*mut u8; N], [isize; N], usize) + Sync),
) -> Result<()> {
    let (sizes, dtype) = (arrays[0].sizes(), arrays[0].dtype());
    let same = arrays.iter().all(|array| array.sizes() == sizes && array.dtype() == dtype);
    ensure!(same, Runtime, "params, grads and optimizer state must have the same dtype and shape");
    let (at, size) = (arrays.map(|array| Shared::new(array.start())), dtype.size());
    if arrays.iter().all(|array| array.is_contiguous()) {
        return parallel_chunks(arrays[0].numel(), GRAIN, &|chunk| {
            visit(at.map(|at| at.get().wrapping_add(chunk.start * size)), [1; N], chunk.len());
        });
    }
    let strides: [DimVec; N] = std::array::from_fn(|operand| DimVec::from_slice(arrays[operand].strides()));
    let plan = Plan::new(sizes, std::array::from_fn(|operand| strides[operand].as_slice()));
    let (len, steps) = (plan.row_len(), plan.row_steps());
    plan.rows(&mut |offsets: [isize; N]| {
        let places = std::array::from_fn(|nth| at[nth].get().wrapping_offset(offsets[nth] * size as isize));
        visit(places, steps, len);
    });
    Ok(())
}

/// One step of stochastic gradient descent; `momentum` is the buffer, present if `step.momentum` is not 0.
pub fn sgd(param: &Array, grad: &Array, momentum: Option<&Array>, step: &Sgd) -> Result<()> {
    dispatch!(param.dtype(), "fused_sgd", half float, T => {
        let constant = <T as Number>::Wide::from_f64;
        let update = SgdUpdate {
            gradient: Gradient::new(step.grad_scale, step.maximize, step.weight_decay),
            rate: constant(-step.lr),
            momentum: constant(step.momentum),
            share: constant(1.0 - step.dampening),
            nesterov: step.nesterov,
            first_step: step.first_step,
        };
        match momentum.filter(|_| step.momentum != 0.0) {
            None => apply::<T, 2>([param, grad], update),
            Some(buffer) => apply::<T, 3>([param, grad, buffer], update),
        }
    })
}

impl<W: Real> AdamUpdate<W> {
    fn new(step: &Adam) -> AdamUpdate<W> {
        let constant = W::from_f64;
        let decay = if step.decoupled { 0.0 } else { step.weight_decay };
        let weight1 = 1.0 - step.beta1;
        AdamUpdate {
            gradient: Gradient::new(step.grad_scale, step.maximize, decay),
            shrink: (step.decoupled && step.weight_decay != 0.0).then(|| constant(1.0 - step.lr * step.weight_decay)),
            weight1: constant(weight1),
            rest1: W::ONE.sub(constant(weight1)),
            near: weight1 < 0.5,
            beta2: constant(step.beta2),
            weight2: constant(1.0 - step.beta2),
            correction2: Divisor::new(constant((1.0 - step.beta2.powf(step.step)).sqrt())),
            eps: constant(step.eps),
            step_size: constant(-(step.lr / (1.0 - step.beta1.powf(step.step)))),
        }
    }
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
        let update = AdamUpdate::<<T as Number>::Wide>::new(step);
        match max_square {
            None => apply::<T, 4>([param, grad, mean, square], update),
            Some(top) => apply::<T, 5>([param, grad, mean, square, top], update),
        }
    })
}

/// One step of Adagrad; `sum` are the accumulated squares of the gradients.
pub fn adagrad(param: &Array, grad: &Array, sum: &Array, step: &Adagrad) -> Result<()> {
    dispatch!(param.dtype(), "fused_adagrad", half float, T => {
        let constant = <T as Number>::Wide::from_f64;
        let update = AdagradUpdate {
            gradient: Gradient::new(step.grad_scale, step.maximize, step.weight_decay),
            eps: constant(step.eps),
            rate: constant(-(step.lr / (1.0 + (step.step - 1.0) * step.lr_decay))),
        };
        apply::<T, 3>([param, grad, sum], update)
    })
}

impl<W: Real> RmsPropUpdate<W> {
    fn new(step: &RmsProp, centered: bool) -> RmsPropUpdate<W> {
        let constant = W::from_f64;
        RmsPropUpdate {
            gradient: Gradient::new(step.grad_scale, step.maximize, step.weight_decay),
            alpha: constant(step.alpha),
            rest: constant(1.0 - step.alpha),
            eps: constant(step.eps),
            rate: constant(-step.lr),
            momentum: constant(step.momentum),
            centered,
        }
    }
}

/// One step of RMSprop; `mean` is there if it is centered, `momentum` if there is momentum.
pub fn rmsprop(
    param: &Array,
    grad: &Array,
    square: &Array,
    mean: Option<&Array>,
    momentum: Option<&Array>,
    step: &RmsProp,
) -> Result<()> {
    dispatch!(param.dtype(), "fused_rmsprop", half float, T => {
        let update = RmsPropUpdate::<<T as Number>::Wide>::new(step, mean.is_some());
        match (mean, momentum) {
            (None, None) => apply::<T, 3>([param, grad, square], update),
            (Some(more), None) | (None, Some(more)) => apply::<T, 4>([param, grad, square, more], update),
            (Some(mean), Some(momentum)) => apply::<T, 5>([param, grad, square, mean, momentum], update),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    fn array(values: &mut [f64]) -> Array<'static> {
        // SAFETY: one element, alive for the whole test.
        unsafe { Array::new(values.as_mut_ptr().cast(), DType::F64, &[1], &[1]) }
    }

    /// Divides the powers, roots and boundary values that occur, at every level that the processor has.
    struct Quotients(Divisor<f32>, Vec<f32>);

    impl Kernel for Quotients {
        type Output = Vec<f32>;

        #[inline(always)]
        fn run<S: Simd>(self, _: S) -> Vec<f32> {
            let lanes = <f32 as Float>::Vector::<S>::LANES;
            let mut out = self.1.clone();
            for block in out.chunks_exact_mut(lanes) {
                // SAFETY: a block has as many numbers as a vector.
                unsafe {
                    let value = <f32 as Float>::load::<S>(block.as_ptr());
                    <f32 as Float>::store::<S>(self.0.divide(value), block.as_mut_ptr());
                }
            }
            out
        }
    }

    #[test]
    fn dividing_by_a_constant_is_bitwise_equal_to_a_division() {
        let mut values: Vec<f32> = (0..1 << 16).map(|i| f32::from_bits(0x1a00_0000 + i * 0x3fff)).collect();
        values[..4].copy_from_slice(&[0.0, f32::INFINITY, f32::NAN, 1.0]);
        for step in [1, 2, 3, 10, 100, 1000, 100_000] {
            let by = (1.0 - 0.999f64.powi(step)).sqrt() as f32;
            let quotients = run(Quotients(Divisor::new(by), values.clone()));
            for (value, quotient) in values.iter().zip(quotients) {
                let same = quotient.to_bits() == (value / by).to_bits() || value.is_nan() && quotient.is_nan();
                assert!(same, "{value:e} / {by:e}: {quotient:e}");
            }
        }
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
