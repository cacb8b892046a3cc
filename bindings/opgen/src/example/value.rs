//! The values of an example by the type of their argument.

use super::literal::{DType, Literal, is_integer};
use super::tensor::TensorLiteral;
use crate::model::Parameter;
use crate::types::Kind;
use rushlight_schema::{Constant, Default};

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// None, where the type is optional.
    None,
    /// A tensor.
    Tensor(TensorLiteral),
    /// A list of tensors; `None` only where the elements are optional.
    Tensors(Vec<Option<TensorLiteral>>),
    /// A number, boolean, string or name.
    Plain(Literal),
    /// A list of numbers or booleans.
    List(Vec<Literal>),
    /// Some of the options with their values.
    Options(Vec<(String, Literal)>),
}

const LAYOUTS: &[&str] = &["strided"];
const DEVICES: &[&str] = &["cpu", "meta"];
const MEMORY_FORMATS: &[&str] = &["contiguous_format", "preserve_format", "channels_last", "channels_last_3d"];

impl Value {
    /// Converts a literal to an argument of this kind. A single number stands for a list: for `size` in `int[2]`.
    pub fn of(kind: Kind, size: Option<usize>, literal: &Literal) -> Result<Value, String> {
        let refused = || format!("{} cannot be {literal:?}", name(kind));
        match (kind, literal) {
            (_, Literal::None) if kind.is_optional() => Ok(Value::None),
            (Kind::Tensor | Kind::TensorOptional, _) => Ok(Value::Tensor(TensorLiteral::of(literal)?)),
            (Kind::TensorList | Kind::TensorOptionalList, Literal::List(items)) => {
                let tensor = |item: &Literal| match item {
                    Literal::None if kind == Kind::TensorOptionalList => Ok(None),
                    item => TensorLiteral::of(item).map(Some),
                };
                Ok(Value::Tensors(items.iter().map(tensor).collect::<Result<_, _>>()?))
            }
            _ => match (element(kind), literal) {
                (Some(test), Literal::List(items)) if items.iter().all(test) => Ok(Value::List(items.clone())),
                (Some(test), single) if test(single) => Ok(Value::List(vec![single.clone(); size.unwrap_or(1)])),
                (None, single) if is_single(kind, single) => Ok(Value::Plain(single.clone())),
                _ => Err(refused()),
            },
        }
    }

    /// Adds one part (`dtype=float64`) to the options.
    pub fn option(options: Option<Value>, part: &str, literal: Literal) -> Result<Value, String> {
        let mut parts = match options {
            Some(Value::Options(parts)) => parts,
            _ => Vec::new(),
        };
        if parts.iter().any(|(given, _)| given == part) {
            return Err("given twice".into());
        }
        let kind = match part {
            "dtype" => Kind::DTypeOptional,
            "layout" => Kind::LayoutOptional,
            "device" => Kind::DeviceOptional,
            _ => Kind::BoolOptional,
        };
        if let Value::Plain(literal) = Value::of(kind, None, &literal)? {
            parts.push((part.to_owned(), literal));
        }
        Ok(Value::Options(parts))
    }

    /// The default of a parameter.
    pub fn default(parameter: &Parameter) -> Value {
        let literal = parameter.default.as_ref().map_or(Literal::None, literal);
        match (parameter.kind, literal) {
            (Kind::Options, Literal::Word(dtype)) => Value::Options(vec![("dtype".into(), Literal::Word(dtype))]),
            // A single number for `int[2]` remains a number, as in a call.
            (kind, literal) => Value::of(kind, None, &literal).unwrap_or(Value::None),
        }
    }

    /// The tensors of the value.
    pub fn tensors(&self) -> Vec<&TensorLiteral> {
        match self {
            Value::Tensor(tensor) => vec![tensor],
            Value::Tensors(tensors) => tensors.iter().flatten().collect(),
            _ => Vec::new(),
        }
    }
}

fn literal(default: &Default) -> Literal {
    match default {
        Default::None => Literal::None,
        Default::Bool(value) => Literal::Bool(*value),
        Default::Int(value) => Literal::Number(value.to_string()),
        Default::Float(value) => Literal::Number(format!("{value:?}")),
        Default::Str(text) => Literal::Text(text.to_string()),
        Default::List(items) => Literal::List(items.iter().map(literal).collect()),
        Default::Constant(constant) => match constant {
            Constant::Mean | Constant::Sum => Literal::Number(constant.value().to_string()),
            Constant::Long => Literal::Word("int64".into()),
            Constant::Float => Literal::Word("float32".into()),
            Constant::Double => Literal::Word("float64".into()),
            Constant::Bool => Literal::Word("bool".into()),
            Constant::Strided => Literal::Word("strided".into()),
            Constant::ContiguousFormat => Literal::Word("contiguous_format".into()),
            Constant::PreserveFormat => Literal::Word("preserve_format".into()),
        },
    }
}

fn is_number(literal: &Literal) -> bool {
    matches!(literal, Literal::Number(_))
}

fn is_int(literal: &Literal) -> bool {
    matches!(literal, Literal::Number(text) if is_integer(text))
}

fn is_bool(literal: &Literal) -> bool {
    matches!(literal, Literal::Bool(_))
}

fn is_scalar(literal: &Literal) -> bool {
    matches!(literal, Literal::Number(_) | Literal::Bool(_) | Literal::Complex(..))
}

fn is_word(literal: &Literal, words: &[&str]) -> bool {
    matches!(literal, Literal::Word(word) if words.contains(&word.as_str()))
}

/// The required kind of the elements of a list of numbers or booleans.
fn element(kind: Kind) -> Option<fn(&Literal) -> bool> {
    match kind {
        Kind::IntList | Kind::IntListOptional => Some(is_int),
        Kind::FloatList | Kind::FloatListOptional => Some(is_number),
        Kind::BoolList => Some(is_bool),
        Kind::ScalarList => Some(is_scalar),
        _ => None,
    }
}

fn is_single(kind: Kind, literal: &Literal) -> bool {
    match kind {
        Kind::Scalar | Kind::ScalarOptional => is_scalar(literal),
        Kind::Int | Kind::IntOptional => is_int(literal),
        Kind::Float | Kind::FloatOptional => is_number(literal),
        Kind::Bool | Kind::BoolOptional => is_bool(literal),
        Kind::Str | Kind::StrOptional => matches!(literal, Literal::Text(_)),
        Kind::DType | Kind::DTypeOptional => {
            matches!(literal, Literal::Word(word) if DType::parse(word).is_some())
        }
        Kind::LayoutOptional => is_word(literal, LAYOUTS),
        Kind::Device | Kind::DeviceOptional => is_word(literal, DEVICES),
        Kind::MemoryFormat | Kind::MemoryFormatOptional => is_word(literal, MEMORY_FORMATS),
        _ => false,
    }
}

/// The name of a kind in errors.
fn name(kind: Kind) -> String {
    let text = format!("{kind:?}");
    format!("a value of type {}", text.strip_suffix("Optional").unwrap_or(&text))
}
