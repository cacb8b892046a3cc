//! Process-wide settings and random generators.

use crate::support::{
    EnvUnowned, GeneratorHandle, JClass, JLongs, TensorHandle, border, dtype, guard, jboolean, jint, jlong, jlongArray,
    jobject, reclaim, set_pressure_limit, weight,
};
use rushlight_base::memory::{memory_stats, reset_peak_memory, set_cache_limit, set_reclaim, trim_memory};
use rushlight_base::runtime::Determinism;
use rushlight_base::{ensure, err, handles, runtime};
use rushlight_tensor::{Generator, Tensor, manual_seed};

/// `NativeCore.libraryVersion`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_libraryVersion<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jobject {
    guard(env, |frame| frame.give_string(env!("CARGO_PKG_VERSION")))
}

/// `NativeCore.liveHandles`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_liveHandles<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jlong {
    guard(env, |_| Ok(handles::live()))
}

/// `NativeCore.memoryStats`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_memoryStats<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jlongArray {
    guard(env, |frame| {
        let stats = memory_stats();
        let array = JLongs::new(frame.env(), 3).map_err(border)?;
        array.set_region(frame.env(), 0, &[stats.allocated, stats.peak, stats.reserved]).map_err(border)?;
        Ok(array.as_raw())
    })
}

/// `NativeCore.resetPeakMemory`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_resetPeakMemory<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) {
    guard(env, |_| {
        reset_peak_memory();
        Ok(())
    })
}

/// `NativeCore.trimMemory`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_trimMemory<'l>(env: EnvUnowned<'l>, _class: JClass<'l>) {
    guard(env, |_| {
        trim_memory();
        Ok(())
    })
}

/// `NativeCore.setCacheLimit`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setCacheLimit<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    bytes: jlong,
) {
    guard(env, |_| set_cache_limit(bytes))
}

/// `NativeCore.weight`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_weight<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jlong {
    guard(env, |_| Ok(weight()))
}

/// `NativeCore.setPressureLimit`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setPressureLimit<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    bytes: jlong,
) {
    guard(env, |_| {
        set_pressure_limit(bytes);
        Ok(())
    })
}

/// `NativeCore.collectBeforeFailing`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_collectBeforeFailing<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) {
    guard(env, |_| {
        set_reclaim(Some(reclaim));
        Ok(())
    })
}

/// `NativeCore.numThreads`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_numThreads<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jint {
    guard(env, |_| Ok(runtime::num_threads() as jint))
}

/// `NativeCore.setNumThreads`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setNumThreads<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    threads: jint,
) {
    guard(env, |_| runtime::set_num_threads(i64::from(threads)))
}

/// `NativeCore.defaultDtype`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_defaultDtype<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jint {
    guard(env, |_| Ok(runtime::default_dtype() as jint))
}

/// `NativeCore.setDefaultDtype`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setDefaultDtype<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    code: jint,
) {
    guard(env, |_| {
        let dtype = dtype(code)?;
        ensure!(dtype.is_floating(), Type, "only floating-point types are supported as the default type, got {dtype}");
        runtime::set_default_dtype(dtype);
        Ok(())
    })
}

/// `NativeCore.setCancelled`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setCancelled<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    on: jboolean,
) {
    guard(env, |_| {
        runtime::set_cancelled(on);
        Ok(())
    })
}

/// `NativeCore.manualSeed`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_manualSeed<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    seed: jlong,
) {
    guard(env, |_| {
        manual_seed(seed as u64);
        Ok(())
    })
}

/// `NativeCore.generatorNew`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_generatorNew<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    seed: jlong,
) -> jlong {
    guard(env, |frame| Ok(frame.give_generator(Generator::new(seed as u64))))
}

/// `NativeCore.generatorDefault`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_generatorDefault<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jlong {
    guard(env, |frame| Ok(frame.give_generator(Generator::default_cpu())))
}

/// `NativeCore.generatorFree`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_generatorFree<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    generator: GeneratorHandle,
) {
    guard(env, |_| {
        generator.free();
        Ok(())
    })
}

/// `NativeCore.generatorRetain`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_generatorRetain<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    generator: GeneratorHandle,
) -> jlong {
    guard(env, |frame| Ok(frame.give_generator((*generator.get()?).clone())))
}

/// `NativeCore.generatorManualSeed`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_generatorManualSeed<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    generator: GeneratorHandle,
    seed: jlong,
) {
    guard(env, |_| {
        generator.get()?.lock().manual_seed(seed as u64);
        Ok(())
    })
}

/// `NativeCore.generatorInitialSeed`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_generatorInitialSeed<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    generator: GeneratorHandle,
) -> jlong {
    guard(env, |_| Ok(generator.get()?.lock().initial_seed() as jlong))
}

/// `NativeCore.generatorGetState`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_generatorGetState<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    generator: GeneratorHandle,
) -> jlong {
    guard(env, |frame| {
        let state = generator.get()?.lock().get_state();
        let tensor = Tensor::from_slice(&state, &[state.len() as i64])?;
        Ok(frame.give(tensor))
    })
}

/// `NativeCore.generatorSetState`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_generatorSetState<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    generator: GeneratorHandle,
    state: TensorHandle,
) {
    guard(env, |_| {
        let bytes = state.get("state")?.to_vec::<u8>()?;
        generator.get()?.lock().set_state(&bytes)
    })
}

/// `NativeCore.determinism`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_determinism<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jint {
    guard(env, |_| Ok(runtime::determinism() as jint))
}

/// `NativeCore.setDeterminism`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setDeterminism<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    determinism: jint,
) {
    guard(env, |_| {
        let levels = [Determinism::Off, Determinism::Warn, Determinism::Error];
        let level = levels.into_iter().find(|level| *level as jint == determinism);
        runtime::set_determinism(level.ok_or_else(|| err!(Value, "{determinism} is not a level of determinism"))?);
        Ok(())
    })
}

/// `NativeCore.fillUninitializedMemory`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_fillUninitializedMemory<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jboolean {
    guard(env, |_| Ok(runtime::fill_unset_memory()))
}

/// `NativeCore.setFillUninitializedMemory`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_setFillUninitializedMemory<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    on: jboolean,
) {
    guard(env, |_| {
        runtime::set_fill_unset_memory(on);
        Ok(())
    })
}
