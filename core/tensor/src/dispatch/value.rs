//! Boxed values: what layers, calls by name and run-time operators pass around.

use crate::generator::Generator;
use crate::tensor::Tensor;
use rushlight_base::{DType, Device, DimVec, Layout, MemoryFormat, Scalar, SmallVec};
use std::sync::Arc;

/// Any argument or result of an operator.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// No value where a schema says `?`.
    #[default]
    None,
    /// A number: `bool`, `int`, `float` and `Scalar` alike.
    Scalar(Scalar),
    /// A string.
    Str(Arc<str>),
    /// `ScalarType`
    DType(DType),
    /// `Layout`
    Layout(Layout),
    /// `Device`
    Device(Device),
    /// `MemoryFormat`
    MemoryFormat(MemoryFormat),
    /// `Generator`
    Generator(Generator),
    /// `Tensor`
    Tensor(Tensor),
    /// `Tensor[]` and `Tensor?[]`
    Tensors(Vec<Option<Tensor>>),
    /// `int[]`
    Ints(DimVec),
    /// `float[]`
    Floats(Vec<f64>),
    /// `bool[]`
    Bools(Vec<bool>),
    /// `Scalar[]`
    Scalars(Vec<Scalar>),
}

impl Value {
    /// What kind of value this is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::None => "None",
            Value::Scalar(Scalar::Bool(_)) => "bool",
            Value::Scalar(Scalar::Int(_) | Scalar::UInt(_)) => "int",
            Value::Scalar(Scalar::Float(_)) => "float",
            Value::Scalar(Scalar::Complex(_)) => "complex",
            Value::Str(_) => "str",
            Value::DType(_) => "ScalarType",
            Value::Layout(_) => "Layout",
            Value::Device(_) => "Device",
            Value::MemoryFormat(_) => "MemoryFormat",
            Value::Generator(_) => "Generator",
            Value::Tensor(_) => "Tensor",
            Value::Tensors(_) => "Tensor[]",
            Value::Ints(_) => "int[]",
            Value::Floats(_) => "float[]",
            Value::Bools(_) => "bool[]",
            Value::Scalars(_) => "Scalar[]",
        }
    }

    /// Is this None?
    pub fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }

    /// Call `visit` for each tensor in this value.
    pub fn for_each_tensor(&self, mut visit: impl FnMut(&Tensor)) {
        match self {
            Value::Tensor(tensor) => visit(tensor),
            Value::Tensors(tensors) => tensors.iter().flatten().for_each(visit),
            _ => {}
        }
    }
}

macro_rules! from_variant {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Value {
                Value::$variant(value)
            }
        }
    )*};
}

from_variant! {
    Scalar => Scalar, DType => DType, Layout => Layout, Device => Device, MemoryFormat => MemoryFormat,
    Generator => Generator, Tensor => Tensor, DimVec => Ints, Vec<f64> => Floats, Vec<bool> => Bools,
    Vec<Scalar> => Scalars,
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Scalar(Scalar::Bool(value))
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Scalar(Scalar::Int(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Scalar(Scalar::Float(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Str(value.into())
    }
}

impl From<&Tensor> for Value {
    fn from(value: &Tensor) -> Value {
        Value::Tensor(value.clone())
    }
}

impl From<&Generator> for Value {
    fn from(value: &Generator) -> Value {
        Value::Generator(value.clone())
    }
}

impl From<&[i64]> for Value {
    fn from(value: &[i64]) -> Value {
        Value::Ints(DimVec::from_slice(value))
    }
}

impl From<&[f64]> for Value {
    fn from(value: &[f64]) -> Value {
        Value::Floats(value.to_vec())
    }
}

impl From<&[bool]> for Value {
    fn from(value: &[bool]) -> Value {
        Value::Bools(value.to_vec())
    }
}

impl From<&[Scalar]> for Value {
    fn from(value: &[Scalar]) -> Value {
        Value::Scalars(value.to_vec())
    }
}

impl From<&[&Tensor]> for Value {
    fn from(value: &[&Tensor]) -> Value {
        Value::Tensors(value.iter().map(|tensor| Some((*tensor).clone())).collect())
    }
}

impl From<&[Option<&Tensor>]> for Value {
    fn from(value: &[Option<&Tensor>]) -> Value {
        Value::Tensors(value.iter().map(|tensor| tensor.cloned()).collect())
    }
}

impl From<Vec<Tensor>> for Value {
    fn from(value: Vec<Tensor>) -> Value {
        Value::Tensors(value.into_iter().map(Some).collect())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::None, Into::into)
    }
}

/// A Rust type that an argument can be boxed from.
pub trait ToValue {
    /// The argument boxed.
    fn to_value(&self) -> Value;
}

impl<T: Into<Value> + Copy> ToValue for T {
    fn to_value(&self) -> Value {
        (*self).into()
    }
}

/// A Rust type that an argument can be unboxed to.
pub trait FromValue<'a>: Sized {
    /// The name of the type in schemas, for messages.
    const EXPECTED: &'static str;

    /// The value, if it is of this type.
    fn from_value(value: &'a Value) -> Option<Self>;
}

impl<'a, T: FromValue<'a>> FromValue<'a> for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    fn from_value(value: &'a Value) -> Option<Option<T>> {
        if value.is_none() { Some(None) } else { T::from_value(value).map(Some) }
    }
}

macro_rules! unbox {
    ($($type:ty, $expected:literal, $value:ident => { $($arm:tt)* })*) => {$(
        impl<'a> FromValue<'a> for $type {
            const EXPECTED: &'static str = $expected;
            fn from_value($value: &'a Value) -> Option<$type> {
                match $value {
                    $($arm)*
                    _ => None,
                }
            }
        }
    )*};
}

unbox! {
    &'a Tensor, "Tensor", value => { Value::Tensor(tensor) => Some(tensor), }
    Tensor, "Tensor", value => { Value::Tensor(tensor) => Some(tensor.clone()), }
    &'a Generator, "Generator", value => { Value::Generator(generator) => Some(generator), }
    &'a str, "str", value => { Value::Str(text) => Some(text), }
    Scalar, "Scalar", value => { Value::Scalar(scalar) => Some(*scalar), }
    i64, "int", value => { Value::Scalar(Scalar::Int(int)) => Some(*int), Value::Scalar(Scalar::Bool(flag)) => Some(i64::from(*flag)), }
    f64, "float", value => { Value::Scalar(scalar @ (Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_))) => Some(scalar.to_f64()), }
    bool, "bool", value => { Value::Scalar(Scalar::Bool(flag)) => Some(*flag), Value::Scalar(Scalar::Int(int @ 0..=1)) => Some(*int == 1), }
    DType, "ScalarType", value => { Value::DType(dtype) => Some(*dtype), Value::Scalar(Scalar::Int(code)) => DType::from_code(i32::try_from(*code).ok()?).ok(), }
    Layout, "Layout", value => { Value::Layout(layout) => Some(*layout), Value::Scalar(Scalar::Int(code)) => Layout::from_code(i32::try_from(*code).ok()?).ok(), }
    MemoryFormat, "MemoryFormat", value => { Value::MemoryFormat(format) => Some(*format), Value::Scalar(Scalar::Int(code)) => MemoryFormat::from_code(i32::try_from(*code).ok()?).ok(), }
    Device, "Device", value => { Value::Device(device) => Some(*device), Value::Str(text) => Device::parse(text).ok(), }
    SmallVec<[&'a Tensor; 8]>, "Tensor[]", value => {
        Value::Tensors(tensors) => tensors.iter().map(Option::as_ref).collect(),
        Value::Ints(none) if none.is_empty() => Some(SmallVec::new()),
    }
    Vec<Tensor>, "Tensor[]", value => { Value::Tensors(tensors) => tensors.iter().cloned().collect(), }
    SmallVec<[Option<&'a Tensor>; 8]>, "Tensor?[]", value => { Value::Tensors(tensors) => Some(tensors.iter().map(Option::as_ref).collect()), }
    DimVec, "int[]", value => {
        Value::Ints(ints) => Some(ints.clone()),
        Value::Scalar(Scalar::Int(int)) => Some(DimVec::from_elem(*int, 1)),
    }
    Vec<f64>, "float[]", value => {
        Value::Floats(floats) => Some(floats.clone()),
        Value::Ints(ints) => Some(ints.iter().map(|int| *int as f64).collect()),
    }
    Vec<bool>, "bool[]", value => { Value::Bools(bools) => Some(bools.clone()), Value::Ints(none) if none.is_empty() => Some(Vec::new()), }
    Vec<Scalar>, "Scalar[]", value => {
        Value::Scalars(scalars) => Some(scalars.clone()),
        Value::Ints(ints) => Some(ints.iter().map(|int| Scalar::Int(*int)).collect()),
        Value::Floats(floats) => Some(floats.iter().map(|float| Scalar::Float(*float)).collect()),
    }
}
