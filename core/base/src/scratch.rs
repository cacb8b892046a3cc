//! Working memory of kernels that is too large for the stack.
//!
//! The stack of a thread may be small: 128 KiB with musl, some pages in a fibre, and a JVM guarantees 80 KiB to native
//! code. A function of this library uses up to 16 KiB of it, and allocates larger buffers here.

use crate::Result;
use crate::memory::{Block, allocate_behind};

/// A block of uninitialized memory, aligned to [`ALIGNMENT`](crate::memory::ALIGNMENT). It does not count as tensor memory.
///
/// Up to 64 KiB come from the blocks that the thread caches, which takes a few nanoseconds.
pub struct Scratch(Block);

impl Scratch {
    /// A block of `bytes` bytes, or the error `OutOfMemory`.
    #[inline]
    pub fn new(bytes: usize) -> Result<Scratch> {
        allocate_behind(bytes, 0).map(Scratch)
    }

    /// The first byte.
    #[inline]
    pub fn start(&self) -> *mut u8 {
        self.0.start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::memory::{ALIGNMENT, allocated_memory};

    #[test]
    fn blocks_are_aligned_writable_and_not_counted() {
        let before = allocated_memory();
        for bytes in [1, 100, 48 << 10, 100 << 10] {
            let scratch = Scratch::new(bytes).unwrap();
            assert!(scratch.start().addr().is_multiple_of(ALIGNMENT));
            // SAFETY: the block has as many bytes as the slice, and only this test uses it.
            unsafe { scratch.start().write_bytes(7, bytes) };
            assert_eq!(allocated_memory(), before);
        }
    }

    #[test]
    fn more_than_there_is_ends_in_an_error() {
        assert_eq!(Scratch::new(usize::MAX / 2).err().unwrap().kind(), ErrorKind::OutOfMemory);
    }
}
