//! Profiler: which operators ran, how long they took, how much memory they allocated.
//!
//! A profile records every call of an operator, also those inside of other operators, the nodes of backward passes, and the
//! ranges of the program (`rlt_record_function_begin`). `rlt_profile_table` shows it as a table, `rlt_profile_chrome_trace`
//! writes it for `chrome://tracing` and Perfetto. Callbacks (`rlt_add_callback`) are notified of the same calls. Without a
//! profile or callback a call reads one more word of memory.
//!
//! ```c
//! rlt_tensor *x = NULL, *y = NULL;
//! rlt_record_function *range = NULL;
//! rlt_profile *profile = NULL;
//! int64_t events = 0;
//! int32_t status = rlt_tensor_ones(NULL, 0, NULL, &x);
//! if (!status) status = rlt_profiler_start(NULL);
//! if (!status) status = rlt_record_function_begin(RLT_SCOPE_USER, "step", NULL, 0, NULL, &range);
//! if (!status) status = rlt_tensor_neg(x, &y);
//! rlt_record_function_end(range);
//! if (!status) status = rlt_profiler_stop(&profile);
//! if (!status) status = rlt_profile_len(profile, &events);
//! for (int64_t i = 0; !status && i < events; ++i) {
//!   rlt_profile_event event = {.struct_size = sizeof event};
//!   status = rlt_profile_event_at(profile, i, &event);
//!   if (!status) printf("%d %s\n", event.depth, event.name);  // prints 0 step
//!                                                            // prints 1 aten::neg
//! }
//! rlt_profile_free(profile);
//! rlt_tensor_free(y);
//! rlt_tensor_free(x);
//! ```

use crate::core::rlt_deleter;
use crate::dispatch::rlt_value;
use crate::support::callback::{self, Context};
use crate::support::handle::{self, Handle};
use crate::support::sized::{self, SizedStruct};
use crate::support::value::{self, Lent};
use crate::support::{arg, guard, guard_free, out};
use rushlight_base::{Result, bail, ensure, err, list};
use rushlight_tensor::Value;
use rushlight_tensor::observe::{self, Call, Described, Needs, Observer, Scope, Settings};
use rushlight_tensor::profile::{self, Event, Options, Profile, SortBy, Table};
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::sync::{Arc, OnceLock};

// ---- Kinds of calls ----

/// An operator.
pub const RLT_SCOPE_FUNCTION: i32 = 0;
/// A node of a backward pass.
pub const RLT_SCOPE_BACKWARD_FUNCTION: i32 = 1;
/// A function or method of TorchScript.
pub const RLT_SCOPE_TORCHSCRIPT_FUNCTION: i32 = 2;
/// A range of the program.
pub const RLT_SCOPE_USER: i32 = 7;

/// A profile: the events that were recorded between `rlt_profiler_start` and `rlt_profiler_stop`.
pub struct rlt_profile {
    _private: [u8; 0],
}

/// What a handle of a profile owns.
pub struct Recorded {
    profile: Profile,
    /// The names of the profile as C strings.
    names: Vec<CString>,
}

impl Handle for rlt_profile {
    type Rust = Box<Recorded>;
}

/// Options of a profile. NULL, like a struct of zeros, records names, times and threads of all threads.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_profiler_options {
    /// `sizeof(rlt_profiler_options)`
    pub struct_size: usize,
    /// 1: record the shapes and dtypes of arguments
    pub record_shapes: i32,
    /// 1: record the bytes of tensor memory on the CPU that calls allocate and free
    pub profile_memory: i32,
    /// 1: record only the calls of the calling thread, and of the threads on which its backward passes run
    pub this_thread: i32,
    /// the kinds of calls to record, a bit `1 << RLT_SCOPE_*` for each; 0: all
    pub scopes: u32,
}

// SAFETY: `rlt_profiler_options` is repr(C) and begins with `struct_size`; its other fields are numbers, for which every
// value from C is valid.
unsafe impl SizedStruct for rlt_profiler_options {
    const UNSET: Self =
        rlt_profiler_options { struct_size: 0, record_shapes: 0, profile_memory: 0, this_thread: 0, scopes: 0 };
    const NAME: &'static str = "rlt_profiler_options";
}

// ---- Recording ----

/// Starts a profile. An error if there is one already: there is at most one of all threads, and one of each thread
/// (`this_thread`). Any thread may call it, also while others call operators.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_profiler_start(options: *const rlt_profiler_options) -> i32 {
    guard("rlt_profiler_start", || {
        if options.is_null() {
            return profile::start(Options::default());
        }
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `options` points to `struct_size`
        // readable bytes.
        let options = unsafe { sized::read(options, "options") }?;
        profile::start(Options {
            shapes: arg::bool(options.record_shapes),
            memory: arg::bool(options.profile_memory),
            this_thread: arg::bool(options.this_thread),
            scopes: options.scopes,
        })
    })
}

/// Stops the profile of the calling thread, or if it has none that of all threads, and returns it. Calls that are still
/// running end at this time. An error if no profile is running, or if there was not enough memory to record all events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_profiler_stop(out: *mut *mut rlt_profile) -> i32 {
    guard("rlt_profiler_stop", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        let out = unsafe { out::handle(out, "out") }?;
        let profile = profile::stop()?;
        let names = list::try_collect(profile.names.iter().map(|name| Ok(c_string(name))))?;
        out.give(Box::new(Recorded { profile, names }))
    })
}

/// Returns whether a profile of the calling thread or of all threads is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_profiler_is_enabled(out: *mut i32) -> i32 {
    guard("rlt_profiler_is_enabled", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::bool(out, "out") }?.set(profile::is_enabled())
    })
}

/// A NUL inside a string would truncate it in C, so it becomes a space.
fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

// ---- Events ----

/// One call of an operator, of a node or of a range. Times are in nanoseconds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_profile_event {
    /// `sizeof(rlt_profile_event)`
    pub struct_size: usize,
    /// `aten::add`, `MulBackward0`, or the name of the range; valid as long as the profile
    pub name: *const c_char,
    /// `RLT_SCOPE_*`
    pub scope: i32,
    /// how many events enclose it
    pub depth: i32,
    /// index of the event that encloses it on the same thread; -1: none
    pub parent: i64,
    /// its thread (`rlt_current_thread`)
    pub thread: u64,
    /// of a node: the thread that recorded it; 0 for other events
    pub forward_thread: u64,
    /// the number that connects an operator with its node, among those of a thread; -1: none
    pub sequence: i64,
    /// from the start of the profile to the beginning of the call
    pub start_ns: i64,
    /// from its beginning to its end
    pub duration_ns: i64,
    /// duration less those of the events that it encloses
    pub self_ns: i64,
    /// bytes of tensor memory on the CPU that its thread allocated meanwhile
    pub allocated: i64,
    /// bytes that its thread freed meanwhile
    pub freed: i64,
    /// bytes allocated less bytes freed, without those of the events that it encloses
    pub self_bytes: i64,
    /// number of inputs (`rlt_profile_event_input`)
    pub n_inputs: i64,
}

// SAFETY: `rlt_profile_event` is repr(C) and begins with `struct_size`; its other fields are numbers and a pointer that is
// only written, for which every value from C is valid.
unsafe impl SizedStruct for rlt_profile_event {
    const UNSET: Self = rlt_profile_event {
        struct_size: 0,
        name: ptr::null(),
        scope: 0,
        depth: 0,
        parent: -1,
        thread: 0,
        forward_thread: 0,
        sequence: -1,
        start_ns: 0,
        duration_ns: 0,
        self_ns: 0,
        allocated: 0,
        freed: 0,
        self_bytes: 0,
        n_inputs: 0,
    };
    const NAME: &'static str = "rlt_profile_event";
}

impl Recorded {
    fn event(&self, index: i64) -> Result<&Event> {
        let event = usize::try_from(index).ok().and_then(|index| self.profile.events.get(index));
        event.ok_or_else(|| {
            err!(Index, "there is no event at index {index} of a profile of {} events", self.profile.events.len())
        })
    }

    fn c_event(&self, event: &Event) -> rlt_profile_event {
        rlt_profile_event {
            struct_size: size_of::<rlt_profile_event>(),
            name: self.names.get(event.name).map_or(ptr::null(), |name| name.as_ptr()),
            scope: event.scope as i32,
            depth: event.depth as i32,
            parent: event.parent.map_or(-1, |parent| parent as i64),
            thread: event.thread,
            forward_thread: event.forward_thread,
            sequence: event.sequence,
            start_ns: event.start as i64,
            duration_ns: event.duration as i64,
            self_ns: event.self_duration as i64,
            allocated: event.allocated,
            freed: event.freed,
            self_bytes: event.self_bytes,
            n_inputs: event.inputs.len() as i64,
        }
    }
}

/// Returns the number of events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_profile_len(profile: *const rlt_profile, out: *mut i64) -> i32 {
    guard("rlt_profile_len", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `profile` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let profile = arg::handle(profile, "profile")?;
            out::value(out, "out")?.set(profile.profile.events.len() as i64)
        }
    })
}

/// Writes the event at `index`, counted from 0, to `*event`, whose `struct_size` is set. Events are in the order of threads,
/// those of a thread in the order in which they began.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_profile_event_at(
    profile: *const rlt_profile,
    index: i64,
    event: *mut rlt_profile_event,
) -> i32 {
    guard("rlt_profile_event_at", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `profile` is NULL or a live handle, and
        // `event` is NULL or points to `struct_size` readable and writable bytes.
        unsafe {
            let profile = arg::handle(profile, "profile")?;
            ensure!(!event.is_null(), NullPointer, "argument `event` is NULL");
            sized::write(event, &profile.c_event(profile.event(index)?), "event")
        }
    })
}

/// Returns an input of an event, if the profile records shapes: `*argument` is the index of the argument, `*dtype` the
/// `RLT_DTYPE_*` of its tensor, and `*sizes` its `*ndim` sizes, valid as long as the profile. Each tensor of a list is an
/// input. An argument without a tensor is an input with the dtype -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_profile_event_input(
    profile: *const rlt_profile,
    index: i64,
    input: i64,
    argument: *mut i64,
    dtype: *mut i32,
    sizes: *mut *const i64,
    ndim: *mut i64,
) -> i32 {
    guard("rlt_profile_event_input", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `profile` is NULL or a live handle, and
        // `argument`, `dtype`, `sizes` and `ndim` are NULL or writable.
        unsafe {
            let profile = arg::handle(profile, "profile")?;
            let (argument, dtype) = (out::value(argument, "argument")?, out::value(dtype, "dtype")?);
            let (sizes, ndim) = (out::value(sizes, "sizes")?, out::value(ndim, "ndim")?);
            let event = profile.event(index)?;
            let Some(found) = usize::try_from(input).ok().and_then(|input| event.inputs.get(input)) else {
                bail!(Index, "there is no input {input} of an event with {} inputs", event.inputs.len())
            };
            argument.set(i64::from(found.argument))?;
            dtype.set(found.dtype.map_or(-1, |dtype| dtype as i32))?;
            sizes.set(found.sizes.as_ptr())?;
            ndim.set(found.sizes.len() as i64)
        }
    })
}

// ---- Table and trace ----

/// Returns the profile as a table, an owned string: a row for each name, or with `by_shape` = 1 for each name and shapes of
/// arguments, with times, percentages, number of calls, and bytes if they are recorded. `sort_by` is a column of PyTorch
/// whose largest values come first: `self_cpu_time_total`, `cpu_time_total`, `cpu_time`, `count`, `self_cpu_memory_usage`
/// or `cpu_memory_usage`; NULL: rows are in the order of first calls. At most `rows` rows; -1: all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_profile_table(
    profile: *const rlt_profile,
    sort_by: *const c_char,
    rows: i64,
    by_shape: i32,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_profile_table", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `profile` is NULL or a live handle,
        // `sort_by` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        unsafe {
            let profile = arg::handle(profile, "profile")?;
            let sort_by = arg::string_opt(sort_by, "sort_by")?.unwrap_or("");
            let out = out::value(out, "out")?;
            let sort_by: SortBy = sort_by.parse()?;
            let table = Table { sort_by, rows: usize::try_from(rows).ok(), by_shape: arg::bool(by_shape) };
            out.set(value::write(Value::from(profile.profile.table(table)?.as_str())))
        }
    })
}

/// Writes the profile to the file `path` in Chrome's format, for `chrome://tracing` and Perfetto.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_profile_chrome_trace(profile: *const rlt_profile, path: *const c_char) -> i32 {
    guard("rlt_profile_chrome_trace", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `profile` is NULL or a live handle, and
        // `path` is NULL or a NUL-terminated string.
        let (profile, path) = unsafe { (arg::handle(profile, "profile")?, arg::string(path, "path")?) };
        profile.profile.save_chrome_trace(path.as_ref())
    })
}

/// Returns the trace as an owned string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_profile_chrome_trace_string(profile: *const rlt_profile, out: *mut rlt_value) -> i32 {
    guard("rlt_profile_chrome_trace_string", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `profile` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let profile = arg::handle(profile, "profile")?;
            let out = out::value(out, "out")?;
            let trace = String::from_utf8(profile.profile.chrome_trace()?);
            out.set(value::write(Value::Str(trace.map_err(|error| err!(Internal, "{error}"))?.into())))
        }
    })
}

/// Frees a profile. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_profile_free(profile: *mut rlt_profile) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `profile` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_profile_free", || drop(unsafe { handle::take(profile) }));
}

// ---- Ranges of the program ----

/// A range of the program that is running.
pub struct rlt_record_function {
    _private: [u8; 0],
}

impl Handle for rlt_record_function {
    type Rust = Box<observe::Range>;
}

/// What describes a range besides its name and inputs. NULL: nothing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_record_function_options {
    /// `sizeof(rlt_record_function_options)`
    pub struct_size: usize,
    /// the number that connects an operator with its node; -1: none
    pub sequence: i64,
    /// of a node: the thread that recorded it; 0: none
    pub forward_thread: u64,
    /// a number of the program's; -1: none
    pub debug_handle: i64,
}

// SAFETY: `rlt_record_function_options` is repr(C) and begins with `struct_size`; its other fields are numbers, for which
// every value from C is valid.
unsafe impl SizedStruct for rlt_record_function_options {
    const UNSET: Self =
        rlt_record_function_options { struct_size: 0, sequence: -1, forward_thread: 0, debug_handle: -1 };
    const NAME: &'static str = "rlt_record_function_options";
}

/// Begins a range of the kind `scope` (`RLT_SCOPE_*`), usually `RLT_SCOPE_USER`. `args` are its inputs, which may be empty.
/// `*out` is NULL if there is neither a profile nor a callback for it: `rlt_record_function_end` accepts that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_record_function_begin(
    scope: i32,
    name: *const c_char,
    args: *const rlt_value,
    n_args: i64,
    options: *const rlt_record_function_options,
    out: *mut *mut rlt_record_function,
) -> i32 {
    guard("rlt_record_function_begin", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `name` is NULL or a NUL-terminated
        // string, `args` is NULL or points to `n_args` elements whose payloads are what their tags say, `options` is NULL
        // or points to `struct_size` readable bytes, and `out` is NULL or writable.
        unsafe {
            let name = arg::string(name, "name")?;
            let args = arg::slice(args, n_args, "args")?;
            let out = out::handle(out, "out")?;
            let scope = Scope::from_code(scope)?;
            if !observe::is_observed(scope) {
                return out.give_opt(None);
            }
            let options = match options.is_null() {
                true => rlt_record_function_options::UNSET,
                false => sized::read(options, "options")?,
            };
            let described = Described {
                name: name.to_owned(),
                inputs: list::try_collect(args.iter().map(|value| value::read(value, "args[]")))?,
                sequence: Some(options.sequence),
                forward_thread: options.forward_thread,
                debug_handle: Some(options.debug_handle),
            };
            out.give_opt(observe::begin(scope, described).map(Box::new))
        }
    })
}

/// Sets the results of a range, which callbacks see at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_record_function_set_outputs(
    range: *mut rlt_record_function,
    outputs: *const rlt_value,
    n_outputs: i64,
) -> i32 {
    guard("rlt_record_function_set_outputs", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `range` is NULL or a live handle that no
        // other thread uses, and `outputs` is NULL or points to `n_outputs` elements whose payloads are what their tags say.
        unsafe {
            let mut range = arg::handle(range.cast_const(), "range")?;
            let outputs = arg::slice(outputs, n_outputs, "outputs")?;
            range.set_outputs(list::try_collect(outputs.iter().map(|value| value::read(value, "outputs[]")))?);
            Ok(())
        }
    })
}

/// Ends a range and frees the handle, on any thread. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_record_function_end(range: *mut rlt_record_function) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `range` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_record_function_end", || drop(unsafe { handle::take(range) }));
}

/// Returns whether the profiler and callbacks see calls of the calling thread. They do unless
/// `rlt_record_function_set_enabled` has disabled it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_record_function_is_enabled(out: *mut i32) -> i32 {
    guard("rlt_record_function_is_enabled", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::bool(out, "out") }?.set(observe::is_enabled())
    })
}

/// Sets whether the profiler and callbacks see calls of the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_record_function_set_enabled(on: i32) -> i32 {
    guard("rlt_record_function_set_enabled", || {
        observe::set_enabled(arg::bool(on));
        Ok(())
    })
}

/// Returns whether a profile or a callback sees calls of the kind `scope` on the calling thread, and whether a callback needs
/// their inputs and outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_record_function_is_observed(
    scope: i32,
    observed: *mut i32,
    inputs: *mut i32,
    outputs: *mut i32,
) -> i32 {
    guard("rlt_record_function_is_observed", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `observed`, `inputs` and `outputs` are
        // NULL or writable.
        unsafe {
            let (observed, inputs) = (out::bool(observed, "observed")?, out::bool(inputs, "inputs")?);
            let outputs = out::bool(outputs, "outputs")?;
            let scope = Scope::from_code(scope)?;
            let needs = observe::needs(scope);
            observed.set(observe::is_observed(scope))?;
            inputs.set(needs.inputs)?;
            outputs.set(needs.outputs)
        }
    })
}

/// Returns the number of the calling thread in profiles and callbacks, from 1 on.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_current_thread() -> u64 {
    observe::current_thread()
}

// ---- Callbacks ----

/// A call that a callback is notified of. Everything in it is valid during the callback.
#[repr(C)]
pub struct rlt_call {
    /// `sizeof(rlt_call)` of the library, which may be newer than the program
    pub struct_size: usize,
    /// `aten::add`, `MulBackward0`, or the name of the range
    pub name: *const c_char,
    /// the name of the overload, which may be empty; NULL if the call is none of an operator
    pub overload: *const c_char,
    /// `RLT_SCOPE_*`
    pub scope: i32,
    /// 0
    pub reserved: i32,
    /// the number that connects an operator with its node, among those of a thread; -1: none
    pub sequence: i64,
    /// the thread that began the call (`rlt_current_thread`)
    pub thread: u64,
    /// of a node: the thread that recorded it; 0 for other calls
    pub forward_thread: u64,
    /// a number that no other call has
    pub id: u64,
    /// a number of the program's; -1: none
    pub debug_handle: i64,
    /// the arguments, if the callback needs them; else NULL
    pub inputs: *const rlt_value,
    /// number of arguments
    pub n_inputs: i64,
    /// at the end of a call that succeeded: the results, if the callback needs them; else NULL
    pub outputs: *const rlt_value,
    /// number of results
    pub n_outputs: i64,
}

/// Is notified that a call begins. `*state`, NULL on entry, is passed to the callback at its end.
pub type rlt_call_begin =
    Option<unsafe extern "C" fn(ctx: *mut c_void, call: *const rlt_call, state: *mut *mut c_void) -> i32>;

/// Is notified that a call ends.
pub type rlt_call_end =
    Option<unsafe extern "C" fn(ctx: *mut c_void, call: *const rlt_call, state: *mut c_void) -> i32>;

/// Which calls a callback is notified of. NULL, like a struct of zeros, means all of them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_callback_options {
    /// `sizeof(rlt_callback_options)`
    pub struct_size: usize,
    /// the kinds of calls, a bit `1 << RLT_SCOPE_*` for each; 0: all
    pub scopes: u32,
    /// 1: the callback reads the arguments
    pub needs_inputs: i32,
    /// 1: the callback reads the results
    pub needs_outputs: i32,
    /// 1: only calls of the calling thread
    pub this_thread: i32,
    /// 1: the callback is notified of a call with the probability `sampling_probability`, of the others not
    pub is_sampled: i32,
    /// 0
    pub reserved: i32,
    /// from 0 to 1
    pub sampling_probability: f64,
}

// SAFETY: `rlt_callback_options` is repr(C) and begins with `struct_size`; its other fields are numbers, for which every
// value from C is valid.
unsafe impl SizedStruct for rlt_callback_options {
    const UNSET: Self = rlt_callback_options {
        struct_size: 0,
        scopes: 0,
        needs_inputs: 0,
        needs_outputs: 0,
        this_thread: 0,
        is_sampled: 0,
        reserved: 0,
        sampling_probability: 0.0,
    };
    const NAME: &'static str = "rlt_callback_options";
}

impl rlt_callback_options {
    fn settings(&self) -> Settings {
        Settings {
            scopes: if self.scopes == 0 { u32::MAX } else { self.scopes },
            sampling: if arg::bool(self.is_sampled) { self.sampling_probability } else { 1.0 },
            needs: Needs { inputs: arg::bool(self.needs_inputs), outputs: arg::bool(self.needs_outputs) },
        }
    }
}

/// Functions of the program that are notified of calls.
struct Callback {
    begin: rlt_call_begin,
    end: rlt_call_end,
    needs: Needs,
    context: Context,
    /// The context with its deleter, once it is certain that the callback was added.
    owned: OnceLock<Context>,
}

impl Callback {
    /// Passes a call to `read` as a C struct.
    fn with_call<R>(&self, call: &Call<'_>, read: impl FnOnce(&rlt_call) -> R) -> R {
        let (name, overload) = (c_string(&call.name()), c_string(call.overload()));
        let lend = |needed: bool, values: &[Value]| needed.then(|| Lent::new(values));
        let (inputs, outputs) = (lend(self.needs.inputs, call.inputs), lend(self.needs.outputs, call.outputs));
        let first = |lent: &Option<Lent>| lent.as_ref().map_or(ptr::null(), |lent| lent.parts().0);
        read(&rlt_call {
            struct_size: size_of::<rlt_call>(),
            name: name.as_ptr(),
            overload: if call.op().is_some() { overload.as_ptr() } else { ptr::null() },
            scope: call.scope as i32,
            reserved: 0,
            sequence: call.sequence,
            thread: call.thread,
            forward_thread: call.forward_thread,
            id: call.id,
            debug_handle: call.debug_handle,
            inputs: first(&inputs),
            n_inputs: call.inputs.len() as i64,
            outputs: first(&outputs),
            n_outputs: call.outputs.len() as i64,
        })
    }
}

impl Observer for Callback {
    fn begin(&self, call: &Call<'_>) -> Result<usize> {
        let Some(begin) = self.begin else { return Ok(0) };
        let mut state = ptr::null_mut::<c_void>();
        self.with_call(call, |call| {
            callback::call("rlt_add_callback", || {
                // SAFETY: `begin` has this signature and was registered with this context; the call and `state` live until
                // it returns.
                unsafe { begin(self.context.get(), call, &raw mut state) }
            })
        })?;
        Ok(state.expose_provenance())
    }

    fn end(&self, call: &Call<'_>, state: usize) -> Result<()> {
        let Some(end) = self.end else { return Ok(()) };
        let state = ptr::with_exposed_provenance_mut(state);
        self.with_call(call, |call| {
            callback::call("rlt_add_callback", || {
                // SAFETY: `end` has this signature and was registered with this context; the call lives until it returns,
                // and `state` is what `begin` stored for the same call, or NULL.
                unsafe { end(self.context.get(), call, state) }
            })
        })
    }
}

/// Adds functions that are notified of calls: `begin` before a call, `end` after it; either may be NULL. Those for all
/// threads are called before those of a thread, in the order in which they were added. A status other than 0 is a warning
/// in the log and does not affect the call. Operators that they call are not observed. `*id` is for `rlt_remove_callback`.
/// `deleter(ctx)` is called once, when the callback is removed and no call that it was notified of is running; but not if
/// this function fails. A callback of a thread is removed when the thread ends.
///
/// The functions may be called from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_add_callback(
    begin: rlt_call_begin,
    end: rlt_call_end,
    ctx: *mut c_void,
    deleter: rlt_deleter,
    options: *const rlt_callback_options,
    id: *mut u64,
) -> i32 {
    guard("rlt_add_callback", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `id` is NULL or writable.
        let id = unsafe { out::value(id, "id") }?;
        let options = match options.is_null() {
            true => rlt_callback_options::UNSET,
            // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `options` points to `struct_size`
            // readable bytes.
            false => unsafe { sized::read(options, "options") }?,
        };
        let settings = options.settings();
        let (context, owned) = (Context::new(ctx, None), OnceLock::new());
        let callback = Arc::new(Callback { begin, end, needs: settings.needs, context, owned });
        let add = if arg::bool(options.this_thread) { observe::add_thread_local } else { observe::add_global };
        let added = add(callback.clone(), settings)?;
        // The cell is new, so setting it cannot fail.
        let _ = callback.owned.set(Context::new(ctx, deleter));
        id.set(added)
    })
}

/// Removes a callback of all threads or of the calling thread. An error if there is none with this `id`.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_remove_callback(id: u64) -> i32 {
    guard("rlt_remove_callback", || {
        ensure!(observe::remove(id), Index, "there is no callback with id {id}");
        Ok(())
    })
}

/// Enables or disables a callback of all threads or of the calling thread. An error if there is none with this `id`.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_callback_enabled(id: u64, on: i32) -> i32 {
    guard("rlt_set_callback_enabled", || {
        ensure!(observe::set_observer_enabled(id, arg::bool(on)), Index, "there is no callback with id {id}");
        Ok(())
    })
}

/// Removes the callbacks of all threads or, with `this_thread` = 1, those of the calling thread. A running profile of the same
/// kind records nothing from then on.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_clear_callbacks(this_thread: i32) -> i32 {
    guard("rlt_clear_callbacks", || {
        if arg::bool(this_thread) {
            observe::clear_thread_local();
        } else {
            observe::clear_global();
        }
        Ok(())
    })
}

/// Returns whether there are callbacks, a running profile included, for all threads or, with `this_thread` = 1, for the
/// calling thread alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_has_callbacks(this_thread: i32, out: *mut i32) -> i32 {
    guard("rlt_has_callbacks", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        let out = unsafe { out::bool(out, "out") }?;
        out.set(if arg::bool(this_thread) { observe::has_thread_local() } else { observe::has_global() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_scopes_are_those_of_the_core() {
        let scopes = [
            (RLT_SCOPE_FUNCTION, Scope::Function),
            (RLT_SCOPE_BACKWARD_FUNCTION, Scope::BackwardFunction),
            (RLT_SCOPE_TORCHSCRIPT_FUNCTION, Scope::TorchScriptFunction),
            (RLT_SCOPE_USER, Scope::User),
        ];
        for (code, scope) in scopes {
            assert_eq!(Scope::from_code(code).unwrap(), scope);
        }
    }
}
