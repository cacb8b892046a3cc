//! Positions of elements in sorted sequences.

use crate::array::Array;
use crate::bisect::place_of;
use crate::device;
use crate::number::Number;
use crate::rows::each_row;
use crate::shared::Shared;
use rushlight_base::plan::Plan;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{DType, DimVec, Result, bail, ensure};

/// Searches worth another thread.
const GRAIN: usize = 1024;

/// out = the insertion index of each of `values` in a sorted sequence along the last dimension of `sequence`: before
/// equal elements, or after them if `right`; NaN after all. `sequence` has one dimension, or the others of `values`.
/// The `sorter` (int64) holds the sorted order of an unsorted sequence. `out` is of int64 or int32.
pub fn search(out: &Array, sequence: &Array, values: &Array, sorter: Option<&Array>, right: bool) -> Result<()> {
    let (len, step) = match sequence.ndim().checked_sub(1) {
        Some(last) => (sequence.size(last), sequence.stride(last)),
        None => bail!(Internal, "a search got a sequence without dimensions"),
    };
    if !out.is_on_host() {
        return device::search(out, sequence, values, sorter, right);
    }
    // The traversal covers the values; the sequences have step 0 along the last dimension.
    let lead = |array: &Array| -> Result<DimVec> {
        let mut strides = DimVec::from_elem(0, values.ndim());
        if array.ndim() > 1 {
            let last = array.ndim() - 1;
            let fits = array.ndim() == values.ndim() && array.sizes()[..last] == values.sizes()[..last];
            ensure!(fits, Internal, "a search got {:?} for {:?}", array.sizes(), values.sizes());
            strides[..last].copy_from_slice(&array.strides()[..last]);
        }
        Ok(strides)
    };
    ensure!(out.sizes() == values.sizes(), Internal, "a search got an output of another shape");
    ensure!(sorter.is_none_or(|sorter| sorter.sizes() == sequence.sizes()), Internal, "a sorter of another shape");
    let sorter_lead = sorter.map_or_else(|| Ok(DimVec::from_elem(0, values.ndim())), lead)?;
    let walk = Plan::<4>::new(values.sizes(), [out.strides(), values.strides(), &lead(sequence)?, &sorter_lead]);
    if walk.numel() == 0 {
        return Ok(());
    }
    let order = sorter.map(|sorter| (Shared::new(sorter.as_ptr::<i64>()), sorter.stride(sorter.ndim() - 1)));
    let narrow = out.dtype() == DType::I32;
    ensure!(narrow || out.dtype() == DType::I64, Internal, "a search got an output of {}", out.dtype());
    let to = Shared::new(out.first_byte());
    dispatch!(values.dtype(), "searchsorted_out_cpu", integer half float, T => {
        let (row, from) = (Shared::new(sequence.as_ptr::<T>()), Shared::new(values.as_ptr::<T>()));
        parallel_chunks(walk.numel(), GRAIN, &|part| {
            each_row(&walk, part, |[o, v, s, k]| {
                // SAFETY: the traversal stays within the arrays, and the search within the sequence; an index from the
                // sorter was checked, and is checked again, since another thread may write it.
                unsafe {
                    let element = |nth: usize| {
                        let place = match order {
                            Some((at, step)) => (at.get().offset(k + nth as isize * step).read() as usize).min(len - 1),
                            None => nth,
                        };
                        row.get().offset(s + place as isize * step).read().wide()
                    };
                    let place = place_of(from.get().offset(v).read().wide(), len, right, element);
                    match narrow {
                        true => to.get().cast::<i32>().offset(o).write(place as i32),
                        false => to.get().cast::<i64>().offset(o).write(place as i64),
                    }
                }
            });
        })
    })
}

/// Whether all elements of `indices`, of int64, are in `[0, size)`. Those on a device are checked by the search.
pub fn are_below(indices: &Array, size: usize) -> bool {
    if !indices.is_on_host() {
        return true;
    }
    let at = indices.as_ptr::<i64>();
    let mut inside = true;
    // SAFETY: the plan stays within the sizes of the array, whose elements `Array::new` guarantees.
    Plan::new(indices.sizes(), [indices.strides()])
        .elements(&mut |[place]| inside &= (unsafe { at.offset(place).read() } as u64) < size as u64);
    inside
}
