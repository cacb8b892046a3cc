//! Elements that move: gather and scatter. The loops are one for each size of an element, whatever its type.

use super::places::{Places, Reach};
use super::walk::{Block, INDEX, REACHED, WALKED, Walk};
use crate::array::Array;
use crate::fill;
use crate::shared::Shared;
use rushlight_base::{DimVec, Result, Scalar, ensure};

/// out = the elements of `a` at the places
pub fn gather(out: &Array, a: &Array, places: &Places) -> Result<()> {
    ensure!(out.dtype() == a.dtype(), Internal, "gather got {} and {}", out.dtype(), a.dtype());
    places.check_reached(a)?;
    let (walk, reach, index) = (Walk::new(places, out)?, places.reach(), places.start());
    by_size!(a, T => {
        let [to, from] = [out, a].map(|array| Shared::new(array.start().cast::<T>()));
        walk.anyhow(&|block| {
            // SAFETY: the walk stays within the arrays, as `Array::new` vouches for, and so does what the places reach.
            unsafe { gather_block(block, to.get(), from.get(), index.get(), reach) }
        })
    })
}

/// # Safety
/// The block and what its indices reach lie within the memory; what is written is the caller's.
unsafe fn gather_block<T: Copy>(block: &Block, to: *mut T, from: *const T, index: *const i64, reach: Reach) {
    let ([len, _], [step_to, step_from, step_index]) = (block.extents, block.steps[0]);
    block.rows(|at| {
        // SAFETY: as for this function.
        unsafe {
            let (to, from, index) = (to.offset(at[WALKED]), from.offset(at[REACHED]), index.offset(at[INDEX]));
            if block.has_slices() {
                if let Some(offset) = reach.offset(index.read()) {
                    std::ptr::copy(from.offset(offset), to, len);
                }
                return;
            }
            for i in 0..len as isize {
                if let Some(offset) = reach.offset(index.offset(i * step_index).read()) {
                    to.offset(i * step_to).write(from.offset(i * step_from + offset).read());
                }
            }
        }
    });
}

/// `out` with `source` written at the places; where a place repeats, the last one stays.
pub fn scatter(out: &Array, places: &Places, source: &Array) -> Result<()> {
    ensure!(out.dtype() == source.dtype(), Internal, "scatter got {} and {}", out.dtype(), source.dtype());
    places.check_reached(out)?;
    let (walk, reach, index) = (Walk::new(places, source)?, places.reach(), places.start());
    by_size!(out, T => {
        let [to, from] = [out, source].map(|array| Shared::new(array.start().cast::<T>()));
        walk.by_lanes(&|block| {
            // SAFETY: the walk stays within the arrays, as `Array::new` vouches for, and so does what the places reach; lanes
            // are written by one thread each.
            unsafe { scatter_block(block, to.get(), from.get(), index.get(), reach) }
        })
    })
}

/// # Safety
/// As for [`gather_block`].
unsafe fn scatter_block<T: Copy>(block: &Block, to: *mut T, from: *const T, index: *const i64, reach: Reach) {
    let ([len, _], [step_from, step_to, step_index]) = (block.extents, block.steps[0]);
    block.rows(|at| {
        // SAFETY: as for this function.
        unsafe {
            let (from, to, index) = (from.offset(at[WALKED]), to.offset(at[REACHED]), index.offset(at[INDEX]));
            if block.has_slices() {
                if let Some(offset) = reach.offset(index.read()) {
                    std::ptr::copy(from, to.offset(offset), len);
                }
                return;
            }
            for i in 0..len as isize {
                if let Some(offset) = reach.offset(index.offset(i * step_index).read()) {
                    to.offset(i * step_to + offset).write(from.offset(i * step_from).read());
                }
            }
        }
    });
}

/// `out` with one value written at the places.
pub fn scatter_value(out: &Array, places: &Places, value: Scalar) -> Result<()> {
    let element = fill::element(value, out.dtype())?;
    let still = DimVec::from_elem(0, places.sizes().len());
    // SAFETY: one element of the dtype, which is only read; it is broadcast over the walk.
    let source = unsafe { Array::new(element.as_ptr().cast_mut().cast(), out.dtype(), places.sizes(), &still) };
    scatter(out, places, &source)
}
