//! What each thread has for itself, so that what every call does needs no locked instruction: its count of handles
//! (`handles.rs`), its pins (`pins.rs`) and the small blocks of memory it keeps (`cache.rs`).
//!
//! A thread takes a [`Local`] from a table at its first call, and leaves it, with what is in it, to the next thread when it
//! ends. Only the thread that has one writes to it; others may read the counts, and reach the rest by way of
//! `asymmetric.rs`. A thread that finds the table full does without: its calls are slower, nothing else.

use crate::{asymmetric, cache, pins};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

/// Threads that can have a [`Local`] at once.
const ROOM: usize = 512;

/// What one thread has for itself. Two cache lines, which processors fetch together, keep it apart from others.
#[repr(align(128))]
pub(crate) struct Local {
    taken: AtomicBool,
    /// Handles that were made less those that were freed, by the threads that had this.
    pub(crate) handles: AtomicI64,
    pub(crate) pins: pins::Pins,
    pub(crate) shard: cache::Shard,
}

static LOCALS: [Local; ROOM] = [const {
    Local {
        taken: AtomicBool::new(false),
        handles: AtomicI64::new(0),
        pins: pins::Pins::new(),
        shard: cache::Shard::new(),
    }
}; ROOM];

/// So many have ever been taken: the first ones of the table.
static USED: AtomicUsize = AtomicUsize::new(0);

/// Gives the thread's [`Local`] back when the thread ends. Apart from [`MINE`], because a variable with a destructor costs
/// more to reach.
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

/// What this thread has for itself. `None`: it has to do without.
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
    // A thread that is past its destructors would never give it back.
    END.try_with(|_| ()).ok()?;
    asymmetric::prepare();
    let free = |local: &&Local| !local.taken.load(Ordering::Relaxed) && !local.taken.swap(true, Ordering::Acquire);
    let (index, local) = LOCALS.iter().enumerate().find(|(_, local)| free(local))?;
    // A full fence: whoever looks through the table after his own has this one in it, or this thread sees what he wrote.
    if USED.fetch_max(index + 1, Ordering::SeqCst) <= index {
        cache::divide_limit();
    }
    MINE.set(Some(local));
    Some(local)
}

/// All that have ever been taken.
pub(crate) fn all() -> &'static [Local] {
    &LOCALS[..USED.load(Ordering::SeqCst)]
}

/// A forked child has one thread: what the others had is free again.
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

/// Add to a counter that only this thread writes.
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
    fn a_thread_has_one_of_its_own_and_leaves_it_at_its_end() {
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
        for _ in 0..2 * ROOM {
            assert!(std::thread::spawn(|| mine().is_some()).join().unwrap());
        }
    }
}
