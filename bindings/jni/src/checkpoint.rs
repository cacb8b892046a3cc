//! Checkpoints: files as nested values. `org.rushlight.Boxed` describes how values are passed.

use crate::files::{of_file, with_file};
use crate::support::{EnvUnowned, Frame, JClass, JLongs, JString, TensorHandle, guard, jlong, jobject};
use jni::objects::JObjectArray;
use rushlight_base::{Result, err};
use rushlight_io::pt;
use rushlight_tensor::dispatch::Value;
use std::io::Cursor;

fn value(frame: &mut Frame<'_>, numbers: &JLongs<'_>, strings: &JObjectArray<'_, JString<'_>>) -> Result<Value> {
    let value = frame.values(numbers, strings)?.pop();
    value.ok_or_else(|| err!(Internal, "there is no value to save"))
}

/// `NativeCore.saveCheckpoint`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_saveCheckpoint<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    path: JString<'l>,
    numbers: JLongs<'l>,
    strings: JObjectArray<'l, JString<'l>>,
) {
    guard(env, |frame| {
        let path = frame.string(&path, "file")?;
        let value = value(frame, &numbers, &strings)?;
        pt::save_value(path, &value)
    })
}

/// `NativeCore.checkpointBytes`: a file as a uint8 tensor.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_checkpointBytes<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    numbers: JLongs<'l>,
    strings: JObjectArray<'l, JString<'l>>,
) -> jlong {
    guard(env, |frame| {
        let value = value(frame, &numbers, &strings)?;
        Ok(frame.give(of_file(&pt::value_to_bytes(&value)?)?))
    })
}

/// `NativeCore.loadCheckpoint`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_loadCheckpoint<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    path: JString<'l>,
) -> jobject {
    guard(env, |frame| {
        let path = frame.string(&path, "file")?;
        frame.give_values(&[pt::load_value(path)?])
    })
}

/// `NativeCore.loadCheckpointBytes`: from a uint8 tensor without another owner.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_loadCheckpointBytes<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    bytes: TensorHandle,
) -> jobject {
    guard(env, |frame| {
        let value = with_file(&bytes, |file| pt::read_value(Cursor::new(file)))?;
        frame.give_values(&[value])
    })
}
