//! State dicts in files.

use crate::arrays::on_host;
use crate::support::{
    EnvUnowned, Frame, JClass, JLongs, JObject, JString, TensorHandle, border, guard, jboolean, jint, jlong,
};
use jni::objects::JObjectArray;
use jni::sys::jobjectArray;
use rushlight_base::{DType, Result, bail, ensure, list};
use rushlight_io::{Entry, filled_storage, pt, safetensors};
use rushlight_tensor::Tensor;
use std::io::Cursor;

/// Formats, as the constants of `StateDict.Format` are numbered.
const AUTO: jint = 0;
const PT: jint = 1;
const SAFETENSORS: jint = 2;

/// A state dict holds values: the module decides whether they require a gradient.
fn entry(name: String, tensor: &Tensor) -> Result<Entry> {
    Ok(Entry { requires_grad: false, ..Entry::from_tensor(name, tensor)? })
}

fn tensor(entry: Entry) -> Result<Tensor> {
    Entry { requires_grad: false, ..entry }.into_tensor()
}

/// The entries to save: names and their tensors.
fn entries(
    frame: &mut Frame<'_>,
    name_array: &JObjectArray<'_, JString<'_>>,
    tensors: &JLongs<'_>,
) -> Result<Vec<Entry>> {
    let names = frame.strings(name_array, "names")?;
    let tensors = frame.tensors(tensors, "tensors")?;
    list::try_collect(names.into_iter().zip(tensors.refs()).map(|(name, tensor)| entry(name, tensor)))
}

/// A `String[]` and a `long[]` of handles.
fn give_entries(frame: &mut Frame<'_>, entries: Vec<Entry>) -> Result<jobjectArray> {
    let named = entries.into_iter().map(|mut entry| Ok((std::mem::take(&mut entry.name), tensor(entry)?)));
    frame.give_named(list::try_collect(named)?)
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
        let entries = entries(frame, &name_array, &tensors)?;
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

/// `NativeCore.copyState`: the indices of targets without a source of their name, and of sources without a target.
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
        let (source_names, target_names) =
            (frame.strings(&source_names, "source")?, frame.strings(&target_names, "target")?);
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
            let places = list::collect(places.into_iter().map(|place| place as jlong))?;
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
        give_entries(frame, rushlight_io::load(path)?)
    })
}

/// `NativeCore.loadStateDictBytes`: from a uint8 tensor without another owner.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_loadStateDictBytes<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    bytes: TensorHandle,
) -> jobjectArray {
    guard(env, |frame| {
        let entries = with_file(&bytes, |file| rushlight_io::read(Cursor::new(file)))?;
        give_entries(frame, entries)
    })
}

/// Passes the bytes of a uint8 tensor without another owner to `work`.
pub(crate) fn with_file<T>(bytes: &TensorHandle, work: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
    let dense = on_host(&*bytes.get("bytes")?)?;
    ensure!(
        dense.dtype == DType::U8 && dense.is_contiguous(),
        Type,
        "argument 'bytes' is not a contiguous uint8 tensor"
    );
    let length = dense.numel() as usize;
    work(match length {
        0 => &[],
        // SAFETY: a contiguous host tensor has one byte per element at this address, and `dense` keeps them alive;
        // `StateDict` and `Checkpoint` create the tensor for this call, so nothing writes to it.
        _ => unsafe { std::slice::from_raw_parts(dense.ptr(), length) },
    })
}

/// A file as a uint8 tensor.
pub(crate) fn of_file(bytes: &[u8]) -> Result<Tensor> {
    let storage = filled_storage(bytes.len(), |to| {
        to.copy_from_slice(bytes);
        Ok(())
    })?;
    tensor(Entry::contiguous("", DType::U8, &[bytes.len() as i64], storage)?)
}

/// `NativeCore.stateDictBytes`: a file as a uint8 tensor.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_stateDictBytes<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    name_array: JObjectArray<'l, JString<'l>>,
    tensors: JLongs<'l>,
    format: jint,
) -> jlong {
    guard(env, |frame| {
        let entries = entries(frame, &name_array, &tensors)?;
        let bytes = match format {
            PT => pt::to_bytes(&entries)?,
            SAFETENSORS => safetensors::to_bytes(&entries, None)?,
            _ => bail!(Value, "unknown file format number {format}"),
        };
        Ok(frame.give(of_file(&bytes)?))
    })
}
