//! State dicts in files.

use crate::support::{EnvUnowned, Frame, JClass, JLongs, JObject, JString, border, guard, jboolean, jint, jlong};
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

fn named<'a>(names: &'a [String], tensors: Vec<&'a Tensor>) -> Vec<(&'a str, &'a Tensor)> {
    names.iter().map(String::as_str).zip(tensors).collect()
}

/// `NativeCore.copyState`: the places of targets that no source has the name of, and of sources that no target has.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_copyState<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    source_names: JObjectArray<'l, JString<'l>>,
    sources: JLongs<'l>,
    target_names: JObjectArray<'l, JString<'l>>,
    targets: JLongs<'l>,
    model: JString<'l>,
    strict: jboolean,
) -> jobjectArray {
    guard(env, |frame| {
        let (source_names, target_names) = (names(frame, &source_names)?, names(frame, &target_names)?);
        let (sources, targets) = (frame.tensors(&sources, "source")?, frame.tensors(&targets, "target")?);
        let model = frame.string(&model, "model")?;
        let left_alone = rushlight_io::copy_state(
            &named(&source_names, sources.refs()),
            &named(&target_names, targets.refs()),
            &model,
            strict,
        )?;
        let pair = JObjectArray::<JObject<'_>>::new(frame.env(), 2, JObject::null()).map_err(border)?;
        for (index, places) in [left_alone.missing, left_alone.unexpected].into_iter().enumerate() {
            let places: Vec<jlong> = places.into_iter().map(|place| place as jlong).collect();
            let array = JLongs::new(frame.env(), places.len()).map_err(border)?;
            array.set_region(frame.env(), 0, &places).map_err(border)?;
            pair.set_element(frame.env(), index, &array).map_err(border)?;
        }
        Ok(pair.as_raw())
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
