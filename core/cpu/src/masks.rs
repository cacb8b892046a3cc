//! Elements that a mask selects, in row-major order.

use crate::array::Array;
use crate::number::Flag;
use rushlight_base::plan::Plan;
use rushlight_base::{DimVec, Result, ensure};

/// Number of true elements of a mask.
pub fn count(mask: &Array) -> usize {
    let at = mask.as_ptr::<Flag>();
    let plan = Plan::new(mask.sizes(), [mask.strides()]);
    let (len, [step]) = plan.inner();
    let mut count = 0;
    plan.rows(&mut |[offset]| {
        // SAFETY: the plan stays within the sizes of the array, whose elements `Array::new` guarantees.
        count += (0..len as isize).filter(|i| unsafe { at.offset(offset + i * step).read() }.0 != 0).count();
    });
    count
}

/// Calls `visit` for each true element with its index among them and the offset of its position in `other`, at most
/// `capacity` times: another thread may write the mask.
fn visit(mask: &Array, other: &Array, capacity: usize, visit: &mut dyn FnMut(usize, isize)) {
    let at = mask.as_ptr::<Flag>();
    let mut number = 0;
    Plan::row_major(mask.sizes(), [mask.strides(), other.strides()]).elements(&mut |[place, offset]| {
        // SAFETY: the plan stays within the sizes of the array, whose elements `Array::new` guarantees.
        if number < capacity && unsafe { at.offset(place).read() }.0 != 0 {
            visit(number, offset);
            number += 1;
        }
    });
}

/// out[k] = the coordinates of the k-th true element
pub fn coordinates(out: &Array, mask: &Array) -> Result<()> {
    ensure!(out.ndim() == 2 && out.size(1) == mask.ndim(), Internal, "coordinates got shape {:?}", out.sizes());
    let (to, steps) = (out.as_ptr::<i64>(), [out.stride(0), out.stride(1)]);
    // With row-major strides, the offset of a position is its row-major index.
    let mut rest = 1;
    let mut strides = DimVec::from_elem(0, mask.ndim());
    for dim in (0..mask.ndim()).rev() {
        strides[dim] = rest;
        rest *= mask.sizes()[dim];
    }
    // SAFETY: no element is accessed through this array: its strides only compute positions.
    let places = unsafe { Array::new(mask.start(), mask.dtype(), mask.sizes(), &strides) };
    visit(mask, &places, out.size(0), &mut |number, place| {
        let mut place = place as i64;
        for (dim, &size) in mask.sizes().iter().enumerate().rev() {
            // SAFETY: the number is below the rows of `out`, the dimension below its columns.
            unsafe { to.offset(number as isize * steps[0] + dim as isize * steps[1]).write(place % size) };
            place /= size;
        }
    });
    Ok(())
}

/// out[k] = the k-th element of `a` whose mask is true
pub fn select(out: &Array, a: &Array, mask: &Array) -> Result<()> {
    let fits = a.sizes() == mask.sizes() && a.dtype() == out.dtype() && out.ndim() == 1;
    ensure!(fits, Internal, "select got {:?}, {:?} and {:?}", out.sizes(), a.sizes(), mask.sizes());
    let step = out.stride(0);
    by_size!(out, T => {
        let (to, from) = (out.start().cast::<T>(), a.start().cast::<T>());
        visit(mask, a, out.size(0), &mut |number, offset| {
            // SAFETY: the number is below the elements of `out`; the offset is that of an element of `a`.
            unsafe { to.offset(number as isize * step).write(from.offset(offset).read()) }
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
    by_size!(out, T => {
        let (to, from) = (out.start().cast::<T>(), source.start().cast::<T>());
        visit(mask, out, source.numel(), &mut |number, offset| {
            // SAFETY: the number is below the elements of `source`; the offset is that of an element of `out`.
            unsafe { to.offset(offset).write(from.offset(number as isize * step).read()) }
        });
    });
    Ok(())
}
