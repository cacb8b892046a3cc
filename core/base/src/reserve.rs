//! The allocator of small internal Rust objects (names, lists, graph nodes), whose allocation cannot report failure.
//!
//! Running out of tensor memory is an error (`memory.rs`). Code that allocates a name or a list of arguments cannot
//! report an error: if `malloc` fails, Rust aborts the process, and with it the host. If `malloc` fails, small requests
//! are therefore served from a reserve, which is part of the library's zeroed data and costs nothing until then. From
//! that moment on operators call [`check`] before they begin, and return `OutOfMemory` as long as the system has no
//! memory: running calls complete, and no new call uses up the reserve. A kernel that fails after it has begun to write
//! bumps the version of its in-place or out= target (`dispatch::written` of `rushlight-tensor`), so that backward does
//! not use the target.

use crate::{Result, bail};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes per unit.
const UNIT: usize = 64;
/// Units in the reserve: 1 MiB; a training step of a small network needs a few dozen KiB.
const UNITS: usize = 16 * 1024;
/// Larger requests depend on input and are made by code that can report a failed allocation.
const LARGEST: usize = 64 << 10;

/// The memory itself.
#[repr(C, align(64))]
struct Block(UnsafeCell<[u8; UNITS * UNIT]>);

// SAFETY: the bytes are handed out to one owner each, under the lock of `TAKEN`.
unsafe impl Sync for Block {}

static BLOCK: Block = Block(UnsafeCell::new([0; UNITS * UNIT]));

/// A bit for each allocated unit.
static TAKEN: Mutex<[u64; UNITS / 64]> = Mutex::new([0; UNITS / 64]);

/// Number of allocated units.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The allocator of a library that must not end its host: the system's, with a reserve.
pub struct Reserve;

// SAFETY: blocks of `System` satisfy its contract; the reserve gives each unit to one owner at a time, with the
// requested size and alignment, and recognizes its own blocks by their address.
unsafe impl GlobalAlloc for Reserve {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees a layout of nonzero size, as `System.alloc` requires.
        let given = unsafe { System.alloc(layout) };
        if given.is_null() { take(layout) } else { given }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_ours(block) {
            give_back(block, layout);
        } else {
            // SAFETY: the block is not in the reserve, so it came from `System`; the caller guarantees that it has this
            // layout.
            unsafe { System.dealloc(block, layout) }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees a layout of nonzero size, as `System.alloc_zeroed` requires.
        let given = unsafe { System.alloc_zeroed(layout) };
        if given.is_null() { zeroed(take(layout), layout) } else { given }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_ours(block) {
            // SAFETY: the block is not in the reserve, so it came from `System`; the caller guarantees its layout and a
            // valid nonzero size.
            let given = unsafe { System.realloc(block, layout, size) };
            if !given.is_null() {
                return given;
            }
        }
        // SAFETY: the caller guarantees the contract of `GlobalAlloc::realloc`, which `moved` has as well.
        unsafe { moved(block, layout, size) }
    }
}

/// Returns the error `OutOfMemory` while the reserve is in use and the system has no memory.
#[inline]
pub fn check() -> Result<()> {
    if COUNT.load(Ordering::Relaxed) == 0 { Ok(()) } else { check_system() }
}

#[cold]
fn check_system() -> Result<()> {
    let wanted = Layout::new::<[u8; LARGEST]>();
    // SAFETY: the layout is not empty, and the block is freed with the same layout.
    let has_some = unsafe {
        let block = System.alloc(wanted);
        if !block.is_null() {
            System.dealloc(block, wanted);
        }
        !block.is_null()
    };
    if !has_some {
        bail!(OutOfMemory, "the system has no memory left");
    }
    Ok(())
}

/// Moves a block of the reserve to one of another size, or elsewhere.
///
/// # Safety
/// Like `GlobalAlloc::realloc`.
#[cold]
unsafe fn moved(block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: the caller guarantees that the new size is valid with this alignment; the two blocks are distinct, and
    // each holds the bytes that are copied.
    unsafe {
        let wanted = Layout::from_size_align_unchecked(size, layout.align());
        let new = Reserve.alloc(wanted);
        if !new.is_null() {
            ptr::copy_nonoverlapping(block, new, size.min(layout.size()));
            Reserve.dealloc(block, layout);
        }
        new
    }
}

fn is_ours(block: *const u8) -> bool {
    let first = BLOCK.0.get().addr();
    (first..first + UNITS * UNIT).contains(&block.addr())
}

fn taken() -> MutexGuard<'static, [u64; UNITS / 64]> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn units(layout: Layout) -> usize {
    layout.size().div_ceil(UNIT)
}

/// Allocates the first run of free units that is long enough; null if there is none.
#[cold]
fn take(layout: Layout) -> *mut u8 {
    if layout.size() > LARGEST || layout.align() > UNIT {
        return ptr::null_mut();
    }
    let (wanted, mut taken) = (units(layout), taken());
    let is_taken = |taken: &[u64], unit: usize| taken[unit / 64] >> (unit % 64) & 1 == 1;
    let mut run = 0..0;
    for unit in 0..UNITS {
        run = if is_taken(&*taken, unit) { unit + 1..unit + 1 } else { run.start..unit + 1 };
        if run.len() == wanted {
            COUNT.fetch_add(wanted, Ordering::Relaxed);
            let first = run.start;
            run.for_each(|unit| taken[unit / 64] |= 1 << (unit % 64));
            // SAFETY: `first` is the index of a unit in the block, so the address is within it.
            return unsafe { BLOCK.0.get().cast::<u8>().add(first * UNIT) };
        }
    }
    ptr::null_mut()
}

#[cold]
fn zeroed(block: *mut u8, layout: Layout) -> *mut u8 {
    if !block.is_null() {
        // SAFETY: the caller guarantees a block of `layout.size()` bytes that no other code uses yet.
        unsafe { block.write_bytes(0, layout.size()) };
    }
    block
}

#[cold]
fn give_back(block: *mut u8, layout: Layout) {
    let first = (block.addr() - BLOCK.0.get().addr()) / UNIT;
    let mut taken = taken();
    (first..first + units(layout)).for_each(|unit| taken[unit / 64] &= !(1 << (unit % 64)));
    COUNT.fetch_sub(units(layout), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_apart_aligned_and_free_again() {
        let layout = |size| Layout::from_size_align(size, 16).unwrap();
        let (a, b, c) = (take(layout(1)), take(layout(100)), take(layout(LARGEST)));
        assert!([a, b, c].iter().all(|block| is_ours(*block) && block.addr().is_multiple_of(UNIT)));
        assert!(b.addr() - a.addr() >= UNIT && c.addr() - b.addr() >= 2 * UNIT);
        assert!(check().is_ok(), "the system has memory");
        // Larger or more strictly aligned requests do not use the reserve.
        assert!(take(layout(LARGEST + 1)).is_null());
        assert!(take(Layout::from_size_align(8, 4096).unwrap()).is_null());
        // SAFETY: the blocks came from the reserve with these sizes, and each is freed once.
        unsafe {
            a.write(7);
            let larger = Reserve.realloc(a, layout(1), 300);
            assert_eq!((larger.read(), is_ours(larger)), (7, false), "back to the system where that has some");
            Reserve.dealloc(larger, layout(300));
            Reserve.dealloc(b, layout(100));
            Reserve.dealloc(c, layout(LARGEST));
        }
        assert_eq!(COUNT.load(Ordering::Relaxed), 0);
        // It can be used up, and is whole again then.
        let all: Vec<*mut u8> = std::iter::repeat_with(|| take(layout(LARGEST))).take_while(|x| !x.is_null()).collect();
        assert_eq!(all.len(), UNITS * UNIT / LARGEST);
        all.into_iter().for_each(|block| give_back(block, layout(LARGEST)));
        assert_eq!(COUNT.load(Ordering::Relaxed), 0);
    }
}
