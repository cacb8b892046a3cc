//! Memory: live handles, statistics, an allocator of the program's own.
//!
//! Freed tensor memory is kept for the next request, up to a limit; the program can look at it, return it, or bring an allocator
//! of its own. That may refuse a block: the call then ends with `RLT_ERROR_OUT_OF_MEMORY`.
//!
//! ```c top
//! static void *refuse(void *ctx, size_t size, size_t alignment) {
//!   (void)size, (void)alignment;
//!   ++*(int *)ctx;
//!   return NULL;
//! }
//!
//! static void give_back(void *ctx, void *block, size_t size, size_t alignment) {
//!   (void)ctx, (void)block, (void)size, (void)alignment;
//! }
//! ```
//!
//! ```c
//! int refused = 0;
//! const rlt_allocator allocator = {sizeof allocator, &refused, refuse, give_back};
//! const int64_t size = 1000000;
//! rlt_tensor *x = NULL;
//! int32_t status = rlt_set_allocator(&allocator);
//! if (!status && rlt_tensor_zeros(&size, 1, NULL, &x) == RLT_ERROR_OUT_OF_MEMORY)
//!   printf("%d refused\n", refused);  // prints 1 refused
//! rlt_set_allocator(NULL);
//! ```

use crate::support::sized::{self, SizedStruct};
use crate::support::{guard, out};
use rushlight_base::handles;
use rushlight_base::memory::{self, AllocatorHooks};
use std::ffi::c_void;

/// An allocator of the embedder. Both functions may be called from any thread.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_allocator {
    /// `sizeof(rlt_allocator)`
    pub struct_size: usize,
    /// Handed to both functions.
    pub ctx: *mut c_void,
    /// Returns `size` bytes aligned to `alignment` (a power of two), or NULL.
    pub allocate: Option<unsafe extern "C" fn(ctx: *mut c_void, size: usize, alignment: usize) -> *mut c_void>,
    /// Takes back what `allocate` returned for the same size and alignment.
    pub deallocate: Option<unsafe extern "C" fn(ctx: *mut c_void, block: *mut c_void, size: usize, alignment: usize)>,
}

// SAFETY: repr(C), begins with its size, and any pointer values are valid.
unsafe impl SizedStruct for rlt_allocator {
    const UNSET: Self = rlt_allocator { struct_size: 0, ctx: std::ptr::null_mut(), allocate: None, deallocate: None };
    const NAME: &'static str = "rlt_allocator";
}

/// What the allocator of tensor memory has handed out, in bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_memory_stats {
    /// `sizeof(rlt_memory_stats)`, set by the caller.
    pub struct_size: usize,
    /// In live blocks.
    pub allocated: i64,
    /// The most that `allocated` has been.
    pub peak: i64,
    /// Taken from the system: live blocks and those kept for the next request.
    pub reserved: i64,
}

// SAFETY: repr(C), begins with its size, and any integers are valid.
unsafe impl SizedStruct for rlt_memory_stats {
    const UNSET: Self = rlt_memory_stats { struct_size: 0, allocated: 0, peak: 0, reserved: 0 };
    const NAME: &'static str = "rlt_memory_stats";
}

// ---- An allocator of the program's own ----

/// Lets tensor memory come from the embedder from now on; NULL: from Rushlight's own allocator again. Blocks
/// that are live go back to where they came from, so the functions must stay callable as long as tensors live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_set_allocator(allocator: *const rlt_allocator) -> i32 {
    guard("rlt_set_allocator", || {
        if allocator.is_null() {
            memory::set_allocator(None);
            return Ok(());
        }
        // SAFETY: the caller keeps to docs/c-abi.md.
        let hooks = unsafe { sized::read(allocator, "allocator") }?;
        let (Some(allocate), Some(deallocate)) = (hooks.allocate, hooks.deallocate) else {
            return Err(sized::missing("allocator", "allocate and deallocate"));
        };
        memory::set_allocator(Some(AllocatorHooks { context: hooks.ctx, allocate, deallocate }));
        Ok(())
    })
}

// ---- Handles ----

/// How many handles of every kind are live: handed out and not freed. A program that frees what it was given
/// ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_live_handles(out: *mut i64) -> i32 {
    guard("rlt_live_handles", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::value(out, "out") }?.set(handles::live())
    })
}

// ---- What is used and kept ----

/// What the allocator of tensor memory has handed out. The caller sets `struct_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_memory_get_stats(stats: *mut rlt_memory_stats) -> i32 {
    guard("rlt_memory_get_stats", || {
        let now = memory::memory_stats();
        let value =
            rlt_memory_stats { allocated: now.allocated, peak: now.peak, reserved: now.reserved, ..SizedStruct::UNSET };
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { sized::write(stats, &value, "stats") }
    })
}

/// Lets the high-water mark of `rlt_memory_get_stats` start again from what is allocated now.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_memory_reset_peak() -> i32 {
    guard("rlt_memory_reset_peak", || {
        memory::reset_peak_memory();
        Ok(())
    })
}

/// Gives memory that is kept for the next request back to the system.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_memory_trim() -> i32 {
    guard("rlt_memory_trim", || {
        memory::trim_memory();
        Ok(())
    })
}

/// Keeps at most `bytes` bytes of freed memory for the next request, 0 for none; it starts with an eighth of the machine's
/// memory, at most 1 GiB, or what the environment variable `RUSHLIGHT_CACHE_LIMIT` says.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_memory_set_cache_limit(bytes: i64) -> i32 {
    guard("rlt_memory_set_cache_limit", || memory::set_cache_limit(bytes))
}
