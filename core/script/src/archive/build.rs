//! From the nodes of a pickle to values: objects of the program's classes, tensors over the archive's storages.

use super::custom;
use super::pickle::{Global, Item, Node, Part, Pickle, StorageRef, TensorRef};
use crate::builtins::call;
use crate::runtime::dict::Dict;
use crate::runtime::list::List;
use crate::runtime::object::{Class, EnumValue, Object, Tuple};
use crate::runtime::value::Value;
use crate::types::{NamedTuple, Resolver, Type, parse_type};
use rushlight_base::{Complex, DType, Device, Result, Storage, bail, ensure, err, list};
use rushlight_io::Entry;
use std::collections::HashMap;
use std::sync::Arc;

/// How deep values may nest; it bounds the recursion of this file.
const MAX_DEPTH: usize = 200;

/// What the name of a class stands for.
pub(crate) enum Named {
    /// A class or module, and whether its state is given to `__setstate__`.
    Class(Arc<Class>, bool),
    /// A NamedTuple.
    Tuple(Arc<NamedTuple>),
    /// The members of an Enum, by name.
    Enum(Vec<EnumValue>),
}

/// The parts of a program and of its archive that building needs.
pub(crate) trait Source: Resolver {
    /// What a class is.
    fn named(&self, name: &str) -> Result<Named>;

    /// A storage, by its key. With `of_bools` each byte is 0 or 1.
    fn storage(&self, key: &str, of_bools: bool) -> Result<Storage>;

    /// The tensor with this number of a table beside the pickle.
    fn tensor(&self, index: usize) -> Result<Value>;
}

/// A value, and the objects whose state is still to be given to `__setstate__`, inner ones first.
pub(crate) struct Built {
    pub value: Value,
    pub states: Vec<(Object, Value)>,
}

/// Builds the value of a pickle. `kind` is its type, if it is known.
pub(super) fn build(pickle: &Pickle<'_>, kind: Option<&Type>, source: &dyn Source) -> Result<Built> {
    let mut builder = Builder { pickle, source, known: HashMap::new(), storages: HashMap::new(), states: Vec::new() };
    let value = builder.value(pickle.root, kind, MAX_DEPTH)?;
    Ok(Built { value, states: builder.states })
}

struct Builder<'p, 'a> {
    pickle: &'p Pickle<'a>,
    source: &'p dyn Source,
    /// Values of nodes that were built: shared nodes are one value.
    known: HashMap<usize, Value>,
    storages: HashMap<(&'a str, bool), Storage>,
    states: Vec<(Object, Value)>,
}

impl<'a> Builder<'_, 'a> {
    fn value(&mut self, item: Item<'a>, kind: Option<&Type>, depth: usize) -> Result<Value> {
        ensure!(depth > 0, Io, "values are nested more than {MAX_DEPTH} deep");
        Ok(match item {
            Item::None => Value::None,
            Item::Bool(value) => Value::Bool(value),
            Item::Int(value) => match kind {
                Some(Type::Float) => Value::Float(value as f64),
                _ => Value::Int(value),
            },
            Item::Float(value) => Value::Float(value),
            Item::Text(bytes) => Value::str(bytes),
            Item::Global(Global::DType(dtype)) => Value::Int(dtype as i64),
            Item::Global(Global::QScheme(code)) => Value::Int(code),
            Item::Global(global) => bail!(Io, "{global:?} is found where a value is expected"),
            Item::Node(number) => {
                if let Some(known) = self.known.get(&number) {
                    return Ok(known.clone());
                }
                let value = self.node(number, kind, depth)?;
                self.known.insert(number, value.clone());
                value
            }
        })
    }

    fn node(&mut self, number: usize, kind: Option<&Type>, depth: usize) -> Result<Value> {
        let kind = match kind {
            Some(Type::Optional(inner)) => Some(&**inner),
            other => other,
        };
        let pickle = self.pickle;
        let node = pickle.nodes.get(number).ok_or_else(|| err!(Io, "a node is missing"))?;
        Ok(match node {
            Node::Tuple(items) => {
                let kinds = kind.and_then(Type::elements).unwrap_or_default();
                let items = items.iter().enumerate().map(|(at, item)| self.value(*item, kinds.get(at), depth - 1));
                let items = list::try_collect(items)?;
                match kind {
                    Some(Type::NamedTuple(class)) => Tuple::named(class.clone(), items).into(),
                    _ => Tuple::new(items).into(),
                }
            }
            Node::List(items) => self.list(number, items, kind, depth)?,
            Node::Dict(items) => self.dict(number, items, kind, depth)?,
            Node::Part(part) => self.part(number, part, depth)?,
        })
    }

    fn part(&mut self, number: usize, part: &Part<'a>, depth: usize) -> Result<Value> {
        Ok(match part {
            Part::Tagged(item, annotation) => {
                let text = std::str::from_utf8(annotation).map_err(|_| err!(Io, "a type that is not UTF-8"))?;
                let kind = parse_type(text, &Tags(self.source))?;
                self.value(*item, Some(&kind), depth - 1)?
            }
            Part::Complex(real, imaginary) => Complex::new(*real, *imaginary).into(),
            Part::Device(name) => Device::parse(&String::from_utf8_lossy(name))?.into(),
            Part::Object { module, name, state } => self.object(number, &format!("{module}.{name}"), *state, depth)?,
            Part::Call { module, name, arguments } => self.called(&format!("{module}.{name}"), arguments, depth)?,
            Part::Storage(_) => bail!(Io, "a storage without a tensor is not supported"),
            Part::Tensor(tensor) => self.tensor(tensor)?,
            Part::Sparse(parts) => self.sparse(parts, depth)?,
            Part::Numbered(index) => self
                .source
                .tensor(usize::try_from(*index).map_err(|_| err!(Io, "a tensor with the number {index}"))?)?,
        })
    }

    fn list(&mut self, number: usize, items: &[Item<'a>], kind: Option<&Type>, depth: usize) -> Result<Value> {
        let element = match kind {
            Some(Type::List(element)) => Some((**element).clone()),
            _ => None,
        };
        // A list that contains itself finds this one. Its element type is known then, because such a list is tagged.
        if let Some(element) = &element {
            let shared = List::from_values(element.clone(), [])?;
            self.known.insert(number, Value::List(shared.clone()));
            for &item in items {
                let value = self.value(item, Some(element), depth - 1)?;
                shared.lock().push(value)?;
            }
            return Ok(shared.into());
        }
        let values = list::try_collect(items.iter().map(|item| self.value(*item, None, depth - 1)))?;
        let element = values.first().map_or(Type::Tensor, Value::type_of);
        let element = if values.iter().all(|value| value.type_of() == element) { element } else { Type::Any };
        Ok(List::from_values(element, values)?.into())
    }

    fn dict(
        &mut self,
        number: usize,
        items: &[(Item<'a>, Item<'a>)],
        kind: Option<&Type>,
        depth: usize,
    ) -> Result<Value> {
        let kinds = match kind {
            Some(Type::Dict(kinds)) => Some((kinds.0.clone(), kinds.1.clone())),
            _ => None,
        };
        let (key_kind, value_kind) = kinds.clone().unzip();
        let mut pairs = Vec::new();
        let shared = kinds.map(|(key, value)| Dict::new(key, value));
        if let Some(shared) = &shared {
            self.known.insert(number, Value::Dict(shared.clone()));
        }
        for &(key, value) in items {
            let key = self.value(key, key_kind.as_ref(), depth - 1)?;
            let value = self.value(value, value_kind.as_ref(), depth - 1)?;
            match &shared {
                Some(shared) => shared.insert(key, value)?,
                None => list::push(&mut pairs, (key, value))?,
            }
        }
        match shared {
            Some(shared) => Ok(shared.into()),
            None => {
                let kinds = pairs.first().map_or((Type::Str, Type::Tensor), |(k, v)| (k.type_of(), v.type_of()));
                Ok(Dict::from_entries(kinds.0, kinds.1, pairs)?.into())
            }
        }
    }

    fn object(&mut self, number: usize, name: &str, state: Option<Item<'a>>, depth: usize) -> Result<Value> {
        if name.starts_with("__torch__.torch.classes.") {
            let state = self.value(state.unwrap_or(Item::None), None, depth - 1)?;
            return custom::restore(name, state);
        }
        let Named::Class(class, has_setstate) = self.source.named(name)? else {
            bail!(Io, "{name} is no class that objects have")
        };
        let object = Object::new(class.clone());
        self.known.insert(number, Value::Object(object.clone()));
        let Some(state) = state else { return Ok(object.into()) };
        if has_setstate {
            let state = self.value(state, None, depth - 1)?;
            list::push(&mut self.states, (object.clone(), state))?;
            return Ok(object.into());
        }
        let pickle = self.pickle;
        let attributes = match state {
            Item::Node(number) => match pickle.nodes.get(number) {
                Some(Node::Dict(attributes)) => attributes,
                _ => bail!(Io, "the state of an object of {name} is no dict of attributes"),
            },
            _ => bail!(Io, "the state of an object of {name} is no dict of attributes"),
        };
        let known = class.attributes();
        for &(key, value) in attributes {
            let Item::Text(key) = key else { bail!(Io, "the name of an attribute of {name} is no string") };
            let key = std::str::from_utf8(key).map_err(|_| err!(Io, "the name of an attribute is not UTF-8"))?;
            // Attributes that the class does not declare cannot be read by its code.
            let Some(attribute) = known.iter().find(|attribute| &*attribute.name == key) else { continue };
            let value = self.value(value, Some(&attribute.kind), depth - 1)?;
            object.set(key, value).map_err(|error| error.context(name))?;
        }
        Ok(object.into())
    }

    fn called(&mut self, name: &str, arguments: &[Item<'a>], depth: usize) -> Result<Value> {
        match self.source.named(name)? {
            Named::Tuple(class) => {
                ensure!(
                    class.fields.len() == arguments.len(),
                    Io,
                    "{name} has {} fields, but {} are given",
                    class.fields.len(),
                    arguments.len()
                );
                let items = arguments
                    .iter()
                    .zip(&class.fields)
                    .map(|(item, (_, kind))| self.value(*item, Some(kind), depth - 1));
                let items = list::try_collect(items)?;
                Ok(Tuple::named(class.clone(), items).into())
            }
            Named::Enum(members) => {
                let &[argument] = arguments else { bail!(Io, "{name} is called with {} arguments", arguments.len()) };
                let value = self.value(argument, None, depth - 1)?;
                for member in members {
                    if crate::runtime::compare::equal(member.value(), &value)? {
                        return Ok(member.into());
                    }
                }
                bail!(Io, "{name} has no member with the value {value:?}")
            }
            Named::Class(..) => bail!(Io, "{name} is called, which creates no object in an archive"),
        }
    }

    // ---- tensors -------------------------------------------------------------------------------------------

    fn storage(&mut self, storage: &StorageRef<'a>) -> Result<Storage> {
        let of_bools = storage.dtype == DType::Bool;
        let key = (storage.key, of_bools);
        let found = match self.storages.get(&key) {
            Some(found) => found.clone(),
            None => {
                let read = self.source.storage(storage.key, of_bools)?;
                self.storages.insert(key, read.clone());
                read
            }
        };
        let bytes = usize::try_from(storage.numel).ok().and_then(|numel| numel.checked_mul(storage.dtype.size()));
        ensure!(
            bytes.is_some_and(|bytes| bytes <= found.bytes()),
            Io,
            "storage '{}' should have {} elements of {}, but has {} bytes",
            storage.key.escape_debug(),
            storage.numel,
            storage.dtype,
            found.bytes()
        );
        Ok(found)
    }

    fn tensor(&mut self, tensor: &TensorRef<'a>) -> Result<Value> {
        let storage = self.storage(&tensor.storage)?;
        let dtype = tensor.storage.dtype;
        let offset =
            usize::try_from(tensor.offset).map_err(|_| err!(Io, "a tensor has the offset {}", tensor.offset))?;
        let entry = Entry {
            name: format!("of storage {}", tensor.storage.key.escape_debug()),
            dtype: dtype.to_integer(),
            sizes: tensor.sizes.iter().copied().collect(),
            strides: tensor.strides.iter().copied().collect(),
            offset,
            storage,
            requires_grad: tensor.requires_grad && tensor.quantizer.is_none(),
            conjugate: tensor.conj,
            negative: tensor.neg,
            sparse: None,
        };
        let value: Value = entry.into_tensor()?.into();
        match &tensor.quantizer {
            None => Ok(value),
            Some(quantizer) => self.quantized(value, quantizer),
        }
    }

    /// A quantized tensor of its integers, with the scheme and its parameters.
    fn quantized(&mut self, integers: Value, quantizer: &[Item<'a>]) -> Result<Value> {
        let parts = quantizer.iter().map(|part| self.value(*part, None, MAX_DEPTH));
        let parts: Vec<Value> = list::try_collect(parts)?;
        match parts.as_slice() {
            [Value::Int(0), scale @ Value::Float(_), zero_point @ Value::Int(_)] => {
                call("_make_per_tensor_quantized_tensor", "", &[integers, scale.clone(), zero_point.clone()])
            }
            // Floating-point zero points, as those of scheme 4 are, stay floats.
            [Value::Int(1 | 4), scales @ Value::Tensor(_), zero_points @ Value::Tensor(_), axis @ Value::Int(_)] => {
                call(
                    "_make_per_channel_quantized_tensor",
                    "",
                    &[integers, scales.clone(), zero_points.clone(), axis.clone()],
                )
            }
            other => bail!(Io, "a quantized tensor has the parameters {other:?}"),
        }
    }

    /// `(layout, sizes, requires_grad, indices, values, ...)`
    fn sparse(&mut self, parts: &[Item<'a>], depth: usize) -> Result<Value> {
        let mut values = Vec::new();
        for part in parts.iter().take(5) {
            values.push(self.value(*part, None, depth - 1)?);
        }
        let [Value::Int(1), Value::Tuple(sizes), grad, indices @ Value::Tensor(_), elements @ Value::Tensor(_)] =
            values.as_slice()
        else {
            bail!(Io, "a sparse tensor of another layout than COO is not supported")
        };
        let sizes = sizes.items().iter().map(Value::as_int).collect::<Result<Vec<i64>>>()?;
        let args = [indices.clone(), elements.clone(), List::ints(sizes).into()];
        let args = args.iter().map(crate::runtime::convert::to_operator).collect::<Result<Vec<_>>>()?;
        let mut results =
            rushlight_tensor::dispatch::by_name::call("sparse_coo_tensor", "indices_size", args, Vec::new())?;
        let tensor = results.0.first_mut().map(std::mem::take).unwrap_or_default();
        let tensor = crate::runtime::convert::from_operator(tensor)?;
        if grad.as_bool()? {
            tensor.as_tensor()?.set_requires_grad(true)?;
        }
        Ok(tensor)
    }
}

/// The types that a tag may name: classes of the archive, and those that are not written in TorchScript.
struct Tags<'a>(&'a dyn Source);

impl Resolver for Tags<'_> {
    fn resolve(&self, name: &str) -> Option<Type> {
        if name.starts_with("__torch__.torch.classes.") {
            return Some(Type::Class(name.into()));
        }
        self.0.resolve(name)
    }

    fn implements(&self, name: &str, interface: &str) -> bool {
        self.0.implements(name, interface)
    }
}
