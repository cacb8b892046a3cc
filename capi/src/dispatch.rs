//! Operators by name: calling them, defining new ones, recording calls.
//!
//! `rlt_op_call` finds any operator by its schema name and fills in defaults. A program defines custom operators that
//! C++, Java and C can call (`examples/embed/operator.c`).
//!
//! ```c
//! rlt_tensor *x = NULL;
//! rlt_scalar value = {0};
//! rlt_value argument = {RLT_VALUE_TENSOR, 0, 0, {0}}, result = {RLT_VALUE_NONE, 0, 0, {0}};
//! int64_t results = 0;
//! int32_t status = rlt_tensor_full(NULL, 0, RLT_FLOAT(-1.5), NULL, &x);
//! argument.as.tensor = x;
//! if (!status) status = rlt_op_call("aten::abs", "", &argument, 1, NULL, 0, &result, 1, &results);
//! if (!status) status = rlt_tensor_item(result.as.tensor, &value);
//! if (!status) printf("%g\n", value.re);  // prints 1.5
//! rlt_value_free(&result);
//! rlt_tensor_free(x);
//! ```

use crate::core::rlt_deleter;
use crate::generator::rlt_generator;
use crate::object::{rlt_future, rlt_object, rlt_storage};
use crate::support::callback::{self, Context};
use crate::support::handle::{self, Handle};
use crate::support::name::{Element, Name};
use crate::support::value::{self, Lent, Slots};
use crate::support::{arg, guard, guard_free, out};
use crate::tensor::{rlt_device, rlt_scalar, rlt_tensor};
use rushlight_base::{Result, err};
use rushlight_tensor::dispatch::runtime_ops::{self, KernelKey, RuntimeOp};
use rushlight_tensor::dispatch::{LentValues, Op, Value, Values, by_name, record};
use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

// ---- Tags of a value ----

/// None
pub const RLT_VALUE_NONE: i32 = 0;
/// boolean, in `as.i`
pub const RLT_VALUE_BOOL: i32 = 1;
/// signed integer, in `as.i`
pub const RLT_VALUE_INT: i32 = 2;
/// unsigned integer, its bits in `as.i`
pub const RLT_VALUE_UINT: i32 = 3;
/// real number, in `as.f`
pub const RLT_VALUE_FLOAT: i32 = 4;
/// complex number, in `as.c`
pub const RLT_VALUE_COMPLEX: i32 = 5;
/// NUL-terminated UTF-8 string, in `as.string`
pub const RLT_VALUE_STRING: i32 = 6;
/// tensor, in `as.tensor`
pub const RLT_VALUE_TENSOR: i32 = 7;
/// `len` tensors, in `as.tensors`; NULL entries are None
pub const RLT_VALUE_TENSOR_LIST: i32 = 8;
/// `len` integers, in `as.ints`
pub const RLT_VALUE_INT_LIST: i32 = 9;
/// `len` real numbers, in `as.floats`
pub const RLT_VALUE_FLOAT_LIST: i32 = 10;
/// `len` booleans, in `as.bools`
pub const RLT_VALUE_BOOL_LIST: i32 = 11;
/// `len` scalars, in `as.scalars`
pub const RLT_VALUE_SCALAR_LIST: i32 = 12;
/// `RLT_DTYPE_*`, in `as.i`
pub const RLT_VALUE_DTYPE: i32 = 13;
/// `RLT_LAYOUT_*`, in `as.i`
pub const RLT_VALUE_LAYOUT: i32 = 14;
/// `RLT_MEMORY_FORMAT_*`, in `as.i`
pub const RLT_VALUE_MEMORY_FORMAT: i32 = 15;
/// device, in `as.device`
pub const RLT_VALUE_DEVICE: i32 = 16;
/// random generator, in `as.generator`
pub const RLT_VALUE_GENERATOR: i32 = 17;
/// `len` values of any kind, in `as.values`: a list that no other tag describes, such as `int[][]`
pub const RLT_VALUE_LIST: i32 = 18;
/// `len` values, in `as.values`
pub const RLT_VALUE_TUPLE: i32 = 19;
/// `len` entries: `2 * len` values in `as.values`, each key before its value. Keys differ and are of one kind: strings,
/// integers, real numbers, booleans, complex numbers or tensors
pub const RLT_VALUE_DICT: i32 = 20;
/// `len` NUL-terminated UTF-8 strings, in `as.strings`
pub const RLT_VALUE_STRING_LIST: i32 = 21;
/// instance of a class, in `as.object`
pub const RLT_VALUE_OBJECT: i32 = 22;
/// future, in `as.future`
pub const RLT_VALUE_FUTURE: i32 = 23;
/// member of an enumeration: 3 values in `as.values`, the names of its class and of the member and its value, which is a
/// string, an integer or a real number
pub const RLT_VALUE_ENUM: i32 = 24;
/// stream of a device, in `as.stream`
pub const RLT_VALUE_STREAM: i32 = 25;
/// storage, in `as.storage`
pub const RLT_VALUE_STORAGE: i32 = 26;
/// quantization scheme, c10's number in `as.i`
pub const RLT_VALUE_QSCHEME: i32 = 27;

// ---- Flag of a value ----

/// the value owns its contents, and `rlt_value_free` releases them
pub const RLT_VALUE_OWNED: i32 = 1;

/// A complex number.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_complex {
    /// real part
    pub re: f64,
    /// imaginary part
    pub im: f64,
}

/// The contents of a value; its tag selects the field.
#[repr(C)]
#[derive(Clone, Copy)]
pub union rlt_payload {
    /// `BOOL`, `INT`, `UINT`, `DTYPE`, `LAYOUT`, `MEMORY_FORMAT`, `QSCHEME`
    pub i: i64,
    /// `FLOAT`
    pub f: f64,
    /// `COMPLEX`
    pub c: rlt_complex,
    /// `DEVICE`
    pub device: rlt_device,
    /// `STRING`
    pub string: *const c_char,
    /// `TENSOR`
    pub tensor: *mut rlt_tensor,
    /// `TENSOR_LIST`
    pub tensors: *const *mut rlt_tensor,
    /// `INT_LIST`
    pub ints: *const i64,
    /// `FLOAT_LIST`
    pub floats: *const f64,
    /// `BOOL_LIST`
    pub bools: *const i32,
    /// `SCALAR_LIST`
    pub scalars: *const rlt_scalar,
    /// `GENERATOR`
    pub generator: *mut rlt_generator,
    /// `LIST`, `TUPLE`, `DICT`, `ENUM`
    pub values: *const rlt_value,
    /// `STRING_LIST`
    pub strings: *const *const c_char,
    /// `OBJECT`
    pub object: *mut rlt_object,
    /// `FUTURE`
    pub future: *mut rlt_future,
    /// `STREAM`
    pub stream: rlt_stream,
    /// `STORAGE`
    pub storage: *mut rlt_storage,
}

/// A stream of a device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_stream {
    /// the device
    pub device: rlt_device,
    /// the number of the stream; 0 is the default one
    pub id: i64,
}

/// Any argument or result of an operator.
///
/// With flags 0 a value borrows its contents. With `RLT_VALUE_OWNED` it owns them: only Rushlight creates such values
/// (results of `rlt_op_call`, `rlt_value_copy`), and `rlt_value_free` releases them. To keep the tensor of an owned
/// value, take `as.tensor` and set the tag to `RLT_VALUE_NONE`. The values inside an owned list, tuple, dict or member of
/// an enumeration belong to it: they have flags 0 and are released with it. Values nest at most 64 deep.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_value {
    /// `RLT_VALUE_*`
    pub tag: i32,
    /// 0 or `RLT_VALUE_OWNED`
    pub flags: i32,
    /// number of elements of a list; bytes of a string created by Rushlight
    pub len: i64,
    /// the contents
    pub r#as: rlt_payload,
}

/// A keyword argument.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_named_value {
    /// the argument's name in the schema
    pub name: *const c_char,
    /// its value
    pub value: rlt_value,
}

// ---- Values ----

/// Releases the contents of an owned value and sets it to None. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_value_free(value: *mut rlt_value) {
    guard_free("rlt_value_free", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `value` is NULL or readable.
        if let Some(value) = unsafe { value.as_mut() } {
            // SAFETY: `value` is readable (checked above to be non-NULL); a value with `RLT_VALUE_OWNED` was created by
            // this library, and becomes None here, so it is released once.
            unsafe { value::release(value) }
        }
    });
}

/// Copies a value into an owned one: it retains tensors and copies arrays and strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_value_copy(value: *const rlt_value, out: *mut rlt_value) -> i32 {
    guard("rlt_value_copy", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `value` is NULL or readable, and
        // `out` is NULL or writable.
        unsafe {
            let value = non_null(value, "value")?;
            let out = out::value(out, "out")?;
            out.set(value::write(value::read(value, "value")?))
        }
    })
}

unsafe fn non_null<'a, T>(pointer: *const T, name: impl Name) -> Result<&'a T> {
    // SAFETY: the caller of this function guarantees that a non-NULL pointer is readable.
    unsafe { pointer.as_ref() }.ok_or_else(|| err!(NullPointer, "argument `{name}` is NULL"))
}

// ---- Values of futures ----

/// Completes the future with a copy of `value`. An error if it is complete already, or if the value contains a future.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_future_set_value(future: *const rlt_future, value: *const rlt_value) -> i32 {
    guard("rlt_future_set_value", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `future` is NULL or a live handle, and
        // `value` is NULL or readable; its payload is what its tag says.
        unsafe {
            let future = arg::handle(future, "future")?;
            let value = non_null(value, "value")?;
            future.complete(Ok(value::read(value, "value")?))
        }
    })
}

/// Waits until the future is complete. Returns its value, owned, or fails with its error. `rlt_cancel_set` ends the wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_future_wait(future: *const rlt_future, out: *mut rlt_value) -> i32 {
    guard("rlt_future_wait", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `future` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let future = arg::handle(future, "future")?;
            let out = out::value(out, "out")?;
            out.set(value::write(future.wait()?))
        }
    })
}

// ---- Calling ----

/// Calls the operator `name` (`aten::add`, or `add` for short; `my::op`) with the overload `overload` (`Tensor`; empty
/// or NULL for the default one). Positional arguments are in schema order, keyword arguments follow; arguments given
/// neither way take their defaults. The results are written to `outs`, which holds `outs_capacity` values, and their
/// number to `*n_outs`; each is owned. In-place and out= forms return the tensors that they wrote.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_call(
    name: *const c_char,
    overload: *const c_char,
    args: *const rlt_value,
    n_args: i64,
    kwargs: *const rlt_named_value,
    n_kwargs: i64,
    outs: *mut rlt_value,
    outs_capacity: i64,
    n_outs: *mut i64,
) -> i32 {
    guard("rlt_op_call", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `name`, `overload` and `value.name`
        // are NULL or NUL-terminated strings, `args` is NULL or points to `n_args` elements, `kwargs` is NULL or points
        // to `n_kwargs` elements, `outs` is NULL or points to `outs_capacity` elements, and `n_outs` is NULL or
        // writable.
        unsafe {
            let name = arg::string(name, "name")?;
            let overload = arg::string_opt(overload, "overload")?.unwrap_or("");
            let args = arg::slice(args, n_args, "args")?;
            let kwargs = arg::slice(kwargs, n_kwargs, "kwargs")?;
            arg::slice(outs, outs_capacity, "outs")?;
            let n_outs = out::value(n_outs, "n_outs")?;
            n_outs.set(call(&by_name::find(name, overload)?, args, kwargs, outs, outs_capacity)?)
        }
    })
}

/// Calls the operator with arguments by position and by name, and returns the number of results in `outs`.
///
/// # Safety
/// The payload of each value is what its tag says; tensors live during the call. Names are NULL or end with NUL. `outs` is
/// valid for writing `capacity` values.
unsafe fn call(
    op: &Op,
    args: &[rlt_value],
    kwargs: &[rlt_named_value],
    outs: *mut rlt_value,
    capacity: i64,
) -> Result<i64> {
    let mut values = LentValues::new();
    let mut results = Values::new();
    // SAFETY: the caller of this function guarantees what `positional`, `named` and `write_all` need; `values` does not
    // outlive this call.
    unsafe {
        positional(args, &mut values)?;
        if kwargs.is_empty() {
            op.call_positional(&mut values, &mut results)?;
        } else {
            op.call_with(&mut values, named(kwargs)?, &mut results)?;
        }
        value::write_all(&mut results, outs, capacity)
    }
}

/// The positional arguments.
///
/// # Safety
/// As [`value::read`], for each of them; tensors live as long as `values`.
unsafe fn positional(args: &[rlt_value], values: &mut LentValues<'_>) -> Result<()> {
    if !values.try_reserve(args.len()) {
        return Err(err!(OutOfMemory, "no memory for {} arguments", args.len()));
    }
    for (index, value) in args.iter().enumerate() {
        let name = Element("args", index);
        // SAFETY: the caller of this function passes values whose payload is what the tag says, and keeps the tensors.
        unsafe {
            match value.tag {
                RLT_VALUE_TENSOR => values.lend_handle(arg::tensor(value.r#as.tensor, name)?),
                _ => values.push(value::read(value, name)?),
            }
        }
    }
    Ok(())
}

/// The keyword arguments.
///
/// # Safety
/// The contract of [`value::read`] holds for each value; names are NULL or NUL-terminated strings.
pub(crate) unsafe fn named(kwargs: &[rlt_named_value]) -> Result<Vec<(String, Value)>> {
    let mut values = Vec::new();
    values.try_reserve(kwargs.len()).map_err(|_| err!(OutOfMemory, "no memory for {} arguments", kwargs.len()))?;
    for value in kwargs {
        // SAFETY: the caller of this function guarantees that names are NULL or NUL-terminated, and that the payload of
        // each value matches its tag and is live.
        unsafe {
            let name = arg::string(value.name, "kwargs[].name")?;
            values.push((name.to_owned(), value::read(&value.value, name)?));
        }
    }
    Ok(values)
}

// ---- What operators there are ----

/// Returns the schema of an operator, as an owned string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_schema(name: *const c_char, overload: *const c_char, out: *mut rlt_value) -> i32 {
    guard("rlt_op_schema", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `name` and `overload` are NULL or
        // NUL-terminated strings, and `out` is NULL or writable.
        unsafe {
            let name = arg::string(name, "name")?;
            let overload = arg::string_opt(overload, "overload")?.unwrap_or("");
            let out = out::value(out, "out")?;
            out.set(text(&by_name::find(name, overload)?.signature().to_string()))
        }
    })
}

fn text(text: &str) -> rlt_value {
    value::write(Value::from(text))
}

/// Returns the number of operators (each overload and form counts): built-in ones, then those defined at run time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_count(out: *mut i64) -> i32 {
    guard("rlt_op_count", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::value(out, "out") }?.set((by_name::all().count() + runtime_ops::all().len()) as i64)
    })
}

/// Returns the schema of the operator at `index`, counted from 0, as an owned string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_at(index: i64, out: *mut rlt_value) -> i32 {
    guard("rlt_op_at", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        let out = unsafe { out::value(out, "out") }?;
        let at = |index: usize| match by_name::all().nth(index) {
            Some(def) => Some(def.signature().to_string()),
            None => Some(runtime_ops::all().get(index - by_name::all().count())?.signature().to_string()),
        };
        let schema = usize::try_from(index).ok().and_then(at);
        out.set(text(&schema.ok_or_else(|| err!(Index, "there is no operator at index {index}"))?))
    })
}

// ---- Dispatch keys ----

/// inputs on the CPU
pub const RLT_KEY_CPU: i32 = 0;
/// inputs on a CUDA device
pub const RLT_KEY_CUDA: i32 = 1;
/// inputs on the meta device: only shapes and dtypes are computed
pub const RLT_KEY_META: i32 = 2;
/// an input requires a gradient: the callback records its own custom function (`rlt_custom_function_record`)
pub const RLT_KEY_AUTOGRAD: i32 = 3;
/// composed of other operators: runs on any device and is differentiable
pub const RLT_KEY_COMPOSITE: i32 = 4;

/// An operator: a built-in one, or one defined at run time.
pub struct rlt_op {
    _private: [u8; 0],
}

impl Handle for rlt_op {
    type Rust = Arc<Op>;
}

/// A kernel of an operator defined at run time. `args` has every argument of the schema in order, with defaults filled
/// in, borrowed for the call. `outs` has one slot per result, each None on entry: ownership of a value with
/// `RLT_VALUE_OWNED` is taken; a tensor handle stored with flags 0 stays the callback's and is retained. To transfer a
/// handle that the callback owns, set `RLT_VALUE_OWNED`.
pub type rlt_op_callback = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        args: *const rlt_value,
        n_args: i64,
        outs: *mut rlt_value,
        n_outs: i64,
    ) -> i32,
>;

// ---- Custom operators ----

/// Defines an operator: `my::scaled_add(Tensor self, Tensor other, float scale=1) -> Tensor`. The namespace is
/// required, and cannot be `aten`. The operator has no kernel yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_define(schema: *const c_char, out: *mut *mut rlt_op) -> i32 {
    guard("rlt_op_define", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `schema` is NULL or a NUL-terminated
        // string, and `out` is NULL or writable.
        let (schema, out) = unsafe { (arg::string(schema, "schema")?, out::handle(out, "out")?) };
        out.give(Arc::new(Op::Runtime(runtime_ops::define(schema)?)))
    })
}

/// Registers a kernel of the operator for `key` (`RLT_KEY_*`), replacing the previous one. `deleter(ctx)` is called
/// once, when the kernel is replaced or the operator is freed, after the last running call; but not if this function
/// fails.
///
/// The callback may be called from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_impl(
    op: *const rlt_op,
    key: i32,
    callback: rlt_op_callback,
    ctx: *mut c_void,
    deleter: rlt_deleter,
) -> i32 {
    guard("rlt_op_impl", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `op` is NULL or a live handle.
        let op = unsafe { arg::handle(op, "op") }?;
        let op = run_time(&op)?;
        let callback = callback.ok_or_else(|| err!(NullPointer, "argument `callback` is NULL"))?;
        let key = KernelKey::from_code(key)?;
        let context = Context::new(ctx, deleter);
        let (name, returns) = (op.full_name(), op.signature().returns.len());
        op.implement(
            key,
            Arc::new(move |values| {
                let args = Lent::new(values);
                let mut outs = Slots::new(returns);
                callback::call(&name, || {
                    let ((args, n_args), (outs, n_outs)) = (args.parts(), outs.parts());
                    // SAFETY: `callback` has this signature; `args` and `outs` point to arrays of these lengths that
                    // live until it returns.
                    unsafe { callback(context.get(), args, n_args, outs, n_outs) }
                })?;
                // SAFETY: the callback filled the slots as the documentation of the kernel type requires: the payload
                // of each slot matches its tag.
                unsafe { outs.values() }
            }),
        );
        Ok(())
    })
}

/// Removes the operator's kernel for `key`, if it has one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_remove_impl(op: *const rlt_op, key: i32) -> i32 {
    guard("rlt_op_remove_impl", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `op` is NULL or a live handle.
        let op = unsafe { arg::handle(op, "op") }?;
        run_time(&op)?.remove(KernelKey::from_code(key)?);
        Ok(())
    })
}

/// Finds the operator `name` with the overload `overload`, built-in or defined at run time, for `rlt_op_invoke`. `*out`
/// is NULL if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_find(name: *const c_char, overload: *const c_char, out: *mut *mut rlt_op) -> i32 {
    guard("rlt_op_find", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `name` is NULL or a NUL-terminated
        // string, and `out` is NULL or writable.
        let (name, out) = unsafe { (arg::string(name, "name")?, out::handle(out, "out")?) };
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `overload` is NULL or a
        // NUL-terminated string.
        let overload = unsafe { arg::string_opt(overload, "overload") }?.unwrap_or_default();
        out.give_opt(by_name::find_known(name, overload).map(Arc::new))
    })
}

/// Calls an operator that `rlt_op_find` found: `rlt_op_call` without the search by name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_invoke(
    op: *const rlt_op,
    args: *const rlt_value,
    n_args: i64,
    kwargs: *const rlt_named_value,
    n_kwargs: i64,
    outs: *mut rlt_value,
    outs_capacity: i64,
    n_outs: *mut i64,
) -> i32 {
    guard("rlt_op_invoke", || {
        // SAFETY: docs/c-abi.md obliges the caller: `op` is a live handle, and the arrays are valid for their lengths
        // during the call.
        unsafe {
            let op = arg::handle(op, "op")?;
            let args = arg::slice(args, n_args, "args")?;
            let kwargs = arg::slice(kwargs, n_kwargs, "kwargs")?;
            arg::slice(outs, outs_capacity, "outs")?;
            let n_outs = out::value(n_outs, "n_outs")?;
            n_outs.set(call(&op, args, kwargs, outs, outs_capacity)?)
        }
    })
}

/// The operator, if it was defined at run time: built-in ones do not change.
fn run_time(op: &Op) -> Result<&Arc<RuntimeOp>> {
    match op {
        Op::Runtime(op) => Ok(op),
        Op::BuiltIn(row) => Err(err!(
            NotImplemented,
            "operator {} is built in: its kernels cannot be replaced, and it cannot be unregistered",
            row.full_name()
        )),
    }
}

/// Removes the operator from the lookup and frees the handle. Running calls complete normally.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_unregister(op: *mut rlt_op) -> i32 {
    guard("rlt_op_unregister", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `op` is NULL or a live handle that
        // the caller gives up; the handle is given up only when it is unregistered.
        unsafe {
            let handle = arg::handle(op, "op")?;
            runtime_ops::undefine(run_time(&handle)?)?;
            drop(handle::take(op));
        }
        Ok(())
    })
}

/// Frees the handle. The operator stays defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_free(op: *mut rlt_op) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `op` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_op_free", || drop(unsafe { handle::take(op) }));
}

/// Receives an operator call: `call` is a string such as `add.Tensor([2, 3] float32, 1)`, valid during the call.
pub type rlt_record_callback = Option<unsafe extern "C" fn(ctx: *mut c_void, call: *const c_char)>;

// ---- Recording calls ----

/// Starts to report each operator that the calling thread calls to `callback`; without a callback, to the log. `ctx`
/// must stay valid until `rlt_record_stop`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_record_start(callback: rlt_record_callback, ctx: *mut c_void) -> i32 {
    guard("rlt_record_start", || {
        let context = Context::new(ctx, None);
        record::start(callback.map(|callback| -> record::Listener {
            Arc::new(move |call| {
                let call = CString::new(call.replace('\0', " ")).unwrap_or_default();
                // SAFETY: `callback` was registered with this context, which the caller keeps valid until
                // `rlt_record_stop`; `call` lives until it returns.
                unsafe { callback(context.get(), call.as_ptr()) }
            })
        }));
        Ok(())
    })
}

/// Stops the recording that `rlt_record_start` started on the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_record_stop() -> i32 {
    guard("rlt_record_stop", || {
        record::stop();
        Ok(())
    })
}
