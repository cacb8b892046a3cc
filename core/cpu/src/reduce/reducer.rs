//! [`Reducer`]: how elements become one result. [`Worker`]: a reducer whose types are forgotten, which is all that the
//! roads (`driver`) and the tree of results (`tree`) know of it, so that they exist once.

use crate::pointwise::stage::{Side, move_tile};
use rushlight_base::Element;
use std::mem::MaybeUninit;

/// Elements of a line that are folded before the tree takes over.
pub(crate) const LEAF: usize = 2048;
/// Rows of a tile, and short lines, that are folded before the tree takes over.
pub(super) const LEAF_ROWS: usize = 64;
/// Results of the largest size that there is room for side by side: columns of a tile, of smaller ones more.
pub(crate) const WIDTH: usize = 256;
/// Elements worth another thread.
pub(super) const GRAIN: usize = 32768;

/// How elements become one result.
pub(crate) trait Reducer: Copy + Send + Sync {
    /// What lies in memory.
    type In: Element;
    /// What is carried.
    type Acc: Copy + Send + Sync;
    /// May elements be folded in any order? Then narrow columns are folded several rows at a time.
    const COMMUTES: bool = true;
    /// How many elements of this fold cost as much as one addition.
    const COST: usize = 1;
    /// Do results of lines remember where their elements lie? Then strided lines come as they lie.
    const KEEPS_PLACES: bool = false;

    /// The result of nothing.
    fn empty(self) -> Self::Acc;

    /// The result of `a`'s elements and then `b`'s.
    fn merge(self, a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// The results of lines: `acc[n]`, which comes as that of nothing, becomes that of `len` elements (up to [`LEAF`]),
    /// `steps.row` apart, from `at + n * steps.column`, of which the first is number `index + n * steps.number` of its
    /// group. The row step is 1, unless the reducer keeps places.
    ///
    /// # Safety
    /// The elements must be readable.
    unsafe fn lines(self, at: *const Self::In, len: usize, steps: Steps, index: usize, acc: &mut [Self::Acc]);

    /// The results of columns: `acc[n]`, which comes as that of nothing, becomes that of `rows` elements (up to
    /// [`LEAF_ROWS`]), `row_step` apart, from `at + n`; the first ones are number `index` of their groups.
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
    /// From the number of a line's first element to that of the next line: 0 where each is of another group.
    pub(crate) number: usize,
}

/// Room for one result of any reducer.
pub(super) type Slot = [MaybeUninit<u64>; 4];
/// Room for the results of a tile, or of other neighbours.
pub(super) type Slots = [Slot; WIDTH];

/// Uninitialized room.
#[inline(always)]
pub(super) const fn slots<const N: usize>() -> [Slot; N] {
    [const { [MaybeUninit::uninit(); 4] }; N]
}

/// The functions of a reducer over addresses. Results are at addresses that are aligned for them.
pub(super) trait Rows: Sync {
    /// # Safety
    /// `acc` has room for `count` results, which it is left with.
    unsafe fn clear(&self, acc: *mut u8, count: usize);

    /// # Safety
    /// Both addresses have `count` results, none of them in common.
    unsafe fn merge(&self, acc: *mut u8, later: *const u8, count: usize);

    /// # Safety
    /// As for [`Reducer::lines`], and `acc` has room for `count` results, which it is left with.
    unsafe fn lines(&self, at: *const u8, len: usize, steps: Steps, index: usize, acc: *mut u8, count: usize);

    /// # Safety
    /// As for [`Reducer::tile`], and `acc` has room for `count` results, which it is left with.
    unsafe fn tile(&self, at: *const u8, rows: usize, row_step: isize, index: usize, acc: *mut u8, count: usize);
}

/// A reducer with its types.
pub(super) struct Typed<R>(pub(super) R);

impl<R: Reducer> Rows for Typed<R> {
    unsafe fn clear(&self, acc: *mut u8, count: usize) {
        for nth in 0..count {
            // SAFETY: the caller's promise.
            unsafe { acc.cast::<R::Acc>().add(nth).write(self.0.empty()) };
        }
    }

    unsafe fn merge(&self, acc: *mut u8, later: *const u8, count: usize) {
        // SAFETY: the caller's promise.
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
        // SAFETY: the caller's promise; the results are written before they are referred to.
        unsafe {
            Rows::clear(self, acc, count);
            let acc = std::slice::from_raw_parts_mut(acc.cast::<R::Acc>(), count);
            self.0.lines(at.cast(), len, steps, index, acc);
        }
    }

    unsafe fn tile(&self, at: *const u8, rows: usize, row_step: isize, index: usize, acc: *mut u8, count: usize) {
        // SAFETY: as above.
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

/// Bytes of the block that strided elements are moved into: a line of the largest.
const BLOCK: usize = LEAF * 16;

/// Copies `bytes` in words of `T`, some of which may be padding.
///
/// # Safety
/// So many bytes are at both addresses, which are aligned for `T`, and have none in common.
#[inline(always)]
unsafe fn copy_words<T: Copy>(to: *mut u8, from: *const u8, bytes: usize) {
    for word in 0..bytes / size_of::<T>() {
        // SAFETY: the caller's promise.
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

    /// How many results there is room for in [`Slots`].
    pub(super) fn width(self) -> usize {
        size_of::<Slots>() / self.size
    }

    /// May elements be folded in any order?
    pub(super) fn commutes(self) -> bool {
        self.commutes
    }

    /// The address of the element that is `offset` elements from `at`.
    pub(super) fn element(self, at: *const u8, offset: isize) -> *const u8 {
        at.wrapping_offset(offset * self.element as isize)
    }

    /// Writes `count` results of nothing.
    ///
    /// # Safety
    /// There is room for them.
    pub(super) unsafe fn clear(self, acc: *mut u8, count: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.rows.clear(acc, count) }
    }

    /// Merges `count` results that come later into those at `acc`.
    ///
    /// # Safety
    /// Both are there, and no address is among both.
    pub(super) unsafe fn merge(self, acc: *mut u8, later: *const u8, count: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.rows.merge(acc, later, count) }
    }

    /// Copies `count` results.
    ///
    /// # Safety
    /// They are there, there is room for them, and no address is among both.
    #[inline(always)]
    pub(super) unsafe fn copy(self, to: *mut u8, from: *const u8, count: usize) {
        // SAFETY: the caller's promise, and that of alignment.
        unsafe {
            // A single result has just been written: what is read in larger pieces would have to wait for the writes.
            match self.align {
                8 if count == 1 => copy_words::<u64>(to, from, self.size),
                4 if count == 1 => copy_words::<u32>(to, from, self.size),
                _ => to.copy_from_nonoverlapping(from, count * self.size),
            }
        }
    }

    /// [`Reducer::lines`], of any steps, into room for `count` results.
    ///
    /// # Safety
    /// As there, and there is that room.
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
        // SAFETY: the caller's promise.
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
        let mut block = MaybeUninit::<[u64; BLOCK / 8]>::uninit();
        let block = block.as_mut_ptr().cast::<u8>();
        let most = (BLOCK / (len * self.element)).max(1);
        for first in (0..count).step_by(most) {
            let some = most.min(count - first);
            let from = self.element(at, first as isize * steps.column).cast_mut();
            let from = Side { at: from, step: steps.row, across: steps.column };
            // SAFETY: the caller's promise; so many lines fit the block.
            unsafe {
                move_tile(self.element, Side::block(block, len), from, len, some);
                let steps = Steps { row: 1, column: len as isize, number: steps.number };
                self.rows.lines(block, len, steps, index + first * steps.number, acc.add(first * self.size), some);
            }
        }
    }

    /// [`Reducer::tile`], of any steps, into room for `count` results.
    ///
    /// # Safety
    /// As there, and there is that room.
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
        // SAFETY: the caller's promise.
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
        let mut block = MaybeUninit::<[u64; BLOCK / 8]>::uninit();
        let block = block.as_mut_ptr().cast::<u8>();
        // Source and block together stay in the nearest cache.
        let most = BLOCK / 4 / (rows * self.element);
        for first in (0..count).step_by(most) {
            let some = most.min(count - first);
            let from = self.element(at, first as isize * steps.column).cast_mut();
            let from = Side { at: from, step: steps.column, across: steps.row };
            // SAFETY: the caller's promise; so many columns fit the block.
            unsafe {
                move_tile(self.element, Side::block(block, some), from, some, rows);
                self.rows.tile(block, rows, some as isize, index, acc.add(first * self.size), some);
            }
        }
    }
}

/// The results of lines of any steps, as [`Reducer::lines`].
///
/// # Safety
/// As there.
pub(crate) unsafe fn lines<R: Reducer>(
    reducer: R,
    at: *const R::In,
    len: usize,
    steps: Steps,
    index: usize,
    acc: &mut [R::Acc],
) {
    // SAFETY: the caller's promise; `acc` is room for its results.
    unsafe {
        if steps.row == 1 || len <= 1 {
            acc.fill(reducer.empty());
            reducer.lines(at, len, steps, index, acc);
        } else {
            let (to, count) = (acc.as_mut_ptr().cast(), acc.len());
            Worker::new(&Typed(reducer)).lines(at.cast(), len, steps, index, to, count);
        }
    }
}
