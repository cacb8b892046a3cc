//! Files of the lite interpreter: programs as the code of a machine with a stack.
//!
//! `opcode` lists the instructions, `pickle` reads the record `bytecode.pkl` of an archive, `flatbuffer` the other form
//! of such files (`flat` its container), `types` the types in both.
//! [`runtime::translate`](crate::runtime) turns the code of a method into code over registers when the file is loaded,
//! so that one interpreter runs all programs. The files name no attributes, types of values or lines of source code:
//! methods have no graph.

mod flat;
mod flatbuffer;
mod opcode;
mod pickle;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use flatbuffer::{is_flatbuffer, load as load_flatbuffer};
pub(crate) use opcode::Opcode;

use crate::archive::{Archive, Built, Layout};
use crate::ast::Name;
use crate::module::Module;
use crate::program::Program;
use crate::runtime::function::Function;
use crate::runtime::object::{Attribute, Class, Role};
use crate::runtime::value::Value;
use crate::schema::{Argument, Schema};
use crate::types::{NamedTuple, Type};
use rushlight_base::{Result, bail, ensure, err};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The versions of the code that are read.
const VERSIONS: std::ops::RangeInclusive<i64> = 4..=9;

/// An instruction with its two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub opcode: Opcode,
    pub x: i32,
    pub n: u32,
}

/// An operator that a method calls.
#[derive(Clone, Debug)]
pub(crate) struct OperatorUse {
    /// `aten::add`
    pub name: Name,
    pub overload: Name,
    /// How many arguments a call gives; the others have their defaults. None if it gives all.
    pub arguments: Option<usize>,
}

/// A method as the file holds it.
pub(crate) struct Method {
    /// The qualified name.
    pub name: Name,
    pub steps: Vec<Step>,
    pub operators: Vec<OperatorUse>,
    pub constants: Vec<Value>,
    /// Types that instructions refer to. A type that is not known is an error where it is used.
    pub types: Vec<Result<Type>>,
    /// The number of registers.
    pub registers: usize,
    /// The arguments, and the type of the result; none in old files.
    pub signature: Option<(Vec<Argument>, Type)>,
}

impl Method {
    /// The instructions at which forward jumps end. Only loops go back, and only to their heads.
    pub(crate) fn labels(&self) -> Result<BTreeSet<usize>> {
        let mut labels = BTreeSet::new();
        for (at, step) in self.steps.iter().enumerate() {
            if !matches!(step.opcode, Opcode::Jump | Opcode::JumpIfFalse | Opcode::Loop) {
                continue;
            }
            let to = at.checked_add_signed(step.x as isize).filter(|to| *to < self.steps.len());
            let Some(to) = to else {
                bail!(Io, "instruction {at} jumps out of the {} instructions of the function", self.steps.len())
            };
            if step.x > 0 {
                labels.insert(to);
                continue;
            }
            let is_head = self.steps.get(to).is_some_and(|step| step.opcode == Opcode::Loop);
            ensure!(
                step.opcode == Opcode::Jump && is_head && step.x < 0,
                Io,
                "instruction {at} jumps back to instruction {to}, which is no loop"
            );
        }
        Ok(labels)
    }

    /// The class and the name of the method.
    fn owner(&self) -> Result<(&str, &str)> {
        self.name.rsplit_once('.').ok_or_else(|| err!(Io, "the method '{}' has no class", self.name.escape_debug()))
    }

    /// The number of inputs, the object included. The code of methods without signature begins with storing them.
    pub(crate) fn inputs(&self) -> usize {
        match (&self.signature, self.steps.first()) {
            (Some((arguments, _)), _) => arguments.len(),
            (None, Some(Step { opcode: Opcode::StoreN, n, .. })) => *n as usize,
            (None, _) => 1,
        }
    }

    fn schema(&self) -> Schema {
        let (arguments, returns) = self.signature.clone().unwrap_or_else(|| {
            let name = |input: usize| if input == 0 { "self".to_owned() } else { format!("argument_{input}") };
            ((0..self.inputs()).map(|input| Argument::new(&name(input), Type::Any)).collect(), Type::Any)
        });
        Schema::new(&self.name, arguments, returns)
    }
}

/// What a file holds besides values.
pub(crate) struct Contents {
    pub methods: Vec<Method>,
    pub named_tuples: Vec<Arc<NamedTuple>>,
    /// The version of the operators.
    pub operators: u64,
}

/// Checks the version of the code.
pub(crate) fn check_version(version: i64) -> Result<()> {
    ensure!(
        VERSIONS.contains(&version),
        Io,
        "Lite Interpreter version number does not match. The model version must be between {} and {} but the model \
         version is {version}",
        VERSIONS.start(),
        VERSIONS.end()
    );
    Ok(())
}

/// Adds the classes of a file to a program. `layouts` has the attributes of the objects in it.
pub(crate) fn define_classes<'m>(
    program: &Program,
    methods: impl Iterator<Item = &'m Method>,
    layouts: Vec<Layout>,
) -> Result<()> {
    let mut names: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
    let mut layouts: BTreeMap<Name, Vec<Attribute>> =
        layouts.into_iter().map(|layout| (layout.class, layout.attributes)).collect();
    for method in methods {
        let (class, name) = method.owner()?;
        let known = names.entry(class.into()).or_default();
        ensure!(!known.iter().any(|known| &**known == name), Io, "the file has two methods '{}'", method.name);
        known.push(name.into());
        // Classes whose objects only the code creates.
        for kind in &method.types {
            if let Ok(Type::Class(name)) = kind
                && !name.starts_with("__torch__.torch.classes.")
            {
                layouts.entry(name.clone()).or_default();
            }
        }
    }
    let all: BTreeSet<Name> = names.keys().chain(layouts.keys()).cloned().collect();
    for name in all {
        let methods = names.remove(&name).unwrap_or_default();
        let attributes = layouts.remove(&name).unwrap_or_default();
        // The state of an object is given to its method, which sets the attributes.
        let has_state = methods.iter().any(|method| &**method == "__setstate__");
        program.define_lite_class(Class::new(name, if has_state { Vec::new() } else { attributes }), methods)?;
    }
    Ok(())
}

/// Adds the methods of a file to a program that has its classes.
pub(crate) fn define_methods(program: &Program, contents: &Contents) -> Result<()> {
    for class in &contents.named_tuples {
        program.define_named_tuple(class.clone())?;
    }
    for method in &contents.methods {
        let failed = |error: rushlight_base::Error| error.context(format_args!("method {}", method.name));
        let code = crate::runtime::translate(method, contents.operators, program).map_err(failed)?;
        let (_, name) = method.owner()?;
        let function = Function::of_code(name, method.schema(), code)?;
        program.define_lite_function(&method.name, function);
    }
    Ok(())
}

/// Several results are a tuple.
pub(crate) fn single_or_tuple(kinds: Vec<Type>) -> Type {
    match kinds.as_slice() {
        [single] => single.clone(),
        several => Type::tuple(several),
    }
}

/// An attribute of a class: files name them only in the states of objects.
pub(crate) fn attribute(name: &str, role: Role) -> Attribute {
    Attribute { name: name.into(), kind: Type::Any, role }
}

/// Loads the module of an archive with `bytecode.pkl`.
pub(crate) fn load(archive: Archive) -> Result<Module> {
    ensure!(
        archive.is_lite(),
        Io,
        "the file has no code for the lite interpreter: it was not written by _save_for_lite_interpreter"
    );
    let archive = Arc::new(archive);
    let contents = pickle::read(&archive).map_err(|error| error.context("bytecode.pkl"))?;
    let root = archive.root_class("data")?.ok_or_else(|| err!(Io, "the archive holds no module"))?;
    let program = Program::of_lite(Some(archive.clone()), BTreeMap::new());
    define_classes(&program, contents.methods.iter(), archive.layouts("data")?)?;
    define_methods(&program, &contents)?;
    let built = archive.value("data", Some(&Type::Class(root.into())), &*program)?;
    finish(program, built)
}

/// The module of a file. The attributes that `__setstate__` methods have set are parameters and buffers too.
fn finish(program: Arc<Program>, built: Built) -> Result<Module> {
    let module = Module::of_built(program, built)?;
    for (_, object) in module.modules() {
        for (slot, (attribute, value)) in object.attributes().into_iter().enumerate() {
            if let (Role::Plain, Value::Tensor(tensor)) = (attribute.role, value) {
                let role = if tensor.requires_grad() { Role::Parameter } else { Role::Buffer };
                object.class().set_role(slot, role);
            }
        }
    }
    Ok(module)
}
