//! Brings any walk to kernels that only know contiguous memory of one dtype.
//!
//! The plan is cut into tiles. Within a tile, an operand that is contiguous, of the dtype that is computed in and
//! apart from the output is used where it lies; any other is staged: gathered, converted, or just copied into a block
//! that stays in the cache. A block that the next tile needs again (a broadcast row, a number) is kept. Tiles are
//! independent, so they are cut into chunks for threads.

use super::Loop;
use super::stage::{self, Side, move_tile};
use crate::convert::caster;
use crate::shared::Shared;
use rushlight_base::plan::{Plan, Tile, Tiles};
use rushlight_base::runtime::{check_cancelled, parallel_chunks};
use rushlight_base::{DType, Result, callee};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Converts so many elements: `cast(from, to, len)`.
pub(crate) type Cast = unsafe fn(*const u8, *mut u8, usize);

callee! {
    /// What a loop over contiguous memory is to `drive`.
    pub(super) struct Kernel<const N: usize>: shared fn(at: [*mut u8; N], len: usize);
}

/// Bytes of a block. Those of three operands fit a first-level cache together.
const BLOCK: usize = 8192;

/// An element that is staged takes about as long as so many that are not.
const STAGED: usize = 3;

/// Elements that a kernel gets at once where an operand is a number, of which as many copies are staged.
const COPIES: usize = 1024;

/// A row shorter than this is staged with others rather than given to the kernel alone.
const SHORT_ROW: usize = 32;

#[repr(align(64))]
struct Block(#[allow(dead_code)] [MaybeUninit<u8>; BLOCK]);

#[derive(Clone, Copy)]
struct Operand {
    at: *mut u8,
    /// Bytes of an element in memory, and of one that is computed with.
    size: usize,
    width: usize,
    /// From the dtype in memory to the one that is computed in, by way of the common one; the output's leads back.
    casts: [Option<Cast>; 2],
    /// Is the output in the memory of this input, and not simply the same?
    shared: bool,
}

impl Operand {
    /// Is this output the memory of `input` as it is?
    fn is_place_of(&self, input: &Operand) -> bool {
        self.at == input.at && self.size == input.size && self.casts[0].is_none() && input.casts[0].is_none()
    }

    fn must_be_staged(&self) -> bool {
        self.casts[0].is_some() || self.shared
    }
}

struct Job<'j, const N: usize> {
    operands: [Operand; N],
    steps: [isize; N],
    across: [isize; N],
    kernel: Kernel<'j, N>,
}

// SAFETY: what is behind the pointers is vouched for by `Array::new`; chunks write disjoint elements.
unsafe impl<const N: usize> Sync for Job<'_, N> {}

/// Runs `kernel` over all of `walk`; see `Loop::run`.
#[inline(never)]
pub(super) fn drive<const N: usize>(
    walk: &Loop<N>,
    common: DType,
    compute: [DType; N],
    grain: usize,
    kernel: Kernel<N>,
) -> Result<()> {
    let flat;
    let plan = match &walk.plan {
        Some(plan) => &**plan,
        None => {
            flat = Plan::row(walk.len, walk.row_steps());
            &flat
        }
    };
    let shared = shared_memory(walk, plan);
    let steps = plan.row_steps();
    let mut operands = [Operand { at: std::ptr::null_mut(), size: 1, width: 1, casts: [None; 2], shared: false }; N];
    for (index, operand) in operands.iter_mut().enumerate() {
        let casts = if index == 0 {
            [caster_between(compute[0], walk.dtypes[0])?, None]
        } else {
            casts(walk.dtypes[index], common, compute[index])?
        };
        let (size, width) = (walk.dtypes[index].size(), compute[index].size());
        *operand = Operand { at: walk.at[index], size, width, casts, shared: shared >> index & 1 == 1 };
    }
    // Kernels can read the first input where they write the output (`flat.rs`).
    if N > 1 && operands[0].is_place_of(&operands[1]) && plan.are_alike(0, 1) {
        operands[1].shared = false;
    }
    let staged = operands.iter().any(Operand::must_be_staged) || steps.iter().any(|&step| step != 1);
    if plan.rank() == 1 && !staged {
        let at = walk.at.map(Shared::new);
        let sizes: [usize; N] = std::array::from_fn(|index| operands[index].size);
        return parallel_chunks(walk.len, grain, &|part| {
            let at = std::array::from_fn(|index| at[index].get().wrapping_add(part.start * sizes[index]));
            kernel.call(at, part.len());
        });
    }
    let is_flat = |index: usize| steps[index] == 1 && !operands[index].must_be_staged();
    let is_copied = |index: usize| steps[index] == 0 && !operands[index].shared;
    if plan.rank() == 1 && is_flat(0) && (1..N).all(|index| is_flat(index) || is_copied(index)) {
        let job = Job { operands, steps, across: [0; N], kernel };
        return parallel_chunks(walk.len, grain, &|part| {
            // SAFETY: the walk's memory is vouched for by `Array::new`; parts stay within it.
            unsafe { job.run_beside_numbers(part) }
        });
    }
    let widest = operands.iter().map(|operand| operand.size.max(operand.width)).max().unwrap_or(1);
    let room = BLOCK / widest;
    if let Some((tile, across)) = plan.as_tile(room.min(grain)) {
        check_cancelled()?;
        let job = Job { operands, steps, across, kernel };
        // SAFETY: the walk's memory is vouched for by `Array::new`; the tile is all of the plan.
        unsafe { job.run(|visit| visit(tile)) };
        return Ok(());
    }
    let tiles = Tiles::new(plan, room, if staged { room } else { grain });
    let (across, area) = (tiles.steps_across(), tiles.area());
    let job = Job { operands, steps, across, kernel };
    let grain = if staged { grain / STAGED } else { grain };
    parallel_chunks(tiles.count(), (grain / area).max(1), &|part| {
        // SAFETY: the walk's memory is vouched for by `Array::new`, and tiles stay within the plan.
        unsafe { job.run(|visit| tiles.visit(part, &mut |tile| visit(tile))) }
    })
}

/// A bit for each input that has memory in common with the output.
fn shared_memory<const N: usize>(walk: &Loop<N>, plan: &Plan<N>) -> u32 {
    let reach = plan.reach();
    let range = |operand: usize| {
        let at =
            |offset: isize| (walk.at[operand] as isize).wrapping_add(offset * walk.dtypes[operand].size() as isize);
        (at(reach[operand].0), at(reach[operand].1 + 1))
    };
    let out = range(0);
    (1..N).fold(0, |bits, input| {
        let input_range = range(input);
        bits | u32::from(input_range.0 < out.1 && out.0 < input_range.1) << input
    })
}

fn caster_between(from: DType, to: DType) -> Result<Option<Cast>> {
    if from == to { Ok(None) } else { caster(from, to).map(Some) }
}

/// The conversions of an input: to the common dtype, and from there to the one that the loop computes in. An input
/// that the kernel wants in a dtype of its own (a mask) goes there directly.
fn casts(stored: DType, common: DType, compute: DType) -> Result<[Option<Cast>; 2]> {
    if stored == compute && (common == compute || common.opmath() != compute) {
        return Ok([None, None]);
    }
    let by_way_of = if common.opmath() == compute { common } else { compute };
    let (first, second) = (caster_between(stored, by_way_of)?, caster_between(by_way_of, compute)?);
    Ok(if first.is_none() { [second, None] } else { [first, second] })
}

/// Calls `work` with a block for each operand, and two more for conversions.
#[inline(always)]
fn with_blocks<const N: usize>(work: impl FnOnce([*mut u8; N], [*mut u8; 2])) {
    let mut blocks: [MaybeUninit<Block>; N] = [const { MaybeUninit::uninit() }; N];
    let mut spare: [MaybeUninit<Block>; 2] = [const { MaybeUninit::uninit() }; 2];
    work(
        std::array::from_fn(|index| blocks[index].as_mut_ptr().cast()),
        [spare[0].as_mut_ptr().cast(), spare[1].as_mut_ptr().cast()],
    );
}

impl<const N: usize> Job<'_, N> {
    /// # Safety
    /// Every element of the tiles lies in live memory, and nobody else writes their outputs.
    #[inline(always)]
    unsafe fn run(&self, tiles: impl FnOnce(&mut dyn FnMut(Tile<N>))) {
        with_blocks(|block, spare| {
            let mut kept: [Kept; N] = [Kept::default(); N];
            // SAFETY: the caller's promise.
            tiles(&mut |tile| unsafe { self.run_tile(tile, block, spare, &mut kept) });
        });
    }

    /// A part of one row, all of whose operands are contiguous or a number.
    ///
    /// # Safety
    /// Every element of the part lies in live memory, and nobody else writes its outputs.
    unsafe fn run_beside_numbers(&self, part: Range<usize>) {
        let widest = self.operands.iter().map(|operand| operand.size.max(operand.width)).max().unwrap_or(1);
        let most = COPIES.min(BLOCK / widest);
        let copies = Tile { offsets: [0; N], len: part.len().min(most), rows: 1 };
        with_blocks(|mut at, spare| {
            let mut bytes = [0; N];
            for (index, operand) in self.operands.iter().enumerate() {
                if self.steps[index] == 1 {
                    (at[index], bytes[index]) = (operand.at.wrapping_add(part.start * operand.size), operand.size);
                } else {
                    // SAFETY: a number is one element in live memory; a block holds as many of any operand.
                    unsafe { self.stage(index, copies, operand.at, at[index], spare, &mut Kept::default()) };
                }
            }
            let mut left = part.len();
            while left > 0 {
                let count = left.min(most);
                self.kernel.call(at, count);
                for (at, bytes) in at.iter_mut().zip(bytes) {
                    *at = at.wrapping_add(count * bytes);
                }
                left -= count;
            }
        });
    }

    unsafe fn run_tile(&self, tile: Tile<N>, block: [*mut u8; N], spare: [*mut u8; 2], kept: &mut [Kept; N]) {
        let mut at = block;
        // From one row to the next, in bytes, where the kernel gets them one by one.
        let mut row_bytes = [0isize; N];
        let mut whole = true;
        let mut is_staged = [false; N];
        for (index, operand) in self.operands.iter().enumerate() {
            let start = operand.at.wrapping_offset(tile.offsets[index] * operand.size as isize);
            let is_whole = self.is_whole(index, tile);
            let is_row = self.steps[index] == 1 && tile.len >= SHORT_ROW;
            if !operand.must_be_staged() && (is_whole || is_row) {
                at[index] = start;
                row_bytes[index] = self.across[index] * operand.size as isize;
                whole &= is_whole;
                continue;
            }
            is_staged[index] = true;
            row_bytes[index] = (tile.len * operand.width) as isize;
            if index > 0 {
                // SAFETY: the tile is within the plan; blocks hold any tile.
                unsafe { self.stage(index, tile, start, block[index], spare, &mut kept[index]) };
            }
        }
        if whole {
            self.kernel.call(at, tile.len * tile.rows);
        } else {
            for _ in 0..tile.rows {
                self.kernel.call(at, tile.len);
                for (at, bytes) in at.iter_mut().zip(row_bytes) {
                    *at = at.wrapping_offset(bytes);
                }
            }
        }
        if is_staged[0] {
            // SAFETY: the tile is within the plan, and its output in the block.
            unsafe { self.unstage(tile, block[0], spare[0]) };
        }
    }

    /// Are the elements of the tile one contiguous piece of memory?
    fn is_whole(&self, index: usize, tile: Tile<N>) -> bool {
        self.steps[index] == 1 && (tile.rows == 1 || self.across[index] == tile.len as isize)
    }

    /// Brings the elements of an input into its block.
    unsafe fn stage(
        &self,
        index: usize,
        tile: Tile<N>,
        start: *mut u8,
        block: *mut u8,
        spare: [*mut u8; 2],
        kept: &mut Kept,
    ) {
        let (operand, steps) = (&self.operands[index], (self.steps[index], self.across[index]));
        if !operand.shared && kept.holds(start, tile.len, tile.rows, steps) {
            return;
        }
        *kept = Kept { start, len: tile.len, rows: tile.rows };
        let count = tile.len * tile.rows;
        let mut from = start;
        // SAFETY: the caller's promise; a block holds `count` elements of either size.
        unsafe {
            if operand.casts[0].is_none() || !self.is_whole(index, tile) {
                let to = if operand.casts[0].is_none() { block } else { spare[0] };
                let side = Side { at: start, step: steps.0, across: steps.1 };
                move_tile(operand.size, Side::block(to, tile.len), side, tile.len, tile.rows);
                from = to;
            }
            match operand.casts {
                [Some(first), Some(second)] => {
                    first(from, spare[1], count);
                    second(spare[1], block, count);
                }
                [Some(only), None] => only(from, block, count),
                _ => {}
            }
        }
    }

    /// Brings the output from its block to its place.
    unsafe fn unstage(&self, tile: Tile<N>, block: *mut u8, spare: *mut u8) {
        let operand = &self.operands[0];
        let start = operand.at.wrapping_offset(tile.offsets[0] * operand.size as isize);
        let mut from = block;
        // SAFETY: the caller's promise.
        unsafe {
            if let [Some(cast), _] = operand.casts {
                let to = if self.is_whole(0, tile) { start } else { spare };
                cast(block, to, tile.len * tile.rows);
                from = to;
            }
            if from != start {
                let side = Side { at: start, step: self.steps[0], across: self.across[0] };
                move_tile(operand.size, side, Side::block(from, tile.len), tile.len, tile.rows);
            }
        }
    }
}

/// What a block holds.
#[derive(Clone, Copy)]
struct Kept {
    start: *mut u8,
    len: usize,
    rows: usize,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept { start: std::ptr::null_mut(), len: 0, rows: 0 }
    }
}

impl Kept {
    fn holds(&self, start: *mut u8, len: usize, rows: usize, (step, across): (isize, isize)) -> bool {
        if self.start != start || self.rows == 0 {
            return false;
        }
        if (step, across) == (0, 0) { len * rows <= self.len * self.rows } else { len == self.len && rows <= self.rows }
    }
}

/// out = a, of one dtype: tiles go from place to place.
pub(super) fn copy(walk: &Loop<2>) -> Result<()> {
    let size = walk.dtypes[0].size();
    let at = walk.at.map(Shared::new);
    if walk.plan.is_none() && walk.single == 0 {
        return parallel_chunks(walk.len, super::LIGHT * 4 / size, &|part| {
            let [to, from] = at.map(|at| at.get().wrapping_add(part.start * size));
            // SAFETY: both arrays have `len` elements of `size` bytes; `copy` moves memory that overlaps.
            unsafe { std::ptr::copy(from, to, part.len() * size) }
        });
    }
    let flat;
    let plan = match &walk.plan {
        Some(plan) => &**plan,
        None => {
            flat = Plan::row(walk.len, walk.row_steps());
            &flat
        }
    };
    let room = BLOCK / size;
    let tiles = Tiles::new(plan, room, super::LIGHT);
    let (steps, across) = (plan.row_steps(), tiles.steps_across());
    parallel_chunks(tiles.count(), (super::LIGHT / tiles.area()).max(1), &|part| {
        tiles.visit(part, &mut |tile| {
            let side = |index: usize| Side {
                at: at[index].get().wrapping_offset(tile.offsets[index] * size as isize),
                step: steps[index],
                across: across[index],
            };
            // SAFETY: the plan stays within the arrays, which `Array::new` vouches for.
            unsafe { move_tile(size, side(0), side(1), tile.len, tile.rows) }
        });
    })
}

/// out = value
pub(super) fn fill(walk: &Loop<1>, value: [u64; 2]) -> Result<()> {
    let size = walk.dtypes[0].size();
    let at = walk.at.map(Shared::new);
    let Some(plan) = &walk.plan else {
        return parallel_chunks(walk.len, super::LIGHT * 4 / size, &|part| {
            // SAFETY: the array has `len` elements of `size` bytes.
            unsafe { stage::fill(size, at[0].get().wrapping_add(part.start * size), value, part.len()) }
        });
    };
    let tiles = Tiles::new(plan, BLOCK, super::LIGHT);
    let ([step], [across]) = (plan.row_steps(), tiles.steps_across());
    parallel_chunks(tiles.count(), (super::LIGHT / tiles.area()).max(1), &|part| {
        tiles.visit(part, &mut |tile| {
            let to = Side { at: at[0].get().wrapping_offset(tile.offsets[0] * size as isize), step, across };
            let from = Side { at: (&raw const value).cast_mut().cast(), step: 0, across: 0 };
            // SAFETY: the plan stays within the array, which `Array::new` vouches for.
            unsafe { move_tile(size, to, from, tile.len, tile.rows) }
        });
    })
}
