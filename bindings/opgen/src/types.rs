//! The table of types: the kinds of arguments, and how Rust and C++ spell each. What C, JNI and Java need besides a
//! type (a check, a conversion, two parameters for one) stands in the tables of their emitters.

use rushlight_schema::{BaseType, Type};

/// The kinds of arguments that faces tell apart.
#[allow(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Tensor,
    TensorOptional,
    TensorList,
    TensorOptionalList,
    Scalar,
    ScalarOptional,
    ScalarList,
    Int,
    IntOptional,
    IntList,
    IntListOptional,
    Float,
    FloatOptional,
    FloatList,
    FloatListOptional,
    Bool,
    BoolOptional,
    BoolList,
    Str,
    StrOptional,
    DType,
    DTypeOptional,
    LayoutOptional,
    Device,
    DeviceOptional,
    MemoryFormat,
    MemoryFormatOptional,
    GeneratorOptional,
    /// dtype, layout, device and pin_memory together
    Options,
}

/// One row of the table.
#[derive(Debug)]
pub struct Spelling {
    /// Parameter of `ops::*`
    pub rust: &'static str,
    /// What a derivative keeps of a value that is no tensor
    pub rust_owned: &'static str,
    /// Accessor of `Args` for boxed calls
    pub boxed: &'static str,
    /// Parameter of the C++ function or method
    pub cxx: &'static str,
}

impl Kind {
    /// The kind of a schema type; `None` for those that no declaration may use (Dimname, Storage, ...).
    pub fn of(ty: &Type) -> Option<Kind> {
        let kind = match (ty.base, ty.list, ty.optional) {
            (BaseType::Tensor, Some(list), false) if list.optional_elements => Kind::TensorOptionalList,
            (_, Some(list), _) if list.optional_elements => return None,
            (BaseType::Tensor, None, false) => Kind::Tensor,
            (BaseType::Tensor, None, true) => Kind::TensorOptional,
            (BaseType::Tensor, Some(_), false) => Kind::TensorList,
            (BaseType::Scalar, None, false) => Kind::Scalar,
            (BaseType::Scalar, None, true) => Kind::ScalarOptional,
            (BaseType::Scalar, Some(_), false) => Kind::ScalarList,
            (BaseType::Int, None, false) => Kind::Int,
            (BaseType::Int, None, true) => Kind::IntOptional,
            (BaseType::Int, Some(_), false) => Kind::IntList,
            (BaseType::Int, Some(_), true) => Kind::IntListOptional,
            (BaseType::Float, None, false) => Kind::Float,
            (BaseType::Float, None, true) => Kind::FloatOptional,
            (BaseType::Float, Some(_), false) => Kind::FloatList,
            (BaseType::Float, Some(_), true) => Kind::FloatListOptional,
            (BaseType::Bool, None, false) => Kind::Bool,
            (BaseType::Bool, None, true) => Kind::BoolOptional,
            (BaseType::Bool, Some(_), false) => Kind::BoolList,
            (BaseType::Str, None, false) => Kind::Str,
            (BaseType::Str, None, true) => Kind::StrOptional,
            (BaseType::ScalarType, None, false) => Kind::DType,
            (BaseType::ScalarType, None, true) => Kind::DTypeOptional,
            (BaseType::Layout, None, true) => Kind::LayoutOptional,
            (BaseType::Device, None, false) => Kind::Device,
            (BaseType::Device, None, true) => Kind::DeviceOptional,
            (BaseType::MemoryFormat, None, false) => Kind::MemoryFormat,
            (BaseType::MemoryFormat, None, true) => Kind::MemoryFormatOptional,
            (BaseType::Generator, None, true) => Kind::GeneratorOptional,
            _ => return None,
        };
        Some(kind)
    }

    /// One tensor, perhaps one, or a list of them?
    pub fn is_tensor(self) -> bool {
        matches!(self, Kind::Tensor | Kind::TensorOptional | Kind::TensorList | Kind::TensorOptionalList)
    }

    /// The row of the table.
    pub fn spelling(self) -> Spelling {
        let row = |rust, rust_owned, boxed, cxx| Spelling { rust, rust_owned, boxed, cxx };
        match self {
            Kind::Tensor => row("&Tensor", "Saved", "tensor", "const Tensor&"),
            Kind::TensorOptional => row("Option<&Tensor>", "Saved", "tensor_opt", "const std::optional<Tensor>&"),
            Kind::TensorList => row("&[&Tensor]", "Vec<Saved>", "tensors", "TensorList"),
            Kind::TensorOptionalList => {
                row("&[Option<&Tensor>]", "Vec<Saved>", "tensors_opt", "ArrayRef<std::optional<Tensor>>")
            }
            Kind::Scalar => row("Scalar", "Scalar", "scalar", "const Scalar&"),
            Kind::ScalarOptional => {
                row("Option<Scalar>", "Option<Scalar>", "scalar_opt", "const std::optional<Scalar>&")
            }
            Kind::ScalarList => row("&[Scalar]", "Vec<Scalar>", "scalars", "ArrayRef<Scalar>"),
            Kind::Int => row("i64", "i64", "int", "int64_t"),
            Kind::IntOptional => row("Option<i64>", "Option<i64>", "int_opt", "std::optional<int64_t>"),
            Kind::IntList => row("&[i64]", "DimVec", "ints", "IntArrayRef"),
            Kind::IntListOptional => row("Option<&[i64]>", "Option<DimVec>", "ints_opt", "OptionalIntArrayRef"),
            Kind::Float => row("f64", "f64", "float", "double"),
            Kind::FloatOptional => row("Option<f64>", "Option<f64>", "float_opt", "std::optional<double>"),
            Kind::FloatList => row("&[f64]", "Vec<f64>", "floats", "ArrayRef<double>"),
            Kind::FloatListOptional => {
                row("Option<&[f64]>", "Option<Vec<f64>>", "floats_opt", "OptionalArrayRef<double>")
            }
            Kind::Bool => row("bool", "bool", "bool", "bool"),
            Kind::BoolOptional => row("Option<bool>", "Option<bool>", "bool_opt", "std::optional<bool>"),
            Kind::BoolList => row("&[bool]", "Vec<bool>", "bools", "ArrayRef<bool>"),
            Kind::Str => row("&str", "String", "str", "std::string_view"),
            Kind::StrOptional => row("Option<&str>", "Option<String>", "str_opt", "std::optional<std::string_view>"),
            Kind::DType => row("DType", "DType", "dtype", "ScalarType"),
            Kind::DTypeOptional => row("Option<DType>", "Option<DType>", "dtype_opt", "std::optional<ScalarType>"),
            Kind::LayoutOptional => row("Option<Layout>", "Option<Layout>", "layout_opt", "std::optional<Layout>"),
            Kind::Device => row("Device", "Device", "device", "Device"),
            Kind::DeviceOptional => row("Option<Device>", "Option<Device>", "device_opt", "std::optional<Device>"),
            Kind::MemoryFormat => row("MemoryFormat", "MemoryFormat", "memory_format", "MemoryFormat"),
            Kind::MemoryFormatOptional => {
                row("Option<MemoryFormat>", "Option<MemoryFormat>", "memory_format_opt", "std::optional<MemoryFormat>")
            }
            Kind::GeneratorOptional => {
                row("Option<&Generator>", "Option<Generator>", "generator_opt", "std::optional<Generator>")
            }
            Kind::Options => row("Options", "Options", "options", "TensorOptions"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_schema::Signature;

    fn kind(ty: &str) -> Option<Kind> {
        let signature: Signature = format!("f({ty} x) -> ()").parse().unwrap();
        Kind::of(&signature.arguments[0].ty)
    }

    #[test]
    fn schema_types_have_kinds() {
        assert_eq!(kind("Tensor(a!)"), Some(Kind::Tensor));
        assert_eq!(kind("Tensor(a!)[]"), Some(Kind::TensorList));
        assert_eq!(kind("int[1]?"), Some(Kind::IntListOptional));
        assert_eq!(kind("SymInt?"), Some(Kind::IntOptional));
        assert_eq!(kind("bool[3]"), Some(Kind::BoolList));
        assert_eq!(kind("Tensor?[]"), Some(Kind::TensorOptionalList));
        assert_eq!(kind("Scalar[]"), Some(Kind::ScalarList));
        assert_eq!(kind("Tensor?[]?"), None);
        assert_eq!(kind("Dimname"), None);
    }

    #[test]
    fn optional_kinds_are_optional_everywhere() {
        for ty in ["Tensor?", "Scalar?", "int?", "int[]?", "float?", "bool?", "str?", "ScalarType?", "Device?"] {
            let spelling = kind(ty).unwrap().spelling();
            assert!(spelling.rust.starts_with("Option<"), "{ty}");
            assert!(spelling.cxx.contains("ptional"), "{ty}");
        }
    }
}
