//! Products of left operands that are packed once, for many sets of columns: the weights of a convolution, and the
//! unfolded positions of its images.
//!
//! [`PackedA`] packs all groups of rows before the first product, or reads them in place if there are few columns. [`PackedA::multiply`] computes some rows by some
//! columns on the caller's thread; callers split the output into such shares. Columns are stored in [`Run`]s, so that a
//! share may cover the ends of several matrices, and rows of tiles need not be adjacent in memory.

use super::blocking::{Depth, even_parts, right_share, rows_collide};
use super::driver::{Buffer, Fill, Operand, each, pack_panel, right_panel_bytes};
use super::epilogue::{Factor as Scale, Finish};
use super::packed::{Erased, Factor, Panels};
use super::tile::{Last, Tile};
use super::ways::{Ways, ways};
use super::{rows as rows_of, worthwhile_threads};
use crate::array::Array;
use crate::finish::After;
use crate::shared::Shared;
use crate::simd::{Level, level, prefetch, prefetch_far};
use rushlight_base::runtime::FirstError;
use rushlight_base::{DType, Result, Scalar, Scratch, ensure, list};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Where the rows of the left operands are.
enum Rows {
    /// In panels, packed for the tiles of this processor.
    Packed(Scratch),
    /// In memory, as they are.
    InPlace(RowsInPlace),
}

/// Rows in memory: the elements of each k are at an offset from the first element of their row.
pub(crate) struct RowsInPlace {
    /// The first element of the first row of the first group.
    pub at: Shared<u8>,
    /// The step to the next group, in bytes.
    pub group_step: isize,
    /// The step to the next row, in bytes.
    pub row_step: isize,
    /// The offset of the element of each k, in bytes.
    pub offsets: Vec<isize>,
}

impl RowsInPlace {
    /// The cache lines of a block of k of so many rows, as offsets from the first row. Hardware does not prefetch them: rows and
    /// channels are far apart.
    fn lines(&self, block: Range<usize>, rows: usize) -> Result<Vec<isize>> {
        let mut lines = Vec::new();
        let offsets = &self.offsets[block];
        let mut at = 0;
        while at < offsets.len() {
            let start = at;
            at += 1;
            while at < offsets.len() && (offsets[at] - offsets[at - 1]).unsigned_abs() <= LINE {
                at += 1;
            }
            let (first, last) = (offsets[start], offsets[at - 1] + 1);
            // Rows that follow each other are one run.
            let merged = self.row_step.unsigned_abs() <= (last - first).unsigned_abs() + LINE;
            let span = if merged { (rows as isize - 1) * self.row_step } else { 0 };
            for row in 0..if merged { 1 } else { rows as isize } {
                let mut line = first + row * self.row_step;
                let end = last + row * self.row_step + span;
                while line < end {
                    list::push(&mut lines, line)?;
                    line += LINE as isize;
                }
            }
        }
        Ok(lines)
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// The left operands of a group of products, packed for the tiles of this processor or read in place.
pub struct PackedA {
    left: Rows,
    /// The addends of the rows, a row of a tile for each. Only where tiles can add them.
    bias: Option<Scratch>,
    ways: Ways,
    depth: Depth,
    rows: usize,
    k: usize,
    groups: usize,
    height: usize,
    panel_bytes: usize,
    per_group: usize,
}

/// Columns of the output at even steps.
#[derive(Clone, Copy)]
pub struct Run {
    /// Number of columns.
    pub lanes: usize,
    /// The first element of the first row of the group.
    pub at: *mut u8,
}

/// The columns of a share.
pub struct Columns<'a> {
    /// Their lanes in the right operand.
    pub lanes: Range<usize>,
    /// Their destinations, in order.
    pub runs: &'a [Run],
    /// Steps to the next row and to the next column of a run, in elements.
    pub steps: [isize; 2],
    /// The addend of each row of all groups.
    pub bias: Option<&'a Array<'a>>,
    /// What follows.
    pub after: Option<After>,
}

/// The destination of a panel of columns.
struct Target {
    /// The only run, if the panel's columns are adjacent in it.
    direct: Option<*mut u8>,
    /// Index of the first run, and columns of it before the panel.
    run: usize,
    skipped: usize,
}

impl PackedA {
    /// Packs the rows of `a`, an operand of `groups` times `rows` rows.
    pub fn new<T: Copy>(dtype: DType, a: Factor<T>, groups: usize, bias: Option<&Array>) -> Result<PackedA> {
        PackedA::at(level(), dtype, a, groups, bias)
    }

    fn at<T: Copy>(level: Level, dtype: DType, a: Factor<T>, groups: usize, bias: Option<&Array>) -> Result<PackedA> {
        let ways = ways(dtype, dtype, level)?;
        let [all, k] = a.sizes();
        ensure!(a.fits(dtype) && groups > 0 && all % groups == 0, Internal, "gemm got rows that do not form groups");
        let (kernels, rows) = (ways.kernels, all / groups);
        let depth = Depth::new(kernels, k);
        let height = even_parts(rows, kernels.rows, kernels.height_step);
        let per_group = rows.div_ceil(height);
        let panel_bytes = (depth.block.div_ceil(kernels.group) * height * kernels.group_bytes()).next_multiple_of(64);
        let count = depth.blocks * groups * per_group;
        let panels = Scratch::new(count.saturating_mul(panel_bytes))?;
        let start = Shared::new(panels.start());
        let packed = PackedA {
            left: Rows::Packed(panels),
            bias: expanded(&ways, bias, all)?,
            ways,
            depth,
            rows,
            k,
            groups,
            height,
            panel_bytes,
            per_group,
        };
        let erased = a.panels();
        let operand = match (&a, &erased) {
            (Factor::Matrix(matrix), _) => Operand::Strided(rows_of(matrix)),
            (_, Some(erased)) => Operand::Filled(erased as &dyn Fill),
            (Factor::Panels(..), None) => return Ok(packed),
        };
        let failed = FirstError::default();
        let threads = worthwhile_threads(all.saturating_mul(k).saturating_mul(16));
        let together = if threads > 1 { (4096 / depth.block.max(1)).max(1) } else { count.max(1) };
        each(count.div_ceil(together), threads, &|share| {
            for index in share * together..count.min((share + 1) * together) {
                let (block, group, panel) =
                    (index / (groups * per_group), index / per_group % groups, index % per_group);
                let first = panel * height;
                let lanes = height.min(rows - first);
                let from = group * rows + first;
                let to = start.get().wrapping_add(index * panel_bytes);
                let width = lanes.next_multiple_of(kernels.height_step);
                let block = depth.range(block, k);
                failed.note(pack_panel(&packed.ways, &operand, from..from + lanes, &block, width, to, true));
            }
        })?;
        failed.result().map(|()| packed)
    }

    /// Reads the rows in place: `groups` times `rows` of them. None if the kernels have no tiles for it, or the rows collide in the
    /// cache.
    ///
    /// # Safety
    /// The elements of all rows at the offsets can be read as long as the result lives.
    pub(crate) unsafe fn in_place(
        dtype: DType,
        place: RowsInPlace,
        [groups, rows]: [usize; 2],
        bias: Option<&Array>,
    ) -> Result<Option<PackedA>> {
        let ways = ways(dtype, dtype, level())?;
        let (kernels, k) = (ways.kernels, place.offsets.len());
        if kernels.across.is_empty() || kernels.in_bytes != ways.element || kernels.group != 1 {
            return Ok(None);
        }
        let height = even_parts(rows, kernels.across.len(), 1);
        if rows_collide(height, place.row_step) {
            return Ok(None);
        }
        Ok(Some(PackedA {
            left: Rows::InPlace(place),
            bias: expanded(&ways, bias, groups * rows)?,
            depth: Depth::new(kernels, k),
            ways,
            rows,
            k,
            groups,
            height,
            panel_bytes: 0,
            per_group: rows.div_ceil(height),
        }))
    }

    /// Panels of rows of a group.
    pub fn row_panels(&self) -> usize {
        self.per_group
    }

    /// Columns of a tile.
    pub fn columns(&self) -> usize {
        self.ways.kernels.columns()
    }

    /// Columns that one share should compute: as many as stay in the cache while the rows pass by.
    pub fn columns_together(&self) -> usize {
        right_share(right_panel_bytes(&self.ways, &self.depth)) * self.columns()
    }

    /// Computes the panels `rows` of the rows of a group, times `columns` of `right`, on this thread.
    ///
    /// # Safety
    /// The runs have as many columns as `lanes`, and with these steps their elements are parts of an output that no
    /// other share writes.
    pub unsafe fn multiply<T: Copy>(
        &self,
        group: usize,
        rows: Range<usize>,
        right: &dyn Panels<T>,
        columns: &Columns<'_>,
    ) -> Result<()> {
        ensure!(
            size_of::<T>() == self.ways.element && group < self.groups && rows.end <= self.per_group,
            Internal,
            "a packed product got columns of another dtype"
        );
        let erased = Erased(right);
        // SAFETY: the caller guarantees the runs and their steps.
        unsafe { self.share(group, rows, &erased, columns) }
    }

    /// Whether [`multiply_along`](PackedA::multiply_along) can compute these products, of at most so many rows.
    pub fn reads_in_place(&self, most: usize) -> bool {
        let kernels = self.ways.kernels;
        let plain = self.ways.stores_sums && kernels.in_bytes == self.ways.element && kernels.group == 1;
        matches!(self.left, Rows::Packed(_)) && plain && !kernels.along.is_empty() && self.rows <= most
    }

    /// Columns of a vector.
    pub fn lanes(&self) -> usize {
        self.ways.kernels.lanes
    }

    /// Computes all rows of a group times adjacent columns that are read in place, on this thread: the elements of each
    /// k begin at an offset, in bytes, from the address of a run. Requires [`reads_in_place`](PackedA::reads_in_place).
    ///
    /// # Safety
    /// There are as many offsets as the operand has columns. Whole vectors can be read at each of them for each run,
    /// which has as many columns as a tile at most. The elements of the runs are parts of an output that no other share
    /// writes, adjacent in a row, and rows are `row_step` elements apart. `after` is that of [`Columns`].
    pub unsafe fn multiply_along(
        &self,
        group: usize,
        runs: impl Iterator<Item = (*const u8, Run)>,
        offsets: &[isize],
        row_step: isize,
        after: Option<After>,
    ) {
        let kernels = self.ways.kernels;
        let (across, bytes) = (self.columns(), kernels.sum_bytes);
        let Rows::Packed(panels) = &self.left else { return };
        for (right, run) in runs {
            for index in 0..self.depth.blocks {
                let offsets = &offsets[self.depth.range(index, self.k)];
                // Planes are far apart: hardware does not prefetch the columns that follow.
                for &offset in offsets {
                    prefetch_far(right.wrapping_offset(offset).wrapping_add(across * bytes));
                }
                let (first, last) = (index == 0, index + 1 == self.depth.blocks);
                for panel in 0..self.per_group {
                    let row = panel * self.height;
                    let down = self.height.min(self.rows - row);
                    let out = run.at.wrapping_offset(row as isize * row_step * bytes as isize);
                    let out_row = row_step * bytes as isize;
                    let bias = self.bias.as_ref().map_or(std::ptr::null(), |bias| {
                        bias.start().wrapping_add((group * self.rows + row) * across * bytes).cast_const()
                    });
                    let left = (index * self.groups + group) * self.per_group + panel;
                    let mut tile = Tile {
                        depth: offsets.len(),
                        left: panels.start().wrapping_add(left * self.panel_bytes),
                        left_row: 0,
                        left_step: 0,
                        right,
                        right_step: 0,
                        out,
                        out_row,
                        add: if first { bias } else { out.cast_const() },
                        add_row: if first { (across * bytes) as isize } else { out_row },
                        next: 0,
                        rows: down,
                        columns: run.lanes,
                        last: None,
                    };
                    let after = after.filter(|_| last);
                    tile.last = after.and_then(|after| Last::of(&after, kernels, tile.out, tile.out_row));
                    let function =
                        kernels.along[down.div_ceil(kernels.height_step) - 1][run.lanes.div_ceil(kernels.lanes) - 1];
                    // SAFETY: the panel was packed for a tile of so many rows; the caller guarantees columns and
                    // destinations.
                    unsafe { function(&tile, offsets) };
                    if let (Some(after), None) = (after, tile.last) {
                        // SAFETY: the tile is a part of the output that only this share writes.
                        unsafe { after.finish(tile.out, [down, run.lanes]) };
                    }
                }
            }
        }
    }

    /// # Safety
    /// The contract of `multiply`.
    unsafe fn share(&self, group: usize, rows: Range<usize>, right: &dyn Fill, columns: &Columns<'_>) -> Result<()> {
        let (kernels, depth, across) = (self.ways.kernels, self.depth, self.columns());
        let lanes = columns.lanes.clone();
        let panels = lanes.len().div_ceil(across);
        let right_bytes = right_panel_bytes(&self.ways, &depth);
        let packed = Scratch::new(panels.saturating_mul(right_bytes))?;
        let targets = self.targets(columns, panels)?;
        let buffered = depth.blocks > 1 && (!self.ways.stores_sums || targets.iter().any(|t| t.direct.is_none()));
        let (first_row, last_row) = (rows.start * self.height, self.rows.min(rows.end * self.height));
        let sums_row = panels * across;
        let sums_bytes = if buffered { (last_row - first_row) * sums_row * kernels.sum_bytes } else { 0 };
        let sums = Scratch::new(sums_bytes)?;
        for index in 0..depth.blocks {
            let block = depth.range(index, self.k);
            for panel in 0..panels {
                let own = lanes.start + panel * across..lanes.end.min(lanes.start + (panel + 1) * across);
                let width = own.len().next_multiple_of(kernels.lanes);
                let to = packed.start().wrapping_add(panel * right_bytes);
                pack_panel(&self.ways, &Operand::Filled(right), own, &block, width, to, false)?;
            }
            let (first, last) = (index == 0, index + 1 == depth.blocks);
            let ahead = match &self.left {
                Rows::Packed(_) => Vec::new(),
                Rows::InPlace(place) => place.lines(block.clone(), self.height)?,
            };
            kernels.with_registers(|| {
                for row_panel in rows.clone() {
                    let row = row_panel * self.height;
                    let down = self.height.min(self.rows - row);
                    let (left, left_row, offsets) = match &self.left {
                        Rows::Packed(panels) => {
                            let panel = (index * self.groups + group) * self.per_group + row_panel;
                            (panels.start().wrapping_add(panel * self.panel_bytes).cast_const(), 0, &[][..])
                        }
                        Rows::InPlace(place) => {
                            let offset = group as isize * place.group_step + row as isize * place.row_step;
                            let at = place.at.get().wrapping_offset(offset).cast_const();
                            let next = at.wrapping_offset(self.height as isize * place.row_step);
                            for &line in &ahead {
                                prefetch(next.wrapping_offset(line));
                            }
                            (at, place.row_step, &place.offsets[block.clone()])
                        }
                    };
                    // The tiles of `down` rows and so many vectors.
                    let compute = |tile: &Tile, vectors: usize| {
                        // SAFETY: the panels were packed for these tiles, or the rows can be read at the offsets; the
                        // sums of the tile go where this share alone writes.
                        unsafe {
                            match &self.left {
                                Rows::Packed(_) => {
                                    kernels.packed[down.div_ceil(kernels.height_step) - 1][vectors - 1](tile)
                                }
                                Rows::InPlace(_) => kernels.across[down - 1][vectors - 1](tile, offsets),
                            }
                        }
                    };
                    for (panel, target) in targets.iter().enumerate() {
                        let width = across.min(lanes.len() - panel * across);
                        let mut tile = Tile {
                            depth: block.len().div_ceil(kernels.group),
                            left,
                            left_row,
                            left_step: 0,
                            right: packed.start().wrapping_add(panel * right_bytes),
                            right_step: 0,
                            out: std::ptr::null_mut(),
                            out_row: 0,
                            add: std::ptr::null(),
                            add_row: 0,
                            next: 0,
                            rows: down,
                            columns: width,
                            last: None,
                        };
                        let vectors = width.div_ceil(kernels.lanes);
                        if let (true, Some(bias)) = (first, &self.bias) {
                            let at = (group * self.rows + row) * across * kernels.sum_bytes;
                            tile.add = bias.start().wrapping_add(at);
                            tile.add_row = (across * kernels.sum_bytes) as isize;
                        }
                        if let Some(at) = target.direct.filter(|_| self.ways.stores_sums) {
                            let bytes = kernels.sum_bytes as isize;
                            tile.out = at.wrapping_offset(row as isize * columns.steps[0] * bytes);
                            tile.out_row = columns.steps[0] * bytes;
                            if !first {
                                (tile.add, tile.add_row) = (tile.out, tile.out_row);
                            }
                            let after = columns.after.filter(|_| last);
                            tile.last = after.and_then(|after| Last::of(&after, kernels, tile.out, tile.out_row));
                            compute(&tile, vectors);
                            if let (Some(after), None) = (after, tile.last) {
                                // SAFETY: the tile is a part of the output that only this share writes.
                                unsafe { after.finish(tile.out, [down, width]) };
                            }
                            continue;
                        }
                        let waiting = sums
                            .start()
                            .wrapping_add(((row - first_row) * sums_row + panel * across) * kernels.sum_bytes);
                        if !first {
                            (tile.add, tile.add_row) = (waiting, (sums_row * kernels.sum_bytes) as isize);
                        }
                        if !last {
                            (tile.out, tile.out_row) = (waiting, (sums_row * kernels.sum_bytes) as isize);
                            compute(&tile, vectors);
                            continue;
                        }
                        let mut buffer = MaybeUninit::<Buffer>::uninit();
                        let pitch = vectors * kernels.lanes;
                        (tile.out, tile.out_row) = (buffer.as_mut_ptr().cast(), (pitch * kernels.sum_bytes) as isize);
                        compute(&tile, vectors);
                        // SAFETY: the buffer holds the sums of the largest tile, and the columns of the runs are inside
                        // the output.
                        unsafe { self.scatter(tile.out, pitch, group, row..row + down, width, target, columns) };
                    }
                }
            });
        }
        Ok(())
    }

    fn targets(&self, columns: &Columns<'_>, panels: usize) -> Result<Vec<Target>> {
        let across = self.columns();
        let bytes = self.ways.out_bytes as isize;
        let mut targets = list::with_capacity(panels)?;
        let (mut run, mut skipped) = (0, 0);
        for panel in 0..panels {
            let width = across.min(columns.lanes.len() - panel * across);
            let left = columns.runs.get(run).map_or(0, |run| run.lanes - skipped);
            let direct = match columns.runs.get(run) {
                Some(at) if columns.steps[1] == 1 && left >= width => {
                    Some(at.at.wrapping_offset(skipped as isize * bytes))
                }
                _ => None,
            };
            targets.push(Target { direct, run, skipped });
            let mut rest = width;
            while let Some(at) = columns.runs.get(run).filter(|_| rest > 0) {
                let taken = rest.min(at.lanes - skipped);
                (rest, skipped) = (rest - taken, skipped + taken);
                if skipped == at.lanes {
                    (run, skipped) = (run + 1, 0);
                }
            }
        }
        Ok(targets)
    }

    /// Stores finished sums, `pitch` in a row, in the runs of a panel.
    ///
    /// # Safety
    /// The sums are those of a tile of so many rows and columns, and the contract of `multiply`.
    #[allow(clippy::too_many_arguments, reason = "a tile and its place")]
    unsafe fn scatter(
        &self,
        sums: *const u8,
        pitch: usize,
        group: usize,
        rows: Range<usize>,
        width: usize,
        target: &Target,
        columns: &Columns<'_>,
    ) {
        let (kernels, ways) = (self.ways.kernels, &self.ways);
        let (bytes, [row_step, column_step]) = (ways.out_bytes as isize, columns.steps);
        let (mut run, mut skipped, mut column) = (target.run, target.skipped, 0);
        while column < width {
            let Some(at) = columns.runs.get(run) else { return };
            let count = (width - column).min(at.lanes - skipped);
            let offset = rows.start as isize * row_step + skipped as isize * column_step;
            let out = at.at.wrapping_offset(offset * bytes);
            let from = sums.wrapping_add(column * kernels.sum_bytes);
            if ways.stores_sums && (row_step == 1 || column_step == 1) {
                let (steps, sizes) = ([row_step, column_step], [rows.len(), count]);
                // SAFETY: the caller guarantees the sums and the columns of the run.
                unsafe {
                    match kernels.sum_bytes {
                        4 => place::<u32>(from, pitch, out, steps, sizes),
                        8 => place::<u64>(from, pitch, out, steps, sizes),
                        _ => place::<[u64; 2]>(from, pitch, out, steps, sizes),
                    }
                }
            } else {
                // Tiles have added the bias where it was expanded.
                let bias = columns.bias.filter(|_| self.bias.is_none());
                let first = (group * self.rows + rows.start) as isize;
                let add = bias.map_or(std::ptr::null(), |bias| {
                    bias.first_byte().wrapping_offset(first * bias.stride(0) * bytes).cast_const()
                });
                let one = (ways.factor)(Scalar::Int(1));
                let finish = Finish {
                    sums: from,
                    sums_row: pitch,
                    out,
                    out_row: row_step,
                    out_column: column_step,
                    add,
                    add_row: bias.map_or(0, |bias| bias.stride(0)),
                    add_column: 0,
                    rows: rows.len(),
                    columns: count,
                    alpha: one,
                    beta: Scale::clone(&one),
                };
                // SAFETY: the caller guarantees the sums and the columns of the run; the bias has an element for each
                // row of each group.
                unsafe { (ways.finish)(&finish) };
            }
            if let Some(after) = columns.after {
                // SAFETY: the columns of a run are parts of the output that only this share writes.
                unsafe { after.finish(out, [rows.len(), count]) };
            }
            column += count;
            skipped += count;
            if skipped == at.lanes {
                (run, skipped) = (run + 1, 0);
            }
        }
    }
}

/// The addends of all rows, as often as a tile has columns, where tiles can add them.
fn expanded(ways: &Ways, bias: Option<&Array>, rows: usize) -> Result<Option<Scratch>> {
    let Some(bias) = bias.filter(|_| ways.stores_sums) else { return Ok(None) };
    let (across, bytes) = (ways.kernels.columns(), ways.out_bytes);
    let scratch = Scratch::new(rows.saturating_mul(across).saturating_mul(bytes))?;
    for row in 0..rows {
        let from = bias.first_byte().wrapping_offset(row as isize * bias.stride(0) * bytes as isize);
        let to = scratch.start().wrapping_add(row * across * bytes);
        for column in 0..across {
            // SAFETY: the bias has an element for each row, and the scratch block has `across` elements for each row.
            unsafe { std::ptr::copy_nonoverlapping(from, to.add(column * bytes), bytes) };
        }
    }
    Ok(Some(scratch))
}

/// Copies rows of sums, `pitch` apart, to rows or columns that are adjacent in memory.
///
/// # Safety
/// The sums are readable, and the elements of `out` at these steps are writable.
unsafe fn place<T: Copy>(from: *const u8, pitch: usize, out: *mut u8, steps: [isize; 2], [rows, columns]: [usize; 2]) {
    let (from, out) = (from.cast::<T>(), out.cast::<T>());
    // SAFETY: row < rows and column < columns; the caller guarantees these elements of both.
    unsafe {
        if steps[1] == 1 {
            for row in 0..rows {
                let to = out.offset(row as isize * steps[0]);
                for column in 0..columns {
                    to.add(column).write_unaligned(from.add(row * pitch + column).read_unaligned());
                }
            }
        } else {
            for column in 0..columns {
                let to = out.offset(column as isize * steps[1]);
                for row in 0..rows {
                    to.offset(row as isize * steps[0]).write_unaligned(from.add(row * pitch + column).read_unaligned());
                }
            }
        }
    }
}
