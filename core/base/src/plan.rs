//! How a loop walks several operands of one shape: device-neutral, built from sizes and strides only.
//!
//! A [`Plan`] orders the dimensions so that the output is walked in memory order, drops those of size 1
//! and merges neighbours that every operand steps through evenly. A contiguous call of any rank so
//! becomes one row. The loops themselves live in `rushlight-cpu`.

use crate::DimVec;

/// The walk over `N` operands of one shape; operand 0 decides the order.
#[derive(Clone, Debug)]
pub struct Plan<const N: usize> {
    /// Sizes, innermost dimension first; never empty, never 1 except as the only one.
    sizes: DimVec,
    /// Per dimension (same order), the step of each operand in elements.
    steps: smallvec::SmallVec<[[isize; N]; 6]>,
}

impl<const N: usize> Plan<N> {
    /// A plan over `sizes` for operands with these strides (in elements; 0 where an operand is broadcast).
    /// Each stride list has the length of `sizes`.
    pub fn new(sizes: &[i64], strides: [&[i64]; N]) -> Plan<N> {
        let mut plan = Plan::unordered(sizes, strides);
        plan.sort();
        plan.coalesce();
        plan
    }

    /// As [`Plan::new`], but elements are visited in row-major order of `sizes`: for loops that count.
    pub fn row_major(sizes: &[i64], strides: [&[i64]; N]) -> Plan<N> {
        let mut plan = Plan::unordered(sizes, strides);
        plan.coalesce();
        plan
    }

    fn unordered(sizes: &[i64], strides: [&[i64]; N]) -> Plan<N> {
        let mut plan = Plan { sizes: DimVec::new(), steps: smallvec::SmallVec::new() };
        for dim in (0..sizes.len()).rev() {
            if sizes[dim] != 1 {
                plan.sizes.push(sizes[dim]);
                plan.steps.push(std::array::from_fn(|operand| strides[operand][dim] as isize));
            }
        }
        plan
    }

    /// Insertion sort by step, smallest inside; an operand that does not move along one of the two
    /// dimensions has no opinion. Stable, so that equal strides keep their row-major order.
    fn sort(&mut self) {
        for dim in 1..self.sizes.len() {
            let mut at = dim;
            while at > 0 && self.should_swap(at - 1, at) {
                self.sizes.swap(at - 1, at);
                self.steps.swap(at - 1, at);
                at -= 1;
            }
        }
    }

    fn should_swap(&self, inner: usize, outer: usize) -> bool {
        for operand in 0..N {
            let (a, b) = (self.steps[inner][operand].abs(), self.steps[outer][operand].abs());
            if a != 0 && b != 0 && a != b {
                return a > b;
            }
        }
        false
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
        if self.sizes.is_empty() {
            self.sizes.push(1);
            self.steps.push([1; N]);
        }
    }

    /// Number of elements visited.
    pub fn numel(&self) -> usize {
        self.sizes.iter().product::<i64>() as usize
    }

    /// Length of a row, the innermost dimension.
    pub fn row_len(&self) -> usize {
        self.sizes[0] as usize
    }

    /// Step of each operand within a row.
    pub fn row_steps(&self) -> [isize; N] {
        self.steps[0]
    }

    /// Calls `row` with the offset of each operand (in elements) at the start of every row, in order.
    pub fn rows(&self, row: &mut dyn FnMut([isize; N])) {
        if self.sizes.contains(&0) {
            return;
        }
        let rank = self.sizes.len();
        let mut counter = DimVec::from_elem(0, rank);
        let mut offsets = [0isize; N];
        loop {
            row(offsets);
            let mut dim = 1;
            loop {
                if dim == rank {
                    return;
                }
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
                dim += 1;
            }
        }
    }

    /// Calls `element` with the offset of each operand at every element, in order.
    pub fn elements(&self, element: &mut dyn FnMut([isize; N])) {
        let (len, steps) = (self.row_len(), self.row_steps());
        self.rows(&mut |mut offsets| {
            for _ in 0..len {
                element(offsets);
                for (offset, step) in offsets.iter_mut().zip(steps) {
                    *offset += step;
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets<const N: usize>(plan: &Plan<N>) -> Vec<[isize; N]> {
        let mut all = Vec::new();
        plan.elements(&mut |offsets| all.push(offsets));
        all
    }

    #[test]
    fn contiguous_operands_become_one_row() {
        let plan = Plan::new(&[2, 3, 4], [&[12, 4, 1], &[12, 4, 1]]);
        assert_eq!((plan.row_len(), plan.row_steps()), (24, [1, 1]));
        let channels_last = Plan::new(&[2, 3, 4, 5], [&[60, 1, 15, 3], &[60, 1, 15, 3]]);
        assert_eq!((channels_last.row_len(), channels_last.row_steps()), (120, [1, 1]));
    }

    #[test]
    fn a_broadcast_row_and_a_transposed_operand_keep_two_dimensions() {
        let plan = Plan::new(&[2, 3], [&[3, 1], &[0, 1]]);
        assert_eq!(offsets(&plan), [[0, 0], [1, 1], [2, 2], [3, 0], [4, 1], [5, 2]]);
        let plan = Plan::new(&[2, 3], [&[3, 1], &[1, 2]]);
        assert_eq!(offsets(&plan), [[0, 0], [1, 2], [2, 4], [3, 1], [4, 3], [5, 5]]);
    }

    #[test]
    fn a_counting_walk_stays_row_major() {
        let plan = Plan::row_major(&[2, 3], [&[1, 2]]);
        assert_eq!(offsets(&plan), [[0], [2], [4], [1], [3], [5]]);
    }

    #[test]
    fn empty_and_zero_dimensional_shapes() {
        assert_eq!(offsets(&Plan::<1>::new(&[], [&[]])), [[0]]);
        assert!(offsets(&Plan::new(&[3, 0], [&[1, 1]])).is_empty());
        assert_eq!(Plan::<1>::new(&[2, 0], [&[0, 1]]).numel(), 0);
    }
}
