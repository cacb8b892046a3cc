//! The table of types: the kinds of arguments, and their Rust and C++ types. The additional requirements of C, JNI and
//! Java (a check, a conversion, two parameters for one) are in the tables of their emitters.

use rushlight_schema::{BaseType, Type};

/// The kinds of arguments that bindings distinguish.
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
    /// dtype, layout, device and pin_memory as one
    Options,
    /// A storage or a stream, as a boxed value: such a form is called by name only
    Value,
}

/// One row of the table.
#[derive(Debug)]
pub struct Spelling {
    /// Parameter of `ops::*`
    pub rust: &'static str,
    /// The type in which a derivative saves a value that is not a tensor
    pub rust_owned: &'static str,
    /// Accessor of `Args` for boxed calls
    pub boxed: &'static str,
    /// Parameter of the C++ function or method
    pub cxx: &'static str,
}

impl Kind {
    /// The kind of the elements of a list of numbers.
    pub fn element(self) -> Kind {
        match self {
            Kind::IntList | Kind::IntListOptional => Kind::Int,
            Kind::FloatList | Kind::FloatListOptional => Kind::Float,
            Kind::BoolList => Kind::Bool,
            _ => Kind::Scalar,
        }
    }

    /// The kind of a schema type; `None` for those that declarations must not use (Dimname, Dict, ...).
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
            (BaseType::Storage | BaseType::Stream | BaseType::QScheme, None, false) => Kind::Value,
            _ => return None,
        };
        Some(kind)
    }

    /// Whether it is a tensor, an optional tensor, or a list of tensors.
    pub fn is_tensor(self) -> bool {
        matches!(self, Kind::Tensor | Kind::TensorOptional | Kind::TensorList | Kind::TensorOptionalList)
    }

    /// Whether an argument of this kind may be None.
    pub fn is_optional(self) -> bool {
        self.spelling().rust.starts_with("Option<")
    }

    /// Whether an argument of this kind is unpacked into a list.
    pub fn is_list(self) -> bool {
        use Kind::{
            BoolList, FloatList, FloatListOptional, IntList, IntListOptional, ScalarList, TensorList,
            TensorOptionalList,
        };
        matches!(
            self,
            BoolList
                | FloatList
                | FloatListOptional
                | IntList
                | IntListOptional
                | ScalarList
                | TensorList
                | TensorOptionalList
        )
    }

    /// The row of the table.
    pub fn spelling(self) -> Spelling {
        let row = |rust, rust_owned, boxed, cxx| Spelling { rust, rust_owned, boxed, cxx };
        match self {
            Kind::Tensor => row("&Tensor", "Saved", "tensor", "const Tensor&"),
            Kind::TensorOptional => row("Option<&Tensor>", "Saved", "tensor_opt", "const std::optional<Tensor>&"),
            Kind::TensorList => row("&[&Tensor]", "Vec<Saved>", "tensors", "TensorList"),
            Kind::TensorOptionalList => {
                row("&[Option<&Tensor>]", "Vec<Saved>", "tensors_opt", "const IOptTensorListRef&")
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
            Kind::Value => row("&Value", "Value", "get", ""),
        }
    }
}

/// The kinds of results that are not tensors.
#[allow(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultKind {
    Tensor,
    TensorList,
    Int,
    Float,
    Bool,
    Scalar,
    DType,
    Layout,
    Device,
    MemoryFormat,
    Str,
    IntList,
    FloatList,
    BoolList,
    ScalarList,
    /// Any other type, as a boxed value
    Value,
}

/// One row of the table of results.
#[derive(Debug)]
pub struct ResultSpelling {
    /// Result of `ops::*`
    pub rust: &'static str,
    /// Result of the C++ function or method
    pub cxx: &'static str,
    /// The variable that receives it in C
    pub c: &'static str,
    /// What the C++ function makes of that variable, `$`
    pub adopted: &'static str,
    /// Result of the Java method
    pub java: &'static str,
    /// What the Java method makes of the native result, `$`
    pub unboxed: &'static str,
}

impl ResultKind {
    /// The kind of a result.
    pub fn of(ty: &Type) -> ResultKind {
        match (ty.base, ty.list, ty.optional) {
            (_, _, true) => ResultKind::Value,
            (_, Some(list), _) if list.optional_elements => ResultKind::Value,
            (BaseType::Tensor, None, _) => ResultKind::Tensor,
            (BaseType::Tensor, Some(_), _) => ResultKind::TensorList,
            (BaseType::Int, None, _) => ResultKind::Int,
            (BaseType::Int, Some(_), _) => ResultKind::IntList,
            (BaseType::Float, None, _) => ResultKind::Float,
            (BaseType::Float, Some(_), _) => ResultKind::FloatList,
            (BaseType::Bool, None, _) => ResultKind::Bool,
            (BaseType::Bool, Some(_), _) => ResultKind::BoolList,
            (BaseType::Scalar, None, _) => ResultKind::Scalar,
            (BaseType::Scalar, Some(_), _) => ResultKind::ScalarList,
            (BaseType::ScalarType, None, _) => ResultKind::DType,
            (BaseType::Layout, None, _) => ResultKind::Layout,
            (BaseType::Device, None, _) => ResultKind::Device,
            (BaseType::MemoryFormat, None, _) => ResultKind::MemoryFormat,
            (BaseType::Str, None, _) => ResultKind::Str,
            _ => ResultKind::Value,
        }
    }

    /// The row of the table.
    pub fn spelling(self) -> ResultSpelling {
        let row = |rust, cxx, c, adopted, java, unboxed| ResultSpelling { rust, cxx, c, adopted, java, unboxed };
        match self {
            ResultKind::Tensor => row("Tensor", "Tensor", "rlt_tensor*", "Tensor($)", "Tensor", "(Tensor) $"),
            ResultKind::TensorList => row(
                "Vec<Tensor>",
                "std::vector<Tensor>",
                "rlt_tensor_list*",
                "rlt::adopt_list($)",
                "Tensor[]",
                "(Tensor[]) $",
            ),
            ResultKind::Int => row("i64", "int64_t", "int64_t", "$", "long", "((Scalar) $).longValue()"),
            ResultKind::Float => row("f64", "double", "double", "$", "double", "((Scalar) $).doubleValue()"),
            ResultKind::Bool => row("bool", "bool", "int32_t", "$ != 0", "boolean", "((Scalar) $).booleanValue()"),
            ResultKind::Scalar => row("Scalar", "Scalar", "rlt_scalar", "Scalar($)", "Scalar", "(Scalar) $"),
            ResultKind::DType => {
                row("DType", "ScalarType", "int32_t", "static_cast<ScalarType>($)", "DType", "(DType) $")
            }
            ResultKind::Layout => row("Layout", "Layout", "int32_t", "static_cast<Layout>($)", "Layout", "(Layout) $"),
            ResultKind::Device => row("Device", "Device", "rlt_device", "Device($)", "Device", "(Device) $"),
            ResultKind::MemoryFormat => row(
                "MemoryFormat",
                "MemoryFormat",
                "int32_t",
                "static_cast<MemoryFormat>($)",
                "MemoryFormat",
                "(MemoryFormat) $",
            ),
            ResultKind::Str => {
                row("String", "std::string", "rlt_value", "rlt::adopt_string($)", "String", "(String) $")
            }
            ResultKind::IntList => {
                row("DimVec", "std::vector<int64_t>", "rlt_value", "rlt::adopt_ints($)", "long[]", "(long[]) $")
            }
            ResultKind::FloatList => {
                row("Vec<f64>", "std::vector<double>", "rlt_value", "rlt::adopt_floats($)", "double[]", "(double[]) $")
            }
            ResultKind::BoolList => {
                row("Vec<bool>", "std::vector<bool>", "rlt_value", "rlt::adopt_bools($)", "boolean[]", "(boolean[]) $")
            }
            ResultKind::ScalarList => row(
                "Vec<Scalar>",
                "std::vector<Scalar>",
                "rlt_value",
                "rlt::adopt_scalars($)",
                "Scalar[]",
                "(Scalar[]) $",
            ),
            ResultKind::Value => row("Value", "", "rlt_value", "", "", ""),
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
        assert_eq!((kind("Storage"), kind("Stream"), kind("Storage?")), (Some(Kind::Value), Some(Kind::Value), None));
        assert_eq!(kind("Tensor?[]?"), None);
        assert_eq!(kind("Dimname"), None);
    }

    #[test]
    fn every_type_has_a_kind_of_result() {
        let kind = |ty: &str| {
            let signature: Signature = format!("f() -> {ty}").parse().unwrap();
            ResultKind::of(&signature.returns[0].ty)
        };
        assert_eq!((kind("int"), kind("int[]"), kind("str")), (ResultKind::Int, ResultKind::IntList, ResultKind::Str));
        assert_eq!((kind("ScalarType"), kind("bool")), (ResultKind::DType, ResultKind::Bool));
        for ty in ["int?", "((int, str))", "Dict(str, t)", "t[]", "int[][]", "Tensor?[]", "str[]", "Any", "Storage"] {
            assert_eq!(kind(ty), ResultKind::Value, "{ty}");
        }
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
