//! The table of types in the Rust binding: of required arguments, of fields, and what the operators take.

use crate::model::Parameter;
use crate::types::Kind;
use rushlight_schema::{Constant, Default};

/// Whether an `int` is a reduction of a loss.
pub fn is_reduction(parameter: &Parameter) -> bool {
    let constant = matches!(parameter.default, Some(Default::Constant(Constant::Mean | Constant::Sum)));
    parameter.kind == Kind::Int && (constant || parameter.name == "reduction")
}

/// The type of an argument of a method.
pub fn argument(parameter: &Parameter) -> &'static str {
    match parameter.kind {
        Kind::Tensor => "&Tensor",
        Kind::TensorOptional => "Option<&Tensor>",
        Kind::TensorList => "&[impl Borrow<Tensor>]",
        Kind::TensorOptionalList => "&[Option<impl Borrow<Tensor>>]",
        Kind::Scalar => "impl Into<Scalar>",
        Kind::IntList => "impl IntList",
        Kind::IntListOptional => "impl OptionalIntList",
        Kind::IntOptional => "impl Into<Option<i64>>",
        Kind::FloatOptional => "impl Into<Option<f64>>",
        Kind::BoolOptional => "impl Into<Option<bool>>",
        Kind::DTypeOptional => "impl Into<Option<DType>>",
        Kind::LayoutOptional => "impl Into<Option<Layout>>",
        Kind::DeviceOptional => "impl Into<Option<Device>>",
        Kind::MemoryFormatOptional => "impl Into<Option<MemoryFormat>>",
        Kind::Options => "impl Into<TensorOptions>",
        kind => plain(kind, is_reduction(parameter)),
    }
}

/// What the operator is passed for the argument `x`.
pub fn passed_argument(parameter: &Parameter, x: &str) -> String {
    match parameter.kind {
        Kind::TensorList => format!("&lists::references({x})"),
        Kind::TensorOptionalList => format!("&lists::optional_references({x})"),
        Kind::IntList => format!("{x}.as_ints()"),
        Kind::IntListOptional => format!("{x}.as_optional_ints()"),
        Kind::Scalar
        | Kind::IntOptional
        | Kind::FloatOptional
        | Kind::BoolOptional
        | Kind::DTypeOptional
        | Kind::LayoutOptional
        | Kind::DeviceOptional
        | Kind::MemoryFormatOptional => format!("{x}.into()"),
        Kind::Options => format!("{x}.into().into()"),
        _ => passed(parameter, x),
    }
}

/// The type of a field of a struct of optional arguments, and whether it borrows.
pub fn field(parameter: &Parameter) -> (&'static str, bool) {
    match parameter.kind {
        Kind::Tensor => ("&'a Tensor", true),
        Kind::TensorOptional => ("Option<&'a Tensor>", true),
        Kind::TensorList => ("&'a [&'a Tensor]", true),
        Kind::TensorOptionalList => ("&'a [Option<&'a Tensor>]", true),
        Kind::ScalarList => ("&'a [Scalar]", true),
        Kind::IntList => ("&'a [i64]", true),
        Kind::IntListOptional => ("Option<&'a [i64]>", true),
        Kind::FloatList => ("&'a [f64]", true),
        Kind::FloatListOptional => ("Option<&'a [f64]>", true),
        Kind::BoolList => ("&'a [bool]", true),
        Kind::Str => ("&'a str", true),
        Kind::StrOptional => ("Option<&'a str>", true),
        Kind::GeneratorOptional => ("Option<&'a Generator>", true),
        kind => (plain(kind, is_reduction(parameter)), false),
    }
}

/// What the operator is passed for the value `x` of a field.
pub fn passed(parameter: &Parameter, x: &str) -> String {
    match parameter.kind {
        Kind::Tensor => format!("&{x}.0"),
        Kind::TensorOptional => format!("{x}.map(|tensor| &tensor.0)"),
        Kind::TensorList => format!("&lists::references({x})"),
        Kind::TensorOptionalList => format!("&lists::optional_references({x})"),
        Kind::Options => format!("{x}.into()"),
        Kind::Int if is_reduction(parameter) => format!("{x} as i64"),
        _ => x.to_owned(),
    }
}

fn plain(kind: Kind, is_reduction: bool) -> &'static str {
    match kind {
        Kind::Int if is_reduction => "Reduction",
        Kind::Options => "TensorOptions",
        // A lifetime, where there is one, is that of the call.
        kind => kind.spelling().rust,
    }
}

/// A default as a field has it.
pub fn default_value(parameter: &Parameter) -> Result<String, String> {
    let default = parameter.default.as_ref().unwrap_or(&Default::None);
    let list = |items: &[Default]| -> Result<String, String> {
        let items: Vec<String> = items.iter().map(item).collect::<Result<_, _>>()?;
        Ok(format!("&[{}]", items.join(", ")))
    };
    let optional = |text: String| if parameter.kind.is_optional() { format!("Some({text})") } else { text };
    Ok(match (parameter.kind, default) {
        (Kind::Options, Default::None) => "TensorOptions::DEFAULT".into(),
        (Kind::Options, Default::Constant(constant)) => {
            format!("TensorOptions {{ dtype: Some({}), ..TensorOptions::DEFAULT }}", named(*constant))
        }
        (kind, Default::None) if kind.is_optional() => "None".into(),
        (Kind::Scalar | Kind::ScalarOptional, Default::Bool(value)) => optional(format!("Scalar::Bool({value})")),
        (Kind::Scalar | Kind::ScalarOptional, Default::Int(value)) => optional(format!("Scalar::Int({value})")),
        (Kind::Scalar | Kind::ScalarOptional, Default::Float(value)) => optional(format!("Scalar::Float({value:?})")),
        (Kind::Float | Kind::FloatOptional, Default::Int(value)) => optional(format!("{value}.0")),
        (Kind::IntList | Kind::IntListOptional, Default::Int(value)) => optional(format!("&[{value}]")),
        (Kind::IntList | Kind::IntListOptional | Kind::BoolList, Default::List(items)) => optional(list(items)?),
        (Kind::Int, Default::Constant(Constant::Mean)) => "Reduction::Mean".into(),
        (Kind::Int, Default::Constant(Constant::Sum)) => "Reduction::Sum".into(),
        (Kind::Int, Default::Int(value)) if is_reduction(parameter) => {
            return Err(format!("{}={value}: a reduction has the default of a constant", parameter.name));
        }
        (_, Default::Int(_) | Default::Float(_) | Default::Bool(_) | Default::Str(_)) => optional(item(default)?),
        (_, Default::Constant(constant)) => optional(named(*constant).into()),
        (kind, default) => return Err(format!("{}: {kind:?} has the default {default:?}", parameter.name)),
    })
}

fn item(default: &Default) -> Result<String, String> {
    Ok(match default {
        Default::Bool(value) => value.to_string(),
        Default::Int(value) => value.to_string(),
        Default::Float(value) => format!("{value:?}"),
        Default::Str(text) => format!("{text:?}"),
        default => return Err(format!("{default:?} in a list")),
    })
}

fn named(constant: Constant) -> &'static str {
    match constant {
        Constant::Mean => "Reduction::Mean",
        Constant::Sum => "Reduction::Sum",
        Constant::Long => "DType::I64",
        Constant::Float => "DType::F32",
        Constant::Double => "DType::F64",
        Constant::Bool => "DType::Bool",
        Constant::Strided => "Layout::Strided",
        Constant::ContiguousFormat => "MemoryFormat::Contiguous",
        Constant::PreserveFormat => "MemoryFormat::Preserve",
    }
}
