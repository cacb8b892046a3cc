//! Largest and smallest elements, with or without their place.
//!
//! NaN counts as larger than everything and smaller than everything; of equal elements the first wins.

use crate::array::Array;
use crate::number::{Number, Ordered};
use crate::reduce::Reduction;
use rushlight_base::{Result, ensure};

/// Which end of the order is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremum {
    /// The largest element.
    Max,
    /// The smallest element.
    Min,
}

#[inline(always)]
fn beats<W: Ordered>(candidate: W, best: W, which: Extremum) -> bool {
    if best.is_nan() {
        return false;
    }
    candidate.is_nan()
        || match which {
            Extremum::Max => candidate > best,
            Extremum::Min => candidate < best,
        }
}

/// The extremum of each reduced group of `a` into `values`, its row-major index within the group into
/// `indices` (int64); either output may be absent. Empty groups are the shape rule's to refuse.
pub fn extremum(values: Option<&Array>, indices: Option<&Array>, a: &Array, which: Extremum) -> Result<()> {
    let name = match (which, indices.is_some()) {
        (Extremum::Max, true) => "max_cpu",
        (Extremum::Max, false) => "max_all",
        (Extremum::Min, true) => "min_cpu",
        (Extremum::Min, false) => "min_all",
    };
    dispatch!(a.dtype(), name, integer half float bool, T => search::<T>(values, indices, a, which))
}

fn search<T: Number<Wide: Ordered>>(
    values: Option<&Array>,
    indices: Option<&Array>,
    a: &Array,
    which: Extremum,
) -> Result<()> {
    // Each output has strides of its own, so each gets a walk; the second recomputes nothing but the search.
    if let Some(values) = values {
        let to = values.as_ptr::<T>();
        each::<T>(values, a, which, |at, value, _| {
            // SAFETY: `at` comes from the plan over `values`.
            unsafe { to.offset(at).write(value) }
        })?;
    }
    if let Some(indices) = indices {
        let to = indices.as_ptr::<i64>();
        each::<T>(indices, a, which, |at, _, index| {
            // SAFETY: `at` comes from the plan over `indices`.
            unsafe { to.offset(at).write(index) }
        })?;
    }
    Ok(())
}

fn each<T: Number<Wide: Ordered>>(
    out: &Array,
    a: &Array,
    which: Extremum,
    mut write: impl FnMut(isize, T, i64),
) -> Result<()> {
    let reduction = Reduction::new(out, a, true)?;
    ensure!(reduction.count() > 0 || out.numel() == 0, Internal, "an extremum of nothing reached its kernel");
    let from = a.as_ptr::<T>();
    let (len, [step]) = (reduction.reduced.row_len() as isize, reduction.reduced.row_steps());
    reduction.kept.elements(&mut |[o, x]| {
        // SAFETY: both plans together visit only indices within the array, which `Array::new` vouches for.
        let element = |y: isize| unsafe { from.offset(x + y).read() };
        let (mut best, mut index, mut row) = (element(0), 0, 0);
        let mut wide = best.widen();
        reduction.reduced.rows(&mut |[y]| {
            for i in 0..len {
                let candidate = element(y + i * step);
                if beats(candidate.widen(), wide, which) {
                    (best, wide, index) = (candidate, candidate.widen(), row + i);
                }
            }
            row += len;
        });
        write(o, best, index as i64);
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    fn argmax(mut values: Vec<f32>) -> i64 {
        let mut out = [0i64];
        let sizes = [values.len() as i64];
        // SAFETY: the pointers hold as many elements as the sizes say.
        let (a, o) = unsafe {
            (
                Array::new(values.as_mut_ptr().cast(), DType::F32, &sizes, &[1]),
                Array::new(out.as_mut_ptr().cast(), DType::I64, &[1], &[1]),
            )
        };
        extremum(None, Some(&o), &a, Extremum::Max).unwrap();
        out[0]
    }

    #[test]
    fn the_first_of_equals_and_the_first_nan_win() {
        assert_eq!(argmax(vec![1.0, 3.0, 3.0]), 1);
        assert_eq!(argmax(vec![1.0, f32::NAN, 9.0, f32::NAN]), 1);
        assert_eq!(argmax(vec![f32::NEG_INFINITY; 3]), 0);
    }
}
