//! How a reduction walks its input: device-neutral, built from sizes and strides only.
//!
//! [`Reduction`] splits the dimensions into kept and reduced ones, drops those of size 1, orders each half by the
//! input's strides and merges what is one step apart. Unlike a [`crate::plan::Plan`], whose rows come one after
//! another, a [`Walk`] can start at any of its places, so that shares of the work can be handed out. The loops live
//! in `rushlight-cpu`.

use crate::DimVec;
use std::ops::Range;

/// Nested loops over the places of a few dimensions, with the offset of each of `N` operands.
#[derive(Clone, Debug)]
pub struct Walk<const N: usize> {
    /// Sizes, innermost first.
    sizes: DimVec,
    /// Per dimension (same order), the step of each operand in elements.
    steps: smallvec::SmallVec<[[isize; N]; 6]>,
}

impl<const N: usize> Walk<N> {
    fn new() -> Walk<N> {
        Walk { sizes: DimVec::new(), steps: smallvec::SmallVec::new() }
    }

    /// The walk over `sizes`, row-major, with the strides of `N` operands.
    pub fn over(sizes: &[i64], strides: [&[i64]; N]) -> Walk<N> {
        let mut walk = Walk::new();
        for dim in (0..sizes.len()).rev() {
            walk.push(sizes[dim], std::array::from_fn(|operand| strides[operand][dim] as isize));
        }
        walk.coalesce();
        walk
    }

    /// Adds a dimension outside of the others.
    fn push(&mut self, size: i64, steps: [isize; N]) {
        if size != 1 {
            self.sizes.push(size);
            self.steps.push(steps);
        }
    }

    /// Smallest step of operand `by` inside; stable.
    fn sort(&mut self, by: usize) {
        for dim in 1..self.sizes.len() {
            let mut at = dim;
            while at > 0 && self.steps[at - 1][by].abs() > self.steps[at][by].abs() {
                self.sizes.swap(at - 1, at);
                self.steps.swap(at - 1, at);
                at -= 1;
            }
        }
    }

    fn coalesce(&mut self) {
        let mut kept = 0;
        for dim in 1..self.sizes.len() {
            let size = self.sizes[kept] as isize;
            let (inner, outer) = (self.steps[kept], self.steps[dim]);
            if (0..N).all(|operand| outer[operand] == inner[operand].wrapping_mul(size)) {
                self.sizes[kept] *= self.sizes[dim];
            } else {
                kept += 1;
                self.sizes[kept] = self.sizes[dim];
                self.steps[kept] = outer;
            }
        }
        self.sizes.truncate(kept + 1);
        self.steps.truncate(kept + 1);
    }

    /// Number of places.
    #[inline]
    pub fn numel(&self) -> usize {
        self.sizes.iter().product::<i64>() as usize
    }

    /// Size and steps of the innermost dimension; one place, if there is none.
    #[inline]
    pub fn inner(&self) -> (usize, [isize; N]) {
        match self.sizes.first() {
            Some(&size) => (size as usize, self.steps[0]),
            None => (1, [1; N]),
        }
    }

    /// Number of places of all dimensions but the innermost.
    #[inline]
    pub fn outer(&self) -> usize {
        self.sizes.iter().skip(1).product::<i64>() as usize
    }

    /// Calls `visit` with the offsets of the first place of the rows in `range` (of `0..self.outer()`), in order.
    #[inline(always)]
    pub fn rows(&self, range: Range<usize>, mut visit: impl FnMut([isize; N])) {
        if range.is_empty() {
            return;
        }
        let rank = self.sizes.len();
        if rank <= 2 {
            // Up to one dimension around the rows: no counters.
            let steps = self.steps.get(1).copied().unwrap_or([0; N]);
            let mut offsets = steps.map(|step| step * range.start as isize);
            for _ in range {
                visit(offsets);
                for (offset, step) in offsets.iter_mut().zip(steps) {
                    *offset += step;
                }
            }
            return;
        }
        let mut counter = DimVec::from_elem(0, rank);
        let (mut offsets, mut rest) = ([0isize; N], range.start as i64);
        for (dim, counter) in counter.iter_mut().enumerate().skip(1) {
            *counter = rest % self.sizes[dim];
            rest /= self.sizes[dim];
            for (offset, step) in offsets.iter_mut().zip(self.steps[dim]) {
                *offset += step * *counter as isize;
            }
        }
        for _ in range {
            visit(offsets);
            for dim in 1..rank {
                counter[dim] += 1;
                for (offset, step) in offsets.iter_mut().zip(self.steps[dim]) {
                    *offset += step;
                }
                if counter[dim] < self.sizes[dim] {
                    break;
                }
                for (offset, step) in offsets.iter_mut().zip(self.steps[dim]) {
                    *offset -= step * self.sizes[dim] as isize;
                }
                counter[dim] = 0;
            }
        }
    }
}

/// The two halves of a reduction.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// The kept dimensions, ordered by the input's steps: output and input.
    pub kept: Walk<2>,
    /// The reduced dimensions: input.
    pub reduced: Walk<1>,
}

/// In which order the reduced dimensions are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they lie in memory.
    Memory,
    /// Row-major: for reductions that count places.
    RowMajor,
}

impl Reduction {
    /// The reduction of an input with these sizes and strides into an output of the same rank, whose size is 1 where
    /// it is reduced, or of no dimensions, which reduces all. `None` if the shapes do not fit.
    pub fn new(
        out_sizes: &[i64],
        out_strides: &[i64],
        sizes: &[i64],
        strides: &[i64],
        order: Order,
    ) -> Option<Reduction> {
        let full = out_sizes.is_empty();
        if !full && out_sizes.len() != sizes.len() {
            return None;
        }
        let mut reduction = Reduction { kept: Walk::new(), reduced: Walk::new() };
        for dim in (0..sizes.len()).rev() {
            let (size, step) = (sizes[dim], strides[dim] as isize);
            if !full && out_sizes[dim] == size {
                reduction.kept.push(size, [out_strides[dim] as isize, step]);
            } else if full || out_sizes[dim] == 1 {
                reduction.reduced.push(size, [step]);
            } else {
                return None;
            }
        }
        reduction.kept.sort(1);
        reduction.kept.coalesce();
        if order == Order::Memory {
            reduction.reduced.sort(0);
        }
        reduction.reduced.coalesce();
        Some(reduction)
    }

    /// Number of elements per output.
    #[inline]
    pub fn count(&self) -> usize {
        self.reduced.numel()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places<const N: usize>(walk: &Walk<N>, range: Range<usize>) -> Vec<[isize; N]> {
        let mut all = Vec::new();
        walk.rows(range, |offsets| all.push(offsets));
        all
    }

    #[test]
    fn dimensions_are_split_ordered_and_merged() {
        // (2, 3, 4, 5) over the middle two: 12 elements in one row, 5 apart.
        let plan = Reduction::new(&[2, 1, 1, 5], &[5, 5, 5, 1], &[2, 3, 4, 5], &[60, 20, 5, 1], Order::Memory).unwrap();
        assert_eq!((plan.reduced.inner(), plan.reduced.outer()), ((12, [5]), 1));
        assert_eq!((plan.kept.inner(), plan.kept.outer()), ((5, [1, 1]), 2));
        assert_eq!(places(&plan.kept, 0..2), [[0, 0], [5, 60]]);
        // Any gap-free layout reduces to one row, unless places are counted.
        let all = |order| Reduction::new(&[], &[], &[3, 4], &[1, 3], order).unwrap().reduced;
        assert_eq!(all(Order::Memory).inner(), (12, [1]));
        assert_eq!(all(Order::RowMajor).inner(), (4, [3]));
        assert!(Reduction::new(&[2, 2], &[2, 1], &[2, 3], &[3, 1], Order::Memory).is_none());
    }

    #[test]
    fn a_walk_starts_anywhere() {
        let sizes = [2, 3, 1, 4, 5];
        let plan = Reduction::new(&sizes, &[100, 30, 9, 7, 1], &sizes, &[60, 20, 20, 5, 1], Order::Memory).unwrap();
        let all = places(&plan.kept, 0..plan.kept.outer());
        assert_eq!(all.len(), 24);
        for start in 0..24 {
            assert_eq!(places(&plan.kept, start..24), all[start..]);
        }
        let walk = Walk::over(&[2, 1, 3, 4], [&[100, 9, 4, 1], &[50, 7, 8, 1]]);
        assert_eq!((walk.inner(), walk.outer()), ((4, [1, 1]), 6));
        assert_eq!(places(&walk, 2..5), [[8, 16], [100, 50], [104, 58]]);
    }

    #[test]
    fn nothing_and_single_elements() {
        let plan = Reduction::new(&[1, 4], &[4, 1], &[0, 4], &[4, 1], Order::Memory).unwrap();
        assert_eq!((plan.count(), plan.kept.numel()), (0, 4));
        let plan = Reduction::new(&[], &[], &[], &[], Order::Memory).unwrap();
        assert_eq!((plan.count(), plan.kept.numel(), plan.reduced.inner().0), (1, 1, 1));
        assert_eq!(places(&plan.kept, 0..1), [[0, 0]]);
    }
}
