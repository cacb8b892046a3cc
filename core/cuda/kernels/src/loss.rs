//! Negative log likelihood and its gradient.

use crate::memory::{load, report, store};
use crate::number::{Analytic, Number, Wide};
use crate::rows::Real;
use crate::simt::{block, blocks, combined, thread, threads};

use crate::parameters::Likelihood;

/// A target that counts.
struct Target<W> {
    /// The offset of its score.
    score: i64,
    /// The offset of its loss.
    loss: i64,
    /// The weight of its class.
    weight: W,
}

#[inline(always)]
fn place<T>(at: u64, offset: i64) -> u64 {
    at.wrapping_add((offset * size_of::<T>() as i64) as u64)
}

/// Target `index`, and whether it counts. A class that does not exist is reported, and does not.
#[inline(always)]
fn target<T: Number<Wide: Real>>(p: &Likelihood, index: u32) -> (Target<T::Wide>, bool) {
    let (sample, at) = p.places.divide(index);
    let offset = i64::from(sample) * p.targets[0] + i64::from(at) * p.targets[1];
    // SAFETY: the host describes a target for each index.
    let class = unsafe {
        match p.bytes {
            0 => load::<i64, 1>(place::<i64>(p.at[1], offset), 8)[0],
            _ => i64::from(load::<u8, 1>(place::<u8>(p.at[1], offset), 1)[0]),
        }
    };
    let mut counts = class != p.ignore;
    if counts && (class < 0 || class >= i64::from(p.classes)) {
        report(&p.watch, class);
        counts = false;
    }
    let class = if counts { class } else { 0 };
    let weight = match p.at[2] {
        0 => T::Wide::ONE,
        // SAFETY: the host describes a weight for each class, and this is one.
        at => unsafe { load::<T, 1>(place::<T>(at, class * p.weight), size_of::<T>())[0].wide() },
    };
    let score = i64::from(sample) * p.scores[0] + class * p.scores[1] + i64::from(at) * p.scores[2];
    let loss = i64::from(sample) * p.losses[0] + i64::from(at) * p.losses[1];
    (Target { score, loss, weight }, counts)
}

#[inline(always)]
fn read<T: Number>(at: u64, offset: i64) -> T::Wide {
    // SAFETY: the host describes elements at these offsets.
    unsafe { load::<T, 1>(place::<T>(at, offset), size_of::<T>())[0].wide() }
}

#[inline(always)]
fn write<T: Number>(at: u64, offset: i64, value: T::Wide) {
    // SAFETY: the host describes elements at these offsets.
    unsafe { store(place::<T>(at, offset), size_of::<T>(), [T::narrow(value)]) }
}

/// The loss and the total weight. One block adds all losses, so that their order is the same in every run.
#[inline(always)]
fn nll_loss<T: Number<Wide: Real>>(p: &Likelihood) {
    let (mut sum, mut total) = (T::Wide::ZERO, T::Wide::ZERO);
    let mut index = block() * threads() + thread();
    while index < p.count {
        let (target, counts) = target::<T>(p, index);
        let loss = if counts {
            T::Wide::ZERO.sub(target.weight.mul(read::<T>(p.at[0], target.score)))
        } else {
            T::Wide::ZERO
        };
        if p.reduction == 0 {
            write::<T>(p.at[3], target.loss, loss);
        } else if counts {
            sum = sum.add(loss);
            total = total.add(target.weight);
        }
        index += blocks() * threads();
    }
    if p.reduction == 0 {
        if block() == 0 && thread() == 0 {
            write::<T>(p.at[4], 0, T::Wide::ZERO);
        }
        return;
    }
    let sum = combined(sum, T::Wide::ZERO, |a, b| a.add(b));
    let total = combined(total, T::Wide::ZERO, |a, b| a.add(b));
    if thread() == 0 {
        write::<T>(p.at[3], 0, if p.reduction == 1 { sum.div(total) } else { sum });
        write::<T>(p.at[4], 0, total);
    }
}

/// The gradient by the scores of the targets; the others are 0 already.
#[inline(always)]
fn nll_loss_backward<T: Number<Wide: Real>>(p: &Likelihood) {
    let mut index = block() * threads() + thread();
    while index < p.count {
        let (target, counts) = target::<T>(p, index);
        if counts {
            let grad = read::<T>(p.at[3], if p.reduction == 0 { target.loss } else { 0 });
            let mut value = T::Wide::ZERO.sub(target.weight.mul(grad));
            if p.reduction == 1 {
                value = value.div(read::<T>(p.at[4], 0));
            }
            write::<T>(p.at[0], target.score, value);
        }
        index += blocks() * threads();
    }
}

float_entries! { "loss";
    nll_loss(p: Likelihood)
    nll_loss_backward(p: Likelihood)
}
