//! Reductions at indexed positions: scatter_add, scatter_reduce, index_add and index_reduce.

use super::join::{Divided, greater, less};
use super::moves::scatter_value;
use super::places::Places;
use super::walk::Walk;
use crate::array::Array;
use crate::device;
use crate::number::{Number, Wide};
use crate::shared::Shared;
use rushlight_base::plan::Plan;
use rushlight_base::{DType, Result, Scalar, ensure};

/// Combines an existing element and a new one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Combine {
    /// The sum, with the new element times this factor.
    Sum(Scalar),
    /// The product.
    Product,
    /// The maximum; NaN if either is.
    Maximum,
    /// The minimum; NaN if either is.
    Minimum,
}

impl Combine {
    /// The neutral element in `dtype`.
    fn identity(self, dtype: DType) -> Scalar {
        match self {
            Combine::Sum(_) => Scalar::Int(0),
            Combine::Product => Scalar::Int(1),
            Combine::Maximum => lowest(dtype),
            Combine::Minimum => highest(dtype),
        }
    }
}

fn lowest(dtype: DType) -> Scalar {
    match dtype {
        DType::I8 => Scalar::Int(i8::MIN.into()),
        DType::I16 => Scalar::Int(i16::MIN.into()),
        DType::I32 => Scalar::Int(i32::MIN.into()),
        DType::I64 => Scalar::Int(i64::MIN),
        dtype if dtype.is_floating() => Scalar::Float(f64::NEG_INFINITY),
        _ => Scalar::Int(0),
    }
}

fn highest(dtype: DType) -> Scalar {
    match dtype {
        DType::U8 => Scalar::Int(u8::MAX.into()),
        DType::I8 => Scalar::Int(i8::MAX.into()),
        DType::I16 => Scalar::Int(i16::MAX.into()),
        DType::I32 => Scalar::Int(i32::MAX.into()),
        DType::I64 => Scalar::Int(i64::MAX),
        dtype if dtype.is_floating() => Scalar::Float(f64::INFINITY),
        _ => Scalar::Int(1),
    }
}

/// Writes the neutral element into `out` at the indexed positions: the previous values are ignored.
pub fn fill_identity(out: &Array, places: &Places, how: Combine) -> Result<()> {
    scatter_value(out, places, how.identity(out.dtype()))
}

/// Combines `source` with `out` at the indexed positions, in their order.
pub fn combine(out: &Array, places: &Places, source: &Array, how: Combine) -> Result<()> {
    ensure!(out.dtype() == source.dtype(), Internal, "combine got {} and {}", out.dtype(), source.dtype());
    places.check_reached(out)?;
    if let Some(found) = places.on_device() {
        return device::combine(&places.traversal(), found, out, source, &places.strides_of(source)?, how);
    }
    match how {
        Combine::Sum(alpha) => sum(out, places, source, alpha),
        Combine::Product => dispatch!(out.dtype(), "scatter_reduce", integer half float complex chalf bool, T => {
            each::<T>(out, places, source, |there, new| there.mul(new))
        }),
        Combine::Maximum => dispatch!(out.dtype(), "scatter_reduce", integer half float bool, T => {
            each::<T>(out, places, source, greater)
        }),
        Combine::Minimum => dispatch!(out.dtype(), "scatter_reduce", integer half float bool, T => {
            each::<T>(out, places, source, less)
        }),
    }
}

fn sum(out: &Array, places: &Places, source: &Array, alpha: Scalar) -> Result<()> {
    dispatch!(out.dtype(), "scatter_add", integer half float complex chalf bool, T => {
        let alpha = <T as Number>::Wide::from_scalar(alpha);
        // A factor of 1 is skipped: multiplying complex infinities by 1 would result in NaN.
        if alpha == <T as Number>::Wide::ONE {
            return each::<T>(out, places, source, |there, new| there.add(new));
        }
        each::<T>(out, places, source, move |there, new| there.add(new.mul(alpha)))
    })
}

fn each<T: Number>(
    out: &Array,
    places: &Places,
    source: &Array,
    put: impl Fn(T::Wide, T::Wide) -> T::Wide + Copy + Sync,
) -> Result<()> {
    let (walk, reach, index) = (Walk::new(places, source)?, places.reach(), places.start());
    let (to, from) = (Shared::new(out.as_ptr::<T>()), Shared::new(source.as_ptr::<T>()));
    walk.by_lanes(&|block| {
        let (to, from) = (to.get(), from.get());
        // SAFETY: `visit` below passes addresses inside both arrays.
        let put_at = |to: *mut T, from: *const T| unsafe {
            to.write(T::narrow(put(to.read().wide(), from.read().wide())));
        };
        // SAFETY: the traversal stays within the arrays, whose elements `Array::new` guarantees, and the indices were
        // checked to stay within the size they index; each lane is written by one thread.
        unsafe {
            block.visit(
                index.get(),
                reach,
                |walked, reached, len, step| {
                    let (to, from) = (to.offset(reached), from.offset(walked));
                    match step {
                        0 => (0..len).for_each(|i| put_at(to.add(i), from)),
                        _ => (0..len).for_each(|i| put_at(to.add(i), from.add(i))),
                    }
                },
                |walked, reached| put_at(to.offset(reached), from.offset(walked)),
            );
        }
    })
}

/// out = out / counts, where a count is not 0; integers round down. `counts` is of int64.
pub fn divide_by_counts(out: &Array, counts: &Array) -> Result<()> {
    if !out.is_on_host() {
        return device::divide_by_counts(out, counts);
    }
    let plan = Plan::new(out.sizes(), [out.strides(), counts.strides()]);
    let count_at = counts.as_ptr::<i64>();
    dispatch!(out.dtype(), "scatter_reduce", integer half float complex chalf, T => {
        let at = out.as_ptr::<T>();
        plan.elements(&mut |[place, count]| {
            // SAFETY: the plan stays within the sizes of both arrays, whose elements `Array::new` guarantees.
            unsafe {
                let count = count_at.offset(count).read();
                if count != 0 {
                    let place = at.offset(place);
                    place.write(T::narrow(place.read().wide().divided(count)));
                }
            }
        });
        Ok(())
    })
}
