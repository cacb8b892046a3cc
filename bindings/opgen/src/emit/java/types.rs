//! The table of Java types: the type of each kind of argument in public and in native methods, and its conversion.

use crate::model::Parameter;
use crate::types::Kind;
use rushlight_schema::{Constant, Default};

/// The type of a parameter in the public methods.
pub fn public_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Tensor | Kind::TensorOptional => "Tensor",
        Kind::TensorList | Kind::TensorOptionalList => "Tensor[]",
        Kind::Scalar | Kind::ScalarOptional => "Number",
        Kind::ScalarList => "Number[]",
        Kind::Int => "long",
        Kind::IntOptional => "Long",
        Kind::IntList | Kind::IntListOptional => "long[]",
        Kind::Float => "double",
        Kind::FloatOptional => "Double",
        Kind::FloatList | Kind::FloatListOptional => "double[]",
        Kind::Bool => "boolean",
        Kind::BoolList => "boolean[]",
        Kind::BoolOptional => "Boolean",
        Kind::Str | Kind::StrOptional => "String",
        Kind::DType | Kind::DTypeOptional => "DType",
        Kind::LayoutOptional => "Layout",
        Kind::MemoryFormat | Kind::MemoryFormatOptional => "MemoryFormat",
        Kind::Device | Kind::DeviceOptional => "Device",
        Kind::GeneratorOptional => "Generator",
        Kind::Options => "TensorOptions",
        // Such a form has no method.
        Kind::Value => "",
    }
}

/// The parameters of a native method for the argument `x`.
pub fn native_parameters(kind: Kind, x: &str) -> Vec<String> {
    let ty = match kind {
        Kind::Scalar | Kind::ScalarOptional => {
            return vec![format!("int {x}Tag"), format!("long {x}Bits"), format!("double {x}Imag")];
        }
        Kind::ScalarList => {
            return vec![format!("int[] {x}Tags"), format!("long[] {x}Bits"), format!("double[] {x}Imags")];
        }
        Kind::IntOptional => return vec![format!("boolean has{}", x.to_uppercase()), format!("long {x}")],
        Kind::FloatOptional => return vec![format!("boolean has{}", x.to_uppercase()), format!("double {x}")],
        Kind::Tensor | Kind::TensorOptional | Kind::GeneratorOptional | Kind::Options | Kind::Int => "long",
        Kind::TensorList | Kind::TensorOptionalList | Kind::IntList | Kind::IntListOptional => "long[]",
        Kind::Float => "double",
        Kind::FloatList | Kind::FloatListOptional => "double[]",
        Kind::Bool => "boolean",
        Kind::BoolList => "boolean[]",
        Kind::Str | Kind::StrOptional => "String",
        Kind::BoolOptional
        | Kind::DType
        | Kind::DTypeOptional
        | Kind::LayoutOptional
        | Kind::MemoryFormat
        | Kind::MemoryFormatOptional
        | Kind::Device
        | Kind::DeviceOptional => "int",
        // Such a form has no method.
        Kind::Value => "",
    };
    vec![format!("{ty} {x}")]
}

/// The expression that `Calls` passes for the argument `x`. The native side reports a tensor that must not be null,
/// with its name.
pub fn native_value(kind: Kind, x: &str) -> String {
    match kind {
        Kind::Tensor | Kind::TensorOptional | Kind::GeneratorOptional => format!("handleOrZero({x})"),
        Kind::TensorList => format!("Tensor.handles({x})"),
        Kind::TensorOptionalList => format!("Tensor.handlesOrZero({x})"),
        Kind::ScalarList => format!("Scalar.tags({x}), Scalar.bits({x}), Scalar.imags({x})"),
        Kind::Scalar | Kind::ScalarOptional => format!("{x}.tag(), {x}.bits(), {x}.imag()"),
        Kind::IntOptional => format!("{x} != null, Convert.longOrZero({x})"),
        Kind::FloatOptional => format!("{x} != null, Convert.doubleOrZero({x})"),
        Kind::BoolOptional => format!("Convert.flag({x})"),
        Kind::DType | Kind::MemoryFormat => format!("{x}.code()"),
        Kind::DTypeOptional => format!("DType.codeOf({x})"),
        Kind::LayoutOptional => format!("Layout.codeOf({x})"),
        Kind::MemoryFormatOptional => format!("MemoryFormat.codeOf({x})"),
        Kind::Device => format!("{x}.packed()"),
        Kind::DeviceOptional => format!("Device.packedOf({x})"),
        Kind::Options => format!("TensorOptions.packedOf({x})"),
        Kind::Int | Kind::IntList | Kind::IntListOptional | Kind::Float | Kind::FloatList | Kind::FloatListOptional => {
            x.to_string()
        }
        Kind::Bool | Kind::BoolList | Kind::Str | Kind::StrOptional | Kind::Value => x.to_string(),
    }
}

/// A default as the language writes it.
pub fn default_value(param: &Parameter) -> String {
    match (param.kind, param.default.as_ref().unwrap_or(&Default::None)) {
        (Kind::Options, Default::Constant(constant)) => {
            format!("TensorOptions.of(DType.{})", dtype_constant(*constant))
        }
        (Kind::Float | Kind::FloatOptional, Default::Int(value)) => format!("{value}.0"),
        (Kind::IntList | Kind::IntListOptional, Default::Int(value)) => format!("new long[] {{{value}}}"),
        (Kind::Options, Default::None) => "TensorOptions.DEFAULT".into(),
        (kind, Default::None) => format!("({}) null", public_type(kind)),
        (_, Default::Bool(value)) => value.to_string(),
        (Kind::Int | Kind::IntOptional, Default::Int(value)) => format!("{value}L"),
        (_, Default::Int(value)) => value.to_string(),
        (_, Default::Float(value)) => format!("{value:?}"),
        (_, Default::Str(text)) => format!("{text:?}"),
        (_, Default::List(values)) => {
            let values: Vec<String> = values
                .iter()
                .map(|value| if let Default::Int(value) = value { value.to_string() } else { "0".into() })
                .collect();
            format!("new long[] {{{}}}", values.join(", "))
        }
        (_, Default::Constant(constant)) => match constant {
            Constant::Mean => "Reduction.MEAN.code()".into(),
            Constant::Sum => "Reduction.SUM.code()".into(),
            Constant::ContiguousFormat => "MemoryFormat.CONTIGUOUS".into(),
            Constant::PreserveFormat => "MemoryFormat.PRESERVE".into(),
            Constant::Strided => "Layout.STRIDED".into(),
            constant => format!("DType.{}", dtype_constant(*constant)),
        },
    }
}

fn dtype_constant(constant: Constant) -> &'static str {
    match constant {
        Constant::Float => "FLOAT32",
        Constant::Double => "FLOAT64",
        Constant::Bool => "BOOL",
        _ => "INT64",
    }
}
