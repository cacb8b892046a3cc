//! Memory that was freed and is kept for the next request: the allocator below `memory.rs`, above the system.
//!
//! Small blocks (up to 64 KiB) are kept in shards, in a list for each size class. A thread's shard is chosen by where its
//! stack lies, since a shared library pays more for a thread-local variable than for the one locked instruction of taking
//! the shard; a block goes back to the shard it came from, so that what another thread frees returns to use. Larger blocks
//! are kept in one short table, oldest first; from 2 MiB on they are mapped at a multiple of 2 MiB, for huge pages.
//!
//! The counters stand in the shards and are summed on request. The high-water mark is exact when one thread allocates;
//! with several it may be too high by what their shards reached at different times between two large blocks.

use crate::{fork, handles};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicIsize, AtomicUsize, Ordering};

/// Alignment of blocks in bytes: one cache line, one AVX-512 register.
pub(crate) const ALIGNMENT: usize = 64;
/// The largest block of a shard.
const SMALL: usize = 64 << 10;
/// Classes of small blocks: multiples of 64 bytes up to 1 KiB, then four in each doubling.
const CLASSES: usize = 16 + 6 * 4;
/// What a shard keeps at most, in bytes, if the limit of the whole allows.
const SHARD_LIMIT: usize = 2 << 20;
/// Size and alignment of a huge page; larger blocks are mapped.
const HUGE: usize = 2 << 20;
/// How many large blocks are kept at most.
const ENTRIES: usize = 256;

/// A block of memory, and what is needed to give it back.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) start: NonNull<u8>,
    /// Size class: below [`CLASSES`] a small one.
    class: u16,
    shard: u8,
    /// Bytes between what `malloc` returned and the start.
    offset: u8,
}

/// What a small block holds while it is kept.
struct Free {
    next: *mut Free,
    offset: u8,
}

#[repr(align(128))]
struct Shard {
    taken: AtomicBool,
    /// Bytes in live blocks that count, and the most since they were last looked at; written with the lock held.
    live: AtomicI64,
    high: AtomicI64,
    kept: AtomicUsize,
    free: UnsafeCell<[*mut Free; CLASSES]>,
}

// SAFETY: the lists are only reached with the lock held, the rest is atomic.
unsafe impl Sync for Shard {}

struct Large {
    taken: AtomicBool,
    live: AtomicI64,
    kept: AtomicUsize,
    table: UnsafeCell<Table>,
}

// SAFETY: the table is only reached with the lock held, the rest is atomic.
unsafe impl Sync for Large {}

struct Table {
    /// The first `len` are there, oldest first.
    entries: [Option<Piece>; ENTRIES],
    len: usize,
}

static SHARDS: [Shard; handles::SHARDS] = [const {
    Shard {
        taken: AtomicBool::new(false),
        live: AtomicI64::new(0),
        high: AtomicI64::new(0),
        kept: AtomicUsize::new(0),
        free: UnsafeCell::new([ptr::null_mut(); CLASSES]),
    }
}; handles::SHARDS];

static LARGE: Large = Large {
    taken: AtomicBool::new(false),
    live: AtomicI64::new(0),
    kept: AtomicUsize::new(0),
    table: UnsafeCell::new(Table { entries: [None; ENTRIES], len: 0 }),
};

static PEAK: AtomicI64 = AtomicI64::new(0);
/// The limit of what is kept, in bytes; negative: not decided yet.
static LIMIT: AtomicIsize = AtomicIsize::new(-1);
static OF_SHARD: AtomicUsize = AtomicUsize::new(0);

/// Take a lock for a few instructions, in which nothing is called that could block.
#[inline]
fn lock(taken: &AtomicBool) {
    if taken.swap(true, Ordering::Acquire) {
        wait(taken);
    }
}

#[cold]
fn wait(taken: &AtomicBool) {
    let mut looks = 0u32;
    while taken.load(Ordering::Relaxed) || taken.swap(true, Ordering::Acquire) {
        looks += 1;
        // The holder needs a few nanoseconds unless it was preempted: then it needs this core.
        if looks.is_multiple_of(64) { std::thread::yield_now() } else { std::hint::spin_loop() }
    }
}

#[inline]
fn unlock(taken: &AtomicBool) {
    taken.store(false, Ordering::Release);
}

/// Add to a counter that only the holder of the lock writes: no locked instruction.
#[inline]
fn add(counter: &AtomicI64, bytes: i64) -> i64 {
    let sum = counter.load(Ordering::Relaxed) + bytes;
    counter.store(sum, Ordering::Relaxed);
    sum
}

/// The class of a small block, and its size in bytes.
#[inline]
fn small_class(size: usize) -> (usize, usize) {
    let last = size.max(1) - 1;
    if last < 1024 {
        return (last / 64, last / 64 * 64 + 64);
    }
    let doubling = (last / 1024).ilog2() as usize;
    let step = (last - (1024 << doubling)) / (256 << doubling);
    (16 + 4 * doubling + step, (1024 << doubling) + (step + 1) * (256 << doubling))
}

fn size_of_small(class: usize) -> usize {
    if class < 16 {
        return 64 * (class + 1);
    }
    let (doubling, step) = ((class - 16) / 4, (class - 16) % 4);
    (1024 << doubling) + (step + 1) * (256 << doubling)
}

/// The class of a large block: eight in each doubling. Classes are whole pages.
fn large_class(size: usize) -> u16 {
    let last = size - 1;
    let doubling = last.ilog2() as usize;
    let step = (last - (1 << doubling)) / ((1 << doubling) / 8);
    (8 * doubling + step) as u16
}

fn size_of_large(class: u16) -> usize {
    let (doubling, step) = (usize::from(class) / 8, usize::from(class) % 8);
    (1 << doubling) + (step + 1) * ((1 << doubling) / 8)
}

/// A block of `size` bytes, not initialised, of which `counted` count. `None`: out of memory.
#[inline]
pub(crate) fn take(size: usize, counted: usize) -> Option<Piece> {
    if size > SMALL {
        return take_large(size, counted);
    }
    let (class, bytes) = small_class(size);
    let index = handles::shard();
    let shard = &SHARDS[index];
    lock(&shard.taken);
    // SAFETY: the lock is held. What is in a list is a block that was given back, and begins with its `Free`.
    let found = unsafe {
        let list = &mut (*shard.free.get())[class];
        NonNull::new(*list).map(|free| {
            *list = free.as_ref().next;
            (free, free.as_ref().offset)
        })
    };
    if let Some((free, offset)) = found {
        shard.kept.store(shard.kept.load(Ordering::Relaxed) - bytes, Ordering::Relaxed);
        count_small(shard, counted as i64);
        unlock(&shard.taken);
        return Some(Piece { start: free.cast(), class: class as u16, shard: index as u8, offset });
    }
    unlock(&shard.taken);
    let (start, offset) = from_malloc(bytes)?;
    lock(&shard.taken);
    count_small(shard, counted as i64);
    unlock(&shard.taken);
    Some(Piece { start, class: class as u16, shard: index as u8, offset })
}

/// Give back a block of which `counted` bytes count.
///
/// # Safety
/// The piece came from [`take`] with the same `counted`, and is not used any more.
#[inline]
pub(crate) unsafe fn give(piece: Piece, counted: usize) {
    let class = usize::from(piece.class);
    if class >= CLASSES {
        // SAFETY: as here.
        return unsafe { give_large(piece, counted) };
    }
    let bytes = size_of_small(class);
    let shard = &SHARDS[usize::from(piece.shard)];
    lock(&shard.taken);
    add(&shard.live, -(counted as i64));
    let kept = shard.kept.load(Ordering::Relaxed) + bytes;
    if kept > OF_SHARD.load(Ordering::Relaxed) {
        // What is kept is of sizes that are not asked for any more: start again.
        let lists = empty(shard);
        unlock(&shard.taken);
        // SAFETY: the lists and the piece are ours.
        unsafe {
            free_lists(lists);
            to_malloc(piece.start, piece.offset);
        }
        return;
    }
    shard.kept.store(kept, Ordering::Relaxed);
    // SAFETY: the lock is held, and the block is ours and has room for a `Free`.
    unsafe {
        let free = piece.start.as_ptr().cast::<Free>();
        let list = &mut (*shard.free.get())[class];
        free.write(Free { next: *list, offset: piece.offset });
        *list = free;
    }
    unlock(&shard.taken);
}

#[inline]
fn count_small(shard: &Shard, counted: i64) {
    let live = add(&shard.live, counted);
    if live > shard.high.load(Ordering::Relaxed) {
        shard.high.store(live, Ordering::Relaxed);
    }
}

/// Take all that a shard keeps. The lock is held.
fn empty(shard: &Shard) -> [*mut Free; CLASSES] {
    shard.kept.store(0, Ordering::Relaxed);
    // SAFETY: the caller holds the lock.
    unsafe { std::mem::replace(&mut *shard.free.get(), [ptr::null_mut(); CLASSES]) }
}

/// # Safety
/// The lists are the caller's.
unsafe fn free_lists(lists: [*mut Free; CLASSES]) {
    for mut list in lists {
        while let Some(free) = NonNull::new(list) {
            // SAFETY: an entry begins with its `Free`, which is read before the block goes.
            unsafe {
                let Free { next, offset } = list.read();
                list = next;
                to_malloc(free.cast(), offset);
            }
        }
    }
}

/// `bytes` bytes from `malloc`, aligned by hand: several times faster than an aligned allocation, which glibc serves from its
/// slow path. Tries again after giving back what is kept.
#[cold]
fn from_malloc(bytes: usize) -> Option<(NonNull<u8>, u8)> {
    decide_limit();
    // SAFETY: malloc may be called with any size.
    let ask = || NonNull::new(unsafe { libc::malloc(bytes + ALIGNMENT) });
    let base = ask().or_else(|| {
        trim();
        ask()
    })?;
    let offset = base.as_ptr().cast::<u8>().align_offset(ALIGNMENT);
    // SAFETY: the block has ALIGNMENT bytes more than asked for, and the offset is less than that.
    Some((unsafe { base.cast::<u8>().add(offset) }, offset as u8))
}

/// # Safety
/// `start` and `offset` came from [`from_malloc`].
unsafe fn to_malloc(start: NonNull<u8>, offset: u8) {
    // SAFETY: this is the pointer that malloc returned.
    unsafe { libc::free(start.sub(usize::from(offset)).as_ptr().cast::<c_void>()) };
}

#[inline(never)]
fn take_large(size: usize, counted: usize) -> Option<Piece> {
    if size > isize::MAX as usize / 2 {
        return None;
    }
    let class = large_class(size);
    lock(&LARGE.taken);
    // SAFETY: the lock is held.
    let found = unsafe { (*LARGE.table.get()).remove_last_of(class) };
    unlock(&LARGE.taken);
    let piece = match found {
        Some(piece) => {
            LARGE.kept.fetch_sub(size_of_large(class), Ordering::Relaxed);
            piece
        }
        None => {
            let bytes = size_of_large(class);
            let (start, offset) = if bytes >= HUGE { map(bytes) } else { from_malloc(bytes) }?;
            Piece { start, class, shard: 0, offset }
        }
    };
    count(counted as i64);
    Some(piece)
}

/// # Safety
/// As for [`give`].
#[inline(never)]
unsafe fn give_large(piece: Piece, counted: usize) {
    count(-(counted as i64));
    let bytes = size_of_large(piece.class);
    let limit = usize::try_from(LIMIT.load(Ordering::Relaxed)).unwrap_or(0);
    let limit = limit.saturating_sub(OF_SHARD.load(Ordering::Relaxed) * SHARDS.len());
    if bytes > limit {
        // SAFETY: the piece is ours.
        return unsafe { release(piece) };
    }
    let mut kept = LARGE.kept.fetch_add(bytes, Ordering::Relaxed) + bytes;
    loop {
        lock(&LARGE.taken);
        // SAFETY: the lock is held.
        let table = unsafe { &mut *LARGE.table.get() };
        // The oldest goes until there is room.
        let oldest = if kept > limit || table.len == ENTRIES { table.remove(0) } else { None };
        if oldest.is_none() {
            table.entries[table.len] = Some(piece);
            table.len += 1;
        }
        unlock(&LARGE.taken);
        let Some(oldest) = oldest else { return };
        let size = size_of_large(oldest.class);
        kept = LARGE.kept.fetch_sub(size, Ordering::Relaxed) - size;
        // SAFETY: it was taken out of the table.
        unsafe { release(oldest) };
    }
}

impl Table {
    fn remove(&mut self, index: usize) -> Option<Piece> {
        let piece = self.entries[..self.len].get(index).copied().flatten()?;
        self.entries.copy_within(index + 1..self.len, index);
        self.len -= 1;
        self.entries[self.len] = None;
        Some(piece)
    }

    fn remove_last_of(&mut self, class: u16) -> Option<Piece> {
        let index =
            self.entries[..self.len].iter().rposition(|entry| entry.is_some_and(|entry| entry.class == class))?;
        self.remove(index)
    }
}

/// # Safety
/// The large piece is the caller's.
unsafe fn release(piece: Piece) {
    let bytes = size_of_large(piece.class);
    // SAFETY: it came from `map` or `from_malloc`, by its size.
    unsafe {
        if bytes >= HUGE { unmap(piece.start, bytes, piece.offset) } else { to_malloc(piece.start, piece.offset) }
    }
}

/// `bytes` bytes at a multiple of [`HUGE`]. Tries again after giving back what is kept.
#[cfg(unix)]
fn map(bytes: usize) -> Option<(NonNull<u8>, u8)> {
    decide_limit();
    let map_once = || {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, of which the ends that stick out are given back.
        unsafe {
            let mapped = libc::mmap(ptr::null_mut(), bytes + HUGE, access, kind, -1, 0);
            if mapped == libc::MAP_FAILED {
                return None;
            }
            let before = mapped.cast::<u8>().align_offset(HUGE);
            let start = mapped.cast::<u8>().add(before);
            if before > 0 {
                libc::munmap(mapped, before);
            }
            libc::munmap(start.add(bytes).cast(), HUGE - before);
            #[cfg(target_os = "linux")]
            libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE);
            NonNull::new(start)
        }
    };
    let start = map_once().or_else(|| {
        trim();
        map_once()
    })?;
    Some((start, 0))
}

#[cfg(not(unix))]
fn map(bytes: usize) -> Option<(NonNull<u8>, u8)> {
    from_malloc(bytes)
}

/// # Safety
/// The memory came from [`map`] and is not used any more.
unsafe fn unmap(start: NonNull<u8>, bytes: usize, offset: u8) {
    #[cfg(unix)]
    // SAFETY: a whole mapping of ours.
    unsafe {
        let _ = offset;
        libc::munmap(start.as_ptr().cast(), bytes);
    }
    #[cfg(not(unix))]
    // SAFETY: it came from malloc.
    unsafe {
        let _ = bytes;
        to_malloc(start, offset);
    }
}

/// Count bytes that are in no shard: large blocks, and those of the embedder's allocator.
pub(crate) fn count(counted: i64) {
    // The shards may have had their high when this was less: it counts with the sum of before.
    look();
    LARGE.live.fetch_add(counted, Ordering::Relaxed);
    PEAK.fetch_max(live(), Ordering::Relaxed);
}

/// Bring the high-water mark up to date.
fn look() {
    let mut sum = LARGE.live.load(Ordering::Relaxed);
    for shard in &SHARDS {
        let mut high = shard.high.load(Ordering::Relaxed);
        if high != shard.live.load(Ordering::Relaxed) {
            lock(&shard.taken);
            high = shard.high.load(Ordering::Relaxed);
            shard.high.store(shard.live.load(Ordering::Relaxed), Ordering::Relaxed);
            unlock(&shard.taken);
        }
        sum += high;
    }
    PEAK.fetch_max(sum, Ordering::Relaxed);
}

/// Bytes in live blocks that count.
pub(crate) fn live() -> i64 {
    LARGE.live.load(Ordering::Relaxed) + SHARDS.iter().map(|shard| shard.live.load(Ordering::Relaxed)).sum::<i64>()
}

/// Bytes in live blocks that count, the most there have been, and bytes that are kept.
pub(crate) fn stats() -> (i64, i64, i64) {
    look();
    let kept = LARGE.kept.load(Ordering::Relaxed)
        + SHARDS.iter().map(|shard| shard.kept.load(Ordering::Relaxed)).sum::<usize>();
    (live(), PEAK.load(Ordering::Relaxed), kept as i64)
}

/// Let the high-water mark start again from what is live now.
pub(crate) fn reset_peak() {
    look();
    PEAK.store(0, Ordering::Relaxed);
    look();
}

/// Keep at most `bytes` bytes.
pub(crate) fn set_limit(bytes: usize) {
    let bytes = bytes.min(isize::MAX as usize);
    OF_SHARD.store(SHARD_LIMIT.min(bytes / (2 * SHARDS.len())), Ordering::Relaxed);
    LIMIT.store(bytes as isize, Ordering::Relaxed);
    trim();
}

/// At first use: an eighth of the memory, at most 1 GiB; or what `RUSHLIGHT_CACHE_LIMIT` says, in bytes.
fn decide_limit() {
    // From now on there is something that a fork has to know of.
    fork::watch();
    if LIMIT.load(Ordering::Relaxed) < 0 {
        let said = std::env::var("RUSHLIGHT_CACHE_LIMIT").ok().and_then(|text| text.trim().parse().ok());
        set_limit(said.unwrap_or_else(|| (physical_memory() / 8).clamp(64 << 20, 1 << 30)));
    }
}

fn physical_memory() -> usize {
    #[cfg(unix)]
    // SAFETY: asks for two numbers.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    #[cfg(not(unix))]
    let (pages, page) = (0i64, 0i64);
    usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(page).unwrap_or(0))
}

/// Give everything that is kept back to the system.
pub(crate) fn trim() {
    for shard in &SHARDS {
        lock(&shard.taken);
        let lists = empty(shard);
        unlock(&shard.taken);
        // SAFETY: they were taken out of the shard.
        unsafe { free_lists(lists) };
    }
    loop {
        lock(&LARGE.taken);
        // SAFETY: the lock is held.
        let oldest = unsafe { (*LARGE.table.get()).remove(0) };
        unlock(&LARGE.taken);
        let Some(piece) = oldest else { return };
        LARGE.kept.fetch_sub(size_of_large(piece.class), Ordering::Relaxed);
        // SAFETY: it was taken out of the table.
        unsafe { release(piece) };
    }
}

/// Give back what is kept; the limit is decided anew at next use.
pub(crate) fn shutdown() {
    trim();
    LIMIT.store(-1, Ordering::Relaxed);
    OF_SHARD.store(0, Ordering::Relaxed);
}

/// A child gets the locks as they are: let no other thread hold one.
pub(crate) fn before_fork() {
    SHARDS.iter().for_each(|shard| lock(&shard.taken));
    lock(&LARGE.taken);
}

/// In both processes.
pub(crate) fn after_fork() {
    unlock(&LARGE.taken);
    SHARDS.iter().for_each(|shard| unlock(&shard.taken));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_are_for_and_waste_at_most_a_quarter() {
        for size in 1..=SMALL {
            let (class, bytes) = small_class(size);
            assert!(class < CLASSES && bytes >= size && size_of_small(class) == bytes, "{size}");
            assert!(bytes - size < 64 || (bytes - size) * 4 < size, "{size} {bytes}");
        }
        for size in (SMALL + 1..10_000_000).step_by(997).chain([HUGE, HUGE + 1, (1 << 40) + 1]) {
            let bytes = size_of_large(large_class(size));
            assert!(bytes >= size && (bytes - size) * 8 <= size && bytes.is_multiple_of(4096), "{size} {bytes}");
            assert!(usize::from(large_class(size)) >= CLASSES);
        }
    }
}
