//! How a reduction traverses its input: device-neutral, computed from sizes and strides only.
//!
//! [`Reduction`] splits the dimensions into kept and reduced ones, each a [`Plan`] ordered by the input's strides. The
//! loops are in `rushlight-cpu`.

use crate::plan::Plan;

/// The two plans of a reduction.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// The kept dimensions, ordered by the input's steps: output and input.
    pub kept: Plan<2>,
    /// The reduced dimensions: input.
    pub reduced: Plan<1>,
}

/// The order in which the reduced dimensions are traversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Memory order.
    Memory,
    /// Row-major: for reductions that return indices.
    RowMajor,
}

impl Reduction {
    /// The reduction of an input with these sizes and strides into an output of the same rank, whose size is 1 where it
    /// is reduced, or into a scalar, which reduces all dimensions. `None` if the shapes do not match.
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
        let mut reduction = Reduction { kept: Plan::unfinished(), reduced: Plan::unfinished() };
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
        reduction.kept.sort_by_operand(1);
        reduction.kept.coalesce();
        if order == Order::Memory {
            reduction.reduced.sort_by_operand(0);
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
    use std::ops::Range;

    fn places<const N: usize>(plan: &Plan<N>, range: Range<usize>) -> Vec<[isize; N]> {
        let mut all = Vec::new();
        plan.rows_in(range, |offsets| all.push(offsets));
        all
    }

    #[test]
    fn dimensions_are_split_ordered_and_merged() {
        // (2, 3, 4, 5) over the middle two: 12 elements in one row, 5 apart.
        let plan = Reduction::new(&[2, 1, 1, 5], &[5, 5, 5, 1], &[2, 3, 4, 5], &[60, 20, 5, 1], Order::Memory).unwrap();
        assert_eq!((plan.reduced.inner(), plan.reduced.outer()), ((12, [5]), 1));
        assert_eq!((plan.kept.inner(), plan.kept.outer()), ((5, [1, 1]), 2));
        assert_eq!(places(&plan.kept, 0..2), [[0, 0], [5, 60]]);
        // Any layout without gaps reduces to one row, unless indices are counted.
        let all = |order| Reduction::new(&[], &[], &[3, 4], &[1, 3], order).unwrap().reduced;
        assert_eq!(all(Order::Memory).inner(), (12, [1]));
        assert_eq!(all(Order::RowMajor).inner(), (4, [3]));
        assert!(Reduction::new(&[2, 2], &[2, 1], &[2, 3], &[3, 1], Order::Memory).is_none());
    }

    #[test]
    fn rows_start_anywhere() {
        let sizes = [2, 3, 1, 4, 5];
        let plan = Reduction::new(&sizes, &[100, 30, 9, 7, 1], &sizes, &[60, 20, 20, 5, 1], Order::Memory).unwrap();
        let all = places(&plan.kept, 0..plan.kept.outer());
        assert_eq!(all.len(), 24);
        for start in 0..24 {
            assert_eq!(places(&plan.kept, start..24), all[start..]);
        }
        let plan = Plan::row_major(&[2, 1, 3, 4], [&[100, 9, 4, 1], &[50, 7, 8, 1]]);
        assert_eq!((plan.inner(), plan.outer()), ((4, [1, 1]), 6));
        assert_eq!(places(&plan, 2..5), [[8, 16], [100, 50], [104, 58]]);
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
