//! A spin lock for sections of a few instructions: reading a tensor's history, or the table of large blocks.
//!
//! Recorded calls take one per argument and result, so it must cost no more than one atomic exchange; the standard
//! locks need a second one to unlock. A thread that finds it taken spins briefly, then yields.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// A value behind a spin lock. Nothing that can block, call back or take another lock runs while it is held.
pub struct SpinLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is accessed only through a guard, of which there is one at a time, so a `Send` value is enough.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    /// Creates a free lock.
    pub const fn new(value: T) -> SpinLock<T> {
        SpinLock { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Takes the lock.
    #[inline]
    pub fn lock(&self) -> SpinGuard<'_, T> {
        if self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait();
        }
        SpinGuard { lock: self }
    }

    /// The value, of a lock that is borrowed exclusively.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Takes the lock and keeps it until [`SpinLock::release`].
    pub(crate) fn hold(&self) {
        std::mem::forget(self.lock());
    }

    /// Releases a lock that [`SpinLock::hold`] took.
    ///
    /// # Safety
    /// It was taken by `hold`, in this thread or in the one from which this process was forked.
    pub(crate) unsafe fn release(&self) {
        self.taken.store(false, Ordering::Release);
    }

    #[cold]
    fn wait(&self) {
        let mut spins = 0u32;
        while self.taken.load(Ordering::Relaxed)
            || self.taken.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err()
        {
            relax(&mut spins);
        }
    }
}

/// Waits for a thread that needs a few nanoseconds, unless it was preempted: then it needs this core.
pub(crate) fn relax(spins: &mut u32) {
    *spins += 1;
    if spins.is_multiple_of(64) { std::thread::yield_now() } else { std::hint::spin_loop() }
}

impl<T: Default> Default for SpinLock<T> {
    fn default() -> SpinLock<T> {
        SpinLock::new(T::default())
    }
}

/// Access to the value until it is dropped.
pub struct SpinGuard<'a, T> {
    lock: &'a SpinLock<T>,
}

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock, so no other thread accesses the value.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock and is borrowed exclusively, so no other reference exists.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for SpinGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_increment_is_lost() {
        let lock = SpinLock::new(0u64);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..10_000).for_each(|_| *lock.lock() += 1));
            }
        });
        assert_eq!(*lock.lock(), 80_000);
    }
}
