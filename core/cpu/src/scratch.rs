//! Working memory of the shares of a loop, which cannot return an error themselves.

use rushlight_base::{Result, Scratch, bail};
use std::sync::atomic::{AtomicBool, Ordering};

/// Records whether a share of a loop could not allocate working memory.
pub(crate) struct Shortage(AtomicBool);

impl Shortage {
    pub(crate) const fn new() -> Shortage {
        Shortage(AtomicBool::new(false))
    }

    /// A block of `bytes` bytes. `None`: there is not enough memory, and [`Shortage::check`] fails from now on.
    #[inline]
    pub(crate) fn scratch(&self, bytes: usize) -> Option<Scratch> {
        let scratch = Scratch::new(bytes).ok();
        if scratch.is_none() {
            self.0.store(true, Ordering::Relaxed);
        }
        scratch
    }

    /// The error `OutOfMemory` if a share could not allocate memory. Call it when the loop has ended.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            bail!(OutOfMemory, "not enough memory: a kernel could not get its working memory");
        }
        Ok(())
    }
}
