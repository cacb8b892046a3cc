//! A program: its source code, compiled when it is called for, with what the archive beside it holds.

use crate::archive::{Archive, Classes, Named};
use crate::ast::{ClassKind, Name};
use crate::builtins;
use crate::classes::{self, Custom};
use crate::compile::{self, Constant, Host, Unit};
use crate::graph;
use crate::operators::Operators;
use crate::runtime::function::{Function, Linker};
use crate::runtime::object::{Attribute, Class, EnumValue, Object, Role};
use crate::runtime::value::Value;
use crate::runtime::{Environment, run};
use crate::schema::{Formal, Schema};
use crate::source::Source;
use crate::types::{NamedTuple, Resolver, Type};
use crate::upgrade;
use rushlight_base::{DType, Result, Storage, bail, err, list};
use rushlight_tensor::dispatch::by_name;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

type Lists = RwLock<HashMap<String, Arc<[Arc<Schema>]>>>;

/// The operators of this library.
struct Library;

static LISTS: LazyLock<Lists> = LazyLock::new(Lists::default);

impl Operators for Library {
    fn overloads(&self, name: &str) -> Arc<[Arc<Schema>]> {
        if let Some(known) = LISTS.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return known.clone();
        }
        let tensors =
            by_name::overloads(name).into_iter().filter_map(|op| Schema::from_signature(&op.signature()).ok());
        let others = builtins::overloads(name).iter().filter_map(|row| Schema::parse(row.schema).ok());
        let found: Arc<[Arc<Schema>]> = tensors.chain(others).map(Arc::new).collect();
        // A program may define operators of other namespaces at any time.
        if name.starts_with("aten::") || name.starts_with("prim::") {
            LISTS.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), found.clone());
        }
        found
    }
}

/// What the compiler finds in an archive.
struct Contents {
    archive: Option<Arc<Archive>>,
    /// Whether the program is the source code in the archive.
    is_source: bool,
    /// Extra files that are not in an archive.
    extra: BTreeMap<String, Vec<u8>>,
    constants: OnceLock<Result<Vec<Value>>>,
    sources: Mutex<HashMap<String, Source>>,
}

impl Contents {
    fn constants(&self) -> Result<&[Value]> {
        let read = || {
            let Some(archive) = &self.archive else { return Ok(Vec::new()) };
            let built = archive.value("constants", None, &Plain { archive, folder: "constants" })?;
            match built.value {
                Value::Tuple(tuple) => Ok(tuple.items().to_vec()),
                Value::List(list) => Ok(list.values()),
                other => bail!(Io, "the constants of an archive are {}, not a tuple", other.kind()),
            }
        };
        self.constants.get_or_init(read).as_deref().map_err(Clone::clone)
    }

    fn remember(&self, source: &Source) {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.insert(source.name().to_owned(), source.clone());
    }
}

/// Where `torch.no_grad` is, for programs whose files do not bring it along.
const GRAD_MODE: &str = "__torch__.torch.autograd.grad_mode";
const NO_GRAD: &str = "class no_grad:
  prev : bool
  def __enter__(self) -> None:
    self.prev = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
  def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
    torch.set_grad_enabled(self.prev)
";

impl Host for Contents {
    fn source(&self, path: &str) -> Result<Option<Source>> {
        let source = match &self.archive {
            _ if path == upgrade::PATH => Some(upgrade::source()?),
            Some(archive) if self.is_source => archive.code(path)?,
            _ => None,
        };
        let source = match source {
            None if path == GRAD_MODE => Some(Source::new(&format!("{path}.py"), NO_GRAD)?),
            found => found,
        };
        if let Some(source) = &source {
            self.remember(source);
        }
        Ok(source)
    }

    fn constant(&self, index: usize) -> Option<Constant> {
        let value = self.constants().ok()?.get(index)?.clone();
        Some(Constant { kind: value.type_of(), value: graph::Attribute::Opaque(Arc::new(value)) })
    }

    fn custom_method(&self, class: &str, method: &str) -> Option<Arc<Schema>> {
        match classes::find(class, method) {
            Some(found) => Some(found.schema.clone()),
            None => crate::packed::schema(class, method),
        }
    }

    fn operator_version(&self) -> Option<u64> {
        self.archive.as_ref().map(|archive| archive.version())
    }
}

/// A pickle without classes of the program, such as that of the constants.
struct Plain<'a> {
    archive: &'a Archive,
    folder: &'a str,
}

impl Resolver for Plain<'_> {
    fn resolve(&self, _name: &str) -> Option<Type> {
        None
    }

    fn implements(&self, _name: &str, _interface: &str) -> bool {
        false
    }
}

impl Classes for Plain<'_> {
    fn named(&self, name: &str) -> Result<Named> {
        bail!(Io, "the class {name} is not expected among constants")
    }

    fn storage(&self, key: &str, of_bools: bool) -> Result<Storage> {
        self.archive.storage(self.folder, key, of_bools)
    }

    fn tensor(&self, index: usize) -> Result<Value> {
        bail!(Io, "there is no tensor with the number {index}")
    }
}

/// The classes and functions of a program, compiled when they are used first. It is safe to use from many threads.
pub struct Program {
    /// Compiling is done by one thread at a time.
    unit: Mutex<Unit>,
    contents: Arc<Contents>,
    classes: RwLock<HashMap<Name, Arc<Class>>>,
    functions: RwLock<HashMap<Name, Arc<Function>>>,
    /// How many names [`free_class_name`](Program::free_class_name) has given out.
    named: AtomicU64,
}

impl Program {
    fn with(archive: Option<Arc<Archive>>, is_source: bool, extra: BTreeMap<String, Vec<u8>>) -> Arc<Program> {
        let (constants, sources) = (OnceLock::new(), Mutex::default());
        let contents = Arc::new(Contents { archive, is_source, extra, constants, sources });
        Arc::new(Program {
            unit: Mutex::new(Unit::new(Arc::new(Library), contents.clone())),
            contents,
            classes: RwLock::default(),
            functions: RwLock::default(),
            named: AtomicU64::new(0),
        })
    }

    /// A program without functions.
    pub fn new() -> Arc<Program> {
        Program::with(None, false, BTreeMap::new())
    }

    /// The program of an archive.
    pub(crate) fn of_archive(archive: Arc<Archive>) -> Arc<Program> {
        Program::with(Some(archive), true, BTreeMap::new())
    }

    /// A program whose classes and functions are not source code in the archive. They are added to it.
    pub(crate) fn of_lite(archive: Option<Arc<Archive>>, extra: BTreeMap<String, Vec<u8>>) -> Arc<Program> {
        Program::with(archive, false, extra)
    }

    /// An extra file that was saved with the program.
    pub(crate) fn extra_file(&self, name: &str) -> Result<Option<Vec<u8>>> {
        match (self.contents.extra.get(name), &self.contents.archive) {
            (Some(bytes), _) => list::copied(bytes).map(Some),
            (None, Some(archive)) => archive.extra_file(name),
            (None, None) => Ok(None),
        }
    }

    /// A program of source code, as `torch::jit::compile` reads it. Errors of the source code are found here.
    pub fn compile(source: &str) -> Result<Arc<Program>> {
        let program = Program::new();
        for name in program.define(source)? {
            program.check_defined(&name)?;
        }
        Ok(program)
    }

    /// Compiles a function, or the methods of a class.
    pub(crate) fn check_defined(&self, name: &str) -> Result<()> {
        let kind = self.unit().named_type(name)?;
        match kind {
            None => self.check(name),
            Some(Type::Class(_)) => {
                let methods = self.methods(name)?;
                methods.iter().try_for_each(|method| self.check(&format!("{name}.{method}")))
            }
            Some(_) => Ok(()),
        }
    }

    fn unit(&self) -> MutexGuard<'_, Unit> {
        self.unit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds functions and classes, and returns their names. They are compiled when they are used, or by
    /// [`check`](Program::check).
    pub fn define(&self, source: &str) -> Result<Vec<Name>> {
        let source = Source::new("<string>", source)?;
        self.contents.remember(&source);
        self.unit().define("", source)
    }

    /// Adds methods to a class.
    pub(crate) fn define_methods(&self, class: &str, source: &str) -> Result<Vec<Name>> {
        let source = Source::new("<string>", source)?;
        self.contents.remember(&source);
        self.unit().define_methods(class, source)
    }

    /// The names of the functions that were defined, without methods.
    pub(crate) fn defined_functions(&self) -> Vec<String> {
        self.unit().function_names()
    }

    /// Compiles a function and what it calls. Errors of its source code are found here.
    pub fn check(&self, name: &str) -> Result<()> {
        self.unit().compile_all(name).map(drop)
    }

    /// The names of the methods of a class.
    pub(crate) fn methods(&self, class: &str) -> Result<Vec<Name>> {
        Ok(self.unit().class(class)?.methods.clone())
    }

    /// The type with a qualified name; None for a function.
    pub(crate) fn named_type(&self, name: &str) -> Result<Option<Type>> {
        self.unit().named_type(name)
    }

    /// A class as the compiler sees it.
    pub(crate) fn class_data(&self, name: &str) -> Result<Arc<compile::Class>> {
        self.read_class(name)
    }

    /// The schema of a function or of a method, which may be that of an interface.
    pub(crate) fn schema(&self, name: &str) -> Result<Arc<Schema>> {
        // Functions without source code, such as those of traces, are here only.
        let known = self.functions.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        known.map_or_else(|| self.unit().schema(name), |function| Ok(function.schema.clone()))
    }

    /// A name for a class that is made from another one, in the form that PyTorch gives to such classes.
    pub(crate) fn free_class_name(&self, class: &str) -> Name {
        let (path, name) = class.rsplit_once('.').unwrap_or(("__torch__", class));
        let path = path.split(".___torch_mangle_").next().unwrap_or(path);
        loop {
            let number = self.named.fetch_add(1, Ordering::Relaxed);
            let free: Name = format!("{path}.___torch_mangle_{number}.{name}").into();
            if self.unit().class(&free).is_err() {
                return free;
            }
        }
    }

    /// Adds the class of a module that a pass has made, with the classes of the modules in it and its methods, which are
    /// compiled with weights of the dtype `compiled`, if there is one.
    pub(crate) fn define_frozen(
        &self,
        object: &Object,
        children: Vec<Arc<Class>>,
        methods: Vec<(Name, graph::Graph, Arc<Schema>)>,
        compiled: Option<DType>,
    ) -> Result<()> {
        for class in children.iter().chain([object.class()]) {
            let mut data = compile::Class::module(&class.name);
            data.attributes = class.attributes().iter().map(compiled_attribute).collect();
            if Arc::ptr_eq(class, object.class()) {
                data.methods = methods.iter().map(|(name, ..)| name.clone()).collect();
            }
            self.unit().define_class(data)?;
            let mut classes = self.classes.write().unwrap_or_else(PoisonError::into_inner);
            classes.insert(class.name.clone(), class.clone());
        }
        let own = &object.class().name;
        for (name, graph, schema) in methods {
            let mut schema = Schema::clone(&schema);
            if let Some(argument) = schema.arguments.first_mut() {
                argument.kind = Formal::Type(Type::Class(own.clone()));
            }
            let function = Function::new(name.clone(), graph, schema);
            let function = match compiled {
                Some(weights) => function.compiled(weights),
                None => function,
            };
            let mut functions = self.functions.write().unwrap_or_else(PoisonError::into_inner);
            functions.insert(format!("{own}.{name}").into(), Arc::new(function));
        }
        Ok(())
    }

    /// Adds a class with the names of methods, which [`define_lite_function`](Program::define_lite_function) adds.
    pub(crate) fn define_lite_class(&self, class: Class, methods: Vec<Name>) -> Result<()> {
        let mut data = compile::Class::module(&class.name);
        data.attributes = class.attributes().iter().map(compiled_attribute).collect();
        data.methods = methods;
        self.unit().define_class(data)?;
        let mut classes = self.classes.write().unwrap_or_else(PoisonError::into_inner);
        classes.insert(class.name.clone(), class.into());
        Ok(())
    }

    /// Adds a NamedTuple.
    pub(crate) fn define_named_tuple(&self, class: Arc<NamedTuple>) -> Result<()> {
        self.unit().define_type(&class.name.clone(), Type::NamedTuple(class))
    }

    /// Adds a function with a qualified name.
    pub(crate) fn define_lite_function(&self, name: &Name, function: Function) {
        let mut functions = self.functions.write().unwrap_or_else(PoisonError::into_inner);
        functions.insert(name.clone(), function.into());
    }

    /// Adds a class without source.
    pub(crate) fn define_class(&self, class: compile::Class) -> Result<()> {
        self.unit().define_class(class)
    }

    /// Adds an attribute to a class.
    pub(crate) fn add_attribute(&self, class: &str, attribute: compile::ClassAttribute) -> Result<()> {
        self.unit().add_attribute(class, attribute)
    }

    /// Whether objects of a class are modules.
    pub(crate) fn is_module(&self, class: &str) -> bool {
        self.unit().class(class).is_ok_and(|class| class.kind == ClassKind::Module)
    }

    fn compiled(&self, name: &str) -> Result<Arc<compile::Function>> {
        self.unit().function(name)
    }

    fn read_class(&self, name: &str) -> Result<Arc<compile::Class>> {
        let unit = self.unit();
        let class = unit.class(name)?;
        if class.is_declared || !class.has_method("__init__") {
            return Ok(class);
        }
        // Its attributes are those that the constructor sets.
        unit.function(&format!("{name}.__init__"))?;
        unit.class(name)
    }

    /// Calls a function by name.
    pub fn call(self: &Arc<Self>, name: &str, arguments: Vec<Value>, named: Vec<(&str, Value)>) -> Result<Value> {
        let environment = Environment::new(self.clone());
        self.call_in(name, None, arguments, named, &environment)
    }

    /// Calls a function or, with an object, its method.
    pub(crate) fn call_in(
        self: &Arc<Self>,
        name: &str,
        object: Option<Value>,
        arguments: Vec<Value>,
        named: Vec<(&str, Value)>,
        environment: &Environment,
    ) -> Result<Value> {
        let (function, arguments) = self.prepared(name, object, arguments, named)?;
        run(&function, arguments, environment)
    }

    /// A function or method with its complete arguments.
    pub(crate) fn prepared(
        self: &Arc<Self>,
        name: &str,
        object: Option<Value>,
        arguments: Vec<Value>,
        named: Vec<(&str, Value)>,
    ) -> Result<(Arc<Function>, Vec<Value>)> {
        let function = self.function(name)?;
        let arguments = object.into_iter().chain(arguments).collect();
        let arguments = crate::arguments::complete(&function.schema, arguments, named, &**self)?;
        Ok((function, arguments))
    }
}

fn compiled_attribute(attribute: &Attribute) -> compile::ClassAttribute {
    compile::ClassAttribute {
        name: attribute.name.clone(),
        kind: attribute.kind.clone(),
        is_parameter: attribute.role == Role::Parameter,
        is_buffer: attribute.role == Role::Buffer,
    }
}

impl Resolver for Program {
    fn resolve(&self, name: &str) -> Option<Type> {
        self.unit().resolve(name)
    }

    fn implements(&self, name: &str, interface: &str) -> bool {
        self.unit().implements(name, interface)
    }
}

impl Linker for Program {
    fn function(&self, name: &str) -> Result<Arc<Function>> {
        if let Some(known) = self.functions.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(known.clone());
        }
        let compiled = self.compiled(name)?;
        let short = compiled.name.rsplit('.').next().unwrap_or_default();
        let function = Arc::new(Function::new(short, compiled.graph.clone(), compiled.schema.clone()));
        let mut functions = self.functions.write().unwrap_or_else(PoisonError::into_inner);
        Ok(functions.entry(compiled.name.clone()).or_insert(function).clone())
    }

    fn method(&self, class: &str, name: &str) -> Result<Arc<Function>> {
        self.function(&format!("{class}.{name}"))
    }

    fn class(&self, name: &str) -> Result<Arc<Class>> {
        if let Some(known) = self.classes.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(known.clone());
        }
        let read = self.read_class(name)?;
        let attributes = read.attributes.iter().map(|attribute| Attribute {
            name: attribute.name.clone(),
            kind: attribute.kind.clone(),
            role: match attribute {
                attribute if attribute.is_parameter => Role::Parameter,
                attribute if attribute.is_buffer => Role::Buffer,
                _ => Role::Plain,
            },
        });
        let class = Arc::new(Class::new(read.name.clone(), attributes.collect()));
        let mut classes = self.classes.write().unwrap_or_else(PoisonError::into_inner);
        Ok(classes.entry(read.name.clone()).or_insert(class).clone())
    }

    fn members(&self, class: &str) -> Result<Vec<EnumValue>> {
        let read = self.unit().class(class)?;
        let member = |(name, kind, value): &(Name, Type, graph::Attribute)| {
            Ok(EnumValue::new(class, name.clone(), crate::runtime::constant(kind, Some(value))?))
        };
        read.values.iter().map(member).collect()
    }

    fn custom_method(&self, class: &str, name: &str) -> Option<Custom> {
        match classes::find(class, name) {
            Some(method) => Some(Custom::Defined(method)),
            None => crate::packed::method(class, name).map(Custom::Builtin),
        }
    }

    fn source(&self, file: &str) -> Option<Source> {
        self.contents.sources.lock().unwrap_or_else(PoisonError::into_inner).get(file).cloned()
    }
}

impl Classes for Program {
    fn named(&self, name: &str) -> Result<Named> {
        let kind = self.unit().named_type(name)?;
        match kind {
            Some(Type::NamedTuple(class)) => Ok(Named::Tuple(class)),
            Some(Type::Enum(_)) => Ok(Named::Enum(self.members(name)?)),
            Some(Type::Class(_)) => {
                let class = self.unit().class(name)?;
                if matches!(class.kind, ClassKind::Interface | ClassKind::ModuleInterface) {
                    bail!(Io, "the interface {name} has no objects");
                }
                Ok(Named::Class(Linker::class(self, name)?, class.has_method("__setstate__")))
            }
            _ => Err(err!(Io, "the archive has no class {name}")),
        }
    }

    fn storage(&self, key: &str, of_bools: bool) -> Result<Storage> {
        match &self.contents.archive {
            Some(archive) => archive.storage("data", key, of_bools),
            None => bail!(Io, "there is no archive with storages"),
        }
    }

    fn tensor(&self, index: usize) -> Result<Value> {
        let constant = self.contents.constants()?.get(index).cloned();
        constant.ok_or_else(|| err!(Io, "there is no tensor with the number {index}"))
    }
}
