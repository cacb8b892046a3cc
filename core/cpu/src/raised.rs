//! Whether a loop met an element that is an error.

use crate::pointwise::Loop;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the shares of a loop, which cannot return an error themselves.
pub(crate) struct Raised(AtomicBool);

impl Raised {
    /// For a loop over `walk`. A device reports such elements later, and names the operator.
    pub(crate) fn of<const N: usize>(walk: &Loop<N>) -> Raised {
        walk.watch();
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
