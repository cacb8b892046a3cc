//! Values of any type: arguments and results of TorchScript and of calls by name, and the contents of checkpoints.

use crate::{DType, Device, ErrorKind, Generator, Layout, MemoryFormat, Result, Scalar, Tensor};
use rushlight_base::{Complex, SmallVec, err};
use rushlight_tensor::dispatch::{Dict, Items, Value};

/// A value of any type of TorchScript.
///
/// Numbers, strings, tensors and lists convert into it with [`From`], and out of it with [`TryFrom`]:
///
/// ```
/// # use rushlight::{IValue, Tensor};
/// let value = IValue::from(vec![1i64, 2]);
/// assert_eq!(Vec::<i64>::try_from(value)?, [1, 2]);
/// let error = Tensor::try_from(IValue::from("text")).unwrap_err();
/// assert_eq!(error.message(), "expected a Tensor but got a str");
/// # Ok::<(), rushlight::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum IValue {
    /// `None`
    #[default]
    None,
    /// `Tensor`
    Tensor(Tensor),
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `float`
    Float(f64),
    /// `complex`
    Complex(Complex<f64>),
    /// `str`
    Str(String),
    /// `List[Tensor]`; `None` is an undefined one.
    TensorList(Vec<Option<Tensor>>),
    /// `List[int]`
    IntList(Vec<i64>),
    /// `List[float]`
    FloatList(Vec<f64>),
    /// `List[bool]`
    BoolList(Vec<bool>),
    /// `List[str]`
    StrList(Vec<String>),
    /// Any other list
    List(Vec<IValue>),
    /// A tuple
    Tuple(Vec<IValue>),
    /// A dict, in the order of insertion
    Dict(Vec<(IValue, IValue)>),
    /// `torch.dtype`
    DType(DType),
    /// `torch.layout`
    Layout(Layout),
    /// `torch.device`
    Device(Device),
    /// `torch.memory_format`
    MemoryFormat(MemoryFormat),
    /// A random generator
    Generator(Generator),
    /// A value that Rust only passes on, such as an object of a class
    Opaque(Opaque),
}

/// A value without a representation in Rust: an object, a future, a member of an enumeration, a storage.
#[derive(Clone, Debug)]
pub struct Opaque(Value);

impl Opaque {
    /// The kind of the value, such as `object`.
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }
}

impl IValue {
    /// The kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            IValue::None => "None",
            IValue::Tensor(_) => "Tensor",
            IValue::Bool(_) => "bool",
            IValue::Int(_) => "int",
            IValue::Float(_) => "float",
            IValue::Complex(_) => "complex",
            IValue::Str(_) => "str",
            IValue::TensorList(_) => "Tensor[]",
            IValue::IntList(_) => "int[]",
            IValue::FloatList(_) => "float[]",
            IValue::BoolList(_) => "bool[]",
            IValue::StrList(_) => "str[]",
            IValue::List(_) => "list",
            IValue::Tuple(_) => "tuple",
            IValue::Dict(_) => "Dict",
            IValue::DType(_) => "ScalarType",
            IValue::Layout(_) => "Layout",
            IValue::Device(_) => "Device",
            IValue::MemoryFormat(_) => "MemoryFormat",
            IValue::Generator(_) => "Generator",
            IValue::Opaque(opaque) => opaque.kind(),
        }
    }

    /// The value of a key of a dict that is a string.
    pub fn get(&self, key: &str) -> Option<&IValue> {
        let IValue::Dict(entries) = self else { return None };
        entries.iter().find(|(name, _)| matches!(name, IValue::Str(name) if name == key)).map(|(_, value)| value)
    }

    pub(crate) fn into_core(self) -> Result<Value> {
        let values = |list: Vec<IValue>| -> Result<Items> {
            Items::new(list.into_iter().map(IValue::into_core).collect::<Result<_>>()?)
        };
        Ok(match self {
            IValue::None => Value::None,
            IValue::Tensor(tensor) => Value::Tensor(tensor.0),
            IValue::Bool(value) => Value::Scalar(Scalar::Bool(value)),
            IValue::Int(value) => Value::Scalar(Scalar::Int(value)),
            IValue::Float(value) => Value::Scalar(Scalar::Float(value)),
            IValue::Complex(value) => Value::Scalar(Scalar::Complex(value)),
            IValue::Str(text) => Value::Str(text.into()),
            IValue::TensorList(list) => {
                Value::Tensors(list.into_iter().map(|tensor| tensor.map(|tensor| tensor.0)).collect())
            }
            IValue::IntList(list) => Value::Ints(SmallVec::from_vec(list)),
            IValue::FloatList(list) => Value::Floats(list),
            IValue::BoolList(list) => Value::Bools(list),
            IValue::StrList(list) => Value::Strings(list.into_iter().map(Into::into).collect()),
            IValue::List(list) => Value::List(values(list)?),
            IValue::Tuple(list) => Value::Tuple(values(list)?),
            IValue::Dict(entries) => {
                let entry = |(key, value): (IValue, IValue)| Ok((key.into_core()?, value.into_core()?));
                Value::Dict(Dict::new(entries.into_iter().map(entry).collect::<Result<_>>()?)?)
            }
            IValue::DType(value) => Value::DType(value),
            IValue::Layout(value) => Value::Layout(value),
            IValue::Device(value) => Value::Device(value),
            IValue::MemoryFormat(value) => Value::MemoryFormat(value),
            IValue::Generator(value) => Value::Generator(value),
            IValue::Opaque(opaque) => opaque.0,
        })
    }

    // The depth of a value is limited to `MAX_DEPTH`.
    pub(crate) fn from_core(value: &Value) -> IValue {
        let values = |items: &Items| items.iter().map(IValue::from_core).collect();
        match value {
            Value::None => IValue::None,
            Value::Tensor(tensor) => IValue::Tensor(Tensor(tensor.clone())),
            Value::Scalar(scalar) => (*scalar).into(),
            Value::Str(text) => IValue::Str(text.to_string()),
            Value::Tensors(list) => IValue::TensorList(list.iter().map(|tensor| tensor.clone().map(Tensor)).collect()),
            Value::Ints(list) => IValue::IntList(list.to_vec()),
            Value::Floats(list) => IValue::FloatList(list.clone()),
            Value::Bools(list) => IValue::BoolList(list.clone()),
            Value::Scalars(list) => IValue::List(list.iter().map(|scalar| (*scalar).into()).collect()),
            Value::Strings(list) => IValue::StrList(list.iter().map(|text| text.to_string()).collect()),
            Value::List(items) => IValue::List(values(items)),
            Value::Tuple(items) => IValue::Tuple(values(items)),
            Value::Dict(dict) => IValue::Dict(
                dict.iter().map(|(key, value)| (IValue::from_core(key), IValue::from_core(value))).collect(),
            ),
            Value::DType(value) => IValue::DType(*value),
            Value::Layout(value) => IValue::Layout(*value),
            Value::Device(value) => IValue::Device(*value),
            Value::MemoryFormat(value) => IValue::MemoryFormat(*value),
            Value::Generator(value) => IValue::Generator(value.clone()),
            other => IValue::Opaque(Opaque(other.clone())),
        }
    }
}

impl From<Scalar> for IValue {
    /// An unsigned integer above `i64::MAX` has the bits of the `int` that TorchScript has for it.
    fn from(scalar: Scalar) -> IValue {
        match scalar {
            Scalar::Bool(value) => IValue::Bool(value),
            Scalar::Int(value) => IValue::Int(value),
            Scalar::UInt(value) => IValue::Int(value as i64),
            Scalar::Float(value) => IValue::Float(value),
            Scalar::Complex(value) => IValue::Complex(value),
        }
    }
}

impl From<&Tensor> for IValue {
    fn from(tensor: &Tensor) -> IValue {
        IValue::Tensor(tensor.clone())
    }
}

impl From<&str> for IValue {
    fn from(text: &str) -> IValue {
        IValue::Str(text.to_owned())
    }
}

impl From<Vec<Tensor>> for IValue {
    fn from(list: Vec<Tensor>) -> IValue {
        IValue::TensorList(list.into_iter().map(Some).collect())
    }
}

impl TryFrom<IValue> for Vec<Tensor> {
    type Error = crate::Error;

    fn try_from(value: IValue) -> Result<Vec<Tensor>> {
        let kind = value.kind();
        let undefined = || err!(Type, "expected a list of tensors but one of them is undefined");
        match value {
            IValue::TensorList(list) => list.into_iter().map(|tensor| tensor.ok_or_else(undefined)).collect(),
            IValue::Tuple(list) | IValue::List(list) => list.into_iter().map(Tensor::try_from).collect(),
            _ => Err(unexpected("Tensor[]", kind)),
        }
    }
}

fn unexpected(wanted: &str, kind: &str) -> crate::Error {
    crate::Error::new(ErrorKind::Type, format!("expected a {wanted} but got a {kind}"))
}

macro_rules! conversions {
    ($($type:ty = $variant:ident, $wanted:literal;)*) => {$(
        impl From<$type> for IValue {
            fn from(value: $type) -> IValue {
                IValue::$variant(value)
            }
        }

        impl TryFrom<IValue> for $type {
            type Error = crate::Error;

            fn try_from(value: IValue) -> Result<$type> {
                let kind = value.kind();
                if let IValue::$variant(value) = value { Ok(value) } else { Err(unexpected($wanted, kind)) }
            }
        }
    )*};
}

conversions! {
    Tensor = Tensor, "Tensor";
    bool = Bool, "bool";
    i64 = Int, "int";
    f64 = Float, "float";
    Complex<f64> = Complex, "complex";
    String = Str, "str";
    Vec<i64> = IntList, "int[]";
    Vec<f64> = FloatList, "float[]";
    Vec<bool> = BoolList, "bool[]";
    Vec<String> = StrList, "str[]";
    DType = DType, "ScalarType";
    Layout = Layout, "Layout";
    Device = Device, "Device";
    MemoryFormat = MemoryFormat, "MemoryFormat";
    Generator = Generator, "Generator";
}

/// Calls an operator by name, as saved programs do: operators without a method, such as `torchvision::nms`, and those that the
/// program names at run time. Missing arguments take their defaults.
///
/// ```
/// # use rushlight::{IValue, Tensor, call};
/// let x = Tensor::try_from([1.0f32, -2.0])?;
/// let results = call("aten::leaky_relu", "", &[(&x).into()], &[("negative_slope", 0.5.into())])?;
/// assert_eq!(Tensor::try_from(results[0].clone())?.to_vec::<f32>()?, [1.0, -1.0]);
/// # Ok::<(), rushlight::Error>(())
/// ```
///
/// # Errors
/// Raises an error of the kind `UnknownOperator` if there is no such operator, and those of the operator.
pub fn call(name: &str, overload: &str, args: &[IValue], kwargs: &[(&str, IValue)]) -> Result<Vec<IValue>> {
    let args = args.iter().cloned().map(IValue::into_core).collect::<Result<_>>()?;
    let kwargs = kwargs.iter().map(|(name, value)| Ok((name.to_string(), value.clone().into_core()?)));
    let results = rushlight_tensor::dispatch::by_name::call(name, overload, args, kwargs.collect::<Result<_>>()?)?;
    Ok(results.0.iter().map(IValue::from_core).collect())
}
