//! Medians, and running extrema with their places: what is found in a row by comparing its elements.

use crate::array::Array;
use crate::extrema::Extremum;
use crate::number::{Number, Ordered, Wide};
use crate::room::room;
use crate::rows::each_run;
use crate::select;
use crate::shared::Shared;
use rushlight_base::plan::Plan;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, ensure};

/// Elements worth another thread.
const GRAIN: usize = 16384;

/// An element and its place in its row.
type Entry<W> = (W, i64);

/// The lower of the middle two of a row with elements. NaN is the median wherever it occurs, or is left out if `ignore_nan`
/// and there is anything else.
fn middle<W: Ordered>(row: &mut [Entry<W>], ignore_nan: bool) -> Entry<W> {
    let nan = row.iter().find(|entry| entry.0.is_nan()).copied();
    if let (Some(nan), false) = (nan, ignore_nan) {
        return nan;
    }
    let numbers = row.iter().filter(|entry| !entry.0.is_nan()).count();
    let nth = numbers.saturating_sub(1) / 2;
    let precedes = |a: &Entry<W>, b: &Entry<W>| (b.0.is_nan() && !a.0.is_nan()) || a.0 < b.0;
    select::nth_element(row, nth, &precedes);
    row[nth]
}

/// out = the median of all elements of `a`, of which there are some
pub fn median(out: &Array, a: &Array, ignore_nan: bool) -> Result<()> {
    ensure!(a.numel() > 0 && out.numel() == 1, Internal, "a median of nothing reached its kernel");
    dispatch!(a.dtype(), "median_cpu", integer half float, T => {
        let (to, from) = (out.as_ptr::<T>(), a.as_ptr::<T>());
        let mut row = room::<Entry<<T as Number>::Wide>>(a.numel())?;
        Plan::<1>::row_major(a.sizes(), [a.strides()]).elements(&mut |[at]| {
            // SAFETY: the plan stays within the array, which `Array::new` vouches for; here and below.
            row.push((unsafe { from.offset(at).read() }.widen(), row.len() as i64));
        });
        // SAFETY: as above.
        unsafe { to.write(T::narrow(middle(&mut row, ignore_nan).0)) };
        Ok(())
    })
}

/// The median of each row of `a` along `dim`, and its place; both outputs have size 1 there.
pub fn median_dim(values: &Array, indices: &Array, a: &Array, dim: usize, ignore_nan: bool) -> Result<()> {
    let (len, step) = (a.size(dim), a.stride(dim));
    ensure!(len > 0 || a.numel() == 0 && values.numel() == 0, Internal, "a median of nothing reached its kernel");
    let [out, places, rows] = [values, indices, a].map(|array| array.without(dim));
    let walk = Plan::<3>::row_major(&rows.0, [&out.1, &places.1, &rows.1]);
    dispatch!(a.dtype(), "median_cpu", integer half float, T => {
        let (to, at, from) = (values.as_ptr::<T>(), indices.as_ptr::<i64>(), a.as_ptr::<T>());
        let mut row = room::<Entry<<T as Number>::Wide>>(len)?;
        walk.elements(&mut |[o, p, x]| {
            row.clear();
            // SAFETY: the walk and the loop stay within the arrays, which `Array::new` vouches for.
            unsafe {
                row.extend((0..len as isize).map(|i| (from.offset(x + i * step).read().widen(), i as i64)));
                let (value, place) = middle(&mut row, ignore_nan);
                to.offset(o).write(T::narrow(value));
                at.offset(p).write(place);
            }
        });
        Ok(())
    })
}

/// The extremum of the elements up to each along `dim`, and its place: the last of equals, and the last NaN once there is
/// one.
pub fn running_extremum(values: &Array, indices: &Array, a: &Array, dim: usize, which: Extremum) -> Result<()> {
    ensure!(values.sizes() == a.sizes(), Internal, "a scan got an output of another shape");
    ensure!(indices.sizes() == a.sizes(), Internal, "a scan got an output of another shape");
    let name = if which == Extremum::Max { "cummax_cpu" } else { "cummin_cpu" };
    dispatch!(a.dtype(), name, integer half float bool, T => match which {
        Extremum::Max => running::<T, true>(values, indices, a, dim),
        Extremum::Min => running::<T, false>(values, indices, a, dim),
    })
}

fn running<T: Number<Wide: Ordered>, const MAX: bool>(
    values: &Array,
    indices: &Array,
    a: &Array,
    dim: usize,
) -> Result<()> {
    let len = a.size(dim);
    let arrays = [values, indices, a];
    let [out, places, rows] = arrays.map(|array| array.without(dim));
    let walk = Plan::<3>::row_major(&rows.0, [&out.1, &places.1, &rows.1]);
    if len == 0 || walk.numel() == 0 {
        return Ok(());
    }
    let steps = arrays.map(|array| array.stride(dim));
    let (neighbours, row_steps) = walk.inner();
    let (to, at) = (Shared::new(values.as_ptr::<T>()), Shared::new(indices.as_ptr::<i64>()));
    let from = Shared::new(a.as_ptr::<T>());
    parallel_chunks(walk.numel(), (GRAIN / len).max(1), &|chunk| {
        each_run(&walk, neighbours, chunk, |_, offsets, part| {
            for row in part.map(|row| row as isize) {
                let place = |array: usize, i: isize| offsets[array] + row * row_steps[array] + i * steps[array];
                // SAFETY: the walk and the loop stay within the arrays, which `Array::new` vouches for.
                unsafe {
                    let mut best = (from.get().offset(place(2, 0)).read().widen(), 0);
                    for i in 0..len as isize {
                        let x = from.get().offset(place(2, i)).read().widen();
                        let wins = if MAX { x >= best.0 } else { x <= best.0 };
                        if x.is_nan() || (wins && !best.0.is_nan()) {
                            best = (x, i as i64);
                        }
                        to.get().offset(place(0, i)).write(T::narrow(best.0));
                        at.get().offset(place(1, i)).write(best.1);
                    }
                }
            }
        });
    })
}
