//! The replaceable body of a tensor: calls read it in place while other threads may replace it.
//!
//! Every call reads the body of each argument, so this must cost next to nothing: a call pins the body (`pins` of
//! `rushlight-base`), reads it without copying it or counting a reference to its storage, and unpins it. Replacing a
//! body (`set_data`, `resize_`, in-place views) never waits: the former body stays alive until its last pin is
//! released. A call therefore sees one consistent snapshot, and its memory stays valid, whatever other threads do to
//! the tensor meanwhile. `replace.rs` replaces geometry and storage together. Concurrent changes of a tensor's metadata
//! can lead to wrong values, never to invalid memory.

use crate::dense::Dense;
use crate::once::OnceBox;
use rushlight_base::pins::{self, Pin, PinSet};
use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A replaceable [`Dense`].
pub(crate) struct Body {
    /// The current body, boxed; null: the inline one, with which the tensor was created.
    current: AtomicPtr<Dense>,
    /// Number of pins that are not in a thread's slots, because they were all in use.
    overflow: AtomicU32,
    /// Created when the body is replaced for the first time.
    changes: OnceBox<Changes>,
    /// The body with which the tensor was created. Dropped early only through `changes`.
    first: UnsafeCell<ManuallyDrop<Dense>>,
}

// SAFETY: a body is only read while it is pinned, and is never modified: a replaced one is dropped when it is not
// pinned and can no longer be reached. `Dense` is `Send + Sync`.
unsafe impl Sync for Body {}
// SAFETY: a body has no thread affinity: pins belong to calls, not to the body, and `Dense` is `Send`.
unsafe impl Send for Body {}

/// Former bodies that may still be pinned.
#[derive(Default)]
struct Changes {
    /// Whether there are any. A copy of what the lock guards, so that unpinning need not take the lock.
    waiting: AtomicBool,
    former: Mutex<Former>,
}

#[derive(Default)]
struct Former {
    first: First,
    later: Vec<NonNull<Dense>>,
}

/// State of the inline body.
#[derive(Default, PartialEq)]
enum First {
    #[default]
    InForce,
    Waiting,
    Dropped,
}

/// Former bodies that can no longer be reached. They are dropped outside of the lock, because a storage may call a
/// foreign deleter.
struct Unreachable(#[allow(dead_code, reason = "kept for its Drop")] Option<Dense>, Vec<NonNull<Dense>>);

impl Drop for Unreachable {
    fn drop(&mut self) {
        for body in self.1.drain(..) {
            // SAFETY: the pointer came from a box in `put`, and was removed from the list of former bodies.
            drop(unsafe { Box::from_raw(body.as_ptr()) });
        }
    }
}

impl Body {
    #[inline(always)]
    pub(crate) fn new(dense: Dense) -> Body {
        Body {
            current: AtomicPtr::new(ptr::null_mut()),
            overflow: AtomicU32::new(0),
            changes: OnceBox::new(),
            first: UnsafeCell::new(ManuallyDrop::new(dense)),
        }
    }

    /// Pins the current body until the result is dropped.
    #[inline(always)]
    pub(crate) fn pin(&self) -> Pinned<'_> {
        let pin = self.take_pin();
        // SAFETY: a body that is current after the pin is taken is not dropped before the pin is released.
        Pinned { body: self, pin, dense: unsafe { self.current_body().as_ref() } }
    }

    /// Protects every body that is current after this call. Either this thread sees a new body, or the thread that
    /// replaces the former one sees the pin.
    #[inline(always)]
    fn take_pin(&self) -> Option<Pin> {
        let pin = pins::pin(self.address());
        if pin.is_none() {
            self.add_overflow_pin();
        }
        pin
    }

    #[cold]
    fn add_overflow_pin(&self) {
        // Sequentially consistent, like the accesses in `put`.
        self.overflow.fetch_add(1, Ordering::SeqCst);
    }

    #[inline(always)]
    fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    #[inline(always)]
    fn current_body(&self) -> NonNull<Dense> {
        // SAFETY: the address of a field is not null; `UnsafeCell` and `ManuallyDrop` are transparent.
        let first = || unsafe { NonNull::new_unchecked(self.first.get().cast::<Dense>()) };
        NonNull::new(self.current.load(Ordering::SeqCst)).unwrap_or_else(first)
    }

    /// The body of a tensor that no other code has a reference to.
    ///
    /// # Safety
    /// The tensor was just created, and is neither shared nor modified while the result is used.
    #[inline(always)]
    pub(crate) unsafe fn unshared(&self) -> &Dense {
        // SAFETY: the tensor is new, so the inline body is current; the caller guarantees that it does not change while
        // the result is used.
        unsafe { &*self.first.get() }
    }

    /// [`Body::unshared`] for modification.
    #[inline(always)]
    pub(crate) fn unshared_mut(&mut self) -> &mut Dense {
        self.first.get_mut()
    }

    /// Whether the inline body, with which the tensor was created, is current.
    #[inline(always)]
    pub(crate) fn was_never_replaced(&self) -> bool {
        self.changes.get().is_none()
    }

    /// Replaces the body by `next`. `noted` runs under the lock, so that the state it updates changes in the same order
    /// as the body.
    pub(crate) fn replace(&self, next: Dense, noted: impl FnOnce(&Dense)) {
        // Without an expected body, this always succeeds.
        let _ = self.put(None, next, noted);
    }

    /// Replaces the body by `next`, which was computed from `seen`, and pins it. If another thread has replaced `seen`
    /// meanwhile, nothing changes and the result is `None`.
    pub(crate) fn exchange(&self, seen: &Pinned<'_>, next: Dense, noted: impl FnOnce(&Dense)) -> Option<Pinned<'_>> {
        let pin = self.take_pin();
        match self.put(Some(seen.dense), next, noted) {
            // SAFETY: the pin was taken before `put` made this body current, so the body is not dropped before the pin
            // is released.
            Some(next) => Some(Pinned { body: self, pin, dense: unsafe { next.as_ref() } }),
            None => {
                self.unpin(pin);
                None
            }
        }
    }

    /// Replaces the body by `next`, if `seen` is still current or is `None`. While a body is pinned its address is not
    /// reused, so comparing addresses is enough.
    fn put(&self, seen: Option<&Dense>, next: Dense, noted: impl FnOnce(&Dense)) -> Option<NonNull<Dense>> {
        let changes = self.changes.get_or_init(Changes::default);
        let mut former = changes.lock();
        if seen.is_some_and(|seen| !ptr::eq(seen, self.current_body().as_ptr())) {
            return None;
        }
        noted(&next);
        let next = NonNull::from(Box::leak(Box::new(next)));
        match NonNull::new(self.current.swap(next.as_ptr(), Ordering::SeqCst)) {
            Some(before) => former.later.push(before),
            None => former.first = First::Waiting,
        }
        changes.waiting.store(true, Ordering::SeqCst);
        let unreachable = self.take_unreachable(changes, &mut former);
        drop(former);
        drop(unreachable);
        Some(next)
    }

    #[inline(always)]
    fn unpin(&self, pin: Option<Pin>) {
        match pin {
            Some(pin) => pin.release(),
            None => self.release_overflow_pin(),
        }
        // Either this thread sees that a body was replaced, or the thread that replaces it sees that the pin is gone.
        if let Some(changes) = self.changes.get() {
            self.unpinned(changes);
        }
    }

    #[cold]
    fn release_overflow_pin(&self) {
        self.overflow.fetch_sub(1, Ordering::SeqCst);
    }

    /// Called when a pin is released, if the tensor's body has ever been replaced.
    #[cold]
    fn unpinned(&self, changes: &Changes) {
        if changes.waiting.load(Ordering::SeqCst) {
            let mut former = changes.lock();
            let unreachable = self.take_unreachable(changes, &mut former);
            drop(former);
            drop(unreachable);
        }
    }

    /// Takes the former bodies if no pin is left: later pins protect the current body.
    fn take_unreachable(&self, changes: &Changes, former: &mut Former) -> Unreachable {
        if pins::is_pinned(self.address()) || self.overflow.load(Ordering::SeqCst) != 0 {
            return Unreachable(None, Vec::new());
        }
        changes.waiting.store(false, Ordering::SeqCst);
        self.unreachable(former)
    }

    /// Takes all former bodies. None of them is pinned.
    fn unreachable(&self, former: &mut Former) -> Unreachable {
        let first = (former.first == First::Waiting).then(|| {
            former.first = First::Dropped;
            // SAFETY: the inline body is neither current nor pinned. It is taken once: its state is `Dropped` from now
            // on.
            unsafe { ManuallyDrop::take(&mut *self.first.get()) }
        });
        Unreachable(first, std::mem::take(&mut former.later))
    }

    /// Drops all bodies but the current one, and returns that.
    ///
    /// # Safety
    /// The body is not used afterwards: its owner frees the memory or never accesses it again.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> Dense {
        // SAFETY: the caller guarantees that the body is not used afterwards, so this is the only access to `changes`.
        let Some(changes) = (unsafe { self.changes.take() }) else {
            // SAFETY: without `changes` the body was never replaced, so the inline body is current. The caller
            // guarantees that it is taken once.
            return unsafe { ManuallyDrop::take(&mut *self.first.get()) };
        };
        // SAFETY: the caller guarantees that the body is not used afterwards, and `changes` was just moved out of it,
        // so no other thread uses either.
        unsafe { self.take_changed(&changes) }
    }

    /// # Safety
    /// The body was replaced, and neither it nor its `changes` are used by other code, now or later.
    #[cold]
    unsafe fn take_changed(&self, changes: &Changes) -> Dense {
        // SAFETY: the body was replaced, so the current one came from a box in `put`; the caller guarantees that no
        // other code uses it.
        let dense = unsafe { Box::from_raw(self.current.load(Ordering::Acquire)) };
        let mut former = changes.lock();
        let unreachable = self.unreachable(&mut former);
        drop(former);
        drop(unreachable);
        *dense
    }
}

impl Changes {
    fn lock(&self) -> MutexGuard<'_, Former> {
        self.former.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Pins the bodies of all tensors of a call at once.
pub(crate) struct PinnedAll<'a, const N: usize> {
    bodies: [&'a Body; N],
    pins: Option<PinSet>,
}

impl<'a, const N: usize> PinnedAll<'a, N> {
    /// Pins the current bodies until the result is dropped.
    #[inline(always)]
    pub(crate) fn new(bodies: [&'a Body; N]) -> PinnedAll<'a, N> {
        // Protects the bodies like `Body::take_pin`.
        let pins = pins::pin_all(bodies.map(Body::address));
        if pins.is_none() {
            bodies.iter().for_each(|body| body.add_overflow_pin());
        }
        PinnedAll { bodies, pins }
    }

    /// The current bodies. Call it once only: a body may be replaced meanwhile.
    #[inline(always)]
    pub(crate) fn dense(&self) -> [&Dense; N] {
        // SAFETY: bodies that are current after the pins were taken are not dropped before the pins are released.
        self.bodies.map(|body| unsafe { body.current_body().as_ref() })
    }
}

impl<const N: usize> Drop for PinnedAll<'_, N> {
    #[inline(always)]
    fn drop(&mut self) {
        match self.pins {
            Some(pins) => pins.release(),
            None => self.bodies.iter().for_each(|body| body.release_overflow_pin()),
        }
        // Releases former bodies like `Body::unpin`.
        for body in self.bodies {
            if let Some(changes) = body.changes.get() {
                body.unpinned(changes);
            }
        }
    }
}

/// A pinned body of a tensor: the one consistent snapshot that a call works on.
pub struct Pinned<'a> {
    body: &'a Body,
    pin: Option<Pin>,
    dense: &'a Dense,
}

impl Deref for Pinned<'_> {
    type Target = Dense;
    #[inline(always)]
    fn deref(&self) -> &Dense {
        self.dense
    }
}

impl Drop for Pinned<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.body.unpin(self.pin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::{Geometry, Spec};
    use rushlight_base::{DType, Device};
    use std::ffi::c_void;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    fn dense(size: i64) -> Dense {
        Spec::new(&[size], DType::U8, Device::CPU).allocate().unwrap()
    }

    fn counted(drops: &Arc<AtomicUsize>) -> Dense {
        static BYTE: u64 = 0;
        let drops = drops.clone();
        let deleter = move |_: *mut c_void| {
            drops.fetch_add(1, Ordering::Relaxed);
        };
        let at = (&raw const BYTE).cast_mut().cast();
        // SAFETY: a static outlives the storage, and nothing writes to it.
        let storage = unsafe { rushlight_base::Storage::foreign(at, 8, Some(Box::new(deleter))) }.unwrap();
        Dense::new(storage, Geometry::contiguous(&[8]), DType::U8, Device::CPU)
    }

    fn release(body: Body) {
        // SAFETY: `body` is dropped here and not used again.
        drop(unsafe { body.take() });
    }

    #[test]
    fn a_call_keeps_its_snapshot_while_the_body_is_replaced() {
        let drops = Arc::new(AtomicUsize::new(0));
        let body = Body::new(counted(&drops));
        let pinned = body.pin();
        body.replace(dense(3), |_| {});
        let again = body.pin().clone();
        body.replace(again, |_| {});
        assert_eq!((pinned.sizes(), body.pin().sizes()), (&[8][..], &[3][..]));
        assert_eq!(drops.load(Ordering::Relaxed), 0);
        drop(pinned);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        release(body);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn pins_beyond_the_slots_of_a_thread_keep_the_snapshot() {
        let drops = Arc::new(AtomicUsize::new(0));
        let body = Body::new(counted(&drops));
        let mut pins: Vec<Pinned> = (0..100).map(|_| body.pin()).collect();
        body.replace(dense(3), |_| {});
        while let Some(pinned) = pins.pop() {
            assert_eq!((pinned.sizes(), drops.load(Ordering::Relaxed)), (&[8][..], 0));
        }
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        drop(pins);
        release(body);
    }

    #[test]
    fn pins_of_several_bodies_keep_the_snapshot_of_each() {
        let drops = Arc::new(AtomicUsize::new(0));
        let (one, other) = (Body::new(counted(&drops)), Body::new(counted(&drops)));
        let pins: Vec<Pinned> = (0..31).map(|_| one.pin()).collect();
        for pins in [pins, Vec::new()] {
            let both = PinnedAll::new([&one, &other]);
            let snapshots = both.dense();
            one.replace(counted(&drops), |_| {});
            other.replace(counted(&drops), |_| {});
            drop(pins);
            assert_eq!(snapshots.map(|dense| dense.sizes().to_vec()), [[8], [8]]);
            let before = drops.load(Ordering::Relaxed);
            drop(both);
            assert_eq!(drops.load(Ordering::Relaxed), before + 2);
        }
        release(one);
        release(other);
        assert_eq!(drops.load(Ordering::Relaxed), 6);
    }

    #[test]
    fn former_bodies_are_dropped_at_once_without_a_pin() {
        let drops = Arc::new(AtomicUsize::new(0));
        let body = Body::new(counted(&drops));
        for replaced in 1..=10 {
            body.replace(counted(&drops), |_| {});
            assert_eq!(drops.load(Ordering::Relaxed), replaced);
        }
        release(body);
        assert_eq!(drops.load(Ordering::Relaxed), 11);
    }

    #[test]
    fn an_exchange_replaces_the_body_that_was_seen_and_no_other() {
        let drops = Arc::new(AtomicUsize::new(0));
        let body = Body::new(counted(&drops));
        let (first, second) = (body.pin(), body.pin());
        let next = body.exchange(&first, dense(3), |_| {}).unwrap();
        assert!(body.exchange(&second, dense(4), |_| panic!("the body was not replaced")).is_none());
        assert_eq!((first.sizes(), next.sizes(), body.pin().sizes()), (&[8][..], &[3][..], &[3][..]));
        drop((first, second));
        let last = body.exchange(&next, counted(&drops), |_| {}).unwrap();
        drop(next);
        body.replace(dense(5), |_| {});
        // The last pin keeps every former body of this tensor.
        assert_eq!((last.sizes(), drops.load(Ordering::Relaxed)), (&[8][..], 0));
        drop(last);
        assert_eq!(drops.load(Ordering::Relaxed), 2);
        release(body);
    }

    #[test]
    fn exchanges_at_once_lose_nothing() {
        let body = Body::new(dense(1));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let longer = |seen: &Dense| dense(seen.numel() + 1);
                        while {
                            let seen = body.pin();
                            body.exchange(&seen, longer(&seen), |_| {}).is_none()
                        } {}
                    }
                });
            }
        });
        assert_eq!(body.pin().sizes(), [2001]);
        release(body);
    }

    #[test]
    fn readers_and_writers_at_once_see_whole_bodies() {
        let drops = Arc::new(AtomicUsize::new(0));
        let body = Body::new(counted(&drops));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let pinned = body.pin();
                        assert_eq!(pinned.storage.bytes() as i64, pinned.numel());
                    }
                });
            }
            for _ in 0..2 {
                scope.spawn(|| (0..2_000).for_each(|_| body.replace(counted(&drops), |_| {})));
            }
        });
        release(body);
        assert_eq!(drops.load(Ordering::Relaxed), 4_001);
    }
}
