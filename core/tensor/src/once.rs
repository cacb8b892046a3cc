//! A box that is made at most once, and costs nothing until then.
//!
//! The cells of the standard library keep a state beside the value; a tensor has several of these, and most stay empty.

use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Nothing, or a value that stays for good.
pub(crate) struct OnceBox<T> {
    value: AtomicPtr<T>,
    owns: PhantomData<Box<T>>,
}

impl<T> OnceBox<T> {
    pub(crate) const fn new() -> OnceBox<T> {
        OnceBox { value: AtomicPtr::new(ptr::null_mut()), owns: PhantomData }
    }

    /// The value, if it was made.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<&T> {
        // SAFETY: a pointer that is not null came from a box, which stays until this is dropped.
        unsafe { self.value.load(Ordering::Acquire).as_ref() }
    }

    /// Puts `value` in, or gives it back if there is one already.
    #[inline]
    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        let fresh = Box::into_raw(Box::new(value));
        match self.value.compare_exchange(ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            // SAFETY: the pointer was made above, and nobody else has it.
            Err(_) => Err(*unsafe { Box::from_raw(fresh) }),
        }
    }

    /// Takes the value out.
    ///
    /// # Safety
    /// Nobody else uses the cell or its value any more.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> Option<Box<T>> {
        let value = self.value.load(Ordering::Relaxed);
        if value.is_null() {
            return None;
        }
        self.value.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: the pointer came from a box, and is given up here.
        Some(unsafe { Box::from_raw(value) })
    }

    /// The value, made if there is none. Of several threads that make one at once, the first one's stays.
    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if self.get().is_none() {
            let _ = self.set(make());
        }
        // SAFETY: not null from here on, and as for `get`.
        unsafe { &*self.value.load(Ordering::Acquire) }
    }
}

impl<T> Drop for OnceBox<T> {
    #[inline(always)]
    fn drop(&mut self) {
        let value = *self.value.get_mut();
        if !value.is_null() {
            // SAFETY: the pointer came from a box, and is given up here.
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
