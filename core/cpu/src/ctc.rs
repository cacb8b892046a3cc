//! Connectionist temporal classification: the likelihood of a sequence of labels under all its alignments with an
//! input.
//!
//! An alignment traverses the labels with blanks between and around them: at each step it stays, advances by one, or,
//! to a different label, by two (Graves et al., 2006). `alpha` is the log likelihood of all paths to a state up to a
//! step, `beta` that of all paths from there. Probabilities are logarithms throughout; sequences are independent.

use crate::array::Array;
use crate::shared::Shared;
use rushlight_base::list::filled;
use rushlight_base::runtime::parallel_for;
use rushlight_base::{DType, Element, Result, ensure};
use std::sync::Mutex;

/// A batch of inputs and targets.
pub struct Batch<'a> {
    /// (T, N, C)
    pub log_probs: Array<'a>,
    /// (N, S), or all one after the other, int32 or int64.
    pub targets: Array<'a>,
    /// Steps of each input.
    pub input_lengths: &'a [i64],
    /// Labels of each target.
    pub target_lengths: &'a [i64],
    /// The blank class.
    pub blank: i64,
}

/// The computation type of the two directions.
trait Log: Element + PartialEq {
    const NONE: Self;
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn exp(self) -> Self;
    /// ln(e^a + e^b + e^c)
    fn join(a: Self, b: Self, c: Self) -> Self;
}

macro_rules! logs {
    ($($type:ident)*) => {$(
        impl Log for $type {
            const NONE: $type = $type::NEG_INFINITY;
            const ZERO: $type = 0.0;
            #[inline]
            fn plus(self, other: $type) -> $type {
                self + other
            }
            #[inline]
            fn minus(self, other: $type) -> $type {
                self - other
            }
            #[inline]
            fn times(self, other: $type) -> $type {
                self * other
            }
            #[inline]
            fn exp(self) -> $type {
                self.exp()
            }
            #[inline]
            fn join(a: $type, b: $type, c: $type) -> $type {
                let most = a.max(b).max(c);
                if most == $type::NEG_INFINITY {
                    return most;
                }
                ((a - most).exp() + (b - most).exp() + (c - most).exp()).ln() + most
            }
        }
    )*};
}

logs!(f32 f64);

impl Batch<'_> {
    /// The labels of sequence `n`, checked.
    fn labels(&self, n: usize) -> Result<Vec<i64>> {
        let count = self.target_lengths[n] as usize;
        let (first, step) = match self.targets.ndim() {
            1 => {
                let before: i64 = self.target_lengths[..n].iter().sum();
                (before as isize * self.targets.stride(0), self.targets.stride(0))
            }
            _ => (n as isize * self.targets.stride(0), self.targets.stride(1)),
        };
        let classes = self.log_probs.size(2) as i64;
        let mut labels = filled(count, 0)?;
        for (nth, label) in labels.iter_mut().enumerate() {
            let at = first + nth as isize * step;
            // SAFETY: the shape rule has checked the target lengths against the shape of the targets.
            *label = unsafe {
                match self.targets.dtype() {
                    DType::I32 => i64::from(self.targets.as_ptr::<i32>().offset(at).read()),
                    _ => self.targets.as_ptr::<i64>().offset(at).read(),
                }
            };
            ensure!(
                (0..classes).contains(label),
                Runtime,
                "Expected targets to be classes in [0, {}], got {label}",
                classes - 1
            );
        }
        Ok(labels)
    }

    /// Runs `body` for each sequence; the first error of any is the result.
    fn each(&self, body: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
        let failed = Mutex::new(None);
        parallel_for(self.log_probs.size(1), &|n| {
            if let Err(error) = body(n) {
                // If several sequences fail, the error reported is that of the first one, independent of the threads.
                let mut failed = failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if failed.as_ref().is_none_or(|(first, _)| n < *first) {
                    *failed = Some((n, error));
                }
            }
        })?;
        let failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        failed.map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// One sequence: its labels with blanks around them.
struct Walk<T> {
    labels: Vec<i64>,
    blank: i64,
    steps: usize,
    /// The log-probabilities of the sequence.
    from: *const T,
    /// From step to step, and from class to class.
    strides: [isize; 2],
}

impl<T: Log> Walk<T> {
    fn places(&self) -> usize {
        2 * self.labels.len() + 1
    }

    fn label(&self, place: usize) -> i64 {
        if place.is_multiple_of(2) { self.blank } else { self.labels[place / 2] }
    }

    fn log_prob(&self, step: usize, class: i64) -> T {
        // SAFETY: step and class are below the sizes of the log probabilities.
        unsafe { self.from.offset(step as isize * self.strides[0] + class as isize * self.strides[1]).read() }
    }

    /// Whether an alignment may reach `place` from two states before.
    fn skips_to(&self, place: usize) -> bool {
        place >= 2 && self.label(place) != self.blank && self.label(place) != self.label(place - 2)
    }

    /// The log likelihoods up to each step and state, `width` apart.
    fn forwards(&self, alpha: &mut [T], width: usize) {
        for step in 0..self.steps {
            for place in 0..self.places() {
                let before = |back: usize| match (step.checked_sub(1), place.checked_sub(back)) {
                    (Some(step), Some(place)) => alpha[step * width + place],
                    _ => T::NONE,
                };
                let ways = if step == 0 {
                    if place < 2 { T::ZERO } else { T::NONE }
                } else {
                    T::join(before(0), before(1), if self.skips_to(place) { before(2) } else { T::NONE })
                };
                alpha[step * width + place] = ways.plus(self.log_prob(step, self.label(place)));
            }
        }
    }

    /// The likelihood, from `alpha`.
    fn total(&self, alpha: &[T], width: usize) -> T {
        let Some(last) = self.steps.checked_sub(1) else {
            return if self.labels.is_empty() { T::ZERO } else { T::NONE };
        };
        let at = |back: usize| self.places().checked_sub(back).map_or(T::NONE, |place| alpha[last * width + place]);
        T::join(at(1), at(2), T::NONE)
    }

    /// Passes each step, the last first, the log likelihoods from each state on, including that of the state.
    fn backwards(&self, mut visit: impl FnMut(usize, &[T])) -> Result<()> {
        let places = self.places();
        let (mut beta, mut next) = (filled(places, T::NONE)?, filled(places, T::NONE)?);
        for step in (0..self.steps).rev() {
            for (place, beta) in beta.iter_mut().enumerate() {
                let after = |on: usize| next.get(place + on).copied().unwrap_or(T::NONE);
                let ways = if step + 1 == self.steps {
                    if place + 2 >= places { T::ZERO } else { T::NONE }
                } else {
                    let skips = place + 2 < places && self.skips_to(place + 2);
                    T::join(after(0), after(1), if skips { after(2) } else { T::NONE })
                };
                *beta = ways.plus(self.log_prob(step, self.label(place)));
            }
            visit(step, &beta);
            std::mem::swap(&mut beta, &mut next);
        }
        Ok(())
    }
}

impl Batch<'_> {
    fn walk<T: Log>(&self, n: usize) -> Result<Walk<T>> {
        let a = &self.log_probs;
        Ok(Walk {
            labels: self.labels(n)?,
            blank: self.blank,
            steps: self.input_lengths[n] as usize,
            from: a.as_ptr::<T>().wrapping_offset(n as isize * a.stride(1)).cast_const(),
            strides: [a.stride(0), a.stride(2)],
        })
    }
}

/// Data shared by the threads of a call.
struct Places<'a, T> {
    batch: &'a Batch<'a>,
    at: [Shared<T>; 4],
}

// SAFETY: inputs are only read; the output parts of a sequence belong to one share.
unsafe impl<T> Sync for Places<'_, T> {}

/// `losses[n]` = the negative log likelihood of target n; `alphas` (N, T, states, contiguous) as in the module's
/// description.
pub fn losses(losses: &Array, alphas: &Array, batch: &Batch) -> Result<()> {
    ensure!(alphas.is_contiguous() && losses.is_contiguous(), Internal, "ctc_loss got results with gaps");
    dispatch!(batch.log_probs.dtype(), "ctc_loss_cpu", float, T => {
        let (steps, width) = (alphas.size(1), alphas.size(2));
        let [loss, alpha] = [losses, alphas].map(|array| Shared::new(array.as_ptr::<T>()));
        let shared = Places { batch, at: [loss, alpha, loss, alpha] };
        batch.each(&|n| {
            let Places { batch, at } = &shared;
            let walk = batch.walk::<T>(n)?;
            // SAFETY: sequence `n` has its own `steps * width` elements of `alphas`, which no other share accesses.
            let alpha = unsafe { std::slice::from_raw_parts_mut(at[1].get().add(n * steps * width), steps * width) };
            alpha.fill(T::NONE);
            walk.forwards(alpha, width);
            // SAFETY: there is one loss per sequence, and sequence `n` belongs to this share.
            unsafe { at[0].get().add(n).write(-walk.total(alpha, width)) };
            Ok(())
        })
    })
}

/// The gradient with respect to the log probabilities, as if they were those of a softmax: e^log_prob minus the share
/// of the likelihood that passes through a class. `grad_in` holds zeros.
pub fn losses_backward(
    grad_in: &Array,
    grad: &Array,
    losses: &Array,
    alphas: &Array,
    batch: &Batch,
    zero_infinity: bool,
) -> Result<()> {
    ensure!(alphas.is_contiguous(), Internal, "ctc_loss got likelihoods with gaps");
    dispatch!(batch.log_probs.dtype(), "ctc_loss_backward_cpu", float, T => {
        let (steps, width) = (alphas.size(1), alphas.size(2));
        let classes = batch.log_probs.size(2);
        let to = [grad_in.stride(0), grad_in.stride(1), grad_in.stride(2)];
        let per_row = [grad.stride(0), losses.stride(0)];
        let at = [grad_in, grad, losses, alphas].map(|array| Shared::new(array.as_ptr::<T>()));
        let shared = Places { batch, at };
        batch.each(&|n| {
            let Places { batch, at: [out, grad, losses, alphas] } = &shared;
            // SAFETY: the arrays have a gradient and a loss for each sequence, and `n` is one.
            let (grad, loss) = unsafe {
                let nth = n as isize;
                (grad.get().offset(nth * per_row[0]).read(), losses.get().offset(nth * per_row[1]).read())
            };
            if zero_infinity && loss == T::INFINITY {
                return Ok(());
            }
            let walk = batch.walk::<T>(n)?;
            // SAFETY: sequence `n` has `steps * width` elements of `alphas`, which are only read.
            let alpha = unsafe { std::slice::from_raw_parts(alphas.get().add(n * steps * width), steps * width) };
            let mut through = filled(classes, T::NONE)?;
            walk.backwards(|step, beta| {
                through.fill(T::NONE);
                for (place, &beta) in beta.iter().enumerate() {
                    let class = walk.label(place) as usize;
                    let both = alpha[step * width + place].plus(beta);
                    through[class] = Log::join(through[class], both, T::NONE);
                }
                for (class, &through) in through.iter().enumerate() {
                    let log_prob = walk.log_prob(step, class as i64);
                    let part = through.plus(loss).minus(log_prob).exp();
                    let value = Log::exp(log_prob).minus(part).times(grad);
                    let offset = step as isize * to[0] + n as isize * to[1] + class as isize * to[2];
                    // SAFETY: step, sequence and class are below the output's sizes.
                    unsafe { out.get().offset(offset).write(value) };
                }
            })
        })
    })
}
