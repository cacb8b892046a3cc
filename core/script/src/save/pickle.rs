//! Values as pickles: objects with their attributes, containers with their types, tensors over storages.

use super::program::Printer;
use crate::archive::State;
use crate::builtins::call;
use crate::classes;
use crate::runtime::convert::from_operator;
use crate::runtime::function::Linker;
use crate::runtime::list::List;
use crate::runtime::object::Object;
use crate::runtime::value::Value;
use crate::runtime::{Environment, run};
use crate::types::Type;
use rushlight_base::{DType, Layout, Result, Storage, bail, ensure, err, list};
use rushlight_io::Entry;
use rushlight_io::pt::{Pickler, storage_class};
use rushlight_tensor::dispatch::{self, QScheme};
use rushlight_tensor::{Components, Quantizer, Tensor};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How deep values may nest.
const MAX_DEPTH: usize = 200;

/// A pickle with the storages of its tensors; the index of a storage is its key.
pub(super) struct Pickled {
    pub(super) bytes: Vec<u8>,
    pub(super) storages: Vec<(Storage, DType)>,
}

/// Pickles a value. The classes of its objects are printed by `printer`.
pub(super) fn pickle(value: &Value, printer: &mut Printer<'_>) -> Result<Pickled> {
    written(value, printer, None)
}

/// [`pickle`], but tensors go into a table, and the pickle has their numbers.
pub(super) fn pickle_with_table(value: &Value, printer: &mut Printer<'_>, table: &mut Vec<Tensor>) -> Result<Vec<u8>> {
    Ok(written(value, printer, Some(table))?.bytes)
}

fn written(value: &Value, printer: &mut Printer<'_>, table: Option<&mut Vec<Tensor>>) -> Result<Pickled> {
    let mut writer = Writer {
        table,
        printer,
        out: Pickler::new(),
        known: HashMap::new(),
        customs: Vec::new(),
        open: HashSet::new(),
        states: Vec::new(),
        storages: Vec::new(),
        keys: HashMap::new(),
    };
    writer.value(value, MAX_DEPTH)?;
    Ok(Pickled { bytes: writer.out.finish(), storages: writer.storages })
}

struct Writer<'w, 'p> {
    table: Option<&'w mut Vec<Tensor>>,
    printer: &'w mut Printer<'p>,
    out: Pickler,
    /// The number of each value that was written, by its address.
    known: HashMap<usize, u32>,
    customs: Vec<(dispatch::Object, u32)>,
    /// The addresses of the values around the one that is being written.
    open: HashSet<usize>,
    /// What `__getstate__` returned, whose addresses must stay theirs.
    states: Vec<Value>,
    storages: Vec<(Storage, DType)>,
    keys: HashMap<(usize, usize, DType), usize>,
}

/// The address of a value that several others may share.
fn address(value: &Value) -> Option<usize> {
    match value {
        Value::Tensor(tensor) => Some(tensor.address()),
        Value::List(list) => Some(list.address()),
        Value::Dict(dict) => Some(dict.address()),
        Value::Tuple(tuple) => Some(tuple.address()),
        Value::Object(object) => Some(object.address()),
        _ => None,
    }
}

impl Writer<'_, '_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<()> {
        ensure!(depth > 0, Runtime, "values are nested more than {MAX_DEPTH} deep");
        let Some(address) = address(value) else { return self.simple(value, depth) };
        if let Some(&number) = self.known.get(&address) {
            self.out.recall(number);
            return Ok(());
        }
        ensure!(self.open.insert(address), NotImplemented, "a value that contains itself cannot be saved");
        self.shared(value, depth)?;
        self.open.remove(&address);
        let number = self.out.remember();
        self.known.insert(address, number);
        Ok(())
    }

    /// Values without parts.
    fn simple(&mut self, value: &Value, depth: usize) -> Result<()> {
        match value {
            Value::None => self.out.none(),
            Value::Bool(value) => self.out.bool(*value),
            Value::Int(value) => self.out.int(*value),
            Value::Float(value) => self.out.float(*value),
            Value::Str(text) => self.out.text(text)?,
            Value::Complex(value) => {
                self.out.global("builtins", "complex");
                self.out.mark();
                self.out.float(value.re);
                self.out.float(value.im);
                self.call();
            }
            Value::Device(device) => {
                self.out.global("torch", "device");
                self.out.mark();
                self.out.text(device.to_string())?;
                self.call();
            }
            Value::Enum(member) => {
                self.class(member.class())?;
                self.value(member.value(), depth - 1)?;
                self.out.reduce();
            }
            Value::Custom(object) => self.custom(object, depth)?,
            other => bail!(NotImplemented, "a value of type {} cannot be saved", other.kind()),
        }
        Ok(())
    }

    /// Values with identity.
    fn shared(&mut self, value: &Value, depth: usize) -> Result<()> {
        match value {
            Value::Tensor(tensor) => self.tensor(tensor),
            Value::Object(object) => self.object(object, depth),
            Value::List(list) => self.list(list, depth),
            Value::Tuple(tuple) => {
                self.out.mark();
                tuple.items().iter().try_for_each(|item| self.value(item, depth - 1))?;
                self.out.tuple();
                Ok(())
            }
            Value::Dict(dict) => {
                self.out.global("torch.jit._pickle", "restore_type_tag");
                self.out.mark();
                self.out.empty_dict();
                self.out.mark();
                for (key, value) in dict.entries() {
                    self.value(&key, depth - 1)?;
                    self.value(&value, depth - 1)?;
                }
                self.out.set_items();
                let kind = Type::Dict(Arc::new((dict.key_type().clone(), dict.value_type().clone())));
                self.tag(&kind)
            }
            other => self.simple(other, depth),
        }
    }

    /// Completes the arguments of a call.
    fn call(&mut self) {
        self.out.tuple();
        self.out.reduce();
    }

    /// The type of a container, after the container.
    fn tag(&mut self, kind: &Type) -> Result<()> {
        let kind = self.printer.annotation(kind);
        self.out.text(kind)?;
        self.call();
        Ok(())
    }

    /// The name of a class of the program.
    fn class(&mut self, name: &str) -> Result<()> {
        let name = self.printer.qualified(name);
        let (module, name) =
            name.rsplit_once('.').ok_or_else(|| err!(Runtime, "the class '{name}' has no qualified name"))?;
        self.out.global(module, name);
        Ok(())
    }

    fn list(&mut self, list: &List, depth: usize) -> Result<()> {
        let builder = match list.element() {
            Type::Int => Some("build_intlist"),
            Type::Float => Some("build_doublelist"),
            Type::Bool => Some("build_boollist"),
            Type::Tensor => Some("build_tensorlist"),
            _ => None,
        };
        self.out.global("torch.jit._pickle", builder.unwrap_or("restore_type_tag"));
        self.out.mark();
        self.out.empty_list();
        self.out.mark();
        list.values().iter().try_for_each(|item| self.value(item, depth - 1))?;
        self.out.append_items();
        match builder {
            Some(_) => {
                self.call();
                Ok(())
            }
            None => self.tag(&list.element().clone().list()),
        }
    }

    // ---- objects -------------------------------------------------------------------------------------------

    fn object(&mut self, object: &Object, depth: usize) -> Result<()> {
        let name = object.class().name.clone();
        self.class(&name)?;
        self.out.new_object();
        let data = self.printer.program.class_data(&name)?;
        if data.has_method("__getstate__") && data.has_method("__setstate__") {
            let function = Linker::method(&**self.printer.program, &name, "__getstate__")?;
            let environment = Environment::new(self.printer.program.clone());
            let state = run(&function, vec![object.clone().into()], &environment)?;
            self.states.push(state.clone());
            self.value(&state, depth - 1)?;
        } else {
            self.out.empty_dict();
            self.out.mark();
            for (attribute, value) in object.attributes() {
                self.out.text(&*attribute.name)?;
                let written = self.value(&value, depth - 1);
                written.map_err(|error| error.context(format!("attribute '{}' of {name}", attribute.name)))?;
            }
            self.out.set_items();
        }
        self.out.build();
        Ok(())
    }

    /// An object of a class that is not written in TorchScript.
    fn custom(&mut self, object: &dispatch::Object, depth: usize) -> Result<()> {
        if let Some((_, number)) = self.customs.iter().find(|(other, _)| other.is(object)) {
            self.out.recall(*number);
            return Ok(());
        }
        let state = match (classes::state(object)?, object.state()?, object.content::<State>()) {
            (Some(state), ..) => state,
            (None, Some(state), _) => from_operator(state)?,
            (None, None, Some(State(state))) => state.clone(),
            (None, None, None) => {
                bail!(NotImplemented, "an object of {} has no __getstate__, it cannot be saved", object.class_name())
            }
        };
        self.class(object.class_name())?;
        self.out.new_object();
        self.states.push(state.clone());
        self.value(&state, depth - 1)?;
        self.out.build();
        let number = self.out.remember();
        self.customs.push((object.clone(), number));
        Ok(())
    }

    // ---- tensors -------------------------------------------------------------------------------------------

    fn tensor(&mut self, tensor: &Tensor) -> Result<()> {
        if let Some(table) = &mut self.table {
            list::push(table, tensor.clone())?;
            let number = table.len() as i64 - 1;
            self.out.global("torch.jit._pickle", "build_tensor_from_id");
            self.out.mark();
            self.out.int(number);
            self.call();
            return Ok(());
        }
        if let Some(quantizer) = tensor.quantizer() {
            return self.quantized(tensor, &quantizer);
        }
        match tensor.components() {
            Some(components) => self.sparse(tensor, &components),
            None => {
                let entry = entry(tensor)?;
                let key = self.key(&entry);
                self.out.tensor(&entry, &key)
            }
        }
    }

    /// The key of the storage of an entry.
    fn key(&mut self, entry: &Entry) -> String {
        let identity = (entry.storage.data().addr(), entry.storage.bytes(), entry.dtype);
        let key = *self.keys.entry(identity).or_insert_with(|| {
            self.storages.push((entry.storage.clone(), entry.dtype));
            self.storages.len() - 1
        });
        key.to_string()
    }

    /// `(layout, sizes, requires_grad, indices, values, hooks)`
    fn sparse(&mut self, tensor: &Tensor, components: &Components) -> Result<()> {
        let (layout, parts) = match components {
            Components::Coo { indices, values, .. } => (Layout::Sparse, vec![indices, values]),
            Components::Compressed { layout: Layout::SparseCsr, compressed, plain, values } => {
                (Layout::SparseCsr, vec![compressed, plain, values])
            }
            other => bail!(NotImplemented, "a tensor of layout {} cannot be saved", other.layout().name()),
        };
        self.out.global("torch._utils", "_rebuild_sparse_tensor");
        self.out.mark();
        self.out.int(layout as i64);
        self.out.ints(&tensor.sizes());
        self.out.bool(tensor.requires_grad() && tensor.is_leaf());
        parts.into_iter().try_for_each(|part| self.tensor(part))?;
        self.out.empty_ordered_dict();
        self.call();
        Ok(())
    }

    /// The integers of a quantized tensor, and how they represent numbers.
    fn quantized(&mut self, tensor: &Tensor, quantizer: &Quantizer) -> Result<()> {
        let entry = Entry { requires_grad: false, ..entry(&tensor.integers()?)? };
        let class = match tensor.dtype() {
            DType::QI8 => "QInt8Storage",
            DType::QU8 => "QUInt8Storage",
            DType::QI32 => "QInt32Storage",
            other => bail!(NotImplemented, "a quantized tensor of {other} cannot be saved"),
        };
        let key = self.key(&entry);
        self.out.global("torch._utils", "_rebuild_qtensor");
        self.out.mark();
        self.out.storage(&entry, Some(class), &key)?;
        self.out.geometry(&entry);
        self.quantizer(tensor, quantizer)?;
        self.out.bool(tensor.requires_grad() && tensor.is_leaf());
        self.out.empty_ordered_dict();
        self.call();
        Ok(())
    }

    fn quantizer(&mut self, tensor: &Tensor, quantizer: &Quantizer) -> Result<()> {
        self.out.mark();
        match quantizer {
            Quantizer::PerTensor { scale, zero_point } => {
                self.out.global("torch", "per_tensor_affine");
                self.out.float(*scale);
                self.out.int(*zero_point);
            }
            Quantizer::PerChannel { axis, .. } => {
                let scheme = match quantizer.scheme() {
                    QScheme::PerChannelAffineFloatQParams => "per_channel_affine_float_qparams",
                    _ => "per_channel_affine",
                };
                self.out.global("torch", scheme);
                for part in ["q_per_channel_scales", "q_per_channel_zero_points"] {
                    let part = call(part, "", &[tensor.clone().into()])?;
                    self.tensor(part.as_tensor()?)?;
                    self.states.push(part);
                }
                self.out.int(*axis as i64);
            }
        }
        self.out.tuple();
        Ok(())
    }
}

/// A strided tensor as an entry of a file.
fn entry(tensor: &Tensor) -> Result<Entry> {
    let entry = Entry::from_tensor(String::new(), tensor)?;
    entry.check()?;
    ensure!(
        storage_class(entry.dtype).is_some(),
        NotImplemented,
        "a tensor of {} cannot be saved: PyTorch reads no such tensor from TorchScript",
        entry.dtype
    );
    Ok(entry)
}
