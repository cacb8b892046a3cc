//! How a loop traverses several operands of one shape: device-neutral, computed from sizes and strides only.
//!
//! A [`Plan`] orders the dimensions so that the output is traversed in memory order, drops those of size 1 and merges
//! neighbours with uniform steps in every operand. A contiguous call of any rank thus becomes one row. [`Tiles`] splits
//! a plan into pieces that fit a cache. The loops themselves are in `rushlight-cpu`.

use crate::{DimVec, callee};
use std::ops::Range;

/// The traversal of `N` operands of one shape; operand 0 decides the order.
#[derive(Clone, Debug)]
pub struct Plan<const N: usize> {
    /// Sizes, innermost dimension first; never empty, never 1 except as the only one.
    sizes: DimVec,
    /// Per dimension (same order), the step of each operand in elements.
    steps: smallvec::SmallVec<[[isize; N]; 6]>,
}

impl<const N: usize> Plan<N> {
    /// A plan over `sizes` for operands with these strides (in elements; 0 for a broadcast operand). Each stride list
    /// has the length of `sizes`.
    pub fn new(sizes: &[i64], strides: [&[i64]; N]) -> Plan<N> {
        let mut plan = Plan::unfinished();
        plan.lay_out(sizes, strides);
        plan
    }

    /// [`Plan::new`] for a plan that has no dimension yet.
    pub fn lay_out(&mut self, sizes: &[i64], strides: [&[i64]; N]) {
        self.add(sizes, strides);
        self.sort();
        self.coalesce();
    }

    /// Like [`Plan::new`], but elements are visited in row-major order of `sizes`: for loops that count.
    pub fn row_major(sizes: &[i64], strides: [&[i64]; N]) -> Plan<N> {
        let mut plan = Plan::unfinished();
        plan.add(sizes, strides);
        plan.coalesce();
        plan
    }

    /// One row of `len` elements.
    pub fn row(len: usize, steps: [isize; N]) -> Plan<N> {
        Plan { sizes: DimVec::from_buf_and_len([len as i64, 0, 0, 0, 0, 0], 1), steps: smallvec::smallvec![steps] }
    }

    fn add(&mut self, sizes: &[i64], strides: [&[i64]; N]) {
        for dim in (0..sizes.len()).rev() {
            self.push(sizes[dim], std::array::from_fn(|operand| strides[operand][dim] as isize));
        }
    }

    /// A plan without dimensions, to be completed by [`Plan::lay_out`], or by `push` and `coalesce`.
    #[inline(always)]
    pub fn unfinished() -> Plan<N> {
        Plan { sizes: DimVec::new(), steps: smallvec::SmallVec::new() }
    }

    /// Adds an outermost dimension.
    pub(crate) fn push(&mut self, size: i64, steps: [isize; N]) {
        if size != 1 {
            self.sizes.push(size);
            self.steps.push(steps);
        }
    }

    /// Smallest steps innermost; an operand that does not move along one of two dimensions does not influence their
    /// order.
    fn sort(&mut self) {
        self.sort_by(|inner, outer| {
            for (inner, outer) in inner.iter().zip(outer) {
                let (inner, outer) = (inner.abs(), outer.abs());
                if inner != 0 && outer != 0 && inner != outer {
                    return inner > outer;
                }
            }
            false
        });
    }

    /// Smallest steps of one operand innermost.
    pub(crate) fn sort_by_operand(&mut self, operand: usize) {
        self.sort_by(|inner, outer| inner[operand].abs() > outer[operand].abs());
    }

    /// Insertion sort by steps. Stable, so that equal strides keep their row-major order.
    fn sort_by(&mut self, are_wrong: impl Fn(&[isize; N], &[isize; N]) -> bool) {
        for dim in 1..self.sizes.len() {
            let mut at = dim;
            while at > 0 && are_wrong(&self.steps[at - 1], &self.steps[at]) {
                self.sizes.swap(at - 1, at);
                self.steps.swap(at - 1, at);
                at -= 1;
            }
        }
    }

    /// Merges neighbours with uniform steps in every operand.
    pub(crate) fn coalesce(&mut self) {
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

    /// Number of dimensions, at least 1.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Length of a row, and the step of each operand within it.
    #[inline]
    pub fn inner(&self) -> (usize, [isize; N]) {
        (self.row_len(), self.row_steps())
    }

    /// Number of rows, if they have elements.
    #[inline]
    pub fn outer(&self) -> usize {
        self.sizes[1..].iter().product::<i64>() as usize
    }

    /// Length of a row, the innermost dimension.
    pub fn row_len(&self) -> usize {
        self.sizes[0] as usize
    }

    /// Size and steps of each dimension, innermost first.
    pub fn dimensions(&self) -> impl Iterator<Item = (i64, [isize; N])> {
        self.sizes.iter().copied().zip(self.steps.iter().copied())
    }

    /// Step of each operand within a row.
    pub fn row_steps(&self) -> [isize; N] {
        self.steps[0]
    }

    /// The smallest and the largest offset of each operand.
    pub fn reach(&self) -> [(isize, isize); N] {
        let mut reach = [(0, 0); N];
        for (&size, steps) in self.sizes.iter().zip(&self.steps) {
            for (reach, step) in reach.iter_mut().zip(steps) {
                let far = step * (size as isize - 1).max(0);
                if far < 0 { reach.0 += far } else { reach.1 += far }
            }
        }
        reach
    }

    /// Whether two operands have the same steps in every dimension.
    pub fn are_alike(&self, operand: usize, other: usize) -> bool {
        self.steps.iter().all(|steps| steps[operand] == steps[other])
    }

    /// All elements as one tile, with the steps from row to row, if there are at most two dimensions and `capacity`
    /// elements.
    pub fn as_tile(&self, capacity: usize) -> Option<(Tile<N>, [isize; N])> {
        let ([len] | [len, _]) = self.sizes[..] else { return None };
        let (rows, across) = match self.sizes[..] {
            [_, rows] => (rows, self.steps[1]),
            _ => (1, [0; N]),
        };
        let count = len * rows;
        let fits = count > 0 && count <= capacity as i64;
        fits.then_some((Tile { offsets: [0; N], len: len as usize, rows: rows as usize }, across))
    }

    /// Calls `row` with the offset of each operand (in elements) at the start of every row, in order.
    #[inline]
    pub fn rows(&self, row: &mut impl FnMut([isize; N])) {
        self.visit_rows(Visit::new(row));
    }

    fn visit_rows(&self, mut row: Visit<N>) {
        if !self.sizes.contains(&0) {
            self.rows_in(0..self.outer(), |offsets| row.call(offsets));
        }
    }

    /// Calls `visit` with the offset of each operand at the start of the rows in `range` (of `0..self.outer()`), in order.
    #[inline(always)]
    pub fn rows_in(&self, range: Range<usize>, mut visit: impl FnMut([isize; N])) {
        if range.is_empty() {
            return;
        }
        let rank = self.sizes.len();
        if rank <= 2 {
            // At most one dimension around the rows: no counters.
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

    /// Calls `element` with the offset of each operand at every element, in order.
    #[inline]
    pub fn elements(&self, element: &mut impl FnMut([isize; N])) {
        self.visit_elements(Visit::new(element));
    }

    fn visit_elements(&self, mut element: Visit<N>) {
        let (len, steps) = (self.row_len(), self.row_steps());
        self.rows(&mut |mut offsets| {
            for _ in 0..len {
                element.call(offsets);
                for (offset, step) in offsets.iter_mut().zip(steps) {
                    *offset += step;
                }
            }
        });
    }
}

/// Rows shorter than this are processed several at a time.
const SHORT: usize = 64;

callee! {
    /// Receives the offset of each operand at a position.
    struct Visit<const N: usize>: fn(offsets: [isize; N]);
}
callee! {
    /// Receives a tile.
    struct VisitTile<const N: usize>: fn(tile: Tile<N>);
}

/// A plan split into two-dimensional tiles: the innermost dimension, and the one along which a transposed operand is
/// contiguous, or the next one if rows are short. The split depends only on the plan and `capacity`.
#[derive(Clone, Debug)]
pub struct Tiles<'p, const N: usize> {
    plan: &'p Plan<N>,
    /// The second dimension of a tile, 0 if tiles are pieces of rows.
    across: usize,
    /// Elements along the innermost dimension and along `across`.
    sides: [usize; 2],
    /// Tiles along each dimension.
    counts: smallvec::SmallVec<[usize; 6]>,
    /// The dimension along which the next tile follows.
    first: usize,
}

/// A part of the elements: `rows` rows of `len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile<const N: usize> {
    /// Offset of each operand's first element, in elements.
    pub offsets: [isize; N],
    /// Elements in a row.
    pub len: usize,
    /// Number of rows.
    pub rows: usize,
}

impl<'p, const N: usize> Tiles<'p, N> {
    /// Splits into tiles of at most `capacity` elements; pieces of rows have at most `row_capacity`.
    pub fn new(plan: &'p Plan<N>, capacity: usize, row_capacity: usize) -> Tiles<'p, N> {
        let extent = |dim: usize| plan.sizes[dim].max(1) as usize;
        let inner = extent(0);
        let turned = plan.transposed_dimension();
        let (across, sides) = if let Some(across) = turned {
            // Few and long rows: the other operands are read and written along them, which dominates the time (for a
            // matrix of 40 MB, 2.1 times that of a loop without a transposed operand; 3.4 times with twice as many).
            let rows = TURNED_ROWS.min(capacity).min(extent(across));
            let len = evenly(inner, capacity / rows).next_multiple_of(16).min(capacity / rows).min(inner);
            (across, [len, evenly(extent(across), if len == inner { capacity / inner } else { rows })])
        } else if plan.rank() > 1 && (inner < SHORT || inner * 2 <= capacity && plan.steps[1][0] == inner as isize) {
            // Short rows, or rows that are consecutive in the output: any broadcast operand is supported.
            (1, [inner, evenly(extent(1), (capacity / inner).max(1))])
        } else {
            (0, [evenly(inner, row_capacity), 1])
        };
        let mut counts: smallvec::SmallVec<[usize; 6]> = plan.sizes.iter().map(|&size| size as usize).collect();
        counts[across] = counts[across].div_ceil(sides[1]);
        counts[0] = plan.row_len().div_ceil(sides[0]);
        Tiles { plan, across, sides, counts, first: turned.unwrap_or(0) }
    }

    /// Number of tiles.
    pub fn count(&self) -> usize {
        self.counts.iter().product()
    }

    /// The most elements that a tile has.
    pub fn area(&self) -> usize {
        self.sides[0] * self.sides[1]
    }

    /// Step of each operand from a tile's row to the next.
    pub fn steps_across(&self) -> [isize; N] {
        if self.across == 0 { [0; N] } else { self.plan.steps[self.across] }
    }

    /// Calls `visit` with the tiles of this part of `0..count()`, in order.
    #[inline]
    pub fn visit(&self, part: Range<usize>, visit: &mut impl FnMut(Tile<N>)) {
        self.visit_tiles(part, VisitTile::new(visit));
    }

    /// The order of the tiles: across rows first if an operand is transposed, whose lines are then in the first-level
    /// cache (for a matrix of 40 MB, 0.85 times the time of the other order).
    fn order(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.first).chain((0..self.counts.len()).filter(|&dim| dim != self.first))
    }

    fn visit_tiles(&self, part: Range<usize>, mut visit: VisitTile<N>) {
        let mut counter = smallvec::SmallVec::<[usize; 6]>::from_elem(0, self.counts.len());
        let mut rest = part.start;
        for dim in self.order() {
            let count = self.counts[dim].max(1);
            counter[dim] = rest % count;
            rest /= count;
        }
        let unit = |dim: usize| match dim {
            0 => self.sides[0],
            dim if dim == self.across => self.sides[1],
            _ => 1,
        };
        let mut offsets = [0isize; N];
        for (dim, &at) in counter.iter().enumerate() {
            for (offset, step) in offsets.iter_mut().zip(self.plan.steps[dim]) {
                *offset += step * (at * unit(dim)) as isize;
            }
        }
        for _ in part {
            let left = |dim: usize| (self.plan.sizes[dim] as usize - counter[dim] * unit(dim)).min(unit(dim));
            let rows = if self.across == 0 { 1 } else { left(self.across) };
            visit.call(Tile { offsets, len: left(0), rows });
            for dim in self.order() {
                let jump = |tiles: usize| (tiles * unit(dim)) as isize;
                counter[dim] += 1;
                let wraps = counter[dim] == self.counts[dim];
                for (offset, step) in offsets.iter_mut().zip(self.plan.steps[dim]) {
                    *offset += if wraps { -step * jump(counter[dim] - 1) } else { step * jump(1) };
                }
                if !wraps {
                    break;
                }
                counter[dim] = 0;
            }
        }
    }
}

/// Rows of a tile in which an operand is transposed: a square of this size is transposed in registers.
const TURNED_ROWS: usize = 8;

/// The length of the longest of equal pieces of `total`, none longer than `most`.
fn evenly(total: usize, most: usize) -> usize {
    total.div_ceil(total.div_ceil(most.max(1)).max(1)).max(1)
}

impl<const N: usize> Plan<N> {
    /// A dimension along which an operand that strides through the innermost dimension has a smaller step.
    fn transposed_dimension(&self) -> Option<usize> {
        (0..N).find_map(|operand| {
            let step = |dim: usize| self.steps[dim][operand].unsigned_abs();
            let better = (1..self.rank()).filter(|&dim| self.sizes[dim] > 1 && (1..step(0)).contains(&step(dim)));
            better.min_by_key(|&dim| step(dim))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiled<const N: usize>(plan: &Plan<N>, capacity: usize, part: usize) -> Vec<[isize; N]> {
        let tiles = Tiles::new(plan, capacity, capacity);
        let (inner, across, mut all) = (plan.row_steps(), tiles.steps_across(), Vec::new());
        for start in (0..tiles.count()).step_by(part) {
            tiles.visit(start..(start + part).min(tiles.count()), &mut |tile| {
                assert!(tile.len * tile.rows <= tiles.area());
                for row in 0..tile.rows as isize {
                    for i in 0..tile.len as isize {
                        all.push(std::array::from_fn(|k| tile.offsets[k] + row * across[k] + i * inner[k]));
                    }
                }
            });
        }
        all
    }

    #[test]
    fn tiles_visit_every_element_once_however_they_are_cut() {
        let plans = [
            Plan::row(1000, [1, 0]),
            Plan::new(&[70, 90], [&[90, 1], &[1, 70]]),
            Plan::new(&[5, 3, 200], [&[600, 200, 1], &[1, 5, 15]]),
            Plan::new(&[40, 3], [&[3, 1], &[1, 0]]),
            Plan::new(&[2, 3, 4, 5], [&[60, 20, 5, 1], &[1, 2, 6, 24]]),
            Plan::new(&[7, 0], [&[1, 1], &[1, 1]]),
            Plan::new(&[], [&[], &[]]),
        ];
        for plan in plans {
            let mut expected = offsets(&plan);
            expected.sort();
            for (capacity, part) in [(16, 1), (64, 3), (512, 1000)] {
                let mut visited = tiled(&plan, capacity, part);
                visited.sort();
                assert_eq!(visited, expected, "{plan:?} {capacity}");
            }
        }
    }

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
