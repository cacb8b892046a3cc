//! A tensor's body behind its pins: calls look at it where it stands, while others may replace it.
//!
//! Every call looks at each of its arguments, so that must cost next to nothing: a call pins the body, reads it
//! without copying, and unpins it. Replacing (`set_data`, `resize_`, in-place views) never waits: the former body
//! stays where it is until no call looks any more. A call therefore sees one consistent snapshot, and the memory it
//! works on stays alive, whatever other threads do to the tensor meanwhile.

use crate::dense::Dense;
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
    /// How many calls are looking.
    pins: AtomicU32,
    /// Made when the body is replaced for the first time.
    changes: AtomicPtr<Changes>,
    /// What the tensor was made with. Dropped early only through `changes`.
    first: UnsafeCell<ManuallyDrop<Dense>>,
}

// SAFETY: a body is only read while it is pinned, and bodies are never written: a replaced one is dropped when
// `pins` is 0, and then nobody can reach it any more. `Dense` may be shared and sent.
unsafe impl Sync for Body {}
// SAFETY: as above.
unsafe impl Send for Body {}

/// The former bodies that may still be looked at.
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
            pins: AtomicU32::new(0),
            changes: AtomicPtr::new(ptr::null_mut()),
            first: UnsafeCell::new(ManuallyDrop::new(dense)),
        }
    }

    /// Look at the body until the pin is dropped.
    #[inline(always)]
    pub(crate) fn pin(&self) -> Pinned<'_> {
        // Sequentially consistent, as are the accesses of `replace`: either this sees the new body, or `replace` sees
        // the pin.
        self.pins.fetch_add(1, Ordering::SeqCst);
        // SAFETY: a body that is in force after the pin is not dropped before the unpin.
        Pinned { body: self, dense: unsafe { self.in_force().as_ref() } }
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

    /// Put another body in force, made from the present one. `make` must not use the tensor.
    pub(crate) fn replace(&self, make: impl FnOnce(&Dense) -> Dense) {
        let changes = self.changes_or_new();
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

    fn changes_or_new(&self) -> &Changes {
        let present = self.changes.load(Ordering::Acquire);
        if !present.is_null() {
            // SAFETY: once made, the changes live as long as the body.
            return unsafe { &*present };
        }
        let fresh = Box::into_raw(Box::new(Changes { waiting: AtomicBool::new(false), former: Mutex::default() }));
        match self.changes.compare_exchange(ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: as above.
            Ok(_) => unsafe { &*fresh },
            Err(present) => {
                // SAFETY: another thread was first, so nobody else has `fresh`; its own lives on.
                unsafe {
                    drop(Box::from_raw(fresh));
                    &*present
                }
            }
        }
    }

    #[inline(always)]
    fn unpin(&self) {
        if self.pins.fetch_sub(1, Ordering::SeqCst) == 1 && !self.changes.load(Ordering::SeqCst).is_null() {
            self.unpinned();
        }
    }

    /// The last pin is gone, of a tensor whose body was replaced at some time.
    #[cold]
    fn unpinned(&self) {
        let changes = self.changes_or_new();
        if changes.waiting.load(Ordering::SeqCst) {
            let mut former = changes.lock();
            let unreachable = self.take_unreachable(changes, &mut former);
            drop(former);
            drop(unreachable);
        }
    }

    /// What can be dropped, if nobody is looking: whoever pins from now on sees the body in force.
    fn take_unreachable(&self, changes: &Changes, former: &mut Former) -> Unreachable {
        if self.pins.load(Ordering::SeqCst) != 0 {
            return Unreachable(None, Vec::new());
        }
        changes.waiting.store(false, Ordering::SeqCst);
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
        if self.changes.load(Ordering::Relaxed).is_null() {
            // SAFETY: never replaced, so the inline body is in force; taken once, says the caller.
            return unsafe { ManuallyDrop::take(&mut *self.first.get()) };
        }
        // SAFETY: as this function's own contract.
        unsafe { self.take_changed() }
    }

    #[cold]
    unsafe fn take_changed(&self) -> Dense {
        // SAFETY: the changes were made in `changes_or_new` and are given up here; so is the body in force, which a
        // replaced body always has boxed; nobody else uses either, says the caller.
        let (changes, dense) = unsafe {
            (Box::from_raw(self.changes.load(Ordering::Acquire)), Box::from_raw(self.current.load(Ordering::Acquire)))
        };
        let unreachable = self.take_unreachable(&changes, &mut changes.lock());
        drop(unreachable);
        *dense
    }
}

impl Changes {
    fn lock(&self) -> MutexGuard<'_, Former> {
        self.former.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A look at a tensor's body: the one consistent snapshot that a call works on.
pub struct Pinned<'a> {
    body: &'a Body,
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
        self.body.unpin();
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
