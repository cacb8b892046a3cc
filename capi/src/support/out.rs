//! Outputs: a slot that is checked before the work, and filled only when the work succeeded.

use super::guard::null;
use super::handle::{self, Handle};
use crate::tensor::{rlt_scalar, rlt_tensor, rlt_tensor_list};
use rushlight_base::{Result, Scalar};
use rushlight_tensor::Tensor;
use std::ptr::NonNull;

/// Where a plain value goes.
pub struct Out<T>(NonNull<T>);

/// The slot `pointer`, which must not be NULL.
///
/// # Safety
/// `pointer` is NULL or valid for writing a `T`.
#[inline]
pub unsafe fn value<T>(pointer: *mut T, name: &str) -> Result<Out<T>> {
    NonNull::new(pointer).map(Out).ok_or_else(|| null(name))
}

impl<T> Out<T> {
    /// Fill the slot.
    #[inline]
    pub fn set(self, value: T) -> Result<()> {
        // SAFETY: whoever made the slot promised that it can be written.
        unsafe { self.0.write(value) }
        Ok(())
    }
}

/// Where a truth value goes: C sees 0 or 1.
pub struct OutBool(Out<i32>);

/// The slot of a truth value.
///
/// # Safety
/// As [`value`].
#[inline]
pub unsafe fn bool(pointer: *mut i32, name: &str) -> Result<OutBool> {
    // SAFETY: as this function's own contract.
    unsafe { value(pointer, name) }.map(OutBool)
}

impl OutBool {
    /// Fill the slot.
    #[inline]
    pub fn set(self, value: bool) -> Result<()> {
        self.0.set(i32::from(value))
    }
}

/// Where a number goes.
pub struct OutScalar(Out<rlt_scalar>);

/// The slot of a number.
///
/// # Safety
/// As [`value`].
#[inline]
pub unsafe fn scalar(pointer: *mut rlt_scalar, name: &str) -> Result<OutScalar> {
    // SAFETY: as this function's own contract.
    unsafe { value(pointer, name) }.map(OutScalar)
}

impl OutScalar {
    /// Fill the slot.
    pub fn set(self, value: Scalar) -> Result<()> {
        self.0.set(rlt_scalar::from(value))
    }
}

/// Where a handle goes.
pub struct OutHandle<H>(Out<*mut H>);

/// The slot of a handle.
///
/// # Safety
/// As [`value`].
#[inline]
pub unsafe fn handle<H: Handle>(pointer: *mut *mut H, name: &str) -> Result<OutHandle<H>> {
    // SAFETY: as this function's own contract.
    unsafe { value(pointer, name) }.map(OutHandle)
}

impl<H: Handle> OutHandle<H> {
    /// Hand `value` to C.
    #[inline(never)]
    pub fn give(self, value: H::Rust) -> Result<()> {
        self.0.set(handle::give(value))
    }

    /// Hand `value` to C, or NULL.
    #[inline]
    pub fn give_opt(self, value: Option<H::Rust>) -> Result<()> {
        self.0.set(value.map_or(std::ptr::null_mut(), handle::give))
    }
}

/// The slot of a tensor.
///
/// # Safety
/// As [`value`].
#[inline]
pub unsafe fn tensor(pointer: *mut *mut rlt_tensor, name: &str) -> Result<OutHandle<rlt_tensor>> {
    // SAFETY: as this function's own contract.
    unsafe { handle(pointer, name) }
}

/// Where a list of tensors goes.
pub struct OutList(OutHandle<rlt_tensor_list>);

/// The slot of a list of tensors.
///
/// # Safety
/// As [`value`].
#[inline]
pub unsafe fn tensor_list(pointer: *mut *mut rlt_tensor_list, name: &str) -> Result<OutList> {
    // SAFETY: as this function's own contract.
    unsafe { handle(pointer, name) }.map(OutList)
}

impl OutList {
    /// Hand the tensors to C.
    pub fn give(self, tensors: Vec<Tensor>) -> Result<()> {
        self.0.give(Box::new(tensors))
    }
}
