//! Negative log likelihood: selects the score of the target class, multiplies it by the class weight, and reduces.

use crate::array::Array;
use crate::device;
use crate::number::{Analytic, Number, Real, Wide};
use rushlight_base::plan::Plan;
use rushlight_base::{DType, DimVec, Element, Result, bail, ensure};

/// Reduction of the losses of a batch; PyTorch's numbers 0, 1 and 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// One loss per target.
    None,
    /// The weighted mean.
    Mean,
    /// The sum.
    Sum,
}

impl Reduction {
    /// The reduction with PyTorch's number `code`.
    pub fn from_code(code: i64) -> Result<Reduction> {
        Ok(match code {
            0 => Reduction::None,
            1 => Reduction::Mean,
            2 => Reduction::Sum,
            _ => bail!(Value, "{code} is not a valid value for reduction"),
        })
    }
}

/// The operands both directions share.
pub struct Targets<'a> {
    /// Class numbers, int64 or uint8: `(N)`, `(N, d1, ...)` or a single one.
    pub target: Array<'a>,
    /// One weight per class, contiguous or not; none: all 1.
    pub weight: Option<Array<'a>>,
    /// Targets of this class count for nothing.
    pub ignore_index: i64,
}

impl Targets<'_> {
    /// Calls `each(offset into scores, offset into loss, class, weight)` for every target that counts,
    /// and `ignored(offset into loss)` for the others. `scores` is `(C)`, `(N, C)` or `(N, C, d1, ...)`;
    /// `loss`, if any, has the shape of the target.
    fn visit<T: Number<Wide: Real>>(
        &self,
        scores: &Array,
        loss: Option<&Array>,
        each: &mut dyn FnMut(isize, isize, T::Wide),
        ignored: &mut dyn FnMut(isize),
    ) -> Result<()> {
        let class_dim = usize::from(scores.ndim() > 1);
        let classes = scores.size(class_dim) as i64;
        let (mut sizes, mut strides) = scores.without(class_dim);
        // A single target for `(C)` scores may have shape `()` or `(1)`.
        if self.target.ndim() > sizes.len() {
            (sizes, strides) = (DimVec::from_slice(self.target.sizes()), DimVec::from_elem(0, self.target.ndim()));
        }
        ensure!(self.target.sizes() == sizes.as_slice(), Internal, "nll_loss got a target of another shape");
        let loss_strides = match loss {
            Some(loss) => loss.broadcast_strides(&sizes)?,
            None => DimVec::from_elem(0, sizes.len()),
        };
        let plan = Plan::row_major(&sizes, [&strides, &loss_strides, self.target.strides()]);
        let class_step = scores.stride(class_dim);
        let weight = self.weight.as_ref().map(|weight| (weight.as_ptr::<T>(), weight.stride(0)));
        if let Some(weight) = &self.weight {
            ensure!(weight.numel() as i64 == classes, Internal, "nll_loss got {} weights", weight.numel());
        }
        let mut failed = None;
        plan.elements(&mut |[s, l, t]| {
            // SAFETY: the plan stays within the target's sizes, whose elements `Array::new` guarantees.
            let class = unsafe {
                match self.target.dtype() {
                    DType::U8 => i64::from(self.target.as_ptr::<u8>().offset(t).read()),
                    _ => self.target.as_ptr::<i64>().offset(t).read(),
                }
            };
            if class == self.ignore_index {
                ignored(l);
            } else if !(0..classes).contains(&class) {
                failed.get_or_insert(class);
            } else {
                // SAFETY: `weight` has an element for each class, and `class` was checked to be one.
                let weight =
                    weight.map_or(T::Wide::ONE, |(at, step)| unsafe { at.offset(class as isize * step).read().wide() });
                each(s + class as isize * class_step, l, weight);
            }
        });
        match failed {
            Some(class) => bail!(Index, "Target {class} is out of bounds."),
            None => Ok(()),
        }
    }
}

fn write<T: Element>(array: &Array, value: T) {
    // SAFETY: all callers pass arrays of one element of this dtype.
    unsafe { array.as_ptr::<T>().write(value) }
}

/// loss_n = -w[t_n] scores[n, t_n], reduced; `total_weight` (0-dim) is the sum of the weights that count.
pub fn nll_loss(
    out: &Array,
    total_weight: &Array,
    scores: &Array,
    targets: &Targets,
    reduction: Reduction,
) -> Result<()> {
    if !out.is_on_host() {
        return device::nll_loss(out, total_weight, scores, targets, reduction);
    }
    dispatch!(scores.dtype(), "nll_loss_out_frame", half float, T => {
        forward::<T>(out, total_weight, scores, targets, reduction)
    })
}

fn forward<T: Number<Wide: Real>>(
    out: &Array,
    total_weight: &Array,
    scores: &Array,
    targets: &Targets,
    reduction: Reduction,
) -> Result<()> {
    let (from, to) = (scores.as_ptr::<T>(), out.as_ptr::<T>());
    if reduction == Reduction::None {
        write(total_weight, T::default());
        return targets.visit::<T>(
            scores,
            Some(out),
            &mut |s, l, weight| {
                // SAFETY: `visit` passes offsets inside `scores` and `out`.
                unsafe { to.offset(l).write(T::narrow(T::Wide::ZERO.sub(weight.mul(from.offset(s).read().wide())))) }
            },
            // SAFETY: `visit` passes offsets inside `out`.
            &mut |l| unsafe { to.offset(l).write(T::default()) },
        );
    }
    // Partial sums of 64 keep the error of long batches small.
    let (mut sum, mut total, mut part, mut count) = (T::Wide::ZERO, T::Wide::ZERO, T::Wide::ZERO, 0);
    targets.visit::<T>(
        scores,
        None,
        &mut |s, _, weight| {
            // SAFETY: `visit` passes offsets inside `scores`.
            part = part.sub(weight.mul(unsafe { from.offset(s).read() }.wide()));
            total = total.add(weight);
            count += 1;
            if count % 64 == 0 {
                sum = sum.add(part);
                part = T::Wide::ZERO;
            }
        },
        &mut |_| (),
    )?;
    sum = sum.add(part);
    let loss = if reduction == Reduction::Mean { sum.div(total) } else { sum };
    write(out, T::narrow(loss));
    write(total_weight, T::narrow(total));
    Ok(())
}

/// The gradient of [`nll_loss`] by the scores: -w[t_n] grad at [n, t_n] (divided by the total weight for
/// a mean), 0 elsewhere.
pub fn nll_loss_backward(
    grad_in: &Array,
    grad: &Array,
    targets: &Targets,
    reduction: Reduction,
    total_weight: &Array,
) -> Result<()> {
    crate::fill::fill(&crate::Loop::new([grad_in.clone()])?, rushlight_base::Scalar::Int(0))?;
    if !grad_in.is_on_host() {
        return device::nll_loss_backward(grad_in, grad, targets, reduction, total_weight);
    }
    dispatch!(grad_in.dtype(), "nll_loss_backward_out_frame", half float, T => {
        backward::<T>(grad_in, grad, targets, reduction, total_weight)
    })
}

fn backward<T: Number<Wide: Real>>(
    grad_in: &Array,
    grad: &Array,
    targets: &Targets,
    reduction: Reduction,
    total_weight: &Array,
) -> Result<()> {
    let (to, from) = (grad_in.as_ptr::<T>(), grad.as_ptr::<T>());
    // SAFETY: a 0-dim array has one element.
    let total = unsafe { total_weight.as_ptr::<T>().read() }.wide();
    let per_target = (reduction == Reduction::None).then_some(grad);
    targets.visit::<T>(
        grad_in,
        per_target,
        &mut |s, l, weight| {
            // SAFETY: `visit` passes offsets inside `grad_in` and `grad`; a reduced `grad` has one element.
            unsafe {
                let mut value = T::Wide::ZERO.sub(weight.mul(from.offset(l).read().wide()));
                if reduction == Reduction::Mean {
                    value = value.div(total);
                }
                to.offset(s).write(T::narrow(value));
            }
        },
        &mut |_| (),
    )
}
