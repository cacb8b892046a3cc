//! Structs that begin with `struct_size`: a shorter struct of an older caller is read only up to its size, so that
//! fields can be added at the end.

use super::guard::null;
use super::name::Name;
use rushlight_base::{Error, ErrorKind, Result, ensure};
use std::mem::MaybeUninit;

/// A struct of the C ABI whose first field is `struct_size: usize`.
///
/// # Safety
/// The type is `repr(C)`, begins with `struct_size: usize`, and every value that C can store in its fields (also when
/// only the first of them are stored over [`UNSET`](SizedStruct::UNSET)) is valid.
pub unsafe trait SizedStruct: Copy {
    /// The values of fields that the caller's struct does not have.
    const UNSET: Self;
    /// The name in messages.
    const NAME: &'static str;
}

/// Reads a required sized struct.
///
/// # Safety
/// `pointer` is NULL or points to `struct_size` readable bytes.
pub unsafe fn read<T: SizedStruct>(pointer: *const T, name: impl Name) -> Result<T> {
    ensure_some(pointer, name)?;
    // SAFETY: `pointer` is not NULL; the caller guarantees that it points to a struct that begins with its size, of at
    // least that many bytes.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    ensure!(
        size >= size_of::<usize>() && size.is_multiple_of(align_of::<i32>()),
        Value,
        "`{name}`: struct_size is {size}, but should be sizeof({}) = {}",
        T::NAME,
        size_of::<T>()
    );
    let mut value = MaybeUninit::new(T::UNSET);
    // SAFETY: the caller guarantees `size` readable bytes; at most `size_of::<T>()` bytes are copied over a valid `T`,
    // whose fields accept any bytes (contract of `SizedStruct`).
    unsafe {
        let bytes = size.min(size_of::<T>());
        std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), bytes);
        Ok(value.assume_init())
    }
}

/// The error for a struct that lacks a required function.
#[cold]
pub fn missing(argument: &str, functions: &str) -> Error {
    Error::new(ErrorKind::NullPointer, format!("argument `{argument}`: {functions} must not be NULL"))
}

/// Writes as much of `value` as the caller's struct holds, but not its `struct_size`.
///
/// # Safety
/// `pointer` is NULL or points to `struct_size` readable and writable bytes.
pub unsafe fn write<T: SizedStruct>(pointer: *mut T, value: &T, name: impl Name) -> Result<()> {
    // SAFETY: the caller guarantees that `pointer` is NULL or points to `struct_size` readable bytes. Reading checks
    // the size.
    unsafe { read(pointer, name) }?;
    const HEAD: usize = size_of::<usize>();
    // SAFETY: the size was read and checked above; only bytes inside both structs are copied, and the caller guarantees
    // that they are writable.
    unsafe {
        let bytes = pointer.cast::<usize>().read_unaligned().min(size_of::<T>()) - HEAD;
        let from = std::ptr::from_ref(value).cast::<u8>().add(HEAD);
        std::ptr::copy_nonoverlapping(from, pointer.cast::<u8>().add(HEAD), bytes);
    }
    Ok(())
}

fn ensure_some<T>(pointer: *const T, name: impl Name) -> Result<()> {
    if pointer.is_null() { Err(null(name)) } else { Ok(()) }
}
