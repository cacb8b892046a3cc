//! Modules: what a saved model is, and what programs build by hand.

use crate::archive::{Archive, Built};
use crate::ast::Name;
use crate::builtins::call;
use crate::lite;
use crate::plan::Run;
use crate::program::Program;
use crate::runtime::dict::Dict;
use crate::runtime::function::{Function, Linker};
use crate::runtime::list::List;
use crate::runtime::object::{Object, Role, Tuple};
use crate::runtime::value::Value;
use crate::runtime::{Environment, Sink, Suspended};
use crate::types::Type;
use rushlight_base::{DType, Device, Result, bail, err, list};
use rushlight_tensor::Tensor;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

/// A module: an object with parameters, buffers, submodules and methods. Copies are the same module. Any number of
/// threads may call its methods at the same time.
#[derive(Clone)]
pub struct Module {
    program: Arc<Program>,
    object: Object,
    print: Option<Sink>,
}

impl Module {
    /// Loads a file that `torch.jit.save` or `_save_for_lite_interpreter` wrote: an archive, or the flatbuffer form of
    /// the lite interpreter. A file of named tensors without a program is a module without methods.
    pub fn load(path: impl AsRef<Path>) -> Result<Module> {
        Module::open(path.as_ref(), Module::from_archive)
    }

    /// Loads a file in memory.
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Result<Module> {
        if lite::is_flatbuffer(bytes.as_ref()) {
            return lite::load_flatbuffer(bytes.as_ref());
        }
        Module::from_archive(Archive::from_bytes(bytes)?)
    }

    /// Loads a file of any source that can seek.
    pub fn from_reader(source: impl Read + Seek + Send + 'static) -> Result<Module> {
        Module::read(source, Module::from_archive)
    }

    /// Loads a file with its code for the lite interpreter, as `_load_for_mobile` does: source code that an archive has
    /// too is not used.
    pub fn load_lite(path: impl AsRef<Path>) -> Result<Module> {
        Module::open(path.as_ref(), lite::load)
    }

    /// [`load_lite`](Module::load_lite) of a file in memory.
    pub fn lite_from_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Result<Module> {
        if lite::is_flatbuffer(bytes.as_ref()) {
            return lite::load_flatbuffer(bytes.as_ref());
        }
        lite::load(Archive::from_bytes(bytes)?)
    }

    /// Loads an archive, whose tensors are not read but mapped: their memory is shared with other processes that map the
    /// file, until it is changed. Changes stay in memory. Checksums of tensors are not compared. The file must not be
    /// shortened or overwritten while the module exists: the operating system ends a process that accesses a mapped page
    /// behind the end of a file. Flatbuffers are read, not mapped.
    pub fn load_mapped(path: impl AsRef<Path>) -> Result<Module> {
        let path = path.as_ref();
        let mut head = Vec::new();
        let file = File::open(path).map_err(|error| err!(Io, "cannot open {}: {error}", path.display()))?;
        file.take(8).read_to_end(&mut head)?;
        if lite::is_flatbuffer(&head) {
            return Module::load(path);
        }
        Module::from_archive(Archive::open_mapped(path)?).map_err(|error| error.context(path.display()))
    }

    fn open(path: &Path, load: fn(Archive) -> Result<Module>) -> Result<Module> {
        let file = File::open(path).map_err(|error| err!(Io, "cannot open {}: {error}", path.display()))?;
        Module::read(BufReader::new(file), load).map_err(|error| error.context(path.display()))
    }

    fn read(mut source: impl Read + Seek + Send + 'static, load: fn(Archive) -> Result<Module>) -> Result<Module> {
        let mut head = Vec::new();
        source.rewind()?;
        source.by_ref().take(8).read_to_end(&mut head)?;
        if !lite::is_flatbuffer(&head) {
            return load(Archive::from_reader(source)?);
        }
        let length = source.seek(SeekFrom::End(0))?;
        source.rewind()?;
        let mut bytes = list::with_capacity(usize::try_from(length).unwrap_or(usize::MAX))?;
        source.take(length).read_to_end(&mut bytes)?;
        lite::load_flatbuffer(&bytes)
    }

    /// Loads the module of an archive. The code of the lite interpreter is used if the archive has no source code.
    pub fn from_archive(archive: Archive) -> Result<Module> {
        if archive.is_lite() && !archive.has_source() {
            return lite::load(archive);
        }
        let archive = Arc::new(archive);
        if !archive.is_script() {
            return Module::of_tensors(&archive);
        }
        let root = archive.root_class("data")?.ok_or_else(|| err!(Io, "the archive holds no module"))?;
        let program = Program::of_archive(archive.clone());
        let built = archive.value("data", Some(&Type::Class(root.into())), &*program)?;
        Module::of_built(program, built)
    }

    /// A module without methods, for a file of named tensors without a program: a state dict. The tensors are parameters;
    /// a dot in a name separates a submodule from its parameter.
    fn of_tensors(archive: &Arc<Archive>) -> Result<Module> {
        let built = archive.value("data", None, &*Program::of_archive(archive.clone()))?;
        let Value::Dict(tensors) = built.value else {
            bail!(
                Io,
                "the file has no program and no dict of tensors: it was written by torch.save, not by torch.jit.save"
            )
        };
        let root = Module::create(Program::new(), "Module")?;
        for (name, value) in tensors.entries() {
            if !matches!((&name, &value), (Value::Str(_), Value::Tensor(_))) {
                bail!(Io, "the file has no program, and its dict holds other values than named tensors");
            }
            let name = name.as_str()?;
            let (path, last) = name.rsplit_once('.').map_or((None, name), |(path, last)| (Some(path), last));
            let mut parts = path.into_iter().flat_map(|path| path.split('.'));
            let owner = parts.try_fold(root.clone(), |owner, part| owner.submodule(part))?;
            owner.register(last, None, value, Role::Parameter)?;
        }
        Ok(root)
    }

    /// The submodule of this name, which is created if there is none.
    fn submodule(&self, name: &str) -> Result<Module> {
        if let Ok(Value::Object(object)) = self.attribute(name) {
            return Ok(Module::new(self.program.clone(), object));
        }
        let child = Module::create(self.program.clone(), "Module")?;
        self.register_module(name, &child)?;
        Ok(child)
    }

    pub(crate) fn of_built(program: Arc<Program>, built: Built) -> Result<Module> {
        let Value::Object(object) = built.value else { bail!(Io, "the archive holds no module") };
        let module = Module { program, object, print: None };
        for (object, state) in built.states {
            let method = format!("{}.__setstate__", object.class().name);
            let environment = module.environment();
            module.program.call_in(&method, Some(object.into()), vec![state], Vec::new(), &environment)?;
        }
        Ok(module)
    }

    /// A module of an object of a program.
    pub fn new(program: Arc<Program>, object: Object) -> Module {
        Module { program, object, print: None }
    }

    /// The same module, whose methods print to `sink`.
    #[must_use]
    pub fn printing_to(mut self, sink: Sink) -> Module {
        self.print = Some(sink);
        self
    }

    /// The program that its code belongs to.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The object with its attributes.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// The qualified name of its class.
    pub fn class(&self) -> &Name {
        &self.object.class().name
    }

    /// An extra file of the archive that the module was loaded from.
    pub fn extra_file(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.program.extra_file(name)
    }

    pub(crate) fn environment(&self) -> Environment {
        let mut environment = Environment::new(self.program.clone());
        environment.print = self.print.clone();
        environment
    }

    // ---- methods -------------------------------------------------------------------------------------------

    /// The names of the methods.
    pub fn methods(&self) -> Result<Vec<Name>> {
        self.program.methods(self.class())
    }

    /// A method: its schema and graph.
    pub fn method(&self, name: &str) -> Result<Arc<Function>> {
        if !self.methods()?.iter().any(|method| &**method == name) {
            bail!(Runtime, "Method '{name}' is not defined.");
        }
        self.program.method(self.class(), name)
    }

    /// Adds methods from source code.
    pub fn define(&self, source: &str) -> Result<Vec<Name>> {
        self.program.define_methods(self.class(), source)
    }

    /// Calls a method.
    pub fn run_method(&self, name: &str, arguments: Vec<Value>, named: Vec<(&str, Value)>) -> Result<Value> {
        let method = format!("{}.{name}", self.class());
        let object = Value::Object(self.object.clone());
        self.program.call_in(&method, Some(object), arguments, named, &self.environment())
    }

    /// Calls `forward`.
    pub fn forward(&self, arguments: Vec<Value>) -> Result<Value> {
        self.run_method("forward", arguments, Vec::new())
    }

    /// Begins a call of a method that goes on step by step.
    pub fn begin_method(&self, name: &str, arguments: Vec<Value>, named: Vec<(&str, Value)>) -> Result<Run> {
        let function = self.program.function(&format!("{}.{name}", self.class()))?;
        let arguments = std::iter::once(Value::Object(self.object.clone())).chain(arguments).collect();
        let arguments = crate::arguments::complete(&function.schema, arguments, named, &*self.program)?;
        let environment = self.environment();
        if let Some(plans) = function.plans()
            && let Some(run) = plans.begin(&arguments, &environment.linker)?
        {
            return Ok(Run::planned(run));
        }
        Suspended::new(&function, arguments, environment).map(Run::interpreted)
    }

    // ---- attributes ----------------------------------------------------------------------------------------

    /// The value of an attribute; of `a.b.c` that of a submodule.
    pub fn attribute(&self, name: &str) -> Result<Value> {
        let mut value = Value::Object(self.object.clone());
        for part in name.split('.') {
            let object = value.as_object()?.clone();
            value = match object.class().slot(part) {
                Some(_) => object.get(part)?,
                None => Module::new(self.program.clone(), object).constant(part)?,
            };
        }
        Ok(value)
    }

    /// Sets an attribute.
    pub fn set_attribute(&self, name: &str, value: Value) -> Result<()> {
        let class = self.object.class();
        let slot =
            class.slot(name).ok_or_else(|| err!(Runtime, "'{}' object has no attribute '{name}'", class.name))?;
        let attributes = class.attributes();
        let kind = attributes.get(slot).map_or(&Type::Any, |attribute| &attribute.kind);
        let value = crate::arguments::fit(value, kind, &*self.program, 64).map_err(|error| {
            let found = error.message().trim_start_matches("type ");
            err!(Runtime, "Expected a value of type '{kind}' for field '{name}', but found {found}")
        })?;
        self.object.set_slot(slot, value)
    }

    /// The module with all modules inside of it, with their names joined by dots; each module once.
    pub fn modules(&self) -> Vec<(String, Object)> {
        let mut seen = HashSet::from([self.object.address()]);
        let mut found = Vec::new();
        let mut pending = vec![(String::new(), self.object.clone())];
        while let Some((name, object)) = pending.pop() {
            let children: Vec<_> = submodules(&object, &self.program)
                .into_iter()
                .filter(|(_, child)| seen.insert(child.address()))
                .map(|(child, object)| (if name.is_empty() { child } else { format!("{name}.{child}") }, object))
                .collect();
            found.push((name, object));
            pending.extend(children.into_iter().rev());
        }
        found
    }

    /// The modules that are attributes of this one.
    pub fn children(&self) -> Vec<(String, Module)> {
        let children = submodules(&self.object, &self.program).into_iter();
        children.map(|(name, object)| (name, Module { object, ..self.clone() })).collect()
    }

    /// The parameters of this module and those inside of it; each tensor once.
    pub fn parameters(&self) -> Vec<(String, Tensor)> {
        self.tensors(Role::Parameter)
    }

    /// The buffers of this module and those inside of it; each tensor once.
    pub fn buffers(&self) -> Vec<(String, Tensor)> {
        self.tensors(Role::Buffer)
    }

    fn tensors(&self, role: Role) -> Vec<(String, Tensor)> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for (module, object) in self.modules() {
            for (attribute, value) in object.attributes() {
                if let Value::Tensor(tensor) = value
                    && attribute.role == role
                    && seen.insert(tensor.address())
                {
                    let name = if module.is_empty() {
                        attribute.name.to_string()
                    } else {
                        format!("{module}.{}", attribute.name)
                    };
                    found.push((name, tensor));
                }
            }
        }
        found
    }

    // ---- changes -------------------------------------------------------------------------------------------

    /// Sets the attribute `training` of all modules.
    pub fn train(&self, on: bool) -> Result<()> {
        for (_, object) in self.modules() {
            // A frozen module has no modes.
            if let Some(slot) = object.class().slot("training") {
                object.set_slot(slot, Value::Bool(on))?;
            }
        }
        Ok(())
    }

    /// `train(false)`
    pub fn eval(&self) -> Result<()> {
        self.train(false)
    }

    /// Moves parameters and buffers to a device; floating-point ones are converted to a dtype. Parameters stay leaves.
    pub fn to(&self, device: Option<Device>, dtype: Option<DType>) -> Result<()> {
        let mut moved: HashMap<usize, Tensor> = HashMap::new();
        for (_, object) in self.modules() {
            for (slot, (_, value)) in object.attributes().into_iter().enumerate() {
                let Value::Tensor(tensor) = value else { continue };
                let after = match moved.get(&tensor.address()) {
                    Some(after) => after.clone(),
                    None => {
                        let after = converted(&tensor, device, dtype)?;
                        moved.insert(tensor.address(), after.clone());
                        after
                    }
                };
                object.set_slot(slot, after.into())?;
            }
        }
        Ok(())
    }

    /// A module of the same classes with copies of all tensors and containers. What is shared inside of the module is
    /// shared inside of the copy.
    pub fn deep_copy(&self) -> Result<Module> {
        let mut copier = Copier { copies: HashMap::new(), tensors: HashMap::new() };
        let Value::Object(object) = copier.copy(&Value::Object(self.object.clone()), 200)? else {
            bail!(Internal, "the copy of an object is none")
        };
        Ok(Module { object, ..self.clone() })
    }
}

/// The attributes that are modules.
fn submodules(object: &Object, program: &Program) -> Vec<(String, Object)> {
    let attributes = object.attributes().into_iter();
    let modules = attributes.filter_map(|(attribute, value)| match value {
        Value::Object(child) if program.is_module(&child.class().name) => Some((attribute.name.to_string(), child)),
        _ => None,
    });
    modules.collect()
}

fn converted(tensor: &Tensor, device: Option<Device>, dtype: Option<DType>) -> Result<Tensor> {
    let dtype = dtype.filter(|_| tensor.dtype().is_floating() || tensor.dtype().is_complex());
    if dtype.is_none() && device.is_none_or(|device| device == tensor.device()) {
        return Ok(tensor.clone());
    }
    let dtype = dtype.map_or(Value::None, |dtype| Value::Int(dtype as i64));
    let device = device.map_or(Value::None, Value::Device);
    let detached = call("detach", "", &[tensor.clone().into()])?;
    let mut args = [detached, device, dtype];
    let environment = Environment::new(Program::new());
    let row = crate::builtins::find("aten::to", "prim_Device").ok_or_else(|| err!(Internal, "aten::to is missing"))?;
    let moved = (row.run)(&mut crate::builtins::Args::new(&mut args, &environment))?;
    let moved = moved.as_tensor()?.clone();
    if tensor.requires_grad() {
        moved.set_requires_grad(true)?;
    }
    Ok(moved)
}

/// Copies values, each shared one once.
struct Copier {
    copies: HashMap<usize, Value>,
    tensors: HashMap<usize, Tensor>,
}

impl Copier {
    fn copy(&mut self, value: &Value, depth: usize) -> Result<Value> {
        if depth == 0 {
            bail!(Runtime, "values are nested too deeply to be copied");
        }
        Ok(match value {
            Value::Tensor(tensor) => match self.tensors.get(&tensor.address()) {
                Some(copy) => copy.clone().into(),
                None => {
                    let detached = call("detach", "", &[tensor.clone().into()])?;
                    let copy = call("clone", "", &[detached])?;
                    let copy = copy.as_tensor()?.clone();
                    if tensor.requires_grad() {
                        copy.set_requires_grad(true)?;
                    }
                    self.tensors.insert(tensor.address(), copy.clone());
                    copy.into()
                }
            },
            Value::Object(object) => {
                if let Some(copy) = self.copies.get(&object.address()) {
                    return Ok(copy.clone());
                }
                let copy = Object::new(object.class().clone());
                self.copies.insert(object.address(), Value::Object(copy.clone()));
                for (slot, (_, value)) in object.attributes().iter().enumerate() {
                    copy.set_slot(slot, self.copy(value, depth - 1)?)?;
                }
                copy.into()
            }
            Value::List(list) => {
                let values = list.values();
                let values = list::try_collect(values.iter().map(|value| self.copy(value, depth - 1)))?;
                List::from_values(list.element().clone(), values)?.into()
            }
            Value::Tuple(tuple) => {
                let items = tuple.items().iter().map(|value| self.copy(value, depth - 1));
                let items = list::try_collect(items)?;
                match tuple.class() {
                    Some(class) => Tuple::named(class.clone(), items).into(),
                    None => Tuple::new(items).into(),
                }
            }
            Value::Dict(dict) => {
                let entries = dict.entries();
                let entries = entries.iter().map(|(key, value)| Ok((key.clone(), self.copy(value, depth - 1)?)));
                let entries = list::try_collect(entries)?;
                Dict::from_entries(dict.key_type().clone(), dict.value_type().clone(), entries)?.into()
            }
            other => other.clone(),
        })
    }
}
