//! Thread-local state in a process-wide table: a thread's count of handles (`handles.rs`), its pins (`pins.rs`) and the
//! small blocks of memory that it caches (`cache.rs`). A call therefore needs no atomic read-modify-write instruction.
//!
//! A thread takes a [`Local`] from the table at its first call. When the thread ends, the slot and its contents go to
//! the next new thread. Only the owner writes to a slot. Other threads may read the counts; they access the rest only
//! after a fence of `asymmetric.rs`, so that they bear the cost of the synchronization. A thread that finds the table
//! full works without a slot, at slower speed.

use crate::{asymmetric, cache, pins};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

/// Threads that can have a [`Local`] at once.
const CAPACITY: usize = 512;

/// The thread-local state of one thread. Aligned to two cache lines, which processors fetch together, so that threads
/// do not share them.
#[repr(align(128))]
pub(crate) struct Local {
    taken: AtomicBool,
    /// Handles created minus handles freed by the threads that have used this slot.
    pub(crate) handles: AtomicI64,
    pub(crate) pins: pins::Pins,
    pub(crate) shard: cache::Shard,
}

static LOCALS: [Local; CAPACITY] = [const {
    Local {
        taken: AtomicBool::new(false),
        handles: AtomicI64::new(0),
        pins: pins::Pins::new(),
        shard: cache::Shard::new(),
    }
}; CAPACITY];

/// Number of slots that have ever been used: the first ones of the table.
static USED: AtomicUsize = AtomicUsize::new(0);

/// Returns the thread's [`Local`] to the table when the thread ends. Separate from [`MINE`], because a variable with a
/// destructor takes longer to access.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        if let Some(local) = MINE.take() {
            local.taken.store(false, Ordering::Release);
        }
    }
}

thread_local! {
    static MINE: Cell<Option<&'static Local>> = const { Cell::new(None) };
    static END: End = const { End };
}

/// The slot of this thread. `None` if it has none: the table is full, or the thread is ending.
#[inline(always)]
pub(crate) fn mine() -> Option<&'static Local> {
    match MINE.get() {
        None => take(),
        local => local,
    }
}

#[cold]
#[inline(never)]
fn take() -> Option<&'static Local> {
    // After its destructors have run, a thread would never return the slot.
    END.try_with(|_| ()).ok()?;
    asymmetric::prepare();
    let free = |local: &&Local| !local.taken.load(Ordering::Relaxed) && !local.taken.swap(true, Ordering::Acquire);
    let (index, local) = LOCALS.iter().enumerate().find(|(_, local)| free(local))?;
    // A full fence: a thread that reads the table after its own fence includes this slot, or this thread sees what that
    // thread wrote.
    if USED.fetch_max(index + 1, Ordering::SeqCst) <= index {
        cache::divide_limit();
    }
    MINE.set(Some(local));
    Some(local)
}

/// All slots that have ever been used.
pub(crate) fn all() -> &'static [Local] {
    &LOCALS[..USED.load(Ordering::SeqCst)]
}

/// A forked child has one thread: the slots of the others are free again.
#[cfg(unix)]
pub(crate) fn after_fork_in_child() {
    let mine = MINE.get();
    for local in all() {
        if !mine.is_some_and(|mine| std::ptr::eq(mine, local)) {
            local.pins.clear();
            local.shard.after_fork_in_child();
            local.taken.store(false, Ordering::Release);
        }
    }
}

/// Adds to a counter that only this thread writes, and returns the sum.
#[inline(always)]
pub(crate) fn add(counter: &AtomicI64, amount: i64) -> i64 {
    let sum = counter.load(Ordering::Relaxed) + amount;
    counter.store(sum, Ordering::Relaxed);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own_slot_and_returns_it_when_it_ends() {
        let of_thread = || std::ptr::from_ref(mine().unwrap()).addr();
        let here = of_thread();
        assert_eq!(of_thread(), here);
        let both = std::sync::Barrier::new(2);
        let there = std::thread::scope(|scope| {
            let meet = || {
                let local = of_thread();
                both.wait();
                local
            };
            [scope.spawn(meet), scope.spawn(meet)].map(|thread| thread.join().unwrap())
        });
        assert!(there[0] != here && there[1] != here && there[0] != there[1]);
        for _ in 0..2 * CAPACITY {
            assert!(std::thread::spawn(|| mine().is_some()).join().unwrap());
        }
    }
}
