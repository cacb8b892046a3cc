//! Loops whose iterations may run on several threads: the way there, whoever provides the threads.
//!
//! [`parallel_for`] runs the shares of a loop on the embedder's threads if there is a hook, else on those of `pool.rs`;
//! [`parallel_chunks`] cuts a range into shares first. Kernels call these two and nothing else. The shares are fixed by the
//! shape of the work, never by the number of threads: a kernel that combines partial results in the order of the shares
//! gives results that are equal to the bit however many threads there are.

use crate::hooks::Slot;
use crate::runtime::{check_cancelled, is_cancelled, num_threads};
use crate::{Result, SmallVec, bail, callee, ensure, pool};
use std::any::Any;
use std::ffi::c_void;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

static PARALLEL_FOR: Slot<ParallelForHook> = Slot::new();

/// One share of a parallel loop, as the embedder's parallel-for calls it.
pub type ShareFn = unsafe extern "C" fn(body_context: *mut c_void, share: i64);

/// The embedder's parallel loop.
pub struct ParallelForHook {
    /// Calls `body(body_context, share)` once for each share in `0..shares`, on any threads, and returns when all have ended.
    pub run: Box<dyn Fn(i64, ShareFn, *mut c_void) -> Result<()> + Send + Sync>,
}

/// Run loops on the embedder's threads (`None`: on our own).
pub fn set_parallel_for(hook: Option<ParallelForHook>) {
    PARALLEL_FOR.set(hook);
}

/// Run `body(share)` for each share in `0..shares`, in any order and on any threads. Returns when all have ended.
///
/// Shares are fixed by the shape of the work, never by the number of threads, so results are equal to the
/// bit however many run at once. Several shares for each thread, of some microseconds at least, keep threads busy that come
/// late. The cancel flag is checked between shares. A share that panics makes the loop the error `Internal`.
#[inline]
pub fn parallel_for(shares: usize, body: &(impl Fn(usize) + Sync)) -> Result<()> {
    run(shares, false, Share::new(body))
}

callee! {
    /// Runs a share.
    pub(crate) struct Share: shared fn(share: usize);
}
callee! {
    /// Runs a chunk.
    struct Chunk: shared fn(chunk: Range<usize>);
}

/// Cut `0..len` into chunks of [`chunk_length`] and run `body(chunk)` for each, in any order and on any threads.
///
/// A range that is no longer than `grain` is handed to `body` whole, on this thread: choose the grain such that so much
/// work is worth a second thread (about 16k elements of an addition, 2k of an exponential). An empty range calls nothing.
#[inline]
pub fn parallel_chunks(len: usize, grain: usize, body: &(impl Fn(Range<usize>) + Sync)) -> Result<()> {
    run_chunks(len, grain, Chunk::new(body))
}

fn run_chunks(len: usize, grain: usize, body: Chunk) -> Result<()> {
    if len <= grain {
        check_cancelled()?;
        if len > 0 {
            body.call(0..len);
        }
        return Ok(());
    }
    let length = chunk_length(len, grain);
    let share = |chunk: usize| {
        let start = chunk * length;
        body.call(start..len.min(start + length));
    };
    run(len.div_ceil(length), true, Share::new(&share))
}

/// Length of the chunks that [`parallel_chunks`] makes of `len`; only the last one may be shorter. At most `grain` (or 1),
/// and a function of these two alone: chunk `i` starts at `i * chunk_length(len, grain)`.
pub fn chunk_length(len: usize, grain: usize) -> usize {
    let grain = grain.max(1);
    // An even number of them, all about equally long, so that no thread is left with a rest; a long chunk ends on a cache line.
    let chunks = if len > grain { len.div_ceil(grain).next_multiple_of(2) } else { 1 };
    let length = len.div_ceil(chunks).max(1);
    if length < 1024 { length } else { length.next_multiple_of(64).min(grain) }
}

/// A loop under way.
pub(crate) struct Job<'a> {
    body: Share<'a>,
    /// Why shares are left out from now on: one of the constants below.
    end: AtomicU8,
    /// What the share said that panicked.
    panic: Mutex<String>,
}

const NONE: u8 = 0;
const CANCELLED: u8 = 1;
const PANICKED: u8 = 2;
const MISUSED: u8 = 3;

impl Job<'_> {
    fn is_over(&self) -> bool {
        self.end.load(Ordering::Relaxed) != NONE
    }

    /// Run a share, unless the loop was given up. Never panics.
    #[inline]
    pub(crate) fn run(&self, share: usize) {
        if self.is_over() {
            return;
        }
        if is_cancelled() {
            self.end.store(CANCELLED, Ordering::Relaxed);
        } else if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.body.call(share))) {
            self.panicked(payload);
        }
    }

    #[cold]
    fn panicked(&self, payload: Box<dyn Any + Send>) {
        let text = match payload.downcast::<String>().map_err(|payload| payload.downcast::<&'static str>()) {
            Ok(text) => *text,
            Err(Ok(text)) => (*text).to_owned(),
            Err(Err(payload)) => {
                // Dropping it could panic again.
                std::mem::forget(payload);
                "not a text".to_owned()
            }
        };
        *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = text;
        self.end.store(PANICKED, Ordering::Relaxed);
    }

    fn result(self) -> Result<()> {
        match self.end.into_inner() {
            NONE => Ok(()),
            CANCELLED => bail!(Cancelled, "the operation was cancelled"),
            MISUSED => bail!(Callback, "the parallel-for callback ran a share that there is not, or one share twice"),
            _ => {
                let text = self.panic.into_inner().unwrap_or_else(PoisonError::into_inner);
                bail!(Internal, "a share of a parallel loop panicked: {text}")
            }
        }
    }
}

/// `short`: a share costs a few microseconds.
fn run(shares: usize, short: bool, body: Share) -> Result<()> {
    let job = Job { body, end: AtomicU8::new(NONE), panic: Mutex::new(String::new()) };
    let threads = if shares > 1 { num_threads() } else { 1 };
    if threads > 1 {
        if let Some(hook) = PARALLEL_FOR.get() {
            return run_hooked(hook, shares, job);
        }
        if pool::run(&job, shares, threads, short) {
            return job.result();
        }
    }
    for share in 0..shares {
        job.run(share);
        if job.is_over() {
            break;
        }
    }
    job.result()
}

/// A loop in the hands of the embedder, who may call shares that there are not, one twice, or none.
struct Hooked<'a> {
    job: Job<'a>,
    shares: usize,
    /// A bit for each share that was called.
    called: SmallVec<[AtomicU64; 8]>,
}

impl Hooked<'_> {
    fn run(&self, share: i64) {
        match usize::try_from(share) {
            Ok(share) if share < self.shares && self.is_first(share) => self.job.run(share),
            _ => self.job.end.store(MISUSED, Ordering::Relaxed),
        }
    }

    fn is_first(&self, share: usize) -> bool {
        let bit = 1 << (share % 64);
        self.called[share / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    fn count(&self) -> usize {
        self.called.iter().map(|bits| bits.load(Ordering::Relaxed).count_ones() as usize).sum()
    }
}

fn run_hooked(hook: &ParallelForHook, shares: usize, job: Job<'_>) -> Result<()> {
    unsafe extern "C" fn run_share(hooked: *mut c_void, share: i64) {
        // SAFETY: `hooked` is the one below, alive until `run` returns; it is only shared.
        unsafe { &*hooked.cast::<Hooked<'_>>() }.run(share);
    }
    let called = (0..shares.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
    let hooked = Hooked { job, shares, called };
    let status = (hook.run)(shares as i64, run_share, ptr::from_ref(&hooked).cast_mut().cast());
    let count = hooked.count();
    hooked.job.result()?;
    status?;
    ensure!(count == shares, Callback, "the parallel-for callback ran {count} of {shares} shares");
    Ok(())
}

/// End the threads, forget the hook.
pub(crate) fn shutdown() {
    pool::shutdown();
    PARALLEL_FOR.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn chunks(len: usize, grain: usize) -> Vec<Range<usize>> {
        let seen = Mutex::new(Vec::new());
        parallel_chunks(len, grain, &|chunk| seen.lock().unwrap().push(chunk)).unwrap();
        let mut seen = seen.into_inner().unwrap();
        seen.sort_by_key(|chunk| chunk.start);
        seen
    }

    #[test]
    fn chunks_cover_each_index_once_and_none_is_longer_than_the_grain() {
        for (len, grain) in [(1, 0), (2, 1), (5, 2), (100, 7), (5000, 1030), (5000, 4999), (100_000, 16384), (65, 64)] {
            let chunks = chunks(len, grain);
            assert!(chunks.len() > 1 || len == 1, "{len} {grain}");
            let mut next = 0;
            for chunk in &chunks {
                assert_eq!(chunk.start, next, "{len} {grain}");
                assert!(!chunk.is_empty() && chunk.len() <= grain.max(1), "{len} {grain}");
                next = chunk.end;
            }
            assert_eq!(next, len);
            assert!(chunks.iter().enumerate().all(|(index, chunk)| chunk.start == index * chunk_length(len, grain)));
        }
    }

    #[test]
    fn a_short_range_is_one_call_and_an_empty_one_none() {
        assert!(matches!(chunks(64, 64)[..], [Range { start: 0, end: 64 }]));
        assert_eq!(chunks(0, 64), []);
        assert_eq!(chunks(0, 0), []);
        assert_eq!(chunk_length(0, 0), 1);
    }

    #[test]
    fn chunks_are_about_equally_long() {
        let lengths: Vec<usize> = chunks(20_000, 16384).into_iter().map(|chunk| chunk.len()).collect();
        assert_eq!(lengths, [10_048, 9_952]);
    }
}
