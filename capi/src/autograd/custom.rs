//! Custom functions: saved tensors, and functions with a derivative of the caller.

use super::{NodeHandle, give_edge, rlt_node, rlt_saved_tensor};
use crate::core::rlt_deleter;
use crate::support::callback::{self, Context};
use crate::support::handle;
use crate::support::sized::{self, SizedStruct};
use crate::support::{arg, guard, guard_free, out};
use crate::tensor::rlt_tensor;
use rushlight_base::{Result, ensure, err};
use rushlight_tensor::Tensor;
use rushlight_tensor::autograd::{self, CustomFunction, CustomSaved, Edge, Edges};
use std::any::Any;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Arc;

// ---- Custom functions ----

/// Saves a tensor for the backward of a custom function. An output of the function (`is_output`) is saved after
/// `rlt_custom_function_record`, without its history, which would be a reference cycle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_saved_tensor_new(
    tensor: *const rlt_tensor,
    is_output: i32,
    out: *mut *mut rlt_saved_tensor,
) -> i32 {
    guard("rlt_saved_tensor_new", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        let (tensor, out) = unsafe { (arg::tensor(tensor, "tensor")?, out::handle(out, "out")?) };
        out.give(Box::new(CustomSaved::new(&tensor, arg::bool(is_output))?))
    })
}

/// Returns the saved tensor. An error if it was modified in place since.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_saved_tensor_unpack(saved: *const rlt_saved_tensor, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_saved_tensor_unpack", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `saved` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (saved, out) = unsafe { (arg::handle(saved, "saved")?, out::tensor(out, "out")?) };
        out.give(saved.unpack()?)
    })
}

/// Frees a saved tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_saved_tensor_free(saved: *mut rlt_saved_tensor) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `saved` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_saved_tensor_free", || drop(unsafe { handle::take(saved) }));
}

/// Computes the derivative of a custom function: from the gradients of its outputs (NULL if undefined) to owned handles
/// of the gradients of its inputs (NULL on entry, and for none).
pub type rlt_custom_backward = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        grad_outputs: *const *const rlt_tensor,
        n_outputs: i64,
        grad_inputs: *mut *mut rlt_tensor,
        n_inputs: i64,
    ) -> i32,
>;

/// A function with a custom derivative.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_custom_function {
    /// `sizeof(rlt_custom_function)`
    pub struct_size: usize,
    /// Name in messages and for `rlt_node_name`. Copied.
    pub name: *const c_char,
    /// Passed to the callbacks.
    pub ctx: *mut c_void,
    /// The derivative. It may be called from any thread, and again if the graph is retained.
    pub backward: rlt_custom_backward,
    /// NULL, or called once with `ctx` when the derivative can no longer run: after a backward that does not retain the
    /// graph, or when the graph is freed. Free saved tensors here.
    pub deleter: rlt_deleter,
    /// 0 or 1: whether undefined gradients are passed as zeros instead of NULL
    pub materialize_grads: i32,
    /// 0
    pub reserved: i32,
    /// NULL, or called with `ctx` after a backward that does not retain the graph: free saved tensors here. The function
    /// then stays in its node, and `deleter` is called when the graph is freed.
    pub release: rlt_deleter,
}

// SAFETY: `rlt_custom_function` is repr(C) and begins with `struct_size`; its other fields are pointers, optional
// functions and integers, for which every value from C is valid.
unsafe impl SizedStruct for rlt_custom_function {
    const UNSET: Self = rlt_custom_function {
        struct_size: 0,
        name: ptr::null(),
        ctx: ptr::null_mut(),
        backward: None,
        deleter: None,
        materialize_grads: 0,
        reserved: 0,
        release: None,
    };
    const NAME: &'static str = "rlt_custom_function";
}

/// Records that `outputs` were computed from `inputs` (NULL entries: arguments that are not tensors) by a function with
/// this derivative. The forward must run with recording disabled (`rlt_set_grad_enabled`). `differentiable` says for
/// each output whether it has a gradient; NULL: all have. An output that is one of the inputs was modified in place.
///
/// `*recorded` is 0 if no input requires a gradient or recording is off. Then, and if this function fails, ownership is
/// not taken: `ctx` still belongs to the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_custom_function_record(
    function: *const rlt_custom_function,
    inputs: *const *const rlt_tensor,
    n_inputs: i64,
    outputs: *const *const rlt_tensor,
    n_outputs: i64,
    differentiable: *const i32,
    recorded: *mut i32,
) -> i32 {
    guard("rlt_custom_function_record", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `given.name` is NULL or a
        // NUL-terminated string, `inputs` is NULL or points to `n_inputs` live or NULL handles, `outputs` is NULL or
        // points to `n_outputs` live or NULL handles, `differentiable` is NULL or points to `n_outputs` elements,
        // `function` is NULL or points to `struct_size` readable bytes, and `recorded` is NULL or writable.
        let (given, name, inputs, outputs, differentiable, recorded) = unsafe {
            let given = sized::read(function, "function")?;
            let name = arg::string(given.name, "function.name")?;
            let inputs = arg::tensors_opt(inputs, n_inputs, "inputs")?;
            let outputs = arg::tensors(outputs, n_outputs, "outputs")?;
            let differentiable = arg::bools_opt(differentiable, n_outputs, "differentiable")?;
            (given, name, inputs, outputs, differentiable, out::bool(recorded, "recorded")?)
        };
        let custom = Custom::new(&given, name)?;
        let done = autograd::record_custom(custom.clone(), &inputs.refs(), &outputs.refs(), &differentiable)?;
        if done {
            custom.take_ownership(&given);
        }
        recorded.set(done)
    })
}

/// Returns where a gradient of the tensor goes: `*node` is an owned handle of the node that computed it, or that
/// accumulates the gradient of a leaf (NULL if it does not require a gradient), `*input_nr` the index of the gradient.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_gradient_edge(
    tensor: *const rlt_tensor,
    node: *mut *mut rlt_node,
    input_nr: *mut i64,
) -> i32 {
    guard("rlt_tensor_gradient_edge", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle, and
        // `node` and `input_nr` are NULL or writable.
        let (tensor, node, input_nr) =
            unsafe { (arg::tensor(tensor, "tensor")?, out::handle(node, "node")?, out::value(input_nr, "input_nr")?) };
        give_edge(tensor.gradient_edge(), node, input_nr)
    })
}

/// Like `rlt_custom_function_record`, with the destinations of the gradients instead of the inputs: the gradient at
/// `index` is the incoming gradient `next_inputs[index]` of the node `next[index]` (NULL: not needed). `written` says for
/// each output whether it is an input that was modified in place; NULL: none. `*node` is an owned handle of the new node.
///
/// The outputs get the node even if recording is off. If this function fails, `ctx` still belongs to the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_custom_function_attach(
    function: *const rlt_custom_function,
    next: *const *const rlt_node,
    next_inputs: *const i64,
    n_next: i64,
    outputs: *const *const rlt_tensor,
    n_outputs: i64,
    differentiable: *const i32,
    written: *const i32,
    node: *mut *mut rlt_node,
) -> i32 {
    guard("rlt_custom_function_attach", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `given.name` is NULL or a
        // NUL-terminated string, `next` and `next_inputs` point to `n_next` elements, those of `next` NULL or live
        // handles, `outputs` is NULL or points to `n_outputs` live or NULL handles, `differentiable` and `written` are
        // NULL or point to `n_outputs` elements, `function` is NULL or points to `struct_size` readable bytes, and `node`
        // is NULL or writable.
        let (given, name, next, next_inputs, outputs, differentiable, written, node) = unsafe {
            let given = sized::read(function, "function")?;
            let name = arg::string(given.name, "function.name")?;
            let next = arg::slice(next, n_next, "next")?;
            let next_inputs = arg::ints(next_inputs, n_next, "next_inputs")?;
            let outputs = arg::tensors(outputs, n_outputs, "outputs")?;
            let differentiable = arg::bools_opt(differentiable, n_outputs, "differentiable")?;
            let written = arg::bools_opt(written, n_outputs, "written")?;
            (given, name, next, next_inputs, outputs, differentiable, written, out::handle(node, "node")?)
        };
        // SAFETY: the caller guarantees that the elements are NULL or live handles for the duration of the call.
        let next = unsafe { edges_to(next, next_inputs, "next") }?;
        let edges = next.into_iter().fold(Edges::new(), Edges::with_edge);
        let custom = Custom::new(&given, name)?;
        let made = autograd::record_edges(custom.clone(), edges, &outputs.refs(), &written, &differentiable)?;
        custom.take_ownership(&given);
        node.give(NodeHandle::new(made))
    })
}

/// The edges to nodes, `None` where a node is NULL.
///
/// # Safety
/// Each element of `nodes` is NULL or a live handle for the duration of the call.
pub(super) unsafe fn edges_to(
    nodes: &[*const rlt_node],
    inputs: &[i64],
    name: &'static str,
) -> Result<Vec<Option<Edge>>> {
    let edges = nodes.iter().zip(inputs).map(|(node, input)| {
        // SAFETY: the caller guarantees that the element is NULL or a live handle for the duration of the call.
        let node = (!node.is_null()).then(|| unsafe { arg::handle(*node, name) }).transpose()?;
        node.as_ref().map(|node| edge_to(node, *input)).transpose()
    });
    edges.collect()
}

fn edge_to(next: &NodeHandle, input: i64) -> Result<Edge> {
    let count = next.node.outputs().len();
    let output = u32::try_from(input).ok().filter(|output| (*output as usize) < count);
    let output = output
        .ok_or_else(|| err!(Index, "input {input} is out of range for node {} with {count}", next.node.name()))?;
    Ok(Edge { node: next.node.clone(), output })
}

/// Returns the `ctx` of the custom function that recorded a node, if its derivative is `backward`; NULL otherwise, and
/// when the node has dropped the function. Valid until the function's `deleter` is called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_custom_ctx(
    node: *const rlt_node,
    backward: rlt_custom_backward,
    out: *mut *mut c_void,
) -> i32 {
    guard("rlt_node_custom_ctx", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `node` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (node, out) = unsafe { (arg::handle(node, "node")?, out::value(out, "out")?) };
        let function = node.node.custom();
        let custom = function.as_deref().and_then(|function| (function as &dyn Any).downcast_ref::<Custom>());
        let address = |backward: rlt_custom_backward| backward.map(|backward| backward as usize);
        let found = custom.filter(|custom| address(custom.backward) == address(backward));
        out.set(found.map_or(ptr::null_mut(), |custom| custom.ctx.0))
    })
}

/// Within the backward of a custom function: returns whether the gradient of its input number `index` is needed. Other
/// gradients need not be computed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_custom_function_needs_input_grad(index: i64, out: *mut i32) -> i32 {
    guard("rlt_custom_function_needs_input_grad", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        let out = unsafe { out::bool(out, "out") }?;
        let needs = Needs::here()
            .ok_or_else(|| err!(Runtime, "needs_input_grad is only available in the backward of a custom function"))?;
        let needed = usize::try_from(index).ok().and_then(|index| needs.get(index));
        out.set(*needed.ok_or_else(|| err!(Index, "index {index} is out of range for {} inputs", needs.len()))?)
    })
}

/// Marks the calling thread as running the backward of a custom function.
struct Needs<'a> {
    before: *const [bool],
    _needs: std::marker::PhantomData<&'a [bool]>,
}

thread_local! {
    /// The innermost one. A raw pointer has no destructor, so the library can be unloaded meanwhile.
    static NEEDS: std::cell::Cell<*const [bool]> = const { std::cell::Cell::new(ptr::slice_from_raw_parts(ptr::null(), 0)) };
}

impl Needs<'_> {
    fn enter(needs: &[bool]) -> Needs<'_> {
        Needs { before: NEEDS.replace(needs), _needs: std::marker::PhantomData }
    }

    fn here<'a>() -> Option<&'a [bool]> {
        // SAFETY: the pointer is NULL or points to a `Needs` of a frame further up this thread's stack, which borrows
        // the slice while it lives; the result is used only within the calling function, below that frame.
        unsafe { NEEDS.get().as_ref() }
    }
}

impl Drop for Needs<'_> {
    fn drop(&mut self) {
        NEEDS.set(self.before);
    }
}

/// A pointer that may be used on any thread.
struct SharedPointer(*mut c_void);

// SAFETY: docs/c-abi.md: the context of a callback may be used from any thread; the wrapper only passes the pointer on.
unsafe impl Send for SharedPointer {}
// SAFETY: sharing `&SharedPointer` only copies the pointer; docs/c-abi.md lets any thread use the context.
unsafe impl Sync for SharedPointer {}

struct Custom {
    name: String,
    /// Checked to be present when the function was recorded.
    backward: rlt_custom_backward,
    wants_zeros: bool,
    release: rlt_deleter,
    context: std::sync::OnceLock<Context>,
    ctx: SharedPointer,
}

impl Custom {
    fn new(given: &rlt_custom_function, name: &str) -> Result<Arc<Custom>> {
        ensure!(given.backward.is_some(), NullPointer, "argument `function.backward` is NULL");
        Ok(Arc::new(Custom {
            name: name.to_owned(),
            backward: given.backward,
            wants_zeros: arg::bool(given.materialize_grads),
            release: given.release,
            // The deleter is armed only when the function was recorded.
            context: std::sync::OnceLock::new(),
            ctx: SharedPointer(given.ctx),
        }))
    }

    /// The function was recorded: its `ctx` belongs to it now.
    fn take_ownership(&self, given: &rlt_custom_function) {
        // The cell is new, so setting it cannot fail.
        let _ = self.context.set(Context::new(given.ctx, given.deleter));
    }
}

impl CustomFunction for Custom {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants_zeros(&self) -> bool {
        self.wants_zeros
    }

    fn release(&self) -> bool {
        if let Some(release) = self.release {
            // SAFETY: `release` has this signature (field of `rlt_custom_function`), and `ctx` lives until the deleter
            // is called, which `self.context` does.
            unsafe { release(self.ctx.0) };
        }
        self.release.is_some()
    }

    fn backward(&self, grads: &[Option<Tensor>], needs: &[bool]) -> Result<Vec<Option<Tensor>>> {
        let lent = Lent::optional(grads);
        let mut results = vec![ptr::null_mut::<rlt_tensor>(); needs.len()];
        let _needs = Needs::enter(needs);
        let backward = self.backward.ok_or_else(|| err!(Internal, "{} has no backward", self.name))?;
        let status = callback::call(&self.name, || {
            let (given, wanted) = (lent.0.as_ptr(), results.as_mut_ptr());
            // SAFETY: `backward` has this signature (field of `rlt_custom_function`); `given` and `wanted` point to
            // arrays of these lengths that live until it returns.
            unsafe { backward(self.ctx.0, given, grads.len() as i64, wanted, needs.len() as i64) }
        });
        // SAFETY: the callback stored NULL or owned handles in `results`; each is taken once, also on failure.
        let results = results.into_iter().map(|grad| unsafe { handle::take(grad) }).collect();
        status.map(|()| results)
    }
}

/// Tensor handles that a callback may use while it runs.
pub(crate) struct Lent(pub(crate) Vec<*const rlt_tensor>);

impl Lent {
    pub(crate) fn new<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Lent {
        Lent(tensors.into_iter().map(|tensor| handle::give::<rlt_tensor>(tensor.clone()).cast_const()).collect())
    }

    pub(crate) fn optional(tensors: &[Option<Tensor>]) -> Lent {
        let lend = |tensor: &Option<Tensor>| match tensor {
            Some(tensor) => handle::give::<rlt_tensor>(tensor.clone()).cast_const(),
            None => ptr::null(),
        };
        Lent(tensors.iter().map(lend).collect())
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        for tensor in &self.0 {
            // SAFETY: the constructors made these handles with `handle::give`; the callback only borrowed them, so each
            // is still owned here and taken once.
            drop(unsafe { handle::take(tensor.cast_mut()) });
        }
    }
}
