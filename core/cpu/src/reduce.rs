//! Sums, means, products and other folds over any set of dimensions.
//!
//! A reduction is told by its output: it has the rank of the input, and size 1 where the input is
//! reduced. Floating sums are pairwise over leaves of [`LEAF`] elements, so their error grows with the
//! logarithm of the length; halves accumulate in `f32` and round once.

use crate::array::Array;
use crate::convert::Source;
use crate::number::{Analytic, Number, Wide};
use rushlight_base::plan::Plan;
use rushlight_base::{DType, DimVec, Element, Result, ensure};

/// Elements added one after another before pairwise summation takes over.
const LEAF: usize = 64;

/// The two halves of a reduction: the kept dimensions (output, input) and the reduced ones (input).
pub(crate) struct Reduction {
    pub(crate) kept: Plan<2>,
    pub(crate) reduced: Plan<1>,
}

impl Reduction {
    /// The reduction of `a` into `out`. The reduced dimensions are visited in row-major order if `ordered`.
    pub(crate) fn new(out: &Array, a: &Array, ordered: bool) -> Result<Reduction> {
        ensure!(out.ndim() == a.ndim(), Internal, "a reduction got an output of rank {} for {}", out.ndim(), a.ndim());
        let mut kept: [DimVec; 3] = std::array::from_fn(|_| DimVec::new());
        let mut reduced: [DimVec; 2] = std::array::from_fn(|_| DimVec::new());
        for dim in 0..a.ndim() {
            let (size, stride) = (a.sizes()[dim], a.strides()[dim]);
            if out.sizes()[dim] == size {
                kept[0].push(size);
                kept[1].push(out.strides()[dim]);
                kept[2].push(stride);
            } else {
                ensure!(out.sizes()[dim] == 1, Internal, "a reduction got an output of another shape");
                reduced[0].push(size);
                reduced[1].push(stride);
            }
        }
        let make = if ordered { Plan::row_major } else { Plan::new };
        Ok(Reduction { kept: Plan::new(&kept[0], [&kept[1], &kept[2]]), reduced: make(&reduced[0], [&reduced[1]]) })
    }

    /// Number of elements per output.
    pub(crate) fn count(&self) -> usize {
        self.reduced.numel()
    }
}

/// Partial sums by size, as a binary counter: merging equals adds numbers of like magnitude.
struct Pairwise<W> {
    levels: [W; 48],
    leaves: usize,
}

impl<W: Wide> Pairwise<W> {
    fn new() -> Pairwise<W> {
        Pairwise { levels: [W::ZERO; 48], leaves: 0 }
    }

    #[inline(always)]
    fn push(&mut self, mut leaf: W) {
        let mut level = 0;
        while self.leaves >> level & 1 == 1 {
            leaf = self.levels[level].add(leaf);
            level += 1;
        }
        self.levels[level] = leaf;
        self.leaves += 1;
    }

    fn total(&self) -> W {
        let mut total = W::ZERO;
        for level in 0..self.levels.len() {
            if self.leaves >> level & 1 == 1 {
                total = self.levels[level].add(total);
            }
        }
        total
    }
}

/// Sum of a reduction's elements from `at`, each widened by `widen`.
///
/// # Safety
/// The elements that `reduced` visits from `at` must be readable.
unsafe fn pairwise_sum<A: Element, W: Wide>(at: *const A, reduced: &Plan<1>, widen: impl Fn(A) -> W) -> W {
    let mut sum = Pairwise::new();
    let (len, [step]) = (reduced.row_len(), reduced.row_steps());
    // Short rows fill a leaf together.
    let (mut carry, mut carried) = (W::ZERO, 0);
    reduced.rows(&mut |[offset]| {
        let mut start = 0;
        while start < len {
            let end = len.min(start + LEAF);
            let mut lanes = [W::ZERO; 4];
            let mut i = start;
            // SAFETY: the caller vouches for every element of the plan.
            unsafe {
                let element = |i: usize| widen(at.offset(offset + i as isize * step).read());
                while i + 4 <= end {
                    for (lane, sum) in lanes.iter_mut().enumerate() {
                        *sum = sum.add(element(i + lane));
                    }
                    i += 4;
                }
                while i < end {
                    lanes[0] = lanes[0].add(element(i));
                    i += 1;
                }
            }
            let leaf = lanes[0].add(lanes[1]).add(lanes[2].add(lanes[3]));
            carry = carry.add(leaf);
            carried += end - start;
            if carried >= LEAF {
                sum.push(carry);
                (carry, carried) = (W::ZERO, 0);
            }
            start = end;
        }
    });
    sum.push(carry);
    sum.total()
}

fn sum_into<R: Number, A: Element>(
    out: &Array,
    a: &Array,
    widen: impl Fn(A) -> R::Wide + Copy,
    finish: impl Fn(R::Wide) -> R::Wide,
) -> Result<()> {
    let reduction = Reduction::new(out, a, false)?;
    let (to, from) = (out.as_ptr::<R>(), a.as_ptr::<A>().cast_const());
    reduction.kept.elements(&mut |[o, x]| {
        // SAFETY: both plans together visit only indices within the arrays, which `Array::new` vouches for.
        unsafe { to.offset(o).write(R::narrow(finish(pairwise_sum(from.offset(x), &reduction.reduced, widen)))) }
    });
    Ok(())
}

/// Sums `a` into `out`: of the same dtype, or int64 for a sum of integers or bools.
pub fn sum(out: &Array, a: &Array) -> Result<()> {
    if out.dtype() == DType::I64 && a.dtype() != DType::I64 {
        return dispatch!(a.dtype(), "sum_cpu", integer unsigned bool, A => {
            sum_into::<i64, A>(out, a, Source::to_i64, |total| total)
        });
    }
    dispatch!(out.dtype(), "sum_cpu", integer half float complex chalf bool, T => {
        sum_into::<T, T>(out, a, Number::widen, |total| total)
    })
}

/// Sums `a` into `out` and divides by the number of elements; halves are divided before they round.
pub fn mean(out: &Array, a: &Array) -> Result<()> {
    let count = Reduction::new(out, a, false)?.count() as f64;
    dispatch!(out.dtype(), "mean_cpu", half float complex chalf, T => {
        let count = <T as Number>::Wide::from_f64(count);
        sum_into::<T, T>(out, a, Number::widen, |total| total.div(count))
    })
}

/// Is any (`want` true) or each (`want` false: none false) element of the reduced dimensions set?
fn truth<A: Source>(out: &Array, a: &Array, want: bool) -> Result<()> {
    let reduction = Reduction::new(out, a, false)?;
    let from = a.as_ptr::<A>();
    let write = |o: isize, value: bool| {
        // SAFETY: the offset comes from the plan over the output; bool and uint8 are one byte each.
        unsafe { out.as_ptr_of_byte().offset(o).write(u8::from(value)) }
    };
    reduction.kept.elements(&mut |[o, x]| {
        let mut met = false;
        reduction.reduced.elements(&mut |[y]| {
            // SAFETY: both plans together visit only indices within the array, which `Array::new` vouches for.
            met |= unsafe { from.offset(x + y).read() }.truth() == want;
        });
        write(o, met == want);
    });
    Ok(())
}

/// out = does any element differ from zero? Into `bool`, or `uint8` for a `uint8` input.
pub fn any(out: &Array, a: &Array) -> Result<()> {
    dispatch!(a.dtype(), "any_cpu", integer unsigned half float complex chalf bool, A => truth::<A>(out, a, true))
}

/// out = do all elements differ from zero? Into `bool`, or `uint8` for a `uint8` input.
pub fn all(out: &Array, a: &Array) -> Result<()> {
    dispatch!(a.dtype(), "all_cpu", integer unsigned half float complex chalf bool, A => truth::<A>(out, a, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_float_sum_stays_exact_to_the_last_digits() {
        let mut ones = vec![0.1f32; 1 << 20];
        let mut out = [0.0f32];
        let sizes = [1 << 20];
        // SAFETY: `ones` holds 2^20 elements and `out` one.
        let (a, o) = unsafe {
            (
                Array::new(ones.as_mut_ptr().cast(), DType::F32, &sizes, &[1]),
                Array::new(out.as_mut_ptr().cast(), DType::F32, &[1], &[1]),
            )
        };
        sum(&o, &a).unwrap();
        assert!((f64::from(out[0]) - 0.1f32 as f64 * (1 << 20) as f64).abs() < 0.02, "{}", out[0]);
    }

    #[test]
    fn a_sum_over_the_middle_dimension() {
        let mut values: Vec<i32> = (0..24).collect();
        let mut out = [0i64; 8];
        // SAFETY: 2 * 3 * 4 inputs, 2 * 1 * 4 outputs.
        let (a, o) = unsafe {
            (
                Array::new(values.as_mut_ptr().cast(), DType::I32, &[2, 3, 4], &[12, 4, 1]),
                Array::new(out.as_mut_ptr().cast(), DType::I64, &[2, 1, 4], &[4, 4, 1]),
            )
        };
        sum(&o, &a).unwrap();
        assert_eq!(out, [12, 15, 18, 21, 48, 51, 54, 57]);
    }
}
