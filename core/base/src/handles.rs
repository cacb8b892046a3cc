//! The number of handles that other languages own: each binding counts the handles it returns and frees, so that a test
//! can require zero at its end.

use crate::local;
use std::sync::atomic::{AtomicI64, Ordering};

/// Counts of threads without a [`local::Local`].
static OTHERS: AtomicI64 = AtomicI64::new(0);

/// Called when a handle is returned.
#[inline]
pub fn made() {
    count(1);
}

/// Called when a handle is freed.
#[inline]
pub fn freed() {
    count(-1);
}

/// Number of live handles. Exact when no other thread is creating or freeing any.
pub fn live() -> i64 {
    let of_threads = local::all().iter().map(|local| local.handles.load(Ordering::Relaxed)).sum::<i64>();
    OTHERS.load(Ordering::Relaxed) + of_threads
}

#[inline(always)]
fn count(handles: i64) {
    match local::mine() {
        Some(local) => {
            local::add(&local.handles, handles);
        }
        None => {
            OTHERS.fetch_add(handles, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_may_be_freed_on_another_thread() {
        let before = live();
        made();
        made();
        assert_eq!(live(), before + 2);
        std::thread::spawn(|| {
            freed();
            freed();
        })
        .join()
        .unwrap();
        assert_eq!(live(), before);
    }
}
