//! Outputs: slots that are checked before the work, and written only on success.

use super::guard::null;
use super::handle::{self, Handle};
use super::name::Name;
use crate::tensor::{rlt_scalar, rlt_tensor, rlt_tensor_list};
use rushlight_base::{Result, Scalar};
use rushlight_tensor::Tensor;
use std::ptr::NonNull;

/// Slot of a plain value.
pub struct Out<T>(NonNull<T>);

/// Checks the slot `pointer`, which must not be NULL.
///
/// # Safety
/// `pointer` is NULL or valid for writing a `T`.
#[inline]
pub unsafe fn value<T>(pointer: *mut T, name: impl Name) -> Result<Out<T>> {
    NonNull::new(pointer).map(Out).ok_or_else(|| null(name))
}

impl<T> Out<T> {
    /// Writes the slot.
    #[inline]
    pub fn set(self, value: T) -> Result<()> {
        // SAFETY: `self` was made by `value`, whose caller guarantees that a non-NULL pointer is writable for a `T`
        // during the call.
        unsafe { self.0.write(value) }
        Ok(())
    }
}

/// Slot of a boolean: C sees 0 or 1.
pub struct OutBool(Out<i32>);

/// Checks the slot of a boolean.
///
/// # Safety
/// The contract of [`value`].
#[inline]
pub unsafe fn bool(pointer: *mut i32, name: impl Name) -> Result<OutBool> {
    // SAFETY: the caller guarantees that `pointer` is NULL or valid for writing.
    unsafe { value(pointer, name) }.map(OutBool)
}

impl OutBool {
    /// Writes the slot.
    #[inline]
    pub fn set(self, value: bool) -> Result<()> {
        self.0.set(i32::from(value))
    }
}

/// Slot of a scalar.
pub struct OutScalar(Out<rlt_scalar>);

/// Checks the slot of a scalar.
///
/// # Safety
/// The contract of [`value`].
#[inline]
pub unsafe fn scalar(pointer: *mut rlt_scalar, name: impl Name) -> Result<OutScalar> {
    // SAFETY: the caller guarantees that `pointer` is NULL or valid for writing.
    unsafe { value(pointer, name) }.map(OutScalar)
}

impl OutScalar {
    /// Writes the slot.
    pub fn set(self, value: Scalar) -> Result<()> {
        self.0.set(rlt_scalar::from(value))
    }
}

/// Slot of a handle.
pub struct OutHandle<H>(Out<*mut H>);

/// Checks the slot of a handle.
///
/// # Safety
/// The contract of [`value`].
#[inline]
pub unsafe fn handle<H: Handle>(pointer: *mut *mut H, name: impl Name) -> Result<OutHandle<H>> {
    // SAFETY: the caller guarantees that `pointer` is NULL or valid for writing.
    unsafe { value(pointer, name) }.map(OutHandle)
}

impl<H: Handle> OutHandle<H> {
    /// Passes ownership of `value` to C.
    #[inline(never)]
    pub fn give(self, value: H::Rust) -> Result<()> {
        self.0.set(handle::give(value))
    }

    /// Passes ownership of `value` to C, or NULL.
    #[inline]
    pub fn give_opt(self, value: Option<H::Rust>) -> Result<()> {
        self.0.set(value.map_or(std::ptr::null_mut(), handle::give))
    }
}

/// Checks the slot of a tensor.
///
/// # Safety
/// The contract of [`value`].
#[inline]
pub unsafe fn tensor(pointer: *mut *mut rlt_tensor, name: impl Name) -> Result<OutHandle<rlt_tensor>> {
    // SAFETY: the caller guarantees that `pointer` is NULL or valid for writing.
    unsafe { handle(pointer, name) }
}

/// Slot of a list of tensors.
pub struct OutList(OutHandle<rlt_tensor_list>);

/// Checks the slot of a list of tensors.
///
/// # Safety
/// The contract of [`value`].
#[inline]
pub unsafe fn tensor_list(pointer: *mut *mut rlt_tensor_list, name: impl Name) -> Result<OutList> {
    // SAFETY: the caller guarantees that `pointer` is NULL or valid for writing.
    unsafe { handle(pointer, name) }.map(OutList)
}

impl OutList {
    /// Passes ownership of the tensors to C.
    pub fn give(self, tensors: Vec<Tensor>) -> Result<()> {
        self.0.give(Box::new(tensors))
    }
}
