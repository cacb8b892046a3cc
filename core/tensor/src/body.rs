//! A tensor's body behind its pins: calls look at it where it stands, while others may replace it.
//!
//! Every call looks at each of its arguments, so that must cost next to nothing: a call pins the body, reads it
//! without copying, and unpins it. Replacing (`set_data`, `resize_`, in-place views) never waits: the former body
//! stays where it is until no call looks any more. A call therefore sees one consistent snapshot, and the memory it
//! works on stays alive, whatever other threads do to the tensor meanwhile.

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
    /// The body in force, boxed; null: the one that the tensor was made with.
    current: AtomicPtr<Dense>,
    /// How many calls are looking for which their threads have no [`Pin`] left.
    crowd: AtomicU32,
    /// Made when the body is replaced for the first time.
    changes: OnceBox<Changes>,
    /// What the tensor was made with. Dropped early only through `changes`.
    first: UnsafeCell<ManuallyDrop<Dense>>,
}

// SAFETY: a body is only read while it is pinned, and bodies are never written: a replaced one is dropped when
// nobody has it pinned, and then nobody can reach it any more. `Dense` may be shared and sent.
unsafe impl Sync for Body {}
// SAFETY: as above.
unsafe impl Send for Body {}

/// The former bodies that may still be looked at.
#[derive(Default)]
struct Changes {
    /// Is there any? A copy of what the lock guards, for unpinning.
    waiting: AtomicBool,
    former: Mutex<Former>,
}

#[derive(Default)]
struct Former {
    first: First,
    later: Vec<NonNull<Dense>>,
}

/// Where the inline body is in its life.
#[derive(Default, PartialEq)]
enum First {
    #[default]
    InForce,
    Waiting,
    Dropped,
}

/// Bodies that nobody can reach any more. Dropped outside of the lock: storage may run a foreign deleter.
struct Unreachable(#[allow(dead_code, reason = "kept for its Drop")] Option<Dense>, Vec<NonNull<Dense>>);

impl Drop for Unreachable {
    fn drop(&mut self) {
        for body in self.1.drain(..) {
            // SAFETY: the pointer came from a box in `replace`, and is in no list any more.
            drop(unsafe { Box::from_raw(body.as_ptr()) });
        }
    }
}

impl Body {
    #[inline(always)]
    pub(crate) fn new(dense: Dense) -> Body {
        Body {
            current: AtomicPtr::new(ptr::null_mut()),
            crowd: AtomicU32::new(0),
            changes: OnceBox::new(),
            first: UnsafeCell::new(ManuallyDrop::new(dense)),
        }
    }

    /// Look at the body until the pin is dropped.
    #[inline(always)]
    pub(crate) fn pin(&self) -> Pinned<'_> {
        // Either this sees the new body, or `replace` sees the pin.
        let pin = pins::pin(self.address());
        if pin.is_none() {
            self.join_crowd();
        }
        // SAFETY: a body that is in force after the pin is not dropped before the unpin.
        Pinned { body: self, pin, dense: unsafe { self.in_force().as_ref() } }
    }

    #[cold]
    fn join_crowd(&self) {
        // Sequentially consistent, as are the accesses of `replace`.
        self.crowd.fetch_add(1, Ordering::SeqCst);
    }

    #[inline(always)]
    fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    #[inline(always)]
    fn in_force(&self) -> NonNull<Dense> {
        // SAFETY: the address of a field is not null (and its wrappers are transparent).
        let first = || unsafe { NonNull::new_unchecked(self.first.get().cast::<Dense>()) };
        NonNull::new(self.current.load(Ordering::SeqCst)).unwrap_or_else(first)
    }

    /// The body of a tensor that nobody else has seen yet.
    ///
    /// # Safety
    /// The tensor was just made, and is neither shared nor changed while the result is used.
    #[inline(always)]
    pub(crate) unsafe fn unshared(&self) -> &Dense {
        // SAFETY: the inline body is in force, and stays so by the caller's promise.
        unsafe { &*self.first.get() }
    }

    /// [`Body::unshared`], to be completed.
    #[inline(always)]
    pub(crate) fn unshared_mut(&mut self) -> &mut Dense {
        self.first.get_mut()
    }

    /// Is the body that the tensor was made with in force?
    #[inline(always)]
    pub(crate) fn was_never_replaced(&self) -> bool {
        self.changes.get().is_none()
    }

    /// Put another body in force, made from the present one. `make` must not use the tensor.
    pub(crate) fn replace(&self, make: impl FnOnce(&Dense) -> Dense) {
        let changes = self.changes.get_or_init(Changes::default);
        let mut former = changes.lock();
        // SAFETY: while the lock is held nobody else puts a body in force, so the present one is not dropped.
        let present = unsafe { self.in_force().as_ref() };
        let next = Box::into_raw(Box::new(make(present)));
        match NonNull::new(self.current.swap(next, Ordering::SeqCst)) {
            Some(before) => former.later.push(before),
            None => former.first = First::Waiting,
        }
        changes.waiting.store(true, Ordering::SeqCst);
        let unreachable = self.take_unreachable(changes, &mut former);
        drop(former);
        drop(unreachable);
    }

    #[inline(always)]
    fn unpin(&self, pin: Option<Pin>) {
        match pin {
            Some(pin) => pin.release(),
            None => self.leave_crowd(),
        }
        // Either this sees that a body was replaced, or `replace` sees that the pin is gone.
        if let Some(changes) = self.changes.get() {
            self.unpinned(changes);
        }
    }

    #[cold]
    fn leave_crowd(&self) {
        self.crowd.fetch_sub(1, Ordering::SeqCst);
    }

    /// A pin is gone, of a tensor whose body was replaced at some time.
    #[cold]
    fn unpinned(&self, changes: &Changes) {
        if changes.waiting.load(Ordering::SeqCst) {
            let mut former = changes.lock();
            let unreachable = self.take_unreachable(changes, &mut former);
            drop(former);
            drop(unreachable);
        }
    }

    /// What can be dropped, if nobody is looking: whoever pins from now on sees the body in force.
    fn take_unreachable(&self, changes: &Changes, former: &mut Former) -> Unreachable {
        if pins::is_pinned(self.address()) || self.crowd.load(Ordering::SeqCst) != 0 {
            return Unreachable(None, Vec::new());
        }
        changes.waiting.store(false, Ordering::SeqCst);
        self.unreachable(former)
    }

    /// All former bodies. Nobody looks at them.
    fn unreachable(&self, former: &mut Former) -> Unreachable {
        let first = (former.first == First::Waiting).then(|| {
            former.first = First::Dropped;
            // SAFETY: not in force, not pinned, and taken once: the state says so from now on.
            unsafe { ManuallyDrop::take(&mut *self.first.get()) }
        });
        Unreachable(first, std::mem::take(&mut former.later))
    }

    /// Drops everything but the body in force, and gives that back.
    ///
    /// # Safety
    /// Nobody uses the body any more, neither now nor later: the room it stands in is given up.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> Dense {
        // SAFETY: given up by the caller, so this is its only user.
        let Some(changes) = (unsafe { self.changes.take() }) else {
            // SAFETY: never replaced, so the inline body is in force; taken once, says the caller.
            return unsafe { ManuallyDrop::take(&mut *self.first.get()) };
        };
        // SAFETY: as this function's own contract.
        unsafe { self.take_changed(&changes) }
    }

    #[cold]
    unsafe fn take_changed(&self, changes: &Changes) -> Dense {
        // SAFETY: a body in force that replaced another one is boxed; nobody else uses it, says the caller.
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

/// Looks at the bodies of all tensors of a call at once.
pub(crate) struct PinnedAll<'a, const N: usize> {
    bodies: [&'a Body; N],
    pins: Option<PinSet>,
}

impl<'a, const N: usize> PinnedAll<'a, N> {
    /// Keep the bodies that are in force now until this is dropped.
    #[inline(always)]
    pub(crate) fn new(bodies: [&'a Body; N]) -> PinnedAll<'a, N> {
        // As in `Body::pin`.
        let pins = pins::pin_all(bodies.map(Body::address));
        if pins.is_none() {
            bodies.iter().for_each(|body| body.join_crowd());
        }
        PinnedAll { bodies, pins }
    }

    /// The bodies that are in force. To be called once: a body may be replaced meanwhile.
    #[inline(always)]
    pub(crate) fn dense(&self) -> [&Dense; N] {
        // SAFETY: bodies that are in force after the pins are not dropped before the unpin.
        self.bodies.map(|body| unsafe { body.in_force().as_ref() })
    }
}

impl<const N: usize> Drop for PinnedAll<'_, N> {
    #[inline(always)]
    fn drop(&mut self) {
        match self.pins {
            Some(pins) => pins.release(),
            None => self.bodies.iter().for_each(|body| body.leave_crowd()),
        }
        // As in `Body::unpin`.
        for body in self.bodies {
            if let Some(changes) = body.changes.get() {
                body.unpinned(changes);
            }
        }
    }
}

/// A look at a tensor's body: the one consistent snapshot that a call works on.
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

    fn give_up(body: Body) {
        // SAFETY: the body is not used again.
        drop(unsafe { body.take() });
    }

    #[test]
    fn a_call_keeps_its_snapshot_while_the_body_is_replaced() {
        let drops = Arc::new(AtomicUsize::new(0));
        let body = Body::new(counted(&drops));
        let pinned = body.pin();
        body.replace(|_| dense(3));
        body.replace(|before| before.clone());
        assert_eq!((pinned.sizes(), body.pin().sizes()), (&[8][..], &[3][..]));
        assert_eq!(drops.load(Ordering::Relaxed), 0);
        drop(pinned);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        give_up(body);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn more_looks_than_a_thread_has_pins_keep_the_snapshot_too() {
        let drops = Arc::new(AtomicUsize::new(0));
        let body = Body::new(counted(&drops));
        let mut looks: Vec<Pinned> = (0..100).map(|_| body.pin()).collect();
        body.replace(|_| dense(3));
        while let Some(look) = looks.pop() {
            assert_eq!((look.sizes(), drops.load(Ordering::Relaxed)), (&[8][..], 0));
        }
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        drop(looks);
        give_up(body);
    }

    #[test]
    fn looks_at_several_bodies_keep_the_snapshot_of_each() {
        let drops = Arc::new(AtomicUsize::new(0));
        let (one, other) = (Body::new(counted(&drops)), Body::new(counted(&drops)));
        let crowd: Vec<Pinned> = (0..31).map(|_| one.pin()).collect();
        for crowd in [crowd, Vec::new()] {
            let both = PinnedAll::new([&one, &other]);
            let looks = both.dense();
            one.replace(|_| counted(&drops));
            other.replace(|_| counted(&drops));
            drop(crowd);
            assert_eq!(looks.map(|dense| dense.sizes().to_vec()), [[8], [8]]);
            let before = drops.load(Ordering::Relaxed);
            drop(both);
            assert_eq!(drops.load(Ordering::Relaxed), before + 2);
        }
        give_up(one);
        give_up(other);
        assert_eq!(drops.load(Ordering::Relaxed), 6);
    }

    #[test]
    fn nothing_is_kept_or_lost_when_nobody_looks() {
        let drops = Arc::new(AtomicUsize::new(0));
        let body = Body::new(counted(&drops));
        for replaced in 1..=10 {
            body.replace(|_| counted(&drops));
            assert_eq!(drops.load(Ordering::Relaxed), replaced);
        }
        give_up(body);
        assert_eq!(drops.load(Ordering::Relaxed), 11);
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
                scope.spawn(|| (0..2_000).for_each(|_| body.replace(|_| counted(&drops))));
            }
        });
        give_up(body);
        assert_eq!(drops.load(Ordering::Relaxed), 4_001);
    }
}
