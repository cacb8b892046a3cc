//! Modules of TorchScript: saved models. `NativeScript` is the Java side.

use crate::arrays::{length, with_bytes};
use crate::support::{
    Callback, EnvUnowned, Frame, JClass, JLongs, JObject, JString, border, guard, jboolean, jint, jlong, jobject,
    optional_device, optional_dtype,
};
use jni::objects::JObjectArray;
use jni::sys::jobjectArray;
use rushlight_base::{Error, Result, ensure, err, handles, list};
use rushlight_script::module::Module;
use rushlight_script::runtime::Sink;
use rushlight_script::runtime::function::Function;
use rushlight_tensor::dispatch::Value;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The contents of a handle.
struct Loaded {
    module: Module,
    /// Receives what methods print.
    print: RwLock<Option<Arc<Callback>>>,
}

impl Loaded {
    fn printer(&self) -> Option<Arc<Callback>> {
        self.print.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Calls a method. An exception of the object that receives what the method prints ends the call with that exception
    /// when the method has returned.
    fn run(&self, method: &str, positional: Vec<Value>, named: &[(String, Value)]) -> Result<Value> {
        let Some(printer) = self.printer() else { return self.module.run_boxed(method, positional, named) };
        let failure: Arc<Mutex<Option<Error>>> = Arc::default();
        let first = failure.clone();
        let sink: Sink = Arc::new(move |text| {
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            if first.is_none() {
                *first = printer.text(&String::from_utf8_lossy(text)).err();
            }
        });
        let result = self.module.clone().printing_to(sink).run_boxed(method, positional, named)?;
        let failure = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or(Ok(result), Err)
    }
}

/// A module that a Java wrapper owns and keeps alive during the call.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct ModuleHandle(jlong);

impl ModuleHandle {
    /// Passes ownership of a module to a Java wrapper, which frees it.
    pub(crate) fn give(module: Module) -> jlong {
        handles::made();
        Box::into_raw(Box::new(Loaded { module, print: RwLock::new(None) })) as jlong
    }

    fn get(&self) -> Result<&Loaded> {
        // SAFETY: only wrappers have handles, which `give` created from a box, and they hold theirs open during the call,
        // which outlives the borrowed handle.
        let module = unsafe { (self.0 as *const Loaded).as_ref() };
        module.ok_or_else(|| err!(NullPointer, "argument 'module' is null"))
    }

    pub(crate) fn module(&self) -> Result<&Module> {
        Ok(&self.get()?.module)
    }

    fn free(self) {
        if self.0 != 0 {
            handles::freed();
            // SAFETY: the handle came from a box in `give`; a wrapper frees its handle once, and does not use it
            // afterwards.
            drop(unsafe { Box::from_raw(self.0 as *mut Loaded) });
        }
    }
}

// Loading.

/// `NativeScript.load`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_load<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    path: JString<'l>,
) -> jlong {
    guard(env, |frame| Ok(ModuleHandle::give(Module::load(frame.string(&path, "file")?)?)))
}

/// `NativeScript.loadBytes`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_loadBytes<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    file: JObject<'l>,
) -> jlong {
    guard(env, |frame| {
        let mut bytes = list::filled(length(frame, &file)? as usize, 0u8)?;
        with_bytes(frame, &file, false, |from| {
            // SAFETY: `NativeScript` passes a byte[], and the list has as many bytes.
            unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(from, bytes.len()) }
        })?;
        Ok(ModuleHandle::give(Module::from_bytes(bytes)?))
    })
}

/// `NativeScript.copy`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_copy<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
) -> jlong {
    guard(env, |_| Ok(ModuleHandle::give(module.module()?.deep_copy()?)))
}

/// `NativeScript.free`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_free<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
) {
    guard(env, |_| {
        module.free();
        Ok(())
    })
}

/// `NativeScript.extraFile`: null if the archive has none of this name.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_extraFile<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    name: JString<'l>,
) -> jobject {
    guard(env, |frame| {
        let Some(bytes) = module.module()?.extra_file(&frame.string(&name, "name")?)? else {
            return Ok(std::ptr::null_mut());
        };
        Ok(JObject::from(frame.env().byte_array_from_slice(&bytes).map_err(border)?).into_raw())
    })
}

// Methods.

/// `NativeScript.run`: the last values belong to the names in `keywords`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_run<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    method: JString<'l>,
    numbers: JLongs<'l>,
    strings: JObjectArray<'l, JString<'l>>,
    keywords: JObjectArray<'l, JString<'l>>,
) -> jobject {
    guard(env, |frame| {
        let method = frame.string(&method, "method")?;
        let (positional, named) = frame.call_arguments(&numbers, &strings, &keywords)?;
        let result = module.get()?.run(&method, positional, &named)?;
        frame.give_values(&[result])
    })
}

/// `NativeScript.setPrint`: null discards what methods print.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_setPrint<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    consumer: JObject<'l>,
) {
    guard(env, |frame| {
        let printer = if consumer.is_null() { None } else { Some(Arc::new(Callback::new(frame.env(), &consumer)?)) };
        *module.get()?.print.write().unwrap_or_else(PoisonError::into_inner) = printer;
        Ok(())
    })
}

/// `NativeScript.methods`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_methods<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
) -> jobject {
    guard(env, |frame| {
        let names = module.module()?.methods()?;
        frame.give_values(&[Value::Strings(names)])
    })
}

/// A text about a method.
pub(crate) fn describe(
    frame: &mut Frame<'_>,
    module: ModuleHandle,
    method: &JString<'_>,
    text: impl FnOnce(&Function) -> String,
) -> Result<jobject> {
    let function = module.module()?.method(&frame.string(method, "method")?)?;
    frame.give_string(&text(&function))
}

/// `NativeScript.schema`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_schema<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    method: JString<'l>,
) -> jobject {
    guard(env, |frame| describe(frame, module, &method, |function| function.schema.to_string()))
}

/// `NativeScript.graph`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_graph<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    method: JString<'l>,
) -> jobject {
    guard(env, |frame| describe(frame, module, &method, |function| function.graph.to_string()))
}

/// `NativeScript.className`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_className<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
) -> jobject {
    guard(env, |frame| {
        let name = module.module()?.class().clone();
        frame.give_string(&name)
    })
}

// Attributes.

/// `NativeScript.attribute`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_attribute<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    name: JString<'l>,
) -> jobject {
    guard(env, |frame| {
        let value = module.module()?.attribute_boxed(&frame.string(&name, "name")?)?;
        frame.give_values(&[value])
    })
}

/// `NativeScript.setAttribute`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_setAttribute<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    name: JString<'l>,
    numbers: JLongs<'l>,
    strings: JObjectArray<'l, JString<'l>>,
) {
    guard(env, |frame| {
        let name = frame.string(&name, "name")?;
        let value = frame.values(&numbers, &strings)?.pop();
        let value = value.ok_or_else(|| err!(Internal, "Java passed no value"))?;
        module.module()?.set_attribute_boxed(&name, value)
    })
}

/// `NativeScript.children`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_children<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
) -> jobject {
    guard(env, |frame| {
        let names = module.module()?.children().into_iter().map(|(name, _)| name.into());
        frame.give_values(&[Value::Strings(list::collect(names)?)])
    })
}

/// `NativeScript.child`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_child<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    name: JString<'l>,
) -> jlong {
    guard(env, |frame| {
        let name = frame.string(&name, "name")?;
        let found = module.module()?.children().into_iter().find(|(child, _)| *child == name);
        let (_, child) = found.ok_or_else(|| err!(Index, "the module has no submodule '{name}'"))?;
        Ok(ModuleHandle::give(child))
    })
}

/// `NativeScript.tensors`: parameters or buffers, as a `String[]` and a `long[]` of handles.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_tensors<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    buffers: jboolean,
) -> jobjectArray {
    guard(env, |frame| {
        let module = module.module()?;
        frame.give_named(if buffers { module.buffers() } else { module.parameters() })
    })
}

/// `NativeScript.train`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_train<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    on: jboolean,
) {
    guard(env, |_| module.module()?.train(on))
}

/// `NativeScript.to`: negative numbers leave the device or the dtype.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_to<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    device: jint,
    dtype: jint,
) {
    guard(env, |_| {
        let (device, dtype) = (optional_device(device)?, optional_dtype(dtype)?);
        ensure!(device.is_some() || dtype.is_some(), Value, "to needs a device or a dtype");
        module.module()?.to(device, dtype)
    })
}
