//! Whether a loop met an element that is an error.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the shares of a loop, which cannot return an error themselves.
pub(crate) struct Raised(AtomicBool);

impl Raised {
    pub(crate) const fn new() -> Raised {
        Raised(AtomicBool::new(false))
    }

    #[inline(always)]
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether any share has called [`Raised::raise`]. Call it when the loop has ended.
    #[inline(always)]
    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
