//! An allocator that remembers the largest request, to see that it stays in proportion to the input.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// The largest request of this thread.
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator with accounting. A test makes it the global one.
pub struct Watching;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.set(LARGEST.get().max(layout.size()));
        // SAFETY: the caller guarantees a layout of nonzero size, as `System.alloc` requires.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees that `pointer` came from `alloc`, that is from `System`, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Runs `body` and fails if one allocation in it exceeded `limit` bytes.
pub fn within<T>(limit: usize, body: impl FnOnce() -> T) -> T {
    LARGEST.set(0);
    let result = body();
    let largest = LARGEST.get();
    assert!(largest <= limit, "an allocation of {largest} bytes");
    result
}
