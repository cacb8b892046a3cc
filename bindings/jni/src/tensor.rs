//! Metadata of tensors: the accessors of `NativeCore`.

use crate::support::{
    EnvUnowned, Frame, JClass, JDoubles, JInts, JLongs, TensorHandle, border, device_code, dtype, guard, jboolean,
    jint, jlong, jlongArray, jobject, memory_format,
};
use rushlight_base::Result;
use rushlight_tensor::ops::rules;

fn give_longs(frame: &mut Frame<'_>, values: &[i64]) -> Result<jlongArray> {
    let array = JLongs::new(frame.env(), values.len()).map_err(border)?;
    array.set_region(frame.env(), 0, values).map_err(border)?;
    Ok(array.as_raw())
}

/// `NativeCore.free`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_free<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) {
    guard(env, |_| {
        tensor.free();
        Ok(())
    })
}

/// `NativeCore.retain`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_retain<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlong {
    guard(env, |frame| Ok(frame.give(tensor.get("self")?.clone())))
}

/// `NativeCore.alias`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_alias<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlong {
    guard(env, |frame| Ok(frame.give(tensor.get("self")?.untracked_alias())))
}

/// `NativeCore.sizes`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_sizes<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlongArray {
    guard(env, |frame| give_longs(frame, &tensor.get("self")?.sizes()))
}

/// `NativeCore.strides`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_strides<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlongArray {
    guard(env, |frame| give_longs(frame, &tensor.get("self")?.strides()))
}

/// `NativeCore.numel`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_numel<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlong {
    guard(env, |_| Ok(tensor.get("self")?.numel()))
}

/// `NativeCore.dtype`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_dtype<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jint {
    guard(env, |_| Ok(tensor.get("self")?.dtype() as jint))
}

/// `NativeCore.device`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_device<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jint {
    guard(env, |_| Ok(device_code(tensor.get("self")?.device())))
}

/// `NativeCore.storageOffset`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_storageOffset<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlong {
    guard(env, |_| Ok(tensor.get("self")?.storage_offset()))
}

/// `NativeCore.isContiguous`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_isContiguous<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
    format: jint,
) -> jboolean {
    guard(env, |_| Ok(tensor.get("self")?.is_contiguous(memory_format(format)?)))
}

/// `NativeCore.suggestMemoryFormat`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_suggestMemoryFormat<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jint {
    guard(env, |_| Ok(tensor.get("self")?.suggested_format() as jint))
}

/// `NativeCore.isNonOverlappingAndDense`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_isNonOverlappingAndDense<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jboolean {
    guard(env, |_| Ok(tensor.get("self")?.is_non_overlapping_and_dense()))
}

/// `NativeCore.layout`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_layout<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jint {
    guard(env, |_| Ok(tensor.get("self")?.layout() as jint))
}

/// `NativeCore.nnz`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_nnz<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlong {
    guard(env, |_| tensor.get("self")?.nnz())
}

/// `NativeCore.sparseDim`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_sparseDim<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlong {
    guard(env, |_| Ok(tensor.get("self")?.sparse_dim()))
}

/// `NativeCore.qscheme`: -1 for a tensor that is not quantized
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_qscheme<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlong {
    guard(env, |_| Ok(tensor.get("self")?.quantizer().map_or(-1, |quantizer| quantizer.scheme() as i64)))
}

/// `NativeCore.denseDim`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_denseDim<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlong {
    guard(env, |_| Ok(tensor.get("self")?.dense_dim()))
}

/// `NativeCore.isCoalesced`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_isCoalesced<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jboolean {
    guard(env, |_| tensor.get("self")?.is_coalesced())
}

/// `NativeCore.isConj`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_isConj<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jboolean {
    guard(env, |_| Ok(tensor.get("self")?.is_conj()))
}

/// `NativeCore.isNeg`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_isNeg<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jboolean {
    guard(env, |_| Ok(tensor.get("self")?.is_neg()))
}

/// `NativeCore.viewBase`: 0 if the tensor is not a view.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_viewBase<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlong {
    guard(env, |frame| Ok(tensor.get("self")?.view_base().map_or(0, |base| frame.give(base))))
}

/// `NativeCore.promoteTypes`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_promoteTypes<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    a: jint,
    b: jint,
) -> jint {
    guard(env, |_| Ok(dtype(a)?.promote(dtype(b)?)? as jint))
}

/// `NativeCore.canCast`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_canCast<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    from: jint,
    to: jint,
) -> jboolean {
    guard(env, |_| Ok(dtype(from)?.can_cast(dtype(to)?)))
}

/// `NativeCore.resultType`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_resultType<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensors: JLongs<'l>,
    tags: JInts<'l>,
    bits: JLongs<'l>,
    imags: JDoubles<'l>,
) -> jint {
    guard(env, |frame| {
        let numbers = frame.scalars(&tags, &bits, &imags, "numbers")?;
        let tensors = frame.tensors(&tensors, "tensors")?;
        Ok(rules::result_type(&tensors.refs(), &numbers)? as jint)
    })
}

/// `NativeCore.isAlias`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_isAlias<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
    other: TensorHandle,
) -> jboolean {
    guard(env, |_| Ok(tensor.get("self")?.storage().is(&other.get("other")?.storage())))
}

/// `NativeCore.version`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_version<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jlong {
    guard(env, |_| Ok(jlong::from(tensor.get("self")?.version())))
}

/// `NativeCore.item`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_item<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jobject {
    guard(env, |frame| {
        let value = tensor.get("self")?.item()?;
        frame.give_scalar(value)
    })
}
