//! Schemas of functions: names, types and defaults of their arguments. Those of operators are read from PyTorch's
//! grammar (`aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`); functions and methods of a
//! program get theirs from the compiler.

use crate::ast::Name;
use crate::types::{Resolver, Type};
use rushlight_base::{Result, bail, err};
use rushlight_schema::{BaseType, Default, Detail, Signature};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The schema of a function.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The qualified name: `aten::add`.
    pub name: Name,
    /// `Tensor` of `aten::add.Tensor`; empty for the default overload.
    pub overload: Name,
    /// The arguments: those after `*` last.
    pub arguments: Vec<Argument>,
    /// What it returns: nothing, one value or several.
    pub returns: Vec<Return>,
    /// Takes any number of further arguments.
    pub vararg: bool,
    /// Returns any number of further values.
    pub varret: bool,
    text: Option<Arc<str>>,
}

/// An argument of a function.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The name.
    pub name: Name,
    /// The type.
    pub kind: Formal,
    /// The value if none is given.
    pub default: Option<Literal>,
    /// Whether it can be given by name only.
    pub keyword_only: bool,
    /// `int[2]`: an int stands for a list of this length.
    pub size: Option<usize>,
    /// Whether the call writes into it: `Tensor(a!)`.
    pub written: bool,
    /// The sets of memory it may share with other arguments and results: `Tensor(a)`.
    pub aliases: Vec<Name>,
}

/// A value that a function returns.
#[derive(Clone, Debug)]
pub struct Return {
    /// The name, if it has one.
    pub name: Option<Name>,
    /// The type.
    pub kind: Formal,
    /// The sets of memory it may share with arguments.
    pub aliases: Vec<Name>,
}

/// A member of an Enum.
#[derive(Debug, PartialEq)]
pub struct EnumLiteral {
    /// The qualified name of the class.
    pub class: Name,
    /// The name of the member.
    pub name: Name,
    /// The value of the member.
    pub value: Literal,
}

/// A default value.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// None
    None,
    /// A bool.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
    /// A string.
    Str(Arc<[u8]>),
    /// A list.
    List(Vec<Literal>),
    /// A member of an Enum.
    Enum(Arc<EnumLiteral>),
    /// A tuple.
    Tuple(Vec<Literal>),
}

/// The type of an argument: a type, or a pattern with type variables such as `Dict(str, t)`.
#[derive(Clone, Debug, PartialEq)]
pub enum Formal {
    /// A type without variables.
    Type(Type),
    /// `t`
    Variable(Name),
    /// `t[]`
    List(Arc<Formal>),
    /// `t?`
    Optional(Arc<Formal>),
    /// `Dict(str, t)`
    Dict(Arc<(Formal, Formal)>),
    /// `(int, t)`
    Tuple(Vec<Formal>),
    /// `Future(t)`
    Future(Arc<Formal>),
    /// `Await(t)`
    Await(Arc<Formal>),
    /// `RRef(t)`
    RRef(Arc<Formal>),
    /// `AnyEnumType`: any enum.
    AnyEnum,
    /// `AnyClassType`: any object.
    AnyClass,
}

/// What type variables stand for.
pub type Bindings = BTreeMap<Name, Type>;

impl Schema {
    /// Reads a schema in PyTorch's grammar. A name without namespace is one of `aten`.
    pub fn parse(text: &str) -> Result<Schema> {
        let signature: Signature = text.parse().map_err(|error| err!(Runtime, "{error}"))?;
        let mut schema = Schema::from_signature(&signature)?;
        let prefix = if signature.namespace.is_empty() { "aten::" } else { "" };
        schema.text = Some(format!("{prefix}{}", text.trim()).into());
        Ok(schema)
    }

    /// The schema that a signature is.
    pub fn from_signature(signature: &Signature) -> Result<Schema> {
        let namespace = if signature.namespace.is_empty() { "aten" } else { &signature.namespace };
        let arguments = signature.arguments.iter().map(argument).collect::<Result<_>>()?;
        let returns = signature.returns.iter().map(|value| {
            let name = value.name.as_deref().map(Name::from);
            Ok(Return { name, kind: formal(&value.ty)?, aliases: aliases(&value.ty) })
        });
        let mut text = signature.to_string();
        if signature.namespace.is_empty() {
            text.insert_str(0, "aten::");
        }
        Ok(Schema {
            name: format!("{namespace}::{}", signature.name).into(),
            overload: (&*signature.overload).into(),
            arguments,
            returns: returns.collect::<Result<_>>()?,
            vararg: signature.is_vararg,
            varret: signature.is_varret,
            text: Some(text.into()),
        })
    }

    /// The schema of a function of a program.
    pub fn new(name: &str, arguments: Vec<Argument>, returns: Type) -> Schema {
        Schema {
            name: name.into(),
            overload: "".into(),
            arguments,
            returns: vec![Return { name: None, kind: Formal::Type(returns), aliases: Vec::new() }],
            vararg: false,
            varret: false,
            text: None,
        }
    }

    /// The schema printed without the namespace, as PyTorch prints those of functions that it defines in TorchScript.
    pub(crate) fn without_namespace(mut self) -> Schema {
        self.text = self.text.map(|text| text.split_once("::").map_or(&*text, |(_, rest)| rest).into());
        self
    }

    /// The schema with another name; how it is printed stays.
    pub(crate) fn named(mut self, name: Name) -> Schema {
        self.name = name;
        self
    }

    /// `aten::add.Tensor`; `aten::add` for the default overload.
    pub fn full_name(&self) -> String {
        if self.overload.is_empty() { self.name.to_string() } else { format!("{}.{}", self.name, self.overload) }
    }

    /// Whether the call writes into any argument.
    pub fn writes(&self) -> bool {
        self.arguments.iter().any(|argument| argument.written)
    }
}

impl fmt::Display for Schema {
    /// As PyTorch prints schemas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return f.write_str(text);
        }
        let name = self.full_name();
        // The classes and functions of a program have qualified names; a schema has the last part.
        let is_operator = name.contains("::") || !self.overload.is_empty();
        let shown = if is_operator { &name } else { name.rsplit('.').next().unwrap_or(&name) };
        write!(f, "{shown}(")?;
        let mut keywords = false;
        for (index, argument) in self.arguments.iter().enumerate() {
            f.write_str(if index > 0 { ", " } else { "" })?;
            if argument.keyword_only && !keywords {
                keywords = true;
                f.write_str("*, ")?;
            }
            write!(f, "{} {}", argument.kind, argument.name)?;
            if let Some(default) = &argument.default {
                write!(f, "={default}")?;
            }
        }
        f.write_str(") -> ")?;
        match self.returns.as_slice() {
            // So that one tuple is not taken for several results.
            [single] if matches!(single.kind.concrete(), Some(Type::Tuple(_))) => write!(f, "({})", single.kind),
            [single] => write!(f, "{}", single.kind),
            several => list(f, "(", several.iter().map(|value| &value.kind)),
        }
    }
}

impl Argument {
    /// A positional argument without default.
    pub fn new(name: &str, kind: Type) -> Argument {
        Argument {
            name: name.into(),
            kind: Formal::Type(kind),
            default: None,
            keyword_only: false,
            size: None,
            written: false,
            aliases: Vec::new(),
        }
    }
}

fn argument(argument: &rushlight_schema::Argument) -> Result<Argument> {
    let kind = formal(&argument.ty)?;
    Ok(Argument {
        name: (&*argument.name).into(),
        default: argument.default.as_ref().map(|default| literal(default, &argument.ty)),
        kind,
        keyword_only: argument.kwarg_only,
        size: argument.ty.list.and_then(|list| list.size),
        written: argument.is_written(),
        aliases: aliases(&argument.ty),
    })
}

fn aliases(kind: &rushlight_schema::Type) -> Vec<Name> {
    let sets = kind.alias.iter().flat_map(|alias| alias.sets.iter());
    sets.map(|set| Name::from(&**set)).collect()
}

/// A default as a value of the argument's type.
fn literal(default: &Default, kind: &rushlight_schema::Type) -> Literal {
    let is_float = kind.base == BaseType::Float;
    match default {
        Default::None => Literal::None,
        Default::Bool(value) => Literal::Bool(*value),
        Default::Str(value) => Literal::Str(value.as_bytes().into()),
        Default::List(items) => Literal::List(items.iter().map(|item| element(item, is_float)).collect()),
        Default::Int(_) | Default::Float(_) | Default::Constant(_) => {
            let value = element(default, is_float);
            match kind.list {
                Some(list) => Literal::List(vec![value; list.size.unwrap_or(1).min(16)]),
                None => value,
            }
        }
    }
}

fn element(default: &Default, is_float: bool) -> Literal {
    match default {
        Default::None => Literal::None,
        Default::Bool(value) => Literal::Bool(*value),
        Default::Int(value) if is_float => Literal::Float(*value as f64),
        Default::Int(value) => Literal::Int(*value),
        Default::Float(value) => Literal::Float(*value),
        Default::Str(value) => Literal::Str(value.as_bytes().into()),
        Default::List(items) => Literal::List(items.iter().map(|item| element(item, is_float)).collect()),
        Default::Constant(constant) => Literal::Int(constant.value()),
    }
}

fn formal(kind: &rushlight_schema::Type) -> Result<Formal> {
    let wrap = |kind: Formal, optional: bool| if optional { optional_of(kind) } else { Ok(kind) };
    match kind.list {
        Some(list) => {
            let element = match (kind.base, kind.inner()) {
                (BaseType::List, [inner]) => formal(inner)?,
                _ => base(kind)?,
            };
            wrap(list_of(wrap(element, list.optional_elements)?), kind.optional)
        }
        None => wrap(base(kind)?, kind.optional),
    }
}

fn list_of(element: Formal) -> Formal {
    match element {
        Formal::Type(kind) => Formal::Type(kind.list()),
        other => Formal::List(other.into()),
    }
}

fn optional_of(element: Formal) -> Result<Formal> {
    Ok(match element {
        Formal::Type(kind) => Formal::Type(kind.optional()?),
        other => Formal::Optional(other.into()),
    })
}

/// A type without its list part and `?`. TorchScript holds dtypes, layouts and memory formats as int.
fn base(kind: &rushlight_schema::Type) -> Result<Formal> {
    let inner = || kind.inner().iter().map(formal).collect::<Result<Vec<Formal>>>();
    let one = || match kind.inner() {
        [element] => formal(element),
        _ => bail!(Runtime, "a schema has a type with {} parameters where one is expected", kind.inner().len()),
    };
    Ok(Formal::Type(match kind.base {
        BaseType::Tensor => Type::Tensor,
        BaseType::Scalar => Type::Number,
        BaseType::Int | BaseType::ScalarType | BaseType::Layout | BaseType::MemoryFormat | BaseType::QScheme => {
            Type::Int
        }
        BaseType::Float => Type::Float,
        BaseType::Bool => Type::Bool,
        BaseType::Str | BaseType::Dimname => Type::Str,
        BaseType::Complex => Type::Complex,
        BaseType::Device => Type::Device,
        BaseType::Generator => Type::Generator,
        BaseType::Stream => Type::Stream,
        BaseType::NoneType => Type::None,
        BaseType::Any => Type::Any,
        BaseType::AnyList => Type::AnyList,
        BaseType::AnyTuple => Type::AnyTuple,
        BaseType::Capsule => Type::Capsule,
        BaseType::AnyEnum => return Ok(Formal::AnyEnum),
        BaseType::AnyClass => return Ok(Formal::AnyClass),
        BaseType::Storage | BaseType::PyObject => {
            bail!(Runtime, "TorchScript has no values of type {}", kind.base.name())
        }
        BaseType::Dict => {
            let [key, value]: [Formal; 2] = inner()?
                .try_into()
                .map_err(|_| err!(Runtime, "a dict in a schema needs the types of key and value"))?;
            return match (key, value) {
                (Formal::Type(key), Formal::Type(value)) => Ok(Formal::Type(Type::dict(key, value)?)),
                pair => Ok(Formal::Dict(Arc::new(pair))),
            };
        }
        BaseType::Future => return Ok(one()?.map(Type::future, Formal::Future)),
        BaseType::Await => return Ok(one()?.map(|kind| Type::Await(kind.into()), Formal::Await)),
        BaseType::RRef => return Ok(one()?.map(|kind| Type::RRef(kind.into()), Formal::RRef)),
        BaseType::Tuple => {
            let elements = inner()?;
            let types: Option<Vec<Type>> = elements.iter().map(Formal::concrete).collect();
            match types {
                Some(types) => Type::tuple(types),
                None => return Ok(Formal::Tuple(elements)),
            }
        }
        BaseType::Union => {
            let types: Option<Vec<Type>> = inner()?.iter().map(Formal::concrete).collect();
            let Some(types) = types else { bail!(Runtime, "a union in a schema has a type variable") };
            Type::union(&types)?
        }
        BaseType::List => return Ok(list_of(one()?)),
        BaseType::Variable | BaseType::Class => {
            let Detail::Name(name) = &kind.detail else { bail!(Runtime, "a type in a schema has no name") };
            if kind.base == BaseType::Variable {
                return Ok(Formal::Variable((&**name).into()));
            }
            Type::Class((&**name).into())
        }
    }))
}

impl Formal {
    fn map(self, of_type: impl FnOnce(Type) -> Type, of_formal: impl FnOnce(Arc<Formal>) -> Formal) -> Formal {
        match self {
            Formal::Type(kind) => Formal::Type(of_type(kind)),
            other => of_formal(other.into()),
        }
    }

    /// The type, if it has no variables.
    pub fn concrete(&self) -> Option<Type> {
        match self {
            Formal::Type(kind) => Some(kind.clone()),
            _ => None,
        }
    }

    /// Whether a type belongs to this pattern, ignoring what variables are bound to.
    pub fn accepts(&self, actual: &Type, types: &dyn Resolver) -> bool {
        let mut bindings = Bindings::new();
        self.bind(actual, &mut bindings, types).is_ok_and(|kind| actual.is_subtype_of(&kind, types))
    }

    /// The type that this is when a value of type `actual` is given; binds the variables in it. The value must be a
    /// subtype of the result still. An error is the reason in PyTorch's words.
    pub fn bind(&self, actual: &Type, bindings: &mut Bindings, types: &dyn Resolver) -> Result<Type, String> {
        match self {
            Formal::Type(kind) => Ok(kind.clone()),
            Formal::Variable(name) => match bindings.get(name) {
                None => {
                    bindings.insert(name.clone(), actual.clone());
                    Ok(actual.clone())
                }
                Some(bound) if bound.unify(actual, types).is_some() => Ok(bound.clone()),
                Some(bound) => Err(format!(
                    "Type variable '{name}' previously matched to type {} is matched to type {}",
                    bound.annotation_str(),
                    actual.annotation_str()
                )),
            },
            Formal::List(element) => match actual {
                Type::List(kind) => Ok(element.bind(kind, bindings, types)?.list()),
                Type::Tuple(kinds) => {
                    let mut unified = kinds.first().cloned();
                    for kind in kinds.iter().skip(1) {
                        unified = unified.and_then(|unified| unified.unify(kind, types));
                    }
                    match unified {
                        Some(unified) => Ok(element.bind(&unified, bindings, types)?.list()),
                        None => Err(mismatch(self, actual)),
                    }
                }
                _ => Err(mismatch(self, actual)),
            },
            Formal::Optional(element) => match actual {
                Type::Optional(kind) => {
                    element.bind(kind, bindings, types)?.optional().map_err(|error| error.message().to_owned())
                }
                Type::None => Err(format!(
                    "Cannot match {self} to None, because there is no way to determine {element} from None"
                )),
                // The value itself is a value of the optional type.
                other => element.bind(other, bindings, types),
            },
            Formal::Dict(pair) => match actual {
                Type::Dict(kinds) => {
                    let key = pair.0.bind(&kinds.0, bindings, types)?;
                    let value = pair.1.bind(&kinds.1, bindings, types)?;
                    Type::dict(key, value).map_err(|error| error.message().to_owned())
                }
                _ => Err(mismatch(self, actual)),
            },
            Formal::Tuple(elements) => match actual.elements() {
                Some(kinds) if kinds.len() == elements.len() => {
                    let kinds = elements.iter().zip(&kinds).map(|(element, kind)| element.bind(kind, bindings, types));
                    Ok(Type::tuple(kinds.collect::<Result<Vec<Type>, String>>()?))
                }
                _ => Err(mismatch(self, actual)),
            },
            Formal::Future(element) => match actual {
                Type::Future(kind) => Ok(element.bind(kind, bindings, types)?.future()),
                _ => Err(format!("Cannot match a future to {}", actual.annotation_str())),
            },
            Formal::Await(element) => match actual {
                Type::Await(kind) => Ok(Type::Await(element.bind(kind, bindings, types)?.into())),
                _ => Err(mismatch(self, actual)),
            },
            Formal::RRef(element) => match actual {
                Type::RRef(kind) => Ok(Type::RRef(element.bind(kind, bindings, types)?.into())),
                _ => Err(mismatch(self, actual)),
            },
            Formal::AnyEnum if matches!(actual, Type::Enum(_)) => Ok(actual.clone()),
            Formal::AnyClass if matches!(actual, Type::Class(_)) => Ok(actual.clone()),
            Formal::AnyEnum | Formal::AnyClass => Err(mismatch(self, actual)),
        }
    }

    /// The type with its variables replaced; none if a variable is not bound.
    pub fn resolve(&self, bindings: &Bindings) -> Option<Type> {
        Some(match self {
            Formal::Type(kind) => kind.clone(),
            Formal::Variable(name) => bindings.get(name)?.clone(),
            Formal::List(element) => element.resolve(bindings)?.list(),
            Formal::Optional(element) => element.resolve(bindings)?.optional().ok()?,
            Formal::Dict(pair) => Type::dict(pair.0.resolve(bindings)?, pair.1.resolve(bindings)?).ok()?,
            Formal::Tuple(elements) => {
                Type::tuple(elements.iter().map(|element| element.resolve(bindings)).collect::<Option<Vec<Type>>>()?)
            }
            Formal::Future(element) => element.resolve(bindings)?.future(),
            Formal::Await(element) => Type::Await(element.resolve(bindings)?.into()),
            Formal::RRef(element) => Type::RRef(element.resolve(bindings)?.into()),
            Formal::AnyEnum | Formal::AnyClass => return None,
        })
    }
}

fn mismatch(formal: &Formal, actual: &Type) -> String {
    format!("Cannot match {formal} to {}", actual.annotation_str())
}

impl fmt::Display for Formal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Formal::Type(kind) => f.write_str(&kind.qualified_str()),
            Formal::Variable(name) => f.write_str(name),
            Formal::List(element) => write!(f, "{element}[]"),
            Formal::Optional(element) => write!(f, "{element}?"),
            Formal::Dict(pair) => write!(f, "Dict({}, {})", pair.0, pair.1),
            Formal::Tuple(elements) => list(f, "(", elements.iter()),
            Formal::Future(element) => write!(f, "Future({element})"),
            Formal::Await(element) => write!(f, "Await({element})"),
            Formal::RRef(element) => write!(f, "RRef({element})"),
            Formal::AnyEnum => f.write_str("AnyEnumType"),
            Formal::AnyClass => f.write_str("AnyClassType"),
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::None => f.write_str("None"),
            Literal::Bool(value) => f.write_str(if *value { "True" } else { "False" }),
            Literal::Int(value) => write!(f, "{value}"),
            Literal::Float(value) => f.write_str(&crate::graph::print::float(*value)),
            Literal::Complex(real, imaginary) => {
                let sign = if imaginary.is_sign_negative() { "" } else { "+" };
                let float = crate::graph::print::float;
                write!(f, "{}{sign}{}j", float(*real), float(*imaginary))
            }
            Literal::Str(bytes) => f.write_str(&crate::print::print_quoted(bytes)),
            Literal::List(items) => {
                list(f, "[", items.iter())?;
                Ok(())
            }
            Literal::Tuple(items) => list(f, "(", items.iter()),
            Literal::Enum(member) => write!(f, "{}.{}", member.class, member.name),
        }
    }
}

fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, open: &str, items: impl Iterator<Item = T>) -> fmt::Result {
    f.write_str(open)?;
    for (index, item) in items.enumerate() {
        f.write_str(if index > 0 { ", " } else { "" })?;
        write!(f, "{item}")?;
    }
    f.write_str(if open == "[" { "]" } else { ")" })
}
