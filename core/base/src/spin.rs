//! A lock for sections of a few instructions: looking at a tensor's history, or at the table of large blocks.
//!
//! Recorded calls take one per argument and result, so it must cost no more than one atomic exchange; the standard
//! locks pay a second one to unlock. A thread that finds it taken spins briefly, then gives way.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// A value behind a spin lock. Nothing that can block, call back or take another lock runs while it is held.
pub struct SpinLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is only reached through a guard, of which there is one at a time.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    /// A lock that is free.
    pub const fn new(value: T) -> SpinLock<T> {
        SpinLock { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Take the lock.
    #[inline]
    pub fn lock(&self) -> SpinGuard<'_, T> {
        if self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait();
        }
        SpinGuard { lock: self }
    }

    /// The value, of a lock that nobody else has.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Take the lock and keep it until [`SpinLock::release`].
    pub(crate) fn hold(&self) {
        std::mem::forget(self.lock());
    }

    /// Give back a lock that [`SpinLock::hold`] took.
    ///
    /// # Safety
    /// It was taken so, by this thread or by the one that this process was forked from.
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

/// Let time pass for somebody who needs a few nanoseconds, unless he was preempted: then he needs this core.
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
        // SAFETY: the guard holds the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock, and is borrowed exclusively.
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
