//! Thread-local modes: is anything recorded, and is the anomaly check on.

use crate::keys::{KeySet, set_excluded};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static GRAD_ENABLED: Cell<bool> = const { Cell::new(true) };
    static INFERENCE: Cell<bool> = const { Cell::new(false) };
}

static ANOMALY: AtomicBool = AtomicBool::new(false);

/// Does this thread record operators for backward?
#[inline]
pub fn is_grad_enabled() -> bool {
    GRAD_ENABLED.get()
}

/// Let this thread record operators for backward, or not.
pub fn set_grad_enabled(enabled: bool) {
    GRAD_ENABLED.set(enabled);
}

/// Is this thread in inference mode: nothing is recorded, and views are not tracked?
#[inline]
pub fn is_inference_mode() -> bool {
    INFERENCE.get()
}

/// Enter or leave inference mode on this thread. It switches recording off; leaving switches it on.
pub fn set_inference_mode(enabled: bool) {
    INFERENCE.set(enabled);
    GRAD_ENABLED.set(!enabled);
    // In inference mode its tensors are like any other.
    set_excluded(KeySet::INFERENCE, enabled);
}

/// Is backward checked for NaN (in the whole process)?
pub fn is_anomaly_enabled() -> bool {
    ANOMALY.load(Ordering::Relaxed)
}

/// Check every gradient for NaN during backward, and name the function that made it.
pub fn set_anomaly_enabled(enabled: bool) {
    ANOMALY.store(enabled, Ordering::Relaxed);
}

/// While it lives, recording is on or off for this thread.
#[must_use = "the mode changes back when the guard is dropped"]
pub struct GradModeGuard {
    before: bool,
    /// A guard belongs to its thread.
    _not_send: std::marker::PhantomData<*mut ()>,
}

impl GradModeGuard {
    /// Switch recording on or off until the guard is dropped.
    pub fn new(enabled: bool) -> GradModeGuard {
        let before = is_grad_enabled();
        set_grad_enabled(enabled);
        GradModeGuard { before, _not_send: std::marker::PhantomData }
    }
}

impl Drop for GradModeGuard {
    fn drop(&mut self) {
        set_grad_enabled(self.before);
    }
}

/// While it lives, this thread is in inference mode.
#[must_use = "the mode changes back when the guard is dropped"]
pub struct InferenceModeGuard {
    before: (bool, bool),
    _not_send: std::marker::PhantomData<*mut ()>,
}

impl InferenceModeGuard {
    /// Switch inference mode on or off until the guard is dropped.
    pub fn new(enabled: bool) -> InferenceModeGuard {
        let before = (is_inference_mode(), is_grad_enabled());
        set_inference_mode(enabled);
        InferenceModeGuard { before, _not_send: std::marker::PhantomData }
    }
}

impl Drop for InferenceModeGuard {
    fn drop(&mut self) {
        INFERENCE.set(self.before.0);
        set_excluded(KeySet::INFERENCE, self.before.0);
        GRAD_ENABLED.set(self.before.1);
    }
}
