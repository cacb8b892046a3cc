//! [`Tree`]: partial results that are merged pairwise, so that the error of a floating sum grows with the logarithm of its
//! length.

use super::reducer::{Slot, Slots, Worker};
use std::marker::PhantomData;

/// Levels of a tree of single results: more than any length has.
pub(super) const DEEP: usize = 40;
/// Levels of a tree of results side by side.
pub(super) const FLAT: usize = 8;

/// Partial results by size: a level holds up to `fanout` of those below. The last level holds any number. What is merged
/// are `width` results side by side.
pub(super) struct Tree<'r> {
    worker: Worker<'r>,
    width: usize,
    levels: *mut u8,
    counts: [u32; DEEP],
    depth: usize,
    fanout: u32,
    room: PhantomData<&'r mut [Slot]>,
}

impl<'r> Tree<'r> {
    /// A tree of single results, two of which make one of the next level.
    #[inline]
    pub(super) fn deep(worker: Worker<'r>, room: &'r mut [Slot; DEEP]) -> Tree<'r> {
        Tree::new(worker, 1, room, DEEP, 2)
    }

    /// A tree of `width` results side by side, no more than fit `Slots`, with enough levels for all of `leaves`.
    pub(super) fn flat(worker: Worker<'r>, width: usize, leaves: usize, room: &'r mut [Slots; FLAT]) -> Tree<'r> {
        assert!(width <= worker.width());
        // 256 of them pairwise, 65536 by four, ...
        let mut fanout = 2u32;
        while (fanout as usize).pow(FLAT as u32) < leaves && fanout < 64 {
            fanout *= 2;
        }
        Tree::new(worker, width, room.as_flattened_mut(), FLAT, fanout)
    }

    fn new(worker: Worker<'r>, width: usize, room: &'r mut [Slot], depth: usize, fanout: u32) -> Tree<'r> {
        Tree { worker, width, levels: room.as_mut_ptr().cast(), counts: [0; DEEP], depth, fanout, room: PhantomData }
    }

    fn level(&self, level: usize) -> *mut u8 {
        self.levels.wrapping_add(level * (self.width * self.worker.size()).next_multiple_of(size_of::<Slot>()))
    }

    /// Adds the results at `leaf`.
    ///
    /// # Safety
    /// `width` results are there.
    #[inline]
    pub(super) unsafe fn push(&mut self, mut leaf: *const u8) {
        for level in 0..self.depth {
            let held = self.level(level);
            // SAFETY: each level has room for `width` results, and has them if it counts something.
            unsafe {
                if self.counts[level] == 0 {
                    self.worker.copy(held, leaf, self.width);
                    self.counts[level] = 1;
                    return;
                }
                self.worker.merge(held, leaf, self.width);
            }
            self.counts[level] += 1;
            if self.counts[level] < self.fanout || level + 1 == self.depth {
                return;
            }
            self.counts[level] = 0;
            leaf = held;
        }
    }

    /// Writes the results of all that was added.
    ///
    /// # Safety
    /// There is room for `width` results at `to`.
    pub(super) unsafe fn total(self, to: *mut u8) {
        let mut total: Option<*mut u8> = None;
        for level in (0..self.depth).filter(|&level| self.counts[level] > 0) {
            let held = self.level(level);
            if let Some(later) = total {
                // SAFETY: both levels hold results.
                unsafe { self.worker.merge(held, later, self.width) };
            }
            total = Some(held);
        }
        // SAFETY: the caller's promise.
        unsafe {
            match total {
                Some(total) => self.worker.copy(to, total, self.width),
                None => self.worker.clear(to, self.width),
            }
        }
    }
}
