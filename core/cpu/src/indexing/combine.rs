//! Elements that are put together with those that are there: scatter_add, scatter_reduce, index_add and index_reduce.

use super::moves::scatter_value;
use super::places::Places;
use super::walk::Walk;
use crate::array::Array;
use crate::number::{Number, Ordered, Wide};
use crate::shared::Shared;
use num_complex::Complex;
use rushlight_base::plan::Plan;
use rushlight_base::{DType, Result, Scalar, ensure};

/// What is made of an element that is there and one that comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Combine {
    /// The sum with so many times the new one.
    Sum(Scalar),
    /// The product.
    Product,
    /// The greater one; NaN if one is.
    Maximum,
    /// The less one; NaN if one is.
    Minimum,
}

impl Combine {
    /// The element of `dtype` that leaves others as they are.
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

/// Writes what changes nothing into `out` where the places lie: what was there does not count then.
pub fn fill_identity(out: &Array, places: &Places, how: Combine) -> Result<()> {
    scatter_value(out, places, how.identity(out.dtype()))
}

/// Puts `source` together with `out` at the places, in their order.
pub fn combine(out: &Array, places: &Places, source: &Array, how: Combine) -> Result<()> {
    ensure!(out.dtype() == source.dtype(), Internal, "combine got {} and {}", out.dtype(), source.dtype());
    places.check_reached(out)?;
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

#[inline(always)]
fn greater<W: Ordered>(there: W, new: W) -> W {
    if new > there || new.is_nan() { new } else { there }
}

#[inline(always)]
fn less<W: Ordered>(there: W, new: W) -> W {
    if new < there || new.is_nan() { new } else { there }
}

fn sum(out: &Array, places: &Places, source: &Array, alpha: Scalar) -> Result<()> {
    dispatch!(out.dtype(), "scatter_add", integer half float complex chalf bool, T => {
        let alpha = <T as Number>::Wide::from_scalar(alpha);
        // Once is no multiplication: that of complex numbers would make NaN of infinities.
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
        // SAFETY: both places are within the arrays, see below.
        let put_at = |to: *mut T, from: *const T| unsafe {
            to.write(T::narrow(put(to.read().wide(), from.read().wide())));
        };
        // SAFETY: the walk stays within the arrays, as `Array::new` vouches for, and so does what the places reach; lanes are
        // written by one thread each.
        unsafe {
            block.visit(
                index.get(),
                reach,
                |walked, reached, len| {
                    let (to, from) = (to.offset(reached), from.offset(walked));
                    (0..len).for_each(|i| put_at(to.add(i), from.add(i)));
                },
                |walked, reached| put_at(to.offset(reached), from.offset(walked)),
            );
        }
    })
}

/// out = out / counts, where a count is not 0; integers round down. `counts` is of int64.
pub fn divide_by_counts(out: &Array, counts: &Array) -> Result<()> {
    let plan = Plan::new(out.sizes(), [out.strides(), counts.strides()]);
    let count_at = counts.as_ptr::<i64>();
    dispatch!(out.dtype(), "scatter_reduce", integer half float complex chalf, T => {
        let at = out.as_ptr::<T>();
        plan.elements(&mut |[place, count]| {
            // SAFETY: the plan stays within the arrays.
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

/// Division by a positive count.
trait Divided {
    fn divided(self, count: i64) -> Self;
}

macro_rules! divided {
    ($($type:ty),*; $($float:ty),*) => {
        $(impl Divided for $type {
            fn divided(self, count: i64) -> $type {
                // In 64 bits, for a count may be more than the type holds.
                i64::from(self).div_euclid(count) as $type
            }
        })*
        $(impl Divided for $float {
            fn divided(self, count: i64) -> $float {
                self / count as $float
            }
        }
        impl Divided for Complex<$float> {
            fn divided(self, count: i64) -> Complex<$float> {
                self / count as $float
            }
        })*
    };
}

divided!(u8, i8, i16, i32, i64; f32, f64);
