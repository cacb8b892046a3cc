//! Traversal of indices: in blocks of two dimensions, on several threads.

use super::places::{Places, Reach};
use crate::array::Array;
use rushlight_base::plan::{Plan, Tiles};
use rushlight_base::runtime::{num_threads, parallel_chunks};
use rushlight_base::{DimVec, Result};
use std::ops::Range;

/// Number of elements from which a second thread is worth it.
const GRAIN: usize = 8192;
/// Elements in a block at most, and lanes in one at least: a cache line of the smallest type that often occurs.
const BLOCK: usize = 4096;
const LANES: usize = 16;

/// Two dimensions of a traversal, the inner one first; offsets and steps count elements of the traversed operand, the
/// indexed tensor, and the indices.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub offsets: [isize; 3],
    pub extents: [usize; 2],
    pub steps: [[isize; 3]; 2],
}

impl Block {
    /// The two dimensions are swapped if the operands have smaller steps along the other one.
    fn turned(mut self) -> Block {
        let distance = |steps: [isize; 3]| steps.iter().map(|step| step.unsigned_abs()).sum::<usize>();
        let is_thin = self.extents[0] < 8 && self.extents[1] > self.extents[0];
        if is_thin || self.extents[1] > 1 && distance(self.steps[1]) < distance(self.steps[0]) {
            self.extents.swap(0, 1);
            self.steps.swap(0, 1);
        }
        self
    }

    /// Calls `slice` with the offsets, in the traversed and the indexed operand, of this many elements that are
    /// adjacent in both under one index (or, where the last argument is 0, one element of the traversed operand for all);
    /// and `element` with those of single elements.
    ///
    /// # Safety
    /// The block is inside the index array.
    #[inline(always)]
    pub unsafe fn visit(
        &self,
        index: *const i64,
        reach: Reach,
        mut slice: impl FnMut(isize, isize, usize, isize),
        mut element: impl FnMut(isize, isize),
    ) {
        let [len, rows] = self.extents;
        let [step_walked, step_reached, step_index] = self.steps[0];
        let mut offsets = self.offsets;
        for _ in 0..rows {
            let [walked, reached, at] = offsets;
            // SAFETY: the caller guarantees that the index array has an element at every step of the traversal.
            let get = |i: isize| reach.offset(unsafe { index.offset(at + i * step_index).read() });
            match self.steps[0] {
                [step @ (0 | 1), 1, 0] => {
                    if let Some(offset) = get(0) {
                        slice(walked, reached + offset, len, step);
                    }
                }
                // Steps that the compiler knows.
                [1, _, 1] => {
                    for i in 0..len as isize {
                        // SAFETY: the caller guarantees that the index array has an element at every step.
                        if let Some(offset) = reach.offset(unsafe { index.offset(at + i).read() }) {
                            element(walked + i, reached + i * step_reached + offset);
                        }
                    }
                }
                _ => {
                    for i in 0..len as isize {
                        if let Some(offset) = get(i) {
                            element(walked + i * step_walked, reached + i * step_reached + offset);
                        }
                    }
                }
            }
            for (offset, step) in offsets.iter_mut().zip(self.steps[1]) {
                *offset += step;
            }
        }
    }
}

/// The traversal over `places` and the operand traversed with them; the indexed tensor only moves along the slices.
pub(super) struct Walk {
    sizes: DimVec,
    strides: [DimVec; 3],
    along: Range<usize>,
}

impl Walk {
    pub fn new(places: &Places, walked: &Array) -> Result<Walk> {
        Ok(Walk {
            sizes: DimVec::from_slice(places.sizes()),
            strides: [
                places.strides_of(walked)?,
                DimVec::from_slice(places.slices()),
                DimVec::from_slice(places.strides()),
            ],
            along: places.along(),
        })
    }

    /// Sizes and strides of the kept dimensions.
    fn part(&self, keep: impl Fn(usize) -> bool) -> (DimVec, [DimVec; 3]) {
        let kept = |list: &DimVec| -> DimVec {
            list.iter().enumerate().filter(|(at, _)| keep(*at)).map(|(_, value)| *value).collect()
        };
        (kept(&self.sizes), [0, 1, 2].map(|operand| kept(&self.strides[operand])))
    }

    fn plan(&self, keep: impl Fn(usize) -> bool) -> Plan<3> {
        let (sizes, strides) = self.part(keep);
        Plan::new(&sizes, [&strides[0], &strides[1], &strides[2]])
    }

    /// The dimensions of the indices, in row-major order.
    fn plan_along(&self) -> Plan<3> {
        let (sizes, strides) = self.part(|at| self.along.contains(&at));
        Plan::row_major(&sizes, [&strides[0], &strides[1], &strides[2]])
    }

    /// Blocks in any order: the traversed operand is written, each element once.
    pub fn anyhow(&self, body: &(dyn Fn(&Block) + Sync)) -> Result<()> {
        let plan = self.plan(|_| true);
        if plan.numel() == 0 {
            return Ok(());
        }
        let tiles = Tiles::new(&plan, BLOCK, BLOCK);
        let (inner, across) = (plan.row_steps(), tiles.steps_across());
        parallel_chunks(tiles.count(), (GRAIN / tiles.area()).max(1), &|part| {
            tiles.visit(part, &mut |tile| {
                let block = Block { offsets: tile.offsets, extents: [tile.len, tile.rows], steps: [inner, across] };
                body(&block.turned());
            });
        })
    }

    /// Blocks such that elements that may write the same position are processed one after the other, in the order of
    /// the indices: each lane belongs to one thread.
    pub fn by_lanes(&self, body: &(dyn Fn(&Block) + Sync)) -> Result<()> {
        let (lanes, along) = (self.plan(|at| !self.along.contains(&at)), self.plan_along());
        let depth = along.numel();
        if depth == 0 || lanes.numel() == 0 {
            return Ok(());
        }
        // Whole rows of lanes, unless threads share them.
        let threads = if depth * lanes.numel() > GRAIN { num_threads() } else { 1 };
        let parts = if threads > 1 { 4 * threads } else { 1 };
        let capacity = lanes.numel().div_ceil(parts).clamp(LANES, BLOCK);
        let tiles = Tiles::new(&lanes, capacity, capacity);
        let (inner, across, (len, deep)) = (lanes.row_steps(), tiles.steps_across(), along.inner());
        parallel_chunks(tiles.count(), (GRAIN / (tiles.area() * depth)).max(1), &|part| {
            tiles.visit(part, &mut |tile| {
                for row in 0..tile.rows as isize {
                    along.rows(&mut |at| {
                        let offsets =
                            [0, 1, 2].map(|operand| tile.offsets[operand] + row * across[operand] + at[operand]);
                        body(&Block { offsets, extents: [tile.len, len], steps: [inner, deep] }.turned());
                    });
                }
            });
        })
    }
}
