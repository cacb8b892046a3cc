//! The allocator of tensor memory: aligned, fallible, counted, cached, and replaceable by the embedder.
//!
//! Every request whose size depends on input goes through [`allocate`]; running out is the error `OutOfMemory`, never
//! an abort. `cache.rs` provides and caches our own blocks.

use crate::cache::Piece;
use crate::hooks::Slot;
use crate::{Error, Result, cache, err};
use std::ffi::c_void;
use std::ptr::{self, NonNull};

/// Alignment of CPU storage in bytes: one cache line, one AVX-512 register.
pub const ALIGNMENT: usize = cache::ALIGNMENT;

/// Upper bound of any machine's memory: a process can address 2^47 bytes.
const MOST: usize = (1u64 << 47) as usize;

/// The embedder's allocator.
#[derive(Clone, Copy)]
pub struct AllocatorHooks {
    /// Passed to both functions.
    pub context: *mut c_void,
    /// Returns `size` bytes aligned to `alignment`, or null.
    pub allocate: unsafe extern "C" fn(context: *mut c_void, size: usize, alignment: usize) -> *mut c_void,
    /// Frees a block that `allocate` returned, with the same size and alignment.
    pub deallocate: unsafe extern "C" fn(context: *mut c_void, block: *mut c_void, size: usize, alignment: usize),
}

// SAFETY: `set_allocator` requires of the embedder that the functions and their context may be used from any thread.
unsafe impl Send for AllocatorHooks {}
// SAFETY: `&AllocatorHooks` only reads the pointers; `set_allocator` requires that any thread may use them.
unsafe impl Sync for AllocatorHooks {}

static HOOKS: Slot<AllocatorHooks> = Slot::new();

/// Frees unused memory, if it finds some.
pub type Reclaim = fn();

static RECLAIM: Slot<Reclaim> = Slot::new();

/// Statistics of the allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryStats {
    /// Bytes in live blocks.
    pub allocated: i64,
    /// The maximum of `allocated`: exact when one thread allocates, else slightly off.
    pub peak: i64,
    /// Bytes in live and in cached blocks.
    pub reserved: i64,
}

/// Bytes in live blocks, their maximum, and live plus cached bytes.
pub fn memory_stats() -> MemoryStats {
    let (allocated, peak, kept) = cache::stats();
    MemoryStats { allocated, peak, reserved: allocated + kept }
}

/// Bytes in live blocks: cheaper than all of [`memory_stats`].
pub fn allocated_memory() -> i64 {
    cache::live()
}

/// Bytes of tensor memory on the CPU that this thread has allocated, and that it has freed. Only differences between two
/// calls on the same thread have a meaning.
pub fn thread_traffic() -> (i64, i64) {
    cache::of_thread()
}

/// Resets the high-water mark to the bytes allocated now.
pub fn reset_peak_memory() {
    cache::reset_peak();
}

/// Returns cached memory to the system.
pub fn trim_memory() {
    cache::trim();
    // SAFETY: malloc_trim has no precondition; it only returns free memory.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0)
    };
}

/// Limits cached memory to `bytes` bytes; 0: none.
pub fn set_cache_limit(bytes: i64) -> Result<()> {
    cache::set_limit(usize::try_from(bytes).map_err(|_| err!(Value, "a limit of {bytes} bytes is not possible"))?);
    Ok(())
}

/// Installs the embedder's allocator (`None`: our own). Live blocks are freed by the allocator they came from.
pub fn set_allocator(hooks: Option<AllocatorHooks>) {
    HOOKS.set(hooks);
}

/// Calls `reclaim` before a request to our own allocator fails, and then retries: a language with a garbage collector
/// may hold unused memory. Any thread may call it; no lock of the allocator is held.
pub fn set_reclaim(reclaim: Option<Reclaim>) {
    RECLAIM.set(reclaim);
}

pub(crate) fn shutdown() {
    HOOKS.clear();
    RECLAIM.clear();
    cache::shutdown();
}

/// An owned block of aligned memory.
pub(crate) struct Block {
    start: NonNull<u8>,
    /// Bytes counted as tensor memory; for the embedder's allocator, all of them.
    size: usize,
    source: Source,
}

enum Source {
    /// An empty block: no memory behind it.
    Empty,
    Own(Piece),
    /// The embedder's allocator.
    Hooks(Box<AllocatorHooks>),
}

// SAFETY: a block owns its memory and has no thread affinity; access to the bytes is the responsibility of the holder
// of its pointer.
unsafe impl Send for Block {}
// SAFETY: the fields never change, and a shared `Block` only gives out the pointer.
unsafe impl Sync for Block {}

impl Block {
    #[inline]
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

/// Whether the embedder provides the memory.
#[inline]
pub(crate) fn is_hooked() -> bool {
    HOOKS.get().is_some()
}

/// Allocates `header` bytes followed by `size` bytes with our own allocator, aligned to [`ALIGNMENT`]. Only `size` is
/// counted as tensor memory.
#[inline]
pub(crate) fn allocate_behind(header: usize, size: usize) -> Result<Block> {
    let piece = size.checked_add(header).and_then(|total| cache::take(total, size).or_else(|| take_again(total, size)));
    let piece = piece.ok_or_else(|| out_of_memory(size))?;
    Ok(Block { start: piece.start, size, source: Source::Own(piece) })
}

#[cold]
fn take_again(total: usize, size: usize) -> Option<Piece> {
    let reclaim = RECLAIM.get()?;
    // A collection takes time: impossible sizes are rejected at once.
    if total > MOST {
        return None;
    }
    reclaim();
    cache::take(total, size)
}

#[cold]
fn out_of_memory(size: usize) -> Error {
    err!(OutOfMemory, "not enough memory: the allocator could not provide {size} bytes")
}

/// Allocates `size` bytes aligned to [`ALIGNMENT`]. The bytes are not initialized.
pub(crate) fn allocate(size: usize) -> Result<Block> {
    if size == 0 {
        let start = NonNull::new(ptr::without_provenance_mut(ALIGNMENT)).unwrap_or(NonNull::dangling());
        return Ok(Block { start, size, source: Source::Empty });
    }
    match HOOKS.get() {
        None => allocate_behind(0, size),
        Some(hooks) => {
            let block = allocate_hooked(*hooks, size).ok_or_else(|| out_of_memory(size))?;
            cache::count(size as i64);
            Ok(block)
        }
    }
}

fn allocate_hooked(hooks: AllocatorHooks, size: usize) -> Option<Block> {
    // SAFETY: the embedder installed `allocate` with this context and signature (`set_allocator`).
    let start = NonNull::new(unsafe { (hooks.allocate)(hooks.context, size, ALIGNMENT) })?;
    Some(Block { start: start.cast(), size, source: Source::Hooks(Box::new(hooks)) })
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        match &self.source {
            Source::Empty => {}
            // SAFETY: the piece was taken with this size; a block is dropped once, so it is given back once.
            Source::Own(piece) => unsafe { cache::give(*piece, self.size) },
            Source::Hooks(hooks) => give_hooked(hooks, self.start, self.size),
        }
    }
}

#[cold]
fn give_hooked(hooks: &AllocatorHooks, start: NonNull<u8>, size: usize) {
    // SAFETY: the block came from this allocator with this size and alignment, and its drop frees it once.
    unsafe { (hooks.deallocate)(hooks.context, start.as_ptr().cast(), size, ALIGNMENT) };
    cache::count(-(size as i64));
}
