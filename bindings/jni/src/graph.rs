//! Nodes of the recorded graph and hooks on them, on leaves and on saved tensors; custom functions; gradcheck; the
//! modes of backward.

use crate::support::{
    Callback, EnvUnowned, Frame, HookHandle, JBooleans, JClass, JDoubles, JLongs, JObject, JString, NodeHandle,
    TensorHandle, border, guard, jboolean, jlong, jlongArray, jobject,
};
use jni::refs::Global;
use rushlight_base::{Result, ensure, err};
use rushlight_tensor::Tensor;
use rushlight_tensor::autograd::{
    self, CustomFunction, CustomSaved, GradcheckOptions, PackedTensor, SavedTensorHooks, pop_saved_tensor_hooks,
    push_saved_tensor_hooks,
};
use std::sync::{Arc, OnceLock};

fn callback(frame: &mut Frame<'_>, object: &JObject<'_>) -> Result<Callback> {
    ensure!(!object.is_null(), NullPointer, "argument 'function' is null");
    Callback::new(frame.env(), object)
}

// Nodes.

/// `NativeCore.gradFn`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_gradFn<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlong {
    guard(env, |_| Ok(tensor.get("self")?.grad_fn().map_or(0, NodeHandle::give)))
}

/// `NativeCore.nodeFree`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_nodeFree<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    node: NodeHandle,
) {
    guard(env, |_| {
        node.free();
        Ok(())
    })
}

/// `NativeCore.nodeName`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_nodeName<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    node: NodeHandle,
) -> jobject {
    guard(env, |frame| frame.give_string(&node.get("node")?.name()))
}

/// `NativeCore.nodeSequence`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_nodeSequence<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    node: NodeHandle,
) -> jlong {
    guard(env, |_| Ok(node.get("node")?.sequence() as jlong))
}

/// `NativeCore.nodeNext`: for each edge a node, or 0, and the index of the gradient in it.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_nodeNext<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    node: NodeHandle,
) -> jlongArray {
    guard(env, |frame| {
        let edges = node.get("node")?.next_edges().to_vec();
        let array = JLongs::new(frame.env(), 2 * edges.len()).map_err(border)?;
        let pair = |edge: Option<autograd::Edge>| match edge {
            Some(edge) => [NodeHandle::give(edge.node), jlong::from(edge.output)],
            None => [0, 0],
        };
        let numbers: Vec<jlong> = edges.into_iter().flat_map(pair).collect();
        array.set_region(frame.env(), 0, &numbers).map_err(border)?;
        Ok(array.as_raw())
    })
}

/// `NativeCore.nodeRegisterHook`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_nodeRegisterHook<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    node: NodeHandle,
    hook: JObject<'l>,
    before: jboolean,
) -> jlong {
    guard(env, |frame| {
        let (node, hook) = (node.get("node")?, callback(frame, &hook)?);
        let registered = if before {
            node.register_prehook(Arc::new(move |taken| hook.tensors(taken, &[], &[])))
        } else {
            node.register_hook(Arc::new(move |gave, taken| hook.tensors(gave, taken, &[])))
        };
        Ok(HookHandle::give(registered))
    })
}

/// `NativeCore.registerPostAccumulateGradHook`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_registerPostAccumulateGradHook<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
    hook: JObject<'l>,
) -> jlong {
    guard(env, |frame| {
        let hook = callback(frame, &hook)?;
        let call = move |leaf: &Tensor| hook.tensors(&[Some(leaf.clone())], &[], &[]).map(|_| ());
        Ok(HookHandle::give(tensor.get("self")?.register_post_accumulate_grad_hook(Arc::new(call))?))
    })
}

// Saved tensors.

struct JavaHooks(Arc<Callback>);

struct JavaPacked {
    hooks: Arc<Callback>,
    packed: Global<JObject<'static>>,
}

impl SavedTensorHooks for JavaHooks {
    fn pack(&self, tensor: &Tensor) -> Result<Box<dyn PackedTensor>> {
        Ok(Box::new(JavaPacked { hooks: self.0.clone(), packed: self.0.pack(tensor)? }))
    }
}

impl PackedTensor for JavaPacked {
    fn unpack(&self) -> Result<Tensor> {
        self.hooks.unpack(&self.packed)?.ok_or_else(|| err!(Callback, "an unpack hook returned no tensor"))
    }
}

impl Drop for JavaPacked {
    fn drop(&mut self) {
        // No caller waits for a result: objects that Java keeps after a failure are garbage collected.
        let _ = self.hooks.release(&self.packed);
    }
}

/// `NativeCore.pushSavedTensorHooks`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_pushSavedTensorHooks<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    hooks: JObject<'l>,
) {
    guard(env, |frame| push_saved_tensor_hooks(Arc::new(JavaHooks(Arc::new(callback(frame, &hooks)?)))))
}

/// `NativeCore.popSavedTensorHooks`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_popSavedTensorHooks<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) {
    guard(env, |_| pop_saved_tensor_hooks())
}

// Custom functions.

struct JavaFunction {
    backward: Callback,
    name: String,
    wants_zeros: bool,
    saved: OnceLock<Vec<Option<CustomSaved>>>,
}

impl CustomFunction for JavaFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants_zeros(&self) -> bool {
        self.wants_zeros
    }

    fn backward(&self, grads: &[Option<Tensor>], needs: &[bool]) -> Result<Vec<Option<Tensor>>> {
        let saved = self.saved.get().map_or(&[][..], Vec::as_slice);
        let saved: Vec<Option<Tensor>> =
            saved.iter().map(|saved| saved.as_ref().map(CustomSaved::unpack).transpose()).collect::<Result<_>>()?;
        let results = self.backward.tensors(grads, &saved, needs)?;
        results.ok_or_else(|| err!(Callback, "the backward of {} returned null", self.name))
    }
}

/// `NativeCore.recordCustom`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_recordCustom<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    function: JObject<'l>,
    name: JString<'l>,
    inputs: JLongs<'l>,
    outputs: JLongs<'l>,
    differentiable: JBooleans<'l>,
    wants_zeros: jboolean,
    saved: JLongs<'l>,
    saved_outputs: JBooleans<'l>,
) -> jboolean {
    guard(env, |frame| {
        let inputs = frame.optional_tensors(&inputs)?;
        let outputs = frame.tensors(&outputs, "outputs")?;
        let differentiable = frame.booleans(&differentiable, "differentiable")?;
        let kept = frame.optional_tensors(&saved)?;
        let are_outputs = frame.booleans(&saved_outputs, "savedOutputs")?;
        let name = frame.string(&name, "name")?;
        let backward = callback(frame, &function)?;
        let function = Arc::new(JavaFunction { backward, name, wants_zeros, saved: OnceLock::new() });
        let done =
            autograd::record_custom(function.clone(), &inputs.optional_refs(), &outputs.refs(), &differentiable)?;
        if done {
            let save = |(tensor, is_output): (Option<&Tensor>, bool)| {
                tensor.map(|tensor| CustomSaved::new(tensor, is_output)).transpose()
            };
            let kept = kept.optional_refs().into_iter().zip(are_outputs).map(save).collect::<Result<_>>()?;
            // The cell is new, so setting it cannot fail.
            let _ = function.saved.set(kept);
        }
        Ok(done)
    })
}

/// `NativeCore.gradcheck`: describes the mismatch, or returns null.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_gradcheck<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    function: JObject<'l>,
    inputs: JLongs<'l>,
    grad_outputs: JLongs<'l>,
    second: jboolean,
    numbers: JDoubles<'l>,
    fast_mode: jboolean,
    check_undefined_grad: jboolean,
) -> jobject {
    guard(env, |frame| {
        let owned = |list: Vec<&Tensor>| list.into_iter().cloned().collect::<Vec<Tensor>>();
        let inputs = owned(frame.tensors(&inputs, "inputs")?.refs());
        let cotangents = frame.optional_tensors(&grad_outputs)?;
        let cotangents = owned(cotangents.optional_refs().into_iter().flatten().collect());
        let numbers = frame.doubles(&numbers, "numbers")?;
        let [eps, atol, rtol, nondet_tol] = numbers[..] else {
            return Err(err!(Value, "gradcheck takes 4 numbers"));
        };
        let options = GradcheckOptions { eps, atol, rtol, nondet_tol, fast_mode, check_undefined_grad };
        let function = callback(frame, &function)?;
        let call = |inputs: &[Tensor]| {
            let given: Vec<Option<Tensor>> = inputs.iter().cloned().map(Some).collect();
            let results = function.tensors(&given, &[], &[])?;
            let results = results.ok_or_else(|| err!(Callback, "gradcheck's function returned null"))?;
            let there = |result: Option<Tensor>| {
                result.ok_or_else(|| err!(Callback, "the function for gradcheck did not set a result"))
            };
            results.into_iter().map(there).collect()
        };
        let problem = if second {
            autograd::gradgradcheck(&call, &inputs, &cotangents, &options)?
        } else {
            autograd::gradcheck(&call, &inputs, &options)?
        };
        problem.map_or(Ok(std::ptr::null_mut()), |problem| frame.give_string(&problem))
    })
}

// Modes.

/// `NativeCore.setAnomalyMode`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setAnomalyMode<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    on: jboolean,
    check_nan: jboolean,
) {
    guard(env, |_| {
        autograd::set_anomaly_enabled(on);
        autograd::set_anomaly_nan_checked(check_nan);
        Ok(())
    })
}
