//! Elements that a mask selects, in row-major order.

use crate::array::Array;
use crate::device;
use crate::number::Flag;
use crate::pointwise::Loop;
use rushlight_base::plan::Plan;
use rushlight_base::runtime::{BETWEEN_CHECKS, check_cancelled};
use rushlight_base::{DimVec, Result, ensure};

/// Number of true elements of a mask. On a device this waits for the mask.
pub fn count(mask: &Array) -> Result<usize> {
    if !mask.is_on_host() {
        return device::count_of_mask(mask);
    }
    let (at, walk, mut count) = (mask.as_ptr::<Flag>(), Loop::new([mask.clone()])?, 0);
    let [step] = walk.row_steps();
    walk.pieces(|[offset], len| {
        // SAFETY: the loop stays within the sizes of the array, whose elements `Array::new` guarantees.
        count += (0..len).filter(|i| unsafe { at.offset(offset + i * step).read() }.0 != 0).count();
    })?;
    Ok(count)
}

/// Elements that are skipped at once if the mask is false for all.
const SKIPPED: usize = 8;

/// Calls `put` with the index among the true elements, below `capacity`, of each true one of a row, and its place in the
/// row. May call it for others before the true one: the last call counts. (Without a branch that depends on the mask,
/// selecting by a random one takes a quarter of the time.)
#[inline(always)]
fn each_in_row(
    mask: *const Flag,
    step: isize,
    len: usize,
    number: &mut usize,
    capacity: usize,
    mut put: impl FnMut(usize, isize),
) {
    let mut at = 0;
    while at < len {
        // SAFETY: the caller has a row of `len` elements.
        let value = |at: usize| unsafe { mask.offset(at as isize * step).read() }.0;
        let end = len.min(at + SKIPPED);
        if (at..end).fold(0, |any, at| any | value(at)) != 0 {
            for at in at..end {
                if *number < capacity {
                    put(*number, at as isize);
                    *number += usize::from(value(at) != 0);
                }
            }
        }
        at = end;
    }
}

/// out[k] = the coordinates of the k-th true element
pub fn coordinates(out: &Array, mask: &Array) -> Result<()> {
    ensure!(out.ndim() == 2 && out.size(1) == mask.ndim(), Internal, "coordinates got shape {:?}", out.sizes());
    if !mask.is_on_host() {
        return device::coordinates(out, mask);
    }
    let (to, steps) = (out.as_ptr::<i64>(), [out.stride(0), out.stride(1)]);
    let Some(last) = mask.ndim().checked_sub(1) else { return Ok(()) };
    let (len, mut number) = (mask.size(last), 0);
    if mask.numel() == 0 {
        return Ok(());
    }
    // The coordinates and the offset of a row.
    let (mut row, mut offset) = (DimVec::from_elem(0, last), 0);
    loop {
        for first in (0..len).step_by(BETWEEN_CHECKS) {
            check_cancelled()?;
            let start = mask.as_ptr::<Flag>().wrapping_offset(offset + first as isize * mask.stride(last));
            // Copies, which writing a coordinate cannot change.
            let (outer, before, mut found) = (&row[..], first as i64, number);
            let put = move |number: usize, at: isize| {
                let to = to.wrapping_offset(number as isize * steps[0]);
                // SAFETY: the number is below the rows of `out`, the dimensions below its columns.
                unsafe {
                    for (dim, &coordinate) in outer.iter().enumerate() {
                        to.offset(dim as isize * steps[1]).write(coordinate);
                    }
                    to.offset(last as isize * steps[1]).write(before + at as i64);
                }
            };
            each_in_row(start, mask.stride(last), BETWEEN_CHECKS.min(len - first), &mut found, out.size(0), put);
            number = found;
        }
        // The next row.
        let mut dim = last;
        loop {
            let Some(outer) = dim.checked_sub(1) else { return Ok(()) };
            dim = outer;
            row[dim] += 1;
            offset += mask.stride(dim);
            if row[dim] < mask.sizes()[dim] {
                break;
            }
            offset -= mask.stride(dim) * mask.size(dim) as isize;
            row[dim] = 0;
        }
    }
}

/// out[k] = the k-th element of `a` whose mask is true
pub fn select(out: &Array, a: &Array, mask: &Array) -> Result<()> {
    let fits = a.sizes() == mask.sizes() && a.dtype() == out.dtype() && out.ndim() == 1;
    ensure!(fits, Internal, "select got {:?}, {:?} and {:?}", out.sizes(), a.sizes(), mask.sizes());
    if !mask.is_on_host() {
        return device::select_by_mask(out, a, mask);
    }
    let step = out.stride(0);
    let plan = Plan::row_major(mask.sizes(), [mask.strides(), a.strides()]);
    let (len, [step_mask, step_a]) = plan.inner();
    by_size!(out, T => {
        let (to, from, mut number) = (out.start().cast::<T>(), a.start().cast::<T>(), 0);
        plan.rows(&mut |[at, offset]| {
            let (mask, from) = (mask.as_ptr::<Flag>().wrapping_offset(at), from.wrapping_offset(offset));
            each_in_row(mask, step_mask, len, &mut number, out.size(0), |number, at| {
                // SAFETY: the number is below the elements of `out`, the place below those of the row.
                unsafe { to.offset(number as isize * step).write(from.offset(at * step_a).read()) }
            });
        });
    });
    Ok(())
}

/// out where the mask is true = the next element of `source`
pub fn scatter(out: &Array, mask: &Array, source: &Array) -> Result<()> {
    let fits = out.sizes() == mask.sizes() && out.dtype() == source.dtype();
    ensure!(fits, Internal, "scatter got {:?} and {:?}", out.sizes(), mask.sizes());
    let plan = Plan::row_major(source.sizes(), [source.strides()]);
    ensure!(plan.rank() == 1, Internal, "scatter got a source of several rows: {:?}", source.sizes());
    let [step] = plan.row_steps();
    if !mask.is_on_host() {
        return device::scatter_by_mask(out, mask, source);
    }
    let Some(last) = source.numel().checked_sub(1) else { return Ok(()) };
    let plan = Plan::row_major(mask.sizes(), [mask.strides(), out.strides()]);
    let (len, [step_mask, step_out]) = plan.inner();
    by_size!(out, T => {
        let (from, mut number) = (source.start().cast::<T>(), 0);
        plan.rows(&mut |[at, offset]| {
            let (mask, to) = (mask.as_ptr::<Flag>().wrapping_offset(at), out.start().cast::<T>().wrapping_offset(offset));
            for at in 0..len as isize {
                // SAFETY: the place is one of the row of the mask and of `out`, the number is below the elements of
                // `source`. Elements are written without a branch: for a random mask, a third of the time.
                unsafe {
                    let (is_chosen, to) = (mask.offset(at * step_mask).read().0 != 0 && number <= last, to.offset(at * step_out));
                    let next = from.offset(number.min(last) as isize * step);
                    to.write(if is_chosen { next } else { to }.read());
                    number += usize::from(is_chosen);
                }
            }
        });
    });
    Ok(())
}
