//! Types, schemas and classes as values of the dispatcher, for programs in other languages.
//!
//! A type is a tuple: its kind, its name, the types inside of it, and the names of its fields. The kind of a type without
//! parameters is its annotation (`int`).

use crate::arguments;
use crate::ast::ClassKind;
use crate::classes;
use crate::compile;
use crate::module::Module;
use crate::program::Program;
use crate::runtime::convert::to_operator;
use crate::runtime::function::Linker;
use crate::runtime::object::Role;
use crate::schema::{Argument, Formal, Return, Schema};
use crate::types::{NoTypes, Type, parse_type};
use rushlight_base::{Result, ensure, list};
use rushlight_tensor::dispatch::{Items, Value};
use std::sync::Arc;

/// How deep types may nest: each level needs two of a value.
const MAX_DEPTH: usize = 24;

fn tuple(values: Vec<Value>) -> Result<Value> {
    Ok(Value::Tuple(Items::new(values)?))
}

fn text(text: impl AsRef<str>) -> Value {
    Value::from(text.as_ref())
}

fn strings<T: AsRef<str>>(items: impl Iterator<Item = T>) -> Result<Value> {
    Ok(Value::Strings(list::collect(items.map(|item| Arc::from(item.as_ref())))?))
}

fn tree(kind: &str, name: &str, parts: Vec<Value>, fields: &[&str]) -> Result<Value> {
    tuple(vec![text(kind), text(name), tuple(parts)?, strings(fields.iter())?])
}

fn type_tree(kind: &Type, depth: usize) -> Result<Value> {
    ensure!(depth > 0, Value, "types nest more than {MAX_DEPTH} deep");
    let each = |parts: &[Type]| -> Result<Vec<Value>> {
        list::try_collect(parts.iter().map(|part| type_tree(part, depth - 1)))
    };
    let one = |part: &Type| each(std::slice::from_ref(part));
    match kind {
        Type::List(part) => tree("List", "", one(part)?, &[]),
        Type::Optional(part) => tree("Optional", "", one(part)?, &[]),
        Type::Future(part) => tree("Future", "", one(part)?, &[]),
        Type::RRef(part) => tree("RRef", "", one(part)?, &[]),
        Type::Await(part) => tree("Await", "", one(part)?, &[]),
        Type::Tuple(parts) => tree("Tuple", "", each(parts)?, &[]),
        Type::Union(parts) => tree("Union", "", each(parts)?, &[]),
        Type::Dict(pair) => tree("Dict", "", each(&[pair.0.clone(), pair.1.clone()])?, &[]),
        Type::NamedTuple(class) => {
            let (names, kinds): (Vec<&str>, Vec<Type>) =
                class.fields.iter().map(|(name, kind)| (&**name, kind.clone())).unzip();
            tree("NamedTuple", &class.name, each(&kinds)?, &names)
        }
        Type::Enum(class) => tree("Enum", &class.name, one(&class.value)?, &[]),
        Type::Class(name) => tree("Class", name, Vec::new(), &[]),
        Type::Interface(name) => tree("Interface", name, Vec::new(), &[]),
        Type::Function(name) => tree("Function", name, Vec::new(), &[]),
        simple => tree(&simple.annotation_str(), "", Vec::new(), &[]),
    }
}

fn formal_tree(kind: &Formal, depth: usize) -> Result<Value> {
    ensure!(depth > 0, Value, "types nest more than {MAX_DEPTH} deep");
    let one = |part: &Formal| -> Result<Vec<Value>> { Ok(vec![formal_tree(part, depth - 1)?]) };
    match kind {
        Formal::Type(kind) => type_tree(kind, depth),
        Formal::Variable(name) => tree("Variable", name, Vec::new(), &[]),
        Formal::List(part) => tree("List", "", one(part)?, &[]),
        Formal::Optional(part) => tree("Optional", "", one(part)?, &[]),
        Formal::Future(part) => tree("Future", "", one(part)?, &[]),
        Formal::Await(part) => tree("Await", "", one(part)?, &[]),
        Formal::RRef(part) => tree("RRef", "", one(part)?, &[]),
        Formal::Dict(pair) => {
            tree("Dict", "", vec![formal_tree(&pair.0, depth - 1)?, formal_tree(&pair.1, depth - 1)?], &[])
        }
        Formal::Tuple(parts) => {
            let parts = list::try_collect(parts.iter().map(|part| formal_tree(part, depth - 1)))?;
            tree("Tuple", "", parts, &[])
        }
        Formal::AnyEnum => tree("AnyEnumType", "", Vec::new(), &[]),
        Formal::AnyClass => tree("AnyClassType", "", Vec::new(), &[]),
    }
}

/// `(name, type, has default, default, keyword only, size or None, written, alias sets)`
fn argument(argument: &Argument) -> Result<Value> {
    let default = argument.default.as_ref().map(|default| to_operator(&arguments::literal(default))).transpose()?;
    tuple(vec![
        text(&argument.name),
        formal_tree(&argument.kind, MAX_DEPTH)?,
        Value::from(argument.default.is_some()),
        default.unwrap_or(Value::None),
        Value::from(argument.keyword_only),
        argument.size.map_or(Value::None, |size| Value::from(size as i64)),
        Value::from(argument.written),
        strings(argument.aliases.iter())?,
    ])
}

/// The same with a result.
fn result(result: &Return) -> Result<Value> {
    tuple(vec![
        text(result.name.as_deref().unwrap_or_default()),
        formal_tree(&result.kind, MAX_DEPTH)?,
        Value::from(false),
        Value::None,
        Value::from(false),
        Value::None,
        Value::from(false),
        strings(result.aliases.iter())?,
    ])
}

impl Schema {
    /// `(text, name, overload, arguments, results, takes more arguments, returns more results)`
    pub fn describe(&self) -> Result<Value> {
        tuple(vec![
            text(self.to_string()),
            text(&self.name),
            text(&self.overload),
            tuple(list::try_collect(self.arguments.iter().map(argument))?)?,
            tuple(list::try_collect(self.returns.iter().map(result))?)?,
            Value::from(self.vararg),
            Value::from(self.varret),
        ])
    }
}

impl Type {
    /// The type as a value.
    pub fn describe(&self) -> Result<Value> {
        type_tree(self, MAX_DEPTH)
    }

    /// The type that an annotation without classes of a program means.
    pub fn parse(annotation: &str) -> Result<Type> {
        parse_type(annotation, &NoTypes)
    }
}

impl Program {
    /// The type that an annotation means.
    pub fn parse_type(&self, annotation: &str) -> Result<Type> {
        parse_type(annotation, self)
    }

    /// The schema of a function, or of a method (`Class.method`).
    pub fn signature(&self, name: &str) -> Result<Value> {
        self.schema(name)?.describe()
    }

    /// A class, an interface, a NamedTuple or an Enum: `(kind, type, attributes, constants, methods, static methods, hooks
    /// before forward, hooks after it)`. An attribute is `(name, type, 0, 1 for parameters or 2 for buffers)`, a constant `(name, type, value)`. The members of
    /// an Enum are its constants.
    pub fn describe_class(&self, name: &str) -> Result<Value> {
        if name.starts_with(classes::PREFIX) {
            return describe_custom(name);
        }
        let kind = self.named_type(name)?.unwrap_or(Type::Class(name.into()));
        let data = self.class_data(name)?;
        let attributes = data.attributes.iter().map(|attribute| {
            let role = if attribute.is_parameter { 1_i64 } else { 2 * i64::from(attribute.is_buffer) };
            tuple(vec![text(&attribute.name), attribute.kind.describe()?, Value::from(role)])
        });
        let mut constants = Vec::new();
        for (name, kind, value) in data.constants.iter().chain(&data.values) {
            let value = to_operator(&crate::runtime::constant(kind, Some(value))?)?;
            constants.push(tuple(vec![text(name), kind.describe()?, value])?);
        }
        tuple(vec![
            text(class_kind(&data)),
            kind.describe()?,
            tuple(list::try_collect(attributes)?)?,
            tuple(constants)?,
            strings(data.methods.iter())?,
            strings(data.static_methods.iter())?,
            strings(data.forward_pre_hooks.iter())?,
            strings(data.forward_hooks.iter())?,
        ])
    }

    /// The names of the functions that [`define`](Program::define) added, without methods.
    pub fn function_names(&self) -> Vec<String> {
        self.defined_functions()
    }

    /// Adds functions and classes from source code and compiles them.
    pub fn define_checked(&self, source: &str) -> Result<()> {
        self.define(source)?.iter().try_for_each(|name| self.check_defined(name))
    }

    /// The graph of a function as text; with calls replaced by what they call if `inlined`.
    pub fn graph_text(&self, name: &str, inlined: bool) -> Result<String> {
        let function = Linker::function(self, name)?;
        if !inlined {
            return Ok(function.graph.to_string());
        }
        let mut graph = crate::graph::Graph::clone(&function.graph);
        crate::passes::inline(&mut graph, self)?;
        Ok(graph.to_string())
    }
}

fn class_kind(data: &compile::Class) -> &'static str {
    match data.kind {
        ClassKind::Module => "Module",
        ClassKind::Plain => "Class",
        ClassKind::Interface => "Interface",
        ClassKind::ModuleInterface => "ModuleInterface",
        ClassKind::NamedTuple => "NamedTuple",
        ClassKind::Enum => "Enum",
        ClassKind::Exception => "Exception",
    }
}

fn describe_custom(name: &str) -> Result<Value> {
    let (methods, static_methods) = classes::names(name)?;
    tuple(vec![
        text("Custom"),
        Type::Class(name.into()).describe()?,
        tuple(Vec::new())?,
        tuple(Vec::new())?,
        strings(methods.iter())?,
        strings(static_methods.iter())?,
        Value::Strings(Vec::new()),
        Value::Strings(Vec::new()),
    ])
}

impl Module {
    /// The class of the module, with the attributes that this module has: see [`Program::describe_class`].
    pub fn describe(&self) -> Result<Value> {
        self.program().describe_class(self.class())
    }

    /// What a module uses an attribute for, from its number.
    pub fn role(number: i32) -> Result<Role> {
        Ok(match number {
            0 => Role::Plain,
            1 => Role::Parameter,
            2 => Role::Buffer,
            _ => {
                rushlight_base::bail!(Value, "an attribute is 0 (plain), 1 (a parameter) or 2 (a buffer), not {number}")
            }
        })
    }
}
