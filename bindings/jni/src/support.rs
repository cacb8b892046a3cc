//! Common parts of every entry point: the guard, and conversion of values.
//!
//! `guard` is to Java what its namesake in `capi` is to C. Only the Java wrappers create the handle types (their field
//! is private, and no function here creates one), so a value of such a type guarantees that the handle is live during
//! the call; accessing the tensor is therefore safe.

mod callback;
mod convert;
mod frame;
mod guard;
mod handle;
mod row;
mod shim;
mod values;

pub(crate) use callback::{Callback, is_in_upcall};
pub use convert::{
    device, device_code, dtype, flag, memory_format, optional, optional_device, optional_dtype, optional_flag,
    optional_layout, optional_memory_format, optional_scalar, options, scalar,
};
pub use frame::Frame;
pub(crate) use frame::{reclaim, set_pressure_limit, weight};
pub(crate) use guard::border;
pub use guard::{guard, guard_op};
pub use handle::{
    Borrowed, BorrowedList, BorrowedOptionalList, BoxHandle, CancelTokenHandle, GeneratorHandle, HookHandle,
    NodeHandle, TensorHandle,
};
pub use jni::EnvUnowned;
pub use jni::objects::{JBooleanArray, JClass, JDoubleArray, JIntArray, JLongArray, JObject, JString};
pub use jni::sys::{jboolean, jdouble, jint, jlong, jlongArray, jobject};
pub use row::{Argument, mismatch, row};
pub use rushlight_tensor::dispatch::Call;
#[allow(unused_imports, reason = "the shims use them")]
pub(crate) use shim::{passed, shim, shims, width};

/// A `long[]` argument.
pub type JLongs<'l> = JLongArray<'l>;
/// A `double[]` argument.
pub type JDoubles<'l> = JDoubleArray<'l>;
/// An `int[]` from Java.
pub type JInts<'l> = JIntArray<'l>;
/// A `boolean[]` argument.
pub type JBooleans<'l> = JBooleanArray<'l>;
