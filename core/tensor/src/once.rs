//! A lazily created box, which costs nothing until then.
//!
//! The cells of the standard library store a state with the value; a tensor has several of these, and most stay empty.

use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Empty, or a value that stays until the cell is dropped.
pub(crate) struct OnceBox<T> {
    value: AtomicPtr<T>,
    owns: PhantomData<Box<T>>,
}

impl<T> OnceBox<T> {
    pub(crate) const fn new() -> OnceBox<T> {
        OnceBox { value: AtomicPtr::new(ptr::null_mut()), owns: PhantomData }
    }

    /// The value, if it was created.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<&T> {
        // SAFETY: a non-null pointer came from a box, which is freed only when `self` is dropped or borrowed
        // exclusively.
        unsafe { self.value.load(Ordering::Acquire).as_ref() }
    }

    /// Stores `value`, or returns it if there is one already.
    #[inline]
    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        let fresh = Box::into_raw(Box::new(value));
        match self.value.compare_exchange(ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            // SAFETY: `fresh` came from a box above and was not published, so this is its only owner.
            Err(_) => Err(*unsafe { Box::from_raw(fresh) }),
        }
    }

    /// Takes the value out.
    ///
    /// # Safety
    /// No other code uses the cell or its value, now or later.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> Option<Box<T>> {
        let value = self.value.load(Ordering::Relaxed);
        if value.is_null() {
            return None;
        }
        self.value.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: `self` is borrowed exclusively, and the pointer, which came from a box, was just removed from it.
        Some(unsafe { Box::from_raw(value) })
    }

    /// The value, created if there is none. If several threads create one at once, the first one's stays.
    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if self.get().is_none() {
            let _ = self.set(make());
        }
        // SAFETY: the pointer is not null here; it came from a box, which is freed only when `self` is dropped or
        // borrowed exclusively.
        unsafe { &*self.value.load(Ordering::Acquire) }
    }
}

impl<T> Drop for OnceBox<T> {
    #[inline(always)]
    fn drop(&mut self) {
        let value = *self.value.get_mut();
        if !value.is_null() {
            // SAFETY: the pointer came from a box, and `self`, its owner, is being dropped.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_first_value_stays_and_is_dropped_once() {
        let (first, second) = (Arc::new(1), Arc::new(2));
        let cell = OnceBox::new();
        assert!(cell.get().is_none());
        assert_eq!(**cell.get_or_init(|| first.clone()), 1);
        assert_eq!(cell.set(second.clone()), Err(second.clone()));
        assert_eq!(**cell.get_or_init(|| second.clone()), 1);
        drop(cell);
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
    }
}
