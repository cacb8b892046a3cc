//! Slots for functions that the embedder supplies: allocator, log, parallel-for.
//!
//! A slot is read on hot paths (one atomic load) and rarely written. A replaced hook stays alive until shutdown,
//! because another thread may be calling it.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// One replaceable hook.
pub(crate) struct Slot<T> {
    current: AtomicPtr<T>,
    /// Replaced hooks, and the current one: owned here until shutdown. The box is needed: the atomic pointer points
    /// into it while the vector grows.
    #[allow(clippy::vec_box)]
    owned: Mutex<Vec<Box<T>>>,
}

impl<T: Send + Sync> Slot<T> {
    pub(crate) const fn new() -> Slot<T> {
        Slot { current: AtomicPtr::new(ptr::null_mut()), owned: Mutex::new(Vec::new()) }
    }

    /// The current hook.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        // SAFETY: a non-null pointer comes from a box in `owned`, which lives until `clear`; only shutdown calls
        // `clear`, whose contract is that no other call is running.
        unsafe { self.current.load(Ordering::Acquire).as_ref() }
    }

    /// Installs `hook`, or removes it.
    pub(crate) fn set(&self, hook: Option<T>) {
        let mut owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        let pointer = match hook {
            None => ptr::null_mut(),
            Some(hook) => {
                owned.push(Box::new(hook));
                owned.last_mut().map_or(ptr::null_mut(), |hook| &raw mut **hook)
            }
        };
        self.current.store(pointer, Ordering::Release);
    }

    /// Frees every hook.
    pub(crate) fn clear(&self) {
        let mut owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        self.current.store(ptr::null_mut(), Ordering::Release);
        *owned = Vec::new();
    }
}
