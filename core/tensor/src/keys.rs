//! Dispatch keys: one bit for each property of a call that may need more than the device kernel.
//!
//! A call ORs the keys of its tensor arguments with the keys that the thread includes, removes those that it excludes,
//! and tests one word. With no layer bit left it calls the typed kernel directly.

use crate::dense::{Dense, Lazy};
use rushlight_base::DeviceType;
use std::cell::Cell;
use std::ops::{BitAnd, BitOr, BitOrAssign, Not};
use std::sync::atomic::{AtomicU64, Ordering};

/// A set of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KeySet(u64);

impl KeySet {
    /// No key.
    pub const EMPTY: KeySet = KeySet(0);

    // Properties of a tensor that only kernels use, no layer.
    /// A wrapped number: a 0-dim tensor created from a number, which has lower priority in dtype promotion.
    pub const WRAPPED: KeySet = KeySet(1 << 0);
    /// Shape without data.
    pub const META: KeySet = KeySet(1 << 1);
    /// Is stored on a CUDA device.
    pub const CUDA: KeySet = KeySet(1 << 2);

    /// Created in inference mode. Outside of it, calls with such a tensor pass the autograd layer, which rejects saving
    /// it or writing to it; in inference mode the thread excludes the key.
    pub const INFERENCE: KeySet = KeySet(1 << 3);

    // Properties of a tensor that a layer materializes.
    /// The elements are those of the storage, conjugated.
    pub const CONJ: KeySet = KeySet(1 << 14);
    /// The elements are those of the storage, negated.
    pub const NEG: KeySet = KeySet(1 << 15);
    /// The lazy bits: conjugated or negated.
    pub const LAZY: KeySet = KeySet(KeySet::CONJ.0 | KeySet::NEG.0);

    /// Has indices and values instead of elements in memory: only the layer of sparse tensors handles it.
    pub const SPARSE: KeySet = KeySet(1 << 13);
    /// Has integers with a quantizer: only the layer of quantized tensors handles it.
    pub const QUANTIZED: KeySet = KeySet(1 << 12);
    /// Is a batch of tensors whose sizes differ: only the layer of nested tensors handles it.
    pub const NESTED: KeySet = KeySet(1 << 11);
    /// Has components beside its body.
    const COMPONENTS: KeySet = KeySet(KeySet::SPARSE.0 | KeySet::QUANTIZED.0 | KeySet::NESTED.0);

    // Layers, innermost first.
    /// Has autograd metadata: requires a gradient, or is a tracked view.
    pub const AUTOGRAD: KeySet = KeySet(1 << 16);
    /// Calls are recorded (a thread's key).
    pub const RECORD: KeySet = KeySet(1 << 20);
    /// Calls become nodes of a graph (a thread's key).
    pub const TRACE: KeySet = KeySet(1 << 21);

    /// Calls are observed (a key of the process).
    pub const OBSERVED: KeySet = KeySet(1 << 22);

    /// Layers that work on boxed values. Each has one file in `dispatch/`.
    pub const BOXED: KeySet =
        KeySet(KeySet::OBSERVED.0 | KeySet::TRACE.0 | KeySet::RECORD.0 | KeySet::LAZY.0 | KeySet::COMPONENTS.0);
    /// Everything that keeps a call from going straight to the kernel.
    pub const LAYERS: KeySet = KeySet(KeySet::BOXED.0 | KeySet::AUTOGRAD.0 | KeySet::INFERENCE.0);

    /// The keys that [`KeySet::of`] decides on.
    pub(crate) const OF_BODY: KeySet =
        KeySet(KeySet::WRAPPED.0 | KeySet::META.0 | KeySet::CUDA.0 | KeySet::LAZY.0 | KeySet::COMPONENTS.0);

    /// The keys that follow from a tensor's body.
    #[inline(always)]
    pub(crate) fn of(dense: &Dense) -> KeySet {
        let place = match dense.device.kind {
            DeviceType::Cpu => KeySet::EMPTY,
            DeviceType::Meta => KeySet::META,
            DeviceType::Cuda => KeySet::CUDA,
        };
        let is_rare = dense.wrapped || dense.lazy != Lazy::NONE || dense.components.is_some();
        if is_rare { place | KeySet::of_rare(dense) } else { place }
    }

    #[cold]
    fn of_rare(dense: &Dense) -> KeySet {
        let facts = [(dense.wrapped, KeySet::WRAPPED), (dense.lazy.conj, KeySet::CONJ), (dense.lazy.neg, KeySet::NEG)];
        let layer = dense.components.as_ref().map_or(KeySet::EMPTY, |components| components.key());
        facts.into_iter().filter(|(is, _)| *is).fold(layer, |keys, (_, key)| keys | key)
    }

    /// Whether any key of `other` is in this set.
    #[inline]
    pub const fn intersects(self, other: KeySet) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether no key is in the set.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a layer on boxed values is among the keys.
    #[inline]
    pub const fn is_boxed(self) -> bool {
        self.intersects(KeySet::BOXED)
    }

    /// The bits, for storing in an atomic.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// A set from stored bits.
    pub const fn from_bits(bits: u64) -> KeySet {
        KeySet(bits)
    }
}

impl BitOr for KeySet {
    type Output = KeySet;
    #[inline]
    fn bitor(self, other: KeySet) -> KeySet {
        KeySet(self.0 | other.0)
    }
}

impl BitOrAssign for KeySet {
    #[inline]
    fn bitor_assign(&mut self, other: KeySet) {
        self.0 |= other.0;
    }
}

impl BitAnd for KeySet {
    type Output = KeySet;
    #[inline]
    fn bitand(self, other: KeySet) -> KeySet {
        KeySet(self.0 & other.0)
    }
}

impl Not for KeySet {
    type Output = KeySet;
    #[inline]
    fn not(self) -> KeySet {
        KeySet(!self.0)
    }
}

#[derive(Clone, Copy)]
struct Local {
    include: KeySet,
    exclude: KeySet,
}

thread_local! {
    // Constant and without a destructor, so that the library can be unloaded while the thread lives.
    static LOCAL: Cell<Local> = const { Cell::new(Local { include: KeySet::EMPTY, exclude: KeySet::EMPTY }) };
}

/// The keys of every call of the process: [`KeySet::OBSERVED`], or none.
static OF_PROCESS: AtomicU64 = AtomicU64::new(0);

/// Sets whether every call has the key [`KeySet::OBSERVED`].
pub(crate) fn set_observed(on: bool) {
    OF_PROCESS.store(if on { KeySet::OBSERVED.0 } else { 0 }, Ordering::Relaxed);
}

/// Whether every call has the key [`KeySet::OBSERVED`].
#[inline]
pub(crate) fn is_observed() -> bool {
    OF_PROCESS.load(Ordering::Relaxed) != 0
}

/// The layers that a call whose tensors have the keys `tensors` has to pass. Empty: the typed kernel is called
/// directly.
#[inline]
pub fn active(tensors: KeySet) -> KeySet {
    let local = LOCAL.get();
    let of_process = KeySet(OF_PROCESS.load(Ordering::Relaxed));
    (tensors | local.include | of_process) & !local.exclude & KeySet::LAYERS
}

/// The layers of a call that only creates a view: lazy bits are kept.
#[inline]
pub fn active_for_view(tensors: KeySet) -> KeySet {
    active(tensors) & !KeySet::LAZY
}

/// Includes or excludes keys of the thread while it lives; then restores the previous state.
#[must_use = "the keys change back when the guard is dropped"]
pub struct KeyGuard {
    before: Local,
    /// Not `Send`: a guard belongs to its thread.
    _not_send: std::marker::PhantomData<*mut ()>,
}

impl KeyGuard {
    /// Calls of this thread behave as if every tensor had `keys`.
    pub fn include(keys: KeySet) -> KeyGuard {
        KeyGuard::change(|local| Local { include: local.include | keys, exclude: local.exclude & !keys })
    }

    /// Calls of this thread ignore `keys`.
    #[inline]
    pub fn exclude(keys: KeySet) -> KeyGuard {
        KeyGuard::change(|local| Local { exclude: local.exclude | keys, ..local })
    }

    /// Calls of this thread run below the autograd layer: nothing is recorded for backward.
    #[inline]
    pub fn below_autograd() -> KeyGuard {
        KeyGuard::exclude(KeySet::AUTOGRAD)
    }

    #[inline]
    fn change(change: impl FnOnce(Local) -> Local) -> KeyGuard {
        let before = LOCAL.get();
        LOCAL.set(change(before));
        KeyGuard { before, _not_send: std::marker::PhantomData }
    }
}

impl Drop for KeyGuard {
    #[inline]
    fn drop(&mut self) {
        LOCAL.set(self.before);
    }
}

/// Switches a key of this thread on or off, without a scope (`rlt_record_start` and similar functions).
pub fn set_included(keys: KeySet, on: bool) {
    let local = LOCAL.get();
    let include = if on { local.include | keys } else { local.include & !keys };
    LOCAL.set(Local { include, ..local });
}

/// Sets whether this thread excludes keys, without a scope (`rlt_set_autograd_excluded`).
pub fn set_excluded(keys: KeySet, on: bool) {
    let local = LOCAL.get();
    let exclude = if on { local.exclude | keys } else { local.exclude & !keys };
    LOCAL.set(Local { exclude, ..local });
}

/// The keys that this thread includes.
pub fn included() -> KeySet {
    LOCAL.get().include
}

/// The keys that this thread excludes.
pub fn excluded() -> KeySet {
    LOCAL.get().exclude
}

/// Whether this thread excludes any of `keys`.
pub fn is_excluded(keys: KeySet) -> bool {
    LOCAL.get().exclude.intersects(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_nest_and_restore() {
        assert!(!active(KeySet::META).intersects(KeySet::LAYERS));
        assert!(active(KeySet::AUTOGRAD).intersects(KeySet::LAYERS));
        {
            let _below = KeyGuard::below_autograd();
            assert!(!active(KeySet::AUTOGRAD).intersects(KeySet::LAYERS));
            let _record = KeyGuard::include(KeySet::RECORD);
            assert!(active(KeySet::AUTOGRAD).intersects(KeySet::BOXED));
        }
        assert!(active(KeySet::AUTOGRAD).intersects(KeySet::AUTOGRAD));
        assert!(active(KeySet::EMPTY).is_empty());
    }
}
