//! Fused optimizer steps: one pass over parameter, gradient and state.
//!
//! The order of operations is that of `torch.optim` on single tensors, with constants rounded to the wide type at the
//! same points, so that `f32` training follows PyTorch's to the last digits.

use crate::array::Array;
use crate::number::{Analytic, Number, Real};
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, MAX_LANES, Simd, run};
use rushlight_base::plan::Plan;
use rushlight_base::runtime::parallel_chunks;
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

/// Applies a step to one vector of each array.
trait Update<T: Float, const N: usize>: Copy + Send + Sync {
    /// The new values.
    fn update<S: Simd>(self, values: [T::Vector<S>; N]) -> [T::Vector<S>; N];
    /// Whether array `nth` is written. All are but the gradient.
    #[inline(always)]
    fn writes(self, nth: usize) -> bool {
        nth != 1
    }
}

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
fn apply<T: Float, const N: usize>(arrays: [&Array; N], update: impl Update<T, N>) -> Result<()> {
    each_row(arrays, &|at, steps, len| {
        run(Row { update, at: at.map(|at| at.cast::<T>()), steps, len });
    })
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

/// Preprocessing of a gradient.
#[derive(Clone, Copy)]
struct Gradient<W> {
    scale: Option<W>,
    maximize: bool,
    decay: Option<W>,
}

impl<W: Real> Gradient<W> {
    fn new(scale: f64, maximize: bool, decay: f64) -> Gradient<W> {
        let unless = |neutral: f64, value: f64| (value != neutral).then(|| W::from_f64(value));
        Gradient { scale: unless(1.0, scale), maximize, decay: unless(0.0, decay) }
    }

    #[inline(always)]
    fn of<V: FloatVector<Scalar = W>>(self, param: V, mut grad: V) -> V {
        if let Some(scale) = self.scale {
            grad = grad / V::splat(scale);
        }
        if self.maximize {
            grad = -grad;
        }
        match self.decay {
            Some(decay) => grad + V::splat(decay) * param,
            None => grad,
        }
    }
}

#[derive(Clone, Copy)]
struct SgdUpdate<W> {
    gradient: Gradient<W>,
    rate: W,
    momentum: W,
    share: W,
    nesterov: bool,
    first_step: bool,
}

impl<T: Float<Wide: Real>> Update<T, 2> for SgdUpdate<T::Wide> {
    #[inline(always)]
    fn update<S: Simd>(self, [param, grad]: [T::Vector<S>; 2]) -> [T::Vector<S>; 2] {
        [param + T::Vector::<S>::splat(self.rate) * self.gradient.of(param, grad), grad]
    }

    #[inline(always)]
    fn writes(self, nth: usize) -> bool {
        nth == 0
    }
}

impl<T: Float<Wide: Real>> Update<T, 3> for SgdUpdate<T::Wide> {
    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, buffer]: [T::Vector<S>; 3]) -> [T::Vector<S>; 3] {
        let [rate, momentum, share] = [self.rate, self.momentum, self.share].map(T::Vector::<S>::splat);
        let value = self.gradient.of(param, grad);
        let speed = if self.first_step { value } else { momentum * buffer + share * value };
        let direction = if self.nesterov { value + momentum * speed } else { speed };
        [param + rate * direction, grad, speed]
    }
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

/// A constant to divide by: a division takes as long as the rest of a step.
#[derive(Clone, Copy)]
struct Divisor<W> {
    by: W,
    reciprocal: W,
}

impl<W: Real> Divisor<W> {
    fn new(by: W) -> Divisor<W> {
        Divisor { by, reciprocal: W::ONE.div(by) }
    }

    /// `value / by`, bitwise: the product with the reciprocal, corrected by its remainder (Markstein, "Computation of
    /// elementary functions on the IBM RISC System/6000 processor", 1990).
    #[inline(always)]
    fn divide<V: FloatVector<Scalar = W>>(self, value: V) -> V {
        let (by, reciprocal) = (V::splat(self.by), V::splat(self.reciprocal));
        if !V::FUSED {
            return value / by;
        }
        let quotient = value * reciprocal;
        let rest = (-quotient).mul_add(by, value);
        // Infinity would result in NaN.
        V::select(rest.is_nan(), quotient, rest.mul_add(reciprocal, quotient))
    }
}

#[derive(Clone, Copy)]
struct AdamUpdate<W> {
    gradient: Gradient<W>,
    /// AdamW: the factor of the parameter.
    shrink: Option<W>,
    /// Weight of the gradient in the mean, and 1 minus it.
    weight1: W,
    rest1: W,
    /// Whether the mean is nearer than the gradient: `torch.lerp` starts from the nearer end.
    near: bool,
    beta2: W,
    weight2: W,
    correction2: Divisor<W>,
    eps: W,
    step_size: W,
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

    /// The new parameter, mean, square and maximum of the squares (of the square and `top`, if there is one).
    #[inline(always)]
    fn step<V: FloatVector<Scalar = W>>(self, param: V, grad: V, mean: V, square: V, top: Option<V>) -> [V; 4] {
        let param = self.shrink.map_or(param, |shrink| param * V::splat(shrink));
        let grad = self.gradient.of(param, grad);
        let way = grad - mean;
        let mean = if self.near { mean + V::splat(self.weight1) * way } else { grad - way * V::splat(self.rest1) };
        let square = square * V::splat(self.beta2) + V::splat(self.weight2) * grad * grad;
        let bound = top.map_or(square, |top| top.max(square));
        let denominator = self.correction2.divide(bound.sqrt()) + V::splat(self.eps);
        [param + V::splat(self.step_size) * mean / denominator, mean, square, bound]
    }
}

impl<T: Float<Wide: Real>> Update<T, 4> for AdamUpdate<T::Wide> {
    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, mean, square]: [T::Vector<S>; 4]) -> [T::Vector<S>; 4] {
        let [param, mean, square, _] = self.step(param, grad, mean, square, None);
        [param, grad, mean, square]
    }
}

impl<T: Float<Wide: Real>> Update<T, 5> for AdamUpdate<T::Wide> {
    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, mean, square, top]: [T::Vector<S>; 5]) -> [T::Vector<S>; 5] {
        let [param, mean, square, top] = self.step(param, grad, mean, square, Some(top));
        [param, grad, mean, square, top]
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

#[derive(Clone, Copy)]
struct AdagradUpdate<W> {
    gradient: Gradient<W>,
    eps: W,
    rate: W,
}

impl<T: Float<Wide: Real>> Update<T, 3> for AdagradUpdate<T::Wide> {
    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, sum]: [T::Vector<S>; 3]) -> [T::Vector<S>; 3] {
        let [eps, rate] = [self.eps, self.rate].map(T::Vector::<S>::splat);
        let value = self.gradient.of(param, grad);
        let sum = sum + value * value;
        [param + rate * value / (sum.sqrt() + eps), grad, sum]
    }
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

#[derive(Clone, Copy)]
struct RmsPropUpdate<W> {
    gradient: Gradient<W>,
    alpha: W,
    rest: W,
    eps: W,
    rate: W,
    momentum: W,
    /// Whether the fourth array is the mean, or the momentum.
    centered: bool,
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

    /// The new parameter, mean square, mean and momentum (0 where there is none).
    #[inline(always)]
    fn step<V: FloatVector<Scalar = W>>(
        self,
        param: V,
        grad: V,
        square: V,
        mean: Option<V>,
        speed: Option<V>,
    ) -> [V; 4] {
        let [alpha, rest, rate] = [self.alpha, self.rest, self.rate].map(V::splat);
        let value = self.gradient.of(param, grad);
        let square = square * alpha + rest * value * value;
        let mean = mean.map(|mean| mean * alpha + rest * value);
        let spread = mean.map_or(square, |mean| square - mean * mean);
        let bound = spread.sqrt() + V::splat(self.eps);
        let none = V::from_f64(0.0);
        match speed {
            Some(speed) => {
                let speed = speed * V::splat(self.momentum) + value / bound;
                [param + rate * speed, square, mean.unwrap_or(none), speed]
            }
            None => [param + rate * value / bound, square, mean.unwrap_or(none), none],
        }
    }
}

impl<T: Float<Wide: Real>> Update<T, 3> for RmsPropUpdate<T::Wide> {
    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, square]: [T::Vector<S>; 3]) -> [T::Vector<S>; 3] {
        let [param, square, ..] = self.step(param, grad, square, None, None);
        [param, grad, square]
    }
}

impl<T: Float<Wide: Real>> Update<T, 4> for RmsPropUpdate<T::Wide> {
    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, square, more]: [T::Vector<S>; 4]) -> [T::Vector<S>; 4] {
        if self.centered {
            let [param, square, mean, _] = self.step(param, grad, square, Some(more), None);
            return [param, grad, square, mean];
        }
        let [param, square, _, speed] = self.step(param, grad, square, None, Some(more));
        [param, grad, square, speed]
    }
}

impl<T: Float<Wide: Real>> Update<T, 5> for RmsPropUpdate<T::Wide> {
    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, square, mean, speed]: [T::Vector<S>; 5]) -> [T::Vector<S>; 5] {
        let [param, square, mean, speed] = self.step(param, grad, square, Some(mean), Some(speed));
        [param, grad, square, mean, speed]
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
