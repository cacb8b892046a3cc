//! Reading and writing at places that an index tensor names.
//!
//! Indices are `int64` (or `int32` where PyTorch takes them) and are checked here, element by element,
//! before anything is read or written at their place.

use crate::array::Array;
use crate::number::{Number, Wide};
use crate::room::room;
use rushlight_base::plan::Plan;
use rushlight_base::{DType, DimVec, Element, Result, Scalar, bail, ensure, err};

/// The indices of a one-dimensional array (a 0-dim one counts), as they are.
fn list(index: &Array) -> Result<Vec<i64>> {
    let (len, step) = (index.numel() as isize, index.stride(0));
    let mut places = room(index.numel())?;
    // SAFETY: `i` stays below the number of elements, which `Array::new` vouches for.
    unsafe {
        match index.dtype() {
            DType::I64 => {
                let at = index.as_ptr::<i64>();
                places.extend((0..len).map(|i| at.offset(i * step).read()));
            }
            DType::I32 => {
                let at = index.as_ptr::<i32>();
                places.extend((0..len).map(|i| i64::from(at.offset(i * step).read())));
            }
            other => bail!(Runtime, "index_select(): Expected dtype int32 or int64 for index but got: {other}"),
        }
    }
    Ok(places)
}

/// out = a at `index` along `dim`: slice i of the output is slice `index[i]` of `a`.
pub fn index_select(out: &Array, a: &Array, dim: usize, index: &Array) -> Result<()> {
    let indices = list(index)?;
    let size = a.size(dim) as i64;
    if let Some(bad) = indices.iter().find(|&&at| at < 0 || at >= size) {
        bail!(Index, "index out of range in self\nindex {bad} is out of bounds for dimension {dim} with size {size}");
    }
    dispatch!(a.dtype(), "index_select", integer unsigned half float complex chalf bool, T => {
        select::<T>(out, a, dim, &indices)
    })
}

fn select<T: Element>(out: &Array, a: &Array, dim: usize, indices: &[i64]) -> Result<()> {
    let ((sizes, to), (_, from)) = (out.without(dim), a.without(dim));
    ensure!(out.size(dim) == indices.len(), Internal, "index_select got an output of another shape");
    let plan = Plan::new(&sizes, [&to, &from]);
    let (target, source) = (out.as_ptr::<T>(), a.as_ptr::<T>());
    let (len, steps) = (plan.row_len(), plan.row_steps());
    for (nth, &at) in indices.iter().enumerate() {
        let (shift, base) = (nth as isize * out.stride(dim), at as isize * a.stride(dim));
        plan.rows(&mut |[o, x]| {
            // SAFETY: `nth` and `at` are within the sizes along `dim`, the plan within the others.
            unsafe {
                let (to, from) = (target.offset(o + shift), source.offset(x + base));
                if steps == [1, 1] {
                    std::ptr::copy(from, to, len);
                } else {
                    for i in 0..len as isize {
                        to.offset(i * steps[0]).write(from.offset(i * steps[1]).read());
                    }
                }
            }
        });
    }
    Ok(())
}

/// out[index[i]] += alpha source[i], slice by slice along `dim`.
pub fn index_add(out: &Array, dim: usize, index: &Array, source: &Array, alpha: Scalar) -> Result<()> {
    let indices = list(index)?;
    let size = out.size(dim) as i64;
    ensure!(indices.iter().all(|&at| (0..size).contains(&at)), Index, "index out of range in self");
    dispatch!(out.dtype(), "index_add_cpu_", integer half float complex chalf bool, T => {
        let ((sizes, to), (_, from)) = (out.without(dim), source.without(dim));
        ensure!(source.size(dim) == indices.len(), Internal, "index_add got a source of another shape");
        let plan = Plan::new(&sizes, [&to, &from]);
        let alpha = <T as Number>::Wide::from_scalar(alpha);
        let (target, source_at) = (out.as_ptr::<T>(), source.as_ptr::<T>());
        for (nth, &at) in indices.iter().enumerate() {
            let (shift, base) = (at as isize * out.stride(dim), nth as isize * source.stride(dim));
            plan.elements(&mut |[o, x]| {
                // SAFETY: `nth` and `at` are within the sizes along `dim`, the plan within the others.
                unsafe {
                    let (place, value) = (target.offset(o + shift), source_at.offset(x + base).read());
                    place.write(T::narrow(place.read().widen().add(value.widen().mul(alpha))));
                }
            });
        }
        Ok(())
    })
}

/// Strides of `array` for a walk over `sizes`, with dimension `dim` not moving.
fn still(array: &Array, dim: usize) -> DimVec {
    let mut strides = DimVec::from_slice(array.strides());
    if let Some(stride) = strides.get_mut(dim) {
        *stride = 0;
    }
    strides
}

fn checked(index: i64, dim: usize, size: i64) -> Result<isize> {
    if (0..size).contains(&index) {
        return Ok(index as isize);
    }
    Err(err!(Index, "index {index} is out of bounds for dimension {dim} with size {size}"))
}

/// Walks `index` (any int64 array), giving `visit` the offset into `other` of the same place and the
/// offset into `along` of the place with the index put in for dimension `dim`.
fn walk_index(
    along: &Array,
    other: &Array,
    dim: usize,
    index: &Array,
    visit: &mut dyn FnMut(isize, isize),
) -> Result<()> {
    let (size, stride) = (along.size(dim) as i64, along.stride(dim));
    let (moving, places) = (still(along, dim), index.as_ptr::<i64>());
    for (at, &extent) in index.sizes().iter().enumerate() {
        let fits = extent <= other.size(at) as i64 && (at == dim || extent <= along.size(at) as i64);
        ensure!(fits && along.ndim().max(1) == index.ndim().max(1), Internal, "an index kernel got an index too large");
    }
    let pad = |strides: &[i64]| -> DimVec {
        if strides.is_empty() { DimVec::from_elem(0, index.ndim()) } else { DimVec::from_slice(strides) }
    };
    let plan = Plan::row_major(index.sizes(), [&pad(other.strides()), &pad(&moving), index.strides()]);
    let mut failed = None;
    plan.elements(&mut |[o, m, i]| {
        if failed.is_none() {
            // SAFETY: the plan only visits indices within `index`.
            match checked(unsafe { places.offset(i).read() }, dim, size) {
                Ok(at) => visit(o, m + at * stride),
                Err(error) => failed = Some(error),
            }
        }
    });
    failed.map_or(Ok(()), Err)
}

/// out[i][j] = a[index[i][j]][j] (for `dim` 0): `out` has the shape of `index`.
pub fn gather(out: &Array, a: &Array, dim: usize, index: &Array) -> Result<()> {
    dispatch!(a.dtype(), "gather_out_cpu", integer unsigned half float complex chalf bool, T => {
        let (target, source) = (out.as_ptr::<T>(), a.as_ptr::<T>());
        walk_index(a, out, dim, index, &mut |o, x| {
            // SAFETY: `walk_index` checked both places.
            unsafe { target.offset(o).write(source.offset(x).read()) }
        })
    })
}

/// out[index[i][j]][j] = source[i][j] (for `dim` 0); where an index repeats, the last one in row-major
/// order stays.
pub fn scatter(out: &Array, dim: usize, index: &Array, source: &Array) -> Result<()> {
    dispatch!(out.dtype(), "scatter", integer unsigned half float complex chalf bool, T => {
        let (target, from) = (out.as_ptr::<T>(), source.as_ptr::<T>());
        walk_index(out, source, dim, index, &mut |x, o| {
            // SAFETY: `walk_index` checked both places.
            unsafe { target.offset(o).write(from.offset(x).read()) }
        })
    })
}

/// out[index[i][j]][j] = value (for `dim` 0)
pub fn scatter_value(out: &Array, dim: usize, index: &Array, value: Scalar) -> Result<()> {
    dispatch!(out.dtype(), "scatter", integer unsigned half float complex chalf bool, T => {
        let value = T::narrow(<T as Number>::Wide::from_scalar(value));
        let target = out.as_ptr::<T>();
        walk_index(out, index, dim, index, &mut |_, o| {
            // SAFETY: `walk_index` checked the place.
            unsafe { target.offset(o).write(value) }
        })
    })
}

/// out[index[i][j]][j] += source[i][j] (for `dim` 0)
pub fn scatter_add(out: &Array, dim: usize, index: &Array, source: &Array) -> Result<()> {
    dispatch!(out.dtype(), "scatter_add", integer half float complex chalf bool, T => {
        let (target, from) = (out.as_ptr::<T>(), source.as_ptr::<T>());
        walk_index(out, source, dim, index, &mut |x, o| {
            // SAFETY: `walk_index` checked both places.
            unsafe {
                let place = target.offset(o);
                place.write(T::narrow(place.read().widen().add(from.offset(x).read().widen())));
            }
        })
    })
}
