//! Tracing of the calls of a thread to modules, and saving of modules. `NativeTrace` is the Java side.

use crate::script::ModuleHandle;
use crate::support::{
    EnvUnowned, Frame, JClass, JLongs, JObject, JString, TensorHandle, border, guard, jboolean, jlong, jobject,
};
use jni::objects::JObjectArray;
use rushlight_base::{Result, err, handles};
use rushlight_script::trace::{Kind, Trace};
use rushlight_tensor::dispatch::Value;

/// A trace that Java owns and keeps alive during the call.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct TraceHandle(jlong);

impl TraceHandle {
    fn optional(&self) -> Option<&Trace> {
        // SAFETY: only `org.rushlight.Tracer` has handles, which `begin` created from a box; it uses them on one thread, and
        // frees them at its end.
        unsafe { (self.0 as *const Trace).as_ref() }
    }

    fn get(&self) -> Result<&Trace> {
        self.optional().ok_or_else(|| err!(NullPointer, "argument 'trace' is null"))
    }
}

/// `NativeTrace.begin`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeTrace_begin<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    name: JString<'l>,
    training: jboolean,
) -> jlong {
    guard(env, |frame| {
        let trace = Trace::begin(&frame.string(&name, "className")?, training)?;
        handles::made();
        Ok(Box::into_raw(Box::new(trace)) as jlong)
    })
}

/// `NativeTrace.free`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeTrace_free<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    trace: TraceHandle,
) {
    guard(env, |_| {
        if trace.0 != 0 {
            handles::freed();
            // SAFETY: the handle came from a box in `begin`; the tracer frees it once, and does not use it afterwards.
            drop(unsafe { Box::from_raw(trace.0 as *mut Trace) });
        }
        Ok(())
    })
}

/// `NativeTrace.module`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeTrace_module<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    trace: TraceHandle,
    path: JString<'l>,
    name: JString<'l>,
    training: jboolean,
) {
    guard(env, |frame| {
        let (path, name) = (frame.string(&path, "path")?, frame.string(&name, "className")?);
        trace.get()?.module(&path, &name, training)
    })
}

/// `NativeTrace.attribute`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeTrace_attribute<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    trace: TraceHandle,
    path: JString<'l>,
    tensor: TensorHandle,
    buffer: jboolean,
) {
    guard(env, |frame| {
        let kind = if buffer { Kind::Buffer } else { Kind::Parameter };
        let tensor = tensor.get("tensor")?;
        trace.get()?.attribute(&frame.string(&path, "path")?, &tensor, kind)
    })
}

/// One value of Java.
fn value(frame: &mut Frame<'_>, numbers: &JLongs<'_>, strings: &JObjectArray<'_, JString<'_>>) -> Result<Value> {
    let value = frame.values(numbers, strings)?.pop();
    value.ok_or_else(|| err!(Internal, "Java passed no value"))
}

/// `NativeTrace.input`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeTrace_input<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    trace: TraceHandle,
    name: JString<'l>,
    numbers: JLongs<'l>,
    strings: JObjectArray<'l, JString<'l>>,
) {
    guard(env, |frame| {
        let name = frame.string(&name, "name")?;
        let value = value(frame, &numbers, &strings)?;
        trace.get()?.input(&name, &value)
    })
}

/// `NativeTrace.output`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeTrace_output<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    trace: TraceHandle,
    numbers: JLongs<'l>,
    strings: JObjectArray<'l, JString<'l>>,
) {
    guard(env, |frame| {
        let value = value(frame, &numbers, &strings)?;
        trace.get()?.output(&value)
    })
}

/// `NativeTrace.finish`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeTrace_finish<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    trace: TraceHandle,
    other: TraceHandle,
    check: jboolean,
) -> jlong {
    guard(env, |_| Ok(ModuleHandle::give(trace.get()?.finish(other.optional(), check)?)))
}

/// `NativeTrace.save`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeTrace_save<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    path: JString<'l>,
) {
    guard(env, |frame| module.module()?.save(frame.string(&path, "file")?, &[]))
}

/// `NativeTrace.saveBytes`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeTrace_saveBytes<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
) -> jobject {
    guard(env, |frame| {
        let bytes = module.module()?.to_bytes(&[])?;
        Ok(JObject::from(frame.env().byte_array_from_slice(&bytes).map_err(border)?).into_raw())
    })
}
