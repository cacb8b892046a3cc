//! Values of programs as arguments of operators, and results of operators as values.

use super::dict::Dict;
use super::list::{Items, List};
use super::object::{EnumValue, Future, Object, Tuple};
use super::value::Value;
use crate::classes;
use crate::types::Type;
use rushlight_base::{Result, Scalar, bail, err, list};
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::{self, Ints, MAX_DEPTH};
use std::sync::Arc;

/// The value as an argument of an operator.
#[inline]
pub(crate) fn to_operator(value: &Value) -> Result<dispatch::Value> {
    Ok(match value {
        Value::None => dispatch::Value::None,
        Value::Bool(value) => dispatch::Value::Scalar(Scalar::Bool(*value)),
        Value::Int(value) => dispatch::Value::Scalar(Scalar::Int(*value)),
        Value::Float(value) => dispatch::Value::Scalar(Scalar::Float(*value)),
        Value::Tensor(tensor) => dispatch::Value::Tensor(tensor.clone()),
        other => return to_operator_within(other, MAX_DEPTH),
    })
}

fn to_operator_within(value: &Value, depth: usize) -> Result<dispatch::Value> {
    if depth == 0 {
        bail!(Value, "values are nested more than {MAX_DEPTH} deep");
    }
    Ok(match value {
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Tensor(_) => return to_operator(value),
        Value::Complex(value) => dispatch::Value::Scalar(Scalar::Complex(*value)),
        Value::Str(_) => dispatch::Value::Str(value.as_str()?.into()),
        Value::List(list) => {
            // The lock is held only while numbers and tensors are copied.
            let guard = list.lock();
            match &*guard {
                Items::Ints(items) => dispatch::Value::Ints(Ints::from_slice(items)),
                Items::Floats(items) => dispatch::Value::Floats(list::copied(items)?),
                Items::Bools(items) => dispatch::Value::Bools(list::copied(items)?),
                Items::Tensors(items) => dispatch::Value::Tensors(list::collect(items.iter().cloned().map(Some))?),
                Items::Values(items) => {
                    let items = list::copied(items)?;
                    drop(guard);
                    general_list(&items, depth)?
                }
            }
        }
        Value::Tuple(tuple) => dispatch::Value::Tuple(items(tuple.items(), depth)?),
        Value::Dict(dict) => {
            let entries = dict
                .entries()
                .into_iter()
                .map(|(key, value)| Ok((to_operator_within(&key, depth - 1)?, to_operator_within(&value, depth - 1)?)));
            dispatch::Value::Dict(dispatch::Dict::new(list::try_collect(entries)?)?)
        }
        Value::Object(object) => dispatch::Value::Object(dispatch::Object::new(&object.class().name, object.clone())?),
        Value::Enum(member) => {
            let inner = to_operator_within(member.value(), depth - 1)?;
            dispatch::Value::Enum(dispatch::EnumValue::new(member.class(), member.name(), inner)?)
        }
        Value::Future(future) => {
            let completed = dispatch::Future::new();
            completed.complete(future.wait().and_then(|value| to_operator_within(&value, depth - 1)))?;
            dispatch::Value::Future(completed)
        }
        Value::Device(device) => dispatch::Value::Device(*device),
        Value::Generator(generator) => dispatch::Value::Generator(generator.clone()),
        Value::Stream(stream) => dispatch::Value::Stream(*stream),
        Value::Storage(storage) => dispatch::Value::Storage(storage.clone()),
        Value::Custom(object) => dispatch::Value::Object(classes::resolved(object).clone()),
    })
}

fn items(values: &[Value], depth: usize) -> Result<dispatch::Items> {
    dispatch::Items::new(list::try_collect(values.iter().map(|value| to_operator_within(value, depth - 1)))?)
}

/// A list whose elements are of no compact type: `Tensor?[]`, `str[]`, `complex[]`, and any other.
fn general_list(values: &[Value], depth: usize) -> Result<dispatch::Value> {
    let tensor = |value: &Value| match value {
        Value::Tensor(tensor) => Some(Some(tensor.clone())),
        Value::None => Some(None),
        _ => None,
    };
    match values.first() {
        None => return Ok(dispatch::Value::List(dispatch::Items::new(Vec::new())?)),
        Some(Value::Tensor(_) | Value::None) => {
            let tensors: Option<Vec<Option<Tensor>>> = values.iter().map(tensor).collect();
            if let Some(tensors) = tensors {
                return Ok(dispatch::Value::Tensors(tensors));
            }
        }
        Some(Value::Str(_)) => {
            let strings: Result<Vec<Arc<str>>> = values.iter().map(|value| Ok(Arc::from(value.as_str()?))).collect();
            return Ok(dispatch::Value::Strings(strings?));
        }
        Some(Value::Complex(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_)) => {
            let scalars: Option<Vec<Scalar>> = values.iter().map(|value| scalar_of(value).ok()).collect();
            if let Some(scalars) = scalars {
                return Ok(dispatch::Value::Scalars(scalars));
            }
        }
        _ => {}
    }
    Ok(dispatch::Value::List(items(values, depth)?))
}

/// The number as a scalar.
pub(crate) fn scalar_of(value: &Value) -> Result<Scalar> {
    Ok(match value {
        Value::Bool(value) => Scalar::Bool(*value),
        Value::Int(value) => Scalar::Int(*value),
        Value::Float(value) => Scalar::Float(*value),
        Value::Complex(value) => Scalar::Complex(*value),
        other => return Err(other.is_not("number")),
    })
}

/// The scalar as a number of a program.
#[inline]
pub(crate) fn number_of(scalar: Scalar) -> Result<Value> {
    Ok(match scalar {
        Scalar::Bool(value) => Value::Bool(value),
        Scalar::Int(value) => Value::Int(value),
        Scalar::UInt(value) => Value::Int(
            i64::try_from(value)
                .map_err(|_| err!(Runtime, "value {value} cannot be converted to type int64_t without overflow"))?,
        ),
        Scalar::Float(value) => Value::Float(value),
        Scalar::Complex(value) => Value::Complex(value),
    })
}

/// A result of an operator as a value.
#[inline]
pub(crate) fn from_operator(value: dispatch::Value) -> Result<Value> {
    match value {
        dispatch::Value::Tensor(tensor) => Ok(Value::Tensor(tensor)),
        dispatch::Value::None => Ok(Value::None),
        dispatch::Value::Scalar(scalar) => number_of(scalar),
        other => other_from_operator(other),
    }
}

/// [`from_operator`] for all other kinds. Values of operators are of limited depth.
fn other_from_operator(value: dispatch::Value) -> Result<Value> {
    Ok(match value {
        dispatch::Value::None | dispatch::Value::Scalar(_) | dispatch::Value::Tensor(_) => return from_operator(value),
        dispatch::Value::Str(text) => Value::str(&*text),
        dispatch::Value::DType(dtype) => Value::Int(dtype as i64),
        dispatch::Value::Layout(layout) => Value::Int(layout as i64),
        dispatch::Value::MemoryFormat(format) => Value::Int(format as i64),
        dispatch::Value::QScheme(scheme) => Value::Int(scheme as i64),
        dispatch::Value::Device(device) => Value::Device(device),
        dispatch::Value::Generator(generator) => Value::Generator(generator),
        dispatch::Value::Stream(stream) => Value::Stream(stream),
        dispatch::Value::Storage(storage) => Value::Storage(storage),
        dispatch::Value::Tensors(tensors) => {
            if tensors.iter().all(Option::is_some) {
                List::tensors(tensors.into_iter().flatten().collect()).into()
            } else {
                let element = Type::Optional(Type::Tensor.into());
                List::from_values(element, tensors.into_iter().map(Value::from))?.into()
            }
        }
        dispatch::Value::Ints(ints) => List::ints(ints.to_vec()).into(),
        dispatch::Value::Floats(floats) => List::floats(floats).into(),
        dispatch::Value::Bools(bools) => List::bools(bools).into(),
        dispatch::Value::Scalars(scalars) => {
            let values: Vec<Value> = list::try_collect(scalars.into_iter().map(number_of))?;
            list_of(values)?
        }
        dispatch::Value::Strings(strings) => List::strs(strings.iter().map(|text| text.as_bytes().to_vec()))?.into(),
        dispatch::Value::List(items) => list_of(list::try_collect(items.iter().cloned().map(from_operator))?)?,
        dispatch::Value::Tuple(items) => {
            Tuple::new(list::try_collect(items.iter().cloned().map(from_operator))?).into()
        }
        dispatch::Value::Dict(dict) => {
            let entries =
                dict.iter().map(|(key, value)| Ok((from_operator(key.clone())?, from_operator(value.clone())?)));
            let entries: Vec<(Value, Value)> = list::try_collect(entries)?;
            let key = common_type(entries.iter().map(|(key, _)| key)).unwrap_or(Type::Str);
            let value = common_type(entries.iter().map(|(_, value)| value)).unwrap_or(Type::Tensor);
            Dict::from_entries(key, value, entries)?.into()
        }
        dispatch::Value::Object(object) => match object.content::<Object>() {
            Some(inner) => Value::Object(inner.clone()),
            None => Value::Custom(object),
        },
        dispatch::Value::Future(future) => Future::completed(future.wait().and_then(from_operator)).into(),
        dispatch::Value::Enum(member) => {
            EnumValue::new(member.class_name(), member.name(), from_operator(member.value().clone())?).into()
        }
    })
}

/// A list whose element type is that of all elements.
fn list_of(values: Vec<Value>) -> Result<Value> {
    let element = common_type(values.iter()).unwrap_or(Type::Tensor);
    Ok(List::from_values(element, values)?.into())
}

/// The type that all values have, or `Any` if they differ; none without values.
fn common_type<'a>(mut values: impl Iterator<Item = &'a Value>) -> Option<Type> {
    let first = values.next()?.type_of();
    Some(if values.all(|value| value.type_of() == first) { first } else { Type::Any })
}
