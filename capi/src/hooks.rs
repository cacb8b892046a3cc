//! Hooks: on leaves, on graph nodes, on saved tensors.
//!
//! A hook receives, and may replace, gradients or saved tensors. Its context is freed once, when the hook can no longer
//! be called.
//!
//! ```c top
//! static int32_t count(void *ctx, const rlt_tensor *leaf) {
//!   (void)leaf;
//!   ++*(int *)ctx;
//!   return RLT_OK;
//! }
//! ```
//!
//! ```c
//! int arrived = 0;
//! uint64_t id = 0;
//! rlt_tensor *x = NULL, *y = NULL;
//! int32_t status = rlt_tensor_ones(NULL, 0, NULL, &x);
//! if (!status) status = rlt_tensor_set_requires_grad(x, 1);
//! if (!status) status = rlt_tensor_register_post_accumulate_grad_hook(x, count, &arrived, NULL, &id);
//! if (!status) status = rlt_tensor_mul_Tensor(x, x, &y);
//! if (!status) status = rlt_tensor_backward(y, NULL, 0, 0);
//! if (!status) printf("%d gradient\n", arrived);  // prints 1 gradient
//! rlt_tensor_free(y);
//! rlt_tensor_free(x);
//! ```

use crate::autograd::{Lent, rlt_node};
use crate::core::rlt_deleter;
use crate::support::callback::{self, Context};
use crate::support::{arg, guard, handle, out};
use crate::tensor::rlt_tensor;
use rushlight_base::{Result, ensure, err};
use rushlight_tensor::Tensor;
use rushlight_tensor::autograd::{self, PackedTensor, SavedTensorHooks};
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Arc;

/// Receives a leaf whose gradient was just accumulated.
pub type rlt_leaf_hook = Option<unsafe extern "C" fn(ctx: *mut c_void, leaf: *const rlt_tensor) -> i32>;

// ---- Leaves ----

/// Registers a hook that is called with this leaf whenever backward has changed its `grad`. `deleter(ctx)` is called
/// once, when the hook is removed (`rlt_tensor_remove_hook`) or the leaf and its graphs are freed; but not if this
/// function fails.
///
/// The hook may be called from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_register_post_accumulate_grad_hook(
    tensor: *const rlt_tensor,
    hook: rlt_leaf_hook,
    ctx: *mut c_void,
    deleter: rlt_deleter,
    id: *mut u64,
) -> i32 {
    guard("rlt_tensor_register_post_accumulate_grad_hook", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `id` is NULL or writable.
        let (tensor, id) = unsafe { (arg::tensor(tensor, "tensor")?, out::value(id, "id")?) };
        let hook = hook.ok_or_else(|| err!(NullPointer, "argument `hook` is NULL"))?;
        let context = Arc::new(Pending::new(ctx));
        let held = context.clone();
        let call = move |leaf: &Tensor| {
            let lent = Lent::new([leaf]);
            callback::call("a post-accumulate-grad hook", || {
                // SAFETY: `hook` has this signature and was registered with this context; the lent handle lives until
                // it returns.
                unsafe { hook(held.ctx.0, lent.0[0]) }
            })
        };
        let registered = tensor.register_post_accumulate_grad_hook(Arc::new(call))?;
        context.arm(deleter);
        id.set(registered.id().0)
    })
}

/// Receives gradients at a node. Entries of `gradients` and `others` are NULL if undefined. Store an owned handle in
/// `replacements` (NULL on entry, as long as `gradients`) to replace the gradient at that index.
///
/// Before the node (`rlt_node_register_prehook`): `gradients` are its incoming gradients, and there are no others.
/// After it (`rlt_node_register_hook`): `gradients` are the computed gradients, `others` the incoming ones.
pub type rlt_node_hook = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        gradients: *const *const rlt_tensor,
        n_gradients: i64,
        others: *const *const rlt_tensor,
        n_others: i64,
        replacements: *mut *mut rlt_tensor,
    ) -> i32,
>;

// ---- Nodes ----

/// Registers a hook that every backward calls before the node runs, after the hooks of its tensors. `deleter(ctx)` is
/// called once, when the hook is removed or the node is freed; but not if this function fails.
///
/// The hook may be called from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_register_prehook(
    node: *const rlt_node,
    hook: rlt_node_hook,
    ctx: *mut c_void,
    deleter: rlt_deleter,
    id: *mut u64,
) -> i32 {
    guard("rlt_node_register_prehook", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `node` is NULL or a live handle, and
        // `id` is NULL or writable.
        let (node, id) = unsafe { (arg::handle(node, "node")?, out::value(id, "id")?) };
        let call = node_call(hook, Context::new(ctx, None), "a pre-hook of a node")?;
        let call = WithContext { call, context: Context::new(ctx, deleter) };
        let registered = node.node.register_prehook(Arc::new(move |taken| call.run(taken, &[])));
        id.set(registered.id().0)
    })
}

/// Registers a hook that every backward calls after the node ran. `deleter(ctx)` is called once, when the hook is
/// removed or the node is freed; but not if this function fails.
///
/// The hook may be called from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_register_hook(
    node: *const rlt_node,
    hook: rlt_node_hook,
    ctx: *mut c_void,
    deleter: rlt_deleter,
    id: *mut u64,
) -> i32 {
    guard("rlt_node_register_hook", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `node` is NULL or a live handle, and
        // `id` is NULL or writable.
        let (node, id) = unsafe { (arg::handle(node, "node")?, out::value(id, "id")?) };
        let call = node_call(hook, Context::new(ctx, None), "a hook of a node")?;
        let call = WithContext { call, context: Context::new(ctx, deleter) };
        let registered = node.node.register_hook(Arc::new(move |gave, taken| call.run(gave, taken)));
        id.set(registered.id().0)
    })
}

/// Removes a hook of this node.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_node_remove_hook(node: *const rlt_node, id: u64) -> i32 {
    guard("rlt_node_remove_hook", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `node` is NULL or a live handle.
        let node = unsafe { arg::handle(node, "node") }?;
        ensure!(node.node.remove_hook(id), Index, "the node has no hook with id {id}");
        Ok(())
    })
}

type Gradients = [Option<Tensor>];
type NodeCall = Box<dyn Fn(&Gradients, &Gradients) -> Result<Option<Vec<Option<Tensor>>>> + Send + Sync>;

/// A callback with the deleter of its context.
struct WithContext {
    call: NodeCall,
    #[allow(dead_code, reason = "its drop calls the deleter")]
    context: Context,
}

impl WithContext {
    fn run(&self, gradients: &Gradients, others: &Gradients) -> Result<Option<Vec<Option<Tensor>>>> {
        (self.call)(gradients, others)
    }
}

fn node_call(hook: rlt_node_hook, context: Context, what: &'static str) -> Result<NodeCall> {
    let hook = hook.ok_or_else(|| err!(NullPointer, "argument `hook` is NULL"))?;
    Ok(Box::new(move |gradients, others| {
        let (lent, lent_others) = (Lent::optional(gradients), Lent::optional(others));
        let mut replacements = vec![ptr::null_mut::<rlt_tensor>(); gradients.len()];
        let status = callback::call(what, || {
            let (given, rest, wanted) = (lent.0.as_ptr(), lent_others.0.as_ptr(), replacements.as_mut_ptr());
            // SAFETY: `hook` has this signature and was registered with this context; the three arrays have these
            // lengths and live until it returns.
            unsafe { hook(context.get(), given, gradients.len() as i64, rest, others.len() as i64, wanted) }
        });
        // SAFETY: the hook stored NULL or owned handles in `replacements`; each is taken once, also on failure.
        let replaced: Vec<Option<Tensor>> =
            replacements.into_iter().map(|grad| unsafe { handle::take(grad) }).collect();
        status?;
        if replaced.iter().all(Option::is_none) {
            return Ok(None);
        }
        Ok(Some(replaced.into_iter().zip(gradients).map(|(new, old)| new.or_else(|| old.clone())).collect()))
    }))
}

/// A context whose deleter is armed once ownership is certain to be taken.
struct Pending {
    ctx: SharedPointer,
    context: std::sync::OnceLock<Context>,
}

/// A pointer that may be used on any thread.
struct SharedPointer(*mut c_void);

// SAFETY: docs/c-abi.md: the context of a callback may be used from any thread; the wrapper only passes the pointer on.
unsafe impl Send for SharedPointer {}
// SAFETY: sharing `&SharedPointer` only copies the pointer; docs/c-abi.md lets any thread use the context.
unsafe impl Sync for SharedPointer {}

impl Pending {
    fn new(ctx: *mut c_void) -> Pending {
        Pending { ctx: SharedPointer(ctx), context: std::sync::OnceLock::new() }
    }

    fn arm(&self, deleter: rlt_deleter) {
        // The cell is new, so setting it cannot fail.
        let _ = self.context.set(Context::new(self.ctx.0, deleter));
    }
}

/// Packs a saved tensor into a value of the caller: `*packed` is passed to unpack and to free.
pub type rlt_pack_hook =
    Option<unsafe extern "C" fn(ctx: *mut c_void, tensor: *const rlt_tensor, packed: *mut *mut c_void) -> i32>;

/// Restores a tensor from the packed value: an owned handle in `*tensor`. May be called any number of times.
pub type rlt_unpack_hook =
    Option<unsafe extern "C" fn(ctx: *mut c_void, packed: *mut c_void, tensor: *mut *mut rlt_tensor) -> i32>;

// ---- Saved tensors ----

/// Pushes hooks that pack the tensors that the calling thread saves for backward, until `rlt_saved_tensors_hooks_pop`.
/// `free_packed` (or NULL) is called once for each value of `pack`, when it is no longer needed; `deleter(ctx)` once,
/// when the hooks are popped and none of their packed values is left; but not if this function fails.
///
/// All functions may be called from any thread. An error while hooks are disabled, with the message set there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_saved_tensors_hooks_push(
    pack: rlt_pack_hook,
    unpack: rlt_unpack_hook,
    free_packed: rlt_deleter,
    ctx: *mut c_void,
    deleter: rlt_deleter,
) -> i32 {
    guard("rlt_saved_tensors_hooks_push", || {
        ensure!(pack.is_some(), NullPointer, "argument `pack` is NULL");
        ensure!(unpack.is_some(), NullPointer, "argument `unpack` is NULL");
        let context = Pending::new(ctx);
        let shared = Arc::new(SavedHooks { pack, unpack, free_packed, context });
        autograd::push_saved_tensor_hooks(Arc::new(Pusher(shared.clone())))?;
        shared.context.arm(deleter);
        Ok(())
    })
}

/// Pops the last pushed hooks of the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_saved_tensors_hooks_pop() -> i32 {
    guard("rlt_saved_tensors_hooks_pop", autograd::pop_saved_tensor_hooks)
}

/// Makes pushing hooks on the calling thread an error with `message`; NULL allows it again. An error if hooks are
/// already pushed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_saved_tensors_hooks_disable(message: *const c_char) -> i32 {
    guard("rlt_saved_tensors_hooks_disable", || {
        let message = if message.is_null() {
            None
        } else {
            // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `message` is NULL or a
            // NUL-terminated string.
            Some(unsafe { arg::string(message, "message") }?.to_owned())
        };
        autograd::disable_saved_tensor_hooks(message)
    })
}

// ---- Inference mode ----

/// Returns whether the tensor was created in inference mode, or is a view of such a tensor. Outside of that mode it can
/// be read, but neither written nor saved for backward.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_inference(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_inference", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.is_inference())
        }
    })
}

struct SavedHooks {
    pack: rlt_pack_hook,
    unpack: rlt_unpack_hook,
    free_packed: rlt_deleter,
    context: Pending,
}

struct Pusher(Arc<SavedHooks>);

/// The packed value of the caller.
struct Packed {
    hooks: Arc<SavedHooks>,
    packed: SharedPointer,
}

impl SavedTensorHooks for Pusher {
    fn pack(&self, tensor: &Tensor) -> Result<Box<dyn PackedTensor>> {
        let pack = self.0.pack.ok_or_else(|| err!(Internal, "hooks without pack"))?;
        let lent = Lent::new([tensor]);
        let mut packed = ptr::null_mut();
        callback::call("a pack hook", || {
            // SAFETY: `pack` has this signature and was registered with this context; the lent handle and `packed` live
            // until it returns.
            unsafe { pack(self.0.context.ctx.0, lent.0[0], &raw mut packed) }
        })?;
        Ok(Box::new(Packed { hooks: self.0.clone(), packed: SharedPointer(packed) }))
    }
}

impl PackedTensor for Packed {
    fn unpack(&self) -> Result<Tensor> {
        let unpack = self.hooks.unpack.ok_or_else(|| err!(Internal, "hooks without unpack"))?;
        let mut tensor = ptr::null_mut::<rlt_tensor>();
        let status = callback::call("an unpack hook", || {
            // SAFETY: `unpack` has this signature and was registered with this context; `packed` is a value of its pack
            // hook that has not been freed, and `tensor` lives until it returns.
            unsafe { unpack(self.hooks.context.ctx.0, self.packed.0, &raw mut tensor) }
        });
        // SAFETY: the hook stored NULL or an owned handle in `tensor`; it is taken once, also on failure.
        let tensor = unsafe { handle::take(tensor) };
        status?;
        tensor.ok_or_else(|| err!(Callback, "an unpack hook returned no tensor"))
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        if let Some(free) = self.hooks.free_packed {
            // SAFETY: `packed` is a value of the pack hook; this drop is the only place that frees it, once.
            unsafe { free(self.packed.0) }
        }
    }
}
