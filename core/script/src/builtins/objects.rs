//! Tuples, identity, members of an Enum, devices, generators, futures, and the state of the thread.

use super::args::Args;
use crate::runtime::object::Tuple;
use crate::runtime::value::Value;
use crate::runtime::{convert, list::List};
use rushlight_base::{Device, Result, bail, ensure, err};
use rushlight_tensor::dispatch::by_name;
use rushlight_tensor::{Generator, autograd};

/// A tuple.
pub(crate) fn tuple(items: impl Into<Vec<Value>>) -> Value {
    Tuple::new(items.into()).into()
}

/// The argument itself.
pub(super) fn identity(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.take(0))
}

pub(super) fn nothing(_args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::None)
}

pub(super) fn no(_args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(false))
}

/// Operators of nested tensors, which programs contain in branches that are not taken.
pub(super) fn nested(_args: &mut Args<'_>) -> Result<Value> {
    bail!(NotImplemented, "nested tensors are not supported")
}

pub(super) fn yes(_args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Bool(true))
}

pub(super) fn zero(_args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Int(0))
}

pub(super) fn is(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.get(0)?.is(args.get(1)?).into())
}

pub(super) fn isnot(args: &mut Args<'_>) -> Result<Value> {
    Ok((!args.get(0)?.is(args.get(1)?)).into())
}

pub(super) fn unwrap(args: &mut Args<'_>) -> Result<Value> {
    ensure!(!args.get(0)?.is_none(), Runtime, "Unwrapping null optional");
    Ok(args.take(0))
}

pub(super) fn tuple_index(args: &mut Args<'_>) -> Result<Value> {
    let items = args.tuple(0)?.items();
    let at = super::lists::position(args.int(1)?, items.len());
    at.and_then(|at| items.get(at)).cloned().ok_or_else(|| err!(Index, "Tuple index out of range"))
}

pub(super) fn if_then_else(args: &mut Args<'_>) -> Result<Value> {
    let index = if args.bool(0)? { 1 } else { 2 };
    Ok(args.take(index))
}

pub(super) fn enum_name(args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::str(&**args.get(0)?.as_enum()?.name()))
}

pub(super) fn enum_value(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.get(0)?.as_enum()?.value().clone())
}

pub(super) fn id(args: &mut Args<'_>) -> Result<Value> {
    Ok(match args.get(0)? {
        Value::None => 0,
        Value::Object(object) => object.address() as i64,
        other => return Err(other.is_not("object")),
    }
    .into())
}

pub(super) fn wait(args: &mut Args<'_>) -> Result<Value> {
    match args.take(0) {
        Value::Future(future) => future.wait(),
        other => Err(other.is_not("Future")),
    }
}

pub(super) fn wait_or_identity(args: &mut Args<'_>) -> Result<Value> {
    match args.take(0) {
        Value::Future(future) => future.wait(),
        value => Ok(value),
    }
}

pub(super) fn raise(args: &mut Args<'_>) -> Result<Value> {
    bail!(Runtime, "{}", String::from_utf8_lossy(args.bytes(0)?))
}

// ---- devices ---------------------------------------------------------------------------------------------------

pub(super) fn device(args: &mut Args<'_>) -> Result<Value> {
    if args.len() > 1 {
        return Ok(Device::parse(&format!("{}:{}", args.get(0)?.as_str()?, args.int(1)?))?.into());
    }
    Ok(Device::parse(args.get(0)?.as_str()?)?.into())
}

fn device_at(args: &Args<'_>, index: usize) -> Result<Device> {
    match args.get(index)? {
        Value::Device(device) => Ok(*device),
        other => Err(other.is_not("Device")),
    }
}

pub(super) fn device_eq(args: &mut Args<'_>) -> Result<Value> {
    Ok((device_at(args, 0)? == device_at(args, 1)?).into())
}

pub(super) fn device_ne(args: &mut Args<'_>) -> Result<Value> {
    Ok((device_at(args, 0)? != device_at(args, 1)?).into())
}

pub(super) fn device_type(args: &mut Args<'_>) -> Result<Value> {
    Ok(device_at(args, 0)?.kind.name().into())
}

pub(super) fn device_index(args: &mut Args<'_>) -> Result<Value> {
    let index = i64::from(device_at(args, 0)?.index);
    Ok(if index < 0 { Value::None } else { index.into() })
}

// ---- random numbers and gradients ------------------------------------------------------------------------------

pub(super) fn manual_seed(args: &mut Args<'_>) -> Result<Value> {
    rushlight_tensor::manual_seed(args.int(0)?.cast_unsigned());
    Ok(Value::None)
}

fn generator<'a>(args: &'a Args<'_>) -> Result<&'a Generator> {
    match args.get(0)? {
        Value::Generator(generator) => Ok(generator),
        other => Err(other.is_not("Generator")),
    }
}

pub(super) fn new_generator(args: &mut Args<'_>) -> Result<Value> {
    if let Ok(Value::Device(device)) = args.get(0) {
        ensure!(*device == Device::CPU, Runtime, "a generator of device {device} is not available");
    }
    let seed = args.int_opt(1)?.map_or(67_280_421_310_721, i64::cast_unsigned);
    Ok(Generator::new(seed).into())
}

pub(super) fn seed_generator(args: &mut Args<'_>) -> Result<Value> {
    let seed = args.int(1)?.cast_unsigned();
    generator(args)?.lock().manual_seed(seed);
    Ok(args.take(0))
}

pub(super) fn initial_seed(args: &mut Args<'_>) -> Result<Value> {
    Ok(generator(args)?.lock().initial_seed().cast_signed().into())
}

pub(super) fn is_grad_enabled(_args: &mut Args<'_>) -> Result<Value> {
    Ok(autograd::is_grad_enabled().into())
}

pub(super) fn set_grad_enabled(args: &mut Args<'_>) -> Result<Value> {
    autograd::set_grad_enabled(args.bool(0)?);
    Ok(Value::None)
}

/// Sizes are a list of ints.
pub(super) fn size(args: &mut Args<'_>) -> Result<Value> {
    let list = args.list(0)?;
    Ok(List::new(list.element().clone(), list.items()).into())
}

/// The shapes of a broadcast result.
pub(super) fn broadcast_sizes(args: &mut Args<'_>) -> Result<Value> {
    let mut sizes: Vec<i64> = Vec::new();
    for value in args.all() {
        let mut pair = [List::ints(std::mem::take(&mut sizes)).into(), value.clone()];
        let result = super::lists::infer_size(&mut Args::new(&mut pair, args.context))?;
        sizes = result.as_list()?.items().iter().map(|size| size.as_int()).collect::<Result<_>>()?;
    }
    Ok(List::ints(sizes).into())
}

/// Calls an operator with tensors.
pub(crate) fn call(name: &str, overload: &str, args: &[Value]) -> Result<Value> {
    let args = args.iter().map(convert::to_operator).collect::<Result<Vec<_>>>()?;
    let mut results = by_name::call(name, overload, args, Vec::new())?;
    convert::from_operator(results.0.first_mut().map(std::mem::take).unwrap_or_default())
}

/// A seed that differs each time.
pub(super) fn random_seed(args: &mut Args<'_>) -> Result<Value> {
    Ok(generator(args)?.lock().seed().cast_signed().into())
}
