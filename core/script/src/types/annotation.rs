//! From annotations to types.

use super::Type;
use crate::ast::{BinaryOp, ExprId, ExprKind, Module};
use crate::parser::parse_expression;
use crate::source::Source;
use rushlight_base::Result;

/// Knows the classes that annotations name.
pub trait Resolver {
    /// The type with a qualified name (`__torch__.foo.Bar`), or the name as it is written.
    fn resolve(&self, name: &str) -> Option<Type>;

    /// Whether a class or interface has all methods of an interface.
    fn implements(&self, name: &str, interface: &str) -> bool;
}

/// A resolver without classes.
pub struct NoTypes;

impl Resolver for NoTypes {
    fn resolve(&self, _name: &str) -> Option<Type> {
        None
    }

    fn implements(&self, _name: &str, _interface: &str) -> bool {
        false
    }
}

/// The type that a string means.
pub fn parse_type(text: &str, types: &dyn Resolver) -> Result<Type> {
    let (module, expr) = parse_expression(Source::new("<string>", text)?)?;
    type_of(&module, expr, types)
}

/// The type of an attribute of a class, and whether it is a constant: `Final[int]` is int.
pub fn attribute_type(module: &Module, annotation: ExprId, types: &dyn Resolver) -> Result<(Type, bool)> {
    if let ExprKind::Subscript { value, index } = &module.expr(annotation).kind
        && let [element] = index.as_slice()
        && matches!(module.dotted(*value).as_deref(), Some("Final" | "typing.Final" | "torch.jit.Final"))
    {
        return Ok((type_of(module, *element, types)?, true));
    }
    Ok((type_of(module, annotation, types)?, false))
}

/// The type that an annotation means.
pub fn type_of(module: &Module, annotation: ExprId, types: &dyn Resolver) -> Result<Type> {
    Reader { module, types, quoted: false }.read(annotation)
}

struct Reader<'a> {
    module: &'a Module,
    types: &'a dyn Resolver,
    /// Inside of an annotation in quotes.
    quoted: bool,
}

impl Reader<'_> {
    fn error(&self, id: ExprId, message: &str) -> rushlight_base::Error {
        self.module.source.error(self.module.expr(id).span, message)
    }

    fn read(&self, id: ExprId) -> Result<Type> {
        match &self.module.expr(id).kind {
            ExprKind::None => Ok(Type::None),
            ExprKind::Name(_) | ExprKind::Attribute { .. } => self.named(id),
            ExprKind::Subscript { value, index } => self.parametrized(id, *value, index),
            ExprKind::Binary(BinaryOp::BitOr, ..) => self.alternatives(id),
            ExprKind::Str(bytes) if !self.quoted => {
                let Ok(text) = std::str::from_utf8(bytes) else {
                    return Err(self.error(id, "the annotation is not UTF-8"));
                };
                let source = Source::new(self.module.source.name(), text)?;
                let (module, expr) = parse_expression(source)?;
                Reader { module: &module, types: self.types, quoted: true }.read(expr)
            }
            kind => {
                let message = format!("Expression of type {} cannot be used in a type expression", category(kind));
                Err(self.error(id, &message))
            }
        }
    }

    fn named(&self, id: ExprId) -> Result<Type> {
        let Some(name) = self.module.dotted(id) else {
            return Err(self.error(id, "Expression of type select cannot be used in a type expression"));
        };
        let found = self.types.resolve(&name).or_else(|| builtin(&name));
        found.ok_or_else(|| self.error(id, &format!("Unknown type name '{name}'")))
    }

    fn parametrized(&self, id: ExprId, constructor: ExprId, index: &[ExprId]) -> Result<Type> {
        let Some(name) = self.module.dotted(constructor) else {
            return Err(self.error(id, "Subscripted type must be a type identifier"));
        };
        let one = || match index {
            [element] => self.read(*element),
            _ => {
                let message = format!("expected exactly one element type but found {}", index.len());
                Err(self.error(id, &message))
            }
        };
        let located = |result: Result<Type>| result.map_err(|error| self.error(id, error.message()));
        Ok(match name.strip_prefix("typing.").unwrap_or(&name) {
            "List" | "list" => one()?.list(),
            "Optional" => located(one()?.optional())?,
            "Future" | "torch.jit.Future" | "torch.futures.Future" => one()?.future(),
            "RRef" => Type::RRef(one()?.into()),
            "Await" | "_Await" | "torch.jit._Await" => Type::Await(one()?.into()),
            "Dict" | "dict" => match index {
                [key, value] => located(Type::dict(self.read(*key)?, self.read(*value)?))?,
                _ => {
                    let message = format!("expected exactly 2 element types but found {}", index.len());
                    return Err(self.error(id, &message));
                }
            },
            "Tuple" | "tuple" => match index {
                [only] if self.module.expr(*only).kind == ExprKind::Tuple(Vec::new()) => Type::tuple([]),
                _ => Type::tuple(index.iter().map(|&element| self.read(element)).collect::<Result<Vec<Type>>>()?),
            },
            "Union" => {
                let members = index.iter().map(|&member| self.read(member)).collect::<Result<Vec<Type>>>()?;
                located(merged(&members))?
            }
            name if name.strip_prefix("BroadcastingList").is_some_and(is_count) => one()?.list(),
            _ => return Err(self.error(constructor, &format!("Unknown type constructor {name}"))),
        })
    }

    /// `int | None`
    fn alternatives(&self, id: ExprId) -> Result<Type> {
        let mut members = Vec::new();
        let mut current = id;
        while let ExprKind::Binary(BinaryOp::BitOr, left, right) = &self.module.expr(current).kind {
            members.push(self.read(*right)?);
            current = *left;
        }
        members.push(self.read(current)?);
        members.reverse();
        merged(&members).map_err(|error| self.error(id, error.message()))
    }
}

/// The union of types; the same type several times is that type.
fn merged(members: &[Type]) -> Result<Type> {
    match members {
        [first, rest @ ..] if *first != Type::None && !rest.is_empty() && rest.iter().all(|member| member == first) => {
            Ok(first.clone())
        }
        _ => Type::union(members),
    }
}

/// Nothing, or the number in `BroadcastingList2`.
fn is_count(text: &str) -> bool {
    text.len() <= 1 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn builtin(name: &str) -> Option<Type> {
    Some(match name.strip_prefix("torch.").unwrap_or(name) {
        "Tensor" | "FloatTensor" | "DoubleTensor" | "HalfTensor" | "ByteTensor" | "CharTensor" | "ShortTensor"
        | "IntTensor" | "LongTensor" | "BoolTensor" => Type::Tensor,
        "Generator" => Type::Generator,
        "Stream" => Type::Stream,
        _ => match name {
            "int" | "torch.dtype" | "torch.SymInt" => Type::Int,
            // As in PyTorch's Python front end: TorchScript holds them as numbers.
            "torch.layout" | "torch.memory_format" | "torch.qscheme" => Type::Int,
            "float" => Type::Float,
            "complex" => Type::Complex,
            "number" => Type::Number,
            "bool" => Type::Bool,
            "str" => Type::Str,
            "NoneType" => Type::None,
            "Any" | "typing.Any" => Type::Any,
            "Device" | "torch.device" => Type::Device,
            "Capsule" => Type::Capsule,
            "list" => Type::AnyList,
            "tuple" => Type::AnyTuple,
            _ => return None,
        },
    })
}

/// How PyTorch's messages name an expression.
fn category(kind: &ExprKind) -> &'static str {
    match kind {
        ExprKind::Tuple(_) => "tuple-literal",
        ExprKind::List(_) => "list-literal",
        ExprKind::Dict(_) => "dict-literal",
        ExprKind::Call { .. } => "apply",
        ExprKind::Ellipsis => "dots",
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Imaginary(_) => "const",
        ExprKind::Bool(true) => "True",
        ExprKind::Bool(false) => "False",
        ExprKind::Str(_) | ExprKind::Format(_) => "string_literal",
        ExprKind::Starred(_) => "starred",
        ExprKind::Slice(_) => "slice_expr",
        ExprKind::Ternary { .. } => "if_expr",
        _ => "operator",
    }
}
