//! Calls by name: interpreters, custom operators and `rlt_op_call` find operators here, built-in and run-time
//! alike, and have their arguments checked against the schema and filled in.

use super::boxed::{Args, Values};
use super::opdef::{OpDef, full_name};
use super::runtime_ops::{self, RuntimeOp};
use super::value::Value;
use super::{KeySet, active, boxed_op, named_dynamic};
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Layout, MemoryFormat, Result, Scalar, bail, ensure, err};
use rushlight_schema::{BaseType, Constant, Default as SchemaDefault, Signature, Type};
use std::fmt;
use std::sync::Arc;

/// An operator that can be called with boxed arguments.
#[derive(Clone)]
pub enum Op {
    /// A row of the generated table.
    BuiltIn(&'static OpDef),
    /// Defined at run time.
    Runtime(Arc<RuntimeOp>),
}

impl Op {
    /// `add.Tensor`, or `my::op` for a run-time operator.
    pub fn full_name(&self) -> String {
        match self {
            Op::BuiltIn(def) => def.full_name().to_owned(),
            Op::Runtime(op) => op.full_name(),
        }
    }

    /// The signature.
    pub fn signature(&self) -> Result<Signature> {
        match self {
            Op::BuiltIn(def) => parse(def.schema),
            Op::Runtime(op) => Ok(op.signature().clone()),
        }
    }

    /// Call it with all arguments in place, through the layers that are on.
    pub fn call(&self, args: &[Value]) -> Result<Values> {
        match self {
            Op::BuiltIn(def) => (def.call)(Args(args)),
            Op::Runtime(op) => {
                let keys = active(keys_of_values(args));
                if keys.is_boxed() {
                    return boxed_op(self, keys, args.to_vec());
                }
                named_dynamic(&op.full_name(), || op.call_below_layers(keys, args))
            }
        }
    }
}

fn keys_of_values(args: &[Value]) -> KeySet {
    let mut keys = KeySet::EMPTY;
    for value in args {
        value.for_each_tensor(|tensor| keys |= tensor.keys());
    }
    keys
}

fn parse(schema: &str) -> Result<Signature> {
    schema.parse::<Signature>().map_err(|error| err!(Value, "schema '{schema}': {}", error.message()))
}

/// The operator `name` (`add`, `aten::add`, `my::op`) with this overload. An unknown one is an error that says
/// what there is.
pub fn find(name: &str, overload: &str) -> Result<Op> {
    if let Some(op) = runtime_ops::find(name, overload) {
        return Ok(Op::Runtime(op));
    }
    let bare = name.strip_prefix("aten::").or_else(|| name.strip_prefix("rushlight::")).unwrap_or(name);
    if let Some(def) = all().find(|def| def.is(bare, overload)) {
        return Ok(Op::BuiltIn(def));
    }
    Err(unknown(name, bare, overload))
}

#[cold]
fn unknown(name: &str, bare: &str, overload: &str) -> rushlight_base::Error {
    let overloads: Vec<&str> = all().filter(|def| def.name() == bare).map(OpDef::overload).collect();
    if overloads.is_empty() {
        return err!(UnknownOperator, "there is no operator '{name}' in this build");
    }
    err!(
        UnknownOperator,
        "operator '{name}' has no overload '{overload}'; it has: {}",
        overloads.iter().map(|overload| format!("'{overload}'")).collect::<Vec<_>>().join(", ")
    )
}

/// Every built-in operator form, family by family.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    ops::generated::FAMILIES.iter().flat_map(|family| family.iter().copied())
}

/// Call an operator by name. Positional arguments come in the order of the schema; what is given neither by
/// position nor by name takes its default. In-place and out= forms return the tensors they wrote.
pub fn call(name: &str, overload: &str, args: Vec<Value>, kwargs: Vec<(String, Value)>) -> Result<Values> {
    let op = find(name, overload)?;
    let signature = op.signature()?;
    let filled =
        fill(&signature, args, kwargs).map_err(|error| error.context(format_args!("{}", full_name(name, overload))))?;
    op.call(&filled)
}

/// One value for each argument of the signature, checked and with defaults.
pub fn fill(signature: &Signature, args: Vec<Value>, kwargs: Vec<(String, Value)>) -> Result<Vec<Value>> {
    let positional = signature.positional().count();
    ensure!(args.len() <= positional, Type, "expected at most {positional} positional arguments, got {}", args.len());
    let mut given: Vec<Option<Value>> = args.into_iter().map(Some).collect();
    given.resize(signature.arguments.len(), None);
    for (key, value) in kwargs {
        let index = signature.arguments.iter().position(|argument| argument.name == key);
        let Some(index) = index else { bail!(Type, "got an unexpected keyword argument '{key}'") };
        ensure!(given[index].is_none(), Type, "got multiple values for argument '{key}'");
        given[index] = Some(value);
    }
    signature
        .arguments
        .iter()
        .zip(given)
        .map(|(argument, value)| match (value, &argument.default) {
            (Some(value), _) => fit(value, &argument.ty, Slot::Argument(&argument.name)),
            (None, Some(default)) => Ok(default_value(default, &argument.ty)),
            (None, None) if argument.ty.optional => Ok(Value::None),
            (None, None) => Err(err!(Type, "missing value for argument '{}'", argument.name)),
        })
        .collect()
}

/// Where a value goes, for messages.
#[derive(Clone, Copy)]
pub(super) enum Slot<'a> {
    Argument(&'a str),
    Result(usize),
}

impl fmt::Display for Slot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Argument(name) => write!(f, "argument '{name}'"),
            Slot::Result(index) => write!(f, "result {index}"),
        }
    }
}

/// `value` as one of type `ty`: the conversions that PyTorch makes without being asked (a number for a
/// list of one size, an integer for a dtype), or an error that names the argument or result.
pub(super) fn fit(value: Value, ty: &Type, slot: Slot<'_>) -> Result<Value> {
    let fits = match (&value, ty.base, ty.is_list()) {
        (Value::None, ..) => ty.optional,
        (Value::Tensor(_), BaseType::Tensor, false) => true,
        (Value::Tensors(none), _, true) if none.is_empty() => return Ok(empty_list(ty.base)),
        (Value::Tensors(tensors), BaseType::Tensor, true) => {
            let missing = tensors.iter().position(Option::is_none);
            match missing.filter(|_| !ty.list.is_some_and(|list| list.optional_elements)) {
                Some(index) => bail!(Type, "{slot} must be {ty}, but its element {index} is None"),
                None => true,
            }
        }
        (Value::Ints(none), _, true) if none.is_empty() => return Ok(empty_list(ty.base)),
        (Value::Ints(_), BaseType::Int | BaseType::Float | BaseType::Scalar, true) => true,
        (Value::Floats(_), BaseType::Float | BaseType::Scalar, true) => true,
        (Value::Bools(_), BaseType::Bool, true) | (Value::Scalars(_), BaseType::Scalar, true) => true,
        (Value::Scalars(scalars), ..) if ty.is_list() => return fit_scalars(scalars, ty, slot),
        (Value::Scalar(Scalar::Int(int)), BaseType::Int, true) => {
            let length = ty.list.and_then(|list| list.size);
            return length
                .map(|length| Value::Ints(DimVec::from_elem(*int, length)))
                .ok_or_else(|| err!(Type, "{slot} must be int[], not int"));
        }
        (Value::Scalar(scalar), BaseType::Tensor, false) => return Ok(Value::from(&wrapped_number(*scalar)?)),
        (Value::Scalar(scalar), base, false) => return fit_scalar(*scalar, base, slot),
        (Value::Str(text), BaseType::Device, false) => {
            return Ok(Value::Device(rushlight_base::Device::parse(text)?));
        }
        (Value::Str(_), BaseType::Str, false) | (Value::DType(_), BaseType::ScalarType, false) => true,
        (Value::Layout(_), BaseType::Layout, false) | (Value::Device(_), BaseType::Device, false) => true,
        (Value::MemoryFormat(_), BaseType::MemoryFormat, false) => true,
        (Value::Generator(_), BaseType::Generator, false) => true,
        _ => false,
    };
    ensure!(fits, Type, "{slot} must be {ty}, not {}", value.kind());
    Ok(value)
}

/// A number where a tensor is expected: scripts write `x + 1`.
fn wrapped_number(scalar: Scalar) -> Result<Tensor> {
    let number = ops::full(&[], scalar, Options::of(scalar.dtype()))?;
    number.set_wrapped_number(true)?;
    Ok(number)
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
        _ => Err(misfit()),
    }
}

fn empty_list(base: BaseType) -> Value {
    match base {
        BaseType::Tensor => Value::Tensors(Vec::new()),
        BaseType::Float => Value::Floats(Vec::new()),
        BaseType::Bool => Value::Bools(Vec::new()),
        BaseType::Scalar => Value::Scalars(Vec::new()),
        _ => Value::Ints(DimVec::new()),
    }
}

fn default_value(default: &SchemaDefault, ty: &Type) -> Value {
    match default {
        SchemaDefault::None => Value::None,
        SchemaDefault::Bool(flag) if ty.is_list() => Value::Bools(vec![*flag; list_length(ty)]),
        SchemaDefault::Bool(flag) => Value::from(*flag),
        SchemaDefault::Int(int) if ty.is_list() => Value::Ints(DimVec::from_elem(*int, list_length(ty))),
        SchemaDefault::Int(int) if ty.base == BaseType::Float => Value::from(*int as f64),
        SchemaDefault::Int(int) => Value::from(*int),
        SchemaDefault::Float(float) => Value::from(*float),
        SchemaDefault::Str(text) => Value::from(text.as_str()),
        SchemaDefault::List(items) if items.is_empty() => empty_list(ty.base),
        SchemaDefault::List(items) => default_list(items, ty),
        SchemaDefault::Constant(constant) => constant_value(*constant),
    }
}

fn list_length(ty: &Type) -> usize {
    ty.list.and_then(|list| list.size).unwrap_or(1)
}

fn default_list(items: &[SchemaDefault], ty: &Type) -> Value {
    let numbers = items.iter().map(|item| match item {
        SchemaDefault::Int(int) => Scalar::Int(*int),
        SchemaDefault::Float(float) => Scalar::Float(*float),
        SchemaDefault::Bool(flag) => Scalar::Bool(*flag),
        _ => Scalar::Int(0),
    });
    match ty.base {
        BaseType::Float => Value::Floats(numbers.map(Scalar::to_f64).collect()),
        BaseType::Bool => Value::Bools(numbers.map(Scalar::to_bool).collect()),
        BaseType::Scalar => Value::Scalars(numbers.collect()),
        _ => Value::Ints(numbers.map(Scalar::to_i64).collect()),
    }
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
