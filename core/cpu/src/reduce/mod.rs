//! Sums, means, products and other folds over any set of dimensions.
//!
//! A reduction is told by its output: it has the rank of the input, and size 1 where the input is reduced; an output
//! without dimensions reduces all. Floating sums are trees over short leaves, so their error grows with the logarithm
//! of the length; halves accumulate in `f32` and round once. `driver` holds the roads, `fold` the folds.

pub(crate) mod driver;
pub(crate) mod fold;
mod moments;
mod norms;

pub use moments::variance;
pub use norms::norm;

use crate::array::Array;
use crate::number::{Analytic, Number};
use crate::shared::Shared;
use driver::Reducer;
use fold::{Count, FloatFolding, FloatProduct, FloatSum, Fold, Folding, Product, ProductToI64, Sum, SumToI64, Truth};
use rushlight_base::reduction::{Order, Reduction};
use rushlight_base::{DType, Element, Result, err};

/// The plan of the reduction of `a` into `out`.
pub(crate) fn plan(out: &Array, a: &Array, order: Order) -> Result<Reduction> {
    Reduction::new(out.sizes(), out.strides(), a.sizes(), a.strides(), order)
        .ok_or_else(|| err!(Internal, "a reduction of shape {:?} got an output of shape {:?}", a.sizes(), out.sizes()))
}

/// Reduces `a` into `out`, whose element is `finish` of the result.
pub(crate) fn reduce_into<R: Element, A: Reducer>(
    out: &Array,
    a: &Array,
    reducer: A,
    finish: impl Fn(A::Acc) -> R + Sync,
) -> Result<()> {
    let (to, from) = (Shared::new(out.as_ptr::<R>()), a.as_ptr::<A::In>().cast_const());
    // SAFETY: `Array::new` vouches for the elements of both; the plan stays within them.
    unsafe {
        if out.numel() == 1 && a.is_contiguous() {
            to.get().write(finish(driver::flat(reducer, from, a.numel())?));
            return Ok(());
        }
        driver::reduce(reducer, &plan(out, a, Order::Memory)?, from, &|at, step, results: &[A::Acc]| {
            for (nth, &acc) in results.iter().enumerate() {
                to.get().offset(at + nth as isize * step).write(finish(acc));
            }
        })
    }
}

/// Folds `a` into `out`, whose element is `finish` of the result.
pub(crate) fn fold_into<R: Element, F: Fold>(
    out: &Array,
    a: &Array,
    fold: F,
    finish: impl Fn(F::Acc) -> R + Sync,
) -> Result<()> {
    reduce_into(out, a, Folding(fold), finish)
}

/// Elements per output.
fn count(out: &Array, a: &Array) -> usize {
    match out.numel() {
        0 => 0,
        outputs => a.numel() / outputs,
    }
}

/// Sums `a` into `out`: of the same dtype, or int64 for a sum of integers or bools.
pub fn sum(out: &Array, a: &Array) -> Result<()> {
    if out.dtype() == DType::I64 && a.dtype() != DType::I64 {
        return dispatch!(a.dtype(), "sum_cpu", integer unsigned bool, A => {
            fold_into(out, a, SumToI64::<A>::new(), |total| total)
        });
    }
    if out.dtype().is_floating() {
        return dispatch!(out.dtype(), "sum_cpu", half float, T => {
            reduce_into(out, a, FloatFolding::<_, T>::new(FloatSum), T::narrow)
        });
    }
    dispatch!(out.dtype(), "sum_cpu", integer complex chalf bool, T => fold_into(out, a, Sum::<T>::new(), T::narrow))
}

/// Sums `a` into `out` and divides by the number of elements; halves are divided before they round.
pub fn mean(out: &Array, a: &Array) -> Result<()> {
    let count = count(out, a) as f64;
    if out.dtype().is_floating() {
        return dispatch!(out.dtype(), "mean_cpu", half float, T => {
            let count = <T as Number>::Wide::from_f64(count);
            reduce_into(out, a, FloatFolding::<_, T>::new(FloatSum), move |total| T::narrow(total.div(count)))
        });
    }
    dispatch!(out.dtype(), "mean_cpu", complex chalf, T => {
        let count = <T as Number>::Wide::from_f64(count);
        fold_into(out, a, Sum::<T>::new(), move |total| T::narrow(total.div(count)))
    })
}

/// Multiplies the elements of `a` into `out`: of the same dtype, or int64 for a product of integers or bools.
pub fn prod(out: &Array, a: &Array) -> Result<()> {
    if out.dtype() == DType::I64 && a.dtype() != DType::I64 {
        return dispatch!(a.dtype(), "prod_cpu", integer unsigned bool, A => {
            fold_into(out, a, ProductToI64::<A>::new(), |product| product)
        });
    }
    if out.dtype().is_floating() {
        return dispatch!(out.dtype(), "prod_cpu", half float, T => {
            reduce_into(out, a, FloatFolding::<_, T>::new(FloatProduct), T::narrow)
        });
    }
    dispatch!(out.dtype(), "prod_cpu", integer complex chalf bool, T => {
        fold_into(out, a, Product::<T>::new(), T::narrow)
    })
}

/// out = does any element differ from zero? Into `bool`, or `uint8` for a `uint8` input.
pub fn any(out: &Array, a: &Array) -> Result<()> {
    truth(out, a, "any_cpu", |met| met & Truth::<u8>::SET != 0)
}

/// out = do all elements differ from zero? Into `bool`, or `uint8` for a `uint8` input.
pub fn all(out: &Array, a: &Array) -> Result<()> {
    truth(out, a, "all_cpu", |met| met & Truth::<u8>::ZERO == 0)
}

/// out = how many elements differ from zero? Into int64.
pub fn count_nonzero(out: &Array, a: &Array) -> Result<()> {
    dispatch!(a.dtype(), "count_nonzero_cpu", integer unsigned half float complex chalf bool, A => {
        fold_into(out, a, Count::<A>::new(), |count| count)
    })
}

fn truth(out: &Array, a: &Array, name: &str, finish: impl Fn(u8) -> bool + Sync) -> Result<()> {
    let finish: &(dyn Fn(u8) -> bool + Sync) = &finish;
    dispatch!(a.dtype(), name, integer unsigned half float complex chalf bool, A => match out.dtype() {
        DType::U8 => fold_into(out, a, Truth::<A>::new(), |met| u8::from(finish(met))),
        _ => fold_into(out, a, Truth::<A>::new(), |met| crate::Flag(u8::from(finish(met)))),
    })
}

#[cfg(test)]
pub(crate) mod tests;
