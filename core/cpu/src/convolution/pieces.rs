//! Panels that are filled with pieces of adjacent elements: block by block, mostly a whole register.

use crate::gemm::SLACK;
use crate::simd::{Kernel, Simd, run};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Lanes of a panel that are adjacent in memory.
#[derive(Clone, Copy, Default)]
pub(super) struct Piece {
    pub lane: usize,
    pub count: usize,
    /// Offset of the first one.
    pub at: isize,
}

/// The most pieces of a panel: it has no more lanes.
pub(super) const PIECES: usize = 128;

/// Adds a piece to the `count` first ones, or extends the last of them.
#[inline(always)]
pub(super) fn add(pieces: &mut [Piece; PIECES], count: usize, piece: Piece) -> usize {
    if let Some(last) = count.checked_sub(1).map(|last| &mut pieces[last])
        && last.at + last.count as isize == piece.at
    {
        last.count += piece.count;
        return count;
    }
    pieces[count] = piece;
    count + 1
}

/// Offsets along k.
pub(super) trait Along {
    /// Calls `visit` with the offset of each k of a range that is not empty, in order.
    fn each(&self, depth: Range<usize>, visit: impl FnMut(isize));

    /// At least the greatest of these offsets.
    fn furthest(&self, depth: Range<usize>) -> isize;
}

/// Fills a panel. The elements up to offset `limit` can be read.
///
/// # Safety
/// The panel is one of [`Panels::fill`](crate::gemm::Panels::fill), and what the pieces meet at each k can be read.
pub(super) unsafe fn fill<T: Copy>(
    from: *const T,
    limit: isize,
    along: &impl Along,
    depth: Range<usize>,
    pieces: &[Piece],
    panel: *mut T,
    width: usize,
) {
    if depth.is_empty() {
        return;
    }
    let ends = pieces.iter().map(|piece| piece.at + piece.count.next_multiple_of(block::<T>()) as isize);
    let whole = ends.fold(0, isize::max) + along.furthest(depth.clone()) <= limit;
    run(Filling { from, along, depth, pieces, panel, width, whole });
}

/// Elements of the blocks that are copied.
pub(super) const fn block<T>() -> usize {
    let elements = SLACK / size_of::<T>();
    if elements > 16 { 16 } else { elements }
}

/// Copies a block.
///
/// # Safety
/// It can be read and written.
#[inline(always)]
pub(super) unsafe fn copy_block<T: Copy>(from: *const T, to: *mut T) {
    // SAFETY: the caller guarantees a block at both addresses: 16 elements of up to 4 bytes, or 64 bytes.
    unsafe {
        match size_of::<T>() {
            1 => copy_bytes::<16>(from.cast(), to.cast()),
            2 => copy_bytes::<32>(from.cast(), to.cast()),
            _ => copy_bytes::<64>(from.cast(), to.cast()),
        }
    }
}

/// # Safety
/// `N` bytes can be read and written.
#[inline(always)]
unsafe fn copy_bytes<const N: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller guarantees `N` bytes at both addresses; bytes without a value may be moved.
    unsafe {
        let bytes = from.cast::<MaybeUninit<[u8; N]>>().read_unaligned();
        to.cast::<MaybeUninit<[u8; N]>>().write_unaligned(bytes);
    }
}

/// `whole`: blocks may be copied whole, also where a piece ends within.
struct Filling<'a, T, A> {
    from: *const T,
    along: &'a A,
    depth: Range<usize>,
    pieces: &'a [Piece],
    panel: *mut T,
    width: usize,
    whole: bool,
}

impl<T: Copy, A: Along> Kernel for Filling<'_, T, A> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let short = self.pieces.iter().all(|piece| piece.count <= block::<T>());
        // SAFETY: the caller of `fill` provides a panel with its slack. Pieces are filled in order, so that what
        // follows one in its last block is overwritten by the next, or in the next row. Blocks are only copied whole if
        // they are inside the readable elements.
        unsafe {
            match (self.whole, self.pieces) {
                (false, _) => self.each(|piece, from, to| std::ptr::copy_nonoverlapping(from, to, piece.count)),
                (true, [one]) if one.count == 2 * block::<T>() => self.each(|_, from, to| {
                    copy_block(from, to);
                    copy_block(from.add(block::<T>()), to.add(block::<T>()));
                }),
                (true, _) if short => self.each(|_, from, to| copy_block(from, to)),
                (true, _) => self.each(|piece, from, to| {
                    for i in (0..piece.count).step_by(block::<T>()) {
                        copy_block(from.add(i), to.add(i));
                    }
                }),
            }
        }
    }
}

impl<T: Copy, A: Along> Filling<'_, T, A> {
    /// Calls `copy` with each piece for each k.
    #[inline(always)]
    fn each(&self, copy: impl Fn(&Piece, *const T, *mut T)) {
        let mut row = self.panel;
        self.along.each(self.depth.clone(), |offset| {
            let from = self.from.wrapping_offset(offset);
            for piece in self.pieces {
                copy(piece, from.wrapping_offset(piece.at), row.wrapping_add(piece.lane));
            }
            row = row.wrapping_add(self.width);
        });
    }
}
