//! The constants of graphs.

use super::function::Linker;
use super::list::{Items, List};
use super::object::Tuple;
use super::value::Value;
use crate::graph::{Attribute, Opaque};
use crate::types::Type;
use rushlight_base::{Complex, Device, Result, bail, err, list};
use std::sync::Arc;

/// Lists in lists.
const MAX_DEPTH: usize = 64;

/// The value of a constant of this type; None if it has no attribute.
pub(crate) fn constant(kind: &Type, attribute: Option<&Attribute>) -> Result<Value> {
    match attribute {
        None => Ok(Value::None),
        Some(attribute) => constant_within(kind, attribute, MAX_DEPTH),
    }
}

fn constant_within(kind: &Type, attribute: &Attribute, depth: usize) -> Result<Value> {
    if depth == 0 {
        bail!(Runtime, "a constant is nested more than {MAX_DEPTH} deep");
    }
    Ok(match (attribute, kind) {
        (_, Type::Optional(inner)) => constant_within(inner, attribute, depth - 1)?,
        (Attribute::Int(value), Type::Bool) => Value::Bool(*value != 0),
        (Attribute::Int(value), Type::Float) => Value::Float(*value as f64),
        (Attribute::Int(value), _) => Value::Int(*value),
        (Attribute::Float(value), _) => Value::Float(*value),
        (Attribute::Complex(real, imaginary), _) => Value::Complex(Complex::new(*real, *imaginary)),
        (Attribute::Str(bytes), Type::Device) => {
            let name = std::str::from_utf8(bytes).map_err(|_| err!(Runtime, "a device that is not UTF-8"))?;
            Value::Device(Device::parse(name)?)
        }
        (Attribute::Str(bytes), _) => Value::Str(bytes.clone()),
        (Attribute::List(items), Type::Tuple(kinds)) => {
            let items = items.iter().zip(kinds.iter()).map(|(item, kind)| constant_within(kind, item, depth - 1));
            Tuple::new(list::try_collect(items)?).into()
        }
        (Attribute::List(items), kind) => {
            let element = match kind {
                Type::List(element) => (**element).clone(),
                _ => Type::Any,
            };
            let items = items.iter().map(|item| constant_within(&element, item, depth - 1));
            let items: Vec<Value> = list::try_collect(items)?;
            List::from_values(element, items)?.into()
        }
        (Attribute::Opaque(value), _) => {
            value.value().ok_or_else(|| err!(Runtime, "the constant {} has no value", value.print()))?
        }
        (Attribute::Type(_) | Attribute::Graph(_), _) => bail!(Runtime, "a constant of type {kind} has no value"),
    })
}

/// The member of an Enum with a qualified name.
pub(crate) fn member(linker: &dyn Linker, class: &str, name: &[u8]) -> Result<Value> {
    let name = String::from_utf8_lossy(name);
    let short = name.rsplit('.').next().unwrap_or_default();
    let member = linker.members(class)?.into_iter().find(|member| &**member.name() == short);
    Ok(member.ok_or_else(|| err!(Runtime, "the Enum {class} has no member '{short}'"))?.into())
}

/// The value as the attribute of a constant; no attribute for None. Containers of other values than numbers are kept as
/// they are.
pub(crate) fn attribute_of(value: &Value) -> Option<Attribute> {
    Some(match value {
        Value::None => return None,
        Value::Bool(value) => Attribute::Int(i64::from(*value)),
        Value::Int(value) => Attribute::Int(*value),
        Value::Float(value) => Attribute::Float(*value),
        Value::Complex(value) => Attribute::Complex(value.re, value.im),
        Value::Str(bytes) => Attribute::Str(bytes.clone()),
        Value::Device(device) => Attribute::Str(device.to_string().into_bytes().into()),
        Value::List(list) => {
            let guard = list.lock();
            match &*guard {
                Items::Ints(items) => Attribute::List(items.iter().copied().map(Attribute::Int).collect()),
                Items::Floats(items) => Attribute::List(items.iter().copied().map(Attribute::Float).collect()),
                Items::Bools(items) => {
                    Attribute::List(items.iter().map(|&item| Attribute::Int(i64::from(item))).collect())
                }
                _ => {
                    drop(guard);
                    Attribute::Opaque(Arc::new(value.clone()))
                }
            }
        }
        other => Attribute::Opaque(Arc::new(other.clone())),
    })
}

/// A value as a constant of a graph.
impl Opaque for Value {
    fn print(&self) -> String {
        match self {
            // PyTorch prints the number of a tensor with one element.
            Value::Tensor(tensor) if tensor.numel() == 1 => match tensor.item() {
                Ok(number) => format!("{{{}}}", scalar(number)),
                Err(_) => "<Tensor>".to_owned(),
            },
            Value::Tensor(_) => "<Tensor>".to_owned(),
            other => String::from_utf8_lossy(&super::print::printed(other)).into_owned(),
        }
    }

    fn value(&self) -> Option<Value> {
        Some(self.clone())
    }
}

fn scalar(number: rushlight_base::Scalar) -> String {
    match number {
        rushlight_base::Scalar::Int(value) => value.to_string(),
        rushlight_base::Scalar::Bool(value) => u8::from(value).to_string(),
        other => super::print::general(other.to_f64(), 6),
    }
}
