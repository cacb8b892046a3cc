//! Arguments: conversion from C types to the types of the typed operators, one function per kind of argument.
//!
//! `name` is the argument's name in the schema or in the header; errors carry it. A `_opt` function takes a pointer
//! that may be NULL, which is `None`.

use super::guard::null;
use super::handle::{self, Borrowed, Handle};
use super::name::Name;
use super::sized;
use crate::generator::rlt_generator;
use crate::tensor::{rlt_device, rlt_scalar, rlt_tensor, rlt_tensor_options};
use rushlight_base::{Array, DType, Device, Layout, MemoryFormat, Result, Scalar, SmallVec, bail, ensure, err};
use rushlight_tensor::{Options, Tensor};
use std::ffi::{CStr, c_char};

/// A tensor owned by C: derefs to [`Tensor`].
pub type TensorRef = Borrowed<rlt_tensor>;
/// A generator owned by C.
pub type GeneratorRef = Borrowed<rlt_generator>;

/// A handle's value.
///
/// # Safety
/// `handle` is NULL or live.
#[inline]
pub unsafe fn handle<H: Handle>(handle: *const H, name: impl Name) -> Result<Borrowed<H>> {
    // SAFETY: the caller guarantees that `handle` is NULL or live, as `borrow` requires.
    unsafe { handle::borrow(handle, name) }
}

/// `Tensor`
///
/// # Safety
/// `handle` is NULL or live.
#[inline(always)]
pub unsafe fn tensor(handle: *const rlt_tensor, name: impl Name) -> Result<TensorRef> {
    // SAFETY: the caller guarantees that `handle` is NULL or live.
    unsafe { handle::borrow(handle, name) }
}

/// `Tensor?`
///
/// # Safety
/// `handle` is NULL or live.
#[inline]
pub unsafe fn tensor_opt(handle: *const rlt_tensor, name: impl Name) -> Result<Option<TensorRef>> {
    // SAFETY: the caller guarantees that `handle` is NULL or live.
    unsafe { handle::borrow_opt(handle, name) }
}

/// `Tensor[]`
pub struct TensorRefs(SmallVec<[TensorRef; 8]>);

impl TensorRefs {
    /// The list in the form that operators take.
    pub fn refs(&self) -> SmallVec<[&Tensor; 8]> {
        self.0.iter().map(|tensor| &**tensor).collect()
    }

    /// The tensors themselves, each with one more reference.
    pub fn to_vec(&self) -> Vec<Tensor> {
        self.0.iter().map(|tensor| (**tensor).clone()).collect()
    }
}

/// `Tensor[]`
///
/// # Safety
/// `handles` is NULL or points to `len` handles, each NULL or live.
pub unsafe fn tensors(handles: *const *const rlt_tensor, len: i64, name: impl Name) -> Result<TensorRefs> {
    // SAFETY: the caller guarantees that `handles` is NULL or points to `len` handles, and NULL or a live handle has
    // the layout of an optional borrowed tensor.
    let handles = unsafe { slice(handles, len, name) }?;
    if let Some(index) = handles.iter().position(|handle| handle.is_null()) {
        bail!(NullPointer, "element {index} of argument `{name}` is NULL");
    }
    // SAFETY: the caller guarantees that `handles` is NULL or points to `len` handles, each NULL or live.
    list(handles, |&handle| unsafe { tensor(handle, name) }).map(TensorRefs)
}

/// `Tensor?[]`
pub struct TensorOptRefs(SmallVec<[Option<TensorRef>; 8]>);

impl TensorOptRefs {
    /// The list in the form that operators take.
    pub fn refs(&self) -> SmallVec<[Option<&Tensor>; 8]> {
        self.0.iter().map(Option::as_deref).collect()
    }

    /// The tensors themselves, each with one more reference.
    pub fn to_vec(&self) -> Vec<Option<Tensor>> {
        self.refs().into_iter().map(Option::<&Tensor>::cloned).collect()
    }
}

/// `Tensor?[]`: NULL elements are None.
///
/// # Safety
/// `handles` is NULL or points to `len` handles, each NULL or live.
pub unsafe fn tensors_opt(handles: *const *const rlt_tensor, len: i64, name: impl Name) -> Result<TensorOptRefs> {
    // SAFETY: the caller guarantees that `handles` is NULL or points to `len` handles, each NULL or live.
    unsafe { list(slice(handles, len, name)?, |&handle| tensor_opt(handle, name)).map(TensorOptRefs) }
}

/// `Scalar`
///
/// # Safety
/// `pointer` is NULL or readable.
#[inline(always)]
pub unsafe fn scalar(pointer: *const rlt_scalar, name: impl Name) -> Result<Scalar> {
    // SAFETY: the caller guarantees that `pointer` is NULL or readable.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(name))?.to_scalar(name)
}

/// `Scalar?`
///
/// # Safety
/// `pointer` is NULL or readable.
#[inline]
pub unsafe fn scalar_opt(pointer: *const rlt_scalar, name: impl Name) -> Result<Option<Scalar>> {
    // SAFETY: the caller guarantees that `pointer` is NULL or readable.
    unsafe { pointer.as_ref() }.map(|scalar| scalar.to_scalar(name)).transpose()
}

/// `int?`
///
/// # Safety
/// `pointer` is NULL or readable.
#[inline]
pub unsafe fn int_opt(pointer: *const i64) -> Option<i64> {
    // SAFETY: the caller guarantees that `pointer` is NULL or readable.
    unsafe { pointer.as_ref() }.copied()
}

/// `float?`
///
/// # Safety
/// `pointer` is NULL or readable.
#[inline]
pub unsafe fn float_opt(pointer: *const f64) -> Option<f64> {
    // SAFETY: the caller guarantees that `pointer` is NULL or readable.
    unsafe { pointer.as_ref() }.copied()
}

/// `bool`: anything but 0 is true.
#[inline]
pub fn bool(value: i32) -> bool {
    value != 0
}

/// `bool?`
///
/// # Safety
/// `pointer` is NULL or readable.
#[inline]
pub unsafe fn bool_opt(pointer: *const i32) -> Option<bool> {
    // SAFETY: the caller guarantees that `pointer` is NULL or readable.
    unsafe { pointer.as_ref() }.map(|value| *value != 0)
}

/// An array with its length. NULL is allowed if the length is 0.
///
/// # Safety
/// `pointer` is NULL or points to `len` readable elements.
#[inline]
pub unsafe fn slice<'a, T>(pointer: *const T, len: i64, name: impl Name) -> Result<&'a [T]> {
    ensure!(len >= 0, Value, "the length of argument `{name}` is negative ({len})");
    let most = isize::MAX as u64 / size_of::<T>().max(1) as u64;
    ensure!(len as u64 <= most, Value, "the length of argument `{name}` is {len}, more than memory can hold");
    match (pointer.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(null(name)),
        // SAFETY: the caller guarantees that `pointer` is NULL or points to `len` readable elements; it is not NULL
        // here.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(pointer, len as usize) }),
    }
}

/// Maps each element of a list. The caller chose the length, so the allocation may fail.
#[inline]
pub fn list<T, A: Array>(from: &[T], each: impl FnMut(&T) -> Result<A::Item>) -> Result<SmallVec<A>> {
    let mut list = SmallVec::new();
    let room = list.try_reserve_exact(from.len());
    room.map_err(|_| err!(OutOfMemory, "not enough memory for a list of {} elements", from.len()))?;
    for element in from.iter().map(each) {
        list.push(element?);
    }
    Ok(list)
}

/// `int[]`
///
/// # Safety
/// The contract of [`slice`].
#[inline]
pub unsafe fn ints<'a>(pointer: *const i64, len: i64, name: impl Name) -> Result<&'a [i64]> {
    // SAFETY: the caller guarantees that `pointer` is NULL or points to `len` readable elements.
    unsafe { slice(pointer, len, name) }
}

/// `int[]?`: a NULL pointer is None, whatever the length.
///
/// # Safety
/// The contract of [`slice`].
#[inline]
pub unsafe fn ints_opt<'a>(pointer: *const i64, len: i64, name: impl Name) -> Result<Option<&'a [i64]>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller guarantees that `pointer` is NULL or points to `len` readable elements.
    unsafe { slice(pointer, len, name) }.map(Some)
}

/// `float[]`
///
/// # Safety
/// The contract of [`slice`].
pub unsafe fn floats<'a>(pointer: *const f64, len: i64, name: impl Name) -> Result<&'a [f64]> {
    // SAFETY: the caller guarantees that `pointer` is NULL or points to `len` readable elements.
    unsafe { slice(pointer, len, name) }
}

/// `float[]?`
///
/// # Safety
/// The contract of [`slice`].
pub unsafe fn floats_opt<'a>(pointer: *const f64, len: i64, name: impl Name) -> Result<Option<&'a [f64]>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller guarantees that `pointer` is NULL or points to `len` readable elements.
    unsafe { slice(pointer, len, name) }.map(Some)
}

/// `bool[]`
///
/// # Safety
/// The contract of [`slice`].
pub unsafe fn bools(pointer: *const i32, len: i64, name: impl Name) -> Result<SmallVec<[bool; 8]>> {
    // SAFETY: the caller guarantees that `pointer` is NULL or points to `len` readable elements.
    list(unsafe { slice(pointer, len, name) }?, |flag| Ok(*flag != 0))
}

/// A list of flags that may be NULL: then it is empty.
///
/// # Safety
/// The contract of [`slice`].
pub unsafe fn bools_opt(pointer: *const i32, len: i64, name: impl Name) -> Result<SmallVec<[bool; 8]>> {
    // SAFETY: the caller guarantees that `pointer` is NULL or points to `len` readable elements.
    unsafe { bools(pointer, if pointer.is_null() { 0 } else { len }, name) }
}

/// `Scalar[]`
///
/// # Safety
/// The contract of [`slice`].
pub unsafe fn scalars(pointer: *const rlt_scalar, len: i64, name: impl Name) -> Result<SmallVec<[Scalar; 4]>> {
    // SAFETY: the caller guarantees that `pointer` is NULL or points to `len` readable elements.
    list(unsafe { slice(pointer, len, name) }?, |scalar| scalar.to_scalar(name))
}

/// `str`: NUL-terminated UTF-8.
///
/// # Safety
/// `pointer` is NULL or a C string that does not change during the call.
pub unsafe fn string<'a>(pointer: *const c_char, name: impl Name) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(null(name));
    }
    // SAFETY: the caller guarantees that `pointer` is NULL or a C string that does not change during the call; it is
    // not NULL here.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| err!(Value, "argument `{name}` is not UTF-8: {}", text.to_string_lossy()))
}

/// `str?`
///
/// # Safety
/// The contract of [`string`].
pub unsafe fn string_opt<'a>(pointer: *const c_char, name: impl Name) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller guarantees that `pointer` is NULL or a C string that does not change during the call.
    unsafe { string(pointer, name) }.map(Some)
}

/// `ScalarType`
#[inline]
pub fn dtype(code: i32) -> Result<DType> {
    DType::from_code(code)
}

/// `ScalarType?`
///
/// # Safety
/// `pointer` is NULL or readable.
pub unsafe fn dtype_opt(pointer: *const i32) -> Result<Option<DType>> {
    // SAFETY: the caller guarantees that `pointer` is NULL or readable.
    unsafe { pointer.as_ref() }.map(|code| DType::from_code(*code)).transpose()
}

/// `MemoryFormat?`
///
/// # Safety
/// `pointer` is NULL or readable.
pub unsafe fn memory_format_opt(pointer: *const i32) -> Result<Option<MemoryFormat>> {
    // SAFETY: the caller guarantees that `pointer` is NULL or readable.
    unsafe { pointer.as_ref() }.map(|code| MemoryFormat::from_code(*code)).transpose()
}

/// `MemoryFormat`
pub fn memory_format(code: i32) -> Result<MemoryFormat> {
    MemoryFormat::from_code(code)
}

/// `Layout`
pub fn layout(code: i32) -> Result<Layout> {
    Layout::from_code(code)
}

/// `Layout?`
///
/// # Safety
/// `pointer` is NULL or readable.
pub unsafe fn layout_opt(pointer: *const i32) -> Result<Option<Layout>> {
    // SAFETY: the caller guarantees that `pointer` is NULL or readable.
    unsafe { pointer.as_ref() }.map(|code| Layout::from_code(*code)).transpose()
}

/// `Device`
///
/// # Safety
/// `pointer` is NULL or readable.
pub unsafe fn device(pointer: *const rlt_device, name: impl Name) -> Result<Device> {
    // SAFETY: the caller guarantees that `pointer` is NULL or readable.
    unsafe { device_opt(pointer) }?.ok_or_else(|| null(name))
}

/// `Device?`
///
/// # Safety
/// `pointer` is NULL or readable.
pub unsafe fn device_opt(pointer: *const rlt_device) -> Result<Option<Device>> {
    // SAFETY: the caller guarantees that `pointer` is NULL or readable.
    unsafe { pointer.as_ref() }.map(|device| device.to_device()).transpose()
}

/// The trailing arguments `dtype, layout, device, pin_memory` of factories: NULL selects the defaults.
///
/// # Safety
/// `pointer` is NULL or points to `struct_size` readable bytes, as its first field states.
pub unsafe fn options(pointer: *const rlt_tensor_options) -> Result<Options> {
    if pointer.is_null() {
        return Ok(Options::default());
    }
    // SAFETY: the caller guarantees that `pointer` is NULL or points to `struct_size` readable bytes.
    unsafe { sized::read(pointer, "options") }?.to_options()
}

/// `Generator?`: NULL is the default generator.
///
/// # Safety
/// `handle` is NULL or live.
pub unsafe fn generator_opt(handle: *const rlt_generator, name: impl Name) -> Result<Option<GeneratorRef>> {
    // SAFETY: the caller guarantees that `handle` is NULL or live.
    unsafe { handle::borrow_opt(handle, name) }
}
