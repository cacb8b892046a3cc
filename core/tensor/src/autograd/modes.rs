//! Thread-local modes: whether calls are recorded, and whether anomaly mode is on.

use super::saved_hooks::SavedHooks;
use crate::keys::{KeySet, excluded, included, set_excluded};
use crate::observe::{self, Inherited};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static GRAD_ENABLED: Cell<bool> = const { Cell::new(true) };
    static INFERENCE: Cell<bool> = const { Cell::new(false) };
}

static ANOMALY: AtomicBool = AtomicBool::new(false);
static ANOMALY_NAN: AtomicBool = AtomicBool::new(true);

/// Whether this thread records operators for backward.
#[inline]
pub fn is_grad_enabled() -> bool {
    GRAD_ENABLED.get()
}

/// Sets whether this thread records operators for backward.
pub fn set_grad_enabled(enabled: bool) {
    GRAD_ENABLED.set(enabled);
}

/// Whether this thread is in inference mode: nothing is recorded, and views are not tracked.
#[inline]
pub fn is_inference_mode() -> bool {
    INFERENCE.get()
}

/// Enters or leaves inference mode on this thread. Entering disables recording, leaving enables it.
pub fn set_inference_mode(enabled: bool) {
    INFERENCE.set(enabled);
    GRAD_ENABLED.set(!enabled);
    // In inference mode, tensors created in it are not special.
    set_excluded(KeySet::INFERENCE, enabled);
}

/// Whether nodes remember their forward call, so that errors in backward name it (in the whole process).
pub fn is_anomaly_enabled() -> bool {
    ANOMALY.load(Ordering::Relaxed)
}

/// Sets anomaly mode: nodes remember their forward call, which errors and NaN in derivatives name.
pub fn set_anomaly_enabled(enabled: bool) {
    ANOMALY.store(enabled, Ordering::Relaxed);
}

/// Whether NaN in a gradient is an error in anomaly mode.
pub fn is_anomaly_nan_checked() -> bool {
    ANOMALY_NAN.load(Ordering::Relaxed)
}

/// Sets whether NaN in a gradient is an error in anomaly mode (default true).
pub fn set_anomaly_nan_checked(checked: bool) {
    ANOMALY_NAN.store(checked, Ordering::Relaxed);
}

/// The modes of a thread, for another one that works on its behalf.
pub(super) struct Modes {
    grad_enabled: bool,
    inference: bool,
    excluded: KeySet,
    saved_hooks: SavedHooks,
    observers: Inherited,
}

impl Modes {
    /// Those of this thread.
    pub(super) fn here() -> Modes {
        Modes {
            grad_enabled: is_grad_enabled(),
            inference: is_inference_mode(),
            excluded: excluded(),
            saved_hooks: SavedHooks::here(),
            observers: Inherited::here(),
        }
    }

    /// Activates them on this thread, which is new, while the result lives.
    pub(super) fn put_in_force(self) -> impl Drop {
        set_excluded(self.excluded, true);
        INFERENCE.set(self.inference);
        set_grad_enabled(self.grad_enabled);
        self.observers.put_in_force();
        self.saved_hooks.put_in_force()
    }
}

/// The modes of a thread that runs a part of a program for another one.
#[derive(Clone, Copy)]
pub struct ThreadModes {
    grad_enabled: bool,
    inference: bool,
    excluded: KeySet,
    observers_enabled: bool,
}

impl ThreadModes {
    /// Those of this thread. `None` if something follows its calls that other threads do not take over: observers,
    /// tracers, recordings, or hooks of saved tensors.
    pub fn here() -> Option<ThreadModes> {
        if observe::has_thread_local() || !included().is_empty() || SavedHooks::are_set() {
            return None;
        }
        Some(ThreadModes {
            grad_enabled: is_grad_enabled(),
            inference: is_inference_mode(),
            excluded: excluded(),
            observers_enabled: observe::is_enabled(),
        })
    }

    /// Activates them on this thread.
    pub fn put_in_force(self) {
        set_excluded(!KeySet::EMPTY, false);
        set_excluded(self.excluded, true);
        INFERENCE.set(self.inference);
        set_grad_enabled(self.grad_enabled);
        observe::set_enabled(self.observers_enabled);
    }
}

/// Enables or disables recording on this thread while it lives.
#[must_use = "the mode changes back when the guard is dropped"]
pub struct GradModeGuard {
    before: bool,
    /// Not `Send`: a guard belongs to its thread.
    _not_send: std::marker::PhantomData<*mut ()>,
}

impl GradModeGuard {
    /// Enables or disables recording until the guard is dropped.
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

/// Keeps this thread in inference mode, or out of it, while it lives.
#[must_use = "the mode changes back when the guard is dropped"]
pub struct InferenceModeGuard {
    before: (bool, bool),
    _not_send: std::marker::PhantomData<*mut ()>,
}

impl InferenceModeGuard {
    /// Enters or leaves inference mode until the guard is dropped.
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
