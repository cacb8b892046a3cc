//! Gradients: recording, backward, functions with a derivative of the program's own.
//!
//! Operators on tensors that require a gradient are recorded. `rlt_tensor_backward` runs the record backwards and adds to the
//! `grad` of each leaf. This is a training loop, gradient descent on `(w - 3)^2`:
//!
//! ```c
//! rlt_tensor *w = NULL;
//! rlt_scalar value = {0};
//! int32_t status = rlt_tensor_zeros(NULL, 0, NULL, &w);
//! if (!status) status = rlt_tensor_set_requires_grad(w, 1);
//! for (int step = 0; !status && step < 50; ++step) {
//!   rlt_tensor *error = NULL, *loss = NULL, *grad = NULL;
//!   status = rlt_tensor_sub_Scalar(w, RLT_INT(3), RLT_INT(1), &error);
//!   if (!status) status = rlt_tensor_mul_Tensor(error, error, &loss);
//!   if (!status) status = rlt_tensor_backward(loss, NULL, 0, 0);
//!   if (!status) status = rlt_tensor_grad(w, &grad);
//!   if (!status) status = rlt_set_grad_enabled(0);  // the update is no part of the record
//!   if (!status) status = rlt_tensor_sub_Tensor_(w, grad, RLT_FLOAT(0.1));
//!   if (!status) status = rlt_tensor_set_grad(w, NULL);
//!   rlt_set_grad_enabled(1);
//!   rlt_tensor_free(grad);
//!   rlt_tensor_free(loss);
//!   rlt_tensor_free(error);
//! }
//! if (!status) status = rlt_tensor_item(w, &value);
//! if (!status) printf("%.3f\n", value.re);  // prints 3.000
//! rlt_tensor_free(w);
//! ```
//!
//! `examples/digits/c` trains a network with Adam, `examples/embed/operator.c` has a derivative of its own.

use crate::core::rlt_deleter;
use crate::support::callback::{self, Context};
use crate::support::handle::{self, Handle};
use crate::support::sized::{self, SizedStruct};
use crate::support::{arg, guard, guard_free, out};
use crate::tensor::rlt_tensor;
use rushlight_base::{Result, ensure, err};
use rushlight_tensor::Tensor;
use rushlight_tensor::autograd::{self, CustomFunction, CustomSaved, HookId, Node, TensorHook};
use rushlight_tensor::dispatch::{KeySet, is_excluded, set_excluded};
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::sync::Arc;

/// A recorded operator: what made a tensor that is no leaf.
pub struct rlt_node {
    _private: [u8; 0],
}

impl Handle for rlt_node {
    type Rust = Box<NodeHandle>;
}

/// What a node handle owns: the node, and its name as C reads it.
pub struct NodeHandle {
    pub(crate) node: Arc<Node>,
    name: CString,
}

impl NodeHandle {
    fn new(node: Arc<Node>) -> Box<NodeHandle> {
        let name = CString::new(node.name().replace('\0', " ")).unwrap_or_default();
        Box::new(NodeHandle { node, name })
    }
}

/// A tensor that a custom function keeps for its backward, with the version it had.
pub struct rlt_saved_tensor {
    _private: [u8; 0],
}

impl Handle for rlt_saved_tensor {
    type Rust = Box<CustomSaved>;
}

// ---- Leaves and gradients ----

/// Does backward bring a gradient to this tensor, or through it?
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_requires_grad(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_requires_grad", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.requires_grad())
        }
    })
}

/// Asks for a gradient, or stops asking. Only a leaf of floating-point or complex dtype can be asked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_set_requires_grad(tensor: *const rlt_tensor, on: i32) -> i32 {
    guard("rlt_tensor_set_requires_grad", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { arg::tensor(tensor, "tensor") }?.set_requires_grad(arg::bool(on))
    })
}

/// Was the tensor made by the user, or without recording? Gradients accumulate in the `grad` of leaves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_leaf(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_leaf", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.is_leaf())
        }
    })
}

/// The accumulated gradient; `*out` is NULL if there is none yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_grad(tensor: *const rlt_tensor, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_tensor_grad", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::tensor(out, "out")?.give_opt(tensor.grad())
        }
    })
}

/// Puts a gradient in place, of the tensor's shape, dtype and device; NULL takes it away.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_set_grad(tensor: *const rlt_tensor, grad: *const rlt_tensor) -> i32 {
    guard("rlt_tensor_set_grad", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            tensor.set_grad(arg::tensor_opt(grad).map(|grad| Tensor::clone(&grad)))
        }
    })
}

// ---- Views ----

/// Is the tensor a view whose base autograd knows?
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_view(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_view", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.is_view())
        }
    })
}

// ---- What forbids to write a view in place ----

/// The view can be written in place.
pub const RLT_VIEW_FREE: i32 = 0;
/// a function with a derivative of the caller's gave the view out
pub const RLT_VIEW_OF_CUSTOM_FUNCTION: i32 = 1;
/// the view is one of several outputs of an operator
pub const RLT_VIEW_OF_SEVERAL: i32 = 2;
/// the view was made while recording was off
pub const RLT_VIEW_OF_NO_GRAD: i32 = 3;
/// the view was made in inference mode
pub const RLT_VIEW_OF_INFERENCE: i32 = 4;

/// What forbids to write a view in place while calls are recorded: `RLT_VIEW_*`. An error for a tensor that is no view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_view_restriction(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_view_restriction", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (tensor, out) = unsafe { (arg::tensor(tensor, "tensor")?, out::value(out, "out")?) };
        let restriction = tensor.view_restriction().ok_or_else(|| err!(Value, "the tensor is no view"))?;
        out.set(restriction as i32)
    })
}

/// The base of a view; `*out` is NULL for a tensor that is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_base(tensor: *const rlt_tensor, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_tensor_base", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::tensor(out, "out")?.give_opt(tensor.view_base())
        }
    })
}

// ---- History ----

/// The recorded operator that made the tensor; `*out` is NULL for a leaf.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_grad_fn(tensor: *const rlt_tensor, out: *mut *mut rlt_node) -> i32 {
    guard("rlt_tensor_grad_fn", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            autograd::check_history(&tensor)?;
            out::handle(out, "out")?.give_opt(tensor.grad_fn().map(NodeHandle::new))
        }
    })
}

/// Which output of the recorded operator the tensor is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_output_nr(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_output_nr", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(i64::from(tensor.output_nr()))
        }
    })
}

/// Lets backward keep the gradient of a tensor that is no leaf.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_retain_grad(tensor: *const rlt_tensor) -> i32 {
    guard("rlt_tensor_retain_grad", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { arg::tensor(tensor, "tensor") }?.retain_grad()
    })
}

/// Does backward keep the gradient of this tensor although it is no leaf?
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_retains_grad(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_retains_grad", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.retains_grad())
        }
    })
}

/// Cuts the tensor off from its history, in place: it becomes a leaf.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_forget_history(tensor: *const rlt_tensor) -> i32 {
    guard("rlt_tensor_forget_history", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { arg::tensor(tensor, "tensor") }?.detach_in_place()
    })
}

/// Sees the gradient of a tensor on its way; `grad` is NULL where none arrived. `*replacement` is NULL on entry; an owned
/// handle put there takes the gradient's place.
pub type rlt_tensor_hook =
    Option<unsafe extern "C" fn(ctx: *mut c_void, grad: *const rlt_tensor, replacement: *mut *mut rlt_tensor) -> i32>;

// ---- Hooks of a tensor ----

/// Calls `hook` with the gradient of this tensor in every backward. `deleter(ctx)` is called once, when the hook is
/// removed or the tensor's history is gone; not if this function fails. `*id` names the hook for removing it.
///
/// The hook may be called from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_register_hook(
    tensor: *const rlt_tensor,
    hook: rlt_tensor_hook,
    ctx: *mut c_void,
    deleter: rlt_deleter,
    id: *mut u64,
) -> i32 {
    guard("rlt_tensor_register_hook", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (tensor, id) = unsafe { (arg::tensor(tensor, "tensor")?, out::value(id, "id")?) };
        let hook = hook.ok_or_else(|| err!(NullPointer, "argument `hook` is NULL"))?;
        ensure!(tensor.requires_grad(), Runtime, "cannot register a hook on a tensor that doesn't require gradient");
        let context = Context::new(ctx, deleter);
        let call: TensorHook = Arc::new(move |grad| {
            let lent = Lent::optional(&[grad.cloned()]);
            let mut replacement = ptr::null_mut();
            let status = callback::call("a tensor hook", || {
                // SAFETY: the hook was given for these arguments, which live until it returns.
                unsafe { hook(context.get(), lent.0[0], &raw mut replacement) }
            });
            // SAFETY: what the hook put there is an owned handle, taken over also when it failed.
            let replacement = unsafe { handle::take(replacement) };
            status.map(|()| replacement)
        });
        id.set(tensor.register_hook(call)?.id().0)
    })
}

/// Removes a hook of this tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_remove_hook(tensor: *const rlt_tensor, id: u64) -> i32 {
    guard("rlt_tensor_remove_hook", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { arg::tensor(tensor, "tensor") }?.remove_hook(HookId(id))
    })
}

// ---- Backward ----

/// `rlt_backward` of one tensor to all leaves. `gradient` is where to start from; NULL means 1, for a tensor of
/// one element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_backward(
    tensor: *const rlt_tensor,
    gradient: *const rlt_tensor,
    retain_graph: i32,
    create_graph: i32,
) -> i32 {
    guard("rlt_tensor_backward", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (tensor, gradient) = unsafe { (arg::tensor(tensor, "tensor")?, arg::tensor_opt(gradient)) };
        let (retain, create) = (arg::bool(retain_graph), arg::bool(create_graph));
        autograd::backward(&[&tensor], &[gradient.as_deref()], retain, create, &[])
    })
}

/// Brings the gradients of `outputs` to the leaves, or only to `inputs` if there are any, where they add up in
/// `grad`. `gradients` are where to start from, one for each output; a NULL entry, or NULL for all, means 1 for a
/// tensor of one element. With `retain_graph` the graph can run again; with `create_graph` the gradients can be
/// differentiated themselves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_backward(
    outputs: *const *const rlt_tensor,
    n_outputs: i64,
    gradients: *const *const rlt_tensor,
    retain_graph: i32,
    create_graph: i32,
    inputs: *const *const rlt_tensor,
    n_inputs: i64,
) -> i32 {
    guard("rlt_backward", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (outputs, gradients, inputs) = unsafe {
            let outputs = arg::tensors(outputs, n_outputs, "outputs")?;
            let n_gradients = if gradients.is_null() { 0 } else { n_outputs };
            let gradients = arg::tensors_opt(gradients, n_gradients, "gradients")?;
            (outputs, gradients, arg::tensors(inputs, n_inputs, "inputs")?)
        };
        let (retain, create) = (arg::bool(retain_graph), arg::bool(create_graph));
        autograd::backward(&outputs.refs(), &gradients.refs(), retain, create, &inputs.refs())
    })
}

/// The gradients of `outputs` with respect to `inputs`; nothing is accumulated. `grads` has room for one handle per
/// input. An input that the outputs do not depend on is an error, or gives NULL with `allow_unused`. The other
/// arguments are those of `rlt_backward`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_grad(
    outputs: *const *const rlt_tensor,
    n_outputs: i64,
    inputs: *const *const rlt_tensor,
    n_inputs: i64,
    gradients: *const *const rlt_tensor,
    retain_graph: i32,
    create_graph: i32,
    allow_unused: i32,
    grads: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_grad", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (outputs, inputs, gradients) = unsafe {
            let outputs = arg::tensors(outputs, n_outputs, "outputs")?;
            let inputs = arg::tensors(inputs, n_inputs, "inputs")?;
            let n_gradients = if gradients.is_null() { 0 } else { n_outputs };
            let gradients = arg::tensors_opt(gradients, n_gradients, "gradients")?;
            arg::slice(grads, n_inputs, "grads")?;
            (outputs, inputs, gradients)
        };
        let (retain, create) = (arg::bool(retain_graph), arg::bool(create_graph));
        let unused = arg::bool(allow_unused);
        let results = autograd::grad(&outputs.refs(), &inputs.refs(), &gradients.refs(), retain, create, unused)?;
        for (index, grad) in results.into_iter().enumerate() {
            // SAFETY: the caller's array has room for one handle per input.
            unsafe { grads.add(index).write(grad.map_or(ptr::null_mut(), handle::give)) }
        }
        Ok(())
    })
}

// ---- Modes of the thread, and anomalies ----

/// Lets the calling thread record operators for backward (the default), or not.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_grad_enabled(on: i32) -> i32 {
    guard("rlt_set_grad_enabled", || {
        autograd::set_grad_enabled(arg::bool(on));
        Ok(())
    })
}

/// Does the calling thread record operators for backward?
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_grad_enabled(out: *mut i32) -> i32 {
    guard("rlt_get_grad_enabled", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::bool(out, "out") }?.set(autograd::is_grad_enabled())
    })
}

/// Enters or leaves inference mode on the calling thread: nothing is recorded, and views are not tracked. Entering
/// switches recording off, leaving switches it on.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_inference_mode(on: i32) -> i32 {
    guard("rlt_set_inference_mode", || {
        autograd::set_inference_mode(arg::bool(on));
        Ok(())
    })
}

/// Is the calling thread in inference mode?
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_inference_mode(out: *mut i32) -> i32 {
    guard("rlt_get_inference_mode", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::bool(out, "out") }?.set(autograd::is_inference_mode())
    })
}

/// Lets what fails in any backward of the process name the forward call, and NaN in a gradient fail.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_anomaly_mode(on: i32) -> i32 {
    guard("rlt_set_anomaly_mode", || {
        autograd::set_anomaly_enabled(arg::bool(on));
        Ok(())
    })
}

/// Is anomaly mode on?
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_anomaly_mode(out: *mut i32) -> i32 {
    guard("rlt_get_anomaly_mode", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::bool(out, "out") }?.set(autograd::is_anomaly_enabled())
    })
}

/// Lets NaN in a gradient fail in anomaly mode (the default), or not.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_anomaly_check_nan(on: i32) -> i32 {
    guard("rlt_set_anomaly_check_nan", || {
        autograd::set_anomaly_nan_checked(arg::bool(on));
        Ok(())
    })
}

/// Does NaN in a gradient fail in anomaly mode?
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_anomaly_check_nan(out: *mut i32) -> i32 {
    guard("rlt_get_anomaly_check_nan", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::bool(out, "out") }?.set(autograd::is_anomaly_nan_checked())
    })
}

/// Lets calls of this thread run below the autograd layer, as the kernels of operators do: for a callback under
/// `RLT_KEY_AUTOGRAD` that calls its operator's device kernel. Put the former state back afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_autograd_excluded(on: i32) -> i32 {
    guard("rlt_set_autograd_excluded", || {
        set_excluded(KeySet::AUTOGRAD, arg::bool(on));
        Ok(())
    })
}

/// Do calls of this thread run below the autograd layer?
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_autograd_excluded(out: *mut i32) -> i32 {
    guard("rlt_get_autograd_excluded", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::bool(out, "out") }?.set(is_excluded(KeySet::AUTOGRAD))
    })
}

// ---- Nodes ----

/// A new handle of the same node.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_retain(node: *const rlt_node, out: *mut *mut rlt_node) -> i32 {
    guard("rlt_node_retain", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let node = arg::handle(node, "node")?;
            out::handle(out, "out")?.give(NodeHandle::new(node.node.clone()))
        }
    })
}

/// Frees a node handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_free(node: *mut rlt_node) {
    // SAFETY: the caller keeps to docs/c-abi.md.
    guard_free("rlt_node_free", || drop(unsafe { handle::take(node) }));
}

/// The name of a node, such as `MulBackward0`. Borrowed from the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_name(node: *const rlt_node, out: *mut *const c_char) -> i32 {
    guard("rlt_node_name", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let node = arg::handle(node, "node")?;
            out::value(out, "out")?.set(node.name.as_ptr())
        }
    })
}

/// The order in which the thread recorded its nodes: later ones have larger numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_sequence_nr(node: *const rlt_node, out: *mut u64) -> i32 {
    guard("rlt_node_sequence_nr", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let node = arg::handle(node, "node")?;
            out::value(out, "out")?.set(node.node.sequence())
        }
    })
}

/// How many gradients the node takes: one for each output of the recorded operator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_num_inputs(node: *const rlt_node, out: *mut i64) -> i32 {
    guard("rlt_node_num_inputs", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let node = arg::handle(node, "node")?;
            out::value(out, "out")?.set(node.node.outputs().len() as i64)
        }
    })
}

/// How many gradients the node gives: one for each differentiable argument of the recorded operator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_next_count(node: *const rlt_node, out: *mut i64) -> i32 {
    guard("rlt_node_next_count", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let node = arg::handle(node, "node")?;
            out::value(out, "out")?.set(node.node.next_edges().len() as i64)
        }
    })
}

/// Where the gradient at `index` goes: `*next` is an owned handle of that node (NULL: nobody needs it), `*input_nr`
/// which of its gradients it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_next_at(
    node: *const rlt_node,
    index: i64,
    next: *mut *mut rlt_node,
    input_nr: *mut i64,
) -> i32 {
    guard("rlt_node_next_at", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (node, next, input_nr) =
            unsafe { (arg::handle(node, "node")?, out::handle(next, "next")?, out::value(input_nr, "input_nr")?) };
        let edges = node.node.next_edges();
        let edge = usize::try_from(index).ok().and_then(|index| edges.get(index));
        let edge = edge.ok_or_else(|| err!(Index, "index {index} is out of range for {} edges", edges.len()))?;
        input_nr.set(edge.as_ref().map_or(0, |edge| i64::from(edge.output)))?;
        next.give_opt(edge.as_ref().map(|edge| NodeHandle::new(edge.node.clone())))
    })
}

// ---- Functions with a derivative of the program's own ----

/// Keeps a tensor for the backward of a custom function. An output of the function (`is_output`) is saved after
/// `rlt_custom_function_record`, and is kept without its history, which would be a cycle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_saved_tensor_new(
    tensor: *const rlt_tensor,
    is_output: i32,
    out: *mut *mut rlt_saved_tensor,
) -> i32 {
    guard("rlt_saved_tensor_new", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (tensor, out) = unsafe { (arg::tensor(tensor, "tensor")?, out::handle(out, "out")?) };
        out.give(Box::new(CustomSaved::new(&tensor, arg::bool(is_output))?))
    })
}

/// The tensor as it was saved. An error if it was written to since.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_saved_tensor_unpack(saved: *const rlt_saved_tensor, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_saved_tensor_unpack", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (saved, out) = unsafe { (arg::handle(saved, "saved")?, out::tensor(out, "out")?) };
        out.give(saved.unpack()?)
    })
}

/// Frees a saved tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_saved_tensor_free(saved: *mut rlt_saved_tensor) {
    // SAFETY: the caller keeps to docs/c-abi.md.
    guard_free("rlt_saved_tensor_free", || drop(unsafe { handle::take(saved) }));
}

/// The derivative of a custom function: gradients of its outputs in (NULL where none arrived), owned handles of the
/// gradients of its inputs out (NULL on entry and for none).
pub type rlt_custom_backward = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        grad_outputs: *const *const rlt_tensor,
        n_outputs: i64,
        grad_inputs: *mut *mut rlt_tensor,
        n_inputs: i64,
    ) -> i32,
>;

/// A function whose derivative the caller computes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_custom_function {
    /// `sizeof(rlt_custom_function)`
    pub struct_size: usize,
    /// What messages and `rlt_node_name` call it. Copied.
    pub name: *const c_char,
    /// Handed to the callbacks.
    pub ctx: *mut c_void,
    /// The derivative. It may be called from any thread, and again if the graph is retained.
    pub backward: rlt_custom_backward,
    /// NULL, or called once with `ctx` when the derivative cannot run any more: after a backward that does not
    /// retain the graph, or when the graph is freed. The place to free saved tensors.
    pub deleter: rlt_deleter,
    /// 0 or 1: gradients that did not arrive come as zeros instead of NULL
    pub materialize_grads: i32,
    /// 0
    pub reserved: i32,
}

// SAFETY: repr(C), begins with its size, and any pointers and integers are valid.
unsafe impl SizedStruct for rlt_custom_function {
    const UNSET: Self = rlt_custom_function {
        struct_size: 0,
        name: ptr::null(),
        ctx: ptr::null_mut(),
        backward: None,
        deleter: None,
        materialize_grads: 0,
        reserved: 0,
    };
    const NAME: &'static str = "rlt_custom_function";
}

/// Records that `outputs` were computed from `inputs` (NULL entries: arguments that are no tensors) by a function
/// with this derivative. The forward must have run with recording switched off (`rlt_set_grad_enabled`).
/// `differentiable` says for each output whether it has a gradient; NULL: all have. An output that is one of the
/// inputs was written in place.
///
/// `*recorded` is 0 if no input requires a gradient or recording is off. Then, and if this function fails, nothing
/// was taken over: `ctx` is still the caller's.
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
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (given, name, inputs, outputs, differentiable, recorded) = unsafe {
            let given = sized::read(function, "function")?;
            let name = arg::string(given.name, "function.name")?;
            let inputs = arg::tensors_opt(inputs, n_inputs, "inputs")?;
            let outputs = arg::tensors(outputs, n_outputs, "outputs")?;
            let n_marks = if differentiable.is_null() { 0 } else { n_outputs };
            let differentiable = arg::bools(differentiable, n_marks, "differentiable")?;
            (given, name, inputs, outputs, differentiable, out::bool(recorded, "recorded")?)
        };
        ensure!(given.backward.is_some(), NullPointer, "argument `function.backward` is NULL");
        let custom = Arc::new(Custom {
            name: name.to_owned(),
            backward: given.backward,
            wants_zeros: arg::bool(given.materialize_grads),
            // The deleter is armed only when the function was recorded.
            context: std::sync::OnceLock::new(),
            ctx: SharedPointer(given.ctx),
        });
        let done = autograd::record_custom(custom.clone(), &inputs.refs(), &outputs.refs(), &differentiable)?;
        if done {
            // The cell is new: nobody else sets it.
            let _ = custom.context.set(Context::new(given.ctx, given.deleter));
        }
        recorded.set(done)
    })
}

/// Within the backward of a custom function: does anybody want the gradient of its input number `index`? What is not
/// wanted need not be computed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_custom_function_needs_input_grad(index: i64, out: *mut i32) -> i32 {
    guard("rlt_custom_function_needs_input_grad", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let out = unsafe { out::bool(out, "out") }?;
        let needs = Needs::here().ok_or_else(|| {
            err!(Runtime, "needs_input_grad can be asked for in the backward of a custom function only")
        })?;
        let needed = usize::try_from(index).ok().and_then(|index| needs.get(index));
        out.set(*needed.ok_or_else(|| err!(Index, "index {index} is out of range for {} inputs", needs.len()))?)
    })
}

/// While it lives, this thread runs the backward of a custom function.
struct Needs<'a> {
    before: *const [bool],
    _needs: std::marker::PhantomData<&'a [bool]>,
}

thread_local! {
    /// Of the innermost one. A pointer has no destructor, so that the library can be unloaded meanwhile.
    static NEEDS: std::cell::Cell<*const [bool]> = const { std::cell::Cell::new(ptr::slice_from_raw_parts(ptr::null(), 0)) };
}

impl Needs<'_> {
    fn enter(needs: &[bool]) -> Needs<'_> {
        Needs { before: NEEDS.replace(needs), _needs: std::marker::PhantomData }
    }

    fn here<'a>() -> Option<&'a [bool]> {
        // SAFETY: the pointer is null, or that of a `Needs` of a frame further up this thread's stack, which borrows the
        // slice while it lives; the result is used in the call alone that asks, below that frame.
        unsafe { NEEDS.get().as_ref() }
    }
}

impl Drop for Needs<'_> {
    fn drop(&mut self) {
        NEEDS.set(self.before);
    }
}

/// A pointer that the caller allows to be used on any thread.
struct SharedPointer(*mut c_void);

// SAFETY: whoever records a custom function promises that its context may be used from any thread.
unsafe impl Send for SharedPointer {}
// SAFETY: as above.
unsafe impl Sync for SharedPointer {}

struct Custom {
    name: String,
    /// Checked to be there when the function was recorded.
    backward: rlt_custom_backward,
    wants_zeros: bool,
    context: std::sync::OnceLock<Context>,
    ctx: SharedPointer,
}

impl CustomFunction for Custom {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants_zeros(&self) -> bool {
        self.wants_zeros
    }

    fn backward(&self, grads: &[Option<Tensor>], needs: &[bool]) -> Result<Vec<Option<Tensor>>> {
        let lent = Lent::optional(grads);
        let mut results = vec![ptr::null_mut::<rlt_tensor>(); needs.len()];
        let _needs = Needs::enter(needs);
        let backward = self.backward.ok_or_else(|| err!(Internal, "{} has no backward", self.name))?;
        let status = callback::call(&self.name, || {
            let (given, wanted) = (lent.0.as_ptr(), results.as_mut_ptr());
            // SAFETY: the callback was given for these arguments; both arrays live until it returns.
            unsafe { backward(self.ctx.0, given, grads.len() as i64, wanted, needs.len() as i64) }
        });
        // SAFETY: what the callback put there are owned handles, taken over also when it failed.
        let results = results.into_iter().map(|grad| unsafe { handle::take(grad) }).collect();
        status.map(|()| results)
    }
}

/// Tensor handles that a callback may look at while it runs.
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
            // SAFETY: the handles were given in the constructors; the callback only borrowed them.
            drop(unsafe { handle::take(tensor.cast_mut()) });
        }
    }
}
