//! The allocator of tensor memory: aligned, fallible, counted, and replaceable by the embedder.
//!
//! Every request whose size depends on input goes through [`allocate`]; running out is the error
//! `OutOfMemory`, never an abort.

use crate::hooks::Slot;
use crate::{Error, Result, err};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicI64, Ordering};

/// Alignment of CPU storage in bytes: one cache line, one AVX-512 register.
pub const ALIGNMENT: usize = 64;

/// The embedder's allocator.
#[derive(Clone, Copy)]
pub struct AllocatorHooks {
    /// Handed to both functions.
    pub context: *mut c_void,
    /// Returns `size` bytes aligned to `alignment`, or null.
    pub allocate: unsafe extern "C" fn(context: *mut c_void, size: usize, alignment: usize) -> *mut c_void,
    /// Takes back what `allocate` returned, with the same size and alignment.
    pub deallocate: unsafe extern "C" fn(context: *mut c_void, block: *mut c_void, size: usize, alignment: usize),
}

// SAFETY: the embedder promises, by installing them, that the functions and their context may be used from
// any thread.
unsafe impl Send for AllocatorHooks {}
// SAFETY: as above.
unsafe impl Sync for AllocatorHooks {}

static HOOKS: Slot<AllocatorHooks> = Slot::new();
static ALLOCATED: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

/// What the allocator has handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryStats {
    /// Bytes in live blocks.
    pub allocated: i64,
    /// The most that `allocated` has been.
    pub peak: i64,
}

/// Bytes in live blocks now, and the most there have been.
pub fn memory_stats() -> MemoryStats {
    MemoryStats { allocated: ALLOCATED.load(Ordering::Relaxed), peak: PEAK.load(Ordering::Relaxed) }
}

/// Let the high-water mark start again from what is allocated now.
pub fn reset_peak_memory() {
    PEAK.store(ALLOCATED.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Use the embedder's allocator from now on (`None`: our own). Live blocks go back to where they came from.
pub fn set_allocator(hooks: Option<AllocatorHooks>) {
    HOOKS.set(hooks);
}

pub(crate) fn shutdown() {
    HOOKS.clear();
}

/// An owned block of aligned memory.
pub(crate) struct Block {
    start: NonNull<u8>,
    /// Bytes that count as tensor memory; for the embedder's allocator, all of them.
    size: usize,
    source: Source,
}

enum Source {
    /// Nothing was asked for: no memory behind it.
    Empty,
    /// `malloc`, with room to align by hand: several times faster for small blocks than an aligned
    /// allocation, which glibc serves from its slow path.
    Malloc(NonNull<c_void>),
    /// The embedder's allocator.
    Hooks(AllocatorHooks),
}

// SAFETY: a block owns its memory; access to the bytes is the business of whoever holds its pointer.
unsafe impl Send for Block {}
// SAFETY: as above; the fields never change.
unsafe impl Sync for Block {}

impl Block {
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

/// Does the embedder provide the memory?
#[inline]
pub(crate) fn is_hooked() -> bool {
    HOOKS.get().is_some()
}

/// `header` bytes and `size` bytes behind them from our own allocator, aligned to [`ALIGNMENT`]. Only `size` is
/// counted as tensor memory.
#[inline]
pub(crate) fn allocate_behind(header: usize, size: usize) -> Result<Block> {
    let block = size.checked_add(header).and_then(|total| allocate_own(total, size));
    let block = block.ok_or_else(|| out_of_memory(size))?;
    count(size);
    Ok(block)
}

#[cold]
fn out_of_memory(size: usize) -> Error {
    err!(OutOfMemory, "not enough memory: the allocator could not provide {size} bytes")
}

#[inline]
fn count(size: usize) {
    if size > 0 {
        let allocated = ALLOCATED.fetch_add(size as i64, Ordering::Relaxed) + size as i64;
        if allocated > PEAK.load(Ordering::Relaxed) {
            PEAK.fetch_max(allocated, Ordering::Relaxed);
        }
    }
}

/// `size` bytes aligned to [`ALIGNMENT`]. The bytes are not initialised.
pub(crate) fn allocate(size: usize) -> Result<Block> {
    if size == 0 {
        let start = NonNull::new(ptr::without_provenance_mut(ALIGNMENT)).unwrap_or(NonNull::dangling());
        return Ok(Block { start, size, source: Source::Empty });
    }
    let block = match HOOKS.get() {
        None => allocate_own(size, size),
        Some(hooks) => allocate_hooked(*hooks, size),
    };
    let block = block.ok_or_else(|| out_of_memory(size))?;
    count(size);
    Ok(block)
}

/// A block of `size` bytes, of which `counted` are tensor memory.
#[inline]
fn allocate_own(size: usize, counted: usize) -> Option<Block> {
    let padded = size.checked_add(ALIGNMENT).filter(|padded| *padded <= isize::MAX as usize)?;
    // SAFETY: malloc may be called with any size.
    let base = NonNull::new(unsafe { libc::malloc(padded) })?;
    let offset = base.as_ptr().cast::<u8>().align_offset(ALIGNMENT);
    // SAFETY: the block has ALIGNMENT bytes more than asked for, and the offset is less than that.
    let start = unsafe { base.cast::<u8>().add(offset) };
    Some(Block { start, size: counted, source: Source::Malloc(base) })
}

fn allocate_hooked(hooks: AllocatorHooks, size: usize) -> Option<Block> {
    // SAFETY: the embedder installed the functions for exactly this call.
    let start = NonNull::new(unsafe { (hooks.allocate)(hooks.context, size, ALIGNMENT) })?;
    Some(Block { start: start.cast(), size, source: Source::Hooks(hooks) })
}

impl Drop for Block {
    fn drop(&mut self) {
        match self.source {
            Source::Empty => return,
            // SAFETY: the pointer came from malloc and is freed once, here.
            Source::Malloc(base) => unsafe { libc::free(base.as_ptr()) },
            // SAFETY: the block came from this allocator with this size and alignment.
            Source::Hooks(hooks) => unsafe {
                (hooks.deallocate)(hooks.context, self.start.as_ptr().cast(), self.size, ALIGNMENT);
            },
        }
        if self.size > 0 {
            ALLOCATED.fetch_sub(self.size as i64, Ordering::Relaxed);
        }
    }
}
