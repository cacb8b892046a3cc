//! Operators by name, and operators defined at run time.

use crate::support::{
    Callback, EnvUnowned, JClass, JLongs, JObject, JString, TensorHandle, guard, jint, jlong, jobject,
};
use jni::objects::JObjectArray;
use rushlight_base::{Result, ensure, err, handles};
use rushlight_tensor::dispatch::by_name;
use rushlight_tensor::dispatch::runtime_ops::{self, KernelKey, RuntimeOp};
use rushlight_tensor::ops::generated::TABLE;
use std::sync::Arc;

/// `NativeLibrary.table`: the hash of the operator table, which Java compares with its own.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeLibrary_table<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jlong {
    guard(env, |_| Ok(TABLE as jlong))
}

/// `NativeCore.setData`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setData<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
    other: TensorHandle,
) {
    guard(env, |_| tensor.get("self")?.set_data(&*other.get("other")?))
}

/// `NativeCore.opCall`: the last values belong to the names in `keywords`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_opCall<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    name: JString<'l>,
    overload: JString<'l>,
    numbers: JLongs<'l>,
    strings: JObjectArray<'l, JString<'l>>,
    keywords: JObjectArray<'l, JString<'l>>,
) -> jobject {
    guard(env, |frame| {
        let (name, overload) = (frame.string(&name, "name")?, frame.string(&overload, "overload")?);
        let (positional, named) = frame.call_arguments(&numbers, &strings, &keywords)?;
        let results = by_name::call(&name, &overload, positional, named)?;
        frame.give_values(&results)
    })
}

/// `NativeCore.opSchema`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_opSchema<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    name: JString<'l>,
    overload: JString<'l>,
) -> jobject {
    guard(env, |frame| {
        let (name, overload) = (frame.string(&name, "name")?, frame.string(&overload, "overload")?);
        let schema = by_name::find(&name, &overload)?.signature().to_string();
        frame.give_string(&schema)
    })
}

/// An operator that a Java `Library` owns and keeps alive during the call.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct OpHandle(jlong);

impl OpHandle {
    fn get(self) -> Result<Arc<RuntimeOp>> {
        // SAFETY: only a `Library` has handles, which `opDefine` returned; it frees each once, under its lock, so this
        // one is live.
        let op = unsafe { (self.0 as *const Arc<RuntimeOp>).as_ref() };
        op.cloned().ok_or_else(|| err!(NullPointer, "argument 'op' is null"))
    }
}

/// `NativeCore.opDefine`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_opDefine<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    schema: JString<'l>,
) -> jlong {
    guard(env, |frame| {
        let op = runtime_ops::define(&frame.string(&schema, "schema")?)?;
        handles::made();
        Ok(Box::into_raw(Box::new(op)) as jlong)
    })
}

/// `NativeCore.opImplement`: null removes the kernel.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_opImplement<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    op: OpHandle,
    key: jint,
    kernel: JObject<'l>,
) {
    guard(env, |frame| {
        let (op, key) = (op.get()?, KernelKey::from_code(key)?);
        if kernel.is_null() {
            op.remove(key);
            return Ok(());
        }
        let callback = Callback::new(frame.env(), &kernel)?;
        let (name, returns) = (op.full_name(), op.signature().returns.len());
        op.implement(
            key,
            Arc::new(move |arguments| {
                let results = callback.values(arguments)?;
                ensure!(
                    results.len() == returns,
                    Runtime,
                    "{name}: the kernel returned {} values, its schema has {returns}",
                    results.len()
                );
                Ok(rushlight_tensor::dispatch::Values(results.into()))
            }),
        );
        Ok(())
    })
}

/// `NativeCore.opUndefine`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_opUndefine<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    op: OpHandle,
) {
    guard(env, |_| {
        runtime_ops::undefine(&op.get()?)?;
        handles::freed();
        // SAFETY: the handle came from a box in `opDefine`; the `Library` frees it once, here, and does not use it
        // afterwards.
        drop(unsafe { Box::from_raw(op.0 as *mut Arc<RuntimeOp>) });
        Ok(())
    })
}
