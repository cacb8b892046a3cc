//! Dicts.

use super::args::Args;
use super::objects::tuple;
use crate::runtime::dict::Dict;
use crate::runtime::list::List;
use crate::runtime::print::printed;
use crate::runtime::value::Value;
use crate::types::Type;
use rushlight_base::{Error, Result, ensure, err};

fn missing(key: &Value) -> Error {
    err!(Index, "KeyError: {}", String::from_utf8_lossy(&printed(key)))
}

pub(super) fn getitem(args: &mut Args<'_>) -> Result<Value> {
    args.dict(0)?.get(args.get(1)?)?.ok_or_else(|| args.get(1).map_or_else(|error| error, missing))
}

pub(super) fn set_item(args: &mut Args<'_>) -> Result<Value> {
    let (key, value) = (args.take(1), args.take(2));
    args.dict(0)?.insert(key, value)?;
    Ok(Value::None)
}

pub(super) fn len(args: &mut Args<'_>) -> Result<Value> {
    Ok((args.dict(0)?.len() as i64).into())
}

pub(super) fn contains(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.dict(0)?.get(args.get(1)?)?.is_some().into())
}

/// `get(key)` and `get(key, default)`
pub(super) fn get(args: &mut Args<'_>) -> Result<Value> {
    let found = args.dict(0)?.get(args.get(1)?)?;
    Ok(found.unwrap_or_else(|| args.take(2)))
}

pub(super) fn setdefault(args: &mut Args<'_>) -> Result<Value> {
    let (key, value) = (args.take(1), args.take(2));
    let mut entries = args.dict(0)?.lock();
    if let Some(found) = entries.get(&key)? {
        return Ok(found.clone());
    }
    entries.insert(key, value.clone())?;
    Ok(value)
}

fn removed(args: &Args<'_>) -> Result<Option<Value>> {
    let removed = args.dict(0)?.lock().remove(args.get(1)?)?;
    Ok(removed.map(|(_, value)| value))
}

pub(super) fn delete(args: &mut Args<'_>) -> Result<Value> {
    match removed(args)? {
        Some(_) => Ok(Value::None),
        None => Err(missing(args.get(1)?)),
    }
}

/// `pop(key)` and `pop(key, default)`
pub(super) fn pop(args: &mut Args<'_>) -> Result<Value> {
    match removed(args)? {
        Some(value) => Ok(value),
        None if args.len() > 2 => Ok(args.take(2)),
        None => Err(missing(args.get(1)?)),
    }
}

pub(super) fn popitem(args: &mut Args<'_>) -> Result<Value> {
    let first = args.dict(0)?.lock().pop_first()?;
    let (key, value) = first.ok_or_else(|| err!(Index, "popitem(): dictionary is empty"))?;
    Ok(tuple([key, value]))
}

pub(super) fn clear(args: &mut Args<'_>) -> Result<Value> {
    args.dict(0)?.clear();
    Ok(Value::None)
}

pub(super) fn copy(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.dict(0)?.copy().into())
}

pub(super) fn update(args: &mut Args<'_>) -> Result<Value> {
    let dict = args.dict(0)?;
    for (key, value) in args.dict(1)?.entries() {
        dict.insert(key, value)?;
    }
    Ok(Value::None)
}

pub(super) fn keys(args: &mut Args<'_>) -> Result<Value> {
    let dict = args.dict(0)?;
    let keys = dict.entries().into_iter().map(|(key, _)| key);
    Ok(List::from_values(dict.key_type().clone(), keys)?.into())
}

pub(super) fn values(args: &mut Args<'_>) -> Result<Value> {
    let dict = args.dict(0)?;
    let values = dict.entries().into_iter().map(|(_, value)| value);
    Ok(List::from_values(dict.value_type().clone(), values)?.into())
}

pub(super) fn items(args: &mut Args<'_>) -> Result<Value> {
    let dict = args.dict(0)?;
    let element = Type::tuple([dict.key_type().clone(), dict.value_type().clone()]);
    Ok(List::from_values(element, dict.entries().into_iter().map(|(key, value)| tuple([key, value])))?.into())
}

/// `dict(pairs)`
pub(super) fn of_pairs(args: &mut Args<'_>) -> Result<Value> {
    let list = args.list(0)?;
    let (key, value) = match list.element() {
        Type::Tuple(types) => match &**types {
            [key, value] => (key.clone(), value.clone()),
            _ => (Type::Any, Type::Any),
        },
        _ => (Type::Any, Type::Any),
    };
    let dict = Dict::new(key, value);
    for pair in list.values() {
        let pair = pair.as_tuple()?;
        ensure!(
            pair.items().len() == 2,
            Runtime,
            "a dict is created from pairs, not from tuples of {}",
            pair.items().len()
        );
        if let [key, value] = pair.items() {
            dict.insert(key.clone(), value.clone())?;
        }
    }
    Ok(dict.into())
}

/// `dict()`
pub(super) fn empty(_args: &mut Args<'_>) -> Result<Value> {
    Ok(Dict::new(Type::Str, Type::Tensor).into())
}
