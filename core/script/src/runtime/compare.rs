//! Equality and order of values.

use super::list::Items;
use super::value::Value;
use rushlight_base::{Error, Result, Scalar, err};
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::{self, by_name};
use std::cmp::Ordering;

/// Containers inside of each other that are compared.
const MAX_DEPTH: usize = 128;

/// Whether two values are equal, as elements of lists are compared: containers by their elements, tensors by one bool
/// for all elements.
pub(crate) fn equal(a: &Value, b: &Value) -> Result<bool> {
    equal_within(a, b, MAX_DEPTH)
}

fn equal_within(a: &Value, b: &Value, depth: usize) -> Result<bool> {
    if depth == 0 {
        return Err(err!(Runtime, "containers are nested too deeply to be compared"));
    }
    Ok(match (a, b) {
        (Value::List(a), Value::List(b)) => {
            if a.is(b) {
                return Ok(true);
            }
            match (a.items(), b.items()) {
                (Items::Ints(a), Items::Ints(b)) => a == b,
                (Items::Floats(a), Items::Floats(b)) => a == b,
                (Items::Bools(a), Items::Bools(b)) => a == b,
                (a, b) => a.len() == b.len() && all_equal(a.iter().zip(b.iter()), depth)?,
            }
        }
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.items().len() == b.items().len()
                && all_equal(a.items().iter().cloned().zip(b.items().iter().cloned()), depth)?
        }
        (Value::Dict(a), Value::Dict(b)) => {
            let entries = a.entries();
            if entries.len() != b.len() {
                return Ok(false);
            }
            for (key, value) in entries {
                match b.get(&key)? {
                    Some(other) if equal_within(&value, &other, depth - 1)? => {}
                    _ => return Ok(false),
                }
            }
            true
        }
        (Value::Tensor(a), Value::Tensor(b)) => tensors_equal(a, b)?,
        (Value::Str(a), Value::Str(b)) => a == b,
        (a, b) => match numbers(a, b) {
            Some((a, b)) => a == b,
            None => a.is(b),
        },
    })
}

fn all_equal(pairs: impl Iterator<Item = (Value, Value)>, depth: usize) -> Result<bool> {
    for (a, b) in pairs {
        if !equal_within(&a, &b, depth - 1)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Both as numbers of the wider kind.
fn numbers(a: &Value, b: &Value) -> Option<(Scalar, Scalar)> {
    if let (Value::Complex(_), _) | (_, Value::Complex(_)) = (a, b) {
        return Some((Scalar::Complex(a.as_complex().ok()?), Scalar::Complex(b.as_complex().ok()?)));
    }
    match (a, b) {
        (Value::Int(_) | Value::Bool(_), Value::Int(_) | Value::Bool(_)) => {
            Some((Scalar::Int(a.as_int().ok()?), Scalar::Int(b.as_int().ok()?)))
        }
        _ => Some((Scalar::Float(a.as_float().ok()?), Scalar::Float(b.as_float().ok()?))),
    }
}

/// `bool(a == b)`: an error unless the comparison has one element.
pub(crate) fn tensors_equal(a: &Tensor, b: &Tensor) -> Result<bool> {
    let args = vec![dispatch::Value::from(a), dispatch::Value::from(b)];
    let equal: Tensor = by_name::call("eq", "Tensor", args, Vec::new())?.extract()?;
    Ok(one_element(&equal, "Bool")?.to_bool())
}

/// The value of a tensor with one element.
pub(crate) fn one_element(tensor: &Tensor, _to: &str) -> Result<Scalar> {
    tensor.item()
}

/// The order of two values that can be sorted: numbers, strings, and tuples of these.
pub(crate) fn order(a: &Value, b: &Value) -> Result<Ordering> {
    order_within(a, b, MAX_DEPTH)
}

fn order_within(a: &Value, b: &Value, depth: usize) -> Result<Ordering> {
    match (a, b) {
        _ if depth == 0 => Err(err!(Runtime, "tuples are nested too deeply to be compared")),
        (Value::Str(a), Value::Str(b)) => Ok(a.cmp(b)),
        (Value::Tuple(a), Value::Tuple(b)) => {
            for (a, b) in a.items().iter().zip(b.items()) {
                match order_within(a, b, depth - 1)? {
                    Ordering::Equal => {}
                    other => return Ok(other),
                }
            }
            Ok(a.items().len().cmp(&b.items().len()))
        }
        (Value::Tensor(a), Value::Tensor(b)) => {
            let less: Tensor = by_name::call("lt", "Tensor", vec![a.into(), b.into()], Vec::new())?.extract()?;
            if one_element(&less, "Bool")?.to_bool() {
                return Ok(Ordering::Less);
            }
            Ok(if tensors_equal(a, b)? { Ordering::Equal } else { Ordering::Greater })
        }
        (a, b) => match numbers(a, b) {
            Some((Scalar::Int(a), Scalar::Int(b))) => Ok(a.cmp(&b)),
            Some((a, b)) if !matches!(a, Scalar::Complex(_)) => {
                Ok(a.to_f64().partial_cmp(&b.to_f64()).unwrap_or(Ordering::Equal))
            }
            _ => Err(not_sortable(a)),
        },
    }
}

#[cold]
pub(crate) fn not_sortable(value: &Value) -> Error {
    err!(
        Runtime,
        "Only list of Tensors, ints, floats, bools, strs, a User Defined Class that defines the __lt__ compare \
         method or Tuples of aforementioned types can be sorted, got list of {}",
        value.type_of().annotation_str()
    )
}
