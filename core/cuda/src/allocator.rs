//! The caching allocator of device memory.
//!
//! A request is rounded up to 512 bytes and served from segments that the driver allocates: 2 MiB for requests up to
//! 1 MiB, 20 MiB for those below 10 MiB, multiples of 2 MiB for larger ones. Blocks are split and merged within their
//! segment. A freed block is reused by its own stream at once, because the stream runs later work after the work that
//! used it; if other streams used it ([`record_stream`]), it waits for events in them. When the driver has no memory left,
//! segments without live blocks are returned to it and the request is repeated.

use crate::device::{self, DEVICES, Gpu, gpu};
use crate::driver;
use crate::stream::{Event, Stream};
use rushlight_base::{Device, ErrorKind, Result, err};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sizes are multiples of this number of bytes.
const UNIT: usize = 512;
/// Requests up to this size share segments of [`SMALL_SEGMENT`].
const SMALL: usize = 1 << 20;
const SMALL_SEGMENT: usize = 2 << 20;
/// Larger requests up to this size share segments of [`LARGE_SEGMENT`].
const MIDDLE: usize = 10 << 20;
const LARGE_SEGMENT: usize = 20 << 20;
/// The size of other segments is a multiple of this.
const SEGMENT_UNIT: usize = 2 << 20;

/// A number with its maximum and the sums of its changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// Now.
    pub current: i64,
    /// The maximum since the last reset.
    pub peak: i64,
    /// Sum of the increases.
    pub allocated: i64,
    /// Sum of the decreases.
    pub freed: i64,
}

impl Counter {
    fn add(&mut self, amount: i64) {
        self.current += amount;
        self.peak = self.peak.max(self.current);
        if amount > 0 { self.allocated += amount } else { self.freed -= amount }
    }
}

/// Statistics of a device's allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Live blocks.
    pub allocation: Counter,
    /// Segments of the driver.
    pub segment: Counter,
    /// Live blocks and blocks that wait for streams.
    pub active: Counter,
    /// Bytes of live blocks.
    pub allocated_bytes: Counter,
    /// Bytes of segments.
    pub reserved_bytes: Counter,
    /// Bytes of live blocks and of those that wait for streams.
    pub active_bytes: Counter,
    /// Bytes that programs asked for, before rounding.
    pub requested_bytes: Counter,
    /// Requests that were repeated after segments had been returned.
    pub retries: i64,
    /// Requests that failed.
    pub out_of_memory: i64,
}

/// A block, by its address.
struct Block {
    size: usize,
    requested: usize,
    stream: Stream,
    small: bool,
    state: State,
    /// The neighbours in the segment.
    previous: Option<u64>,
    next: Option<u64>,
    /// Other streams that used it.
    used_by: Vec<Stream>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Live,
    Waiting,
    Free,
}

/// A free block in the order of the search: by stream and pool, then by size and address.
type Key = (usize, bool, usize, u64);

struct Pool {
    blocks: HashMap<u64, Block>,
    free: BTreeSet<Key>,
    /// Freed blocks and the events that they wait for.
    waiting: Vec<(u64, Vec<Event>)>,
    stats: Stats,
    /// The most bytes of segments, by `set_memory_fraction`.
    limit: Option<usize>,
}

static POOLS: [Mutex<Option<Pool>>; DEVICES] = [const { Mutex::new(None) }; DEVICES];

/// Runs `body` on the pool of a device.
fn with_pool<T>(index: i8, body: impl FnOnce(&mut Pool) -> T) -> T {
    let mut guard: MutexGuard<'_, Option<Pool>> = POOLS[index as usize].lock().unwrap_or_else(PoisonError::into_inner);
    body(guard.get_or_insert_with(|| Pool {
        blocks: HashMap::new(),
        free: BTreeSet::new(),
        waiting: Vec::new(),
        stats: Stats::default(),
        limit: None,
    }))
}

fn segment_size(size: usize) -> usize {
    match size {
        size if size <= SMALL => SMALL_SEGMENT,
        size if size < MIDDLE => LARGE_SEGMENT,
        size => size.next_multiple_of(SEGMENT_UNIT),
    }
}

impl Pool {
    fn key(&self, at: u64) -> Key {
        let block = &self.blocks[&at];
        (block.stream.handle(), block.small, block.size, at)
    }

    /// The smallest free block that fits.
    fn find(&self, stream: Stream, small: bool, size: usize) -> Option<u64> {
        let first = (stream.handle(), small, size, 0);
        let found = self.free.range(first..).next()?;
        let fits = found.0 == stream.handle() && found.1 == small;
        // A large request leaves larger segments to those that need them, if too much would be left over.
        let wasteful = !small && size >= MIDDLE && found.2 >= size.saturating_mul(2);
        (fits && !wasteful).then_some(found.3)
    }

    fn insert_free(&mut self, at: u64) {
        if let Some(block) = self.blocks.get_mut(&at) {
            block.state = State::Free;
        }
        let key = self.key(at);
        self.free.insert(key);
    }

    /// Turns a free block into a live one of `size` bytes; what is left over stays free.
    fn take(&mut self, at: u64, size: usize, requested: usize) {
        let key = self.key(at);
        self.free.remove(&key);
        let whole = key.2;
        let rest = whole - size;
        let splits = if key.1 { rest >= UNIT } else { rest > SMALL };
        let taken = if splits { size } else { whole };
        if splits {
            self.split(at, size);
        }
        if let Some(block) = self.blocks.get_mut(&at) {
            block.state = State::Live;
            block.requested = requested;
        }
        self.stats.allocation.add(1);
        self.stats.active.add(1);
        self.stats.allocated_bytes.add(taken as i64);
        self.stats.active_bytes.add(taken as i64);
        self.stats.requested_bytes.add(requested as i64);
    }

    fn split(&mut self, at: u64, size: usize) {
        let rest_at = at + size as u64;
        let Some(block) = self.blocks.get_mut(&at) else { return };
        let next = block.next.replace(rest_at);
        let rest = Block {
            size: block.size - size,
            requested: 0,
            stream: block.stream,
            small: block.small,
            state: State::Free,
            previous: Some(at),
            next,
            used_by: Vec::new(),
        };
        block.size = size;
        self.blocks.insert(rest_at, rest);
        if let Some(next) = next.and_then(|next| self.blocks.get_mut(&next)) {
            next.previous = Some(rest_at);
        }
        self.insert_free(rest_at);
    }

    /// Makes a block free and merges it with its free neighbours.
    fn release(&mut self, at: u64) {
        self.stats.active.add(-1);
        self.stats.active_bytes.add(-(self.blocks[&at].size as i64));
        let mut start = at;
        if let Some(previous) = self.blocks[&at].previous
            && self.blocks[&previous].state == State::Free
        {
            start = previous;
            self.merge(previous, at);
        }
        if let Some(next) = self.blocks[&start].next
            && self.blocks[&next].state == State::Free
        {
            self.merge(start, next);
        }
        self.insert_free(start);
    }

    /// Merges `second` into `first`, its neighbour.
    fn merge(&mut self, first: u64, second: u64) {
        let (first_key, second_key) = (self.key(first), self.key(second));
        self.free.remove(&first_key);
        self.free.remove(&second_key);
        let Some(gone) = self.blocks.remove(&second) else { return };
        if let Some(block) = self.blocks.get_mut(&first) {
            block.size += gone.size;
            block.next = gone.next;
        }
        if let Some(next) = gone.next.and_then(|next| self.blocks.get_mut(&next)) {
            next.previous = Some(first);
        }
    }

    fn add_segment(&mut self, at: u64, size: usize, stream: Stream, small: bool) {
        let block = Block {
            size,
            requested: 0,
            stream,
            small,
            state: State::Free,
            previous: None,
            next: None,
            used_by: Vec::new(),
        };
        self.blocks.insert(at, block);
        self.stats.segment.add(1);
        self.stats.reserved_bytes.add(size as i64);
        self.insert_free(at);
    }

    /// Frees the waiting blocks whose events have passed; with `wait`, all of them.
    fn collect(&mut self, wait: bool) -> Result<()> {
        let mut index = 0;
        while index < self.waiting.len() {
            let mut done = true;
            for event in &self.waiting[index].1 {
                if wait {
                    event.synchronize()?;
                } else {
                    done = done && event.query()?;
                }
            }
            if done {
                let (at, _) = self.waiting.swap_remove(index);
                self.release(at);
            } else {
                index += 1;
            }
        }
        Ok(())
    }

    /// Returns the segments without live blocks to the driver.
    fn empty(&mut self) -> Result<()> {
        self.collect(true)?;
        let whole = |at: &u64| self.blocks[at].previous.is_none() && self.blocks[at].next.is_none();
        let unused: Vec<u64> = self.free.iter().map(|key| key.3).filter(whole).collect();
        for at in unused {
            // SAFETY: the caller has made the device's context current; no block of the segment is live, and the driver
            // waits for work that still uses it.
            unsafe { driver::free(at) }?;
            let key = self.key(at);
            self.free.remove(&key);
            self.blocks.remove(&at);
            self.stats.segment.add(-1);
            self.stats.reserved_bytes.add(-(key.2 as i64));
        }
        Ok(())
    }

    /// Asks the driver for a segment.
    fn reserve(&mut self, size: usize, stream: Stream, small: bool) -> Result<()> {
        let segment = segment_size(size);
        let within =
            |pool: &Pool| pool.limit.is_none_or(|limit| pool.stats.reserved_bytes.current as usize + segment <= limit);
        let ask = |pool: &Pool| {
            let mut at = 0;
            if !within(pool) {
                return Err(err!(OutOfMemory, "the limit of this process is reached"));
            }
            // SAFETY: the caller has made the device's context current, and the function writes one address.
            unsafe { driver::allocate(&mut at, segment) }.map(|()| at)
        };
        let at = match ask(self) {
            Err(error) if error.kind() == ErrorKind::OutOfMemory => {
                self.stats.retries += 1;
                self.empty()?;
                ask(self)?
            }
            other => other?,
        };
        self.add_segment(at, segment, stream, small);
        Ok(())
    }

    fn allocate(&mut self, requested: usize, stream: Stream) -> Result<u64> {
        let size = requested.checked_next_multiple_of(UNIT).ok_or_else(|| err!(OutOfMemory, "the size overflows"))?;
        let small = size <= SMALL;
        self.collect(false)?;
        let at = match self.find(stream, small, size) {
            Some(at) => at,
            None => {
                self.reserve(size, stream, small)?;
                self.find(stream, small, size).ok_or_else(|| err!(Internal, "a new segment holds no block"))?
            }
        };
        self.take(at, size, requested);
        Ok(at)
    }

    fn free(&mut self, at: u64) -> Result<()> {
        let Some(block) = self.blocks.get_mut(&at) else { return Ok(()) };
        let (size, requested) = (block.size as i64, block.requested as i64);
        let used_by = std::mem::take(&mut block.used_by);
        block.state = State::Waiting;
        self.stats.allocation.add(-1);
        self.stats.allocated_bytes.add(-size);
        self.stats.requested_bytes.add(-requested);
        let mut events = Vec::new();
        for stream in used_by {
            let event = Event::new(false)?;
            event.record(stream)?;
            events.push(event);
        }
        if events.is_empty() {
            self.release(at);
        } else {
            self.waiting.push((at, events));
        }
        Ok(())
    }
}

/// Allocates `bytes` bytes, more than 0, for the current stream of a device.
pub(crate) fn allocate(device: Device, bytes: usize) -> Result<u64> {
    let gpu = gpu(device)?;
    let stream = Stream::current(gpu);
    with_pool(gpu.index, |pool| {
        pool.allocate(bytes, stream).map_err(|error| match error.kind() {
            ErrorKind::OutOfMemory => {
                pool.stats.out_of_memory += 1;
                out_of_memory(gpu, bytes, &pool.stats)
            }
            _ => error,
        })
    })
}

#[cold]
fn out_of_memory(gpu: &Gpu, bytes: usize, stats: &Stats) -> rushlight_base::Error {
    let (free, total) = device::memory_info(Device::cuda(gpu.index)).unwrap_or_default();
    let idle = stats.reserved_bytes.current - stats.allocated_bytes.current;
    err!(
        OutOfMemory,
        "CUDA out of memory. Tried to allocate {}. GPU {} has a total capacity of {} of which {} is free. {} is allocated \
         by tensors, and {} is reserved but unallocated",
        readable(bytes),
        gpu.index,
        readable(total),
        readable(free),
        readable(stats.allocated_bytes.current as usize),
        readable(idle as usize)
    )
}

/// A number of bytes in the largest unit of which there is at least one.
fn readable(bytes: usize) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, name)) => format!("{:.2} {name}", bytes as f64 / (1u64 << shift) as f64),
        None => format!("{bytes} bytes"),
    }
}

/// Frees a block that [`allocate`] returned. An error of the driver leaves the block to the context.
pub(crate) fn free(device: Device, at: u64) {
    if let Ok(gpu) = gpu(device) {
        let _ = with_pool(gpu.index, |pool| pool.free(at));
    }
}

/// Tells the allocator that work of `stream` uses the block that starts at `at`: it is not reused before that work has
/// run.
pub fn record_stream(device: Device, at: u64, stream: Stream) -> Result<()> {
    let gpu = gpu(device)?;
    with_pool(gpu.index, |pool| {
        if let Some(block) = pool.blocks.get_mut(&at)
            && block.stream != stream
            && !block.used_by.contains(&stream)
        {
            block.used_by.push(stream);
        }
    });
    Ok(())
}

/// Returns the segments without live blocks to the driver.
pub fn empty_cache(device: Device) -> Result<()> {
    let gpu = gpu(device)?;
    with_pool(gpu.index, Pool::empty)
}

/// The statistics of a device.
pub fn stats(device: Device) -> Result<Stats> {
    Ok(with_pool(device::resolved(device)?, |pool| pool.stats))
}

/// Sets the maxima of the statistics to the current numbers.
pub fn reset_peak_stats(device: Device) -> Result<()> {
    with_pool(device::resolved(device)?, |pool| {
        let stats = &mut pool.stats;
        for counter in [
            &mut stats.allocation,
            &mut stats.segment,
            &mut stats.active,
            &mut stats.allocated_bytes,
            &mut stats.reserved_bytes,
            &mut stats.active_bytes,
            &mut stats.requested_bytes,
        ] {
            counter.peak = counter.current;
        }
    });
    Ok(())
}

/// Limits the segments of a device to a fraction of its memory.
pub fn set_memory_fraction(fraction: f64, device: Device) -> Result<()> {
    rushlight_base::ensure!(
        (0.0..=1.0).contains(&fraction),
        Value,
        "invalid fraction: {fraction}. Please set within [0, 1]."
    );
    let (_, total) = device::memory_info(device)?;
    with_pool(device::resolved(device)?, |pool| pool.limit = Some((total as f64 * fraction) as usize));
    Ok(())
}
