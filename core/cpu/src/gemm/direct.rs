//! Products whose operands are read in place: small ones, and those of few rows.

use super::blocking::{Grid, even_parts, reads_in_place};
use super::driver::{Operand, Problem, Run, each};
use super::pack::Source;
use super::thin;
use super::tile::{Tile, TileFn};
use super::ways::Ways;
use rushlight_base::Result;
use rushlight_base::runtime::{FirstError, check_cancelled};
use std::ops::Range;

/// A product in place: its operands, and how it is split into tiles.
pub(super) struct Direct {
    left: Source,
    right: Source,
    /// Rows of a tile.
    height: usize,
}

impl Direct {
    /// The tiling of a product that may and should be read in place. The columns of its right operand must be adjacent.
    pub fn of(run: &Run<'_>) -> Option<Direct> {
        let (kernels, p) = (run.ways.kernels, run.problem);
        let (Operand::Strided(left), Operand::Strided(right)) = (p.left, p.right) else { return None };
        let possible = !kernels.direct.is_empty() && kernels.in_bytes == run.ways.element && right.lane == 1;
        let sums_wait = run.depth.blocks > 1 && !run.ways.stores_sums;
        let step = left.depth.unsigned_abs() * run.ways.element;
        let direct = possible && !sums_wait && reads_in_place(kernels, [p.m, p.n, p.k], step);
        direct.then(|| Direct { left, right, height: even_parts(p.m, kernels.rows, 1) })
    }

    /// Computes the product.
    pub fn run(&self, run: &Run<'_>) -> Result<()> {
        let (kernels, p) = (run.ways.kernels, run.problem);
        let columns = kernels.columns();
        let bytes = run.depth.block * self.height * run.ways.element;
        // Right panels are read in place: they share cache lines with their neighbours.
        let grid = Grid::new([p.m.div_ceil(self.height), p.n.div_ceil(columns)], [bytes, 0], run.threads);
        let failed = FirstError::default();
        each(grid.shares(), run.threads, &|share| {
            let (rows, panels) = grid.share(share);
            for index in 0..run.depth.blocks {
                if let Err(error) = check_cancelled() {
                    return failed.note(Err(error));
                }
                let (block, stage) = (run.depth.range(index, p.k), run.stage(index));
                for panel in panels.clone() {
                    for row in rows.clone() {
                        let (row, column) = (row * self.height, panel * columns);
                        let (function, tile) = self.tile(run, &block, row, column);
                        run.compute(function, tile, row, column, stage, None);
                    }
                }
            }
        })?;
        failed.result()
    }

    /// The tile that begins at a row and a column, without a buffer for its sums.
    #[inline(always)]
    fn tile(&self, run: &Run<'_>, block: &Range<usize>, row: usize, column: usize) -> (TileFn, Tile) {
        let (kernels, p, element) = (run.ways.kernels, run.problem, run.ways.element);
        let (left, right) = (&self.left, &self.right);
        let rows = self.height.min(p.m - row);
        let columns = kernels.columns().min(p.n - column);
        let at = row as isize * left.lane + block.start as isize * left.depth;
        let tile = Tile {
            depth: block.len(),
            left: left.offset(at, element),
            left_row: left.lane * element as isize,
            left_step: left.depth * element as isize,
            right: right.offset(block.start as isize * right.depth + column as isize, element),
            right_step: right.depth * element as isize,
            out: std::ptr::null_mut(),
            out_row: 0,
            add: std::ptr::null(),
            add_row: 0,
            next: 0,
            rows,
            columns,
            last: None,
        };
        (kernels.direct[rows - 1][columns.div_ceil(kernels.lanes) - 1], tile)
    }
}

/// For a product of more tiles the cost of splitting is negligible.
const MOST: usize = 16;

/// The tiles of a small product in place, computed once for all products of a stack.
pub(super) struct Cut(Vec<(TileFn, Tile)>);

// SAFETY: the pointers are to the memory of the call's arrays, which outlive it; products write disjoint parts of the
// output.
unsafe impl Sync for Cut {}

impl Cut {
    /// The tiles of `problem`, if it has few, which `multiply` would compute in place and store directly.
    pub fn of(problem: &Problem<'_>, ways: &Ways) -> Option<Cut> {
        let run = Run::new(problem, ways);
        let stage = run.stage(0);
        if thin::kind(problem, ways).is_some() || run.depth.blocks > 1 || !run.stores_tiles(stage) {
            return None;
        }
        let direct = Direct::of(&run)?;
        let columns = ways.kernels.columns();
        let (down, across) = (problem.m.div_ceil(direct.height), problem.n.div_ceil(columns));
        if down * across > MOST {
            return None;
        }
        let mut tiles = Vec::with_capacity(MOST);
        for panel in 0..across {
            for row in 0..down {
                let (row, column) = (row * direct.height, panel * columns);
                let (function, mut tile) = direct.tile(&run, &(0..problem.k), row, column);
                run.aim(&mut tile, row, column, stage);
                tiles.push((function, tile));
            }
        }
        Some(Cut(tiles))
    }

    /// Computes the product whose left and right operand, output and addend are at these byte offsets from the ones
    /// that were split.
    #[inline(always)]
    pub fn compute(&self, [left, right, out, add]: [isize; 4]) {
        for (function, tile) in &self.0 {
            let tile = Tile {
                left: tile.left.wrapping_offset(left),
                right: tile.right.wrapping_offset(right),
                out: tile.out.wrapping_offset(out),
                add: if tile.add.is_null() { tile.add } else { tile.add.wrapping_offset(add) },
                ..*tile
            };
            // SAFETY: the tile is inside the operands and the output of a product of the stack.
            unsafe { function(&tile) };
        }
    }
}
