//! The loops around the tiles: blocks of k, panels, shares for threads.
//!
//! Large products pack a block of both operands, all threads together, and then compute the tiles of that block, a
//! share of the grid at a time. Small ones, and those of few rows, read their operands in place (`direct`). Each
//! element of the result is computed by one thread, its products added in order of k, block by block: results do not
//! depend on the number of threads, nor on whether an operand was packed before.

use super::blocking::{
    Depth, Grid, columns_together, even_parts, left_panels, packs_by_columns, right_panels, worthwhile,
};
use super::direct::Direct;
use super::epilogue::{Factor, Finish};
use super::narrow::NarrowB;
use super::pack::Source;
use super::packed::{PackedB, SLACK};
use super::thin;
use super::tile::{Last, Tile, TileFn};
use super::ways::Ways;
use crate::finish::After;
use crate::shared::Shared;
use rushlight_base::runtime::{FirstError, check_cancelled, num_threads, parallel_for};
use rushlight_base::{Result, Storage};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Fills panels of stored elements, `width` lanes per element of k, instead of reading a matrix.
pub(super) trait Fill: Sync {
    /// # Safety
    /// `to` has space for `depth.len() * width` elements and [`SLACK`](super::packed::SLACK) bytes more. The elements
    /// are zero if there are fewer lanes than `width`.
    unsafe fn fill(&self, lanes: Range<usize>, depth: Range<usize>, to: *mut u8, width: usize);
}

/// An operand of a product.
#[derive(Clone, Copy)]
pub(super) enum Operand<'a> {
    /// A matrix in memory.
    Strided(Source),
    /// One that was packed before. Only on the right.
    Packed(&'a PackedB),
    /// One that was rounded before, with few rows on the left. Only on the right.
    Narrow(&'a NarrowB),
    /// One that exists panel by panel.
    Filled(&'a dyn Fill),
}

/// out = alpha left right + beta add, and what follows. Steps are in elements.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub left: Operand<'a>,
    pub right: Operand<'a>,
    pub out: *mut u8,
    pub out_row: isize,
    pub out_column: isize,
    /// Null where nothing is added.
    pub add: *const u8,
    pub add_row: isize,
    pub add_column: isize,
    pub alpha: Factor,
    pub beta: Factor,
    /// Whether alpha is 1.
    pub alone: bool,
    /// Whether beta is 1.
    pub plain: bool,
    /// What follows. Only where the right operand is no matrix in memory.
    pub after: Option<After>,
}

// SAFETY: the pointers are to the memory of the call's arrays, which outlive it; shares write disjoint parts of the
// output.
unsafe impl Send for Problem<'_> {}
// SAFETY: shares only read the operands, and write disjoint parts of the output.
unsafe impl Sync for Problem<'_> {}

/// Buffer for the sums of one tile.
#[repr(C, align(64))]
pub(super) struct Buffer([MaybeUninit<u8>; 4096]);

/// The block of k.
#[derive(Clone, Copy)]
pub(super) struct Stage {
    pub first: bool,
    pub last: bool,
}

/// Runs the shares, on this thread if there is but one to run them.
pub(super) fn each(shares: usize, threads: usize, body: &(impl Fn(usize) + Sync)) -> Result<()> {
    if threads > 1 && shares > 1 {
        return parallel_for(shares, body);
    }
    for share in 0..shares {
        check_cancelled()?;
        body(share);
    }
    Ok(())
}

/// Computes `problem`, on this thread only if `serial`.
pub(super) fn multiply(problem: &Problem<'_>, ways: &Ways, serial: bool) -> Result<()> {
    if problem.m == 0 || problem.n == 0 {
        return Ok(());
    }
    if thin::multiply(problem, ways, serial)? {
        return Ok(());
    }
    let work = problem.m.saturating_mul(problem.n).saturating_mul(problem.k);
    let mut run = Run::new(problem, ways);
    let in_place = Direct::of(&run);
    if !serial {
        run.threads = worthwhile(work / ways.kernels.speed(in_place.is_none()), num_threads());
    }
    match in_place {
        Some(direct) => direct.run(&run),
        None if run.packs_by_columns() => run.by_columns(),
        None => run.packed(),
    }
}

pub(super) struct Run<'a> {
    pub problem: &'a Problem<'a>,
    pub ways: &'a Ways,
    pub depth: Depth,
    pub threads: usize,
}

impl<'a> Run<'a> {
    /// A product for this thread only.
    pub fn new(problem: &'a Problem<'a>, ways: &'a Ways) -> Run<'a> {
        Run { problem, ways, depth: Depth::new(ways.kernels, problem.k), threads: 1 }
    }

    /// Whether the left operand may be packed as a whole, and there are columns for all threads.
    fn packs_by_columns(&self) -> bool {
        let (kernels, p) = (self.ways.kernels, self.problem);
        let left_bytes = p.m.saturating_mul(p.k).saturating_mul(kernels.in_bytes);
        let prepared = matches!(p.right, Operand::Packed(_) | Operand::Narrow(_));
        !prepared && packs_by_columns(left_bytes, p.n.div_ceil(kernels.columns()), self.threads)
    }

    pub fn stage(&self, index: usize) -> Stage {
        Stage { first: index == 0, last: index + 1 == self.depth.blocks }
    }

    /// Whether the sums of a tile are stored in the output directly.
    #[inline(always)]
    pub fn stores_tiles(&self, stage: Stage) -> bool {
        let p = self.problem;
        let addable = p.add.is_null() || (p.plain && p.add_column == 1) || !stage.first;
        self.ways.stores_sums && p.out_column == 1 && p.alone && addable
    }

    /// The destination of the sums of a tile, and the addend.
    #[inline(always)]
    fn place(&self, row: usize, column: usize) -> (*mut u8, *const u8) {
        let (p, bytes, row, column) = (self.problem, self.ways.out_bytes as isize, row as isize, column as isize);
        let out = p.out.wrapping_offset((row * p.out_row + column * p.out_column) * bytes);
        match p.add.is_null() {
            true => (out, p.add),
            false => (out, p.add.wrapping_offset((row * p.add_row + column * p.add_column) * bytes)),
        }
    }

    /// Sends the sums of a tile to the output, where `stores_tiles`.
    #[inline(always)]
    pub fn aim(&self, tile: &mut Tile, row: usize, column: usize, stage: Stage) {
        let (p, bytes) = (self.problem, self.ways.out_bytes as isize);
        let (out, add) = self.place(row, column);
        (tile.out, tile.out_row) = (out, p.out_row * bytes);
        (tile.add, tile.add_row) =
            if stage.first { (add, p.add_row * bytes) } else { (out.cast_const(), tile.out_row) };
    }

    /// Computes a tile and stores it. `sums` has space for the sums of every element if they cannot be kept in the
    /// output until the next block of k.
    #[inline(always)]
    pub fn compute(
        &self,
        function: TileFn,
        mut tile: Tile,
        row: usize,
        column: usize,
        stage: Stage,
        sums: Option<Shared<u8>>,
    ) {
        let (p, ways) = (self.problem, self.ways);
        let sum_bytes = ways.kernels.sum_bytes;
        if let Some(sums) = sums {
            let at = sums.get().wrapping_add((row * p.n + column) * sum_bytes);
            let step = (p.n * sum_bytes) as isize;
            if !stage.first {
                (tile.add, tile.add_row) = (at, step);
            }
            if !stage.last {
                (tile.out, tile.out_row) = (at, step);
                // SAFETY: the tile is inside the operands and the buffer of the sums.
                return unsafe { function(&tile) };
            }
        } else if self.stores_tiles(stage) {
            self.aim(&mut tile, row, column, stage);
            let after = p.after.filter(|_| stage.last);
            // Tiles of rounded operands store their sums without it.
            let in_tile = after.filter(|_| !matches!(p.right, Operand::Narrow(_)));
            tile.last = in_tile.and_then(|after| Last::of(&after, ways.kernels, tile.out, tile.out_row));
            // SAFETY: the tile is inside the operands and the output.
            unsafe { function(&tile) };
            if let (Some(after), None) = (after, tile.last) {
                // SAFETY: the tile is inside the output, and belongs to this share alone.
                unsafe { after.finish(tile.out, [tile.rows, tile.columns]) };
            }
            return;
        }
        let (out, add) = self.place(row, column);
        let mut buffer = MaybeUninit::<Buffer>::uninit();
        let width = tile.columns.next_multiple_of(ways.kernels.lanes);
        tile.out = buffer.as_mut_ptr().cast();
        tile.out_row = (width * sum_bytes) as isize;
        let again = sums.is_none() && !stage.first;
        let finish = Finish {
            sums: tile.out,
            sums_row: width,
            out,
            out_row: p.out_row,
            out_column: p.out_column,
            add: if again { out } else { add },
            add_row: if again { p.out_row } else { p.add_row },
            add_column: if again { p.out_column } else { p.add_column },
            rows: tile.rows,
            columns: tile.columns,
            alpha: p.alpha,
            beta: if again { (ways.factor)(rushlight_base::Scalar::Int(1)) } else { p.beta },
        };
        // SAFETY: the tile is inside the operands, the buffer holds the largest tile, and its valid part is inside the
        // output.
        unsafe {
            function(&tile);
            (ways.finish)(&finish);
        }
        if let Some(after) = p.after.filter(|_| stage.last) {
            // SAFETY: the tile is inside the output, and belongs to this share alone.
            unsafe { after.finish(out, [tile.rows, tile.columns]) };
        }
    }

    /// The left operand, if its elements are used for so few panels that packing does not pay. It is packed if all of
    /// its rows map to one set of the first-level cache.
    fn left_in_place(&self) -> Option<Source> {
        let (kernels, p) = (self.ways.kernels, self.problem);
        let possible = !kernels.direct.is_empty() && kernels.in_bytes == self.ways.element;
        let panels = match p.right {
            Operand::Narrow(_) => 0,
            // Shallow: the rows of a tile stay in the first-level cache.
            Operand::Packed(_) if p.k <= 256 => 16,
            _ => 4,
        };
        match p.left {
            Operand::Strided(left) if possible && p.n <= panels * kernels.columns() => {
                let collide = left.lane != 1 && left.lane * kernels.in_bytes as isize % 4096 == 0;
                (!collide).then_some(left)
            }
            _ => None,
        }
    }

    /// Blocks of right panels that each thread packs for itself, where the left operand may be packed as a whole.
    fn by_columns(&self) -> Result<()> {
        let (kernels, p, depth, threads) = (self.ways.kernels, self.problem, self.depth, self.threads);
        let (columns, step) = (kernels.columns(), kernels.height_step);
        let height = even_parts(p.m, kernels.rows, step);
        let groups = depth.block.div_ceil(kernels.group);
        let left_bytes = (groups * height * kernels.group_bytes()).next_multiple_of(64);
        let right_bytes = right_panel_bytes(self.ways, &depth);
        let (left_count, right_count) = (p.m.div_ceil(height), p.n.div_ceil(columns));
        let left_buffer = Storage::allocate(depth.blocks * left_count * left_bytes)?;
        let left_buffer = Shared::new(left_buffer.data());
        let sums = match depth.blocks > 1 && !self.ways.stores_sums {
            true => Some(Storage::allocate(p.m * p.n * kernels.sum_bytes)?),
            false => None,
        };
        let sums = sums.as_ref().map(|sums| Shared::new(sums.data()));
        let failed = FirstError::default();
        let left_shares = depth.blocks * left_count;
        let together = if threads > 1 { 4 } else { left_shares.max(1) };
        each(left_shares.div_ceil(together), threads, &|share| {
            for panel in share * together..left_shares.min((share + 1) * together) {
                let (block, row) = (depth.range(panel / left_count, p.k), panel % left_count * height);
                let lanes = height.min(p.m - row);
                let at = left_buffer.get().wrapping_add(panel * left_bytes);
                let width = lanes.next_multiple_of(step);
                failed.note(pack_panel(self.ways, &p.left, row..row + lanes, &block, width, at, true));
            }
        })?;
        let chunk = columns_together(right_count, right_bytes, threads);
        each(right_count.div_ceil(chunk), threads, &|share| {
            let panels = share * chunk..right_count.min((share + 1) * chunk);
            let right_buffer = match Storage::allocate(panels.len() * right_bytes) {
                Ok(buffer) => buffer,
                Err(error) => return failed.note(Err(error)),
            };
            for index in 0..depth.blocks {
                if let Err(error) = check_cancelled() {
                    return failed.note(Err(error));
                }
                let (block, stage) = (depth.range(index, p.k), self.stage(index));
                let groups = block.len().div_ceil(kernels.group);
                failed.note(self.pack_right(panels.clone(), &block, right_buffer.data(), right_bytes));
                kernels.with_registers(|| {
                    for i in 0..left_count {
                        let row = i * height;
                        let down = height.min(p.m - row);
                        for panel in panels.clone() {
                            let column = panel * columns;
                            let across = columns.min(p.n - column);
                            let vectors = across.div_ceil(kernels.lanes);
                            let tile = Tile {
                                depth: groups,
                                left: left_buffer.get().wrapping_add((index * left_count + i) * left_bytes),
                                left_row: 0,
                                left_step: 0,
                                right: right_buffer.data().wrapping_add((panel - panels.start) * right_bytes),
                                right_step: 0,
                                out: std::ptr::null_mut(),
                                out_row: 0,
                                add: std::ptr::null(),
                                add_row: 0,
                                next: 0,
                                rows: down,
                                columns: across,
                                last: None,
                            };
                            let function = kernels.packed[down.div_ceil(step) - 1][vectors - 1];
                            self.compute(function, tile, row, column, stage, sums);
                        }
                    }
                });
            }
        })?;
        failed.result()
    }

    /// Packs neighbouring right panels, the full ones of a matrix all together.
    fn pack_right(&self, panels: Range<usize>, block: &Range<usize>, to: *mut u8, bytes: usize) -> Result<()> {
        let (kernels, p) = (self.ways.kernels, self.problem);
        let columns = kernels.columns();
        let mut done = 0;
        if let Operand::Strided(source) = p.right {
            done = panels.len().min(p.n / columns - panels.start.min(p.n / columns));
            let at = (panels.start * columns) as isize * source.lane + block.start as isize * source.depth;
            let from = Source { at: source.offset(at, self.ways.element), ..source };
            // SAFETY: `block` counts full panels of the operand, and the buffer has space for each.
            unsafe { (self.ways.pack_right)(&from, done * columns, block.len(), columns, to, bytes) };
        }
        for (index, panel) in panels.enumerate().skip(done) {
            let lanes = panel * columns..p.n.min((panel + 1) * columns);
            let width = lanes.len().next_multiple_of(kernels.lanes);
            pack_panel(self.ways, &p.right, lanes, block, width, to.wrapping_add(index * bytes), false)?;
        }
        Ok(())
    }

    fn packed(&self) -> Result<()> {
        let (kernels, p, depth, threads) = (self.ways.kernels, self.problem, self.depth, self.threads);
        let in_place = self.left_in_place();
        let narrow = match p.right {
            Operand::Narrow(narrow) => Some(narrow),
            _ => None,
        };
        let step = if in_place.is_some() || (narrow.is_some() && p.m == 1) { 1 } else { kernels.height_step };
        let (columns, height) = (kernels.columns(), even_parts(p.m, kernels.rows, step));
        let groups = depth.block.div_ceil(kernels.group);
        let left_bytes = (groups * height * kernels.group_bytes()).next_multiple_of(64);
        let right_bytes = match narrow {
            Some(narrow) => narrow.panel_bytes(),
            None => right_panel_bytes(self.ways, &depth),
        };
        let (left_count, right_count) = (p.m.div_ceil(height), p.n.div_ceil(columns));
        let left_most = if in_place.is_some() { left_count } else { left_panels(left_bytes).min(left_count) };
        let right_most = right_panels(right_bytes).min(right_count);
        let is_prepared = matches!(p.right, Operand::Packed(_) | Operand::Narrow(_));
        let left_buffer = Storage::allocate(if in_place.is_some() { 0 } else { left_most * left_bytes })?;
        let right_buffer = Storage::allocate(if is_prepared { 0 } else { right_most * right_bytes })?;
        let waiting = depth.blocks > 1 && !self.ways.stores_sums;
        let sums = match waiting {
            true => Some(Storage::allocate(p.m * p.n * kernels.sum_bytes)?),
            false => None,
        };
        let sums = sums.as_ref().map(|sums| Shared::new(sums.data()));
        let (left_buffer, right_buffer) = (Shared::new(left_buffer.data()), Shared::new(right_buffer.data()));
        for first_panel in (0..right_count).step_by(right_most) {
            let panels = first_panel..right_count.min(first_panel + right_most);
            for index in 0..depth.blocks {
                let (block, stage) = (depth.range(index, p.k), self.stage(index));
                let groups = block.len().div_ceil(kernels.group);
                for first_row in (0..left_count).step_by(left_most) {
                    let rows = first_row..left_count.min(first_row + left_most);
                    let fresh = if first_row == 0 && !is_prepared { panels.len() } else { 0 };
                    // Some panels to a share: packing one takes about a microsecond.
                    let together = if threads > 1 { 4 } else { usize::MAX };
                    let unpacked = if in_place.is_some() { 0 } else { rows.len() };
                    let (left_shares, right_shares) = (unpacked.div_ceil(together), fresh.div_ceil(together));
                    let failed = FirstError::default();
                    each(left_shares + right_shares, threads, &|share| {
                        if share < left_shares {
                            let own =
                                share * together..rows.len().min(share.saturating_add(1).saturating_mul(together));
                            for i in own {
                                let row = (rows.start + i) * height;
                                let lanes = height.min(p.m - row);
                                let (at, width) =
                                    (left_buffer.get().wrapping_add(i * left_bytes), lanes.next_multiple_of(step));
                                let packed = self.pack(&p.left, row..row + lanes, &block, width, at, true);
                                failed.note(packed);
                            }
                        } else {
                            let share = share - left_shares;
                            let own = share * together..fresh.min(share.saturating_add(1).saturating_mul(together));
                            let at = right_buffer.get().wrapping_add(own.start * right_bytes);
                            let own = panels.start + own.start..panels.start + own.end;
                            failed.note(self.pack_right(own, &block, at, right_bytes));
                        }
                    })?;
                    failed.result()?;
                    let right = match p.right {
                        Operand::Packed(packed) => Shared::new(packed.panel(index, panels.start).cast_mut()),
                        Operand::Narrow(narrow) => Shared::new(narrow.panel(index, panels.start).cast_mut()),
                        _ => right_buffer,
                    };
                    let grid = Grid::new([rows.len(), panels.len()], [left_bytes, right_bytes], threads);
                    let compute = |share| {
                        let (own_rows, own_panels) = grid.share(share);
                        for i in own_rows {
                            let row = (rows.start + i) * height;
                            let down = height.min(p.m - row);
                            for panel in own_panels.clone() {
                                let column = (panels.start + panel) * columns;
                                let across = columns.min(p.n - column);
                                let vectors = across.div_ceil(kernels.lanes);
                                let mut tile = Tile {
                                    depth: groups,
                                    left: left_buffer.get().wrapping_add(i * left_bytes),
                                    left_row: 0,
                                    left_step: 0,
                                    right: right.get().wrapping_add(panel * right_bytes),
                                    right_step: (vectors * kernels.lanes * kernels.in_bytes) as isize,
                                    out: std::ptr::null_mut(),
                                    out_row: 0,
                                    add: std::ptr::null(),
                                    add_row: 0,
                                    next: 0,
                                    rows: down,
                                    columns: across,
                                    last: None,
                                };
                                let function = match (in_place, narrow) {
                                    (_, Some(narrow)) => narrow.tile(down.next_multiple_of(step), step),
                                    (Some(left), None) => {
                                        let at = row as isize * left.lane + block.start as isize * left.depth;
                                        tile.left = left.offset(at, kernels.in_bytes);
                                        tile.left_row = left.lane * kernels.in_bytes as isize;
                                        tile.next = down as isize * p.out_row * self.ways.out_bytes as isize;
                                        tile.left_step = left.depth * kernels.in_bytes as isize;
                                        kernels.direct[down - 1][vectors - 1]
                                    }
                                    (None, None) => kernels.packed[down.div_ceil(step) - 1][vectors - 1],
                                };
                                self.compute(function, tile, row, column, stage, sums);
                            }
                        }
                    };
                    each(grid.shares(), threads, &|share| kernels.with_registers(|| compute(share)))?;
                }
            }
        }
        Ok(())
    }

    fn pack(
        &self,
        operand: &Operand<'_>,
        lanes: Range<usize>,
        depth: &Range<usize>,
        width: usize,
        to: *mut u8,
        left: bool,
    ) -> Result<()> {
        pack_panel(self.ways, operand, lanes, depth, width, to, left)
    }
}

/// Bytes between panels of the right operand. Panels of a power of two of bytes, side by side, would begin in one set
/// of the caches, and they are written side by side.
const PANEL_GAP: usize = 128;

/// Bytes of a panel of the right operand, with the gap behind it.
pub(super) fn right_panel_bytes(ways: &Ways, depth: &Depth) -> usize {
    let kernels = ways.kernels;
    let columns = kernels.columns();
    let groups = depth.block.div_ceil(kernels.group);
    (kernels.head_bytes(columns) + groups * columns * kernels.group_bytes()).next_multiple_of(64) + PANEL_GAP
}

/// Packs the lanes of an operand in memory, or of one that is filled, into a panel of `width` lanes.
pub(super) fn pack_panel(
    ways: &Ways,
    operand: &Operand<'_>,
    lanes: Range<usize>,
    depth: &Range<usize>,
    width: usize,
    to: *mut u8,
    left: bool,
) -> Result<()> {
    let (kernels, element) = (ways.kernels, ways.element);
    let pack = if left { ways.pack_left } else { ways.pack_right };
    match operand {
        Operand::Strided(source) => {
            let at = lanes.start as isize * source.lane + depth.start as isize * source.depth;
            let from = Source { at: source.offset(at, element), ..*source };
            // SAFETY: lanes and depth are inside the operand, and the panel has space for them.
            unsafe { pack(&from, lanes.len(), depth.len(), width, to, 0) };
        }
        Operand::Filled(fill) => {
            let bytes = depth.len() * width * element;
            if kernels.group == 1 && kernels.in_bytes == element {
                // SAFETY: the panel has `bytes` bytes and the gap or the alignment behind it, and the elements are
                // packed without conversion.
                unsafe {
                    if lanes.len() < width {
                        to.write_bytes(0, bytes);
                    }
                    fill.fill(lanes, depth.clone(), to, width);
                }
                return Ok(());
            }
            let stored = Storage::allocate(bytes + SLACK)?;
            let from = Source { at: stored.data(), lane: 1, depth: width as isize };
            // SAFETY: the allocation holds `bytes` bytes and the slack, and the packed elements fit.
            unsafe {
                stored.data().write_bytes(0, bytes);
                fill.fill(lanes.clone(), depth.clone(), stored.data(), width);
                pack(&from, lanes.len(), depth.len(), width, to, 0);
            }
        }
        Operand::Packed(_) | Operand::Narrow(_) => {}
    }
    Ok(())
}
