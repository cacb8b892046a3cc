//! Modules that programs build: new ones without a file, attributes that are added to them, and copies.

use crate::ast::Name;
use crate::compile;
use crate::module::Module;
use crate::program::Program;
use crate::runtime::function::Linker;
use crate::runtime::object::{Attribute, Object, Role};
use crate::runtime::value::Value;
use crate::types::{Type, parse_type};
use rushlight_base::{Result, ensure, err};
use std::sync::Arc;

/// A name of a class as PyTorch qualifies it: `Net` is `__torch__.Net`.
fn qualified(name: &str) -> Result<Name> {
    let good = !name.is_empty() && name.split('.').all(|part| !part.is_empty());
    ensure!(good, Value, "'{name}' is no name of a class");
    Ok(if name.contains('.') { name.into() } else { format!("__torch__.{name}").into() })
}

impl Module {
    /// A module without attributes and methods. Its class is new; if the program has a class of this name, another name
    /// is chosen.
    pub fn create(program: Arc<Program>, name: &str) -> Result<Module> {
        let mut name = qualified(name)?;
        if program.class_data(&name).is_ok() {
            name = program.free_class_name(&name);
        }
        program.define_class(compile::Class::module(&name))?;
        let class = Linker::class(&*program, &name)?;
        Ok(Module::new(program, Object::new(class)))
    }

    /// Adds an attribute, or sets one of the same type. `kind` is an annotation; None is the type of the value.
    pub fn register(&self, name: &str, kind: Option<&str>, value: Value, role: Role) -> Result<()> {
        ensure!(!name.is_empty() && !name.contains('.'), Value, "'{name}' is no name of an attribute");
        let program = self.program();
        let kind = match kind {
            Some(text) => parse_type(text, &**program)?,
            None => value.type_of(),
        };
        self.add(name, kind, value, role)
    }

    fn add(&self, name: &str, kind: Type, value: Value, role: Role) -> Result<()> {
        let program = self.program();
        let class = self.object().class();
        let found = class.attributes().iter().find(|attribute| &*attribute.name == name).cloned();
        match found {
            Some(attribute) => {
                ensure!(
                    kind.is_subtype_of(&attribute.kind, &**program),
                    Runtime,
                    "'{name}' of {} has the type '{}', not '{kind}'",
                    class.name,
                    attribute.kind
                );
            }
            None => {
                let attribute = compile::ClassAttribute {
                    name: name.into(),
                    kind: kind.clone(),
                    is_parameter: role == Role::Parameter,
                    is_buffer: role == Role::Buffer,
                };
                program.add_attribute(&class.name, attribute)?;
                class.add_attribute(Attribute { name: name.into(), kind, role });
            }
        }
        self.set_attribute(name, value)
    }

    /// Adds a submodule, which must belong to the same program.
    pub fn register_module(&self, name: &str, child: &Module) -> Result<()> {
        ensure!(
            Arc::ptr_eq(self.program(), child.program()),
            NotImplemented,
            "the module '{name}' belongs to another compilation unit; create both modules with one CompilationUnit"
        );
        ensure!(!name.is_empty() && !name.contains('.'), Value, "'{name}' is no name of a submodule");
        let object = child.object().clone();
        self.add(name, Type::Class(object.class().name.clone()), object.into(), Role::Plain)
    }

    /// Adds methods from source code and compiles them.
    pub fn define_checked(&self, source: &str) -> Result<()> {
        let names = self.define(source)?;
        names.iter().try_for_each(|name| self.program().check(&format!("{}.{name}", self.class())))
    }

    /// A module of the same class with the same values, which are not copied.
    pub fn shallow_copy(&self) -> Result<Module> {
        let object = Object::new(self.object().class().clone());
        for (slot, (_, value)) in self.object().attributes().into_iter().enumerate() {
            object.set_slot(slot, value)?;
        }
        Ok(Module::new(self.program().clone(), object))
    }

    /// The value of a constant of the class.
    pub(crate) fn constant(&self, name: &str) -> Result<Value> {
        let data = self.program().class_data(self.class())?;
        let (kind, value) =
            data.constant(name).ok_or_else(|| err!(Runtime, "'{}' object has no attribute '{name}'", self.class()))?;
        crate::runtime::constant(kind, Some(value))
    }
}
