//! Thread-local modes: is anything recorded, and is the anomaly check on.

use super::saved_hooks::SavedHooks;
use crate::keys::{KeySet, excluded, set_excluded};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static GRAD_ENABLED: Cell<bool> = const { Cell::new(true) };
    static INFERENCE: Cell<bool> = const { Cell::new(false) };
}

static ANOMALY: AtomicBool = AtomicBool::new(false);
static ANOMALY_NAN: AtomicBool = AtomicBool::new(true);

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

/// Do nodes remember their forward call, so that what fails in backward can name it (in the whole process)?
pub fn is_anomaly_enabled() -> bool {
    ANOMALY.load(Ordering::Relaxed)
}

/// Let nodes remember their forward call, and name it where a derivative fails or gives NaN.
pub fn set_anomaly_enabled(enabled: bool) {
    ANOMALY.store(enabled, Ordering::Relaxed);
}

/// Is NaN in a gradient a failure, where anomalies are looked for?
pub fn is_anomaly_nan_checked() -> bool {
    ANOMALY_NAN.load(Ordering::Relaxed)
}

/// Let NaN in a gradient be a failure (the default), or not, where anomalies are looked for.
pub fn set_anomaly_nan_checked(checked: bool) {
    ANOMALY_NAN.store(checked, Ordering::Relaxed);
}

/// The modes of a thread, for another one that works in its place.
pub(super) struct Modes {
    grad_enabled: bool,
    inference: bool,
    excluded: KeySet,
    saved_hooks: SavedHooks,
}

impl Modes {
    /// Those of this thread.
    pub(super) fn here() -> Modes {
        Modes {
            grad_enabled: is_grad_enabled(),
            inference: is_inference_mode(),
            excluded: excluded(),
            saved_hooks: SavedHooks::here(),
        }
    }

    /// Put them in force on this thread, which is new, while the result lives.
    pub(super) fn put_in_force(self) -> impl Drop {
        set_excluded(self.excluded, true);
        INFERENCE.set(self.inference);
        set_grad_enabled(self.grad_enabled);
        self.saved_hooks.put_in_force()
    }
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
