//! Sorting along a dimension, and the order of whole slices.

use crate::array::Array;
use crate::device;
use crate::number::{Number, Ordered};
use crate::order::{self, Entry, LONG, Ranked, is_narrow};
use crate::rows::{each_row, each_row_with_buffer};
use crate::select;
use crate::shared::Shared;
use rushlight_base::list::with_capacity;
use rushlight_base::plan::Plan;
use rushlight_base::{Result, ensure};
use std::cmp::Ordering;

/// Elements worth another thread.
const GRAIN: usize = 4096;

/// The elements of `a` along `dim` in ascending (descending) order, and the int64 indices that they had; equal ones stay in
/// their order. NaN counts as the largest.
pub fn sort(values: &Array, indices: &Array, a: &Array, dim: usize, descending: bool) -> Result<()> {
    let fits = values.sizes() == a.sizes() && indices.sizes() == a.sizes();
    ensure!(fits, Internal, "sort got outputs of another shape");
    if !a.is_on_host() {
        return device::sort(values, indices, a, dim, descending);
    }
    dispatch!(a.dtype(), "sort_stable", integer half float bool, T => {
        let all = [0, u64::MAX >> (64 - <T as Ranked>::BITS)];
        if is_narrow::<T>(a.size(dim)) {
            return sort_rows::<T, u64>(values, indices, a, dim, descending, all);
        }
        // Integers, indices above all, are rarely far apart.
        let ranks = ranks::<T>(a);
        if u32::try_from(ranks[1] - ranks[0]).is_ok() && u32::try_from(a.size(dim)).is_ok() {
            return sort_rows::<T, u64>(values, indices, a, dim, descending, ranks);
        }
        sort_rows::<T, u128>(values, indices, a, dim, descending, all)
    })
}

/// The least and the greatest key of the elements; keys are counted from there.
fn ranks<T: Ranked>(a: &Array) -> [u64; 2] {
    if a.numel() == 0 {
        return [0, 0];
    }
    let walk = Plan::<1>::new(a.sizes(), [a.strides()]);
    let (from, mut ranks) = (a.as_ptr::<T>(), [u64::MAX, 0]);
    each_row(&walk, 0..walk.numel(), |[place]| {
        // SAFETY: the traversal stays within the sizes of the array, whose elements `Array::new` guarantees.
        let rank = unsafe { from.offset(place).read() }.rank();
        ranks = [ranks[0].min(rank), ranks[1].max(rank)];
    });
    ranks
}

/// Sorts rows whose keys lie between the two of `ranks`.
fn sort_rows<T: Ranked, E: Entry>(
    values: &Array,
    indices: &Array,
    a: &Array,
    dim: usize,
    descending: bool,
    [lowest, highest]: [u64; 2],
) -> Result<()> {
    let len = a.size(dim);
    let ((sizes, from), (_, to), (_, at)) = (a.without(dim), values.without(dim), indices.without(dim));
    let walk = Plan::<3>::new(&sizes, [&to, &at, &from]);
    let (source, value_out, index_out) =
        (Shared::new(a.as_ptr::<T>()), Shared::new(values.as_ptr::<T>()), Shared::new(indices.as_ptr::<i64>()));
    let (step, value_step, index_step) = (a.stride(dim), values.stride(dim), indices.stride(dim));
    let row = |entries: &mut Vec<E>, [v, i, x]: [isize; 3]| -> Result<()> {
        // SAFETY: the traversal covers all dimensions but `dim`, and indices stay below the size of `dim`; `Array::new`
        // guarantees the elements.
        let read = |place: usize| unsafe { source.get().offset(x + place as isize * step).read() };
        let rank = |place| if descending { highest - read(place).rank() } else { read(place).rank() - lowest };
        entries.extend((0..len).map(|place| E::pack(rank(place), place)));
        order::sort(entries)?;
        for (nth, entry) in entries.iter().enumerate() {
            let (nth, place) = (nth as isize, entry.place());
            // SAFETY: `nth` is below the size of `dim`, which the outputs share; `Array::new` guarantees the elements.
            unsafe {
                value_out.get().offset(v + nth * value_step).write(read(place));
                index_out.get().offset(i + nth * index_step).write(place as i64);
            }
        }
        Ok(())
    };
    if len < LONG {
        // A short row is sorted in place: nothing can fail.
        return each_row_with_buffer(&walk, len, GRAIN, &|entries, at| drop(row(entries, at)));
    }
    let mut entries = with_capacity(len)?;
    let mut result = Ok(());
    walk.elements(&mut |at| {
        entries.clear();
        if result.is_ok() {
            result = row(&mut entries, at);
        }
    });
    result
}

/// out = the int64 indices that sort the slices of `a` along `dim` in lexicographic order; equal slices stay in their
/// order.
pub fn order_of_slices(out: &Array, a: &Array, dim: usize) -> Result<()> {
    let (count, step) = (a.size(dim), a.stride(dim));
    ensure!(out.ndim() == 1 && out.size(0) == count, Internal, "an order got an output of another shape");
    let (sizes, strides) = a.without(dim);
    let width = sizes.iter().product::<i64>() as usize;
    dispatch!(a.dtype(), "unique_dim", integer half float bool, T => {
        let (from, to) = (a.as_ptr::<T>(), out.as_ptr::<i64>());
        let mut offsets: Vec<isize> = with_capacity(width)?;
        Plan::<1>::row_major(&sizes, [&strides]).elements(&mut |[offset]| offsets.push(offset));
        let mut slices: Vec<usize> = with_capacity(count)?;
        slices.extend(0..count);
        // SAFETY: slices are below the size of `dim`, and offsets are those of the other dimensions; `Array::new`
        // guarantees the elements.
        let rank = |slice: usize, offset: isize| unsafe { from.offset(slice as isize * step + offset).read().rank() };
        sort_by(&mut slices, &|a, b| {
            let differing = offsets.iter().map(|&at| rank(a, at).cmp(&rank(b, at))).find(|order| order.is_ne());
            differing.unwrap_or(a.cmp(&b))
        });
        for (nth, slice) in slices.into_iter().enumerate() {
            // SAFETY: `out` has an element for each slice.
            unsafe { to.offset(nth as isize * out.stride(0)).write(slice as i64) };
        }
        Ok(())
    })
}

/// The only sort of indices: comparing the slices takes longer than the call. No two indices may be equal.
pub(crate) fn sort_by(numbers: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    numbers.sort_unstable_by(|&a, &b| compare(a, b));
}

/// The `k` largest (or smallest) elements of `a` along `dim` and their int64 indices, `k` being the size
/// of the outputs there; in descending (ascending) order if `sorted`. NaN counts as the largest. Equal
/// elements come in the order that the selection leaves them in; on a device, in that of their indices.
pub fn topk(values: &Array, indices: &Array, a: &Array, dim: usize, largest: bool, sorted: bool) -> Result<()> {
    if !a.is_on_host() {
        return device::topk(values, indices, a, dim, largest);
    }
    dispatch!(a.dtype(), "topk_cpu", integer half float, T => topk_rows::<T>(values, indices, a, dim, largest, sorted))
}

/// A `k` this many times smaller than the row is selected with a heap.
const FEW: usize = 64;

/// Order by value with NaN above all.
fn order<W: Ordered>(a: W, b: W) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (a, b) => a.cmp(&b),
    }
}

fn topk_rows<T: Number<Wide: Ordered>>(
    values: &Array,
    indices: &Array,
    a: &Array,
    dim: usize,
    largest: bool,
    sorted: bool,
) -> Result<()> {
    let (len, k) = (a.size(dim), values.size(dim));
    let ((sizes, from), (_, to), (_, at)) = (a.without(dim), values.without(dim), indices.without(dim));
    ensure!(k <= len && indices.sizes() == values.sizes(), Internal, "topk got outputs of another shape");
    ensure!(values.without(dim).0 == sizes, Internal, "topk got outputs of another shape");
    let walk = Plan::<3>::new(&sizes, [&from, &to, &at]);
    let (source, value_out, index_out) =
        (Shared::new(a.as_ptr::<T>()), Shared::new(values.as_ptr::<T>()), Shared::new(indices.as_ptr::<i64>()));
    let (step, value_step, index_step) = (a.stride(dim), values.stride(dim), indices.stride(dim));
    let precedes = |x: &(T::Wide, i64), y: &(T::Wide, i64)| match order(x.0, y.0) {
        Ordering::Less => !largest,
        Ordering::Equal => false,
        Ordering::Greater => largest,
    };
    each_row_with_buffer(&walk, len, GRAIN, &|row: &mut Vec<(T::Wide, i64)>, [x, v, i]| {
        // SAFETY: the traversal covers all dimensions but `dim`, and the loop stays within its size; `Array::new`
        // guarantees the elements.
        let read = |at: usize| unsafe { source.get().offset(x + at as isize * step).read() };
        row.extend((0..len).map(|at| (read(at).wide(), at as i64)));
        if k > 0 && k.saturating_mul(FEW) <= len {
            select::partial_sort(row, k, &precedes);
        } else if k > 0 {
            select::nth_element(row, k - 1, &precedes);
            if sorted {
                select::sort(&mut row[..k - 1], &precedes);
            }
        }
        for (nth, entry) in row[..k].iter().enumerate() {
            // SAFETY: `nth` is below the outputs' size along `dim`; `Array::new` guarantees the elements.
            unsafe {
                value_out.get().offset(v + nth as isize * value_step).write(T::narrow(entry.0));
                index_out.get().offset(i + nth as isize * index_step).write(entry.1);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    #[test]
    fn nan_is_the_largest() {
        let mut a = [2.0f32, f32::NAN, 7.0, 2.0, 7.0];
        let (mut values, mut indices) = ([0.0f32; 4], [0i64; 4]);
        // SAFETY: the vectors hold as many elements as the sizes require and outlive the arrays.
        let (a, v, i) = unsafe {
            (
                Array::new(a.as_mut_ptr().cast(), DType::F32, &[5], &[1]),
                Array::new(values.as_mut_ptr().cast(), DType::F32, &[4], &[1]),
                Array::new(indices.as_mut_ptr().cast(), DType::I64, &[4], &[1]),
            )
        };
        topk(&v, &i, &a, 0, true, true).unwrap();
        assert!(values[0].is_nan() && indices[0] == 1);
        assert_eq!(&values[1..], [7.0, 7.0, 2.0]);
    }

    #[test]
    fn equal_elements_stay_in_their_order() {
        let mut a = [2.0f32, f32::NAN, -0.0, 2.0, 0.0];
        for (descending, expected) in [(false, [2, 4, 0, 3, 1]), (true, [1, 0, 3, 2, 4])] {
            let (mut values, mut indices) = ([0.0f32; 5], [0i64; 5]);
            // SAFETY: the vectors hold as many elements as the sizes require and outlive the arrays.
            let (a, v, i) = unsafe {
                (
                    Array::new(a.as_mut_ptr().cast(), DType::F32, &[5], &[1]),
                    Array::new(values.as_mut_ptr().cast(), DType::F32, &[5], &[1]),
                    Array::new(indices.as_mut_ptr().cast(), DType::I64, &[5], &[1]),
                )
            };
            sort(&v, &i, &a, 0, descending).unwrap();
            assert_eq!(indices, expected);
        }
    }

    #[test]
    fn integers_near_and_far_apart_are_sorted_alike() {
        for step in [1i64, 1 << 20, i64::MAX / 4] {
            let mut a: Vec<i64> = (0..3000).map(|i| (i * 7919 % 7 - 3) * step).collect();
            let sizes = [a.len() as i64];
            for descending in [false, true] {
                let (mut values, mut indices) = (vec![0i64; a.len()], vec![0i64; a.len()]);
                // SAFETY: the vectors hold as many elements as the sizes require and outlive the arrays.
                let [from, v, i] = [&mut a, &mut values, &mut indices]
                    .map(|list| unsafe { Array::new(list.as_mut_ptr().cast(), DType::I64, &sizes, &[1]) });
                sort(&v, &i, &from, 0, descending).unwrap();
                let mut expected: Vec<usize> = (0..a.len()).collect();
                expected.sort_by(|&x, &y| if descending { a[y].cmp(&a[x]) } else { a[x].cmp(&a[y]) });
                assert!(indices.iter().zip(&expected).all(|(&index, &place)| index as usize == place), "{step}");
                assert!(values.iter().zip(&expected).all(|(&value, &place)| value == a[place]), "{step}");
            }
        }
    }

    #[test]
    fn slices_are_ordered_by_their_first_difference() {
        let mut a = [2i32, 1, 1, 5, 2, 1, 1, 4];
        let mut order = [0i64; 4];
        // SAFETY: the vectors hold as many elements as the sizes require and outlive the arrays.
        let (a, out) = unsafe {
            (
                Array::new(a.as_mut_ptr().cast(), DType::I32, &[4, 2], &[2, 1]),
                Array::new(order.as_mut_ptr().cast(), DType::I64, &[4], &[1]),
            )
        };
        order_of_slices(&out, &a, 0).unwrap();
        assert_eq!(order, [3, 1, 0, 2]);
    }
}
