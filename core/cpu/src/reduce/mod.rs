//! Sums, means, products and other folds over any set of dimensions.
//!
//! The output determines the reduction: it has the rank of the input, and size 1 where the input is reduced; a 0-dim
//! output reduces all. Floating sums are trees over short leaves, so their error grows with the logarithm of the
//! length; half precision accumulates in `f32` and rounds once. `reducer` defines the parts of a reduction, `driver`
//! the code paths, `tree` merges partial results, `fold` has the folds.

pub(crate) mod driver;
pub(crate) mod fold;
mod moments;
mod norms;
mod pairs;
pub(crate) mod reducer;
mod tree;

pub use moments::{moments, variance};
pub use norms::norm;
pub use pairs::{distances, distances_by_product, pair_distances};

use crate::array::Array;
use crate::device;
use crate::number::{Analytic, Number};
use crate::shared::Shared;

use fold::{
    Count, FloatFolding, FloatProduct, FloatSum, Fold, Folding, MET_FALSE, MET_TRUE, Product, ProductToI64, Sum,
    SumToI64, Truth,
};
use reducer::{Reducer, Typed, Worker};
use rushlight_base::reduction::{Order, Reduction};
use rushlight_base::{Complex128, DType, Element, Result, ensure, err};
use std::marker::PhantomData;

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
    let to = Shared::new(out.as_ptr::<R>());
    ensure!(a.dtype() == A::In::DTYPE, Internal, "a reducer got elements of another dtype");
    let sink = |at: isize, step: isize, results: *const u8, count: usize| {
        for nth in 0..count {
            // SAFETY: the sink receives results of this reducer; `Array::new` guarantees the elements of `out`.
            unsafe {
                to.get().offset(at + nth as isize * step).write(finish(results.cast::<A::Acc>().add(nth).read()))
            };
        }
    };
    // SAFETY: the reducer is one of elements of `a`.
    unsafe { driver::reduce_arrays(Worker::new(&Typed::new(reducer)), out, a, &sink) }
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
    if !out.is_on_host() {
        return device::reduce(to_int64(out, a, "sum", "sum_to_int64"), [Some(out), None], a, [0.0; 2]);
    }
    if out.dtype() == DType::I64 && a.dtype() != DType::I64 {
        return dispatch!(a.dtype(), "sum_cpu", integer unsigned bool, A => {
            fold_into(out, a, SumToI64::<A>(PhantomData), |total| total)
        });
    }
    if out.dtype().is_floating() {
        return dispatch!(out.dtype(), "sum_cpu", half float, T => {
            reduce_into(out, a, FloatFolding::<_, T>::new(FloatSum), T::narrow)
        });
    }
    dispatch!(out.dtype(), "sum_cpu", integer complex chalf bool, T => fold_into(out, a, Sum::<T>(PhantomData), T::narrow))
}

/// Sums `a` into `out` and divides by the number of elements; half precision is divided before it is rounded.
pub fn mean(out: &Array, a: &Array) -> Result<()> {
    let count = count(out, a) as f64;
    if !out.is_on_host() {
        return device::reduce("mean", [Some(out), None], a, [count, 0.0]);
    }
    if out.dtype().is_floating() {
        return dispatch!(out.dtype(), "mean_cpu", half float, T => {
            let count = <T as Number>::Wide::from_f64(count);
            reduce_into(out, a, FloatFolding::<_, T>::new(FloatSum), move |total| T::narrow(total.div(count)))
        });
    }
    dispatch!(out.dtype(), "mean_cpu", complex chalf, T => {
        let count = <T as Number>::Wide::from_f64(count);
        fold_into(out, a, Sum::<T>(PhantomData), move |total| T::narrow(total.div(count)))
    })
}

/// Multiplies the elements of `a` into `out`: of the same dtype, or int64 for a product of integers or bools.
pub fn prod(out: &Array, a: &Array) -> Result<()> {
    if !out.is_on_host() {
        return device::reduce(to_int64(out, a, "prod", "prod_to_int64"), [Some(out), None], a, [0.0; 2]);
    }
    if out.dtype() == DType::I64 && a.dtype() != DType::I64 {
        return dispatch!(a.dtype(), "prod_cpu", integer unsigned bool, A => {
            fold_into(out, a, ProductToI64::<A>(PhantomData), |product| product)
        });
    }
    if out.dtype().is_floating() {
        return dispatch!(out.dtype(), "prod_cpu", half float, T => {
            reduce_into(out, a, FloatFolding::<_, T>::new(FloatProduct), T::narrow)
        });
    }
    dispatch!(out.dtype(), "prod_cpu", integer complex chalf bool, T => {
        fold_into(out, a, Product::<T>(PhantomData), T::narrow)
    })
}

/// out = whether any element differs from zero. Into `bool`, or `uint8` for a `uint8` input.
pub fn any(out: &Array, a: &Array) -> Result<()> {
    if !out.is_on_host() {
        return device::reduce("any", [Some(out), None], a, [0.0; 2]);
    }
    truth(out, a, |met| met & MET_TRUE != 0)
}

/// out = whether all elements differ from zero. Into `bool`, or `uint8` for a `uint8` input.
pub fn all(out: &Array, a: &Array) -> Result<()> {
    if !out.is_on_host() {
        return device::reduce("all", [Some(out), None], a, [0.0; 2]);
    }
    truth(out, a, |met| met & MET_FALSE == 0)
}

/// out = the number of elements that differ from zero. Into int64.
pub fn count_nonzero(out: &Array, a: &Array) -> Result<()> {
    if !out.is_on_host() {
        return device::reduce("count_nonzero", [Some(out), None], a, [0.0; 2]);
    }
    let (word, bits) = telling_bits(a.dtype());
    let a = &a.seen_as(word);
    match word {
        DType::U8 => fold_into(out, a, Count::<u8>(bits, PhantomData), |count| count),
        DType::U16 => fold_into(out, a, Count::<u16>(bits, PhantomData), |count| count),
        DType::U32 => fold_into(out, a, Count::<u32>(bits, PhantomData), |count| count),
        DType::U64 => fold_into(out, a, Count::<u64>(bits, PhantomData), |count| count),
        _ => fold_into(out, a, Count::<Complex128>(bits, PhantomData), |count| count),
    }
}

/// The function of a device: one of both, the second one for narrower integers with a result of 64 bits.
fn to_int64(out: &Array, a: &Array, same: &'static str, widened: &'static str) -> &'static str {
    if out.dtype() == DType::I64 && a.dtype() != DType::I64 { widened } else { same }
}

fn truth(out: &Array, a: &Array, is_true: impl Fn(u8) -> bool + Sync) -> Result<()> {
    let (word, bits) = telling_bits(a.dtype());
    // A bool is the byte 0 or 1, as is this boolean stored as `uint8`.
    let (out, a) = (&out.seen_as(DType::U8), &a.seen_as(word));
    let is_true: &(dyn Fn(u8) -> bool + Sync) = &is_true;
    let finish = |met| u8::from(is_true(met));
    match word {
        DType::U8 => fold_into(out, a, Truth::<u8>(bits, PhantomData), finish),
        DType::U16 => fold_into(out, a, Truth::<u16>(bits, PhantomData), finish),
        DType::U32 => fold_into(out, a, Truth::<u32>(bits, PhantomData), finish),
        DType::U64 => fold_into(out, a, Truth::<u64>(bits, PhantomData), finish),
        _ => fold_into(out, a, Truth::<Complex128>(bits, PhantomData), finish),
    }
}

/// The integer dtype with which elements of `dtype` are compared with zero, and the relevant bits: all but the signs of
/// floating zeros.
fn telling_bits(dtype: DType) -> (DType, u64) {
    match dtype {
        DType::U8 | DType::I8 | DType::Bool | DType::QI8 | DType::QU8 => (DType::U8, u64::MAX),
        DType::U16 | DType::I16 => (DType::U16, u64::MAX),
        DType::F16 | DType::BF16 => (DType::U16, 0x7fff),
        DType::U32 | DType::I32 | DType::QI32 => (DType::U32, u64::MAX),
        DType::F32 => (DType::U32, 0x7fff_ffff),
        DType::C32 => (DType::U32, 0x7fff_7fff),
        DType::U64 | DType::I64 => (DType::U64, u64::MAX),
        DType::F64 => (DType::U64, 0x7fff_ffff_ffff_ffff),
        DType::C64 => (DType::U64, 0x7fff_ffff_7fff_ffff),
        DType::C128 => (DType::C128, 0x7fff_ffff_ffff_ffff),
    }
}

#[cfg(test)]
pub(crate) mod tests;
