//! Structs that begin with `struct_size`: an older caller's shorter struct is read only as far as it goes,
//! so fields can be added at the end without breaking anybody.

use super::guard::null;
use rushlight_base::{Error, ErrorKind, Result, ensure};
use std::mem::MaybeUninit;

/// A struct of the C ABI whose first field is `struct_size: usize`.
///
/// # Safety
/// The type is `repr(C)`, begins with `struct_size: usize`, and every value that C can store in its fields
/// (also when only the first of them are stored over [`UNSET`](SizedStruct::UNSET)) is valid.
pub unsafe trait SizedStruct: Copy {
    /// What fields that the caller does not know of are taken to be.
    const UNSET: Self;
    /// The name in messages.
    const NAME: &'static str;
}

/// Read a sized struct that must be there.
///
/// # Safety
/// `pointer` is NULL or points to `struct_size` readable bytes.
pub unsafe fn read<T: SizedStruct>(pointer: *const T, name: &str) -> Result<T> {
    ensure_some(pointer, name)?;
    // SAFETY: the pointer is not NULL, and every such struct begins with its size.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    ensure!(
        size >= size_of::<usize>() && size.is_multiple_of(align_of::<i32>()),
        Value,
        "`{name}`: struct_size is {size}, but should be sizeof({}) = {}",
        T::NAME,
        size_of::<T>()
    );
    let mut value = MaybeUninit::new(T::UNSET);
    // SAFETY: the caller promises `size` readable bytes; no more than T has room for are copied.
    unsafe {
        let bytes = size.min(size_of::<T>());
        std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), bytes);
        Ok(value.assume_init())
    }
}

/// The error of a struct of hooks that lacks some.
#[cold]
pub fn missing(argument: &str, functions: &str) -> Error {
    Error::new(ErrorKind::NullPointer, format!("argument `{argument}`: {functions} must not be NULL"))
}

/// Write as much of `value` as the caller's struct has room for, but not its `struct_size`.
///
/// # Safety
/// `pointer` is NULL or points to `struct_size` readable and writable bytes.
pub unsafe fn write<T: SizedStruct>(pointer: *mut T, value: &T, name: &str) -> Result<()> {
    // SAFETY: as this function's own contract. Reading checks the size.
    unsafe { read(pointer, name) }?;
    const HEAD: usize = size_of::<usize>();
    // SAFETY: the size was read and checked; only bytes inside both structs are copied.
    unsafe {
        let bytes = pointer.cast::<usize>().read_unaligned().min(size_of::<T>()) - HEAD;
        let from = std::ptr::from_ref(value).cast::<u8>().add(HEAD);
        std::ptr::copy_nonoverlapping(from, pointer.cast::<u8>().add(HEAD), bytes);
    }
    Ok(())
}

fn ensure_some<T>(pointer: *const T, name: &str) -> Result<()> {
    if pointer.is_null() { Err(null(name)) } else { Ok(()) }
}
