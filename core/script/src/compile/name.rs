//! What names mean that are not variables.

use super::environment::Compiler;
use super::sugar::{Special, Sugar};
use crate::ast::Name;
use crate::types::Type;
use rushlight_base::Result;

/// Python's functions that are operators.
const FUNCTIONS: [(&str, &str); 22] = [
    ("len", "aten::len"),
    ("min", "prim::min"),
    ("max", "prim::max"),
    ("abs", "prim::abs"),
    ("all", "aten::all"),
    ("any", "aten::any"),
    ("divmod", "aten::divmod"),
    ("sum", "aten::sum"),
    ("ord", "aten::ord"),
    ("chr", "aten::chr"),
    ("bin", "aten::bin"),
    ("hex", "aten::hex"),
    ("oct", "aten::oct"),
    ("round", "aten::round"),
    ("hash", "aten::hash"),
    ("id", "prim::id"),
    ("pow", "aten::pow"),
    ("sorted", "aten::sorted"),
    ("wait", "aten::wait"),
    ("torch.jit.wait", "aten::wait"),
    ("torch.autograd.backward", "aten::backward"),
    ("torch.autograd.grad", "aten::grad"),
];

/// The dtypes by name, with their numbers in c10.
const DTYPES: [(&str, i64); 27] = [
    ("uint8", 0),
    ("int8", 1),
    ("int16", 2),
    ("short", 2),
    ("int32", 3),
    ("int", 3),
    ("int64", 4),
    ("long", 4),
    ("float16", 5),
    ("half", 5),
    ("float32", 6),
    ("float", 6),
    ("float64", 7),
    ("double", 7),
    ("complex32", 8),
    ("chalf", 8),
    ("complex64", 9),
    ("cfloat", 9),
    ("complex128", 10),
    ("cdouble", 10),
    ("bool", 11),
    ("qint8", 12),
    ("quint8", 13),
    ("qint32", 14),
    ("bfloat16", 15),
    ("float8_e5m2", 23),
    ("float8_e4m3fn", 24),
];

/// Layouts, memory formats and quantization schemes by name, with their numbers in c10.
const NUMBERS: [(&str, i64); 14] = [
    ("strided", 0),
    ("sparse_coo", 1),
    ("sparse_csr", 2),
    ("_mkldnn", 3),
    ("sparse_csc", 4),
    ("sparse_bsr", 5),
    ("sparse_bsc", 6),
    ("contiguous_format", 0),
    ("preserve_format", 1),
    ("channels_last", 2),
    ("channels_last_3d", 3),
    ("per_tensor_affine", 0),
    ("per_channel_affine", 1),
    ("per_tensor_symmetric", 2),
];

/// The number that a name such as `torch.float32` stands for.
pub(super) fn torch_constant(name: &str) -> Option<i64> {
    let name = name.strip_prefix("torch.")?;
    DTYPES.iter().chain(&NUMBERS).find(|(other, _)| *other == name).map(|&(_, value)| value)
}

impl Compiler<'_> {
    /// What a name means: a variable, something of the program, or something that every program knows.
    pub(super) fn name(&mut self, name: &Name) -> Result<Sugar> {
        if let Some(variable) = self.variable(name) {
            return Ok(variable.sugar.clone());
        }
        if let Some(reason) = self.missing(name).filter(|reason| !reason.is_empty()) {
            let message = format!("{reason}and was used here");
            return Err(self.error(message));
        }
        if self.missing(name).is_some() {
            return Err(self.error(format!("undefined value {name}")));
        }
        if let Some(sugar) = self.capture(name)? {
            return Ok(sugar);
        }
        let qualified = self.file.qualified(name);
        if let Some(sugar) = self.defined(&qualified)? {
            return Ok(sugar);
        }
        if let Some(sugar) = self.global(name)? {
            return Ok(sugar);
        }
        Err(self.error(format!("undefined value {name}")))
    }

    /// A class or function of the program.
    pub(super) fn defined(&mut self, qualified: &str) -> Result<Option<Sugar>> {
        if let Some(kind) = self.unit.named_type(qualified)? {
            return Ok(Some(Sugar::Class(kind)));
        }
        match self.unit.definition(qualified)? {
            Some(definition) if self.unit.tree(&definition).is_some() => Ok(Some(Sugar::Function(qualified.into()))),
            _ => Ok(None),
        }
    }

    fn global(&mut self, name: &str) -> Result<Option<Sugar>> {
        if let Some(special) = Special::find(name) {
            return Ok(Some(Sugar::Special(special)));
        }
        if let Some((_, operator)) = FUNCTIONS.iter().find(|(other, _)| *other == name) {
            return Ok(Some(Sugar::Builtin { name: (*operator).into(), object: None }));
        }
        let number = |value: f64| crate::graph::Attribute::Float(value);
        Ok(Some(match name {
            "torch" | "math" | "ops" | "typing" | "CONSTANTS" | "__torch__" | "cmath" => Sugar::Module(name.into()),
            "int" => Sugar::Cast(Type::Int),
            "float" => Sugar::Cast(Type::Float),
            "bool" => Sugar::Cast(Type::Bool),
            "str" => Sugar::Cast(Type::Str),
            "complex" => Sugar::Cast(Type::Complex),
            "inf" => Sugar::Value(self.constant(Type::Float, Some(number(f64::INFINITY)))?),
            "nan" => Sugar::Value(self.constant(Type::Float, Some(number(f64::NAN)))?),
            "infj" | "nanj" => {
                let value = if name == "infj" { f64::INFINITY } else { f64::NAN };
                Sugar::Value(self.constant(Type::Complex, Some(crate::graph::Attribute::Complex(0.0, value)))?)
            }
            _ => return Ok(None),
        }))
    }

    /// An attribute of a module, such as `torch.relu`.
    pub(super) fn module_member(&mut self, module: &str, name: &str) -> Result<Sugar> {
        let path = format!("{module}.{name}");
        if module == "CONSTANTS" {
            let index = name.strip_prefix('c').and_then(|digits| digits.parse().ok());
            let Some(constant) = index.and_then(|index| self.unit.host.constant(index)) else {
                return Err(self.error(format!("there is no constant {path}")));
            };
            return Ok(Sugar::Value(self.constant(constant.kind, Some(constant.value))?));
        }
        if module.starts_with("__torch__") {
            return match self.defined(&path)? {
                Some(sugar) => Ok(sugar),
                None => Ok(Sugar::Module(path.into())),
            };
        }
        if module == "ops" || module == "torch.ops" {
            return Ok(Sugar::Module(format!("ops.{name}").into()));
        }
        if let Some(namespace) = module.strip_prefix("ops.") {
            let operator = format!("{namespace}::{name}");
            if self.unit.operators.overloads(&operator).is_empty() && super::builtin::rewrites(&operator).is_empty() {
                return Err(self.error(format!("Unknown builtin op: {operator}")));
            }
            return Ok(Sugar::Builtin { name: operator.into(), object: None });
        }
        if module == "typing" {
            return Special::find(name)
                .map(Sugar::Special)
                .ok_or_else(|| self.error(format!("undefined value {path}")));
        }
        if module == "math" || module == "cmath" {
            return self.math(name);
        }
        self.torch(&path, name)
    }

    fn math(&mut self, name: &str) -> Result<Sugar> {
        let value = match name {
            "pi" => std::f64::consts::PI,
            "e" => std::f64::consts::E,
            "tau" => std::f64::consts::TAU,
            "inf" => f64::INFINITY,
            "nan" => f64::NAN,
            _ => {
                let operator = format!("aten::{name}");
                if self.unit.operators.overloads(&operator).is_empty() {
                    return Err(self.error(format!("module 'math' has no attribute '{name}'")));
                }
                return Ok(Sugar::Builtin { name: operator.into(), object: None });
            }
        };
        Ok(Sugar::Value(self.constant(Type::Float, Some(crate::graph::Attribute::Float(value)))?))
    }

    fn torch(&mut self, path: &str, name: &str) -> Result<Sugar> {
        if let Some(special) = Special::find(path) {
            return Ok(Sugar::Special(special));
        }
        if let Some((_, operator)) = FUNCTIONS.iter().find(|(other, _)| *other == path) {
            return Ok(Sugar::Builtin { name: (*operator).into(), object: None });
        }
        if let Some(number) = torch_constant(path) {
            return Ok(Sugar::Value(self.int(number)?));
        }
        let prefix = match path.rsplit_once('.').map_or("", |(module, _)| module) {
            "torch"
            | "torch._C._nn"
            | "torch._C"
            | "torch._VF"
            | "torch.nn.functional"
            | "torch.functional"
            | "torch.Tensor" => "",
            "torch.linalg" => "linalg_",
            "torch.fft" => "fft_",
            "torch.special" => "special_",
            "torch.nested" => "nested_",
            _ => "\0",
        };
        let operator = format!("aten::{prefix}{name}");
        if !self.unit.operators.overloads(&operator).is_empty() {
            return Ok(Sugar::Builtin { name: operator.into(), object: None });
        }
        let modules = [
            "torch.nn",
            "torch.nn.functional",
            "torch._C",
            "torch._C._nn",
            "torch._VF",
            "torch.linalg",
            "torch.fft",
            "torch.special",
            "torch.jit",
            "torch.functional",
            "torch.classes",
            "torch.nested",
            "torch._jit_internal",
            "torch.Tensor",
            "torch.autograd",
            "torch.autograd.grad_mode",
            "torch.ops",
        ];
        if modules.contains(&path) {
            return Ok(Sugar::Module(path.into()));
        }
        match path {
            "torch.device" => Ok(Sugar::Builtin { name: "aten::device".into(), object: None }),
            "torch.no_grad"
            | "torch.enable_grad"
            | "torch.inference_mode"
            | "torch.set_grad_enabled"
            | "torch.autograd.grad_mode.no_grad" => {
                Ok(Sugar::Class(Type::Class(format!("__torch__.torch.autograd.grad_mode.{name}").into())))
            }
            "torch.inf" | "torch.nan" | "torch.pi" | "torch.e" => self.math(name),
            _ if path.starts_with("torch.classes.") => {
                let class = format!("__torch__.{path}");
                Ok(if path.matches('.').count() >= 3 {
                    Sugar::Class(Type::Class(class.into()))
                } else {
                    Sugar::Module(path.into())
                })
            }
            _ => Err(self.error(format!("\nobject has no attribute {name}"))),
        }
    }
}
