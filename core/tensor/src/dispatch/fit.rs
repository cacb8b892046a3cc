//! Values that are given for a type of a schema: checked, converted where PyTorch converts, and defaults.

use super::containers::{Dict, Items};
use super::object::QScheme;
use super::value::{Ints, Value};
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Layout, MemoryFormat, Result, Scalar, bail, ensure, err, list};
use rushlight_schema::{BaseType, Constant, Default as SchemaDefault, Detail, Type};
use std::fmt;

/// Whether `value` is of type `ty` as it stands, of the types that most arguments have.
#[inline]
pub(super) fn is_exactly(value: &Value, ty: &Type) -> bool {
    ty.list.is_none()
        && matches!(
            (value, ty.base),
            (Value::Tensor(_), BaseType::Tensor)
                | (Value::Scalar(_), BaseType::Scalar)
                | (Value::Scalar(Scalar::Int(_)), BaseType::Int)
                | (Value::Scalar(Scalar::Float(_)), BaseType::Float)
                | (Value::Scalar(Scalar::Bool(_)), BaseType::Bool)
        )
}

/// The destination of a value, for messages.
#[derive(Clone, Copy)]
pub(super) enum Slot<'a> {
    Argument(&'a str),
    Default,
    Result(usize),
}

impl fmt::Display for Slot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Argument(name) => write!(f, "argument '{name}'"),
            Slot::Default => f.write_str("the default value"),
            Slot::Result(index) => write!(f, "result {index}"),
        }
    }
}

/// `value` as one of type `ty`: PyTorch's implicit conversions (a number for a list of one size, an integer for a
/// dtype), or an error that names the argument or result.
pub(super) fn fit(value: Value, ty: &Type, slot: Slot<'_>) -> Result<Value> {
    let fits = match (&value, ty.base, ty.is_list()) {
        (Value::None, ..) if ty.optional || ty.base == BaseType::NoneType => true,
        (Value::Tensor(_), BaseType::Tensor, false) => true,
        (value, _, true) if value.is_empty_list() => return empty_list(ty.base),
        (Value::Tensors(tensors), BaseType::Tensor, true) => {
            let missing = tensors.iter().position(Option::is_none);
            match missing.filter(|_| !ty.list.is_some_and(|list| list.optional_elements)) {
                Some(index) => bail!(Type, "{slot} must be {ty}, but its element {index} is None"),
                None => true,
            }
        }
        (Value::Ints(_), BaseType::Int | BaseType::Float | BaseType::Scalar, true) => true,
        (Value::Floats(_), BaseType::Float | BaseType::Scalar, true) => true,
        (Value::Bools(_), BaseType::Bool, true) | (Value::Scalars(_), BaseType::Scalar, true) => true,
        (Value::Scalars(scalars), BaseType::Int | BaseType::Float | BaseType::Bool | BaseType::Complex, true) => {
            return fit_scalars(scalars, ty, slot);
        }
        (Value::Scalar(Scalar::Int(int)), BaseType::Int, true) => {
            let length = ty.list.and_then(|list| list.size);
            return length
                .map(|length| Value::Ints(Ints::from_elem(*int, length)))
                .ok_or_else(|| err!(Type, "{slot} must be int[], not int"));
        }
        (Value::Scalar(scalar), BaseType::Tensor, false) => return Ok(Value::from(&wrapped_number(*scalar)?)),
        (Value::Scalar(scalar), base, false) if is_numbered(base) => return fit_scalar(*scalar, base, slot),
        (Value::Str(text), BaseType::Device, false) => {
            return Ok(Value::Device(rushlight_base::Device::parse(text)?));
        }
        (Value::Str(_), BaseType::Str, false) | (Value::DType(_), BaseType::ScalarType, false) => true,
        (Value::Layout(_), BaseType::Layout, false) | (Value::Device(_), BaseType::Device, false) => true,
        (Value::MemoryFormat(_), BaseType::MemoryFormat, false) => true,
        (Value::Generator(_), BaseType::Generator, false) => true,
        (Value::Strings(_), BaseType::Str, true) | (Value::Stream(_), BaseType::Stream, false) => true,
        (Value::Storage(_), BaseType::Storage, false) | (Value::QScheme(_), BaseType::QScheme, false) => true,
        _ => return fit_other(value, ty, slot),
    };
    ensure!(fits, Type, "{slot} must be {ty}, not {}", value.kind());
    Ok(value)
}

/// [`fit`] for lists of any kind, containers, objects, unions and types that take every value.
fn fit_other(value: Value, ty: &Type, slot: Slot<'_>) -> Result<Value> {
    if let Some(element) = ty.element() {
        if matches!(element.base, BaseType::Any | BaseType::Variable) && !element.is_list() && value.is_list() {
            return Ok(value);
        }
        let Value::List(items) = &value else { return misfit(&value, ty, slot) };
        let items = items.iter().map(|item| fit(item.clone(), &element, slot));
        return list_of(list::try_collect(items)?, &element);
    }
    let fits = match (&value, ty.base) {
        (_, BaseType::Any | BaseType::Variable) => true,
        (_, BaseType::Union) => {
            let fitted = ty.inner().iter().find_map(|one| fit(value.clone(), one, slot).ok());
            return fitted.map_or_else(|| misfit(&value, ty, slot), Ok);
        }
        (Value::Tuple(items), BaseType::Tuple) => {
            ensure!(items.len() == ty.inner().len(), Type, "{slot} must be {ty}, not a tuple of {}", items.len());
            let items = items.iter().zip(ty.inner()).map(|(item, ty)| fit(item.clone(), ty, slot));
            return Ok(Value::Tuple(Items::new(list::try_collect(items)?)?));
        }
        (Value::Dict(dict), BaseType::Dict) => {
            let [key, value] = ty.inner() else { return misfit(&Value::None, ty, slot) };
            let entry =
                |entry: &(Value, Value)| Ok((fit(entry.0.clone(), key, slot)?, fit(entry.1.clone(), value, slot)?));
            return Ok(Value::Dict(Dict::new(list::try_collect(dict.iter().map(entry))?)?));
        }
        (Value::Tuple(_), BaseType::AnyTuple) => true,
        (value, BaseType::AnyList) => value.is_list(),
        (Value::Enum(_), BaseType::AnyEnum) | (Value::Future(_), BaseType::Future) => true,
        (Value::Object(object), BaseType::Class) => {
            matches!(&ty.detail, Detail::Name(class) if class == object.class_name())
        }
        (Value::Object(_), BaseType::AnyClass | BaseType::Await | BaseType::RRef) => true,
        (Value::Object(_), BaseType::PyObject | BaseType::Capsule) => true,
        _ => false,
    };
    if fits { Ok(value) } else { misfit(&value, ty, slot) }
}

#[cold]
fn misfit(value: &Value, ty: &Type, slot: Slot<'_>) -> Result<Value> {
    match value {
        Value::Object(object) => bail!(Type, "{slot} must be {ty}, not an object of {}", object.class_name()),
        _ => bail!(Type, "{slot} must be {ty}, not {}", value.kind()),
    }
}

/// The list of these values, each of type `element`.
fn list_of(items: Vec<Value>, element: &Type) -> Result<Value> {
    let wrong = || err!(Internal, "an element of a list is not {element}");
    let scalars = |items: Vec<Value>| {
        list::try_collect(items.into_iter().map(|item| match item {
            Value::Scalar(scalar) => Ok(scalar),
            _ => Err(wrong()),
        }))
    };
    if element.optional && element.base != BaseType::Tensor {
        return Ok(Value::List(Items::new(items)?));
    }
    Ok(match (element.base, element.is_list()) {
        (BaseType::Tensor, false) => Value::Tensors(list::try_collect(items.into_iter().map(|item| match item {
            Value::Tensor(tensor) => Ok(Some(tensor)),
            Value::None => Ok(None),
            _ => Err(wrong()),
        }))?),
        (BaseType::Str, false) => Value::Strings(list::try_collect(items.into_iter().map(|item| match item {
            Value::Str(text) => Ok(text),
            _ => Err(wrong()),
        }))?),
        (BaseType::Int, false) => Value::Ints(scalars(items)?.into_iter().map(Scalar::to_i64).collect()),
        (BaseType::Float, false) => Value::Floats(list::collect(scalars(items)?.into_iter().map(Scalar::to_f64))?),
        (BaseType::Bool, false) => Value::Bools(list::collect(scalars(items)?.into_iter().map(Scalar::to_bool))?),
        (BaseType::Scalar | BaseType::Complex, false) => Value::Scalars(scalars(items)?),
        _ => Value::List(Items::new(items)?),
    })
}

/// A number where a tensor is expected: scripts write `x + 1`.
fn wrapped_number(scalar: Scalar) -> Result<Tensor> {
    let number = ops::full(&[], scalar, Options::of(scalar.dtype()))?;
    number.set_wrapped_number(true)?;
    Ok(number)
}

/// Whether values of this type are numbers, or are known by a number.
fn is_numbered(base: BaseType) -> bool {
    use BaseType::{Bool, Complex, Float, Int, Layout, MemoryFormat, QScheme, Scalar, ScalarType};
    matches!(base, Bool | Complex | Float | Int | Layout | MemoryFormat | QScheme | Scalar | ScalarType)
}

fn fit_scalar(scalar: Scalar, base: BaseType, slot: Slot<'_>) -> Result<Value> {
    let code = || i32::try_from(scalar.to_i64()).unwrap_or(-1);
    let integral = matches!(scalar, Scalar::Int(_) | Scalar::Bool(_));
    match base {
        BaseType::Scalar => Ok(Value::Scalar(scalar)),
        BaseType::Float if !matches!(scalar, Scalar::Complex(_)) => Ok(Value::Scalar(Scalar::Float(scalar.to_f64()))),
        BaseType::Int if integral => Ok(Value::Scalar(Scalar::Int(scalar.to_i64()))),
        BaseType::Bool if matches!(scalar, Scalar::Bool(_) | Scalar::Int(0 | 1)) => Ok(scalar.to_bool().into()),
        BaseType::ScalarType if integral => Ok(DType::from_code(code())?.into()),
        BaseType::Complex => Ok(Value::Scalar(Scalar::Complex(scalar.to_complex()))),
        BaseType::QScheme if integral => Ok(QScheme::from_code(code())?.into()),
        BaseType::Layout if integral => Ok(Layout::from_code(code())?.into()),
        BaseType::MemoryFormat if integral => Ok(MemoryFormat::from_code(code())?.into()),
        _ => Err(err!(Type, "{slot} must be {}, not {}", base.name(), Value::Scalar(scalar).kind())),
    }
}

/// A list of numbers of any kind, as languages without types have it, where a list of one kind is expected.
fn fit_scalars(scalars: &[Scalar], ty: &Type, slot: Slot<'_>) -> Result<Value> {
    let misfit = || err!(Type, "{slot} must be {ty}, not Scalar[]");
    let fitted = scalars.iter().map(|scalar| match fit_scalar(*scalar, ty.base, slot)? {
        Value::Scalar(fitted) => Ok(fitted),
        _ => Err(misfit()),
    });
    let fitted: Vec<Scalar> = fitted.collect::<Result<_>>()?;
    match ty.base {
        BaseType::Int => Ok(Value::Ints(fitted.iter().map(|scalar| scalar.to_i64()).collect())),
        BaseType::Float => Ok(Value::Floats(fitted.iter().map(|scalar| scalar.to_f64()).collect())),
        BaseType::Bool => Ok(Value::Bools(fitted.iter().map(|scalar| scalar.to_bool()).collect())),
        BaseType::Complex => Ok(Value::Scalars(fitted)),
        _ => Err(misfit()),
    }
}

fn empty_list(base: BaseType) -> Result<Value> {
    Ok(match base {
        BaseType::Tensor => Value::Tensors(Vec::new()),
        BaseType::Float => Value::Floats(Vec::new()),
        BaseType::Bool => Value::Bools(Vec::new()),
        BaseType::Scalar | BaseType::Complex => Value::Scalars(Vec::new()),
        BaseType::Str => Value::Strings(Vec::new()),
        BaseType::Int => Value::Ints(Ints::new()),
        _ => Value::List(Items::new(Vec::new())?),
    })
}

/// The default value of an argument of type `ty`.
pub(super) fn default_value(default: &SchemaDefault, ty: &Type) -> Result<Value> {
    Ok(match default {
        SchemaDefault::None => Value::None,
        SchemaDefault::Bool(flag) if ty.is_list() => Value::Bools(vec![*flag; list_length(ty)]),
        SchemaDefault::Bool(flag) => Value::from(*flag),
        SchemaDefault::Int(int) if ty.is_list() => Value::Ints(Ints::from_elem(*int, list_length(ty))),
        SchemaDefault::Int(int) if ty.base == BaseType::Int || ty.base == BaseType::Scalar => Value::from(*int),
        SchemaDefault::Int(int) => fit(Value::from(*int), ty, Slot::Default)?,
        SchemaDefault::Float(float) => Value::from(*float),
        SchemaDefault::Str(text) if ty.base == BaseType::Device => fit(Value::from(&**text), ty, Slot::Default)?,
        SchemaDefault::Str(text) => Value::from(&**text),
        SchemaDefault::List(items) if items.is_empty() => empty_list(ty.base)?,
        SchemaDefault::List(items) => {
            let element = ty.element().unwrap_or_else(|| Type::plain(BaseType::Any));
            list_of(list::try_collect(items.iter().map(|item| default_value(item, &element)))?, &element)?
        }
        SchemaDefault::Constant(constant) => constant_value(*constant),
    })
}

fn list_length(ty: &Type) -> usize {
    ty.list.and_then(|list| list.size).unwrap_or(1)
}

fn constant_value(constant: Constant) -> Value {
    let number = constant.value();
    match constant.base() {
        BaseType::ScalarType => Value::from(DType::from_code(number as i32).ok()),
        BaseType::Layout => Value::from(Layout::from_code(number as i32).ok()),
        BaseType::MemoryFormat => Value::from(MemoryFormat::from_code(number as i32).ok()),
        _ => Value::from(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_schema::Signature;

    fn fitted(value: Value, ty: &str) -> Result<Value> {
        let signature: Signature = format!("f({ty} x) -> ()").parse().unwrap();
        fit(value, &signature.arguments[0].ty, Slot::Argument("x"))
    }

    fn list(items: Vec<Value>) -> Value {
        Value::List(Items::new(items).unwrap())
    }

    fn ints(ints: &[i64]) -> Value {
        Value::from(ints)
    }

    #[test]
    fn containers_fit_their_types_and_are_converted() {
        let nested = list(vec![ints(&[1, 2]), list(vec![3i64.into()])]);
        assert_eq!(fitted(nested, "int[][]").unwrap(), list(vec![ints(&[1, 2]), ints(&[3])]));
        assert_eq!(fitted(list(vec!["a".into()]), "str[]").unwrap(), Value::Strings(vec!["a".into()]));
        assert_eq!(fitted(list(vec![1i64.into(), 2.5.into()]), "float[]").unwrap(), Value::Floats(vec![1.0, 2.5]));
        let pair = Value::Tuple(Items::new(vec![1i64.into(), "a".into()]).unwrap());
        assert_eq!(fitted(pair.clone(), "(int, str)").unwrap(), pair);
        assert_eq!(fitted(pair.clone(), "(int, int)").unwrap_err().message(), "argument 'x' must be int, not str");
        assert!(fitted(pair, "(int, str, str)").is_err());
        let dict = |value: Value| Value::Dict(Dict::new(vec![("a".into(), value)]).unwrap());
        assert_eq!(fitted(dict(1i64.into()), "Dict(str, float)").unwrap(), dict(1.0.into()));
        assert!(fitted(dict(1i64.into()), "Dict(int, t)").is_err());
    }

    #[test]
    fn empty_lists_fit_every_list() {
        assert_eq!(fitted(list(Vec::new()), "int[]").unwrap(), ints(&[]));
        assert_eq!(fitted(ints(&[]), "str[]").unwrap(), Value::Strings(Vec::new()));
        assert_eq!(fitted(ints(&[]), "int[][]").unwrap(), list(Vec::new()));
    }

    #[test]
    fn open_types_take_what_they_name() {
        assert_eq!(fitted("a".into(), "Any").unwrap(), "a".into());
        assert_eq!(fitted(ints(&[1]), "t[]").unwrap(), ints(&[1]));
        assert_eq!(fitted(1i64.into(), "Union[str, float]").unwrap(), 1.0.into());
        assert!(fitted(Value::None, "Union[str, float]").is_err());
        assert_eq!(fitted(Value::None, "NoneType").unwrap(), Value::None);
        assert_eq!(fitted(2i64.into(), "QScheme").unwrap(), QScheme::PerTensorSymmetric.into());
        assert_eq!(fitted(2i64.into(), "complex").unwrap().kind(), "complex");
        let object = || Value::from(super::super::Object::new("__torch__.my.C", ()).unwrap());
        assert!(fitted(object(), "__torch__.my.C").is_ok());
        let error = fitted(object(), "__torch__.my.D").unwrap_err();
        assert_eq!(error.message(), "argument 'x' must be __torch__.my.D, not an object of __torch__.my.C");
        assert!(fitted(1i64.into(), "Future(t)").is_err());
    }

    #[test]
    fn defaults_have_the_declared_type() {
        let default = |argument: &str| {
            let signature: Signature = format!("f({argument}) -> ()").parse().unwrap();
            let argument = &signature.arguments[0];
            default_value(argument.default.as_ref().unwrap(), &argument.ty).unwrap()
        };
        assert_eq!(default("MemoryFormat x=1"), MemoryFormat::Preserve.into());
        assert_eq!(default("Device x=\"cpu\""), rushlight_base::Device::CPU.into());
        assert_eq!(default("int[][] x=[[1, 2], []]"), list(vec![ints(&[1, 2]), ints(&[])]));
        assert_eq!(default("float[] x=[1, 2.5]"), Value::Floats(vec![1.0, 2.5]));
        assert_eq!(default("str[] x=[\"a\"]"), Value::Strings(vec!["a".into()]));
        assert_eq!(default("bool[3] x=True"), Value::Bools(vec![true; 3]));
    }
}
