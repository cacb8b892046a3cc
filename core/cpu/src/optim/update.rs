//! The arithmetic of fused optimizer steps on one vector of each array: for the CPU, and for devices, which include this
//! file (`core/cuda/kernels`).

use crate::number::Real;
use crate::simd::{Float, FloatVector, Simd};

/// Applies a step to one vector of each array.
pub(crate) trait Update<T: Float, const N: usize>: Copy + Send + Sync {
    /// The name of the kernel of devices.
    const NAME: &'static str;

    /// The new values.
    fn update<S: Simd>(self, values: [T::Vector<S>; N]) -> [T::Vector<S>; N];
    /// Whether array `nth` is written. All are but the gradient.
    #[inline(always)]
    fn writes(self, nth: usize) -> bool {
        nth != 1
    }
}

/// Preprocessing of a gradient.
#[derive(Clone, Copy)]
pub(crate) struct Gradient<W> {
    pub(crate) scale: Option<W>,
    pub(crate) maximize: bool,
    pub(crate) decay: Option<W>,
}

impl<W: Real> Gradient<W> {
    pub(crate) fn new(scale: f64, maximize: bool, decay: f64) -> Gradient<W> {
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
pub(crate) struct SgdUpdate<W> {
    pub(crate) gradient: Gradient<W>,
    pub(crate) rate: W,
    pub(crate) momentum: W,
    pub(crate) share: W,
    pub(crate) nesterov: bool,
    pub(crate) first_step: bool,
}

impl<T: Float<Wide: Real>> Update<T, 2> for SgdUpdate<T::Wide> {
    const NAME: &'static str = "sgd2";

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
    const NAME: &'static str = "sgd3";

    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, buffer]: [T::Vector<S>; 3]) -> [T::Vector<S>; 3] {
        let [rate, momentum, share] = [self.rate, self.momentum, self.share].map(T::Vector::<S>::splat);
        let value = self.gradient.of(param, grad);
        let speed = if self.first_step { value } else { momentum * buffer + share * value };
        let direction = if self.nesterov { value + momentum * speed } else { speed };
        [param + rate * direction, grad, speed]
    }
}

/// A constant to divide by: a division takes as long as the rest of a step.
#[derive(Clone, Copy)]
pub(crate) struct Divisor<W> {
    pub(crate) by: W,
    pub(crate) reciprocal: W,
}

impl<W: Real> Divisor<W> {
    pub(crate) fn new(by: W) -> Divisor<W> {
        Divisor { by, reciprocal: W::ONE.div(by) }
    }

    /// `value / by`, bitwise: the product with the reciprocal, corrected by its remainder (Markstein, "Computation of
    /// elementary functions on the IBM RISC System/6000 processor", 1990).
    #[inline(always)]
    pub(crate) fn divide<V: FloatVector<Scalar = W>>(self, value: V) -> V {
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
pub(crate) struct AdamUpdate<W> {
    pub(crate) gradient: Gradient<W>,
    /// AdamW: the factor of the parameter.
    pub(crate) shrink: Option<W>,
    /// Weight of the gradient in the mean, and 1 minus it.
    pub(crate) weight1: W,
    pub(crate) rest1: W,
    /// Whether the mean is nearer than the gradient: `torch.lerp` starts from the nearer end.
    pub(crate) near: bool,
    pub(crate) beta2: W,
    pub(crate) weight2: W,
    pub(crate) correction2: Divisor<W>,
    pub(crate) eps: W,
    pub(crate) step_size: W,
}

impl<W: Real> AdamUpdate<W> {
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
    const NAME: &'static str = "adam4";

    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, mean, square]: [T::Vector<S>; 4]) -> [T::Vector<S>; 4] {
        let [param, mean, square, _] = self.step(param, grad, mean, square, None);
        [param, grad, mean, square]
    }
}

impl<T: Float<Wide: Real>> Update<T, 5> for AdamUpdate<T::Wide> {
    const NAME: &'static str = "adam5";

    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, mean, square, top]: [T::Vector<S>; 5]) -> [T::Vector<S>; 5] {
        let [param, mean, square, top] = self.step(param, grad, mean, square, Some(top));
        [param, grad, mean, square, top]
    }
}

#[derive(Clone, Copy)]
pub(crate) struct AdagradUpdate<W> {
    pub(crate) gradient: Gradient<W>,
    pub(crate) eps: W,
    pub(crate) rate: W,
}

impl<T: Float<Wide: Real>> Update<T, 3> for AdagradUpdate<T::Wide> {
    const NAME: &'static str = "adagrad3";

    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, sum]: [T::Vector<S>; 3]) -> [T::Vector<S>; 3] {
        let [eps, rate] = [self.eps, self.rate].map(T::Vector::<S>::splat);
        let value = self.gradient.of(param, grad);
        let sum = sum + value * value;
        [param + rate * value / (sum.sqrt() + eps), grad, sum]
    }
}

#[derive(Clone, Copy)]
pub(crate) struct RmsPropUpdate<W> {
    pub(crate) gradient: Gradient<W>,
    pub(crate) alpha: W,
    pub(crate) rest: W,
    pub(crate) eps: W,
    pub(crate) rate: W,
    pub(crate) momentum: W,
    /// Whether the fourth array is the mean, or the momentum.
    pub(crate) centered: bool,
}

impl<W: Real> RmsPropUpdate<W> {
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
    const NAME: &'static str = "rmsprop3";

    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, square]: [T::Vector<S>; 3]) -> [T::Vector<S>; 3] {
        let [param, square, ..] = self.step(param, grad, square, None, None);
        [param, grad, square]
    }
}

impl<T: Float<Wide: Real>> Update<T, 4> for RmsPropUpdate<T::Wide> {
    const NAME: &'static str = "rmsprop4";

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
    const NAME: &'static str = "rmsprop5";

    #[inline(always)]
    fn update<S: Simd>(self, [param, grad, square, mean, speed]: [T::Vector<S>; 5]) -> [T::Vector<S>; 5] {
        let [param, square, mean, speed] = self.step(param, grad, square, Some(mean), Some(speed));
        [param, grad, square, mean, speed]
    }
}

/// The constants of an update as numbers, in the order of its fields: a parameter of a kernel of a device.
pub(crate) struct Numbers {
    pub(crate) values: [f64; NUMBERS],
    pub(crate) at: usize,
}

/// Most constants of an update.
pub(crate) const NUMBERS: usize = 24;

impl Numbers {
    /// The numbers of an update.
    pub(crate) fn of(update: impl Constant) -> [f64; NUMBERS] {
        let mut numbers = Numbers { values: [0.0; NUMBERS], at: 0 };
        update.put(&mut numbers);
        numbers.values
    }

    #[inline(always)]
    fn push(&mut self, value: f64) {
        self.values[self.at] = value;
        self.at += 1;
    }

    #[inline(always)]
    fn next(&mut self) -> f64 {
        let value = self.values[self.at];
        self.at += 1;
        value
    }
}

/// What is kept in [`Numbers`] without loss.
pub(crate) trait Constant: Copy {
    /// Appends it.
    fn put(self, numbers: &mut Numbers);
    /// Takes the next one.
    fn take(numbers: &mut Numbers) -> Self;
}

macro_rules! floats {
    ($($type:ty)*) => {$(
        impl Constant for $type {
            #[inline(always)]
            fn put(self, numbers: &mut Numbers) {
                numbers.push(self.into());
            }
            #[inline(always)]
            fn take(numbers: &mut Numbers) -> $type {
                numbers.next() as $type
            }
        }
    )*};
}

floats!(f32 f64);

impl Constant for bool {
    #[inline(always)]
    fn put(self, numbers: &mut Numbers) {
        numbers.push(if self { 1.0 } else { 0.0 });
    }
    #[inline(always)]
    fn take(numbers: &mut Numbers) -> bool {
        numbers.next() != 0.0
    }
}

impl<W: Real + Constant> Constant for Option<W> {
    #[inline(always)]
    fn put(self, numbers: &mut Numbers) {
        self.is_some().put(numbers);
        self.unwrap_or(W::ZERO).put(numbers);
    }
    #[inline(always)]
    fn take(numbers: &mut Numbers) -> Option<W> {
        let is_some = bool::take(numbers);
        let value = W::take(numbers);
        is_some.then_some(value)
    }
}

macro_rules! constants {
    ($($name:ident { $($field:ident),* })*) => {$(
        impl<W: Real + Constant> Constant for $name<W> {
            #[inline(always)]
            fn put(self, numbers: &mut Numbers) {
                $(self.$field.put(numbers);)*
            }
            #[inline(always)]
            fn take(numbers: &mut Numbers) -> $name<W> {
                $(let $field = Constant::take(numbers);)*
                $name { $($field),* }
            }
        }
    )*};
}

constants! {
    Gradient { scale, maximize, decay }
    Divisor { by, reciprocal }
    SgdUpdate { gradient, rate, momentum, share, nesterov, first_step }
    AdamUpdate { gradient, shrink, weight1, rest1, near, beta2, weight2, correction2, eps, step_size }
    AdagradUpdate { gradient, eps, rate }
    RmsPropUpdate { gradient, alpha, rest, eps, rate, momentum, centered }
}
