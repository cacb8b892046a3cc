//! Gradients: recording, backward, custom derivatives.
//!
//! Operators on tensors that require a gradient are recorded. `rlt_tensor_backward` traverses the graph backwards and
//! accumulates into the `grad` of each leaf. This is a training loop, gradient descent on `(w - 3)^2`:
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
//!   if (!status) status = rlt_set_grad_enabled(0);  // the update is not recorded
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
//! `examples/digits/c` trains a network with Adam, `examples/embed/operator.c` has a custom derivative.

use crate::core::rlt_deleter;
use crate::support::callback::{self, Context};
use crate::support::handle::{self, Handle};
use crate::support::{arg, guard, guard_free, out};
use crate::tensor::rlt_tensor;
use rushlight_base::{Result, ensure, err};
use rushlight_tensor::Tensor;
use rushlight_tensor::autograd::{self, CustomSaved, Edge, HookId, Node, TensorHook};
use rushlight_tensor::dispatch::{KeySet, is_excluded, set_excluded};
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::sync::Arc;

/// A recorded operator: the function that computed a non-leaf tensor.
pub struct rlt_node {
    _private: [u8; 0],
}

impl Handle for rlt_node {
    type Rust = Box<NodeHandle>;
}

/// The contents of a node handle: the node, and its name as a C string.
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

/// A tensor that a custom function saves for its backward, with the version it had.
pub struct rlt_saved_tensor {
    _private: [u8; 0],
}

impl Handle for rlt_saved_tensor {
    type Rust = Box<CustomSaved>;
}

// ---- Leaves and gradients ----

/// Returns whether the tensor requires a gradient.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_requires_grad(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_requires_grad", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.requires_grad())
        }
    })
}

/// Sets whether the tensor requires a gradient. It must be a leaf of floating-point or complex dtype.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_set_requires_grad(tensor: *const rlt_tensor, on: i32) -> i32 {
    guard("rlt_tensor_set_requires_grad", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle.
        unsafe { arg::tensor(tensor, "tensor") }?.set_requires_grad(arg::bool(on))
    })
}

/// Returns whether the tensor is a leaf: created by the user, or without recording. Gradients accumulate in the `grad`
/// of leaves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_leaf(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_leaf", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.is_leaf())
        }
    })
}

/// Returns the accumulated gradient; `*out` is NULL if there is none yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_grad(tensor: *const rlt_tensor, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_tensor_grad", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::tensor(out, "out")?.give_opt(tensor.grad())
        }
    })
}

/// Replaces the gradient, which must have the tensor's shape, dtype and device; NULL removes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_set_grad(tensor: *const rlt_tensor, grad: *const rlt_tensor) -> i32 {
    guard("rlt_tensor_set_grad", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` and `grad` are NULL or live
        // handles.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            tensor.set_grad(arg::tensor_opt(grad, "grad")?.map(|grad| Tensor::clone(&grad)))
        }
    })
}

// ---- Views ----

/// Returns whether the tensor is a view whose base is tracked by autograd.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_view(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_view", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.is_view())
        }
    })
}

// ---- Why a view cannot be modified in place ----

/// The view can be written in place.
pub const RLT_VIEW_FREE: i32 = 0;
/// a custom function returned the view
pub const RLT_VIEW_OF_CUSTOM_FUNCTION: i32 = 1;
/// the view is one of several outputs of an operator
pub const RLT_VIEW_OF_SEVERAL: i32 = 2;
/// the view was created while recording was off
pub const RLT_VIEW_OF_NO_GRAD: i32 = 3;
/// the view was created in inference mode
pub const RLT_VIEW_OF_INFERENCE: i32 = 4;

/// Returns why a view cannot be modified in place while calls are recorded: `RLT_VIEW_*`. An error for a tensor that is
/// not a view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_view_restriction(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_view_restriction", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        let (tensor, out) = unsafe { (arg::tensor(tensor, "tensor")?, out::value(out, "out")?) };
        let restriction = tensor.view_restriction().ok_or_else(|| err!(Value, "the tensor is not a view"))?;
        out.set(restriction as i32)
    })
}

/// Returns the base of a view; `*out` is NULL for a tensor that is not a view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_base(tensor: *const rlt_tensor, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_tensor_base", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::tensor(out, "out")?.give_opt(tensor.view_base())
        }
    })
}

// ---- History ----

/// Returns the recorded operator that computed the tensor; `*out` is NULL for a leaf.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_grad_fn(tensor: *const rlt_tensor, out: *mut *mut rlt_node) -> i32 {
    guard("rlt_tensor_grad_fn", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            autograd::check_history(&tensor)?;
            out::handle(out, "out")?.give_opt(tensor.grad_fn().map(NodeHandle::new))
        }
    })
}

/// Returns the index of the tensor among the outputs of its recorded operator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_output_nr(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_output_nr", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(i64::from(tensor.output_nr()))
        }
    })
}

/// Makes backward keep the gradient of a non-leaf tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_retain_grad(tensor: *const rlt_tensor) -> i32 {
    guard("rlt_tensor_retain_grad", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle.
        unsafe { arg::tensor(tensor, "tensor") }?.retain_grad()
    })
}

/// Returns whether backward keeps the gradient of this non-leaf tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_retains_grad(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_retains_grad", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.retains_grad())
        }
    })
}

/// Detaches the tensor from its graph in place: it becomes a leaf.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_forget_history(tensor: *const rlt_tensor) -> i32 {
    guard("rlt_tensor_forget_history", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle.
        unsafe { arg::tensor(tensor, "tensor") }?.detach_in_place()
    })
}

/// A hook on the gradient of a tensor; `grad` is NULL if it is undefined. `*replacement` is NULL on entry; store an
/// owned handle there to replace the gradient.
pub type rlt_tensor_hook =
    Option<unsafe extern "C" fn(ctx: *mut c_void, grad: *const rlt_tensor, replacement: *mut *mut rlt_tensor) -> i32>;

// ---- Hooks of a tensor ----

/// Registers a hook that every backward calls with the gradient of this tensor. `deleter(ctx)` is called once, when the
/// hook is removed or the tensor's history is freed, but not if this function fails. `*id` identifies the hook for
/// removal.
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
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `id` is NULL or writable.
        let (tensor, id) = unsafe { (arg::tensor(tensor, "tensor")?, out::value(id, "id")?) };
        let hook = hook.ok_or_else(|| err!(NullPointer, "argument `hook` is NULL"))?;
        ensure!(tensor.requires_grad(), Runtime, "cannot register a hook on a tensor that doesn't require gradient");
        let context = Context::new(ctx, deleter);
        let call: TensorHook = Arc::new(move |grad| {
            let lent = Lent::optional(&[grad.cloned()]);
            let mut replacement = ptr::null_mut();
            let status = callback::call("a tensor hook", || {
                // SAFETY: `hook` has this signature (type of the argument `hook`); the lent handle and `replacement`
                // live until it returns.
                unsafe { hook(context.get(), lent.0[0], &raw mut replacement) }
            });
            // SAFETY: the hook stored NULL or an owned handle in `replacement` (documentation of `rlt_tensor_hook`); it is
            // taken once, also on failure.
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
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle.
        unsafe { arg::tensor(tensor, "tensor") }?.remove_hook(HookId(id))
    })
}

// ---- Backward ----

/// Calls `rlt_backward` for one tensor and all leaves. `gradient` is the initial gradient; NULL means 1, for a tensor
/// of one element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_backward(
    tensor: *const rlt_tensor,
    gradient: *const rlt_tensor,
    retain_graph: i32,
    create_graph: i32,
) -> i32 {
    guard("rlt_tensor_backward", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` and `gradient` are NULL or
        // live handles.
        let (tensor, gradient) = unsafe { (arg::tensor(tensor, "tensor")?, arg::tensor_opt(gradient, "gradient")?) };
        let (retain, create) = (arg::bool(retain_graph), arg::bool(create_graph));
        autograd::backward(&[&tensor], &[gradient.as_deref()], retain, create, &[])
    })
}

/// Computes the gradients of `outputs` and accumulates them in the `grad` of all leaves, or only of `inputs` if there
/// are any. `gradients` are the initial gradients, one per output; a NULL entry, or NULL for all, means 1 for a tensor
/// of one element. With `retain_graph` the graph can be used again; with `create_graph` the gradients are
/// differentiable.
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
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `outputs` is NULL or points to
        // `n_outputs` live or NULL handles, `gradients` is NULL or points to `n_gradients` live or NULL handles, and
        // `inputs` is NULL or points to `n_inputs` live or NULL handles.
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

/// Computes the gradients of `outputs` with respect to `inputs` without accumulating them. `grads` must hold one handle
/// per input. An input that the outputs do not depend on is an error, or gives NULL with `allow_unused`. The other
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
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `outputs` is NULL or points to
        // `n_outputs` live or NULL handles, `inputs` is NULL or points to `n_inputs` live or NULL handles, `gradients`
        // is NULL or points to `n_gradients` live or NULL handles, and `grads` is NULL or points to `n_inputs`
        // elements.
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
        // SAFETY: there is a result for each input, and the caller's array holds one handle per input (documentation of
        // `grads`).
        unsafe { give_all(results, grads) };
        Ok(())
    })
}

/// Runs the graph from edges, which are nodes and the indices of their incoming gradients (`rlt_tensor_gradient_edge`):
/// `roots` receive `gradients`. `grads` receives the gradients that reach `targets`, a handle for each, NULL where none
/// does. With `accumulate` leaves accumulate theirs: all of them, or those among `targets` if there are any. The other
/// arguments are those of `rlt_backward`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_run_backward(
    roots: *const *const rlt_node,
    root_inputs: *const i64,
    gradients: *const *const rlt_tensor,
    n_roots: i64,
    retain_graph: i32,
    create_graph: i32,
    accumulate: i32,
    targets: *const *const rlt_node,
    target_inputs: *const i64,
    n_targets: i64,
    grads: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_run_backward", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `roots`, `root_inputs` and `gradients`
        // are NULL or point to `n_roots` elements, `targets`, `target_inputs` and `grads` are NULL or point to
        // `n_targets` elements, and the handles among them are NULL or live.
        let (roots, gradients, targets) = unsafe {
            let roots = (arg::slice(roots, n_roots, "roots")?, arg::ints(root_inputs, n_roots, "root_inputs")?);
            let gradients = arg::tensors(gradients, n_roots, "gradients")?;
            let targets = arg::slice(targets, n_targets, "targets")?;
            let targets = (targets, arg::ints(target_inputs, n_targets, "target_inputs")?);
            arg::slice(grads, n_targets, "grads")?;
            (
                custom::edges_to(roots.0, roots.1, "roots")?,
                gradients,
                custom::edges_to(targets.0, targets.1, "targets")?,
            )
        };
        let present = |edges: Vec<Option<Edge>>, what: &str| {
            let present = |(index, edge): (usize, Option<Edge>)| {
                edge.ok_or_else(|| err!(Runtime, "element {index} of {what} does not require a gradient"))
            };
            edges.into_iter().enumerate().map(present).collect::<Result<Vec<Edge>>>()
        };
        let roots = present(roots, "roots")?.into_iter().zip(gradients.refs().into_iter().cloned()).collect();
        let targets = present(targets, "targets")?;
        let (retain, create) = (arg::bool(retain_graph), arg::bool(create_graph));
        let results = autograd::run_backward(roots, retain, create, arg::bool(accumulate), &targets)?;
        // SAFETY: there is a result for each target, and the caller's array holds one handle per target (documentation of
        // `grads`).
        unsafe { give_all(results, grads) };
        Ok(())
    })
}

/// Passes gradients to C; NULL where there is none.
///
/// # Safety
/// `grads` points to as many writable elements as there are results.
unsafe fn give_all(results: Vec<Option<Tensor>>, grads: *mut *mut rlt_tensor) {
    for (index, grad) in results.into_iter().enumerate() {
        // SAFETY: `index` is below the number of results, and the caller guarantees as many elements.
        unsafe { grads.add(index).write(grad.map_or(ptr::null_mut(), handle::give)) }
    }
}

// ---- Thread-local modes, and anomaly mode ----

/// Sets whether the calling thread records operators for backward (default 1).
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_grad_enabled(on: i32) -> i32 {
    guard("rlt_set_grad_enabled", || {
        autograd::set_grad_enabled(arg::bool(on));
        Ok(())
    })
}

/// Returns whether the calling thread records operators for backward.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_grad_enabled(out: *mut i32) -> i32 {
    guard("rlt_get_grad_enabled", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::bool(out, "out") }?.set(autograd::is_grad_enabled())
    })
}

/// Enters or leaves inference mode on the calling thread: nothing is recorded, and views are not tracked. Entering
/// disables recording, leaving enables it.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_inference_mode(on: i32) -> i32 {
    guard("rlt_set_inference_mode", || {
        autograd::set_inference_mode(arg::bool(on));
        Ok(())
    })
}

/// Returns whether the calling thread is in inference mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_inference_mode(out: *mut i32) -> i32 {
    guard("rlt_get_inference_mode", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::bool(out, "out") }?.set(autograd::is_inference_mode())
    })
}

/// Sets anomaly mode of the process: errors in backward name the forward call, and NaN in a gradient is an error.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_anomaly_mode(on: i32) -> i32 {
    guard("rlt_set_anomaly_mode", || {
        autograd::set_anomaly_enabled(arg::bool(on));
        Ok(())
    })
}

/// Returns whether anomaly mode is on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_anomaly_mode(out: *mut i32) -> i32 {
    guard("rlt_get_anomaly_mode", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::bool(out, "out") }?.set(autograd::is_anomaly_enabled())
    })
}

/// Sets whether NaN in a gradient is an error in anomaly mode (default 1).
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_anomaly_check_nan(on: i32) -> i32 {
    guard("rlt_set_anomaly_check_nan", || {
        autograd::set_anomaly_nan_checked(arg::bool(on));
        Ok(())
    })
}

/// Returns whether NaN in a gradient is an error in anomaly mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_anomaly_check_nan(out: *mut i32) -> i32 {
    guard("rlt_get_anomaly_check_nan", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::bool(out, "out") }?.set(autograd::is_anomaly_nan_checked())
    })
}

/// Sets whether calls of this thread run below the autograd layer, as the kernels of operators do: for a callback under
/// `RLT_KEY_AUTOGRAD` that calls its operator's device kernel. Restore the previous state afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_autograd_excluded(on: i32) -> i32 {
    guard("rlt_set_autograd_excluded", || {
        set_excluded(KeySet::AUTOGRAD, arg::bool(on));
        Ok(())
    })
}

/// Returns whether calls of this thread run below the autograd layer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_autograd_excluded(out: *mut i32) -> i32 {
    guard("rlt_get_autograd_excluded", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::bool(out, "out") }?.set(is_excluded(KeySet::AUTOGRAD))
    })
}

// ---- Nodes ----

/// Returns a new handle of the same node.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_retain(node: *const rlt_node, out: *mut *mut rlt_node) -> i32 {
    guard("rlt_node_retain", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `node` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let node = arg::handle(node, "node")?;
            out::handle(out, "out")?.give(NodeHandle::new(node.node.clone()))
        }
    })
}

/// Frees a node handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_free(node: *mut rlt_node) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `node` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_node_free", || drop(unsafe { handle::take(node) }));
}

/// Returns the name of a node, such as `MulBackward0`. Borrowed from the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_name(node: *const rlt_node, out: *mut *const c_char) -> i32 {
    guard("rlt_node_name", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `node` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let node = arg::handle(node, "node")?;
            out::value(out, "out")?.set(node.name.as_ptr())
        }
    })
}

/// Returns the sequence number of the node within its thread: later nodes have larger numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_sequence_nr(node: *const rlt_node, out: *mut u64) -> i32 {
    guard("rlt_node_sequence_nr", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `node` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let node = arg::handle(node, "node")?;
            out::value(out, "out")?.set(node.node.sequence())
        }
    })
}

/// Returns the number of incoming gradients: one per output of the recorded operator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_num_inputs(node: *const rlt_node, out: *mut i64) -> i32 {
    guard("rlt_node_num_inputs", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `node` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let node = arg::handle(node, "node")?;
            out::value(out, "out")?.set(node.node.outputs().len() as i64)
        }
    })
}

/// Returns the number of gradients that the node computes: one per differentiable argument of the recorded operator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_next_count(node: *const rlt_node, out: *mut i64) -> i32 {
    guard("rlt_node_next_count", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `node` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let node = arg::handle(node, "node")?;
            out::value(out, "out")?.set(node.node.next_edges().len() as i64)
        }
    })
}

/// Returns the destination of the gradient at `index`: `*next` is an owned handle of the node (NULL if none needs it),
/// `*input_nr` the index of its incoming gradient.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_next_at(
    node: *const rlt_node,
    index: i64,
    next: *mut *mut rlt_node,
    input_nr: *mut i64,
) -> i32 {
    guard("rlt_node_next_at", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `node` is NULL or a live handle, and
        // `next` and `input_nr` are NULL or writable.
        let (node, next, input_nr) =
            unsafe { (arg::handle(node, "node")?, out::handle(next, "next")?, out::value(input_nr, "input_nr")?) };
        let edges = node.node.next_edges();
        let edge = usize::try_from(index).ok().and_then(|index| edges.get(index));
        let edge = edge.ok_or_else(|| err!(Index, "index {index} is out of range for {} edges", edges.len()))?;
        give_edge(edge.clone(), next, input_nr)
    })
}

/// Passes the destination of a gradient to C: its node, NULL if there is none, and the index of its incoming gradient.
fn give_edge(edge: Option<Edge>, node: out::OutHandle<rlt_node>, input_nr: out::Out<i64>) -> Result<()> {
    input_nr.set(edge.as_ref().map_or(0, |edge| i64::from(edge.output)))?;
    node.give_opt(edge.map(|edge| NodeHandle::new(edge.node)))
}

mod custom;
pub(crate) use custom::Lent;
