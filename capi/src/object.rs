//! Objects that values refer to: instances of custom classes, futures, storages.
//!
//! Each is reference-counted: `_retain` adds an owner, `_free` removes one. An `rlt_value` holds one of them with the tag
//! `RLT_VALUE_OBJECT`, `RLT_VALUE_FUTURE` or `RLT_VALUE_STORAGE`.
//!
//! ```c
//! rlt_future *future = NULL;
//! rlt_value value = {RLT_VALUE_INT, 0, 0, {3}}, result = {RLT_VALUE_NONE, 0, 0, {0}};
//! int32_t status = rlt_future_new(&future);
//! if (!status) status = rlt_future_set_value(future, &value);
//! if (!status) status = rlt_future_wait(future, &result);
//! if (!status) printf("%d\n", (int)result.as.i);  // prints 3
//! rlt_value_free(&result);
//! rlt_future_free(future);
//! ```

use crate::core::rlt_deleter;
use crate::support::callback::Context;
use crate::support::handle::{self, Handle};
use crate::support::{arg, guard, guard_free, out};
use crate::tensor::rlt_tensor;
use rushlight_base::{ErrorKind, Storage, err};
use rushlight_tensor::dispatch::{Future, Object};
use std::ffi::{c_char, c_void};

/// An instance of a class. The class is known by its qualified name, such as `__torch__.torch.classes.my.Stack`.
pub struct rlt_object {
    _private: [u8; 0],
}

impl Handle for rlt_object {
    type Rust = Object;
}

/// A value that is provided later, perhaps by another thread: `rlt_future_set_value` and `rlt_future_wait` of
/// `rushlight/dispatch.h`.
pub struct rlt_future {
    _private: [u8; 0],
}

impl Handle for rlt_future {
    type Rust = Future;
}

/// The bytes that a tensor and its views share.
pub struct rlt_storage {
    _private: [u8; 0],
}

impl Handle for rlt_storage {
    type Rust = Box<Storage>;
}

// ---- Instances of classes ----

/// Creates an instance of the class `class_name`. `ctx` is its content. `deleter(ctx)` is called once, on any thread, when the last
/// reference is freed; but not if this function fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_object_new(
    class_name: *const c_char,
    ctx: *mut c_void,
    deleter: rlt_deleter,
    out: *mut *mut rlt_object,
) -> i32 {
    guard("rlt_object_new", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `class_name` is NULL or a
        // NUL-terminated string, and `out` is NULL or writable.
        let (class, out) = unsafe { (arg::string(class_name, "class_name")?, out::handle(out, "out")?) };
        out.give(Object::new(class, Context::new(ctx, deleter))?)
    })
}

/// Returns the qualified name of the class. Borrowed: valid as long as the object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_object_class_name(object: *const rlt_object, out: *mut *const c_char) -> i32 {
    guard("rlt_object_class_name", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `object` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let object = arg::handle(object, "object")?;
            out::value(out, "out")?.set(object.class_name_for_c().as_ptr())
        }
    })
}

/// Returns the content of an object that `rlt_object_new` created with this `deleter`, which identifies its origin; NULL
/// for any other object. Borrowed: valid as long as the object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_object_content(
    object: *const rlt_object,
    deleter: rlt_deleter,
    out: *mut *mut c_void,
) -> i32 {
    guard("rlt_object_content", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `object` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (object, out) = unsafe { (arg::handle(object, "object")?, out::value(out, "out")?) };
        let context = object.content::<Context>().filter(|context| context.is_freed_by(deleter));
        out.set(context.map_or(std::ptr::null_mut(), Context::get))
    })
}

/// Adds an owner of the same object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_object_retain(object: *const rlt_object, out: *mut *mut rlt_object) -> i32 {
    guard("rlt_object_retain", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `object` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let object = arg::handle(object, "object")?;
            out::handle(out, "out")?.give(Object::clone(&object))
        }
    })
}

/// Frees a handle of an object. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_object_free(object: *mut rlt_object) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `object` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_object_free", || drop(unsafe { handle::take(object) }));
}

// ---- Futures ----

/// Creates a future that is not complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_future_new(out: *mut *mut rlt_future) -> i32 {
    guard("rlt_future_new", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::handle(out, "out") }?.give(Future::new())
    })
}

/// Completes the future with an error (`RLT_ERROR_*`) and its message. An error if it is complete already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_future_set_error(future: *const rlt_future, code: i32, message: *const c_char) -> i32 {
    guard("rlt_future_set_error", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `future` is NULL or a live handle, and
        // `message` is NULL or a NUL-terminated string.
        let (future, message) = unsafe { (arg::handle(future, "future")?, arg::string(message, "message")?) };
        let kind = ErrorKind::from_code(code).ok_or_else(|| err!(Value, "{code} is not the code of an error"))?;
        future.complete(Err(err!(Runtime, "{message}").of_kind(kind)))
    })
}

/// Returns whether the future has a value or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_future_is_complete(future: *const rlt_future, out: *mut i32) -> i32 {
    guard("rlt_future_is_complete", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `future` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let future = arg::handle(future, "future")?;
            out::bool(out, "out")?.set(future.is_complete())
        }
    })
}

/// Adds an owner of the same future.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_future_retain(future: *const rlt_future, out: *mut *mut rlt_future) -> i32 {
    guard("rlt_future_retain", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `future` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let future = arg::handle(future, "future")?;
            out::handle(out, "out")?.give(Future::clone(&future))
        }
    })
}

/// Frees a handle of a future. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_future_free(future: *mut rlt_future) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `future` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_future_free", || drop(unsafe { handle::take(future) }));
}

// ---- Storages ----

/// Returns the storage of a tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_storage_of(tensor: *const rlt_tensor, out: *mut *mut rlt_storage) -> i32 {
    guard("rlt_storage_of", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::handle(out, "out")?.give(Box::new(tensor.dense()?.storage.clone()))
        }
    })
}

/// Returns address and size in bytes. Borrowed: valid as long as the storage. The address is NULL on the meta device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_storage_data(storage: *const rlt_storage, data: *mut *mut c_void, bytes: *mut i64) -> i32 {
    guard("rlt_storage_data", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `storage` is NULL or a live handle, and
        // `data` and `bytes` are NULL or writable.
        unsafe {
            let storage = arg::handle(storage, "storage")?;
            let (data, bytes) = (out::value(data, "data")?, out::value(bytes, "bytes")?);
            data.set(storage.data().cast())?;
            bytes.set(storage.bytes() as i64)
        }
    })
}

/// Adds an owner of the same storage. The new handle is another pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_storage_retain(storage: *const rlt_storage, out: *mut *mut rlt_storage) -> i32 {
    guard("rlt_storage_retain", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `storage` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let storage = arg::handle(storage, "storage")?;
            out::handle(out, "out")?.give(Box::clone(&storage))
        }
    })
}

/// Frees a handle of a storage. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_storage_free(storage: *mut rlt_storage) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `storage` is NULL or a live handle that
    // the caller gives up.
    guard_free("rlt_storage_free", || drop(unsafe { handle::take(storage) }));
}
