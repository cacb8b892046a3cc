//! State dicts in files.

use crate::support::{EnvUnowned, Frame, JClass, JLongs, JObject, JString, border, guard, jint};
use jni::objects::JObjectArray;
use jni::sys::jobjectArray;
use rushlight_base::{Result, bail};
use rushlight_io::{Entry, pt, safetensors};
use rushlight_tensor::Tensor;

/// Formats, as the constants of `StateDict.Format` are numbered.
const AUTO: jint = 0;
const PT: jint = 1;
const SAFETENSORS: jint = 2;

/// A state dict holds values: whether they require a gradient is the business of the module.
fn entry(name: String, tensor: &Tensor) -> Result<Entry> {
    Ok(Entry { requires_grad: false, ..Entry::from_tensor(name, tensor)? })
}

fn tensor(entry: Entry) -> Result<Tensor> {
    Entry { requires_grad: false, ..entry }.into_tensor()
}

fn names(frame: &mut Frame<'_>, array: &JObjectArray<'_, JString<'_>>) -> Result<Vec<String>> {
    let length = array.len(frame.env()).map_err(border)?;
    let mut names = Vec::with_capacity(length);
    for index in 0..length {
        // One local reference at a time: a large model has more names than a frame has room for.
        let name = array.get_element(frame.env(), index).map_err(border)?;
        names.push(frame.string(&name, "name")?);
        frame.env().delete_local_ref(name);
    }
    Ok(names)
}

/// `NativeCore.saveStateDict`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_saveStateDict<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    path: JString<'l>,
    name_array: JObjectArray<'l, JString<'l>>,
    tensors: JLongs<'l>,
    format: jint,
) {
    guard(env, |frame| {
        let path = frame.string(&path, "file")?;
        let names = names(frame, &name_array)?;
        let tensors = frame.tensors(&tensors, "tensors")?;
        let pairs = names.into_iter().zip(tensors.refs());
        let entries = pairs.map(|(name, tensor)| entry(name, tensor)).collect::<Result<Vec<Entry>>>()?;
        match format {
            AUTO => rushlight_io::save(path, &entries),
            PT => pt::save(path, &entries),
            SAFETENSORS => safetensors::save(path, &entries, None),
            _ => bail!(Value, "unknown file format number {format}"),
        }
    })
}

/// `NativeCore.loadStateDict`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_loadStateDict<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    path: JString<'l>,
) -> jobjectArray {
    guard(env, |frame| {
        let path = frame.string(&path, "file")?;
        let entries = rushlight_io::load(path)?;
        let names = JObjectArray::<JString<'_>>::new(frame.env(), entries.len(), JString::null()).map_err(border)?;
        let mut tensors = Vec::with_capacity(entries.len());
        for (index, entry) in entries.into_iter().enumerate() {
            let name = frame.env().new_string(&entry.name).map_err(border)?;
            names.set_element(frame.env(), index, &name).map_err(border)?;
            frame.env().delete_local_ref(name);
            tensors.push(tensor(entry)?);
        }
        let pair = JObjectArray::<JObject<'_>>::new(frame.env(), 2, JObject::null()).map_err(border)?;
        pair.set_element(frame.env(), 0, JObject::from(names)).map_err(border)?;
        let handles = frame.give_all(tensors)?;
        frame.set_array(&pair, 1, handles)?;
        Ok(pair.as_raw())
    })
}
