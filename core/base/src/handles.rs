//! How many handles other languages own: each face counts what it hands out and takes back, so that a test
//! can ask for zero at its end.

use std::sync::atomic::{AtomicI64, Ordering};

/// One counter per cache line: threads that make and free handles at once do not fight over one word.
#[repr(align(64))]
struct Counter(AtomicI64);

/// What threads that work at once would fight over is there so many times.
pub(crate) const SHARDS: usize = 16;

static LIVE: [Counter; SHARDS] = [const { Counter(AtomicI64::new(0)) }; SHARDS];

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

#[inline]
fn mine() -> &'static AtomicI64 {
    &LIVE[shard()].0
}

/// A number below [`SHARDS`] for this thread, chosen by where its stack lies: a shared library pays more for a
/// thread-local variable than for the counting. Two threads may share one, and one thread may use two.
#[inline]
pub(crate) fn shard() -> usize {
    let here = 0u8;
    let stack = (&raw const here).addr() >> 20;
    let mixed = stack.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize) >> (usize::BITS - 4);
    mixed % SHARDS
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
