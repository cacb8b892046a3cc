//! Gradients: recording, backward, hooks.

use crate::support::{
    BorrowedOptionalList, Callback, EnvUnowned, HookHandle, JClass, JLongs, JObject, TensorHandle, guard, is_in_upcall,
    jboolean, jlong, jlongArray, jobject,
};
use rushlight_base::ensure;
use rushlight_tensor::autograd;
use rushlight_tensor::{Tensor, autograd::TensorHook};

/// `NativeCore.requiresGrad`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_requiresGrad<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jboolean {
    guard(env, |_| Ok(tensor.get("self")?.requires_grad()))
}

/// `NativeCore.setRequiresGrad`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setRequiresGrad<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
    on: jboolean,
) {
    guard(env, |_| tensor.get("self")?.set_requires_grad(on))
}

/// `NativeCore.isLeaf`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_isLeaf<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jboolean {
    guard(env, |_| Ok(tensor.get("self")?.is_leaf()))
}

/// `NativeCore.isView`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_isView<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jboolean {
    guard(env, |_| Ok(tensor.get("self")?.is_view()))
}

/// `NativeCore.grad`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_grad<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlong {
    guard(env, |frame| Ok(tensor.get("self")?.grad().map_or(0, |grad| frame.give(grad))))
}

/// `NativeCore.setGrad`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setGrad<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
    grad: TensorHandle,
) {
    guard(env, |_| tensor.get("self")?.set_grad(grad.optional().map(|grad| grad.clone())))
}

/// `NativeCore.gradFnName`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_gradFnName<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jobject {
    guard(env, |frame| match tensor.get("self")?.grad_fn() {
        Some(node) => frame.give_string(&node.name()),
        None => Ok(std::ptr::null_mut()),
    })
}

/// `NativeCore.retainGrad`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_retainGrad<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) {
    guard(env, |_| tensor.get("self")?.retain_grad())
}

/// `NativeCore.retainsGrad`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_retainsGrad<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jboolean {
    guard(env, |_| Ok(tensor.get("self")?.retains_grad()))
}

/// `NativeCore.isInference`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_isInference<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jboolean {
    guard(env, |_| Ok(tensor.get("self")?.is_inference()))
}

/// `NativeCore.bumpVersion`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_bumpVersion<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) {
    guard(env, |_| {
        tensor.get("self")?.bump_version();
        Ok(())
    })
}

/// The initial gradients: an empty array means none for each output.
fn seeds<'a>(outputs: &[&Tensor], gradients: &'a BorrowedOptionalList) -> Vec<Option<&'a Tensor>> {
    let given = gradients.optional_refs();
    if given.is_empty() { vec![None; outputs.len()] } else { given }
}

/// `NativeCore.backward`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_backward<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    outputs: JLongs<'l>,
    gradients: JLongs<'l>,
    retain_graph: jboolean,
    create_graph: jboolean,
    inputs: JLongs<'l>,
) {
    guard(env, |frame| {
        let outputs = frame.tensors(&outputs, "outputs")?;
        let (gradients, inputs) = (frame.optional_tensors(&gradients)?, frame.optional_tensors(&inputs)?);
        let (outputs, inputs) = (outputs.refs(), inputs.optional_refs());
        let inputs: Vec<&Tensor> = inputs.into_iter().flatten().collect();
        autograd::backward(&outputs, &seeds(&outputs, &gradients), retain_graph, create_graph, &inputs)
    })
}

/// `NativeCore.gradOf`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_gradOf<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    outputs: JLongs<'l>,
    inputs: JLongs<'l>,
    gradients: JLongs<'l>,
    retain_graph: jboolean,
    create_graph: jboolean,
    allow_unused: jboolean,
) -> jlongArray {
    guard(env, |frame| {
        let outputs = frame.tensors(&outputs, "outputs")?;
        let inputs = frame.tensors(&inputs, "inputs")?;
        let gradients = frame.optional_tensors(&gradients)?;
        let outputs = outputs.refs();
        let seeds = seeds(&outputs, &gradients);
        let grads = autograd::grad(&outputs, &inputs.refs(), &seeds, retain_graph, create_graph, allow_unused)?;
        frame.give_all_optional(grads)
    })
}

/// `NativeCore.registerHook`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_registerHook<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
    hook: JObject<'l>,
) -> jlong {
    guard(env, |frame| {
        ensure!(!hook.is_null(), NullPointer, "argument 'hook' is null");
        let callback = Callback::new(frame.env(), &hook)?;
        let hook: TensorHook = std::sync::Arc::new(move |grad: Option<&Tensor>| callback.gradient(grad));
        Ok(HookHandle::give(tensor.get("self")?.register_hook(hook)?))
    })
}

/// `NativeCore.hookRemove`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_hookRemove<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    hook: HookHandle,
) {
    guard(env, |_| {
        hook.remove();
        Ok(())
    })
}

/// `NativeCore.hookFree`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_hookFree<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    hook: HookHandle,
) {
    guard(env, |_| {
        hook.free();
        Ok(())
    })
}

// Modes of the thread.

/// `NativeCore.pinned`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_pinned<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    body: JObject<'l>,
) {
    guard(env, |frame| {
        ensure!(!body.is_null(), NullPointer, "argument 'body' is null");
        Callback::new(frame.env(), &body)?.run()
    })
}

/// `NativeCore.isPinned`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_isPinned<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jboolean {
    guard(env, |_| Ok(is_in_upcall()))
}

/// `NativeCore.gradEnabled`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_gradEnabled<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jboolean {
    guard(env, |_| Ok(autograd::is_grad_enabled()))
}

/// `NativeCore.setGradEnabled`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setGradEnabled<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    on: jboolean,
) {
    guard(env, |_| {
        autograd::set_grad_enabled(on);
        Ok(())
    })
}

/// `NativeCore.inferenceMode`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_inferenceMode<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jboolean {
    guard(env, |_| Ok(autograd::is_inference_mode()))
}

/// `NativeCore.setInferenceMode`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setInferenceMode<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    on: jboolean,
) {
    guard(env, |_| {
        autograd::set_inference_mode(on);
        Ok(())
    })
}
