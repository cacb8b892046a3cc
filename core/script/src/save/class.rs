//! Classes: headers with attributes, methods; NamedTuples, Enums and interfaces.

use super::function;
use super::names::is_attribute;
use super::program::Printer;
use crate::ast::{ClassKind, Name};
use crate::compile::Class;
use crate::print::print_quoted;
use crate::runtime::constant;
use crate::runtime::function::Linker;
use crate::runtime::object::{Attribute, Role};
use crate::runtime::value::Value;
use crate::schema::Schema;
use crate::types::Type;
use rushlight_base::{Result, bail};

impl Printer<'_> {
    /// The definition of a class.
    pub(super) fn class(&mut self, name: &str) -> Result<String> {
        let short = self.qualified(name);
        let short = short.rsplit('.').next().unwrap_or(name).to_owned();
        match self.program.named_type(name)? {
            Some(Type::NamedTuple(class)) => {
                let mut out = format!("class {short}(NamedTuple):\n");
                for (field, kind) in &class.fields {
                    out.push_str(&format!("  {field} : {}\n", self.annotation(kind)));
                }
                Ok(out)
            }
            Some(Type::Enum(_)) => {
                let class = self.program.class_data(name)?;
                let mut out = format!("class {short}(Enum):\n");
                for (member, kind, value) in &class.values {
                    let value = self.literal(&constant(kind, Some(value))?)?;
                    out.push_str(&format!("  {member} = {value}\n"));
                }
                Ok(out)
            }
            Some(Type::Interface(_)) => self.interface(name, &short),
            Some(Type::Class(_)) => self.object_class(name, &short),
            _ => bail!(Runtime, "there is no class '{name}'"),
        }
    }

    fn interface(&mut self, name: &str, short: &str) -> Result<String> {
        let class = self.program.class_data(name)?;
        let base = if class.kind == ClassKind::ModuleInterface { "ModuleInterface" } else { "Interface" };
        let mut out = format!("class {short}({base}):\n");
        for method in &class.methods {
            let schema = self.program.schema(&format!("{name}.{method}"))?;
            out.push_str(&self.signature(method, &schema));
            out.push_str("    pass\n");
        }
        Ok(out)
    }

    /// `def forward(self,\n    x: Tensor) -> Tensor:` of an interface.
    fn signature(&mut self, method: &str, schema: &Schema) -> String {
        let mut parameters = vec!["self".to_owned()];
        for argument in schema.arguments.iter().skip(1) {
            let kind = self.annotation(&argument.kind.concrete().unwrap_or(Type::Any));
            parameters.push(format!("{}: {kind}", argument.name));
        }
        let result = schema.returns.first().and_then(|result| result.kind.concrete()).unwrap_or(Type::None);
        format!("  def {method}({}) -> {}:\n", parameters.join(",\n    "), self.annotation(&result))
    }

    fn object_class(&mut self, name: &str, short: &str) -> Result<String> {
        let data = self.program.class_data(name)?;
        let is_module = data.kind == ClassKind::Module;
        let attributes = Linker::class(&**self.program, name)?.attributes();
        let mut out = format!("class {short}{}:\n", if is_module { "(Module)" } else { "" });
        let start = out.len();
        if is_module {
            out.push_str(&names("__parameters__", role(&attributes, Role::Parameter)));
            out.push_str(&names("__buffers__", role(&attributes, Role::Buffer)));
        }
        for attribute in &*attributes {
            let kind = self.annotation(&attribute.kind);
            match is_attribute(&attribute.name) {
                true => out.push_str(&format!("  {} : {kind}\n", attribute.name)),
                false => {
                    let quoted = print_quoted(attribute.name.as_bytes());
                    out.push_str(&format!("  __annotations__[{quoted}] = {kind}\n"));
                }
            }
        }
        for (constant_name, kind, value) in &data.constants {
            // A name that code cannot write is that of no constant of a program.
            if is_attribute(constant_name) {
                let value = self.class_constant(kind, value)?;
                out.push_str(&format!("  {constant_name} : Final[{}] = {value}\n", self.annotation(kind)));
            }
        }
        for (list, hooks) in
            [("__forward_pre_hooks__", &data.forward_pre_hooks), ("__forward_hooks__", &data.forward_hooks)]
        {
            if !hooks.is_empty() {
                out.push_str(&names(list, hooks.iter()));
            }
        }
        for method in methods(&data) {
            let function = self.program.function(&format!("{name}.{method}"))?;
            let text = function::print(self, &method, &function, 1);
            out.push_str(&text.map_err(|error| error.context(format!("method '{method}'")))?);
        }
        if out.len() == start {
            out.push_str("  pass\n");
        }
        Ok(out)
    }

    fn class_constant(&mut self, kind: &Type, value: &crate::graph::Attribute) -> Result<String> {
        let value = match kind {
            Type::None => Value::None,
            kind => constant(kind, Some(value))?,
        };
        self.literal(&value)
    }
}

/// The methods that need an object, and what sets properties.
fn methods(class: &Class) -> Vec<Name> {
    let setters = class.properties.values().filter_map(|(_, setter)| setter.clone());
    let methods = class.methods.iter().filter(|method| !class.static_methods.contains(method)).cloned();
    methods.chain(setters).collect()
}

fn role(attributes: &[Attribute], role: Role) -> impl Iterator<Item = &Name> {
    attributes.iter().filter(move |attribute| attribute.role == role).map(|attribute| &attribute.name)
}

/// `  __parameters__ = ["weight", "bias", ]`
fn names<'a>(list: &str, names: impl Iterator<Item = &'a Name>) -> String {
    let names: String = names.map(|name| format!("{}, ", print_quoted(name.as_bytes()))).collect();
    format!("  {list} = [{names}]\n")
}
