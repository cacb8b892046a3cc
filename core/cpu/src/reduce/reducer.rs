//! [`Reducer`]: how elements become one result. [`Worker`]: a type-erased reducer, which is all that `driver` and
//! `tree` need, so that they are compiled once.

use crate::pointwise::stage::{Side, move_tile};
use crate::scratch::Shortage;
use rushlight_base::{Element, Result, Scratch};
use std::mem::MaybeUninit;

/// Elements of a line that are folded before the tree takes over.
pub(crate) const LEAF: usize = 2048;
/// Rows of a tile, and short lines, that are folded before the tree takes over.
pub(super) const LEAF_ROWS: usize = 64;
/// Number of adjacent results of the largest size that fit: columns of a tile, more of smaller ones.
pub(crate) const WIDTH: usize = 256;
/// Elements worth another thread.
pub(super) const GRAIN: usize = 32768;

/// How elements become one result.
pub(crate) trait Reducer: Copy + Send + Sync {
    /// The stored type.
    type In: Element;
    /// The accumulator type.
    type Acc: Copy + Send + Sync;
    /// Whether elements may be folded in any order. Narrow columns are then folded several rows at a time.
    const COMMUTES: bool = true;
    /// Cost of one element of this fold, in additions.
    const COST: usize = 1;
    /// Whether results of lines depend on the position of their elements: strided lines are then passed unchanged.
    const KEEPS_PLACES: bool = false;

    /// The result of an empty range.
    fn empty(self) -> Self::Acc;

    /// The result of `a`'s elements and then `b`'s.
    fn merge(self, a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// Folds lines: `acc[n]`, initially empty, becomes the result of `len` elements (up to [`LEAF`]), `steps.row`
    /// apart, from `at + n * steps.column`, of which the first has the index `index + n * steps.number` in its group.
    /// The row step is 1, unless the reducer keeps places.
    ///
    /// # Safety
    /// The elements must be readable.
    unsafe fn lines(self, at: *const Self::In, len: usize, steps: Steps, index: usize, acc: &mut [Self::Acc]);

    /// Folds columns: `acc[n]`, initially empty, becomes the result of `rows` elements (up to [`LEAF_ROWS`]),
    /// `row_step` apart, from `at + n`; the first ones have the index `index` in their groups.
    ///
    /// # Safety
    /// The elements must be readable.
    unsafe fn tile(self, at: *const Self::In, rows: usize, row_step: isize, index: usize, acc: &mut [Self::Acc]);
}

/// Steps within groups and between them, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    /// From an element of a group to the next, which is a row of a tile.
    pub(crate) row: isize,
    /// From a group to the next, which is a column of a tile.
    pub(crate) column: isize,
    /// Difference between the index of a line's first element and that of the next line: 0 if each line belongs to
    /// another group.
    pub(crate) number: usize,
}

/// Space for one result of any reducer.
pub(super) type Slot = [MaybeUninit<u64>; 4];
/// Space for the results of a tile, or of other neighbours.
pub(super) type Slots = [Slot; WIDTH];

/// An uninitialized buffer.
#[inline(always)]
pub(super) const fn slots<const N: usize>() -> [Slot; N] {
    [const { [MaybeUninit::uninit(); 4] }; N]
}

/// The functions of a reducer over addresses. Results are at addresses that are aligned for them.
pub(super) trait Rows: Sync {
    /// Flag that a share of the loop sets if it could not allocate working memory.
    fn shortage(&self) -> &Shortage;

    /// # Safety
    /// `acc` has space for `count` results, which this function writes.
    unsafe fn clear(&self, acc: *mut u8, count: usize);

    /// # Safety
    /// Both addresses have `count` results, none of them in common.
    unsafe fn merge(&self, acc: *mut u8, later: *const u8, count: usize);

    /// # Safety
    /// The contract of [`Reducer::lines`], and `acc` has space for `count` results, which this function writes.
    unsafe fn lines(&self, at: *const u8, len: usize, steps: Steps, index: usize, acc: *mut u8, count: usize);

    /// # Safety
    /// The contract of [`Reducer::tile`], and `acc` has space for `count` results, which this function writes.
    unsafe fn tile(&self, at: *const u8, rows: usize, row_step: isize, index: usize, acc: *mut u8, count: usize);
}

/// A reducer with its types.
pub(super) struct Typed<R>(R, Shortage);

impl<R: Reducer> Typed<R> {
    pub(super) fn new(reducer: R) -> Typed<R> {
        Typed(reducer, Shortage::new())
    }
}

impl<R: Reducer> Rows for Typed<R> {
    fn shortage(&self) -> &Shortage {
        &self.1
    }

    unsafe fn clear(&self, acc: *mut u8, count: usize) {
        for nth in 0..count {
            // SAFETY: the caller of `clear` guarantees space for `count` results, and `nth` is below `count`.
            unsafe { acc.cast::<R::Acc>().add(nth).write(self.0.empty()) };
        }
    }

    unsafe fn merge(&self, acc: *mut u8, later: *const u8, count: usize) {
        // SAFETY: the caller of `merge` guarantees `count` results at both addresses, which do not overlap.
        let (acc, later) = unsafe {
            (
                std::slice::from_raw_parts_mut(acc.cast::<R::Acc>(), count),
                std::slice::from_raw_parts(later.cast::<R::Acc>(), count),
            )
        };
        for (acc, &later) in acc.iter_mut().zip(later) {
            *acc = self.0.merge(*acc, later);
        }
    }

    unsafe fn lines(&self, at: *const u8, len: usize, steps: Steps, index: usize, acc: *mut u8, count: usize) {
        // SAFETY: the caller of `lines` guarantees `count` lines of `len` elements and space for the results, which
        // `clear` writes before they are referred to.
        unsafe {
            Rows::clear(self, acc, count);
            let acc = std::slice::from_raw_parts_mut(acc.cast::<R::Acc>(), count);
            self.0.lines(at.cast(), len, steps, index, acc);
        }
    }

    unsafe fn tile(&self, at: *const u8, rows: usize, row_step: isize, index: usize, acc: *mut u8, count: usize) {
        // SAFETY: the caller of `tile` guarantees `rows` rows of `count` elements and space for the results, which
        // `clear` writes first.
        unsafe {
            Rows::clear(self, acc, count);
            let acc = std::slice::from_raw_parts_mut(acc.cast::<R::Acc>(), count);
            self.0.tile(at.cast(), rows, row_step, index, acc);
        }
    }
}

/// A reducer without its types.
#[derive(Clone, Copy)]
pub(super) struct Worker<'r> {
    rows: &'r dyn Rows,
    /// Bytes of an element.
    element: usize,
    /// Bytes of a result.
    size: usize,
    align: usize,
    /// Elements worth another thread.
    grain: usize,
    commutes: bool,
    keeps_places: bool,
}

/// Bytes of the block that strided lines are moved into: a line of the largest elements, several of smaller ones.
const LINES: usize = LEAF * 16;
/// The block on the stack: a line of elements of 8 bytes.
const ON_STACK: usize = LEAF * 8;
/// Bytes of the block that a strided tile is moved into. Source and block together stay in the nearest cache.
const TILE: usize = LEAF * 4;

/// Copies `bytes` in words of `T`, some of which may be padding.
///
/// # Safety
/// This many bytes are at both addresses, which are aligned for `T` and do not overlap.
#[inline(always)]
unsafe fn copy_words<T: Copy>(to: *mut u8, from: *const u8, bytes: usize) {
    for word in 0..bytes / size_of::<T>() {
        // SAFETY: the caller guarantees that many bytes at both addresses, aligned for `T` and without overlap.
        unsafe { to.cast::<MaybeUninit<T>>().add(word).write(from.cast::<MaybeUninit<T>>().add(word).read()) };
    }
}

impl<'r> Worker<'r> {
    pub(super) fn new<R: Reducer>(reducer: &'r Typed<R>) -> Worker<'r> {
        const {
            assert!(size_of::<R::Acc>() <= size_of::<Slot>() && align_of::<R::Acc>() <= align_of::<Slot>());
            assert!(size_of::<R::In>() <= 16);
        }
        Worker {
            rows: reducer,
            element: size_of::<R::In>(),
            size: size_of::<R::Acc>(),
            align: align_of::<R::Acc>(),
            grain: GRAIN / R::COST,
            commutes: R::COMMUTES,
            keeps_places: R::KEEPS_PLACES,
        }
    }

    /// Bytes of a result.
    pub(super) fn size(self) -> usize {
        self.size
    }

    /// Elements worth another thread.
    pub(super) fn grain(self) -> usize {
        self.grain
    }

    /// Number of results that fit in [`Slots`].
    pub(super) fn width(self) -> usize {
        size_of::<Slots>() / self.size
    }

    /// Whether elements may be folded in any order.
    pub(super) fn commutes(self) -> bool {
        self.commutes
    }

    /// The address of the element that is `offset` elements from `at`.
    pub(super) fn element(self, at: *const u8, offset: isize) -> *const u8 {
        at.wrapping_offset(offset * self.element as isize)
    }

    /// The error `OutOfMemory` if a share of the loop could not allocate working memory. Its results are then those of
    /// empty ranges.
    pub(super) fn check(self) -> Result<()> {
        self.rows.shortage().check()
    }

    /// Allocates working memory. `None`: [`Worker::check`] fails from now on.
    pub(super) fn scratch(self, bytes: usize) -> Option<Scratch> {
        self.rows.shortage().scratch(bytes)
    }

    /// Writes `count` results of empty ranges.
    ///
    /// # Safety
    /// `acc` has space for them.
    pub(super) unsafe fn clear(self, acc: *mut u8, count: usize) {
        // SAFETY: the caller guarantees space for `count` results at `acc`.
        unsafe { self.rows.clear(acc, count) }
    }

    /// Merges `count` later results into those at `acc`.
    ///
    /// # Safety
    /// Both addresses have `count` results, without overlap.
    pub(super) unsafe fn merge(self, acc: *mut u8, later: *const u8, count: usize) {
        // SAFETY: the caller guarantees `count` results at both addresses, without overlap.
        unsafe { self.rows.merge(acc, later, count) }
    }

    /// Copies `count` results.
    ///
    /// # Safety
    /// `from` has the results, `to` has space for them, and the two do not overlap.
    #[inline(always)]
    pub(super) unsafe fn copy(self, to: *mut u8, from: *const u8, count: usize) {
        // SAFETY: the caller guarantees `count` results at `from` and space for them at `to`, without overlap, both
        // aligned for results.
        unsafe {
            // A single result has just been written: wider loads would have to wait for the stores.
            match self.align {
                8 if count == 1 => copy_words::<u64>(to, from, self.size),
                4 if count == 1 => copy_words::<u32>(to, from, self.size),
                _ => to.copy_from_nonoverlapping(from, count * self.size),
            }
        }
    }

    /// [`Reducer::lines`], of any steps, with space for `count` results.
    ///
    /// # Safety
    /// The contract of [`Reducer::lines`], and `acc` has space for `count` results.
    pub(super) unsafe fn lines(
        self,
        at: *const u8,
        len: usize,
        steps: Steps,
        index: usize,
        acc: *mut u8,
        count: usize,
    ) {
        debug_assert!(len <= LEAF);
        // SAFETY: the caller guarantees `count` lines of `len` elements, and space for the results at `acc`.
        unsafe {
            if steps.row == 1 || len <= 1 || self.keeps_places {
                self.rows.lines(at, len, steps, index, acc, count);
            } else {
                self.strided_lines(at, len, steps, index, acc, count);
            }
        }
    }

    #[inline(never)] // its frame is large
    unsafe fn strided_lines(self, at: *const u8, len: usize, steps: Steps, index: usize, acc: *mut u8, count: usize) {
        let mut on_stack = MaybeUninit::<[u64; ON_STACK / 8]>::uninit();
        let line = len * self.element;
        let held = if line * count > ON_STACK { self.scratch(LINES.min(line * count)) } else { None };
        let (block, bytes) = match &held {
            Some(scratch) => (scratch.start(), LINES),
            None => (on_stack.as_mut_ptr().cast::<u8>(), ON_STACK),
        };
        if line > bytes {
            // SAFETY: the caller guarantees `count` lines of `len` elements, and space for the results at `acc`.
            return unsafe { self.clear(acc, count) };
        }
        let most = bytes / line;
        for first in (0..count).step_by(most) {
            let some = most.min(count - first);
            let from = self.element(at, first as isize * steps.column).cast_mut();
            let from = Side { at: from, step: steps.row, across: steps.column };
            // SAFETY: the caller of `lines` guarantees the lines, and this many of them fit the block.
            unsafe {
                move_tile(self.element, Side::block(block, len), from, len, some);
                let steps = Steps { row: 1, column: len as isize, number: steps.number };
                self.rows.lines(block, len, steps, index + first * steps.number, acc.add(first * self.size), some);
            }
        }
    }

    /// [`Reducer::tile`], of any steps, with space for `count` results.
    ///
    /// # Safety
    /// The contract of [`Reducer::tile`], and `acc` has space for `count` results.
    pub(super) unsafe fn tile(
        self,
        at: *const u8,
        rows: usize,
        steps: Steps,
        index: usize,
        acc: *mut u8,
        count: usize,
    ) {
        debug_assert!(rows <= LEAF_ROWS);
        // SAFETY: the caller guarantees `rows` rows of `count` elements, and space for the results at `acc`.
        unsafe {
            if steps.column == 1 || count == 1 || rows == 0 {
                self.rows.tile(at, rows, steps.row, index, acc, count);
            } else {
                self.strided_tile(at, rows, steps, index, acc, count);
            }
        }
    }

    #[inline(never)] // its frame is large
    unsafe fn strided_tile(self, at: *const u8, rows: usize, steps: Steps, index: usize, acc: *mut u8, count: usize) {
        let mut block = MaybeUninit::<[u64; TILE / 8]>::uninit();
        let block = block.as_mut_ptr().cast::<u8>();
        let most = TILE / (rows * self.element);
        for first in (0..count).step_by(most) {
            let some = most.min(count - first);
            let from = self.element(at, first as isize * steps.column).cast_mut();
            let from = Side { at: from, step: steps.column, across: steps.row };
            // SAFETY: the caller of `tile` guarantees the rows, and this many columns fit the block.
            unsafe {
                move_tile(self.element, Side::block(block, some), from, some, rows);
                self.rows.tile(block, rows, some as isize, index, acc.add(first * self.size), some);
            }
        }
    }
}

/// The results of lines of any steps, as [`Reducer::lines`], of elements that are small enough for a block on the stack.
///
/// # Safety
/// The contract of [`Reducer::lines`].
pub(crate) unsafe fn lines<R: Reducer>(
    reducer: R,
    at: *const R::In,
    len: usize,
    steps: Steps,
    index: usize,
    acc: &mut [R::Acc],
) {
    const { assert!(LEAF * size_of::<R::In>() <= ON_STACK) };
    // SAFETY: the caller guarantees lines that fit the block on the stack; `acc` has space for their results.
    unsafe {
        if steps.row == 1 || len <= 1 {
            acc.fill(reducer.empty());
            reducer.lines(at, len, steps, index, acc);
        } else {
            let (to, count) = (acc.as_mut_ptr().cast(), acc.len());
            Worker::new(&Typed::new(reducer)).lines(at.cast(), len, steps, index, to, count);
        }
    }
}
