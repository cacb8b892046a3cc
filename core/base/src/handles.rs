//! How many handles other languages own: each face counts what it hands out and takes back, so that a test
//! can ask for zero at its end.

use std::sync::atomic::{AtomicI64, Ordering};

/// One counter per cache line: threads that make and free handles at once do not fight over one word.
#[repr(align(64))]
struct Counter(AtomicI64);

static LIVE: [Counter; 16] = [const { Counter(AtomicI64::new(0)) }; 16];

/// A handle was handed out.
#[inline]
pub fn made() {
    mine().fetch_add(1, Ordering::Relaxed);
}

/// A handle was taken back.
#[inline]
pub fn freed() {
    mine().fetch_sub(1, Ordering::Relaxed);
}

/// Handles that are out now. Exact when no other thread is making or freeing any.
pub fn live() -> i64 {
    LIVE.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum()
}

/// The counter of this thread, chosen by where its stack lies: a shared library pays more for a thread-local
/// variable than for the counting. That two threads share one, or one thread uses two, changes no sum.
#[inline]
fn mine() -> &'static AtomicI64 {
    let here = 0u8;
    let stack = (&raw const here).addr() >> 20;
    let mixed = stack.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize) >> (usize::BITS - 4);
    &LIVE[mixed % LIVE.len()].0
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
