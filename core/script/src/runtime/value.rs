//! The values of programs. Lists, dicts and objects are shared by their copies and can be changed, as in Python;
//! tuples, strings and members of an Enum cannot.

use super::dict::Dict;
use super::list::List;
use super::object::{EnumValue, Future, Object, Tuple};
use crate::classes::resolved;
use crate::types::{EnumType, Type};
use rushlight_base::{Complex, Device, Result, Storage, err};
use rushlight_tensor::dispatch::{self, Stream};
use rushlight_tensor::{Generator, Tensor};
use std::fmt;
use std::sync::Arc;

/// A value of a program. dtypes, layouts and memory formats are ints, as in PyTorch.
#[derive(Clone, Default)]
pub enum Value {
    /// None
    #[default]
    None,
    /// bool
    Bool(bool),
    /// int
    Int(i64),
    /// float
    Float(f64),
    /// complex
    Complex(Complex<f64>),
    /// str, in bytes: an index counts bytes, and a string need not be UTF-8.
    Str(Arc<[u8]>),
    /// Tensor
    Tensor(Tensor),
    /// List[T]
    List(List),
    /// Dict[K, V]
    Dict(Dict),
    /// A tuple or NamedTuple.
    Tuple(Tuple),
    /// An instance of a class or module of the program.
    Object(Object),
    /// A member of an Enum.
    Enum(EnumValue),
    /// Future[T]
    Future(Future),
    /// Device
    Device(Device),
    /// Generator
    Generator(Generator),
    /// Stream
    Stream(Stream),
    /// Storage
    Storage(Storage),
    /// An instance of a class that is not written in TorchScript, such as packed parameters.
    Custom(dispatch::Object),
}

// Registers are arrays of values.
const _: () = assert!(size_of::<Value>() <= 24);

impl Value {
    /// The name of the type, for messages: `int`, `Tensor`.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::None => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Complex(_) => "complex",
            Value::Str(_) => "str",
            Value::Tensor(_) => "Tensor",
            Value::List(_) => "list",
            Value::Dict(_) => "dict",
            Value::Tuple(_) => "tuple",
            Value::Object(_) => "object",
            Value::Enum(_) => "Enum",
            Value::Future(_) => "Future",
            Value::Device(_) => "Device",
            Value::Generator(_) => "Generator",
            Value::Stream(_) => "Stream",
            Value::Storage(_) => "Storage",
            Value::Custom(_) => "custom class",
        }
    }

    /// A string.
    pub fn str(text: impl AsRef<[u8]>) -> Value {
        Value::Str(text.as_ref().into())
    }

    /// Whether this is None.
    pub fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }

    /// Whether dropping the value may drop other values.
    pub(crate) fn is_container(&self) -> bool {
        matches!(self, Value::List(_) | Value::Dict(_) | Value::Tuple(_) | Value::Object(_) | Value::Future(_))
    }

    /// The type of the value. The elements of containers decide where the container does not know its type.
    pub fn type_of(&self) -> Type {
        self.type_within(MAX_TYPE_DEPTH)
    }

    pub(crate) fn type_within(&self, depth: usize) -> Type {
        match self {
            Value::None => Type::None,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Float(_) => Type::Float,
            Value::Complex(_) => Type::Complex,
            Value::Str(_) => Type::Str,
            Value::Tensor(_) => Type::Tensor,
            Value::List(list) => list.element().clone().list(),
            Value::Dict(dict) => Type::Dict(Arc::new((dict.key_type().clone(), dict.value_type().clone()))),
            Value::Tuple(tuple) => match tuple.class() {
                Some(class) => Type::NamedTuple(class.clone()),
                None if depth == 0 => Type::AnyTuple,
                None => Type::tuple(tuple.items().iter().map(|item| item.type_within(depth - 1)).collect::<Vec<_>>()),
            },
            Value::Object(object) => Type::Class(object.class().name.clone()),
            Value::Enum(member) => {
                let value = member.value().type_within(0);
                Type::Enum(Arc::new(EnumType { name: member.class().clone(), value }))
            }
            Value::Future(_) => Type::Any.future(),
            Value::Device(_) => Type::Device,
            Value::Generator(_) => Type::Generator,
            Value::Stream(_) => Type::Stream,
            Value::Storage(_) => Type::Capsule,
            Value::Custom(object) => Type::Class(object.class_name().into()),
        }
    }

    /// Whether both are the same object: the operator `is`. Values without identity are compared by value.
    pub fn is(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::None, Value::None) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Complex(a), Value::Complex(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => Arc::ptr_eq(a, b),
            (Value::Tensor(a), Value::Tensor(b)) => a.is(b),
            (Value::List(a), Value::List(b)) => a.is(b),
            (Value::Dict(a), Value::Dict(b)) => a.is(b),
            (Value::Tuple(a), Value::Tuple(b)) => a.is(b),
            (Value::Object(a), Value::Object(b)) => a.is(b),
            (Value::Enum(a), Value::Enum(b)) => a == b,
            (Value::Future(a), Value::Future(b)) => a.is(b),
            (Value::Device(a), Value::Device(b)) => a == b,
            (Value::Generator(a), Value::Generator(b)) => a.is(b),
            (Value::Stream(a), Value::Stream(b)) => a == b,
            (Value::Storage(a), Value::Storage(b)) => a.is(b),
            (Value::Custom(a), Value::Custom(b)) => resolved(a).is(resolved(b)),
            _ => false,
        }
    }
}

/// How deep tuples are looked into for their type.
const MAX_TYPE_DEPTH: usize = 64;

/// Without the contents of containers, which may contain themselves.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => f.write_str("None"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Complex(value) => write!(f, "{value}j"),
            Value::Str(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
            Value::List(list) => write!(f, "list of {}", list.len()),
            Value::Dict(dict) => write!(f, "dict of {}", dict.len()),
            Value::Tuple(tuple) => write!(f, "tuple of {}", tuple.items().len()),
            Value::Object(object) => write!(f, "object of {}", object.class().name),
            other => f.write_str(other.kind()),
        }
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Value {
                Value::$variant(value)
            }
        }
    )*};
}

from! {
    bool => Bool, i64 => Int, f64 => Float, Complex<f64> => Complex, Tensor => Tensor, List => List, Dict => Dict,
    Tuple => Tuple, Object => Object, EnumValue => Enum, Future => Future, Device => Device, Generator => Generator,
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::str(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::str(text)
    }
}

impl From<Vec<u8>> for Value {
    fn from(text: Vec<u8>) -> Value {
        Value::Str(text.into())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::None, Into::into)
    }
}

macro_rules! accessors {
    ($($(#[$doc:meta])* $name:ident: $variant:ident($type:ty), $expected:literal;)*) => {
        impl Value {$(
            $(#[$doc])*
            #[inline]
            pub fn $name(&self) -> Result<&$type> {
                match self {
                    Value::$variant(value) => Ok(value),
                    other => Err(other.is_not($expected)),
                }
            }
        )*}
    };
}

accessors! {
    /// The tensor.
    as_tensor: Tensor(Tensor), "Tensor";
    /// The list.
    as_list: List(List), "list";
    /// The dict.
    as_dict: Dict(Dict), "dict";
    /// The tuple.
    as_tuple: Tuple(Tuple), "tuple";
    /// The object.
    as_object: Object(Object), "object";
    /// The string, in bytes.
    as_bytes: Str(Arc<[u8]>), "str";
    /// The member of an Enum.
    as_enum: Enum(EnumValue), "Enum";
}

impl Value {
    #[cold]
    pub(crate) fn is_not(&self, expected: &str) -> rushlight_base::Error {
        err!(Type, "expected a value of type {expected}, but found {}", self.kind())
    }

    /// The int; a bool is 0 or 1.
    #[inline]
    pub fn as_int(&self) -> Result<i64> {
        match self {
            Value::Int(value) => Ok(*value),
            Value::Bool(value) => Ok(i64::from(*value)),
            other => Err(other.is_not("int")),
        }
    }

    /// The float; an int is converted.
    #[inline]
    pub fn as_float(&self) -> Result<f64> {
        match self {
            Value::Float(value) => Ok(*value),
            Value::Int(value) => Ok(*value as f64),
            Value::Bool(value) => Ok(f64::from(u8::from(*value))),
            other => Err(other.is_not("float")),
        }
    }

    /// The bool.
    #[inline]
    pub fn as_bool(&self) -> Result<bool> {
        match self {
            Value::Bool(value) => Ok(*value),
            Value::Int(value) => Ok(*value != 0),
            other => Err(other.is_not("bool")),
        }
    }

    /// The complex number; a real number is converted.
    pub fn as_complex(&self) -> Result<Complex<f64>> {
        match self {
            Value::Complex(value) => Ok(*value),
            other => other.as_float().map(|real| Complex::new(real, 0.0)).map_err(|_| other.is_not("complex")),
        }
    }

    /// The string. An error if it is not UTF-8.
    pub fn as_str(&self) -> Result<&str> {
        std::str::from_utf8(self.as_bytes()?).map_err(|_| err!(Value, "a string that is not UTF-8"))
    }
}
