//! An address that the threads of one kernel share.

/// A pointer that a parallel loop may hold. It says nothing about what may be done with it: whoever reads or writes
/// through it states why its places are its own.
pub(crate) struct Shared<T>(*mut T);

impl<T> Clone for Shared<T> {
    #[inline(always)]
    fn clone(&self) -> Shared<T> {
        *self
    }
}

impl<T> Copy for Shared<T> {}

// SAFETY: an address; using it is unsafe on its own.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    #[inline(always)]
    pub(crate) fn new(at: *mut T) -> Shared<T> {
        Shared(at)
    }

    /// The pointer. A method, so that closures capture the whole struct.
    #[inline(always)]
    pub(crate) fn get(self) -> *mut T {
        self.0
    }
}

impl<T> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
