//! Memory: live handles, statistics, custom allocators.
//!
//! Freed tensor memory is cached for later requests, up to a limit. The program can query the cache, release it, or
//! install its own allocator. That allocator may return NULL: the call then ends with `RLT_ERROR_OUT_OF_MEMORY`.
//!
//! ```c top
//! static void *fail(void *ctx, size_t size, size_t alignment) {
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
//! int failures = 0;
//! const rlt_allocator allocator = {sizeof allocator, &failures, fail, give_back};
//! const int64_t size = 1000000;
//! rlt_tensor *x = NULL;
//! int32_t status = rlt_set_allocator(&allocator);
//! if (!status && rlt_tensor_zeros(&size, 1, NULL, &x) == RLT_ERROR_OUT_OF_MEMORY)
//!   printf("%d failed\n", failures);  // prints 1 failed
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
    /// Passed to both functions.
    pub ctx: *mut c_void,
    /// Returns `size` bytes aligned to `alignment` (a power of two), or NULL.
    pub allocate: Option<unsafe extern "C" fn(ctx: *mut c_void, size: usize, alignment: usize) -> *mut c_void>,
    /// Frees a block that `allocate` returned for the same size and alignment.
    pub deallocate: Option<unsafe extern "C" fn(ctx: *mut c_void, block: *mut c_void, size: usize, alignment: usize)>,
}

// SAFETY: `rlt_allocator` is repr(C) and begins with `struct_size`; its other fields are a pointer and optional
// functions, for which every value from C is valid.
unsafe impl SizedStruct for rlt_allocator {
    const UNSET: Self = rlt_allocator { struct_size: 0, ctx: std::ptr::null_mut(), allocate: None, deallocate: None };
    const NAME: &'static str = "rlt_allocator";
}

/// Statistics of the allocator of tensor memory, in bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_memory_stats {
    /// `sizeof(rlt_memory_stats)`, set by the caller.
    pub struct_size: usize,
    /// Bytes in live blocks.
    pub allocated: i64,
    /// The maximum of `allocated` so far.
    pub peak: i64,
    /// Bytes obtained from the system: live and cached blocks.
    pub reserved: i64,
}

// SAFETY: `rlt_memory_stats` is repr(C) and begins with `struct_size`; its other fields are integers, for which every
// value is valid.
unsafe impl SizedStruct for rlt_memory_stats {
    const UNSET: Self = rlt_memory_stats { struct_size: 0, allocated: 0, peak: 0, reserved: 0 };
    const NAME: &'static str = "rlt_memory_stats";
}

// ---- Custom allocators ----

/// Installs an allocator of the embedder for tensor memory; NULL: Rushlight's own allocator again. Live blocks are
/// returned to the allocator they came from, so its functions must stay callable as long as such tensors live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_set_allocator(allocator: *const rlt_allocator) -> i32 {
    guard("rlt_set_allocator", || {
        if allocator.is_null() {
            memory::set_allocator(None);
            return Ok(());
        }
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `allocator` is NULL or points to
        // `struct_size` readable bytes.
        let hooks = unsafe { sized::read(allocator, "allocator") }?;
        let (Some(allocate), Some(deallocate)) = (hooks.allocate, hooks.deallocate) else {
            return Err(sized::missing("allocator", "allocate and deallocate"));
        };
        memory::set_allocator(Some(AllocatorHooks { context: hooks.ctx, allocate, deallocate }));
        Ok(())
    })
}

// ---- Handles ----

/// Returns the number of live handles of all kinds: returned and not freed. A program that frees everything ends with
/// 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_live_handles(out: *mut i64) -> i32 {
    guard("rlt_live_handles", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::value(out, "out") }?.set(handles::live())
    })
}

// ---- Memory in use and cached ----

/// Returns statistics of the allocator of tensor memory. The caller sets `struct_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_memory_get_stats(stats: *mut rlt_memory_stats) -> i32 {
    guard("rlt_memory_get_stats", || {
        let now = memory::memory_stats();
        let value =
            rlt_memory_stats { allocated: now.allocated, peak: now.peak, reserved: now.reserved, ..SizedStruct::UNSET };
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `stats` (`struct_size` bytes) is NULL
        // or writable.
        unsafe { sized::write(stats, &value, "stats") }
    })
}

/// Resets the peak of `rlt_memory_get_stats` to the memory allocated now.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_memory_reset_peak() -> i32 {
    guard("rlt_memory_reset_peak", || {
        memory::reset_peak_memory();
        Ok(())
    })
}

/// Returns cached memory to the system.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_memory_trim() -> i32 {
    guard("rlt_memory_trim", || {
        memory::trim_memory();
        Ok(())
    })
}

/// Limits cached memory to `bytes` bytes, 0 for none. The default is an eighth of the machine's memory, at most 1 GiB,
/// or the value of the environment variable `RUSHLIGHT_CACHE_LIMIT`.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_memory_set_cache_limit(bytes: i64) -> i32 {
    guard("rlt_memory_set_cache_limit", || memory::set_cache_limit(bytes))
}
