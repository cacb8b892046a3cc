//! [`Tree`]: partial results that are merged pairwise, so that the error of a floating sum grows with the logarithm of
//! its length.

use super::reducer::{Slot, Worker};
use rushlight_base::Scratch;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Levels of a tree of single results: more than any length has.
pub(super) const DEEP: usize = 40;
/// Levels of a tree of results side by side.
pub(super) const FLAT: usize = 8;

/// Partial results by size: a level holds up to `fanout` of those below. The last level holds any number. Each entry
/// has `width` adjacent results.
pub(super) struct Tree<'r> {
    worker: Worker<'r>,
    width: usize,
    levels: *mut u8,
    counts: [u32; DEEP],
    depth: usize,
    fanout: u32,
    slots: PhantomData<&'r mut [Slot]>,
}

/// How many results of a level make one of the next: 2 for up to 256 leaves, 4 for up to 65536, ...
fn fanout(leaves: usize) -> u32 {
    let mut fanout = 2u32;
    while (fanout as usize).pow(FLAT as u32) < leaves && fanout < 64 {
        fanout *= 2;
    }
    fanout
}

/// Memory for few and short levels, on the stack of the caller.
pub(super) type Small = MaybeUninit<[Slot; 128]>;

/// Memory of [`Tree::flat`].
pub(super) struct Levels<'r> {
    start: *mut u8,
    /// Where that is not `small`.
    _scratch: Option<Scratch>,
    small: PhantomData<&'r mut Small>,
    /// Bytes of a level.
    bytes: usize,
    depth: usize,
}

impl<'r> Levels<'r> {
    /// Levels for `leaves` times `width` results. `None`: out of memory, as [`Worker::scratch`].
    pub(super) fn new(worker: Worker<'_>, width: usize, leaves: usize, small: &'r mut Small) -> Option<Levels<'r>> {
        let bytes = (width * worker.size()).next_multiple_of(size_of::<Slot>());
        let depth = (leaves.max(1).ilog(fanout(leaves) as usize) as usize + 1).min(FLAT);
        let scratch = if depth * bytes <= size_of::<Small>() { None } else { Some(worker.scratch(depth * bytes)?) };
        let start = scratch.as_ref().map_or(small.as_mut_ptr().cast(), Scratch::start);
        Some(Levels { start, _scratch: scratch, small: PhantomData, bytes, depth })
    }
}

impl<'r> Tree<'r> {
    /// A tree of single results, two of which make one of the next level.
    #[inline]
    pub(super) fn deep(worker: Worker<'r>, slots: &'r mut [Slot; DEEP]) -> Tree<'r> {
        Tree::new(worker, 1, slots.as_mut_ptr().cast(), DEEP, 2)
    }

    /// A tree of `width` results side by side, no more than fit `Slots`, with enough levels for all of `leaves`.
    pub(super) fn flat(worker: Worker<'r>, width: usize, leaves: usize, slots: &'r mut Levels<'_>) -> Tree<'r> {
        assert!(width * worker.size() <= slots.bytes);
        Tree::new(worker, width, slots.start, slots.depth, fanout(leaves))
    }

    fn new(worker: Worker<'r>, width: usize, levels: *mut u8, depth: usize, fanout: u32) -> Tree<'r> {
        Tree { worker, width, levels, counts: [0; DEEP], depth, fanout, slots: PhantomData }
    }

    fn level(&self, level: usize) -> *mut u8 {
        self.levels.wrapping_add(level * (self.width * self.worker.size()).next_multiple_of(size_of::<Slot>()))
    }

    /// Adds the results at `leaf`.
    ///
    /// # Safety
    /// `leaf` holds `width` results.
    #[inline]
    pub(super) unsafe fn push(&mut self, mut leaf: *const u8) {
        for level in 0..self.depth {
            let held = self.level(level);
            // SAFETY: each level has space for `width` results, and holds results if its count is not zero.
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

    /// Writes the merged results.
    ///
    /// # Safety
    /// `to` has space for `width` results.
    pub(super) unsafe fn total(self, to: *mut u8) {
        let mut total: Option<*mut u8> = None;
        for level in (0..self.depth).filter(|&level| self.counts[level] > 0) {
            let held = self.level(level);
            if let Some(later) = total {
                // SAFETY: the counts show that both levels hold results.
                unsafe { self.worker.merge(held, later, self.width) };
            }
            total = Some(held);
        }
        // SAFETY: the caller guarantees space for `width` results at `to`.
        unsafe {
            match total {
                Some(total) => self.worker.copy(to, total, self.width),
                None => self.worker.clear(to, self.width),
            }
        }
    }
}
