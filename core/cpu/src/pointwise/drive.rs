//! Adapts any traversal to kernels that require contiguous memory of one dtype.
//!
//! The plan is split into tiles. Within a tile, an operand is used in place if it is contiguous, has the computation
//! dtype and does not overlap the output. Any other operand is staged: gathered, converted, or copied into a block that
//! stays in the cache. A block that the next tile needs again (a broadcast row, a number) is kept. Tiles are
//! independent, so they are distributed over threads in chunks.

use super::stage::{self, Side, move_tile};
use super::{Loop, launch};
use crate::convert::caster;
use crate::scratch::Shortage;
use crate::shared::Shared;
use rushlight_base::plan::{Plan, Tile, Tiles};
use rushlight_base::runtime::{check_cancelled, num_threads, parallel_chunks};
use rushlight_base::{DType, Result, callee};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Converts this many elements: `cast(from, to, len)`.
pub(crate) type Cast = unsafe fn(*const u8, *mut u8, usize);

callee! {
    /// The type-erased form of a loop over contiguous memory, for `drive`.
    pub(super) struct Kernel<const N: usize>: shared fn(at: [*mut u8; N], len: usize);
}

/// Bytes of a block. The blocks of three operands fit a first-level cache together.
const BLOCK: usize = 8192;

/// Staging one element takes about as long as computing this many elements in place.
const STAGED: usize = 3;

/// Elements that are passed to a kernel at once if an operand is a number, which is staged as this many copies.
const COPIES: usize = 1024;

/// Most tiles that a thread processes without a check whether the call is cancelled, unless they are small.
const MOST_TILES: usize = 64;

/// A row shorter than this is staged with others rather than passed to the kernel alone.
const SHORT_ROW: usize = 32;

/// Three blocks are on the stack, without an allocation. More use the thread's cached memory.
#[repr(align(64))]
struct OnStack(#[allow(dead_code)] [MaybeUninit<u8>; 3 * BLOCK]);

#[derive(Clone, Copy)]
struct Operand {
    at: *mut u8,
    /// Bytes of an element in memory, and of an element of the computation dtype.
    size: usize,
    width: usize,
    /// Conversions from the dtype in memory to the computation dtype, by way of the common one; in reverse for the
    /// output.
    casts: [Option<Cast>; 2],
    /// Whether the output overlaps the memory of this input without being identical to it.
    shared: bool,
}

impl Operand {
    /// Whether this output is exactly the memory of `input`.
    fn is_place_of(&self, input: &Operand) -> bool {
        self.at == input.at && self.size == input.size && self.casts[0].is_none() && input.casts[0].is_none()
    }

    fn must_be_staged(&self) -> bool {
        self.casts[0].is_some() || self.shared
    }
}

/// The function that is called with each tile.
type Visit<'v, const N: usize> = &'v mut dyn FnMut(Tile<N>);

struct Job<'j, const N: usize> {
    operands: [Operand; N],
    steps: [isize; N],
    across: [isize; N],
    kernel: Kernel<'j, N>,
    /// Bytes of each block.
    block: usize,
    /// Whether conversions need blocks between memory and the operands' blocks.
    has_spare: bool,
    shortage: &'j Shortage,
}

// SAFETY: `Array::new` guarantees the memory behind the pointers; chunks write disjoint elements.
unsafe impl<const N: usize> Sync for Job<'_, N> {}

/// Runs `kernel` over the whole traversal; see `Loop::run`.
#[inline(never)]
pub(super) fn drive<const N: usize>(
    walk: &Loop<N>,
    common: DType,
    compute: [DType; N],
    grain: usize,
    kernel: Kernel<N>,
) -> Result<()> {
    if walk.device().is_some() {
        return launch::run(walk, common, compute, grain == super::LIGHT);
    }
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
    // Kernels can read the first input at the addresses where they write the output (`flat.rs`).
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
    let widest = operands.iter().map(|operand| operand.size.max(operand.width)).max().unwrap_or(1);
    let shortage = Shortage::new();
    // A conversion between a contiguous piece of memory and a block is one step.
    let is_one_piece = |index: usize| plan.rank() == 1 && steps[index] == 1;
    let has_spare = operands
        .iter()
        .enumerate()
        .any(|(index, operand)| operand.casts[1].is_some() || operand.casts[0].is_some() && !is_one_piece(index));
    let is_flat = |index: usize| steps[index] == 1 && !operands[index].must_be_staged();
    let is_copied = |index: usize| steps[index] == 0 && !operands[index].shared;
    if plan.rank() == 1 && is_flat(0) && (1..N).all(|index| is_flat(index) || is_copied(index)) {
        let most = COPIES.min(BLOCK / widest).min(walk.len);
        let job = Job { operands, steps, across: [0; N], kernel, block: most * widest, has_spare, shortage: &shortage };
        parallel_chunks(walk.len, grain, &|part| {
            // SAFETY: `Array::new` guarantees the memory of the traversal; parts stay within it.
            unsafe { job.run_beside_numbers(part, most) }
        })?;
        return shortage.check();
    }
    let capacity = BLOCK / widest;
    if let Some((tile, across)) = plan.as_tile(capacity.min(grain)) {
        check_cancelled()?;
        let block = tile.len * tile.rows * widest;
        let job = Job { operands, steps, across, kernel, block, has_spare, shortage: &shortage };
        // SAFETY: `Array::new` guarantees the memory of the traversal; the tile is the whole plan.
        unsafe { job.run(&mut |visit| visit(tile)) };
        return shortage.check();
    }
    let tiles = Tiles::new(plan, capacity, if staged { capacity } else { grain });
    let (across, area) = (tiles.steps_across(), tiles.area());
    let job = Job { operands, steps, across, kernel, block: BLOCK.min(area * widest), has_spare, shortage: &shortage };
    let grain = if staged { grain / STAGED } else { grain };
    parallel_chunks(tiles.count(), tiles_of_chunk(tiles.count(), grain / area), &|part| {
        // SAFETY: `Array::new` guarantees the memory of the traversal, and tiles stay within the plan.
        unsafe { job.run(&mut |visit| tiles.visit(part.clone(), &mut |tile| visit(tile))) }
    })?;
    shortage.check()
}

/// The tiles of a chunk, `enough` of them for a second thread. Blocks are kept within a chunk, so that each thread gets
/// long ones, but not so long that the end of a call by another thread is heeded late.
fn tiles_of_chunk(tiles: usize, enough: usize) -> usize {
    let threads = num_threads();
    let chunks = if threads == 1 { 1 } else { 8 * threads };
    enough.max((tiles / chunks).min(MOST_TILES)).max(1)
}

/// A bit for each input whose memory overlaps the output.
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

/// The conversions of an input: to the common dtype, and from there to the computation dtype. An input for which the
/// kernel requires a separate dtype (a mask) is converted to that directly.
fn casts(stored: DType, common: DType, compute: DType) -> Result<[Option<Cast>; 2]> {
    if stored == compute && (common == compute || common.opmath() != compute) {
        return Ok([None, None]);
    }
    let by_way_of = if common.opmath() == compute { common } else { compute };
    let (first, second) = (caster_between(stored, by_way_of)?, caster_between(by_way_of, compute)?);
    Ok(if first.is_none() { [second, None] } else { [first, second] })
}

impl<const N: usize> Job<'_, N> {
    /// Calls `work` with a block for each operand, except those that `is_flat` excludes, and two blocks for
    /// conversions, if there are any. The pointers of the others must not be used.
    #[inline(always)]
    fn with_blocks(&self, is_flat: impl Fn(usize) -> bool, work: impl FnOnce([*mut u8; N], [*mut u8; 2])) {
        let block = self.block.next_multiple_of(64);
        let mut bytes = 0;
        let mut place = |is_needed: bool| {
            let place = bytes;
            bytes += if is_needed { block } else { 0 };
            place
        };
        let places: [usize; N] = std::array::from_fn(|index| place(!is_flat(index)));
        let spare = [place(self.has_spare), place(self.has_spare)];
        let mut on_stack = MaybeUninit::<OnStack>::uninit();
        let held;
        let start: *mut u8 = if bytes <= size_of::<OnStack>() {
            on_stack.as_mut_ptr().cast()
        } else {
            let Some(scratch) = self.shortage.scratch(bytes) else { return };
            held = scratch;
            held.start()
        };
        work(places.map(|place| start.wrapping_add(place)), spare.map(|place| start.wrapping_add(place)));
    }

    /// # Safety
    /// Every element of the tiles is in live memory, and no other thread writes their outputs.
    #[inline(never)] // its frame is large
    unsafe fn run(&self, tiles: &mut dyn FnMut(Visit<N>)) {
        self.with_blocks(
            |_| false,
            |block, spare| {
                let mut kept: [Kept; N] = [Kept::default(); N];
                // SAFETY: the caller guarantees live memory for every element of the tiles, without other writers of
                // the outputs.
                tiles(&mut |tile| unsafe { self.run_tile(tile, block, spare, &mut kept) });
            },
        );
    }

    /// Processes a part of one row in which each operand is contiguous or a number, of which blocks hold `most` copies.
    ///
    /// # Safety
    /// Every element of the part is in live memory, and no other thread writes its outputs.
    #[inline(never)] // its frame is large
    unsafe fn run_beside_numbers(&self, part: Range<usize>, most: usize) {
        let copies = Tile { offsets: [0; N], len: part.len().min(most), rows: 1 };
        self.with_blocks(
            |index| self.steps[index] == 1,
            |mut at, spare| {
                let mut bytes = [0; N];
                for (index, operand) in self.operands.iter().enumerate() {
                    if self.steps[index] == 1 {
                        (at[index], bytes[index]) = (operand.at.wrapping_add(part.start * operand.size), operand.size);
                    } else {
                        // SAFETY: a number is one element in live memory; a block holds `most` elements of any operand.
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
            },
        );
    }

    unsafe fn run_tile(&self, tile: Tile<N>, block: [*mut u8; N], spare: [*mut u8; 2], kept: &mut [Kept; N]) {
        let mut at = block;
        // Steps between rows, in bytes, where rows are passed to the kernel one by one.
        let mut row_bytes = [0isize; N];
        let mut whole = true;
        let mut is_staged = [false; N];
        for (index, operand) in self.operands.iter().enumerate() {
            let start = operand.at.wrapping_offset(tile.offsets[index] * operand.size as isize);
            let is_whole = self.is_whole(index, tile);
            // A row that is repeated is staged once for all tiles, after which a tile is one call of the kernel.
            let is_repeated = index > 0 && self.across[index] == 0 && tile.rows > 1;
            let is_row = self.steps[index] == 1 && tile.len >= SHORT_ROW && !is_repeated;
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
            // SAFETY: the tile is within the plan, and the block holds its output.
            unsafe { self.unstage(tile, block[0], spare[0]) };
        }
    }

    /// Whether the elements of the tile are one contiguous piece of memory.
    fn is_whole(&self, index: usize, tile: Tile<N>) -> bool {
        self.steps[index] == 1 && (tile.rows == 1 || self.across[index] == tile.len as isize)
    }

    /// Copies the elements of an input into its block.
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
        // SAFETY: the caller guarantees live memory for the tile; a block holds `count` elements of either size.
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

    /// Copies the output from its block to memory.
    unsafe fn unstage(&self, tile: Tile<N>, block: *mut u8, spare: *mut u8) {
        let operand = &self.operands[0];
        let start = operand.at.wrapping_offset(tile.offsets[0] * operand.size as isize);
        let mut from = block;
        // SAFETY: the caller guarantees live memory for the tile, which no other thread writes.
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

/// Identifies the contents of a block.
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

/// out = a, both of one dtype, copied tile by tile.
pub(super) fn copy(walk: &Loop<2>) -> Result<()> {
    let size = walk.dtypes[0].size();
    let at = walk.at.map(Shared::new);
    if walk.device().is_some() {
        return launch::copy(walk);
    }
    if walk.plan.is_none() && walk.single.get() == 0 {
        return parallel_chunks(walk.len, super::LIGHT * 4 / size, &|part| {
            let [to, from] = at.map(|at| at.get().wrapping_add(part.start * size));
            // SAFETY: both arrays have `len` elements of `size` bytes; `copy` allows overlap.
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
    let capacity = BLOCK / size;
    let tiles = Tiles::new(plan, capacity, super::LIGHT);
    let (steps, across) = (plan.row_steps(), tiles.steps_across());
    parallel_chunks(tiles.count(), (super::LIGHT / tiles.area()).max(1), &|part| {
        tiles.visit(part, &mut |tile| {
            let side = |index: usize| Side {
                at: at[index].get().wrapping_offset(tile.offsets[index] * size as isize),
                step: steps[index],
                across: across[index],
            };
            // SAFETY: the plan stays within the arrays, whose elements `Array::new` guarantees.
            unsafe { move_tile(size, side(0), side(1), tile.len, tile.rows) }
        });
    })
}

/// out = value
pub(super) fn fill(walk: &Loop<1>, value: [u64; 2]) -> Result<()> {
    if walk.device().is_some() {
        return launch::run(walk, walk.dtypes[0], walk.dtypes, true);
    }
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
            // SAFETY: the plan stays within the array, whose elements `Array::new` guarantees.
            unsafe { move_tile(size, to, from, tile.len, tile.rows) }
        });
    })
}
