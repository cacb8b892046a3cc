//! An address that the threads of one kernel share.

/// A pointer that a parallel loop may hold. Code that reads or writes through it must state why its accesses do not
/// conflict.
pub(crate) struct Shared<T>(*mut T);

impl<T> Clone for Shared<T> {
    #[inline(always)]
    fn clone(&self) -> Shared<T> {
        *self
    }
}

impl<T> Copy for Shared<T> {}

// SAFETY: the value is only an address; dereferencing it is a separate unsafe operation.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: the value is only an address; dereferencing it is a separate unsafe operation.
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
