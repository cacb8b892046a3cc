//! Compiled modules, and calls of methods that go on step by step. `NativeScript` is the Java side.

use crate::script::{ModuleHandle, describe};
use crate::support::{BoxHandle, EnvUnowned, JClass, JLongs, JString, dtype, guard, jboolean, jint, jlong, jobject};
use jni::objects::JObjectArray;
use rushlight_base::Result;
use rushlight_script::passes;
use rushlight_script::plan::{Compiled, Run};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A call that goes on step by step.
type RunHandle = BoxHandle<Arc<Mutex<Run>>>;

/// Uses a call; threads take turns.
fn with<T>(run: &RunHandle, use_it: impl FnOnce(&mut Run) -> Result<T>) -> Result<T> {
    let run = run.get("run")?;
    let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
    use_it(&mut run)
}

/// `NativeScript.compile`: the module with `forward` and these methods, with weights in a dtype.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_compile<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    methods: JObjectArray<'l, JString<'l>>,
    weights: jint,
) -> jlong {
    guard(env, |frame| {
        let methods = frame.strings(&methods, "methods")?;
        let methods: Vec<&str> = methods.iter().map(String::as_str).collect();
        Ok(ModuleHandle::give(passes::compile(module.module()?, &methods, dtype(weights)?)?))
    })
}

/// `NativeScript.plan`: empty if the method is not compiled.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_plan<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    method: JString<'l>,
) -> jobject {
    guard(env, |frame| {
        describe(frame, module, &method, |function| function.plans().map(Compiled::describe).unwrap_or_default())
    })
}

/// `NativeScript.begin`: the last values belong to the names in `keywords`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_begin<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    module: ModuleHandle,
    method: JString<'l>,
    numbers: JLongs<'l>,
    strings: JObjectArray<'l, JString<'l>>,
    keywords: JObjectArray<'l, JString<'l>>,
) -> jlong {
    guard(env, |frame| {
        let method = frame.string(&method, "method")?;
        let (positional, named) = frame.call_arguments(&numbers, &strings, &keywords)?;
        let run = module.module()?.begin_boxed(&method, positional, &named)?;
        Ok(RunHandle::give(Arc::new(Mutex::new(run))))
    })
}

/// `NativeScript.step`: whether the call is done.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_step<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    run: RunHandle,
    nanoseconds: jlong,
) -> jboolean {
    guard(env, |_| {
        let budget = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0));
        with(&run, |run| run.step(budget))
    })
}

/// `NativeScript.progress`: -1 if it is not known.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_progress<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    run: RunHandle,
) -> f64 {
    guard(env, |_| with(&run, |run| Ok(run.progress().unwrap_or(-1.0))))
}

/// `NativeScript.result`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_result<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    run: RunHandle,
) -> jobject {
    guard(env, |frame| {
        let result = with(&run, |run| run.result_boxed())?;
        frame.give_values(&[result])
    })
}

/// `NativeScript.freeRun`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeScript_freeRun<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    run: RunHandle,
) {
    guard(env, |_| {
        run.free();
        Ok(())
    })
}
