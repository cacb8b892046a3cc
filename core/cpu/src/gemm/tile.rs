//! The tile of a product: a few rows by a few vectors of sums that stay in registers while k runs.
//!
//! Written once over [`Vector`]; a [`Kernels`] is the result for one arithmetic at one level, a table of functions by
//! tile size. `driver` splits products into tiles.

use super::lanes::Vector;
use crate::finish::After;
use crate::simd::{prefetch, prefetch_far};

/// Inputs and outputs of a tile. Steps are in bytes.
pub(super) struct Tile {
    /// Groups along k.
    pub depth: usize,
    /// The left operand, and the steps to its next row and its next group along k.
    pub left: *const u8,
    pub left_row: isize,
    pub left_step: isize,
    /// The right operand, and the step to its next group along k.
    pub right: *const u8,
    pub right_step: isize,
    /// The destination of the sums.
    pub out: *mut u8,
    pub out_row: isize,
    /// The addend: none if it is null.
    pub add: *const u8,
    pub add_row: isize,
    /// From the output to that of a tile that is computed soon, or 0.
    pub next: isize,
    /// Rows that are written: at most the height of the function.
    pub rows: usize,
    /// Columns that are written: the last vector of the tile has at least one.
    pub columns: usize,
    /// What follows finished sums. Only of arithmetics that clamp.
    pub last: Option<Last>,
}

/// What follows finished sums while they are in registers: a second addend, and bounds.
#[derive(Clone, Copy)]
pub(super) struct Last {
    /// The addend: none if it is null.
    pub add: *const u8,
    pub add_row: isize,
    /// min(max(sum, low), high); NaN is preserved.
    pub bounds: [f32; 2],
}

impl Last {
    /// What follows a tile with this output, if tiles of these kernels can compute it.
    pub fn of(after: &After, kernels: &Kernels, out: *mut u8, out_row: isize) -> Option<Last> {
        let bounds = after.bounds().filter(|_| kernels.clamps)?;
        Some(Last { add: after.addend(out), add_row: out_row, bounds })
    }
}

/// Rows of an operand in place are prefetched this many groups of k ahead.
const AHEAD: isize = 16;

/// This many groups of k take as long as loading the sums from memory.
const LONG: usize = 32;

/// Computes a tile.
///
/// # Safety
/// The processor has the instructions of its level, and the pointers of the tile are good for its size.
pub(super) type TileFn = unsafe fn(&Tile);

/// Computes a tile with one operand in place: the elements of each k begin at an offset, in bytes. The offsets are as many as
/// the tile's depth. Vectors of a right operand are read whole.
///
/// # Safety
/// The contract of [`TileFn`].
pub(super) type AlongFn = unsafe fn(&Tile, &[isize]);

/// The most vectors side by side in a tile.
pub(super) const WIDEST: usize = 3;

/// Functions that enable and disable registers.
pub(super) type Switches = (unsafe fn(), unsafe fn());

/// One arithmetic at one level.
pub(super) struct Kernels {
    /// Rows of the largest tile.
    pub rows: usize,
    /// Sums in a vector.
    pub lanes: usize,
    /// Vectors in the largest tile.
    pub vectors: usize,
    /// Elements along k in a group.
    pub group: usize,
    /// Bytes of a packed element.
    pub in_bytes: usize,
    /// Bytes of a sum.
    pub sum_bytes: usize,
    /// Whether panels of the right operand begin with a row of sums.
    pub head: bool,
    /// Heights of packed tiles are multiples of this.
    pub height_step: usize,
    /// Tiles of packed operands: `[height / height_step - 1][vectors - 1]`.
    pub packed: &'static [[TileFn; WIDEST]],
    /// Tiles of operands in place, `[height - 1][vectors - 1]`, for a right operand with adjacent columns. Not for
    /// every arithmetic.
    pub direct: &'static [[TileFn; WIDEST]],
    /// Tiles with a packed left operand and a right one in place, `[height / height_step - 1][vectors - 1]`. Not for
    /// every arithmetic.
    pub along: &'static [[AlongFn; WIDEST]],
    /// Tiles with a left operand in place and a packed right one, `[height - 1][vectors - 1]`. Not for every arithmetic.
    pub across: &'static [[AlongFn; WIDEST]],
    /// Whether tiles have a [`Last`] step.
    pub clamps: bool,
    /// Functions that enable and disable the registers of the tiles.
    pub registers: Option<Switches>,
}

impl Kernels {
    /// Runs `body`, which computes tiles, with their registers switched on.
    #[inline(always)]
    pub fn with_registers(&self, body: impl FnOnce()) {
        // SAFETY: kernels are only returned for processors that have the registers they need.
        unsafe {
            match self.registers {
                Some((open, close)) => {
                    open();
                    body();
                    close();
                }
                None => body(),
            }
        }
    }

    /// Approximate size, relative to one read in place, from which a product is worth a second thread: packing is
    /// another loop to share, and matrix registers finish sooner.
    pub fn speed(&self, packs: bool) -> usize {
        match (self.registers, packs) {
            (Some(_), _) => 32,
            (None, true) => 4,
            (None, false) => 1,
        }
    }

    /// Columns of a panel.
    pub fn columns(&self) -> usize {
        self.lanes * self.vectors
    }

    /// Bytes of a group of one lane.
    pub fn group_bytes(&self) -> usize {
        self.group * self.in_bytes
    }

    /// Bytes of a panel of the right operand before its elements.
    pub fn head_bytes(&self, columns: usize) -> usize {
        if self.head { columns * self.sum_bytes } else { 0 }
    }
}

/// A tile of `M` rows and `N` vectors; `PACKED` operands are full, of others only the columns that are asked for are
/// read.
///
/// # Safety
/// The contract of [`TileFn`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops by index are the ones that the compiler keeps in registers")]
pub(super) unsafe fn tile<V: Vector, const M: usize, const N: usize, const PACKED: bool>(tile: &Tile) {
    // SAFETY: the caller guarantees pointers that are valid for the sizes in `tile`.
    unsafe {
        let last = tile.columns - (N - 1) * V::LANES;
        let mut right = tile.right;
        let mut sums = [[V::zero(); N]; M];
        if V::HEAD {
            for v in 0..N {
                let start = V::start(right.cast::<V::Sum>().add(v * V::LANES));
                for row in &mut sums {
                    row[v] = start;
                }
            }
            right = right.add(N * V::LANES * size_of::<V::Sum>());
        }
        if PACKED || tile.depth >= LONG {
            prefetch_rows(tile, tile.out, N * V::LANES * size_of::<V::Sum>());
        }
        let mut left = tile.left;
        let left_row = if PACKED { (V::GROUP * size_of::<V::In>()) as isize } else { tile.left_row };
        let left_step = if PACKED { (M * V::GROUP * size_of::<V::In>()) as isize } else { tile.left_step };
        let right_step = if PACKED { (N * V::LANES * V::GROUP * size_of::<V::In>()) as isize } else { tile.right_step };
        let vector = V::LANES * V::GROUP * size_of::<V::In>();
        // Rows of a matrix are far apart: hardware does not prefetch the next ones. Neither does it prefetch the next rows of
        // a left operand that follow each other, as each is read by itself.
        let (mut ahead, ahead_step) = match tile.next {
            0 => (right.wrapping_offset(AHEAD * right_step), right_step),
            _ => (left.wrapping_offset(M as isize * left_row), M as isize * left_step),
        };
        if !PACKED && tile.next != 0 {
            prefetch_rows(tile, tile.out.wrapping_offset(tile.next), N * V::LANES * size_of::<V::Sum>());
        }
        for _ in 0..tile.depth {
            if !PACKED {
                prefetch_far(ahead);
                if N * vector > 64 {
                    prefetch_far(ahead.wrapping_add(64));
                }
                ahead = ahead.wrapping_offset(ahead_step);
            }
            let mut columns = [V::load_first(right.cast(), 0); N];
            for v in 0..N {
                let at = right.add(v * vector).cast();
                columns[v] = if PACKED || v + 1 < N { V::load(at) } else { V::load_first(at, last) };
            }
            for row in 0..M {
                let element = V::splat(left.offset(row as isize * left_row).cast());
                for v in 0..N {
                    sums[row][v] = sums[row][v].mul_add(element, columns[v]);
                }
            }
            left = left.offset(left_step);
            right = right.offset(right_step);
        }
        store::<V, M, N>(tile, sums);
    }
}

/// Prefetches rows of so many bytes, at the steps of the output.
#[inline(always)]
fn prefetch_rows(tile: &Tile, at: *mut u8, bytes: usize) {
    for row in 0..tile.rows {
        for line in 0..bytes.div_ceil(64).max(2) {
            prefetch(at.wrapping_offset(row as isize * tile.out_row + 64 * line as isize));
        }
    }
}

/// A tile of `M` rows and `N` vectors, of a packed left operand and a right one in place.
///
/// # Safety
/// The contract of [`AlongFn`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops by index are the ones that the compiler keeps in registers")]
pub(super) unsafe fn along<V: Vector, const M: usize, const N: usize>(tile: &Tile, offsets: &[isize]) {
    // SAFETY: the caller guarantees pointers that are valid for the sizes in `tile`, and whole vectors at the offsets.
    unsafe {
        let mut sums = [[V::zero(); N]; M];
        let mut left = tile.left.cast::<V::In>();
        for &offset in offsets {
            let right = tile.right.offset(offset).cast::<V::In>();
            let mut columns = [V::load(right); N];
            for v in 1..N {
                columns[v] = V::load(right.add(v * V::LANES));
            }
            for row in 0..M {
                let element = V::splat(left.add(row));
                for v in 0..N {
                    sums[row][v] = sums[row][v].mul_add(element, columns[v]);
                }
            }
            left = left.add(M);
        }
        store::<V, M, N>(tile, sums);
    }
}

/// A tile of `M` rows and `N` vectors, of a left operand in place and a packed right one.
///
/// # Safety
/// The contract of [`AlongFn`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops by index are the ones that the compiler keeps in registers")]
pub(super) unsafe fn across<V: Vector, const M: usize, const N: usize>(tile: &Tile, offsets: &[isize]) {
    // SAFETY: the caller guarantees pointers that are valid for the sizes in `tile`, and elements of `M` rows at the offsets.
    unsafe {
        let mut sums = [[V::zero(); N]; M];
        let mut right = tile.right.cast::<V::In>();
        for &offset in offsets {
            let left = tile.left.offset(offset);
            let mut columns = [V::load(right); N];
            for v in 1..N {
                columns[v] = V::load(right.add(v * V::LANES));
            }
            for row in 0..M {
                let element = V::splat(left.offset(row as isize * tile.left_row).cast());
                for v in 0..N {
                    sums[row][v] = sums[row][v].mul_add(element, columns[v]);
                }
            }
            right = right.add(N * V::LANES);
        }
        store::<V, M, N>(tile, sums);
    }
}

/// Adds what is to be added to the sums of a tile, and stores them. Each loop is small, so that the compiler unrolls it
/// and the sums stay in registers.
///
/// # Safety
/// The contract of [`TileFn`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops by index are the ones that the compiler keeps in registers")]
unsafe fn store<V: Vector, const M: usize, const N: usize>(tile: &Tile, sums: [[V; N]; M]) {
    // SAFETY: the caller guarantees pointers that are valid for the sizes in `tile`.
    unsafe {
        let mut totals = [[sums[0][0].total(); N]; M];
        for row in 0..M {
            for v in 0..N {
                totals[row][v] = sums[row][v].total();
            }
        }
        if !tile.add.is_null() {
            add::<V, M, N>(tile, tile.add, tile.add_row, &mut totals);
        }
        if V::CLAMPS
            && let Some(last) = &tile.last
        {
            if !last.add.is_null() {
                add::<V, M, N>(tile, last.add, last.add_row, &mut totals);
            }
            for row in 0..M {
                for v in 0..N {
                    totals[row][v] = V::clamp(totals[row][v], last.bounds);
                }
            }
        }
        for row in 0..M {
            if row >= tile.rows {
                break;
            }
            let out = tile.out.offset(row as isize * tile.out_row).cast::<V::Sum>();
            for v in 0..N {
                let count = if v + 1 < N { V::LANES } else { tile.columns - (N - 1) * V::LANES };
                V::write(totals[row][v], out.add(v * V::LANES), count);
            }
        }
    }
}

/// Adds rows of elements to the sums of a tile.
///
/// # Safety
/// The contract of [`TileFn`], with the addend at `from`.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops by index are the ones that the compiler keeps in registers")]
unsafe fn add<V: Vector, const M: usize, const N: usize>(
    tile: &Tile,
    from: *const u8,
    step: isize,
    totals: &mut [[V::Total; N]; M],
) {
    for row in 0..M {
        if row >= tile.rows {
            break;
        }
        // SAFETY: the caller guarantees rows and columns of the addend.
        unsafe {
            let from = from.offset(row as isize * step).cast::<V::Sum>();
            for v in 0..N {
                let count = if v + 1 < N { V::LANES } else { tile.columns - (N - 1) * V::LANES };
                totals[row][v] = V::add(totals[row][v], V::read(from.add(v * V::LANES), count));
            }
        }
    }
}
