//! What a tensor is, and how long: references, weak references, and the memory they count.
//!
//! A small tensor lives in the block of the bytes it was made with (its home), so that an operator on small tensors
//! allocates once. The counts are our own because `Arc` can do neither that nor free a tensor that has one reference
//! left without locked instructions.

use crate::autograd::{AutogradMeta, History};
use crate::body::{Body, Pinned};
use crate::dense::{Dense, Spec};
use crate::keys::KeySet;
use crate::once::OnceBox;
use rushlight_base::{DeviceType, Home, Result, Storage};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

/// A reference to a tensor. Clones refer to the same tensor.
#[repr(transparent)]
pub struct Tensor(NonNull<TensorImpl>);

/// What a tensor is. Opaque outside of this crate: the C handle `rlt_tensor` points to it.
pub struct TensorImpl {
    /// References. At 0 the contents are dropped.
    strong: AtomicUsize,
    /// Weak references, and 1 for all the others together. At 0 the room is given up.
    weak: AtomicUsize,
    /// The block it lives in; `None`: one of its own.
    home: Option<Home>,
    pub(crate) keys: AtomicU64,
    pub(crate) body: Body,
    /// The tensor's own version counter, where it does not share its storage's (after `set_data`).
    pub(crate) version: OnceBox<Arc<AtomicU32>>,
    pub(crate) history: History,
    pub(crate) autograd: OnceBox<AutogradMeta>,
}

// SAFETY: everything in a tensor may be used from any thread (body, cells and counts are atomic or locked), and the last
// reference may be given up on any.
unsafe impl Send for Tensor {}
// SAFETY: as above.
unsafe impl Sync for Tensor {}

/// Elements up to this many bytes share a block with their tensor. Larger ones do not notice an allocation more, and
/// would keep memory if the tensor is given other data.
const SMALL: usize = 1024;

impl Tensor {
    /// A tensor over a body.
    #[inline]
    pub fn from_dense(dense: Dense) -> Tensor {
        let layout = Layout::new::<TensorImpl>();
        // SAFETY: the layout is not empty.
        let room = NonNull::new(unsafe { alloc(layout) }.cast()).unwrap_or_else(|| handle_alloc_error(layout));
        // SAFETY: the room was just allocated for a tensor.
        unsafe { Tensor::write(room, None, dense) }
    }

    /// # Safety
    /// `room` has place for a tensor, and belongs to nobody else; it is in the block of `home`, if there is one.
    #[inline(always)]
    unsafe fn write(room: NonNull<TensorImpl>, home: Option<Home>, dense: Dense) -> Tensor {
        let keys = AtomicU64::new(KeySet::of(&dense).bits());
        // SAFETY: as this function's own contract.
        unsafe {
            room.write(TensorImpl {
                strong: AtomicUsize::new(1),
                weak: AtomicUsize::new(1),
                home,
                keys,
                body: Body::new(dense),
                version: OnceBox::new(),
                history: History::none(),
                autograd: OnceBox::new(),
            });
        }
        Tensor(room)
    }

    #[inline(always)]
    pub(crate) fn imp(&self) -> &TensorImpl {
        // SAFETY: a reference keeps the tensor alive.
        unsafe { self.0.as_ref() }
    }

    /// Is this the same tensor (not merely an equal one)?
    pub fn is(&self, other: &Tensor) -> bool {
        self.0 == other.0
    }

    /// How many references to the tensor exist.
    pub fn use_count(&self) -> usize {
        self.imp().strong.load(Ordering::Relaxed)
    }

    /// A reference that does not keep the tensor alive.
    pub fn downgrade(&self) -> WeakTensor {
        self.imp().weak.fetch_add(1, Ordering::Relaxed);
        WeakTensor(self.0)
    }

    /// Hand the reference out as a C handle. [`Tensor::from_raw`] takes it back.
    #[inline]
    pub fn into_raw(self) -> *const TensorImpl {
        std::mem::ManuallyDrop::new(self).0.as_ptr()
    }

    /// Take back a reference that [`Tensor::into_raw`] handed out.
    ///
    /// # Safety
    /// `raw` came from `into_raw` and was not taken back before.
    #[inline]
    pub unsafe fn from_raw(raw: *const TensorImpl) -> Tensor {
        // SAFETY: what `into_raw` handed out is not null.
        Tensor(unsafe { NonNull::new_unchecked(raw.cast_mut()) })
    }
}

/// A tensor to which there is no other reference, for plain access.
pub(crate) struct Exclusive<'a>(&'a mut TensorImpl);

impl Exclusive<'_> {
    #[inline(always)]
    pub(crate) fn imp(&mut self) -> &mut TensorImpl {
        self.0
    }

    #[inline(always)]
    pub(crate) fn body(&self) -> &Dense {
        // SAFETY: the body was never replaced, and nobody can replace it while this borrows the only reference.
        unsafe { self.0.body.unshared() }
    }
}

impl Tensor {
    /// Plain access to a tensor that nobody else has, and whose body is still the first.
    #[inline(always)]
    pub(crate) fn exclusive(&mut self) -> Option<Exclusive<'_>> {
        if !self.is_alone() || !self.imp().body.was_never_replaced() {
            return None;
        }
        // SAFETY: this is the only reference of any kind, and it is borrowed exclusively.
        Some(Exclusive(unsafe { self.0.as_mut() }))
    }

    /// Is this the only reference, and is there no weak one? Then nobody else can make one. The order of the two looks
    /// matters: a weak reference made by a reference that is gone by now is seen.
    #[inline(always)]
    fn is_alone(&self) -> bool {
        let imp = self.imp();
        imp.strong.load(Ordering::Acquire) == 1 && imp.weak.load(Ordering::Acquire) == 1
    }
}

impl Clone for Tensor {
    #[inline]
    fn clone(&self) -> Tensor {
        // Made from a reference that is there: no order is needed. The count cannot overflow: each reference takes
        // memory of its own.
        self.imp().strong.fetch_add(1, Ordering::Relaxed);
        Tensor(self.0)
    }
}

impl Drop for Tensor {
    #[inline]
    fn drop(&mut self) {
        if self.is_alone() {
            // SAFETY: this is the last reference of any kind.
            unsafe {
                let storage = TensorImpl::drop_contents(self.0);
                TensorImpl::give_up_room(self.0, Some(storage));
            }
        } else {
            self.count_down();
        }
    }
}

impl Tensor {
    #[cold]
    fn count_down(&mut self) {
        if self.imp().strong.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: the last reference is gone; the weak ones only look at the counts.
            drop(unsafe { TensorImpl::drop_contents(self.0) });
            TensorImpl::release(self.0);
        }
    }
}

impl TensorImpl {
    /// Drops everything but the counts; the storage is given back.
    ///
    /// # Safety
    /// No reference is left; the contents are not used again.
    #[inline(always)]
    unsafe fn drop_contents(imp: NonNull<TensorImpl>) -> Storage {
        let imp = imp.as_ptr();
        // SAFETY: as this function's own contract; each field is given up once, here.
        unsafe {
            (&raw mut (*imp).history).drop_in_place();
            (&raw mut (*imp).autograd).drop_in_place();
            (&raw mut (*imp).version).drop_in_place();
            let Dense { storage, .. } = (*imp).body.take();
            storage
        }
    }

    /// Give up a weak reference, or the share of the references.
    fn release(imp: NonNull<TensorImpl>) {
        // SAFETY: the share that is given up keeps the counts alive until here.
        if unsafe { imp.as_ref() }.weak.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: nobody is left.
            unsafe { TensorImpl::give_up_room(imp, None) };
        }
    }

    /// # Safety
    /// The contents were dropped, and nobody is left who looks at the counts.
    #[inline(always)]
    unsafe fn give_up_room(imp: NonNull<TensorImpl>, storage: Option<Storage>) {
        // SAFETY: the counts' room is alive until it is given up, once, here.
        unsafe {
            match imp.as_ref().home {
                Some(home) => home.leave(storage),
                None => {
                    dealloc(imp.as_ptr().cast(), Layout::new::<TensorImpl>());
                    drop(storage);
                }
            }
        }
    }
}

/// A reference to a tensor that does not keep it alive.
pub struct WeakTensor(NonNull<TensorImpl>);

// SAFETY: as for `Tensor`.
unsafe impl Send for WeakTensor {}
// SAFETY: as above.
unsafe impl Sync for WeakTensor {}

impl WeakTensor {
    /// The tensor, if somebody still has it.
    pub fn upgrade(&self) -> Option<Tensor> {
        // SAFETY: a weak reference keeps the counts alive.
        let strong = &unsafe { self.0.as_ref() }.strong;
        let one_more = |count: usize| if count == 0 { None } else { Some(count + 1) };
        strong.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).ok().map(|_| Tensor(self.0))
    }
}

impl Clone for WeakTensor {
    fn clone(&self) -> WeakTensor {
        // SAFETY: a weak reference keeps the counts alive.
        unsafe { self.0.as_ref() }.weak.fetch_add(1, Ordering::Relaxed);
        WeakTensor(self.0)
    }
}

impl Drop for WeakTensor {
    fn drop(&mut self) {
        TensorImpl::release(self.0);
    }
}

/// The result of an operator before anybody else has it: a kernel writes into it, then it becomes a tensor.
pub struct Fresh(Tensor);

impl Deref for Fresh {
    type Target = Dense;
    #[inline(always)]
    fn deref(&self) -> &Dense {
        // SAFETY: the tensor was just made, and only this value refers to it.
        unsafe { self.0.imp().body.unshared() }
    }
}

impl Fresh {
    /// The tensor.
    #[inline(always)]
    pub fn into_tensor(self) -> Tensor {
        self.0
    }
}

impl Spec {
    /// A tensor for the result of an operator, its elements not initialised.
    #[inline(never)]
    pub fn make(self) -> Result<Fresh> {
        self.make_inline()
    }

    /// [`Spec::make`] for the way of nearly all calls.
    #[inline(always)]
    pub(crate) fn make_inline(self) -> Result<Fresh> {
        let (elements, bytes) = self.extent()?;
        if bytes <= SMALL
            && self.strides.is_none()
            && self.device.kind == DeviceType::Cpu
            && let Some((storage, home, room)) = Storage::allocate_with_room(bytes)?
        {
            let Spec { sizes, dtype, device, .. } = self;
            let dense = Dense::shapeless(storage, elements, dtype, device);
            // SAFETY: the room is for this type, and was just made.
            let mut tensor = unsafe { Tensor::write(room, Some(home), dense) };
            // SAFETY: nobody else has seen the tensor.
            unsafe { tensor.0.as_mut() }.body.unshared_mut().set_shape(sizes);
            tensor.mark_if_inference();
            return Ok(Fresh(tensor));
        }
        self.make_large(elements, bytes)
    }

    #[inline(never)]
    fn make_large(self, elements: i64, bytes: usize) -> Result<Fresh> {
        let storage = self.storage(bytes)?;
        let tensor = Tensor::from_dense(self.over(storage, elements));
        tensor.mark_if_inference();
        Ok(Fresh(tensor))
    }
}

impl Tensor {
    /// The one consistent snapshot that a call works on.
    #[inline(always)]
    pub fn dense(&self) -> Result<Pinned<'_>> {
        Ok(self.imp().body.pin())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::{DType, Device, Scalar};

    #[test]
    fn raw_handles_keep_the_tensor_alive() {
        let tensor = Tensor::from_slice(&[7u8], &[]).unwrap();
        let raw = tensor.clone().into_raw();
        assert_eq!(tensor.use_count(), 2);
        // SAFETY: `raw` was handed out above and is taken back once, below.
        unsafe {
            assert_eq!(Tensor::borrow_raw(raw).item().unwrap(), Scalar::Int(7));
            drop(Tensor::from_raw(raw));
        }
        assert_eq!(tensor.use_count(), 1);
    }

    #[test]
    fn weak_references_outlive_the_tensor_and_do_not_keep_it() {
        for elements in [4, 4096] {
            let tensor = Spec::new(&[elements], DType::F32, Device::CPU).make().unwrap().into_tensor();
            let weak = tensor.downgrade();
            let other = weak.clone();
            drop(weak);
            assert!(other.upgrade().is_some_and(|upgraded| upgraded.is(&tensor)));
            let storage = tensor.storage();
            drop(tensor);
            assert!(other.upgrade().is_none());
            assert_eq!(storage.use_count(), 1);
        }
    }

    #[test]
    fn a_view_keeps_the_bytes_of_a_small_tensor() {
        let tensor = Tensor::from_slice(&[1i32, 2, 3], &[3]).unwrap();
        let alias = tensor.alias();
        drop(tensor);
        assert_eq!(alias.to_vec::<i32>().unwrap(), [1, 2, 3]);
    }

    #[test]
    fn references_made_and_dropped_on_many_threads() {
        let tensor = Tensor::from_slice(&[1.0f32; 4], &[4]).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                let (mine, weak) = (tensor.clone(), tensor.downgrade());
                scope.spawn(move || {
                    for _ in 0..10_000 {
                        drop(mine.clone());
                        assert!(weak.clone().upgrade().is_some());
                    }
                });
            }
        });
        assert_eq!(tensor.use_count(), 1);
    }
}
