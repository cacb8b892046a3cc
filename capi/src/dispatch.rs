//! Operators by name: calling them, adding some, listening to calls.
//!
//! `rlt_op_call` finds any operator by its name in the schema and fills defaults in. A program adds operators of its own, which C++,
//! Java and C then call alike (`examples/embed/operator.c`).
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
use crate::support::callback::{self, Context};
use crate::support::handle::{self, Handle};
use crate::support::value::{self, Lent, Slots};
use crate::support::{arg, guard, guard_free, out};
use crate::tensor::{rlt_device, rlt_scalar, rlt_tensor};
use rushlight_base::{Result, err};
use rushlight_tensor::dispatch::runtime_ops::{self, KernelKey, RuntimeOp};
use rushlight_tensor::dispatch::{Value, by_name, record};
use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

// ---- Tags of a value ----

/// None
pub const RLT_VALUE_NONE: i32 = 0;
/// truth value, in `as.i`
pub const RLT_VALUE_BOOL: i32 = 1;
/// signed integer, in `as.i`
pub const RLT_VALUE_INT: i32 = 2;
/// unsigned integer, its bits in `as.i`
pub const RLT_VALUE_UINT: i32 = 3;
/// real number, in `as.f`
pub const RLT_VALUE_FLOAT: i32 = 4;
/// complex number, in `as.c`
pub const RLT_VALUE_COMPLEX: i32 = 5;
/// UTF-8 text that ends with NUL, in `as.string`
pub const RLT_VALUE_STRING: i32 = 6;
/// tensor, in `as.tensor`
pub const RLT_VALUE_TENSOR: i32 = 7;
/// `len` tensors, in `as.tensors`; NULL entries are None
pub const RLT_VALUE_TENSOR_LIST: i32 = 8;
/// `len` integers, in `as.ints`
pub const RLT_VALUE_INT_LIST: i32 = 9;
/// `len` real numbers, in `as.floats`
pub const RLT_VALUE_FLOAT_LIST: i32 = 10;
/// `len` truth values, in `as.bools`
pub const RLT_VALUE_BOOL_LIST: i32 = 11;
/// `len` numbers, in `as.scalars`
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

// ---- Flag of a value ----

/// it owns what it points to, and `rlt_value_free` releases that
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

/// What a value holds; its tag says which field.
#[repr(C)]
#[derive(Clone, Copy)]
pub union rlt_payload {
    /// `BOOL`, `INT`, `UINT`, `DTYPE`, `LAYOUT`, `MEMORY_FORMAT`
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
}

/// Any argument or result of an operator.
///
/// With flags 0 a value borrows what it points to. With `RLT_VALUE_OWNED` it owns that: only Rushlight makes
/// such values (results of `rlt_op_call`, `rlt_value_copy`), and `rlt_value_free` releases them. To keep the
/// tensor of an owned value, take `as.tensor` and set the tag to `RLT_VALUE_NONE`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_value {
    /// `RLT_VALUE_*`
    pub tag: i32,
    /// 0 or `RLT_VALUE_OWNED`
    pub flags: i32,
    /// elements of a list; bytes of a text that Rushlight made
    pub len: i64,
    /// what it holds
    pub r#as: rlt_payload,
}

/// An argument that is given by name.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_named_value {
    /// the argument's name in the schema
    pub name: *const c_char,
    /// its value
    pub value: rlt_value,
}

// ---- Values ----

/// Releases what an owned value points to and makes the value None. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_value_free(value: *mut rlt_value) {
    guard_free("rlt_value_free", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        if let Some(value) = unsafe { value.as_mut() } {
            // SAFETY: as above: only Rushlight makes owned values.
            unsafe { value::release(value) }
        }
    });
}

/// An owned copy of a value: one more reference to its tensors, copies of its arrays and text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_value_copy(value: *const rlt_value, out: *mut rlt_value) -> i32 {
    guard("rlt_value_copy", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let value = non_null(value, "value")?;
            let out = out::value(out, "out")?;
            out.set(value::write(value::read(value, "value")?))
        }
    })
}

unsafe fn non_null<'a, T>(pointer: *const T, name: &str) -> Result<&'a T> {
    // SAFETY: the caller of this function promises that a non-NULL pointer is readable.
    unsafe { pointer.as_ref() }.ok_or_else(|| err!(NullPointer, "argument `{name}` is NULL"))
}

// ---- Calling ----

/// Calls the operator `name` (`aten::add`, or `add` for short; `my::op`) with the overload `overload` (`Tensor`;
/// empty or NULL for the default one). Arguments by position come in the order of the schema, arguments by name
/// follow; those given neither way take their defaults. The results are written to `outs`, which has room for
/// `outs_capacity` values, and their number to `*n_outs`; each is owned. In-place and out= forms return the
/// tensors that they wrote.
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
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let name = arg::string(name, "name")?;
            let overload = arg::string_opt(overload, "overload")?.unwrap_or("");
            let args = arg::slice(args, n_args, "args")?;
            let kwargs = arg::slice(kwargs, n_kwargs, "kwargs")?;
            arg::slice(outs, outs_capacity, "outs")?;
            let n_outs = out::value(n_outs, "n_outs")?;
            let mut positional = Vec::with_capacity(args.len());
            for (index, value) in args.iter().enumerate() {
                positional.push(value::read(value, &format!("args[{index}]"))?);
            }
            let mut named = Vec::with_capacity(kwargs.len());
            for value in kwargs {
                let name = arg::string(value.name, "kwargs[].name")?;
                named.push((name.to_owned(), value::read(&value.value, name)?));
            }
            let values = by_name::call(name, overload, positional, named)?;
            n_outs.set(value::write_all(values, outs, outs_capacity)?)
        }
    })
}

// ---- What operators there are ----

/// The schema of an operator, as an owned text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_schema(name: *const c_char, overload: *const c_char, out: *mut rlt_value) -> i32 {
    guard("rlt_op_schema", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let name = arg::string(name, "name")?;
            let overload = arg::string_opt(overload, "overload")?.unwrap_or("");
            let out = out::value(out, "out")?;
            out.set(text(&by_name::find(name, overload)?.signature()?.to_string()))
        }
    })
}

fn text(text: &str) -> rlt_value {
    value::write(Value::from(text))
}

/// How many operators (each overload and form counts) there are: built-in ones, then those defined at run time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_count(out: *mut i64) -> i32 {
    guard("rlt_op_count", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::value(out, "out") }?.set((by_name::all().count() + runtime_ops::all().len()) as i64)
    })
}

/// The schema of the operator at `index`, counted from 0, as an owned text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_at(index: i64, out: *mut rlt_value) -> i32 {
    guard("rlt_op_at", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let out = unsafe { out::value(out, "out") }?;
        let built_in = by_name::all().map(|def| def.schema.to_owned());
        let run_time = runtime_ops::all().into_iter().map(|op| op.signature().to_string());
        let schema = usize::try_from(index).ok().and_then(|index| built_in.chain(run_time).nth(index));
        out.set(text(&schema.ok_or_else(|| err!(Index, "there is no operator at index {index}"))?))
    })
}

// ---- Dispatch keys: which inputs a kernel is for ----

/// inputs on the CPU
pub const RLT_KEY_CPU: i32 = 0;
/// inputs on a CUDA device
pub const RLT_KEY_CUDA: i32 = 1;
/// inputs on the meta device: only shapes and dtypes are computed
pub const RLT_KEY_META: i32 = 2;
/// some input requires a gradient: the callback records its own custom function (`rlt_custom_function_record`)
pub const RLT_KEY_AUTOGRAD: i32 = 3;
/// made of other operators: for any device, and the gradient comes for free
pub const RLT_KEY_COMPOSITE: i32 = 4;

/// An operator defined at run time.
pub struct rlt_op {
    _private: [u8; 0],
}

impl Handle for rlt_op {
    type Rust = Arc<RuntimeOp>;
}

/// A kernel of an operator defined at run time. `args` has every argument of the schema in order, defaults filled
/// in, borrowed for the call. `outs` has one slot per result, each None on entry: a value with
/// `RLT_VALUE_OWNED` is taken over, a tensor handle put in with flags 0 stays the callback's and is retained.
/// To hand over a handle that the callback owns, set `RLT_VALUE_OWNED`.
pub type rlt_op_callback = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        args: *const rlt_value,
        n_args: i64,
        outs: *mut rlt_value,
        n_outs: i64,
    ) -> i32,
>;

// ---- Operators of the program ----

/// Defines an operator: `my::scaled_add(Tensor self, Tensor other, float scale=1) -> Tensor`. The namespace is
/// required, and cannot be `aten`. It has no kernel yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_define(schema: *const c_char, out: *mut *mut rlt_op) -> i32 {
    guard("rlt_op_define", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (schema, out) = unsafe { (arg::string(schema, "schema")?, out::handle(out, "out")?) };
        out.give(runtime_ops::define(schema)?)
    })
}

/// Gives the operator a kernel for `key` (`RLT_KEY_*`), in place of a former one. `deleter(ctx)` is called once,
/// when the kernel is replaced or the operator is gone, after the last call under way; not if this function fails.
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
        // SAFETY: the caller keeps to docs/c-abi.md.
        let op = unsafe { arg::handle(op, "op") }?;
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
                    // SAFETY: the callback was given for these arguments; both arrays live until it returns.
                    unsafe { callback(context.get(), args, n_args, outs, n_outs) }
                })?;
                // SAFETY: the callback promises that each slot is what its tag says.
                unsafe { outs.values() }
            }),
        );
        Ok(())
    })
}

/// Takes the operator's kernel for `key` away, if it has one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_remove_impl(op: *const rlt_op, key: i32) -> i32 {
    guard("rlt_op_remove_impl", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { arg::handle(op, "op") }?.remove(KernelKey::from_code(key)?);
        Ok(())
    })
}

/// A handle of an operator that was defined at run time, perhaps by somebody else. `*out` is NULL if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_find(name: *const c_char, overload: *const c_char, out: *mut *mut rlt_op) -> i32 {
    guard("rlt_op_find", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (name, out) = unsafe { (arg::string(name, "name")?, out::handle(out, "out")?) };
        // SAFETY: as above.
        let overload = unsafe { arg::string_opt(overload, "overload") }?.unwrap_or_default();
        out.give_opt(runtime_ops::find(name, overload))
    })
}

/// Takes the operator out of the lookup and frees the handle. Calls under way end as they would have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_unregister(op: *mut rlt_op) -> i32 {
    guard("rlt_op_unregister", || {
        // SAFETY: the caller keeps to docs/c-abi.md; the handle is given up only when it is unregistered.
        unsafe {
            runtime_ops::undefine(&*arg::handle(op, "op")?)?;
            drop(handle::take(op));
        }
        Ok(())
    })
}

/// Frees the handle. The operator stays defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_op_free(op: *mut rlt_op) {
    // SAFETY: the caller keeps to docs/c-abi.md.
    guard_free("rlt_op_free", || drop(unsafe { handle::take(op) }));
}

/// Hears of an operator call: `call` is a text such as `add.Tensor([2, 3] float32, 1)`, valid during the call.
pub type rlt_record_callback = Option<unsafe extern "C" fn(ctx: *mut c_void, call: *const c_char)>;

// ---- Listening ----

/// From now on tells `callback` each operator that the calling thread calls; without a callback, the log.
/// `ctx` must stay valid until `rlt_record_stop`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_record_start(callback: rlt_record_callback, ctx: *mut c_void) -> i32 {
    guard("rlt_record_start", || {
        let context = Context::new(ctx, None);
        record::start(callback.map(|callback| -> record::Listener {
            Arc::new(move |call| {
                let call = CString::new(call.replace('\0', " ")).unwrap_or_default();
                // SAFETY: the callback was given for this context, which lives until recording stops.
                unsafe { callback(context.get(), call.as_ptr()) }
            })
        }));
        Ok(())
    })
}

/// Stops what `rlt_record_start` started on the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_record_stop() -> i32 {
    guard("rlt_record_stop", || {
        record::stop();
        Ok(())
    })
}
