//! Reference counting of tensors: references, weak references, and the memory they own.
//!
//! A small tensor is stored in the block of its bytes (its home), so that an operator on small tensors allocates once.
//! The counts are our own because `Arc` supports neither that nor freeing a tensor with one reference left without an
//! atomic read-modify-write.

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

/// The contents of a tensor. Opaque outside of this crate: the C handle `rlt_tensor` points to it.
pub struct TensorImpl {
    /// References. At 0 the contents are dropped.
    strong: AtomicUsize,
    /// Weak references, and 1 for all strong ones together. At 0 the memory is freed.
    weak: AtomicUsize,
    /// The block that contains it; `None`: its own.
    home: Option<Home>,
    pub(crate) keys: AtomicU64,
    pub(crate) body: Body,
    /// The tensor's own version counter, if it does not use its storage's (after `set_data`).
    pub(crate) version: OnceBox<Arc<AtomicU32>>,
    pub(crate) history: History,
    pub(crate) autograd: OnceBox<AutogradMeta>,
}

// SAFETY: body, cells and counts are atomic or locked, so any thread may use a tensor, and drop its last reference.
unsafe impl Send for Tensor {}
// SAFETY: a shared reference only gives access to atomic, locked or pinned data; plain access requires an exclusive
// one.
unsafe impl Sync for Tensor {}

/// Elements up to this many bytes share a block with their tensor. For larger ones a second allocation is negligible,
/// and they would keep memory alive if the tensor gets other data.
const SMALL: usize = 1024;

impl Tensor {
    /// A tensor over a body.
    #[inline]
    pub fn from_dense(dense: Dense) -> Tensor {
        let layout = Layout::new::<TensorImpl>();
        // SAFETY: the layout has a nonzero size.
        let space = NonNull::new(unsafe { alloc(layout) }.cast()).unwrap_or_else(|| handle_alloc_error(layout));
        // SAFETY: `space` was just allocated with the layout of a tensor, and has no other owner.
        unsafe { Tensor::write(space, None, dense) }
    }

    /// # Safety
    /// `space` can hold a tensor and has no other owner; it is in the block of `home`, if that is given.
    #[inline(always)]
    unsafe fn write(space: NonNull<TensorImpl>, home: Option<Home>, dense: Dense) -> Tensor {
        let keys = AtomicU64::new(KeySet::of(&dense).bits());
        // SAFETY: the caller guarantees that `space` is large enough, aligned and has no other owner.
        unsafe {
            space.write(TensorImpl {
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
        Tensor(space)
    }

    #[inline(always)]
    pub(crate) fn imp(&self) -> &TensorImpl {
        // SAFETY: `self` is a reference, which keeps the tensor alive.
        unsafe { self.0.as_ref() }
    }

    /// The address of the tensor, which is its identity as long as it lives.
    pub fn address(&self) -> usize {
        std::ptr::from_ref(self.imp()).addr()
    }

    /// Whether this is the same tensor (not merely an equal one).
    pub fn is(&self, other: &Tensor) -> bool {
        self.0 == other.0
    }

    /// Number of references to the tensor.
    pub fn use_count(&self) -> usize {
        self.imp().strong.load(Ordering::Relaxed)
    }

    /// Number of weak references to the tensor, and 1 for all others together.
    pub fn weak_use_count(&self) -> usize {
        self.imp().weak.load(Ordering::Relaxed)
    }

    /// A reference that does not keep the tensor alive.
    pub fn downgrade(&self) -> WeakTensor {
        self.imp().weak.fetch_add(1, Ordering::Relaxed);
        WeakTensor(self.0)
    }

    /// Converts the reference to a C handle. [`Tensor::from_raw`] takes it back.
    #[inline]
    pub fn into_raw(self) -> *const TensorImpl {
        std::mem::ManuallyDrop::new(self).0.as_ptr()
    }

    /// Takes back a reference from [`Tensor::into_raw`].
    ///
    /// # Safety
    /// `raw` came from `into_raw` and was not taken back before.
    #[inline]
    pub unsafe fn from_raw(raw: *const TensorImpl) -> Tensor {
        // SAFETY: the caller guarantees that `raw` came from `into_raw`, which never returns null.
        Tensor(unsafe { NonNull::new_unchecked(raw.cast_mut()) })
    }
}

/// Exclusive access to a tensor that has one reference.
pub(crate) struct Exclusive<'a>(&'a mut TensorImpl);

impl Exclusive<'_> {
    #[inline(always)]
    pub(crate) fn imp(&mut self) -> &mut TensorImpl {
        self.0
    }

    #[inline(always)]
    pub(crate) fn body(&self) -> &Dense {
        // SAFETY: the body was never replaced (`exclusive` checked it), and no other thread can replace it while `self`
        // borrows the only reference.
        unsafe { self.0.body.unshared() }
    }
}

impl Tensor {
    /// Exclusive access to a tensor that has one reference and whose body was never replaced; otherwise `None`.
    #[inline(always)]
    pub(crate) fn exclusive(&mut self) -> Option<Exclusive<'_>> {
        if !self.is_alone() || !self.imp().body.was_never_replaced() {
            return None;
        }
        // SAFETY: this is the only reference of any kind, and it is borrowed exclusively.
        Some(Exclusive(unsafe { self.0.as_mut() }))
    }

    /// Whether this is the only reference, and there is no weak one; then no other thread can create one. The order of
    /// the two loads matters: a weak reference created by a reference that is dropped by now is seen.
    #[inline(always)]
    fn is_alone(&self) -> bool {
        let imp = self.imp();
        imp.strong.load(Ordering::Acquire) == 1 && imp.weak.load(Ordering::Acquire) == 1
    }
}

impl Clone for Tensor {
    #[inline]
    fn clone(&self) -> Tensor {
        // Created from an existing reference: no ordering is needed. The count cannot overflow: each reference occupies
        // memory.
        self.imp().strong.fetch_add(1, Ordering::Relaxed);
        Tensor(self.0)
    }
}

impl Drop for Tensor {
    #[inline]
    fn drop(&mut self) {
        if self.is_alone() {
            // SAFETY: this is the last reference of any kind, so nothing else accesses the contents.
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
            // SAFETY: the last strong reference is gone, so nothing accesses the contents; weak ones only read the
            // counts.
            drop(unsafe { TensorImpl::drop_contents(self.0) });
            TensorImpl::release(self.0);
        }
    }
}

impl TensorImpl {
    /// Drops everything but the counts; returns the storage.
    ///
    /// # Safety
    /// No reference is left; the contents are not used again.
    #[inline(always)]
    unsafe fn drop_contents(imp: NonNull<TensorImpl>) -> Storage {
        let imp = imp.as_ptr();
        // SAFETY: the caller guarantees that no reference is left, and each field is dropped once, here.
        unsafe {
            (&raw mut (*imp).history).drop_in_place();
            (&raw mut (*imp).autograd).drop_in_place();
            (&raw mut (*imp).version).drop_in_place();
            let Dense { storage, .. } = (*imp).body.take();
            storage
        }
    }

    /// Drops a weak reference, or the one of the strong references.
    fn release(imp: NonNull<TensorImpl>) {
        // SAFETY: the reference that is dropped here keeps the counts alive until the subtraction.
        if unsafe { imp.as_ref() }.weak.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: the count reached zero, so no reference of any kind is left.
            unsafe { TensorImpl::give_up_room(imp, None) };
        }
    }

    /// # Safety
    /// The contents were dropped, and no reference is left that reads the counts.
    #[inline(always)]
    unsafe fn give_up_room(imp: NonNull<TensorImpl>, storage: Option<Storage>) {
        // SAFETY: the caller guarantees that no reference is left; the memory of the counts is freed once, here.
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

// SAFETY: a weak reference accesses only the counts, which are atomic, and may free the memory on any thread.
unsafe impl Send for WeakTensor {}
// SAFETY: a shared weak reference accesses only the counts, which are atomic.
unsafe impl Sync for WeakTensor {}

impl WeakTensor {
    /// The tensor, if it still has an owner.
    pub fn upgrade(&self) -> Option<Tensor> {
        // SAFETY: a weak reference keeps the memory of the counts alive.
        let strong = &unsafe { self.0.as_ref() }.strong;
        let one_more = |count: usize| if count == 0 { None } else { Some(count + 1) };
        strong.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).ok().map(|_| Tensor(self.0))
    }

    /// Number of references to the tensor that keep it alive.
    pub fn use_count(&self) -> usize {
        // SAFETY: a weak reference keeps the memory of the counts alive.
        unsafe { self.0.as_ref() }.strong.load(Ordering::Relaxed)
    }

    /// Number of weak references, and 1 for all others together while there are any.
    pub fn weak_use_count(&self) -> usize {
        // SAFETY: a weak reference keeps the memory of the counts alive.
        unsafe { self.0.as_ref() }.weak.load(Ordering::Relaxed)
    }
}

impl Clone for WeakTensor {
    fn clone(&self) -> WeakTensor {
        // SAFETY: a weak reference keeps the memory of the counts alive.
        unsafe { self.0.as_ref() }.weak.fetch_add(1, Ordering::Relaxed);
        WeakTensor(self.0)
    }
}

impl Drop for WeakTensor {
    fn drop(&mut self) {
        TensorImpl::release(self.0);
    }
}

/// The result of an operator before it becomes a tensor: a kernel writes into it.
pub struct Fresh(Tensor);

impl Deref for Fresh {
    type Target = Dense;
    #[inline(always)]
    fn deref(&self) -> &Dense {
        // SAFETY: the tensor was just created, and only this value refers to it.
        unsafe { self.0.imp().body.unshared() }
    }
}

impl Fresh {
    /// Converts the result to a tensor.
    #[inline(always)]
    pub fn into_tensor(self) -> Tensor {
        self.0
    }
}

impl Spec {
    /// Allocates the result of an operator; its elements are uninitialized.
    #[inline(never)]
    pub fn make(self) -> Result<Fresh> {
        self.make_inline()
    }

    /// [`Spec::make`] for the most common case.
    #[inline(always)]
    pub(crate) fn make_inline(self) -> Result<Fresh> {
        let (elements, bytes) = self.extent()?;
        if bytes <= SMALL
            && self.strides.is_none()
            && self.device.kind == DeviceType::Cpu
            && let Some((storage, home, space)) = Storage::allocate_with_space(bytes)?
        {
            let Spec { sizes, dtype, device, .. } = self;
            let dense = Dense::shapeless(storage, elements, dtype, device);
            // SAFETY: `space` was just allocated for this type in the block of `home`.
            let mut tensor = unsafe { Tensor::write(space, Some(home), dense) };
            // SAFETY: the tensor was just created, and no other reference to it exists.
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
    /// The one consistent snapshot that a call works on. An error for a sparse tensor, which has no elements in
    /// memory, and for a quantized one, whose elements are integers with a quantizer.
    #[inline(always)]
    pub fn dense(&self) -> Result<Pinned<'_>> {
        let body = self.imp().body.pin();
        if let Some(components) = &body.components {
            return Err(crate::components::no_memory(components));
        }
        Ok(body)
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
        // SAFETY: `raw` came from `into_raw` above and is taken back once, below.
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
    fn references_are_created_and_dropped_on_many_threads() {
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
