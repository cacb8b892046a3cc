//! Boxed values, used by layers, calls by name and run-time operators.

use super::containers::{Dict, Items};
use super::lent::LentValues;
use super::object::{EnumValue, Future, Object, QScheme, Stream};
use crate::generator::Generator;
use crate::tensor::Tensor;
use rushlight_base::{DType, Device, DimVec, Layout, MemoryFormat, Result, Scalar, SmallVec, Storage};
use std::sync::Arc;

/// A list of integers: two, such as a kernel size, need no allocation.
pub type Ints = SmallVec<[i64; 2]>;

// Arguments and results are arrays of values, which each call fills and releases.
const _: () = assert!(size_of::<Value>() <= 32);

/// Any argument or result of an operator.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// None, if the schema has `?`.
    #[default]
    None,
    /// A number: `bool`, `int`, `float` and `Scalar`.
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
    Ints(Ints),
    /// `float[]`
    Floats(Vec<f64>),
    /// `bool[]`
    Bools(Vec<bool>),
    /// `Scalar[]`
    Scalars(Vec<Scalar>),
    /// `str[]`
    Strings(Vec<Arc<str>>),
    /// Any other list: `int[][]`, `Dict(str, int)[]`
    List(Items),
    /// `(int, Tensor)`
    Tuple(Items),
    /// `Dict(str, t)`
    Dict(Dict),
    /// An instance of a class.
    Object(Object),
    /// `Future(t)`
    Future(Future),
    /// A member of an enumeration.
    Enum(EnumValue),
    /// `Stream`
    Stream(Stream),
    /// `Storage`
    Storage(Storage),
    /// `QScheme`
    QScheme(QScheme),
}

impl Value {
    /// The kind of this value, for messages.
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
            Value::Strings(_) => "str[]",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Dict(_) => "Dict",
            Value::Object(_) => "object",
            Value::Future(_) => "Future",
            Value::Enum(_) => "Enum",
            Value::Stream(_) => "Stream",
            Value::Storage(_) => "Storage",
            Value::QScheme(_) => "QScheme",
        }
    }

    /// Whether this is None.
    pub fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }

    /// Whether dropping this value does nothing.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        matches!(
            self,
            Value::None
                | Value::Scalar(_)
                | Value::DType(_)
                | Value::Layout(_)
                | Value::Device(_)
                | Value::MemoryFormat(_)
                | Value::Stream(_)
                | Value::QScheme(_)
        )
    }

    /// Takes the tensor out of the value, which is None then. `None` if it is no tensor.
    #[inline]
    pub fn take_tensor(&mut self) -> Option<Tensor> {
        let Value::Tensor(tensor) = self else { return None };
        // SAFETY: the tensor is moved out here, and the value that held it is overwritten without being dropped.
        unsafe {
            let taken = std::ptr::read(tensor);
            std::ptr::write(self, Value::None);
            Some(taken)
        }
    }

    /// Whether this is a list.
    pub fn is_list(&self) -> bool {
        self.list_len().is_some()
    }

    /// Whether this is a list without elements: it is of no kind.
    pub fn is_empty_list(&self) -> bool {
        self.list_len() == Some(0)
    }

    fn list_len(&self) -> Option<usize> {
        Some(match self {
            Value::Tensors(list) => list.len(),
            Value::Ints(list) => list.len(),
            Value::Floats(list) => list.len(),
            Value::Bools(list) => list.len(),
            Value::Scalars(list) => list.len(),
            Value::Strings(list) => list.len(),
            Value::List(list) => list.len(),
            _ => return None,
        })
    }

    /// Calls `visit` for each tensor in this value. Keys of dicts and the contents of objects and futures are
    /// not visited.
    #[inline]
    pub fn for_each_tensor(&self, mut visit: impl FnMut(&Tensor)) {
        match self {
            Value::Tensor(tensor) => visit(tensor),
            Value::Tensors(tensors) => tensors.iter().flatten().for_each(visit),
            Value::List(_) | Value::Tuple(_) | Value::Dict(_) => self.visit_nested(&mut visit),
            _ => {}
        }
    }

    // The depth of a value is limited to `MAX_DEPTH`.
    fn visit_nested(&self, visit: &mut dyn FnMut(&Tensor)) {
        match self {
            Value::List(items) | Value::Tuple(items) => items.iter().for_each(|item| item.visit_nested(visit)),
            Value::Dict(dict) => dict.iter().for_each(|(_, value)| value.visit_nested(visit)),
            Value::Tensor(tensor) => visit(tensor),
            Value::Tensors(tensors) => tensors.iter().flatten().for_each(visit),
            _ => {}
        }
    }

    /// Calls `visit` for each tensor in this value, which may replace it. It stops at the first error.
    pub fn try_for_each_tensor_mut(&mut self, visit: &mut dyn FnMut(&mut Tensor) -> Result<()>) -> Result<()> {
        match self {
            Value::Tensor(tensor) => visit(tensor),
            Value::Tensors(tensors) => tensors.iter_mut().flatten().try_for_each(visit),
            Value::List(items) | Value::Tuple(items) => {
                items.values_mut().iter_mut().try_for_each(|item| item.try_for_each_tensor_mut(visit))
            }
            Value::Dict(dict) => {
                dict.entries_mut().iter_mut().try_for_each(|(_, value)| value.try_for_each_tensor_mut(visit))
            }
            _ => Ok(()),
        }
    }
}

/// Tensors, generators, objects, futures and storages are equal if they are the same one.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        let same = |a: &Option<Tensor>, b: &Option<Tensor>| match (a, b) {
            (Some(a), Some(b)) => a.is(b),
            (a, b) => a.is_none() && b.is_none(),
        };
        match (self, other) {
            (Value::None, Value::None) => true,
            (Value::Scalar(a), Value::Scalar(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::DType(a), Value::DType(b)) => a == b,
            (Value::Layout(a), Value::Layout(b)) => a == b,
            (Value::Device(a), Value::Device(b)) => a == b,
            (Value::MemoryFormat(a), Value::MemoryFormat(b)) => a == b,
            (Value::Generator(a), Value::Generator(b)) => a.is(b),
            (Value::Tensor(a), Value::Tensor(b)) => a.is(b),
            (Value::Tensors(a), Value::Tensors(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
            (Value::Ints(a), Value::Ints(b)) => a == b,
            (Value::Floats(a), Value::Floats(b)) => a == b,
            (Value::Bools(a), Value::Bools(b)) => a == b,
            (Value::Scalars(a), Value::Scalars(b)) => a == b,
            (Value::Strings(a), Value::Strings(b)) => a == b,
            (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => a == b,
            (Value::Dict(a), Value::Dict(b)) => a == b,
            (Value::Object(a), Value::Object(b)) => a.is(b),
            (Value::Future(a), Value::Future(b)) => a.is(b),
            (Value::Enum(a), Value::Enum(b)) => a == b,
            (Value::Stream(a), Value::Stream(b)) => a == b,
            (Value::Storage(a), Value::Storage(b)) => a.is(b),
            (Value::QScheme(a), Value::QScheme(b)) => a == b,
            _ => false,
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
    Generator => Generator, Tensor => Tensor, Ints => Ints, Vec<f64> => Floats, Vec<bool> => Bools,
    Vec<Scalar> => Scalars, Vec<Arc<str>> => Strings, Dict => Dict, Object => Object, Future => Future,
    EnumValue => Enum, Stream => Stream, Storage => Storage, QScheme => QScheme,
}

impl From<DimVec> for Value {
    fn from(value: DimVec) -> Value {
        Value::from(&*value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Str(value.into())
    }
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
        Value::Ints(Ints::from_slice(value))
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

/// A parameter type of typed functions, as an argument of a boxed call.
pub trait ToValue {
    /// Appends the argument. A tensor is lent.
    fn lend<'a>(&'a self, values: &mut LentValues<'a>);
}

impl ToValue for &Tensor {
    fn lend<'a>(&'a self, values: &mut LentValues<'a>) {
        values.lend(self);
    }
}

impl ToValue for Option<&Tensor> {
    fn lend<'a>(&'a self, values: &mut LentValues<'a>) {
        match self {
            Some(tensor) => values.lend(tensor),
            None => values.push(Value::None),
        }
    }
}

macro_rules! to_value {
    ($($type:ty),* $(,)?) => {$(
        impl ToValue for $type {
            fn lend<'a>(&'a self, values: &mut LentValues<'a>) {
                values.push(Value::from(*self));
            }
        }

        impl ToValue for Option<$type> {
            fn lend<'a>(&'a self, values: &mut LentValues<'a>) {
                values.push(Value::from(*self));
            }
        }
    )*};
}

to_value! {
    bool, i64, f64, Scalar, DType, Layout, Device, MemoryFormat, &str, &Generator, &[i64], &[f64], &[bool], &[Scalar],
    &[&Tensor], &[Option<&Tensor>],
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

impl<'a> FromValue<'a> for &'a Value {
    const EXPECTED: &'static str = "Any";
    fn from_value(value: &'a Value) -> Option<&'a Value> {
        Some(value)
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
    String, "str", value => { Value::Str(text) => Some(text.to_string()), }
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
        Value::Ints(ints) => Some(DimVec::from_slice(ints)),
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
