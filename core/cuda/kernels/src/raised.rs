//! Whether a thread met an element that is an error.

use core::cell::Cell;

/// Set by the loop of one thread.
pub struct Raised(Cell<bool>);

// SAFETY: a value lives in the stack frame of one thread of the device.
unsafe impl Sync for Raised {}

impl Raised {
    #[inline(always)]
    pub fn of<const N: usize>(walk: &crate::pointwise::Loop<N>) -> Raised {
        Raised(Cell::new(false))
    }

    #[inline(always)]
    pub fn raise(&self) {
        self.0.set(true);
    }

    #[inline(always)]
    pub fn is_raised(&self) -> bool {
        self.0.get()
    }
}
