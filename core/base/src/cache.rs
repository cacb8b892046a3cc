//! Caching allocator of freed memory: below `memory.rs`, above the system.
//!
//! Small blocks (up to 64 KiB) are kept by the thread that frees them, in a list for each size class (`local.rs`):
//! allocating and freeing one needs no atomic read-modify-write. A thread that empties another thread's lists requests
//! them through `asymmetric.rs`. Larger blocks are kept in one short table, oldest first; from 2 MiB on they are mapped
//! at a multiple of 2 MiB, for huge pages.
//!
//! The counters are in the shards and are summed on request. The high-water mark is exact if one thread allocates. With
//! several it can miss peaks that threads reached since the mark was last updated, at most [`LAG`] bytes for each.

use crate::local::{self, Local};
use crate::spin::{SpinLock, relax};
use crate::{asymmetric, fork};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicIsize, AtomicUsize, Ordering};

/// Alignment of blocks in bytes: one cache line, one AVX-512 register.
pub(crate) const ALIGNMENT: usize = 64;
/// The largest block of a shard.
const SMALL: usize = 64 << 10;
/// How far a thread's small blocks may shrink before it updates the high-water mark.
const LAG: i64 = 1 << 20;
/// Classes of small blocks: multiples of 64 bytes up to 1 KiB, then four in each doubling.
const CLASSES: usize = 16 + 6 * 4;
/// The maximum that a shard caches, in bytes, if the overall limit allows it. Half of that limit is for the shards;
/// this number of shards can cache their maximum at the same time, and with more shards each one caches less.
const SHARD_LIMIT: usize = 2 << 20;
const SHARDS: usize = 16;
/// Size and alignment of a huge page; larger blocks are mapped.
const HUGE: usize = 2 << 20;
/// Maximum number of cached large blocks.
const ENTRIES: usize = 256;

/// A block of memory, and the data needed to free it.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) start: NonNull<u8>,
    /// Size class: below [`CLASSES`] a small one.
    class: u16,
    /// Bytes between what `malloc` returned and the start.
    offset: u8,
}

/// Header of a cached small block.
struct Free {
    next: *mut Free,
    offset: u8,
}

/// The small blocks that one thread caches.
pub(crate) struct Shard {
    /// The thread is using its lists.
    busy: AtomicBool,
    /// Another thread requests them.
    wanted: AtomicBool,
    /// Counted bytes in blocks that the thread allocated, less those that it freed; and the maximum since the
    /// high-water mark was updated.
    live: AtomicI64,
    high: AtomicI64,
    /// Counted bytes in blocks that the thread allocated.
    taken: AtomicI64,
    /// Of blocks that are in no shard: counted bytes that the thread allocated, and that it freed.
    large_taken: AtomicI64,
    large_given: AtomicI64,
    kept: AtomicUsize,
    free: UnsafeCell<Lists>,
}

type Lists = [*mut Free; CLASSES];

// SAFETY: the lists are accessed only by the owning thread while `busy` is set, and by others while `reach` holds it
// off; the other fields are atomic.
unsafe impl Sync for Shard {}

struct Table {
    /// The first `len` are valid, oldest first.
    entries: [Option<Piece>; ENTRIES],
    len: usize,
}

// SAFETY: the blocks in it are plain memory that any thread may use.
unsafe impl Send for Table {}

/// The cached large blocks.
static LARGE: SpinLock<Table> = SpinLock::new(Table { entries: [None; ENTRIES], len: 0 });
/// Bytes in live blocks that are in no shard, and in cached large blocks.
static LARGE_LIVE: AtomicI64 = AtomicI64::new(0);
static LARGE_KEPT: AtomicUsize = AtomicUsize::new(0);

static PEAK: AtomicI64 = AtomicI64::new(0);
/// The limit of cached memory, in bytes; negative: not decided yet.
static LIMIT: AtomicIsize = AtomicIsize::new(-1);
static OF_SHARD: AtomicUsize = AtomicUsize::new(0);
/// Held by the thread that accesses the lists of others.
static REACHING: SpinLock<()> = SpinLock::new(());

impl Shard {
    pub(crate) const fn new() -> Shard {
        Shard {
            busy: AtomicBool::new(false),
            wanted: AtomicBool::new(false),
            live: AtomicI64::new(0),
            high: AtomicI64::new(0),
            taken: AtomicI64::new(0),
            large_taken: AtomicI64::new(0),
            large_given: AtomicI64::new(0),
            kept: AtomicUsize::new(0),
            free: UnsafeCell::new([ptr::null_mut(); CLASSES]),
        }
    }

    /// Gives access to the thread's own lists, for a few instructions that call nothing that could block.
    #[inline(always)]
    fn with<R>(&self, body: impl FnOnce(&mut Lists) -> R) -> R {
        self.busy.store(true, Ordering::Relaxed);
        asymmetric::light();
        if self.wanted.load(Ordering::Acquire) {
            self.give_way();
        }
        // SAFETY: `busy` is set, so threads that want the lists wait (`reach`); no other reference to them exists on
        // this thread.
        let result = body(unsafe { &mut *self.free.get() });
        self.busy.store(false, Ordering::Release);
        result
    }

    /// Waits until no other thread wants the lists; `busy` is set then.
    #[cold]
    fn give_way(&self) {
        let mut spins = 0;
        while self.wanted.load(Ordering::Acquire) {
            self.busy.store(false, Ordering::Release);
            while self.wanted.load(Ordering::Acquire) {
                relax(&mut spins);
            }
            self.busy.store(true, Ordering::Relaxed);
            asymmetric::light();
        }
    }

    #[inline(always)]
    fn count(&self, counted: i64) {
        local::add(&self.taken, counted);
        let live = local::add(&self.live, counted);
        if live > self.high.load(Ordering::Relaxed) {
            self.high.store(live, Ordering::Relaxed);
        }
    }
}

/// Keeps the threads from using their lists until [`let_go`] and returns the shards. `None` if a fence failed, so that
/// it is unknown whether threads are using their lists.
fn reach() -> &'static [Local] {
    REACHING.hold();
    let locals = local::all();
    locals.iter().for_each(|local| local.shard.wanted.store(true, Ordering::Relaxed));
    if !asymmetric::heavy() {
        return &[];
    }
    let mut spins = 0;
    for local in locals {
        while local.shard.busy.load(Ordering::Acquire) {
            relax(&mut spins);
        }
    }
    locals
}

/// Lets the threads use their lists again.
///
/// # Safety
/// [`reach`] was called, and none of its results is used afterwards.
unsafe fn let_go() {
    local::all().iter().for_each(|local| local.shard.wanted.store(false, Ordering::Release));
    // SAFETY: `reach` took the lock, as the caller guarantees.
    unsafe { REACHING.release() };
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

/// Allocates a block of `size` bytes, uninitialized, of which `counted` are counted. `None`: out of memory.
#[inline]
pub(crate) fn take(size: usize, counted: usize) -> Option<Piece> {
    if size > SMALL {
        return take_large(size, counted);
    }
    let (class, bytes) = small_class(size);
    let Some(local) = local::mine() else { return take_apart(class, counted) };
    let shard = &local.shard;
    // A block in a list was freed, and begins with its `Free`.
    let kept = shard.with(|lists| {
        let free = NonNull::new(lists[class])?;
        // SAFETY: `free` is a block in this thread's list: it was freed with `give`, which wrote its `Free`, and no one
        // else uses it.
        let Free { next, offset } = unsafe { free.read() };
        lists[class] = next;
        shard.kept.store(shard.kept.load(Ordering::Relaxed) - bytes, Ordering::Relaxed);
        Some((free.cast(), offset))
    });
    let (start, offset) = kept.or_else(|| from_malloc(bytes))?;
    shard.count(counted as i64);
    Some(Piece { start, class: class as u16, offset })
}

/// Frees a block of which `counted` bytes were counted.
///
/// # Safety
/// The piece came from [`take`] with the same `counted`, and is not used afterwards.
#[inline]
pub(crate) unsafe fn give(piece: Piece, counted: usize) {
    let class = usize::from(piece.class);
    if class >= CLASSES {
        // SAFETY: the caller guarantees that the piece came from `take` with the same `counted` and is not used
        // afterwards.
        return unsafe { give_large(piece, counted) };
    }
    // SAFETY: the caller guarantees that the piece came from `take` with the same `counted` and is not used afterwards.
    let Some(local) = local::mine() else { return unsafe { give_apart(piece, counted) } };
    let shard = &local.shard;
    if local::add(&shard.live, -(counted as i64)) < shard.high.load(Ordering::Relaxed) - LAG {
        look();
    }
    let there_is_room = shard.with(|lists| {
        let kept = shard.kept.load(Ordering::Relaxed) + size_of_small(class);
        if kept > OF_SHARD.load(Ordering::Relaxed) {
            return false;
        }
        shard.kept.store(kept, Ordering::Relaxed);
        let free = piece.start.cast::<Free>();
        // SAFETY: the caller gave up the block, and every size class holds at least a `Free`.
        unsafe { free.write(Free { next: lists[class], offset: piece.offset }) };
        lists[class] = free.as_ptr();
        true
    });
    if !there_is_room {
        // SAFETY: the caller gave up the piece, and the shard belongs to this thread.
        unsafe { give_too_much(shard, piece) };
    }
}

/// The cached sizes are no longer requested: start again.
///
/// # Safety
/// The caller owns the piece.
#[cold]
unsafe fn give_too_much(shard: &Shard, piece: Piece) {
    let lists = shard.with(|lists| empty(shard, lists));
    // SAFETY: `busy` is set, so no other thread accesses the lists, and the caller guarantees that it owns the piece.
    unsafe {
        free_lists(lists);
        to_malloc(piece.start, piece.offset);
    }
}

/// A small block for a thread without a shard.
#[cold]
fn take_apart(class: usize, counted: usize) -> Option<Piece> {
    let (start, offset) = from_malloc(size_of_small(class))?;
    count(counted as i64);
    Some(Piece { start, class: class as u16, offset })
}

/// # Safety
/// The contract of [`give`], for a small block.
#[cold]
unsafe fn give_apart(piece: Piece, counted: usize) {
    count(-(counted as i64));
    // SAFETY: the caller gave up the piece, which came from `from_malloc`.
    unsafe { to_malloc(piece.start, piece.offset) };
}

/// Takes all blocks out of a shard.
fn empty(shard: &Shard, lists: &mut Lists) -> Lists {
    shard.kept.store(0, Ordering::Relaxed);
    std::mem::replace(lists, [ptr::null_mut(); CLASSES])
}

/// # Safety
/// The caller owns the lists.
unsafe fn free_lists(lists: Lists) {
    for mut list in lists {
        while let Some(free) = NonNull::new(list) {
            // SAFETY: the caller owns the lists; an entry begins with its `Free`, which is read before the block is
            // freed.
            unsafe {
                let Free { next, offset } = list.read();
                list = next;
                to_malloc(free.cast(), offset);
            }
        }
    }
}

/// Allocates `bytes` bytes with `malloc`, aligned by hand: several times faster than an aligned allocation, which glibc
/// serves from its slow path. Retries after releasing the cache.
#[cold]
fn from_malloc(bytes: usize) -> Option<(NonNull<u8>, u8)> {
    decide_limit();
    // SAFETY: malloc has no precondition on the size.
    let ask = || NonNull::new(unsafe { libc::malloc(bytes + ALIGNMENT) });
    let base = ask().or_else(|| {
        trim();
        ask()
    })?;
    let offset = base.as_ptr().cast::<u8>().align_offset(ALIGNMENT);
    // SAFETY: the block has `ALIGNMENT` bytes more than requested, and `offset` is less than that, so the result is in
    // the block.
    Some((unsafe { base.cast::<u8>().add(offset) }, offset as u8))
}

/// # Safety
/// `start` and `offset` came from [`from_malloc`].
unsafe fn to_malloc(start: NonNull<u8>, offset: u8) {
    // SAFETY: the caller guarantees that `start` and `offset` came from `from_malloc`, so this is the pointer that
    // malloc returned, and that it is freed once.
    unsafe { libc::free(start.sub(usize::from(offset)).as_ptr().cast::<c_void>()) };
}

#[inline(never)]
fn take_large(size: usize, counted: usize) -> Option<Piece> {
    if size > isize::MAX as usize / 2 {
        return None;
    }
    let class = large_class(size);
    let found = LARGE.lock().remove_last_of(class);
    let piece = match found {
        Some(piece) => {
            LARGE_KEPT.fetch_sub(size_of_large(class), Ordering::Relaxed);
            piece
        }
        None => {
            let bytes = size_of_large(class);
            let (start, offset) = if bytes >= HUGE { map(bytes) } else { from_malloc(bytes) }?;
            Piece { start, class, offset }
        }
    };
    count(counted as i64);
    Some(piece)
}

/// # Safety
/// The contract of [`give`].
#[inline(never)]
unsafe fn give_large(piece: Piece, counted: usize) {
    count(-(counted as i64));
    let bytes = size_of_large(piece.class);
    let limit = usize::try_from(LIMIT.load(Ordering::Relaxed)).unwrap_or(0);
    let limit = limit.saturating_sub(OF_SHARD.load(Ordering::Relaxed) * local::all().len().max(SHARDS));
    if bytes > limit {
        // SAFETY: the caller gave up the piece, and it was not put into the table.
        return unsafe { release(piece) };
    }
    let mut kept = LARGE_KEPT.fetch_add(bytes, Ordering::Relaxed) + bytes;
    loop {
        let mut table = LARGE.lock();
        // The oldest is released until there is space.
        let oldest = if kept > limit || table.len == ENTRIES { table.remove(0) } else { None };
        if oldest.is_none() {
            table.add(piece);
        }
        drop(table);
        let Some(oldest) = oldest else { return };
        let size = size_of_large(oldest.class);
        kept = LARGE_KEPT.fetch_sub(size, Ordering::Relaxed) - size;
        // SAFETY: `oldest` was taken out of the table, so nothing else refers to it.
        unsafe { release(oldest) };
    }
}

impl Table {
    /// There is space for one more.
    fn add(&mut self, piece: Piece) {
        self.entries[self.len] = Some(piece);
        self.len += 1;
    }

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
/// The caller owns the large piece.
unsafe fn release(piece: Piece) {
    let bytes = size_of_large(piece.class);
    // SAFETY: the caller owns the piece, which came from `map` if it is at least `HUGE` bytes long and from
    // `from_malloc` otherwise.
    unsafe {
        if bytes >= HUGE { unmap(piece.start, bytes, piece.offset) } else { to_malloc(piece.start, piece.offset) }
    }
}

/// Maps `bytes` bytes at a multiple of [`HUGE`]. Retries after releasing the cache.
#[cfg(unix)]
fn map(bytes: usize) -> Option<(NonNull<u8>, u8)> {
    decide_limit();
    let map_once = || {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: mmap with no address creates a new mapping; only its own ends outside the aligned range are unmapped.
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

/// Reserves and commits pages for `bytes` bytes. Retries after releasing the cache.
#[cfg(windows)]
fn map(bytes: usize) -> Option<(NonNull<u8>, u8)> {
    use crate::windows::{MEM_COMMIT, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc};
    decide_limit();
    // SAFETY: VirtualAlloc with no address returns pages that nothing uses, or null.
    let map_once = || unsafe { VirtualAlloc(ptr::null_mut(), bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
    let start = NonNull::new(map_once()).or_else(|| {
        trim();
        NonNull::new(map_once())
    })?;
    Some((start.cast(), 0))
}

#[cfg(not(any(unix, windows)))]
fn map(bytes: usize) -> Option<(NonNull<u8>, u8)> {
    from_malloc(bytes)
}

/// # Safety
/// The memory came from [`map`] and is not used afterwards.
unsafe fn unmap(start: NonNull<u8>, bytes: usize, offset: u8) {
    #[cfg(unix)]
    // SAFETY: the caller guarantees that this is a whole mapping from `map`, which is not used afterwards.
    unsafe {
        let _ = offset;
        libc::munmap(start.as_ptr().cast(), bytes);
    }
    #[cfg(windows)]
    // SAFETY: the caller guarantees that these are the pages of one call of VirtualAlloc, which are not used afterwards.
    unsafe {
        let _ = (bytes, offset);
        crate::windows::VirtualFree(start.as_ptr().cast(), 0, crate::windows::MEM_RELEASE);
    }
    #[cfg(not(any(unix, windows)))]
    // SAFETY: without mmap, `map` allocated the block with `from_malloc`; the caller does not use it afterwards.
    unsafe {
        let _ = bytes;
        to_malloc(start, offset);
    }
}

/// Counts bytes that are in no shard: large blocks, and those of the embedder's allocator.
pub(crate) fn count(counted: i64) {
    // The shards may have reached their maximum when this count was lower: it is added to the previous sum.
    look();
    LARGE_LIVE.fetch_add(counted, Ordering::Relaxed);
    if let Some(Local { shard, .. }) = local::mine() {
        local::add(if counted < 0 { &shard.large_given } else { &shard.large_taken }, counted.abs());
    }
    PEAK.fetch_max(live(), Ordering::Relaxed);
}

/// Updates the high-water mark. A concurrent allocation may be missed, or counted twice.
#[cold]
fn look() {
    let mut sum = LARGE_LIVE.load(Ordering::Relaxed);
    for shard in shards() {
        let (live, high) = (shard.live.load(Ordering::Relaxed), shard.high.load(Ordering::Relaxed));
        if high != live {
            shard.high.store(live, Ordering::Relaxed);
        }
        sum += high;
    }
    PEAK.fetch_max(sum, Ordering::Relaxed);
}

fn shards() -> impl Iterator<Item = &'static Shard> {
    local::all().iter().map(|local| &local.shard)
}

/// Counted bytes in live blocks.
pub(crate) fn live() -> i64 {
    LARGE_LIVE.load(Ordering::Relaxed) + shards().map(|shard| shard.live.load(Ordering::Relaxed)).sum::<i64>()
}

/// Counted bytes that this thread has allocated and freed, from a common start; zeros for a thread without a shard.
pub(crate) fn of_thread() -> (i64, i64) {
    let Some(Local { shard, .. }) = local::mine() else { return (0, 0) };
    let of = |counter: &AtomicI64| counter.load(Ordering::Relaxed);
    let small = of(&shard.taken);
    (small + of(&shard.large_taken), small - of(&shard.live) + of(&shard.large_given))
}

/// Counted bytes in live blocks, their maximum, and cached bytes.
pub(crate) fn stats() -> (i64, i64, i64) {
    look();
    let kept =
        LARGE_KEPT.load(Ordering::Relaxed) + shards().map(|shard| shard.kept.load(Ordering::Relaxed)).sum::<usize>();
    (live(), PEAK.load(Ordering::Relaxed), kept as i64)
}

/// Resets the high-water mark to the live bytes.
pub(crate) fn reset_peak() {
    look();
    PEAK.store(0, Ordering::Relaxed);
    look();
}

/// Limits the cache to `bytes` bytes.
pub(crate) fn set_limit(bytes: usize) {
    LIMIT.store(isize::try_from(bytes).unwrap_or(isize::MAX), Ordering::Relaxed);
    divide_limit();
    trim();
}

/// Half of the limit is for the shards. Also called when a shard is added.
pub(crate) fn divide_limit() {
    let limit = usize::try_from(LIMIT.load(Ordering::Relaxed)).unwrap_or(0);
    OF_SHARD.store(SHARD_LIMIT.min(limit / (2 * local::all().len().max(SHARDS))), Ordering::Relaxed);
}

/// The default, chosen at first use: an eighth of the memory, at most 1 GiB; or the value of `RUSHLIGHT_CACHE_LIMIT`,
/// in bytes.
fn decide_limit() {
    // From now on fork handlers are needed.
    fork::watch();
    if LIMIT.load(Ordering::Relaxed) < 0 {
        let said = std::env::var("RUSHLIGHT_CACHE_LIMIT").ok().and_then(|text| text.trim().parse().ok());
        set_limit(said.unwrap_or_else(|| (physical_memory() / 8).clamp(64 << 20, 1 << 30)));
    }
}

#[cfg(windows)]
fn physical_memory() -> usize {
    use crate::windows::{GlobalMemoryStatusEx, MemoryStatus};
    let mut status = MemoryStatus { length: size_of::<MemoryStatus>() as u32, load: 0, physical: 0, others: [0; 6] };
    // SAFETY: the structure has the size that it states, and the function writes only to it.
    let found = unsafe { GlobalMemoryStatusEx(&raw mut status) } != 0;
    if found { usize::try_from(status.physical).unwrap_or(usize::MAX) } else { 0 }
}

#[cfg(not(windows))]
fn physical_memory() -> usize {
    #[cfg(unix)]
    // SAFETY: sysconf reads two constants and has no precondition.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    #[cfg(not(unix))]
    let (pages, page) = (0i64, 0i64);
    usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(page).unwrap_or(0))
}

/// Returns the whole cache to the system.
pub(crate) fn trim() {
    if shards().any(|shard| shard.kept.load(Ordering::Relaxed) > 0) {
        trim_shards();
    }
    while let Some(piece) = take_oldest() {
        LARGE_KEPT.fetch_sub(size_of_large(piece.class), Ordering::Relaxed);
        // SAFETY: `piece` was taken out of the table, so nothing else refers to it.
        unsafe { release(piece) };
    }
}

fn take_oldest() -> Option<Piece> {
    LARGE.lock().remove(0)
}

fn trim_shards() {
    let locals = reach();
    for Local { shard, .. } in locals {
        // SAFETY: `reach` holds the thread off its lists, so they are exclusively ours; the blocks in them are unused.
        unsafe { free_lists(empty(shard, &mut *shard.free.get())) };
    }
    // SAFETY: `reach` was called above, and its results are not used afterwards.
    unsafe { let_go() };
}

/// Releases the cache; the limit is decided again at next use.
pub(crate) fn shutdown() {
    trim();
    LIMIT.store(-1, Ordering::Relaxed);
    OF_SHARD.store(0, Ordering::Relaxed);
}

/// A child inherits the locks and lists in their current state, so no other thread may be using one.
#[cfg(unix)]
pub(crate) fn before_fork() {
    reach();
    LARGE.hold();
}

/// In both processes.
#[cfg(unix)]
pub(crate) fn after_fork() {
    // SAFETY: `before_fork` took the lock and called `reach`; both are released here, once in each process.
    unsafe {
        LARGE.release();
        let_go();
    }
}

#[cfg(unix)]
impl Shard {
    /// The thread does not exist in the child. If the fork could not wait for it, blocks it was handling are lost.
    pub(crate) fn after_fork_in_child(&self) {
        if self.busy.swap(false, Ordering::Relaxed) {
            self.kept.store(0, Ordering::Relaxed);
            // SAFETY: the child has only this thread, so nothing else accesses the lists.
            unsafe { *self.free.get() = [ptr::null_mut(); CLASSES] };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_fit_their_requests_and_waste_at_most_a_quarter() {
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
