//! The margin loss of rows with several labels, and its gradient.

use crate::array::Array;
use crate::device;
use crate::number::{Analytic, Number, Wide};
use rushlight_base::backend::wrong_label;
use rushlight_base::{Element, Result};

/// The rows of an array of two dimensions, or of fewer, which are one row.
struct Rows<T> {
    at: *mut T,
    count: usize,
    classes: usize,
    steps: [isize; 2],
}

impl<T: Element> Rows<T> {
    fn new(array: &Array) -> Rows<T> {
        let (count, steps) = match array.ndim() {
            0 => (1, [0, 0]),
            1 => (1, [0, array.stride(0)]),
            _ => (array.size(0), [array.stride(0), array.stride(1)]),
        };
        Rows { at: array.as_ptr(), count, classes: array.numel() / count.max(1), steps }
    }

    fn place(&self, row: usize, class: usize) -> *mut T {
        assert!(row < self.count && class < self.classes, "a place outside of the rows");
        self.at.wrapping_offset(row as isize * self.steps[0] + class as isize * self.steps[1])
    }

    fn get(&self, row: usize, class: usize) -> T {
        // SAFETY: `place` has checked that row and class are below the array's sizes.
        unsafe { self.place(row, class).read() }
    }

    fn set(&self, row: usize, class: usize, value: T) {
        // SAFETY: `place` has checked that row and class are below the array's sizes; outputs are writable.
        unsafe { self.place(row, class).write(value) }
    }
}

/// Calls `each` with the labels of a row, up to the first -1; another that is no class is an error, also after it.
fn labels(targets: &Rows<i64>, row: usize, mut each: impl FnMut(usize)) -> Result<()> {
    let mut ended = false;
    for nth in 0..targets.classes {
        let label = targets.get(row, nth);
        if !(-1..targets.classes as i64).contains(&label) {
            return Err(wrong_label());
        }
        ended |= label == -1;
        if !ended {
            each(label as usize);
        }
    }
    Ok(())
}

/// Scores, and the classes that are labels.
struct Scores<'a, T> {
    scores: Rows<T>,
    is_target: Rows<T>,
    targets: &'a Rows<i64>,
}

impl<T: Number> Scores<'_, T>
where
    T::Wide: PartialOrd,
{
    /// Calls `each` with every label of a row, every class that is none, and by how much the label's score does not exceed
    /// the other's by 1, where it does not.
    fn short(&self, row: usize, mut each: impl FnMut(usize, usize, T::Wide)) -> Result<()> {
        let one = T::Wide::ONE;
        labels(self.targets, row, |label| {
            let most = one.sub(self.scores.get(row, label).wide());
            for class in 0..self.scores.classes {
                let short = most.add(self.scores.get(row, class).wide());
                if short > T::Wide::ZERO && self.is_target.get(row, class).wide() != one {
                    each(label, class, short);
                }
            }
        })
    }
}

/// `each[n]` = the sum over labels y and classes c that are none of `max(0, 1 - scores[n, y] + scores[n, c]) / C`; marks
/// the labels in `is_target`, which holds zeros.
pub fn multilabel_margin(each: &Array, is_target: &Array, scores: &Array, targets: &Array) -> Result<()> {
    if !scores.is_on_host() {
        dispatch!(scores.dtype(), "multilabel_margin_loss_forward_out_frame", half float, _T => Ok(()))?;
        return device::multilabel_margin("multilabel_margin", each, [is_target, scores, targets], None, 1.0);
    }
    let targets = &Rows::<i64>::new(targets);
    dispatch!(scores.dtype(), "multilabel_margin_loss_forward_out_frame", half float, T => {
        let rows = Scores { scores: Rows::<T>::new(scores), is_target: Rows::new(is_target), targets };
        // As many rows as results, of one each.
        let (to, step) = (each.as_ptr::<T>(), if each.ndim() > 0 { each.stride(0) } else { 0 });
        let classes = <<T as Number>::Wide as Analytic>::from_f64(rows.scores.classes as f64);
        for row in 0..rows.scores.count {
            labels(targets, row, |label| rows.is_target.set(row, label, T::narrow(<T as Number>::Wide::ONE)))?;
            let mut sum = <T as Number>::Wide::ZERO;
            rows.short(row, |_, _, short| sum = sum.add(short))?;
            // SAFETY: the output has an element for each row.
            unsafe { to.offset(row as isize * step).write(T::narrow(sum.div(classes))) };
        }
        Ok(())
    })
}

/// The gradient of [`multilabel_margin`] by the scores, of `grad` for each row, or one for all, times `factor`. `grad_in`
/// holds zeros.
pub fn multilabel_margin_backward(
    grad_in: &Array,
    grad: &Array,
    scores: &Array,
    targets: &Array,
    is_target: &Array,
    factor: f64,
) -> Result<()> {
    if !scores.is_on_host() {
        dispatch!(scores.dtype(), "multilabel_margin_loss_backward_out_frame", half float, _T => Ok(()))?;
        let rows = [is_target, scores, targets];
        return device::multilabel_margin("multilabel_margin_backward", grad, rows, Some(grad_in), factor);
    }
    let targets = &Rows::<i64>::new(targets);
    dispatch!(scores.dtype(), "multilabel_margin_loss_backward_out_frame", half float, T => {
        let rows = Scores { scores: Rows::<T>::new(scores), is_target: Rows::new(is_target), targets };
        let out = Rows::<T>::new(grad_in);
        let step = if grad.ndim() > 0 { grad.stride(0) } else { 0 };
        let share = <<T as Number>::Wide as Analytic>::from_f64(factor / rows.scores.classes.max(1) as f64);
        for row in 0..rows.scores.count {
            // SAFETY: the gradient has an element for each row.
            let grad = unsafe { grad.as_ptr::<T>().offset(row as isize * step).read() }.wide().mul(share);
            rows.short(row, |label, class, _| {
                out.set(row, class, T::narrow(out.get(row, class).wide().add(grad)));
                out.set(row, label, T::narrow(out.get(row, label).wide().sub(grad)));
            })?;
        }
        Ok(())
    })
}
