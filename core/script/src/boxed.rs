//! Calls with the values of the dispatcher, which every binding has. Containers are copied: a list that a program
//! changes is not the caller's.

use crate::module::Module;
use crate::plan::Run;
use crate::program::Program;
use crate::runtime::convert::{from_operator, to_operator};
use crate::runtime::object::Role;
use crate::runtime::value::Value;
use rushlight_base::{Result, list};
use rushlight_tensor::dispatch;
use std::sync::Arc;

fn values(values: Vec<dispatch::Value>) -> Result<Vec<Value>> {
    list::try_collect(values.into_iter().map(from_operator))
}

fn named(values: &[(String, dispatch::Value)]) -> Result<Vec<(&str, Value)>> {
    list::try_collect(values.iter().map(|(name, value)| Ok((name.as_str(), from_operator(value.clone())?))))
}

impl Run {
    /// The result. An error if the run is not done.
    pub fn result_boxed(&self) -> Result<dispatch::Value> {
        to_operator(self.result()?)
    }
}

impl Program {
    /// Calls a function.
    pub fn call_boxed(
        self: &Arc<Program>,
        name: &str,
        arguments: Vec<dispatch::Value>,
        keywords: &[(String, dispatch::Value)],
    ) -> Result<dispatch::Value> {
        to_operator(&self.call(name, values(arguments)?, named(keywords)?)?)
    }
}

impl Module {
    /// Calls a method.
    pub fn run_boxed(
        &self,
        method: &str,
        arguments: Vec<dispatch::Value>,
        keywords: &[(String, dispatch::Value)],
    ) -> Result<dispatch::Value> {
        to_operator(&self.run_method(method, values(arguments)?, named(keywords)?)?)
    }

    /// Begins a call of a method that goes on step by step.
    pub fn begin_boxed(
        &self,
        method: &str,
        arguments: Vec<dispatch::Value>,
        keywords: &[(String, dispatch::Value)],
    ) -> Result<Run> {
        self.begin_method(method, values(arguments)?, named(keywords)?)
    }

    /// The value of an attribute; of `a.b.c` that of a submodule.
    pub fn attribute_boxed(&self, name: &str) -> Result<dispatch::Value> {
        to_operator(&self.attribute(name)?)
    }

    /// Adds an attribute, or sets one of the same type: see [`register`](Module::register).
    pub fn register_boxed(&self, name: &str, kind: Option<&str>, value: dispatch::Value, role: Role) -> Result<()> {
        self.register(name, kind, from_operator(value)?, role)
    }

    /// Sets an attribute.
    pub fn set_attribute_boxed(&self, name: &str, value: dispatch::Value) -> Result<()> {
        self.set_attribute(name, from_operator(value)?)
    }
}
