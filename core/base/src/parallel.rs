//! Loops whose iterations may run on several threads, whichever component provides the threads.
//!
//! [`parallel_for`] runs the shares of a loop on the embedder's threads if there is a hook, else on those of `pool.rs`;
//! [`parallel_chunks`] first splits a range into shares, and so does [`try_parallel_chunks`]. Kernels call only these. The shares depend on the shape of
//! the work, never on the number of threads: a kernel that combines partial results in the order of the shares gives
//! bitwise identical results for any number of threads. `tests/conformance` checks this property on every operator.

use crate::cancel::{Tokens, check_cancelled, is_cancelled, tokens, with_tokens};
use crate::hooks::Slot;
use crate::runtime::num_threads;
use crate::{Error, Result, bail, callee, ensure, list, pool};
use std::any::Any;
use std::ffi::c_void;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

static PARALLEL_FOR: Slot<ParallelForHook> = Slot::new();

/// One share of a parallel loop, as the embedder's parallel-for calls it.
pub type ShareFn = unsafe extern "C" fn(body_context: *mut c_void, share: i64);

/// The embedder's parallel loop.
pub struct ParallelForHook {
    /// Calls `body(body_context, share)` once for each share in `0..shares`, on any threads, and returns when all have ended.
    pub run: Box<dyn Fn(i64, ShareFn, *mut c_void) -> Result<()> + Send + Sync>,
}

/// Runs loops on the embedder's threads (`None`: on our own).
pub fn set_parallel_for(hook: Option<ParallelForHook>) {
    PARALLEL_FOR.set(hook);
}

/// Whether loops run on the embedder's threads.
pub fn has_parallel_for() -> bool {
    PARALLEL_FOR.get().is_some()
}

/// Runs `body(share)` for each share in `0..shares`, in any order and on any threads. Returns when all have ended.
///
/// The shares depend on the shape of the work, never on the number of threads, so results are bitwise identical. Use
/// several shares per thread, of at least a few microseconds each, so that late threads still find work. The cancel
/// flag is checked between shares. A share that panics fails the loop with the error `Internal`.
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

/// Splits `0..len` into chunks of [`chunk_length`] and runs `body(chunk)` for each, in any order and on any threads.
///
/// A range that is no longer than `grain` is passed to `body` whole, on this thread: choose the grain such that this
/// much work justifies a second thread (about 16k elements of an addition, 2k of an exponential). An empty range calls
/// nothing.
#[inline]
pub fn parallel_chunks(len: usize, grain: usize, body: &(impl Fn(Range<usize>) + Sync)) -> Result<()> {
    run_chunks(len, grain, Chunk::new(body))
}

/// [`parallel_chunks`] for a body that can fail. The first error is returned; it does not stop other chunks.
pub fn try_parallel_chunks(
    len: usize,
    grain: usize,
    body: &(impl Fn(Range<usize>) -> Result<()> + Sync),
) -> Result<()> {
    let failed = FirstError::default();
    parallel_chunks(len, grain, &|chunk| failed.note(body(chunk)))?;
    failed.result()
}

/// The first error of the shares of a loop, which cannot return it themselves.
#[derive(Debug, Default)]
pub struct FirstError(OnceLock<Error>);

impl FirstError {
    /// Keeps an error, unless there is one already.
    #[inline]
    pub fn note(&self, result: Result<()>) {
        if let Err(error) = result {
            let _ = self.0.set(error);
        }
    }

    /// The error that was kept. Call it when the loop has ended.
    pub fn result(self) -> Result<()> {
        self.0.into_inner().map_or(Ok(()), Err)
    }
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

/// Length of the chunks into which [`parallel_chunks`] splits `len`; only the last one may be shorter. At most `grain`
/// (or 1), and a function of these two alone: chunk `i` starts at `i * chunk_length(len, grain)`.
pub fn chunk_length(len: usize, grain: usize) -> usize {
    let grain = grain.max(1);
    // An even number of chunks of about equal length, so that no thread is left with a remainder; a long chunk ends on
    // a cache line.
    let chunks = if len > grain { len.div_ceil(grain).next_multiple_of(2) } else { 1 };
    let length = len.div_ceil(chunks).max(1);
    if length < 1024 { length } else { length.next_multiple_of(64).min(grain) }
}

/// A running loop.
pub(crate) struct Job<'a> {
    body: Share<'a>,
    /// The cancel tokens of the thread that runs the loop.
    tokens: Option<Tokens>,
    /// The reason for skipping further shares: one of the constants below.
    end: AtomicU8,
    /// The message of the share that panicked.
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

    /// Runs a share, unless the loop was abandoned. Never panics.
    #[inline]
    pub(crate) fn run(&self, share: usize) {
        if self.is_over() {
            return;
        }
        with_tokens(self.tokens.as_ref(), || {
            if is_cancelled() {
                self.end.store(CANCELLED, Ordering::Relaxed);
            } else if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.body.call(share))) {
                self.panicked(payload);
            }
        });
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
            CANCELLED => {
                check_cancelled()?;
                // The flag was cleared meanwhile.
                bail!(Cancelled, "the operation was cancelled")
            }
            MISUSED => bail!(Callback, "the parallel-for callback ran a share that does not exist, or one share twice"),
            _ => {
                let text = self.panic.into_inner().unwrap_or_else(PoisonError::into_inner);
                bail!(Internal, "a task of a parallel loop panicked: {text}")
            }
        }
    }
}

/// `short`: a share takes a few microseconds.
fn run(shares: usize, short: bool, body: Share) -> Result<()> {
    let job = Job { body, tokens: tokens(), end: AtomicU8::new(NONE), panic: Mutex::new(String::new()) };
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

/// A loop run by the embedder, who may by mistake call shares that do not exist, one twice, or none.
struct Hooked<'a> {
    job: Job<'a>,
    shares: usize,
    /// A bit for each share that was called.
    called: Vec<AtomicU64>,
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
        // SAFETY: `hooked` points to the value on the stack of the function below, which lives until `run` returns; it
        // is only shared.
        unsafe { &*hooked.cast::<Hooked<'_>>() }.run(share);
    }
    let called = list::collect((0..shares.div_ceil(64)).map(|_| AtomicU64::new(0)))?;
    let hooked = Hooked { job, shares, called };
    let status = (hook.run)(shares as i64, run_share, ptr::from_ref(&hooked).cast_mut().cast());
    let count = hooked.count();
    hooked.job.result()?;
    status?;
    ensure!(count == shares, Callback, "the parallel-for callback ran {count} of {shares} shares");
    Ok(())
}

/// Ends the threads and removes the hook.
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
