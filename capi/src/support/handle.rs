//! Handles: ownership is encoded in the type, so that a wrong free does not compile.
//!
//! A handle is an opaque pointer owned by C. Each C type names the Rust type behind it and how it is turned into a
//! pointer: boxed (one owner) or shared (reference-counted; `_retain` adds an owner). Every returned handle counts as
//! live until it is freed.

use super::guard::null;
use super::name::Name;
use super::{last_error, watch};
use rushlight_base::{Result, handles};
use rushlight_tensor::dispatch::{Future, Object};
use rushlight_tensor::{Generator, Tensor};
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// A C handle type.
pub trait Handle: Sized {
    /// The Rust value that a handle owns.
    type Rust: Raw;
}

/// A Rust value that fits into one pointer.
///
/// # Safety
/// `from_raw(into_raw(x))` returns `x`, the pointer is not null, and it can be moved between threads.
pub unsafe trait Raw: Sized {
    /// Converts the value into a pointer that owns it.
    fn into_raw(self) -> *mut ();
    /// Takes the value back.
    ///
    /// # Safety
    /// `pointer` came from `into_raw`, and is not used afterwards (unless the result is not dropped).
    unsafe fn from_raw(pointer: *mut ()) -> Self;
}

// SAFETY: `Tensor::into_raw` and `from_raw` are inverses on the non-null pointer of the reference count, and `Tensor`
// is `Send`.
unsafe impl Raw for Tensor {
    fn into_raw(self) -> *mut () {
        Tensor::into_raw(self).cast_mut().cast()
    }
    unsafe fn from_raw(pointer: *mut ()) -> Tensor {
        // SAFETY: the caller guarantees that `pointer` came from `into_raw` of a `Tensor`.
        unsafe { Tensor::from_raw(pointer.cast_const().cast()) }
    }
}

// SAFETY: `Generator::into_raw` and `from_raw` are inverses on the non-null pointer of the reference count, and
// `Generator` is `Send`.
unsafe impl Raw for Generator {
    fn into_raw(self) -> *mut () {
        Generator::into_raw(self).cast_mut().cast()
    }
    unsafe fn from_raw(pointer: *mut ()) -> Generator {
        // SAFETY: the caller guarantees that `pointer` came from `into_raw` of a `Generator`.
        unsafe { Generator::from_raw(pointer.cast_const().cast()) }
    }
}

// SAFETY: `Object::into_raw` and `from_raw` are inverses on the non-null pointer of the reference count, and `Object` is
// `Send`.
unsafe impl Raw for Object {
    fn into_raw(self) -> *mut () {
        Object::into_raw(self).cast_mut()
    }
    unsafe fn from_raw(pointer: *mut ()) -> Object {
        // SAFETY: the caller guarantees that `pointer` came from `into_raw` of an `Object`.
        unsafe { Object::from_raw(pointer) }
    }
}

// SAFETY: `Future::into_raw` and `from_raw` are inverses on the non-null pointer of the reference count, and `Future` is
// `Send`.
unsafe impl Raw for Future {
    fn into_raw(self) -> *mut () {
        Future::into_raw(self).cast_mut()
    }
    unsafe fn from_raw(pointer: *mut ()) -> Future {
        // SAFETY: the caller guarantees that `pointer` came from `into_raw` of a `Future`.
        unsafe { Future::from_raw(pointer) }
    }
}

// SAFETY: `Box::into_raw` and `from_raw` are inverses, a box is never null, and `Box<T>` is `Send` for `T: Send`.
unsafe impl<T: Send + Sync> Raw for Box<T> {
    fn into_raw(self) -> *mut () {
        Box::into_raw(self).cast()
    }
    unsafe fn from_raw(pointer: *mut ()) -> Box<T> {
        // SAFETY: the caller guarantees that `pointer` came from `into_raw` of a `Box<T>`.
        unsafe { Box::from_raw(pointer.cast()) }
    }
}

// SAFETY: `Arc::into_raw` and `from_raw` are inverses, the pointer is never null, and `Arc<T>` is `Send` for
// `T: Send + Sync`.
unsafe impl<T: Send + Sync> Raw for Arc<T> {
    fn into_raw(self) -> *mut () {
        Arc::into_raw(self).cast_mut().cast()
    }
    unsafe fn from_raw(pointer: *mut ()) -> Arc<T> {
        // SAFETY: the caller guarantees that `pointer` came from `into_raw` of an `Arc<T>`.
        unsafe { Arc::from_raw(pointer.cast_const().cast()) }
    }
}

/// The value of a handle that C still owns: derefs to it, and does not drop it.
pub type Borrowed<H> = ManuallyDrop<<H as Handle>::Rust>;

/// Passes ownership of `value` to C.
#[inline]
pub fn give<H: Handle>(value: H::Rust) -> *mut H {
    handles::made();
    let handle = value.into_raw().cast();
    if watch::is_on() {
        watch::made::<H>(handle);
    }
    handle
}

/// Borrows the value of a handle during a call.
///
/// # Safety
/// `handle` is NULL or a live handle of this type, and the result is not used after the call.
#[inline(always)]
pub unsafe fn borrow<H: Handle>(handle: *const H, name: impl Name) -> Result<Borrowed<H>> {
    if handle.is_null() {
        return Err(null(name));
    }
    if watch::is_on() {
        watch::check::<H>(handle, name)?;
    }
    // SAFETY: the caller guarantees a live handle of this type, which came from `give`; `ManuallyDrop` leaves the
    // ownership with C.
    Ok(ManuallyDrop::new(unsafe { H::Rust::from_raw(handle.cast_mut().cast()) }))
}

/// [`borrow`] of a handle that may be NULL, which is `None`.
///
/// # Safety
/// The contract of [`borrow`].
#[inline]
pub unsafe fn borrow_opt<H: Handle>(handle: *const H, name: impl Name) -> Result<Option<Borrowed<H>>> {
    if handle.is_null() {
        return Ok(None);
    }
    // SAFETY: `handle` is not NULL here; the caller guarantees that it is live and the result is not used after the
    // call.
    unsafe { borrow(handle, name) }.map(Some)
}

/// Takes the value of a handle back from C. `None` for NULL, and for a pointer that the watch has not registered.
///
/// # Safety
/// `handle` is NULL or a live handle of this type whose ownership C gives up.
#[inline]
pub unsafe fn take<H: Handle>(handle: *mut H) -> Option<H::Rust> {
    if handle.is_null() {
        return None;
    }
    if watch::is_on()
        && let Err(error) = watch::freed::<H>(handle)
    {
        last_error::set(error);
        return None;
    }
    handles::freed();
    // SAFETY: the caller guarantees a live handle of this type, made by `give`, and does not use it afterwards:
    // ownership returns to Rust.
    Some(unsafe { H::Rust::from_raw(handle.cast()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing;
    impl Handle for Thing {
        type Rust = Arc<String>;
    }

    #[test]
    fn a_handle_counts_until_it_is_freed_and_borrowing_does_not() {
        let value = Arc::new("text".to_owned());
        let handle = give::<Thing>(value.clone());
        // SAFETY: `handle` was made by `give` above and is live until `take`, which is called once.
        unsafe {
            assert_eq!(**borrow(handle, "thing").unwrap(), "text");
            assert_eq!(Arc::strong_count(&value), 2);
            assert!(take(handle).is_some());
            assert!(take::<Thing>(std::ptr::null_mut()).is_none());
            let error = borrow::<Thing>(std::ptr::null(), "thing").err().unwrap();
            assert_eq!(error.message(), "argument `thing` is NULL");
        }
    }
}
