//! Medians, modes, running extrema with their indices: results of comparing the elements of a row.

use crate::array::Array;
use crate::device;
use crate::extrema::Extremum;
use crate::number::{Number, Ordered, Wide};
use crate::rows::{each_row, each_row_with_buffer, each_run};
use crate::select;
use crate::shared::Shared;
use rushlight_base::list::with_capacity;
use rushlight_base::plan::Plan;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{DType, Result, ensure};
use std::cmp::Ordering;

/// Elements worth another thread.
const GRAIN: usize = 16384;

/// An element and its index in its row.
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

/// [`middle`] without an index: the order of equal elements has no effect.
fn middle_value<W: Ordered>(values: &mut Vec<W>, ignore_nan: bool) -> W {
    let nan = values.iter().find(|value| value.is_nan()).copied();
    if let Some(nan) = nan {
        values.retain(|value| !value.is_nan());
        if !ignore_nan || values.is_empty() {
            return nan;
        }
    }
    let nth = (values.len() - 1) / 2;
    *values.select_nth_unstable_by(nth, |a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal)).1
}

/// out = the median of all elements of `a`, of which there are some
pub fn median(out: &Array, a: &Array, ignore_nan: bool) -> Result<()> {
    ensure!(a.numel() > 0 && out.numel() == 1, Internal, "the median kernel received an empty tensor");
    if !a.is_on_host() {
        return device::median(out, a, ignore_nan);
    }
    dispatch!(a.dtype(), "median_cpu", integer half float, T => {
        let (to, from) = (out.as_ptr::<T>(), a.as_ptr::<T>());
        let mut values = with_capacity::<<T as Number>::Wide>(a.numel())?;
        let walk = Plan::<1>::row_major(a.sizes(), [a.strides()]);
        each_row(&walk, 0..walk.numel(), |[place]| {
            // SAFETY: the plan stays within the sizes of the array, whose elements `Array::new` guarantees.
            values.push(unsafe { from.offset(place).read() }.wide());
        });
        // SAFETY: the output has one element.
        unsafe { to.write(T::narrow(middle_value(&mut values, ignore_nan))) };
        Ok(())
    })
}

/// The median of each row of `a` along `dim`, and its index; both outputs have size 1 there.
pub fn median_dim(values: &Array, indices: &Array, a: &Array, dim: usize, ignore_nan: bool) -> Result<()> {
    if !a.is_on_host() {
        return device::one_of_each_row("median", values, indices, a, dim, u32::from(ignore_nan));
    }
    dispatch!(a.dtype(), "median_cpu", integer half float, T => {
        one_of_each_row::<T>(values, indices, a, dim, &|row| middle(row, ignore_nan))
    })
}

/// The `k`th smallest element, counted from 1, of each row of `a` along `dim`, and its index; both outputs have size 1
/// there. NaN is the largest.
pub fn kth_value(values: &Array, indices: &Array, a: &Array, dim: usize, k: usize) -> Result<()> {
    ensure!(1 <= k && k <= a.size(dim), Internal, "element {k} of {} reached its kernel", a.size(dim));
    if !a.is_on_host() {
        return device::kth_value(values, indices, a, dim, k);
    }
    dispatch!(a.dtype(), "kthvalue_cpu", integer half float, T => {
        one_of_each_row::<T>(values, indices, a, dim, &|row| {
            select::quick_select(row, k - 1, &|a, b| (a.0.is_nan() && !b.0.is_nan()) || a.0 > b.0);
            row[k - 1]
        })
    })
}

/// The most frequent element in each row of `a` along `dim`, the smallest of them, and one of its indices; both outputs
/// have size 1 there. No NaN equals another.
pub fn mode(values: &Array, indices: &Array, a: &Array, dim: usize) -> Result<()> {
    if !a.is_on_host() {
        return device::one_of_each_row("mode", values, indices, a, dim, 0);
    }
    dispatch!(a.dtype(), "mode_cpu", integer half float bool, T => {
        one_of_each_row::<T>(values, indices, a, dim, &|row| most_frequent(row))
    })
}

fn most_frequent<W: Ordered>(row: &mut [Entry<W>]) -> Entry<W> {
    select::sort(row, &|a, b| (b.0.is_nan() && !a.0.is_nan()) || a.0 < b.0);
    let (mut best, mut most, mut start) = (row[0], 0, 0);
    for nth in 0..row.len() {
        if nth + 1 == row.len() || row[nth].0 != row[nth + 1].0 {
            if nth + 1 - start > most {
                (best, most) = (row[nth], nth + 1 - start);
            }
            start = nth + 1;
        }
    }
    best
}

/// Takes one entry from a row, which it may put in another order.
type Find<'a, W> = &'a (dyn Fn(&mut [Entry<W>]) -> Entry<W> + Sync);

/// The result of `find` for each row of `a` along `dim`, and its index; both outputs have size 1 there.
fn one_of_each_row<T: Number<Wide: Ordered>>(
    values: &Array,
    indices: &Array,
    a: &Array,
    dim: usize,
    find: Find<'_, T::Wide>,
) -> Result<()> {
    let (len, step) = (a.size(dim), a.stride(dim));
    ensure!(len > 0 || a.numel() == 0 && values.numel() == 0, Internal, "the median kernel received an empty row");
    let [out, places, rows] = [values, indices, a].map(|array| array.without(dim));
    let walk = Plan::<3>::row_major(&rows.0, [&out.1, &places.1, &rows.1]);
    let (to, at, from) =
        (Shared::new(values.as_ptr::<T>()), Shared::new(indices.as_ptr::<i64>()), Shared::new(a.as_ptr::<T>()));
    each_row_with_buffer(&walk, len, GRAIN, &|row, [o, p, x]| {
        // SAFETY: the traversal and the loop stay within the sizes of the arrays, whose elements `Array::new`
        // guarantees.
        unsafe {
            row.extend((0..len as isize).map(|i| (from.get().offset(x + i * step).read().wide(), i as i64)));
            let (value, place) = find(row);
            to.get().offset(o).write(T::narrow(value));
            at.get().offset(p).write(place);
        }
    })
}

/// The extremum of the elements up to each along `dim`, and its index: the last of equals, and the last NaN once there
/// is one.
pub fn running_extremum(values: &Array, indices: &Array, a: &Array, dim: usize, which: Extremum) -> Result<()> {
    ensure!(
        values.sizes() == a.sizes() && values.dtype() == a.dtype(),
        Internal,
        "a scan got an output of another kind"
    );
    ensure!(indices.dtype() == DType::I64, Internal, "a scan got indices of another dtype");
    ensure!(indices.sizes() == a.sizes(), Internal, "a scan got an output of another shape");
    if !a.is_on_host() {
        let function = if which == Extremum::Max { "cummax" } else { "cummin" };
        return device::running_extremum(function, values, indices, a, dim);
    }
    let name = if which == Extremum::Max { "cummax_cpu" } else { "cummin_cpu" };
    let scan_row = dispatch!(a.dtype(), name, integer half float bool, T => Ok(match which {
        Extremum::Max => running::<T, true> as Running,
        Extremum::Min => running::<T, false> as Running,
    }))?;
    let (len, size) = (a.size(dim), a.dtype().size() as isize);
    let arrays = [values, indices, a];
    let [out, places, rows] = arrays.map(|array| array.without(dim));
    let walk = Plan::<3>::row_major(&rows.0, [&out.1, &places.1, &rows.1]);
    if len == 0 || walk.numel() == 0 {
        return Ok(());
    }
    let steps = arrays.map(|array| array.stride(dim));
    let (neighbours, row_steps) = walk.inner();
    let [to, at, from] = arrays.map(|array| Shared::new(array.start()));
    parallel_chunks(walk.numel(), (GRAIN / len).max(1), &|chunk| {
        each_run(&walk, neighbours, chunk, |_, [o, p, x], part| {
            for row in part.map(|row| row as isize) {
                let to = to.get().wrapping_offset((o + row * row_steps[0]) * size);
                let at = at.get().cast::<i64>().wrapping_offset(p + row * row_steps[1]);
                let from = from.get().wrapping_offset((x + row * row_steps[2]) * size);
                // SAFETY: the traversal stays within the sizes of the arrays, whose elements `Array::new` guarantees;
                // the values have the input's dtype.
                unsafe { scan_row(to, at, from, steps, len) };
            }
        });
    })
}

/// Scans a row of `len` elements, `steps` apart: values, indices, input.
type Running = unsafe fn(*mut u8, *mut i64, *const u8, [isize; 3], usize);

/// # Safety
/// The elements are there, of type `T`.
unsafe fn running<T: Number<Wide: Ordered>, const MAX: bool>(
    to: *mut u8,
    at: *mut i64,
    from: *const u8,
    steps: [isize; 3],
    len: usize,
) {
    let (to, from) = (to.cast::<T>(), from.cast::<T>());
    // SAFETY: the caller guarantees `len` elements of type `T` at the given steps of all three arrays.
    unsafe {
        let mut best = (from.read().wide(), 0);
        for i in 0..len as isize {
            let x = from.offset(i * steps[2]).read().wide();
            let wins = if MAX { x >= best.0 } else { x <= best.0 };
            if x.is_nan() || (wins && !best.0.is_nan()) {
                best = (x, i as i64);
            }
            to.offset(i * steps[0]).write(T::narrow(best.0));
            at.offset(i * steps[1]).write(best.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values and indices along the only dimension.
    fn found(
        values: &[f32],
        kernel: impl Fn(&Array, &Array, &Array) -> Result<()>,
        len: usize,
    ) -> (Vec<f32>, Vec<i64>) {
        let (mut out, mut places) = (vec![0f32; len], vec![0i64; len]);
        let (all, size) = ([values.len() as i64], [len as i64]);
        // SAFETY: the vectors hold as many elements as the sizes require and outlive the arrays.
        unsafe {
            let a = Array::new(values.as_ptr().cast_mut().cast(), DType::F32, &all, &[1]);
            let o = Array::new(out.as_mut_ptr().cast(), DType::F32, &size, &[1]);
            let p = Array::new(places.as_mut_ptr().cast(), DType::I64, &size, &[1]);
            kernel(&o, &p, &a).unwrap();
        }
        (out, places)
    }

    #[test]
    fn a_median_is_the_lower_middle_and_nan_decides_unless_ignored() {
        let median = |values: &[f32], ignore: bool| found(values, |o, p, a| median_dim(o, p, a, 0, ignore), 1);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0], false), (vec![2.0], vec![3]));
        assert_eq!(median(&[4.0, f32::NAN, 3.0, f32::NAN, 9.0], true), (vec![4.0], vec![0]));
        let (value, place) = median(&[4.0, f32::NAN, 3.0, f32::NAN], false);
        assert!(value[0].is_nan() && place == [1]);
        assert!(median(&[f32::NAN, f32::NAN], true).0[0].is_nan());
    }

    #[test]
    fn a_mode_is_the_least_of_the_most_frequent() {
        let mode = |values: &[f32]| found(values, |o, p, a| mode(o, p, a, 0), 1);
        assert_eq!(mode(&[4.0, 1.0, 4.0, 2.0, 1.0]), (vec![1.0], vec![4]));
        assert_eq!(mode(&[f32::NAN, f32::NAN, 3.0]), (vec![3.0], vec![2]));
        assert_eq!(found(&[4.0, 1.0, f32::NAN, 2.0], |o, p, a| kth_value(o, p, a, 0, 3), 1), (vec![4.0], vec![0]));
    }

    #[test]
    fn running_extrema_keep_the_last_of_equals_and_nan() {
        let values = [1.0, 3.0, 2.0, 3.0, f32::NAN, 9.0];
        let (maxima, places) = found(&values, |o, p, a| running_extremum(o, p, a, 0, Extremum::Max), 6);
        assert_eq!((&maxima[..4], &places[..]), (&[1.0, 3.0, 3.0, 3.0][..], &[0, 1, 1, 3, 4, 4][..]));
        assert!(maxima[4].is_nan() && maxima[5].is_nan());
        let (minima, places) = found(&values[..4], |o, p, a| running_extremum(o, p, a, 0, Extremum::Min), 4);
        assert_eq!((minima, places), (vec![1.0; 4], vec![0; 4]));
    }
}
