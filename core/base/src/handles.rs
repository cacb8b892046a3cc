//! How many handles other languages own: each face counts what it hands out and takes back, so that a test
//! can ask for zero at its end.

use crate::local;
use std::sync::atomic::{AtomicI64, Ordering};

/// What threads counted that have no [`local::Local`].
static OTHERS: AtomicI64 = AtomicI64::new(0);

/// A handle was handed out.
#[inline]
pub fn made() {
    count(1);
}

/// A handle was taken back.
#[inline]
pub fn freed() {
    count(-1);
}

/// Handles that are out now. Exact when no other thread is making or freeing any.
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
