//! The classes and functions of a program.

use super::class::{Attribute, Class};
use super::environment::Compiler;
use super::function::Function;
use crate::ast::{self, ClassKind, ExprKind, Item, Member, Name};
use crate::graph;
use crate::operators::Operators;
use crate::parser::{parse_functions, parse_module};
use crate::schema::{Argument, EnumLiteral, Formal, Literal, Schema};
use crate::source::Source;
use crate::types::{EnumType, NamedTuple, Resolver, Type, attribute_type, type_of};
use rushlight_base::{Result, bail, ensure, err};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A value that code names by number, such as `CONSTANTS.c0`.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its type.
    pub kind: Type,
    /// Its value; usually opaque.
    pub value: graph::Attribute,
}

/// Where a unit finds what is not in the source code that it was given.
pub trait Host: Send + Sync {
    /// The file that defines what begins with `path.`: of `__torch__.foo.Bar` the path is `__torch__.foo`.
    fn source(&self, path: &str) -> Result<Option<Source>>;

    /// `CONSTANTS.c<index>`
    fn constant(&self, index: usize) -> Option<Constant>;

    /// The schema of a method of a class that is not written in TorchScript (`__torch__.torch.classes...`), without
    /// `self`.
    fn custom_method(&self, class: &str, method: &str) -> Option<Arc<Schema>>;

    /// The version of the operators that the files were written for; none for the newest.
    fn operator_version(&self) -> Option<u64> {
        None
    }
}

/// A host for programs of one source.
pub struct NoHost;

impl Host for NoHost {
    fn source(&self, _path: &str) -> Result<Option<Source>> {
        Ok(None)
    }

    fn constant(&self, _index: usize) -> Option<Constant> {
        None
    }

    fn custom_method(&self, _class: &str, _method: &str) -> Option<Arc<Schema>> {
        None
    }
}

/// A parsed source with the prefix of its names and the start of each line.
pub(super) struct File {
    pub(super) module: ast::Module,
    pub(super) prefix: Name,
    first_line: usize,
    lines: Vec<u32>,
}

impl File {
    fn new(module: ast::Module, prefix: &str) -> File {
        let text = module.source.text();
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        File { first_line: module.source.position(0).0, lines, module, prefix: prefix.into() }
    }

    /// Line and column of an offset, without a search through the text.
    pub(super) fn position(&self, offset: u32) -> (usize, usize) {
        let line = self.lines.partition_point(|&start| start <= offset).saturating_sub(1);
        let start = self.lines.get(line).copied().unwrap_or(0);
        let head = self.module.source.text().get(start as usize..offset as usize).unwrap_or("");
        (self.first_line + line, head.chars().count())
    }

    pub(super) fn qualified(&self, name: &str) -> Name {
        if self.prefix.is_empty() { name.into() } else { format!("{}.{name}", self.prefix).into() }
    }
}

/// Where a definition is.
#[derive(Clone)]
pub(super) enum Definition {
    Class(Arc<File>, usize),
    Function(Arc<File>, usize),
    /// A method: its class, and the index of the member.
    Method(Name, Arc<File>, usize, usize),
    /// A function that was added to a class.
    Added(Name, Arc<File>, usize),
}

enum State {
    Compiling,
    Done(Arc<Function>),
}

/// How deep functions without declared result may call each other: the result of one is found by compiling it.
const MAX_COMPILING: usize = 24;

/// The classes and functions of a program. They are compiled when they are asked for.
pub struct Unit {
    pub(super) operators: Arc<dyn Operators>,
    pub(super) host: Arc<dyn Host>,
    paths: RefCell<HashSet<Name>>,
    definitions: RefCell<HashMap<Name, Definition>>,
    types: RefCell<HashMap<Name, Type>>,
    resolving: RefCell<HashSet<Name>>,
    classes: RefCell<HashMap<Name, Arc<Class>>>,
    functions: RefCell<HashMap<Name, State>>,
    depth: Cell<usize>,
    failure: RefCell<Option<rushlight_base::Error>>,
}

impl Unit {
    /// A unit without definitions.
    pub fn new(operators: Arc<dyn Operators>, host: Arc<dyn Host>) -> Unit {
        Unit {
            operators,
            host,
            paths: RefCell::default(),
            definitions: RefCell::default(),
            types: RefCell::default(),
            resolving: RefCell::default(),
            classes: RefCell::default(),
            functions: RefCell::default(),
            depth: Cell::new(0),
            failure: RefCell::default(),
        }
    }

    /// Adds the classes and functions of a source, named `prefix.<name>` (`<name>` if the prefix is empty). Returns the
    /// qualified names.
    pub fn define(&self, prefix: &str, source: Source) -> Result<Vec<Name>> {
        let file = Arc::new(File::new(parse_module(source)?, prefix));
        let mut names = Vec::new();
        for (index, item) in file.module.items.iter().enumerate() {
            let (name, definition) = match item {
                Item::Class(class) => (&class.name, Definition::Class(file.clone(), index)),
                Item::Function(function) => (&function.name, Definition::Function(file.clone(), index)),
                Item::Version(..) => continue,
            };
            let name = file.qualified(name);
            if self.definitions.borrow().contains_key(&name) {
                bail!(Runtime, "'{name}' is defined already");
            }
            if let Item::Class(class) = item {
                self.add_methods(&name, class, &file, index);
            }
            self.definitions.borrow_mut().insert(name.clone(), definition);
            names.push(name);
        }
        Ok(names)
    }

    fn add_methods(&self, name: &Name, class: &ast::Class, file: &Arc<File>, item: usize) {
        for (index, member) in class.members.iter().enumerate() {
            let Member::Method(method) = member else { continue };
            let setter = method
                .decorators
                .iter()
                .any(|&id| file.module.dotted(id).is_some_and(|decorator| decorator.ends_with(".setter")));
            let suffix = if setter { "__setter" } else { "" };
            let method: Name = format!("{name}.{}{suffix}", method.name).into();
            let definition = Definition::Method(name.clone(), file.clone(), item, index);
            self.definitions.borrow_mut().insert(method, definition);
        }
    }

    /// The qualified names of the functions that were defined, in alphabetical order.
    pub fn function_names(&self) -> Vec<String> {
        let definitions = self.definitions.borrow();
        let functions = definitions.iter().filter(|(_, definition)| matches!(definition, Definition::Function(..)));
        let mut names: Vec<String> = functions.map(|(name, _)| name.to_string()).collect();
        names.sort();
        names
    }

    /// Adds methods to a class, as `Module::define` does. Returns their names without the class.
    pub fn define_methods(&self, class: &str, source: Source) -> Result<Vec<Name>> {
        let mut data = Class::clone(&*self.class(class)?);
        let prefix = class.rsplit_once('.').map_or("", |(prefix, _)| prefix);
        let file = Arc::new(File::new(parse_functions(source)?, prefix));
        let mut names = Vec::new();
        for (index, item) in file.module.items.iter().enumerate() {
            let Item::Function(function) = item else { continue };
            let name: Name = format!("{class}.{}", function.name).into();
            ensure!(
                !data.has_method(&function.name),
                Runtime,
                "Can't redefine method: {} on class: {class}",
                function.name
            );
            let definition = Definition::Added(data.name.clone(), file.clone(), index);
            self.definitions.borrow_mut().insert(name, definition);
            data.methods.push(function.name.clone());
            names.push(function.name.clone());
        }
        self.classes.borrow_mut().insert(data.name.clone(), data.into());
        Ok(names)
    }

    /// Adds a class without source, to which attributes and methods can be added.
    pub fn define_class(&self, class: Class) -> Result<()> {
        ensure!(self.class(&class.name).is_err(), Runtime, "'{}' is defined already", class.name);
        let kind = match class.kind {
            ClassKind::Interface | ClassKind::ModuleInterface => Type::Interface(class.name.clone()),
            _ => Type::Class(class.name.clone()),
        };
        self.types.borrow_mut().insert(class.name.clone(), kind);
        self.classes.borrow_mut().insert(class.name.clone(), class.into());
        Ok(())
    }

    /// Adds a type that is no class.
    pub(crate) fn define_type(&self, name: &str, kind: Type) -> Result<()> {
        ensure!(self.named_type(name)?.is_none(), Runtime, "'{name}' is defined already");
        self.types.borrow_mut().insert(name.into(), kind);
        Ok(())
    }

    /// Adds an attribute to a class.
    pub fn add_attribute(&self, class: &str, attribute: Attribute) -> Result<()> {
        let mut data = Class::clone(&*self.class(class)?);
        ensure!(
            data.attribute(&attribute.name).is_none(),
            Runtime,
            "attempting to add attribute '{}' to {class} but an attribute with the same name already exists",
            attribute.name
        );
        data.attributes.push(attribute);
        self.classes.borrow_mut().insert(data.name.clone(), data.into());
        Ok(())
    }

    /// Reads the file that defines a qualified name, if it was not read.
    fn load(&self, name: &str) -> Result<()> {
        let Some((path, _)) = name.rsplit_once('.') else { return Ok(()) };
        if !path.starts_with("__torch__") || !self.paths.borrow_mut().insert(path.into()) {
            return Ok(());
        }
        if let Some(source) = self.host.source(path)? {
            self.define(path, source)?;
        } else if let Some((outer, _)) = path.rsplit_once('.') {
            // `path` may be a class whose method is looked up.
            let owner = format!("{outer}.x");
            self.load(&owner)?;
        }
        Ok(())
    }

    pub(super) fn definition(&self, name: &str) -> Result<Option<Definition>> {
        if !self.definitions.borrow().contains_key(name) {
            self.load(name)?;
        }
        Ok(self.definitions.borrow().get(name).cloned())
    }

    /// The type with a qualified name.
    pub fn named_type(&self, name: &str) -> Result<Option<Type>> {
        if let Some(kind) = self.types.borrow().get(name) {
            return Ok(Some(kind.clone()));
        }
        if name.starts_with("__torch__.torch.classes.") {
            return Ok(Some(Type::Class(name.into())));
        }
        let Some(Definition::Class(file, item)) = self.definition(name)? else { return Ok(None) };
        let Some(Item::Class(class)) = file.module.items.get(item) else { return Ok(None) };
        if !self.resolving.borrow_mut().insert(name.into()) {
            bail!(Runtime, "the type '{name}' refers to itself");
        }
        let kind = self.class_type(name, class, &file);
        self.resolving.borrow_mut().remove(name);
        let kind = kind?;
        self.types.borrow_mut().insert(name.into(), kind.clone());
        Ok(Some(kind))
    }

    fn class_type(&self, name: &str, class: &ast::Class, file: &Arc<File>) -> Result<Type> {
        Ok(match class.kind {
            ClassKind::NamedTuple => {
                let mut fields = Vec::new();
                for member in &class.members {
                    if let Member::Attribute { name, annotation, .. } = member {
                        fields.push((name.clone(), self.annotation(file, *annotation)?));
                    }
                }
                Type::NamedTuple(Arc::new(NamedTuple { name: name.into(), fields }))
            }
            ClassKind::Enum => {
                let mut value: Option<Type> = None;
                for member in &class.members {
                    if let Member::Value { value: expr, span, .. } = member {
                        let kind = match &file.module.expr(*expr).kind {
                            ExprKind::Unary(_, operand) => literal_type(&file.module.expr(*operand).kind),
                            kind => literal_type(kind),
                        };
                        let same = value.as_ref().is_none_or(|value| Some(value) == kind.as_ref());
                        if !same || kind.is_none() {
                            let message = "an Enum needs values of one type: int, float or str";
                            return Err(file.module.source.error(*span, message));
                        }
                        value = kind;
                    }
                }
                let Some(value) = value else {
                    return Err(file.module.source.error(class.span, "No enum values defined for an Enum"));
                };
                Type::Enum(Arc::new(EnumType { name: name.into(), value }))
            }
            ClassKind::Interface | ClassKind::ModuleInterface => Type::Interface(name.into()),
            ClassKind::Plain | ClassKind::Module | ClassKind::Exception => Type::Class(name.into()),
        })
    }

    /// The type of an annotation in a file.
    pub(super) fn annotation(&self, file: &File, annotation: ast::ExprId) -> Result<Type> {
        let found = type_of(&file.module, annotation, &Scope { unit: self, file });
        self.take_failure()?;
        found
    }

    /// An error in a file that was read to find a type. [`Resolver`] cannot return it.
    fn take_failure(&self) -> Result<()> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// A class, with its attributes.
    pub fn class(&self, name: &str) -> Result<Arc<Class>> {
        if let Some(class) = self.classes.borrow().get(name) {
            return Ok(class.clone());
        }
        let Some(Definition::Class(file, item)) = self.definition(name)? else {
            bail!(Runtime, "Unknown type name '{name}'")
        };
        let Some(Item::Class(class)) = file.module.items.get(item) else {
            bail!(Runtime, "Unknown type name '{name}'")
        };
        let class = Arc::new(self.read_class(name, class, &file)?);
        self.classes.borrow_mut().insert(class.name.clone(), class.clone());
        Ok(class)
    }

    fn read_class(&self, name: &str, class: &ast::Class, file: &Arc<File>) -> Result<Class> {
        let mut data = Class {
            name: name.into(),
            kind: class.kind,
            attributes: Vec::new(),
            constants: Vec::new(),
            values: Vec::new(),
            methods: Vec::new(),
            static_methods: Vec::new(),
            properties: Default::default(),
            forward_hooks: class.names("__forward_hooks__").to_vec(),
            forward_pre_hooks: class.names("__forward_pre_hooks__").to_vec(),
            is_declared: class.kind != ClassKind::Plain,
        };
        let parameters: HashSet<&Name> = class.names("__parameters__").iter().collect();
        let buffers: HashSet<&Name> = class.names("__buffers__").iter().collect();
        let mut seen = HashSet::new();
        for member in &class.members {
            match member {
                Member::Attribute { name, annotation, value, span } => {
                    if !seen.insert(name) {
                        return Err(file
                            .module
                            .source
                            .error(*span, format!("the attribute '{name}' is declared twice")));
                    }
                    let found = attribute_type(&file.module, *annotation, &Scope { unit: self, file });
                    self.take_failure()?;
                    let (kind, is_final) = found?;
                    match value {
                        Some(value) if is_final || class.kind != ClassKind::NamedTuple => {
                            let literal = self.constant_value(file, *value, &kind)?;
                            data.constants.push((name.clone(), kind, literal));
                        }
                        _ => data.attributes.push(Attribute {
                            name: name.clone(),
                            kind,
                            is_parameter: parameters.contains(name),
                            is_buffer: buffers.contains(name),
                        }),
                    }
                }
                Member::Value { name, value, .. } => {
                    let literal = super::literal::literal_of(&file.module, *value);
                    let Some(literal) = literal else {
                        let span = file.module.expr(*value).span;
                        return Err(file.module.source.error(span, "a value of a class must be a literal"));
                    };
                    let entry = (name.clone(), super::literal::type_of_literal(&literal), attribute(&literal));
                    if class.kind == ClassKind::Enum { data.values.push(entry) } else { data.constants.push(entry) }
                }
                Member::Names { .. } => {}
                Member::Method(method) => read_method(&mut data, method, file),
            }
        }
        // Source code that is no file of PyTorch's may declare some attributes and set others in `__init__`.
        data.is_declared |= !data.attributes.is_empty() && !file.prefix.is_empty() || !data.has_method("__init__");
        Ok(data)
    }

    fn constant_value(&self, file: &File, value: ast::ExprId, kind: &Type) -> Result<graph::Attribute> {
        // `CONSTANTS.c0`
        if let ExprKind::Attribute { value: object, name } = &file.module.expr(value).kind
            && matches!(&file.module.expr(*object).kind, ExprKind::Name(name) if &**name == "CONSTANTS")
        {
            let index = name.strip_prefix('c').and_then(|digits| digits.parse().ok());
            let constant = index.and_then(|index| self.host.constant(index));
            return match constant {
                Some(constant) => Ok(constant.value),
                None => Err(file.module.source.error(file.module.expr(value).span, "there is no such constant")),
            };
        }
        match super::literal::literal_of(&file.module, value) {
            Some(literal) => Ok(attribute(&super::literal::fitted(literal, kind))),
            None => {
                Err(file.module.source.error(file.module.expr(value).span, "the value of a constant must be a literal"))
            }
        }
    }

    /// The syntax tree of a function or method, with its file.
    pub(super) fn tree<'a>(&self, definition: &'a Definition) -> Option<(&'a Arc<File>, &'a ast::Function)> {
        match definition {
            Definition::Class(..) => None,
            Definition::Function(file, item) | Definition::Added(_, file, item) => match file.module.items.get(*item) {
                Some(Item::Function(function)) => Some((file, function)),
                _ => None,
            },
            Definition::Method(_, file, item, member) => match file.module.items.get(*item) {
                Some(Item::Class(class)) => match class.members.get(*member) {
                    Some(Member::Method(method)) => Some((file, method)),
                    _ => None,
                },
                _ => None,
            },
        }
    }

    /// The schema of a function or method. It is compiled if its result is not declared.
    pub fn schema(&self, name: &str) -> Result<Arc<Schema>> {
        if let Some(State::Done(function)) = self.functions.borrow().get(name) {
            return Ok(function.schema.clone());
        }
        let definition = self.definition(name)?;
        let Some((file, function)) = definition.as_ref().and_then(|definition| self.tree(definition)) else {
            bail!(Runtime, "there is no function '{name}'")
        };
        let Some(returns) = function.returns else { return Ok(self.function(name)?.schema.clone()) };
        let returns = self.annotation(file, returns)?;
        let arguments = self.arguments(definition.as_ref(), file, function)?;
        Ok(Schema::new(name, arguments, returns).into())
    }

    /// The arguments of a function, with `self` for methods.
    pub(super) fn arguments(
        &self,
        definition: Option<&Definition>,
        file: &File,
        function: &ast::Function,
    ) -> Result<Vec<Argument>> {
        let owner = match definition {
            Some(Definition::Method(class, ..) | Definition::Added(class, ..)) if !is_static(file, function) => {
                Some(class)
            }
            _ => None,
        };
        let mut arguments = Vec::new();
        for (index, param) in function.params.iter().enumerate() {
            let kind = match (param.annotation, owner) {
                (_, Some(owner)) if index == 0 => {
                    self.named_type(owner)?.ok_or_else(|| err!(Runtime, "Unknown type name '{owner}'"))?
                }
                (Some(annotation), _) => self.annotation(file, annotation)?,
                (None, _) => Type::Tensor,
            };
            let mut argument = Argument::new(&param.name, kind.clone());
            argument.size = param.annotation.and_then(|annotation| broadcast_size(file, annotation));
            argument.keyword_only = param.keyword_only;
            if let Some(default) = param.default {
                argument.default = Some(self.default(file, default, &kind)?);
            }
            arguments.push(argument);
        }
        Ok(arguments)
    }

    /// The default of a parameter: a literal, or a member of an Enum.
    fn default(&self, file: &File, default: ast::ExprId, kind: &Type) -> Result<Literal> {
        if let Some(literal) = super::literal::literal_of(&file.module, default) {
            return Ok(super::literal::fitted(literal, kind));
        }
        let class = kind.members().into_iter().find_map(|member| match member {
            Type::Enum(class) => Some(class),
            _ => None,
        });
        let member = match (class, file.module.dotted(default)) {
            (Some(class), Some(path)) => self.enum_member(&class, path.rsplit('.').next().unwrap_or_default())?,
            _ => None,
        };
        member.ok_or_else(|| {
            let span = file.module.expr(default).span;
            file.module.source.error(span, "the default of a parameter must be a literal or a member of an Enum")
        })
    }

    fn enum_member(&self, class: &EnumType, name: &str) -> Result<Option<Literal>> {
        let data = self.class(&class.name)?;
        let member = data.values.iter().find(|(other, ..)| **other == *name);
        Ok(member.and_then(|(name, _, value)| {
            let value = match value {
                graph::Attribute::Int(value) => Literal::Int(*value),
                graph::Attribute::Float(value) => Literal::Float(*value),
                graph::Attribute::Str(value) => Literal::Str(value.clone()),
                _ => return None,
            };
            Some(Literal::Enum(EnumLiteral { class: class.name.clone(), name: name.clone(), value }.into()))
        }))
    }

    /// The compiled function or method with a qualified name.
    pub fn function(&self, name: &str) -> Result<Arc<Function>> {
        match self.functions.borrow().get(name) {
            Some(State::Done(function)) => return Ok(function.clone()),
            Some(State::Compiling) => {
                bail!(Runtime, "function '{name}' is called recursively. Recursive calls are not supported")
            }
            None => {}
        }
        let Some(definition) = self.definition(name)? else { bail!(Runtime, "there is no function '{name}'") };
        let Some((file, tree)) = self.tree(&definition) else { bail!(Runtime, "'{name}' is not a function") };
        ensure!(
            self.depth.get() < MAX_COMPILING,
            Runtime,
            "calls of functions without declared result nest too deeply"
        );
        self.functions.borrow_mut().insert(name.into(), State::Compiling);
        self.depth.set(self.depth.get() + 1);
        let compiled = Compiler::compile(self, name, &definition, file, tree);
        self.depth.set(self.depth.get() - 1);
        self.functions.borrow_mut().remove(name);
        let function = Arc::new(compiled?);
        self.check_recursion(&function)?;
        self.functions.borrow_mut().insert(name.into(), State::Done(function.clone()));
        Ok(function)
    }

    /// Fails if a function reaches itself through those that are compiled.
    fn check_recursion(&self, function: &Function) -> Result<()> {
        let mut pending = function.calls.clone();
        let mut seen = HashSet::new();
        while let Some(name) = pending.pop() {
            ensure!(
                name != function.name,
                Runtime,
                "function '{}' is called recursively. Recursive calls are not supported",
                function.name
            );
            if let Some(State::Done(called)) = self.functions.borrow().get(&name)
                && seen.insert(name)
            {
                pending.extend(called.calls.iter().cloned());
            }
        }
        Ok(())
    }

    /// Compiles a function and all that it calls by name.
    pub fn compile_all(&self, name: &str) -> Result<Vec<Arc<Function>>> {
        let mut functions = Vec::new();
        let mut seen: HashSet<Name> = HashSet::from([name.into()]);
        let mut pending: Vec<Name> = vec![name.into()];
        while let Some(name) = pending.pop() {
            let function = self.function(&name)?;
            pending.extend(function.calls.iter().filter(|name| seen.insert((*name).clone())).cloned());
            functions.push(function);
        }
        Ok(functions)
    }
}

fn read_method(data: &mut Class, method: &ast::Function, file: &File) {
    let decorators: Vec<String> = method.decorators.iter().filter_map(|&id| file.module.dotted(id)).collect();
    let has = |name: &str| decorators.iter().any(|decorator| decorator == name);
    if has("property") {
        let getter = data.properties.entry(method.name.clone()).or_insert((method.name.clone(), None));
        getter.0 = method.name.clone();
    } else if decorators.iter().any(|decorator| decorator.ends_with(".setter")) {
        let setter: Name = format!("{}__setter", method.name).into();
        data.properties.entry(method.name.clone()).or_insert((method.name.clone(), None)).1 = Some(setter);
        return;
    } else if has("staticmethod") {
        data.static_methods.push(method.name.clone());
    }
    data.methods.push(method.name.clone());
}

pub(super) fn is_static(file: &File, function: &ast::Function) -> bool {
    function.decorators.iter().any(|&id| file.module.dotted(id).as_deref() == Some("staticmethod"))
}

/// The 2 in `BroadcastingList2[int]`.
fn broadcast_size(file: &File, annotation: ast::ExprId) -> Option<usize> {
    match &file.module.expr(annotation).kind {
        ExprKind::Subscript { value, .. } => file.module.dotted(*value)?.strip_prefix("BroadcastingList")?.parse().ok(),
        _ => None,
    }
}

fn literal_type(kind: &ExprKind) -> Option<Type> {
    match kind {
        ExprKind::Int(_) => Some(Type::Int),
        ExprKind::Float(_) => Some(Type::Float),
        ExprKind::Str(_) => Some(Type::Str),
        _ => None,
    }
}

/// A literal as an attribute of a constant.
pub(super) fn attribute(literal: &Literal) -> graph::Attribute {
    match literal {
        Literal::None => graph::Attribute::List(Vec::new()),
        Literal::Bool(value) => graph::Attribute::Int(i64::from(*value)),
        Literal::Int(value) => graph::Attribute::Int(*value),
        Literal::Float(value) => graph::Attribute::Float(*value),
        Literal::Complex(real, imaginary) => graph::Attribute::Complex(*real, *imaginary),
        Literal::Str(bytes) => graph::Attribute::Str(bytes.clone()),
        Literal::List(items) | Literal::Tuple(items) => graph::Attribute::List(items.iter().map(attribute).collect()),
        Literal::Enum(_) => graph::Attribute::Str(literal.to_string().into_bytes().into()),
    }
}

/// The names that a file can use in annotations.
pub(super) struct Scope<'a> {
    pub(super) unit: &'a Unit,
    pub(super) file: &'a File,
}

impl Resolver for Scope<'_> {
    fn resolve(&self, name: &str) -> Option<Type> {
        let qualified = self.file.qualified(name);
        let local = (!name.starts_with("__torch__")).then(|| qualified.as_ref());
        for name in local.into_iter().chain(std::iter::once(name)) {
            match self.unit.named_type(name) {
                Ok(Some(kind)) => return Some(kind),
                Ok(None) => {}
                Err(error) => {
                    self.unit.failure.borrow_mut().get_or_insert(error);
                    return None;
                }
            }
        }
        None
    }

    fn implements(&self, name: &str, interface: &str) -> bool {
        self.unit.implements(name, interface)
    }
}

impl Resolver for Unit {
    fn resolve(&self, name: &str) -> Option<Type> {
        self.named_type(name).ok().flatten()
    }

    fn implements(&self, name: &str, interface: &str) -> bool {
        if name == interface {
            return true;
        }
        let (Ok(class), Ok(wanted)) = (self.class(name), self.class(interface)) else { return false };
        wanted.methods.iter().all(|method| {
            if !class.has_method(method) {
                return false;
            }
            let schemas = (self.schema(&format!("{name}.{method}")), self.schema(&format!("{interface}.{method}")));
            matches!(schemas, (Ok(own), Ok(wanted)) if same_signature(&own, &wanted))
        })
    }
}

/// Whether two methods take and return the same, apart from `self`.
fn same_signature(own: &Schema, wanted: &Schema) -> bool {
    let kinds = |schema: &Schema| -> Vec<(Name, Formal)> {
        schema.arguments.iter().skip(1).map(|argument| (argument.name.clone(), argument.kind.clone())).collect()
    };
    let returns = |schema: &Schema| schema.returns.iter().map(|value| value.kind.clone()).collect::<Vec<_>>();
    kinds(own) == kinds(wanted) && returns(own) == returns(wanted)
}
