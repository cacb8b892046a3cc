//! Parallel loops as kernels see them. These tests change settings of the process, so they take turns.

use rushlight_base::ErrorKind;
use rushlight_base::runtime::{self, parallel_chunks, parallel_for};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static TURN: Mutex<()> = Mutex::new(());

/// The process is this test's own until the guard is dropped.
fn alone() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_cancelled_loop_stops_between_shares() {
    let _turn = alone();
    let ran = AtomicUsize::new(0);
    let result = parallel_for(1000, &|_| {
        ran.fetch_add(1, Ordering::Relaxed);
        runtime::set_cancelled(true);
    });
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(ran.load(Ordering::Relaxed) < 1000);
    // Also one that has no shares to stop between.
    let result = parallel_chunks(5, 10, &|_| unreachable!("the flag is set"));
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Cancelled);
    runtime::set_cancelled(false);
    parallel_chunks(5, 10, &|chunk| assert_eq!(chunk, 0..5)).unwrap();
}
