//! Handles: what owns what, written in the type, so that a wrong free does not compile.
//!
//! A handle is an opaque pointer that C owns. Each C type names the Rust type behind it and how it is turned
//! into a pointer: boxed (one owner) or shared (reference-counted, `_retain` gives another owner). Every
//! handle that is handed out counts as live until it is freed.

use super::guard::null;
use super::{last_error, watch};
use rushlight_base::{Result, handles};
use rushlight_tensor::{Generator, Tensor};
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// A C handle type.
pub trait Handle: Sized {
    /// The Rust value that one handle owns.
    type Rust: Raw;
}

/// A Rust value that fits in one pointer.
///
/// # Safety
/// `from_raw(into_raw(x))` gives `x` back, the pointer is not null, and it can be moved between threads.
pub unsafe trait Raw: Sized {
    /// Turn the value into a pointer that owns it.
    fn into_raw(self) -> *mut ();
    /// Take the value back.
    ///
    /// # Safety
    /// `pointer` came from `into_raw`, and is used no more afterwards (unless the result is not dropped).
    unsafe fn from_raw(pointer: *mut ()) -> Self;
}

// SAFETY: Tensor's own raw form is the pointer of its reference count.
unsafe impl Raw for Tensor {
    fn into_raw(self) -> *mut () {
        Tensor::into_raw(self).cast_mut().cast()
    }
    unsafe fn from_raw(pointer: *mut ()) -> Tensor {
        // SAFETY: as this function's own contract.
        unsafe { Tensor::from_raw(pointer.cast_const().cast()) }
    }
}

// SAFETY: Generator's own raw form is the pointer of its reference count.
unsafe impl Raw for Generator {
    fn into_raw(self) -> *mut () {
        Generator::into_raw(self).cast_mut().cast()
    }
    unsafe fn from_raw(pointer: *mut ()) -> Generator {
        // SAFETY: as this function's own contract.
        unsafe { Generator::from_raw(pointer.cast_const().cast()) }
    }
}

// SAFETY: Box's own raw form.
unsafe impl<T: Send + Sync> Raw for Box<T> {
    fn into_raw(self) -> *mut () {
        Box::into_raw(self).cast()
    }
    unsafe fn from_raw(pointer: *mut ()) -> Box<T> {
        // SAFETY: as this function's own contract.
        unsafe { Box::from_raw(pointer.cast()) }
    }
}

// SAFETY: Arc's own raw form.
unsafe impl<T: Send + Sync> Raw for Arc<T> {
    fn into_raw(self) -> *mut () {
        Arc::into_raw(self).cast_mut().cast()
    }
    unsafe fn from_raw(pointer: *mut ()) -> Arc<T> {
        // SAFETY: as this function's own contract.
        unsafe { Arc::from_raw(pointer.cast_const().cast()) }
    }
}

/// The value of a handle that C still owns: derefs to it, and does not drop it.
pub type Borrowed<H> = ManuallyDrop<<H as Handle>::Rust>;

/// Hand `value` to C.
#[inline]
pub fn give<H: Handle>(value: H::Rust) -> *mut H {
    handles::made();
    let handle = value.into_raw().cast();
    if watch::is_on() {
        watch::made::<H>(handle);
    }
    handle
}

/// Look at the value of a handle during a call.
///
/// # Safety
/// `handle` is NULL or a live handle of this type, and the result is not used after the call.
#[inline]
pub unsafe fn borrow<H: Handle>(handle: *const H, name: &str) -> Result<Borrowed<H>> {
    if handle.is_null() {
        return Err(null(name));
    }
    if watch::is_on() {
        watch::check::<H>(handle, name)?;
    }
    // SAFETY: the handle is live, and ManuallyDrop leaves its ownership with C.
    Ok(ManuallyDrop::new(unsafe { H::Rust::from_raw(handle.cast_mut().cast()) }))
}

/// [`borrow`] of a handle that may be NULL, which is `None`.
///
/// # Safety
/// As [`borrow`].
#[inline]
pub unsafe fn borrow_opt<H: Handle>(handle: *const H) -> Option<Borrowed<H>> {
    // SAFETY: as this function's own contract.
    unsafe { borrow(handle, "") }.ok()
}

/// Take the value of a handle back from C. `None` for NULL, and for what the watch says is no handle.
///
/// # Safety
/// `handle` is NULL or a live handle of this type that C gives up.
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
    // SAFETY: as this function's own contract.
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
        // SAFETY: the handle is live until `take`.
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
