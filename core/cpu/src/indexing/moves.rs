//! Elements that are moved: gather and scatter. There is one loop per element size.

use super::places::Places;
use super::walk::Walk;
use crate::array::Array;
use crate::shared::Shared;
use crate::{device, fill};
use rushlight_base::{DimVec, Result, Scalar, ensure};

/// out = the elements of `a` at the indexed positions
pub fn gather(out: &Array, a: &Array, places: &Places) -> Result<()> {
    ensure!(out.dtype() == a.dtype(), Internal, "gather got {} and {}", out.dtype(), a.dtype());
    places.check_reached(a)?;
    if let Some(found) = places.on_device() {
        return device::gather(&places.traversal(), found, out, &places.strides_of(out)?, a);
    }
    let (walk, reach, index) = (Walk::new(places, out)?, places.reach(), places.start());
    by_size!(a, T => {
        let [to, from] = [out, a].map(|array| Shared::new(array.start().cast::<T>()));
        walk.anyhow(&|block| {
            let (to, from) = (to.get(), from.get());
            // SAFETY: the traversal stays within the arrays, whose elements `Array::new` guarantees, and the indices
            // were checked to stay within the size they index.
            unsafe {
                block.visit(
                    index.get(),
                    reach,
                    // What is written has no element twice.
                    |walked, reached, len, _| std::ptr::copy(from.offset(reached), to.offset(walked), len),
                    |walked, reached| to.offset(walked).write(from.offset(reached).read()),
                );
            }
        })
    })
}

/// `out` with `source` written at the indexed positions; if a position repeats, the last one stays.
pub fn scatter(out: &Array, places: &Places, source: &Array) -> Result<()> {
    ensure!(out.dtype() == source.dtype(), Internal, "scatter got {} and {}", out.dtype(), source.dtype());
    places.check_reached(out)?;
    if let Some(found) = places.on_device() {
        return device::scatter(&places.traversal(), found, out, source, &places.strides_of(source)?);
    }
    let (walk, reach, index) = (Walk::new(places, source)?, places.reach(), places.start());
    by_size!(out, T => {
        let [to, from] = [out, source].map(|array| Shared::new(array.start().cast::<T>()));
        walk.by_lanes(&|block| {
            let (to, from) = (to.get(), from.get());
            // SAFETY: the traversal stays within the arrays, whose elements `Array::new` guarantees, and the indices
            // were checked to stay within the size they index; each lane is written by one thread.
            unsafe {
                block.visit(
                    index.get(),
                    reach,
                    |walked, reached, len, step| match step {
                        0 => std::slice::from_raw_parts_mut(to.offset(reached), len).fill(from.offset(walked).read()),
                        _ => std::ptr::copy(from.offset(walked), to.offset(reached), len),
                    },
                    |walked, reached| to.offset(reached).write(from.offset(walked).read()),
                );
            }
        })
    })
}

/// `out` with one value written at the indexed positions.
pub fn scatter_value(out: &Array, places: &Places, value: Scalar) -> Result<()> {
    let element = fill::element(value, out.dtype())?;
    let still = DimVec::from_elem(0, places.sizes().len());
    // SAFETY: `element` holds one element of the dtype, which is only read, and all strides are 0.
    let source = unsafe { Array::new(element.as_ptr().cast_mut().cast(), out.dtype(), places.sizes(), &still) };
    scatter(out, places, &source)
}
