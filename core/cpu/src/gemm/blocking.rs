//! Blocking: how a product is split so that its parts stay in the caches.
//!
//! Splits along k determine the order of additions: they follow from the shape and the kernels alone. Splits along rows
//! and columns only assign work, and may depend on the number of threads: no result depends on them.

use super::tile::Kernels;

/// Bytes of a left panel, which should stay in the first-level cache while right panels pass by.
const PANEL_BYTES: usize = 24 << 10;
/// Elements along k of a block for matrix registers, which are so fast that panels come from the second-level cache
/// anyway, and sums should rarely wait for the next block.
const TILED_DEPTH: usize = 1024;
/// Bytes of right panels that should stay in the second-level cache of a core while left panels pass by. A quarter of it:
/// more was measured to be slower where other virtual machines share the cache.
const RIGHT_SHARE: usize = 256 << 10;
/// Bytes of left panels in a share.
const LEFT_SHARE: usize = 256 << 10;
/// Bytes of left panels that are packed at a time, for all threads.
const LEFT_CHUNK: usize = 8 << 20;
/// Bytes of a left operand that is packed as a whole.
const LEFT_WHOLE: usize = 1 << 20;
/// Bytes of right panels that are packed at a time.
const RIGHT_BYTES: usize = 4 << 20;
/// Multiplications below which a product stays on the caller's thread.
const SERIAL: usize = 3 << 17;
/// Multiplications up to which packing does not pay, if the right operand has rows of at most this many bytes: longer
/// ones map to too few sets of the first-level cache.
const DIRECT: usize = 1 << 27;
const DIRECT_ROW: usize = 2 << 10;
/// Bytes of a right operand of longer use that is read in place.
const DIRECT_BYTES: usize = 512 << 10;
/// Bytes between the elements of a row of the left operand from which on more than [`FEW_LINES`] of them, which every panel
/// of the right operand reads again, are not read in place: they map to too few sets of the caches.
const SCATTERED: usize = 512;
const FEW_LINES: usize = 64;
/// Tiles of rows up to which rows of the right operand may be twice as long: each is read but a few times.
const FEW_TILES: usize = 11;
/// Shares per thread: more than one, so that a thread that starts late has less left to do.
pub(super) const SHARES: usize = 4;

/// Whether rows in place, of tiles of this height and so many bytes apart, map to one set of the first-level cache, which has 8
/// lines or more.
pub(super) fn rows_collide(height: usize, step: isize) -> bool {
    height > 8 && step % 4096 == 0
}

/// The cut along k.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Depth {
    /// Elements of a block; the last may have fewer.
    pub block: usize,
    /// Blocks; 1 also if k is 0.
    pub blocks: usize,
}

impl Depth {
    pub fn new(kernels: &Kernels, k: usize) -> Depth {
        let lane = kernels.rows * kernels.in_bytes;
        if kernels.group == 1 && k.saturating_mul(lane) <= PANEL_BYTES {
            // The usual case of small products, without divisions.
            return Depth { block: k.max(1), blocks: 1 };
        }
        let most = if kernels.registers.is_some() { TILED_DEPTH } else { PANEL_BYTES / lane };
        let block = k.div_ceil(k.div_ceil(most).max(1)).next_multiple_of(kernels.group).max(kernels.group);
        Depth { block, blocks: k.div_ceil(block).max(1) }
    }

    /// The elements of block `index`.
    pub fn range(&self, index: usize, k: usize) -> std::ops::Range<usize> {
        index * self.block..k.min((index + 1) * self.block)
    }
}

/// `total` in parts of at most `most`, as equal as `step` lets them be.
pub(super) fn even_parts(total: usize, most: usize, step: usize) -> usize {
    let parts = total.div_ceil(most).max(1);
    total.div_ceil(parts).next_multiple_of(step).clamp(step, most)
}

/// Left panels packed at a time.
pub(super) fn left_panels(panel_bytes: usize) -> usize {
    (LEFT_CHUNK / panel_bytes.max(1)).max(1)
}

/// Right panels packed at a time.
pub(super) fn right_panels(panel_bytes: usize) -> usize {
    (RIGHT_BYTES / panel_bytes.max(1)).max(1)
}

/// Right panels that stay in the second-level cache of a core.
pub(super) fn right_share(panel_bytes: usize) -> usize {
    (RIGHT_SHARE / panel_bytes.max(1)).max(1)
}

/// Whether each thread packs right panels for itself, and the left operand of this many bytes is packed before.
pub(super) fn packs_by_columns(left_bytes: usize, panels: usize, threads: usize) -> bool {
    left_bytes <= LEFT_WHOLE && panels >= 4 * threads.max(2)
}

/// Right panels that one thread packs and uses, one such piece after the other.
pub(super) fn columns_together(panels: usize, panel_bytes: usize, threads: usize) -> usize {
    let most = right_share(panel_bytes);
    let pieces = panels.div_ceil(most).max(if threads > 1 { SHARES * threads } else { 1 });
    panels.div_ceil(pieces).max(1)
}

/// Number of threads for a product of this many multiplications.
pub(super) fn worthwhile(multiplications: usize, threads: usize) -> usize {
    if multiplications < SERIAL { 1 } else { threads }
}

/// Whether it pays to read both operands in place; the elements of a row of the left one are `step` bytes apart.
pub(super) fn reads_in_place(kernels: &Kernels, [m, n, k]: [usize; 3], step: usize) -> bool {
    let row = n * kernels.in_bytes;
    let few = m <= FEW_TILES * kernels.rows;
    let fits = if few { row <= 2 * DIRECT_ROW } else { row <= DIRECT_ROW && k * row <= DIRECT_BYTES };
    let scattered = step >= SCATTERED && k > FEW_LINES && n > 2 * kernels.columns();
    let small = fits && !scattered && m.saturating_mul(n).saturating_mul(k) <= DIRECT;
    // Few reads per element.
    m <= kernels.rows || small
}

/// A grid of shares over rows of tiles and columns of tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    rows: usize,
    columns: usize,
    row_step: usize,
    column_step: usize,
}

impl Grid {
    /// Shares for `threads` over `rows` by `columns` panels of this many bytes each.
    pub fn new([rows, columns]: [usize; 2], [left_bytes, right_bytes]: [usize; 2], threads: usize) -> Grid {
        if threads == 1 && rows * left_bytes <= LEFT_SHARE && columns * right_bytes <= RIGHT_SHARE {
            return Grid { rows, columns, row_step: rows.max(1), column_step: columns.max(1) };
        }
        let mut row_step = (LEFT_SHARE / left_bytes.max(1)).clamp(1, rows.max(1));
        let most = (RIGHT_SHARE / right_bytes.max(1)).clamp(1, columns.max(1));
        let mut column_step = columns.div_ceil(columns.div_ceil(most).max(1)).max(1);
        let wanted = SHARES * threads;
        if threads > 1 && most == columns && rows >= wanted {
            // Whole rows of the output: shares of columns would read the left operand again, and write parts of rows. 6272 x 32
            // times 32 x 192 with two threads: 0.49 of the time.
            (row_step, column_step) = (row_step.min(rows.div_ceil(wanted)), columns);
        } else if threads > 1 {
            let row_parts = rows.div_ceil(row_step);
            column_step = column_step.min(columns.div_ceil(wanted.div_ceil(row_parts))).max(1);
            let column_parts = columns.div_ceil(column_step);
            if row_parts * column_parts < wanted {
                row_step = rows.div_ceil(wanted.div_ceil(column_parts)).max(1);
            }
        }
        Grid { rows, columns, row_step, column_step }
    }

    /// Number of shares.
    pub fn shares(&self) -> usize {
        self.rows.div_ceil(self.row_step) * self.columns.div_ceil(self.column_step)
    }

    /// The panels of rows and of columns of share `index`. Shares of the same columns follow each other.
    pub fn share(&self, index: usize) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let down = self.rows.div_ceil(self.row_step);
        let (row, column) = (index % down * self.row_step, index / down * self.column_step);
        (row..self.rows.min(row + self.row_step), column..self.columns.min(column + self.column_step))
    }
}
