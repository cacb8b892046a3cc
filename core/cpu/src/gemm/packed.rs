//! Operands that are not matrices in memory: packed once and used often, or generated panel by panel.

use super::blocking::{Depth, right_share, rows_collide};
use super::driver::{Fill, Operand, pack_panel, right_panel_bytes};
use super::pack::Source;
use super::tile::{Kernels, Last, Tile};
use super::ways::{Ways, ways};
use crate::array::Array;
use crate::finish::After;
use crate::simd::{Level, level};
use rushlight_base::{DType, Result, Storage, ensure};
use std::ops::Range;

/// The right operand of products, packed for the tiles of this processor: for example the weights of a layer, packed
/// once.
pub struct PackedB {
    panels: Storage,
    k: usize,
    n: usize,
    dtype: DType,
    out: DType,
    level: Level,
    panel_bytes: usize,
    panels_per_block: usize,
}

impl PackedB {
    /// Packs the matrix `b`, for products with matrices of its dtype.
    pub fn new(b: &Array) -> Result<PackedB> {
        PackedB::for_output(b, b.dtype(), level())
    }

    /// Packs a matrix of int8, for products that are sums in int32.
    pub fn for_sums(b: &Array) -> Result<PackedB> {
        PackedB::for_output(b, DType::I32, level())
    }

    pub(super) fn for_output(b: &Array, out: DType, level: Level) -> Result<PackedB> {
        ensure!(b.ndim() == 2, Internal, "a packed operand must be a matrix, not {}-dimensional", b.ndim());
        let ways = ways(b.dtype(), out, level)?;
        let (k, n, kernels) = (b.size(0), b.size(1), ways.kernels);
        let depth = Depth::new(kernels, k);
        let (panel_bytes, columns) = (right_panel_bytes(&ways, &depth), kernels.columns());
        let panels_per_block = n.div_ceil(columns);
        let panels = Storage::allocate(depth.blocks * panels_per_block * panel_bytes)?;
        let packed = PackedB { panels, k, n, dtype: b.dtype(), out, level, panel_bytes, panels_per_block };
        let operand = Operand::Strided(Source { at: b.first_byte(), lane: b.stride(1), depth: b.stride(0) });
        for index in 0..depth.blocks {
            let block = depth.range(index, k);
            for panel in 0..panels_per_block {
                let lanes = panel * columns..n.min((panel + 1) * columns);
                let width = lanes.len().next_multiple_of(kernels.lanes);
                let at = packed.panel(index, panel).cast_mut();
                pack_panel(&ways, &operand, lanes, &block, width, at, false)?;
            }
        }
        Ok(packed)
    }

    /// Rows and columns of the matrix.
    pub fn sizes(&self) -> [usize; 2] {
        [self.k, self.n]
    }

    /// Element type of the matrix.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Bytes of the packed elements.
    pub fn bytes(&self) -> usize {
        self.panels.bytes()
    }

    /// The tables for which it was packed.
    pub(super) fn ways(&self) -> Result<Ways> {
        ways(self.dtype, self.out, self.level)
    }

    pub(super) fn out_dtype(&self) -> DType {
        self.out
    }

    /// The products with rows in place, if the kernels have such tiles.
    pub fn across(&self) -> Result<Option<Across<'_>>> {
        let ways = self.ways()?;
        let kernels = ways.kernels;
        let plain = ways.stores_sums && kernels.in_bytes == ways.element && kernels.group == 1;
        let fits = plain && !kernels.across.is_empty();
        Ok(fits.then(|| Across { packed: self, kernels, depth: Depth::new(kernels, self.k) }))
    }

    /// Panel `panel` of block `block` of k.
    pub(super) fn panel(&self, block: usize, panel: usize) -> *const u8 {
        self.panels.data().wrapping_add((block * self.panels_per_block + panel) * self.panel_bytes)
    }
}

/// Products of a packed operand and rows in place.
#[derive(Clone, Copy)]
pub struct Across<'a> {
    packed: &'a PackedB,
    kernels: &'a Kernels,
    depth: Depth,
}

/// A part of the weights: a block of k, and some panels of columns.
#[derive(Clone)]
pub struct Part {
    block: usize,
    panels: Range<usize>,
}

/// Rows of a left operand in place, and where their products go.
pub struct Lines<'a> {
    /// Number of rows.
    pub rows: usize,
    /// The first row.
    pub from: *const u8,
    /// The step to the next row, in bytes.
    pub from_step: isize,
    /// Offsets of the elements of each k, in bytes.
    pub offsets: &'a [isize],
    /// The first row of the output, whose columns are adjacent.
    pub to: *mut u8,
    /// The step to the next row of the output, in bytes.
    pub to_step: isize,
    /// Is added to each row: null, or as many elements as the operand has columns.
    pub bias: *const u8,
    /// What follows.
    pub after: Option<After>,
}

impl Across<'_> {
    /// Whether rows so many bytes apart collide in the cache.
    pub fn rows_collide(&self, step: isize) -> bool {
        rows_collide(self.kernels.across.len(), step)
    }

    /// The parts of the weights, which stay in the cache while rows pass by. Those of each block of k follow the ones before.
    pub fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let (count, most) = (self.packed.panels_per_block, right_share(self.packed.panel_bytes));
        let blocks = 0..self.depth.blocks;
        blocks.flat_map(move |block| {
            (0..count).step_by(most).map(move |first| Part { block, panels: first..count.min(first + most) })
        })
    }

    /// Computes rows with a part of the weights, on this thread. The first block of k writes the output, others add to it.
    ///
    /// # Safety
    /// The elements of the rows at the offsets, as many as the operand has rows, can be read, and those of the output
    /// written, which no other thread uses. `after` is that of the output.
    pub unsafe fn multiply(&self, part: &Part, lines: &Lines) {
        let (kernels, bytes) = (self.kernels, self.kernels.sum_bytes);
        let across = kernels.columns();
        let offsets = &lines.offsets[self.depth.range(part.block, self.packed.k)];
        let (first, last) = (part.block == 0, part.block + 1 == self.depth.blocks);
        let mut row = 0;
        while row < lines.rows {
            let down = kernels.across.len().min(lines.rows - row);
            for panel in part.panels.clone() {
                let column = panel * across;
                let columns = across.min(self.packed.n - column);
                let out = lines.to.wrapping_offset(row as isize * lines.to_step).wrapping_add(column * bytes);
                let bias = if lines.bias.is_null() { lines.bias } else { lines.bias.wrapping_add(column * bytes) };
                let mut tile = Tile {
                    depth: offsets.len(),
                    left: lines.from.wrapping_offset(row as isize * lines.from_step),
                    left_row: lines.from_step,
                    left_step: 0,
                    right: self.packed.panel(part.block, panel),
                    right_step: 0,
                    out,
                    out_row: lines.to_step,
                    add: if first { bias } else { out.cast_const() },
                    add_row: if first { 0 } else { lines.to_step },
                    next: 0,
                    rows: down,
                    columns,
                    last: None,
                };
                let after = lines.after.filter(|_| last);
                tile.last = after.and_then(|after| Last::of(&after, kernels, tile.out, tile.out_row));
                let function = kernels.across[down - 1][columns.div_ceil(kernels.lanes) - 1];
                // SAFETY: the caller guarantees rows and output; the panel was packed for so many vectors.
                unsafe { function(&tile, offsets) };
                if let (Some(after), None) = (after, tile.last) {
                    // SAFETY: the caller guarantees the output.
                    unsafe { after.finish(tile.out, [down, columns]) };
                }
            }
            row += down;
        }
    }
}

/// Bytes behind the elements of a right operand's panel that may be overwritten: whole vectors are copied.
pub const SLACK: usize = 64;

/// An operand that exists only panel by panel, such as the unfolded image of a convolution.
///
/// "Lanes" are the rows of a left operand or the columns of a right one. `T` has the size of an element, and at most
/// its alignment: panels are filled with elements that are moved, not computed. All-zero bytes are a valid value of it.
pub trait Panels<T: Copy>: Sync {
    /// Writes the elements of `lanes` for each k of `depth` into `panel`: lane `i` of the `p`-th k belongs at
    /// `panel[p * width + i]`. Called once for each panel, from several threads.
    ///
    /// # Safety
    /// The panel has space for `depth.len() * width` elements; of a right operand, for [`SLACK`] bytes more. If there
    /// are fewer lanes than `width`, the panel is all zeros, and elements of the missing lanes may have any value
    /// after.
    unsafe fn fill(&self, lanes: Range<usize>, depth: Range<usize>, panel: *mut T, width: usize);
}

/// The bytes that a `Panels` fills.
pub(super) struct Erased<'a, T: Copy>(pub &'a dyn Panels<T>);

impl<T: Copy> Fill for Erased<'_, T> {
    unsafe fn fill(&self, lanes: Range<usize>, depth: Range<usize>, to: *mut u8, width: usize) {
        // SAFETY: the caller provides the panel as `Panels::fill` requires; the contracts are the same.
        unsafe { self.0.fill(lanes, depth, to.cast(), width) }
    }
}

/// An operand of a product: a matrix, or a source that fills panels.
pub enum Factor<'a, T: Copy> {
    /// A matrix in memory.
    Matrix(&'a Array<'a>),
    /// Sizes of the matrix, and the source that fills its panels.
    Panels([usize; 2], &'a dyn Panels<T>),
}

impl<'a, T: Copy> Factor<'a, T> {
    pub(super) fn sizes(&self) -> [usize; 2] {
        match self {
            Factor::Matrix(matrix) => [matrix.size(0), matrix.size(1)],
            Factor::Panels(sizes, _) => *sizes,
        }
    }

    /// Whether it is a matrix of `dtype`.
    pub(super) fn fits(&self, dtype: DType) -> bool {
        match self {
            Factor::Matrix(matrix) => matrix.ndim() == 2 && matrix.dtype() == dtype,
            Factor::Panels(..) => dtype.size() == size_of::<T>(),
        }
    }

    pub(super) fn panels(&self) -> Option<Erased<'a, T>> {
        match self {
            Factor::Matrix(_) => None,
            Factor::Panels(_, panels) => Some(Erased(*panels)),
        }
    }
}
