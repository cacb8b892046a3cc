//! Notes the largest request for memory, to see that it stays in proportion to the input. The library has its own global
//! allocator, so the functions of C below it are replaced.

use std::cell::Cell;
use std::ffi::c_void;

thread_local! {
    /// The largest request of this thread.
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

// The functions of glibc under the names that remain when a program has its own.
unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
}

fn note(size: usize) {
    // A thread that ends may still allocate.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

/// C's `malloc` for the whole program.
#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    note(size);
    // SAFETY: any size is valid; `free` is glibc's and takes the block.
    unsafe { __libc_malloc(size) }
}

/// C's `calloc` for the whole program.
#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    note(count.saturating_mul(size));
    // SAFETY: any product is valid, glibc checks it for overflow; `free` is glibc's and takes the block.
    unsafe { __libc_calloc(count, size) }
}

/// C's `realloc` for the whole program.
///
/// # Safety
/// As in C: `block` is null or a block of one of these functions.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    note(size);
    // SAFETY: the caller guarantees that `block` is null or came from these functions, that is from glibc.
    unsafe { __libc_realloc(block, size) }
}

/// Runs `body` and fails if one allocation in it exceeded `limit` bytes.
pub fn within<T>(limit: usize, body: impl FnOnce() -> T) -> T {
    LARGEST.set(0);
    drop(std::hint::black_box(vec![0u8; 4096]));
    assert!(LARGEST.get() >= 4096, "the replaced functions are not called");
    LARGEST.set(0);
    let result = body();
    let largest = LARGEST.get();
    assert!(largest <= limit, "an allocation of {largest} bytes");
    result
}
