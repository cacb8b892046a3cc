//! Cancellation: a flag of the process, and tokens for the calls of a thread.
//!
//! A thread enters a token ([`enter`]) and leaves it. In between its calls end with the error `Cancelled` once the token is
//! cancelled or its deadline has passed. Tokens nest: each of those entered ends a call. Threads that work for a call,
//! those of the pool, of backward passes and of forked functions, take over the tokens of its thread.
//!
//! Kernels check between blocks of work. [`REASONS`] counts what could end a call of any thread; while it is 0, which is
//! nearly always, a check is one load.

use crate::{Result, bail, ensure};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The flag of the process.
static FLAG: AtomicBool = AtomicBool::new(false);
/// The flag, if it is set, tokens that are cancelled, and tokens with a deadline.
static REASONS: AtomicUsize = AtomicUsize::new(0);
/// Tokens that threads have entered and not left.
static ENTERED: AtomicUsize = AtomicUsize::new(0);
/// Deadlines count from here.
static EPOCH: OnceLock<Instant> = OnceLock::new();

/// Tokens that one thread can have entered at once.
const DEEPEST: usize = 64;

/// Cancels the calls of those threads that have entered it.
#[derive(Debug, Default)]
pub struct CancelToken {
    cancelled: AtomicBool,
    /// Nanoseconds after [`EPOCH`], plus 1; 0: none.
    deadline: AtomicU64,
}

/// Tokens in the order in which a thread entered them.
pub type Tokens = Arc<[Arc<CancelToken>]>;

/// The tokens of a thread.
#[derive(Default)]
struct Mine(RefCell<Option<Tokens>>);

impl Drop for Mine {
    fn drop(&mut self) {
        let entered = self.0.get_mut().as_ref().map_or(0, |tokens| tokens.len());
        ENTERED.fetch_sub(entered, Ordering::Relaxed);
    }
}

thread_local! {
    static MINE: Mine = const { Mine(RefCell::new(None)) };
}

/// Why calls of this thread end.
#[derive(Clone, Copy)]
enum Reason {
    Cancelled,
    Deadline,
}

fn nanoseconds() -> u64 {
    EPOCH.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

impl CancelToken {
    /// A token that is not cancelled and has no deadline.
    pub fn new() -> Arc<CancelToken> {
        Arc::default()
    }

    /// Cancels the calls of the threads that have entered the token, for good. Any thread may call it.
    pub fn cancel(&self) {
        if !self.cancelled.swap(true, Ordering::Relaxed) {
            REASONS.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Cancels the token when this much time has passed; `None` removes the deadline.
    pub fn set_timeout(&self, timeout: Option<Duration>) {
        let timeout = timeout.map(|timeout| u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
        let deadline = timeout.map_or(0, |timeout| nanoseconds().saturating_add(timeout).saturating_add(1));
        let before = self.deadline.swap(deadline, Ordering::Relaxed);
        match (before, deadline) {
            (0, 1..) => drop(REASONS.fetch_add(1, Ordering::Relaxed)),
            (1.., 0) => drop(REASONS.fetch_sub(1, Ordering::Relaxed)),
            _ => {}
        }
    }

    /// Whether the token is cancelled or its deadline has passed.
    pub fn is_cancelled(&self) -> bool {
        self.reason().is_some()
    }

    fn reason(&self) -> Option<Reason> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Some(Reason::Cancelled);
        }
        match self.deadline.load(Ordering::Relaxed) {
            0 => None,
            deadline => (nanoseconds() >= deadline - 1).then_some(Reason::Deadline),
        }
    }
}

impl Drop for CancelToken {
    fn drop(&mut self) {
        let reasons = usize::from(*self.cancelled.get_mut()) + usize::from(*self.deadline.get_mut() != 0);
        REASONS.fetch_sub(reasons, Ordering::Relaxed);
    }
}

/// Enters a token on this thread: its calls end once the token is cancelled, until [`leave`].
pub fn enter(token: &Arc<CancelToken>) -> Result<()> {
    change(|tokens| {
        ensure!(tokens.len() < DEEPEST, Runtime, "a thread can enter at most {DEEPEST} cancel tokens at once");
        ENTERED.fetch_add(1, Ordering::Relaxed);
        Ok(tokens.iter().chain([token]).cloned().collect())
    })
}

/// Leaves the token that this thread entered last, which must be `token`.
pub fn leave(token: &Arc<CancelToken>) -> Result<()> {
    change(|tokens| match tokens {
        [outer @ .., last] if Arc::ptr_eq(last, token) => {
            ENTERED.fetch_sub(1, Ordering::Relaxed);
            Ok(outer.iter().cloned().collect())
        }
        _ => bail!(Runtime, "this thread did not enter the cancel token, or entered another one after it"),
    })
}

fn change(change: impl FnOnce(&[Arc<CancelToken>]) -> Result<Tokens>) -> Result<()> {
    let changed = MINE.try_with(|mine| {
        let tokens = change(mine.0.borrow().as_deref().unwrap_or_default())?;
        let before = mine.0.replace(Some(tokens).filter(|tokens| !tokens.is_empty()));
        drop(before);
        Ok(())
    });
    changed.unwrap_or_else(|_| bail!(Runtime, "a thread that ends cannot enter a cancel token"))
}

/// The tokens of this thread, for another one that works for it.
#[inline]
pub fn tokens() -> Option<Tokens> {
    if ENTERED.load(Ordering::Relaxed) == 0 {
        return None;
    }
    MINE.try_with(|mine| mine.0.borrow().clone()).ok().flatten()
}

/// Runs `body` with the tokens of the thread that it works for.
#[inline]
pub fn with_tokens<R>(tokens: Option<&Tokens>, body: impl FnOnce() -> R) -> R {
    match tokens {
        None => body(),
        Some(tokens) => with_these(tokens, body),
    }
}

fn with_these<R>(tokens: &Tokens, body: impl FnOnce() -> R) -> R {
    /// Restores the tokens of this thread, also after a panic.
    struct Before(Option<Tokens>);
    impl Drop for Before {
        fn drop(&mut self) {
            let before = self.0.take();
            let _ = MINE.try_with(|mine| drop(mine.0.replace(before)));
        }
    }
    let before = MINE.try_with(|mine| mine.0.replace(Some(tokens.clone()))).ok().flatten();
    let _before = Before(before);
    body()
}

/// Sets or clears the flag of the process. While it is set, operators of all threads return the error `Cancelled`.
pub fn set_cancelled(on: bool) {
    match (FLAG.swap(on, Ordering::Relaxed), on) {
        (false, true) => drop(REASONS.fetch_add(1, Ordering::Relaxed)),
        (true, false) => drop(REASONS.fetch_sub(1, Ordering::Relaxed)),
        _ => {}
    }
}

/// Whether the flag of the process is set.
pub fn cancelled_flag() -> bool {
    FLAG.load(Ordering::Relaxed)
}

/// Whether calls of this thread end: by the flag, or by a token that the thread has entered.
#[inline]
pub fn is_cancelled() -> bool {
    REASONS.load(Ordering::Relaxed) != 0 && reason().is_some()
}

/// Elements between two checks where one thread processes all of them: a multiple of the block size of loops.
pub const BETWEEN_CHECKS: usize = 1 << 16;

/// The error `Cancelled` if calls of this thread end. Called between operators and between blocks.
#[inline]
pub fn check_cancelled() -> Result<()> {
    if REASONS.load(Ordering::Relaxed) == 0 { Ok(()) } else { check_closer() }
}

#[cold]
fn reason() -> Option<Reason> {
    if cancelled_flag() {
        return Some(Reason::Cancelled);
    }
    let of_tokens =
        |mine: &Mine| mine.0.borrow().iter().flat_map(|tokens| tokens.iter()).find_map(|token| token.reason());
    MINE.try_with(of_tokens).ok().flatten()
}

#[cold]
fn check_closer() -> Result<()> {
    match reason() {
        None => Ok(()),
        Some(Reason::Cancelled) => bail!(Cancelled, "the operation was cancelled"),
        Some(Reason::Deadline) => bail!(Cancelled, "the deadline of the operation has passed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::parallel_for;

    #[test]
    fn a_token_ends_the_calls_of_its_thread_alone() {
        let token = CancelToken::new();
        enter(&token).unwrap();
        assert!(check_cancelled().is_ok());
        token.cancel();
        assert_eq!(check_cancelled().unwrap_err().message(), "the operation was cancelled");
        std::thread::scope(|scope| scope.spawn(|| assert!(check_cancelled().is_ok())).join().unwrap());
        leave(&token).unwrap();
        assert!(check_cancelled().is_ok() && token.is_cancelled());
    }

    #[test]
    fn an_outer_token_ends_calls_within_an_inner_one() {
        let (outer, inner) = (CancelToken::new(), CancelToken::new());
        enter(&outer).unwrap();
        enter(&inner).unwrap();
        outer.cancel();
        assert!(is_cancelled());
        assert!(leave(&outer).is_err());
        leave(&inner).unwrap();
        assert!(is_cancelled());
        leave(&outer).unwrap();
        assert!(!is_cancelled() && leave(&outer).is_err());
    }

    #[test]
    fn a_deadline_ends_calls_when_it_has_passed() {
        let token = CancelToken::new();
        enter(&token).unwrap();
        token.set_timeout(Some(Duration::from_secs(3600)));
        assert!(check_cancelled().is_ok());
        token.set_timeout(Some(Duration::ZERO));
        assert_eq!(check_cancelled().unwrap_err().message(), "the deadline of the operation has passed");
        token.set_timeout(None);
        assert!(check_cancelled().is_ok());
        token.set_timeout(Some(Duration::MAX));
        assert!(check_cancelled().is_ok());
        leave(&token).unwrap();
    }

    #[test]
    fn threads_of_a_loop_take_over_the_tokens() {
        let token = CancelToken::new();
        enter(&token).unwrap();
        let seen = AtomicUsize::new(0);
        let ended = parallel_for(1000, &|share| {
            if share == 0 {
                token.cancel();
            }
            while !token.is_cancelled() {
                std::hint::spin_loop();
            }
            assert!(is_cancelled());
            seen.fetch_add(1, Ordering::Relaxed);
        });
        leave(&token).unwrap();
        assert_eq!(ended.unwrap_err().message(), "the operation was cancelled");
        assert!(seen.into_inner() < 1000);
        assert!(parallel_for(10, &|_| assert!(!is_cancelled())).is_ok());
    }

    #[test]
    fn tokens_nest_up_to_a_depth_and_keep_no_reason_behind() {
        let tokens: Vec<_> = (0..DEEPEST).map(|_| CancelToken::new()).collect();
        tokens.iter().for_each(|token| enter(token).unwrap());
        assert!(enter(&CancelToken::new()).is_err());
        tokens.iter().rev().for_each(|token| leave(token).unwrap());
        let token = CancelToken::new();
        token.cancel();
        token.cancel();
        token.set_timeout(Some(Duration::ZERO));
        let before = REASONS.load(Ordering::Relaxed);
        assert!(before >= 2);
        drop(token);
    }
}
