//! Top-k along a dimension.

use crate::array::Array;
use crate::number::{Number, Ordered};
use crate::room::room;
use crate::select;
use rushlight_base::plan::Plan;
use rushlight_base::{Result, ensure};
use std::cmp::Ordering;

/// The `k` largest (or smallest) elements of `a` along `dim` and their int64 indices, `k` being the size
/// of the outputs there; in descending (ascending) order if `sorted`. NaN counts as the largest. Equal
/// elements come in the order that the selection leaves them in.
pub fn topk(values: &Array, indices: &Array, a: &Array, dim: usize, largest: bool, sorted: bool) -> Result<()> {
    dispatch!(a.dtype(), "topk_cpu", integer half float, T => rows::<T>(values, indices, a, dim, largest, sorted))
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

fn rows<T: Number<Wide: Ordered>>(
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
    let plan = Plan::new(&sizes, [&from, &to, &at]);
    let (source, value_out, index_out) = (a.as_ptr::<T>(), values.as_ptr::<T>(), indices.as_ptr::<i64>());
    let (step, value_step, index_step) = (a.stride(dim), values.stride(dim), indices.stride(dim));
    let precedes = |x: &(T::Wide, i64), y: &(T::Wide, i64)| match order(x.0, y.0) {
        Ordering::Less => !largest,
        Ordering::Equal => false,
        Ordering::Greater => largest,
    };
    let mut row = room::<(T::Wide, i64)>(len)?;
    plan.elements(&mut |[x, v, i]| {
        row.clear();
        // SAFETY: the plan walks all dimensions but `dim`, and the loop stays within the size of `dim`.
        row.extend((0..len).map(|at| unsafe { (source.offset(x + at as isize * step).read().widen(), at as i64) }));
        if k > 0 && k.saturating_mul(FEW) <= len {
            select::partial_sort(&mut row, k, &precedes);
        } else if k > 0 {
            select::nth_element(&mut row, k - 1, &precedes);
            if sorted {
                select::sort(&mut row[..k - 1], &precedes);
            }
        }
        for (nth, entry) in row[..k].iter().enumerate() {
            // SAFETY: as above, `nth` is below the outputs' size along `dim`.
            unsafe {
                value_out.offset(v + nth as isize * value_step).write(T::narrow(entry.0));
                index_out.offset(i + nth as isize * index_step).write(entry.1);
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    #[test]
    fn nan_is_the_largest() {
        let mut a = [2.0f32, f32::NAN, 7.0, 2.0, 7.0];
        let (mut values, mut indices) = ([0.0f32; 4], [0i64; 4]);
        // SAFETY: the arrays hold as many elements as the sizes say.
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
}
