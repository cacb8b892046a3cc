//! A checkpoint as one value: dicts, lists, tuples, numbers, strings and tensors, nested as `torch.save` wrote them.
//!
//! A value is written as plain containers of Python, so that `torch.load(path, weights_only=True)` returns it.

use super::flatten::{Key, Tree};
use super::opcodes::Pickler;
use super::pickle::Kind;
use super::read::{self, Checkpoint};
use super::write;
use crate::{Entry, atomic, open};
use rushlight_base::{Complex, ErrorKind, Result, Scalar, bail, ensure, err, list};
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::{Dict, Items, MAX_DEPTH, Value};
use std::fs::OpenOptions;
use std::io::{BufWriter, Cursor, Read, Seek, Write};
use std::path::Path;

/// Reads a file.
pub fn load_value(path: impl AsRef<Path>) -> Result<Value> {
    read_value(open(path.as_ref())?).map_err(|error| error.context(path.as_ref().display()))
}

/// Reads from any source that can seek.
pub fn read_value(source: impl Read + Seek) -> Result<Value> {
    read::read(source)?.into_value()
}

/// Writes a file; on failure the old one is unchanged.
pub fn save_value(path: impl AsRef<Path>, value: &Value) -> Result<()> {
    atomic::replace(path.as_ref(), |file| {
        let mut sink = BufWriter::new(OpenOptions::new().write(true).open(file)?);
        write_value(&mut sink, value)?;
        Ok(sink.flush()?)
    })
}

/// A file in memory.
pub fn value_to_bytes(value: &Value) -> Result<Vec<u8>> {
    let mut sink = Cursor::new(Vec::new());
    write_value(&mut sink, value)?;
    Ok(sink.into_inner())
}

impl Checkpoint {
    /// The contents as they are nested. A dict with keys of two kinds, or with a key twice, is an error.
    pub fn into_value(self) -> Result<Value> {
        let mut tensors = list::try_collect(self.entries.into_iter().map(|entry| entry.into_tensor().map(Some)))?;
        value(self.tree, &mut tensors).map_err(|error| match error.kind() {
            // The contents of a file are at fault, not an argument.
            ErrorKind::Type | ErrorKind::Value => err!(Io, "{}", error.message()),
            _ => error,
        })
    }
}

/// The value of a tree, with the tensors by their numbers.
fn value(tree: Tree, tensors: &mut [Option<Tensor>]) -> Result<Value> {
    Ok(match tree {
        Tree::Tensor(number) => {
            let tensor = tensors.get_mut(number).and_then(Option::take);
            Value::Tensor(tensor.ok_or_else(|| err!(Internal, "the tensor {number} of a checkpoint is missing"))?)
        }
        Tree::None => Value::None,
        Tree::Bool(value) => Value::Scalar(Scalar::Bool(value)),
        Tree::Int(value) => Value::Scalar(Scalar::Int(value)),
        Tree::Float(value) => Value::Scalar(Scalar::Float(value)),
        Tree::Complex(re, im) => Value::Scalar(Scalar::Complex(Complex::new(re, im))),
        Tree::Text(text) => Value::from(text),
        Tree::DType(dtype) => Value::DType(dtype),
        Tree::List(kind, items) => typed(kind, values(items, tensors)?)?,
        Tree::Tuple(items) => Value::Tuple(Items::new(values(items, tensors)?)?),
        Tree::Dict(entries) => {
            let entries = entries.into_iter().map(|(key, tree)| {
                let key = match key {
                    Key::Text(text) => Value::from(text),
                    Key::Int(number) => Value::from(number),
                };
                Ok((key, value(tree, tensors)?))
            });
            Value::Dict(Dict::new(list::try_collect(entries)?)?)
        }
    })
}

fn values(items: Vec<Tree>, tensors: &mut [Option<Tensor>]) -> Result<Vec<Value>> {
    list::try_collect(items.into_iter().map(|item| value(item, tensors)))
}

/// A list; one of no elements keeps the type that it was saved with.
fn typed(kind: Kind, items: Vec<Value>) -> Result<Value> {
    Ok(match (kind, items.is_empty()) {
        (Kind::Int, true) => Value::Ints(Default::default()),
        (Kind::Float, true) => Value::Floats(Vec::new()),
        (Kind::Bool, true) => Value::Bools(Vec::new()),
        (Kind::Tensor, true) => Value::Tensors(Vec::new()),
        _ => Value::List(Items::new(items)?),
    })
}

/// Writes to any sink that can seek.
fn write_value(sink: impl Write + Seek, value: &Value) -> Result<()> {
    let mut entries = Vec::new();
    collect(value, &mut entries, MAX_DEPTH)?;
    write::archive(sink, &entries, |pickle, key| {
        let mut next = entries.iter();
        written(value, pickle, &mut |pickle| {
            let entry = next.next().ok_or_else(|| err!(Internal, "a tensor of a checkpoint is missing"))?;
            write::tensor(pickle, entry, key)
        })
    })
}

/// The entries of the tensors of a value, in the order in which it is written.
fn collect(value: &Value, entries: &mut Vec<Entry>, depth: usize) -> Result<()> {
    ensure!(depth > 0, Value, "values are nested more than {MAX_DEPTH} deep");
    match value {
        Value::Tensor(tensor) => entries.push(Entry::from_tensor(String::new(), tensor)?),
        Value::Tensors(tensors) => {
            for tensor in tensors.iter().flatten() {
                entries.push(Entry::from_tensor(String::new(), tensor)?);
            }
        }
        Value::List(items) | Value::Tuple(items) => {
            items.iter().try_for_each(|item| collect(item, entries, depth - 1))?;
        }
        Value::Dict(dict) => dict.iter().try_for_each(|(key, item)| {
            let is_key = matches!(key, Value::Str(_) | Value::Scalar(Scalar::Int(_)));
            ensure!(is_key, Type, "a checkpoint has strings and integers as keys, not {}", key.kind());
            collect(item, entries, depth - 1)
        })?,
        _ => {}
    }
    Ok(())
}

/// Writes a value; `tensor` writes the next tensor.
fn written(value: &Value, pickle: &mut Pickler, tensor: &mut dyn FnMut(&mut Pickler) -> Result<()>) -> Result<()> {
    match value {
        Value::None => pickle.none(),
        Value::Scalar(scalar) => number(*scalar, pickle)?,
        Value::Str(text) => pickle.text(&**text)?,
        Value::DType(dtype) => pickle.global("torch", dtype.name()),
        Value::Device(device) => {
            pickle.global("torch", "device");
            pickle.mark();
            pickle.text(device.to_string())?;
            pickle.tuple();
            pickle.reduce();
        }
        Value::Tensor(_) => tensor(pickle)?,
        Value::Tensors(items) => sequence(pickle, items, |item, pickle| match item {
            Some(_) => tensor(pickle),
            None => {
                pickle.none();
                Ok(())
            }
        })?,
        Value::Ints(items) => sequence(pickle, items, |item, pickle| {
            pickle.int(*item);
            Ok(())
        })?,
        Value::Floats(items) => sequence(pickle, items, |item, pickle| {
            pickle.float(*item);
            Ok(())
        })?,
        Value::Bools(items) => sequence(pickle, items, |item, pickle| {
            pickle.bool(*item);
            Ok(())
        })?,
        Value::Scalars(items) => sequence(pickle, items, |item, pickle| number(*item, pickle))?,
        Value::Strings(items) => sequence(pickle, items, |item, pickle| pickle.text(&**item))?,
        Value::List(items) => sequence(pickle, items, |item, pickle| written(item, pickle, tensor))?,
        Value::Tuple(items) => {
            pickle.mark();
            items.iter().try_for_each(|item| written(item, pickle, tensor))?;
            pickle.tuple();
        }
        Value::Dict(dict) => {
            pickle.empty_dict();
            pickle.mark();
            for (key, item) in dict.iter() {
                written(key, pickle, tensor)?;
                written(item, pickle, tensor)?;
            }
            pickle.set_items();
        }
        other => bail!(NotImplemented, "a checkpoint cannot hold a value of type {}", other.kind()),
    }
    Ok(())
}

fn sequence<T>(pickle: &mut Pickler, items: &[T], mut write: impl FnMut(&T, &mut Pickler) -> Result<()>) -> Result<()> {
    pickle.empty_list();
    pickle.mark();
    items.iter().try_for_each(|item| write(item, pickle))?;
    pickle.append_items();
    Ok(())
}

fn number(scalar: Scalar, pickle: &mut Pickler) -> Result<()> {
    match scalar {
        Scalar::Bool(value) => pickle.bool(value),
        Scalar::Int(value) => pickle.int(value),
        Scalar::UInt(value) => {
            let value = i64::try_from(value);
            pickle.int(value.map_err(|_| err!(Value, "a checkpoint holds integers of 64 bits with a sign"))?);
        }
        Scalar::Float(value) => pickle.float(value),
        Scalar::Complex(value) => {
            pickle.global("builtins", "complex");
            pickle.mark();
            pickle.float(value.re);
            pickle.float(value.im);
            pickle.tuple();
            pickle.reduce();
        }
    }
    Ok(())
}
