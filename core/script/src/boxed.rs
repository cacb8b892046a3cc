//! Calls with the values of the dispatcher, which every binding has. Containers are copied: a list that a program
//! changes is not the caller's, who may ask for its elements after the call.

use crate::module::Module;
use crate::plan::Run;
use crate::program::Program;
use crate::runtime::convert::{from_operator, to_operator};
use crate::runtime::object::Role;
use crate::runtime::value::Value;
use crate::runtime::{Environment, run};
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

/// The result of a call, and the arguments that are or contain lists or dicts as the call leaves them: the positional
/// ones, then the named ones. The others are None.
pub type Changed = (dispatch::Value, Vec<dispatch::Value>);

/// Whether a program can change what the value contains.
fn can_change(value: &Value) -> bool {
    match value {
        Value::List(_) | Value::Dict(_) => true,
        Value::Tuple(tuple) => tuple.items().iter().any(can_change),
        _ => false,
    }
}

impl Program {
    fn call_changing(
        self: &Arc<Program>,
        name: &str,
        object: Option<Value>,
        arguments: Vec<dispatch::Value>,
        keywords: &[(String, dispatch::Value)],
        environment: &Environment,
    ) -> Result<Changed> {
        let (first, count) = (usize::from(object.is_some()), arguments.len());
        let (function, arguments) = self.prepared(name, object, values(arguments)?, named(keywords)?)?;
        let kept = list::copied(&arguments)?;
        let result = to_operator(&run(&function, arguments, environment)?)?;
        let place = |name: &str| function.schema.arguments.iter().position(|argument| &*argument.name == name);
        let positional = (first..first + count).map(Some);
        let places = positional.chain(keywords.iter().map(|(name, _)| place(name)));
        let after = places.map(|place| match place.and_then(|at| kept.get(at)) {
            Some(value) if can_change(value) => to_operator(value),
            _ => Ok(dispatch::Value::None),
        });
        Ok((result, list::try_collect(after)?))
    }

    /// Calls a function; also returns the lists and dicts among the arguments as the call leaves them.
    pub fn call_boxed_changing(
        self: &Arc<Program>,
        name: &str,
        arguments: Vec<dispatch::Value>,
        keywords: &[(String, dispatch::Value)],
    ) -> Result<Changed> {
        self.call_changing(name, None, arguments, keywords, &Environment::new(self.clone()))
    }

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

    /// Calls a method; also returns the lists and dicts among the arguments as the call leaves them.
    pub fn run_boxed_changing(
        &self,
        method: &str,
        arguments: Vec<dispatch::Value>,
        keywords: &[(String, dispatch::Value)],
    ) -> Result<Changed> {
        let (name, object) = (format!("{}.{method}", self.class()), Value::Object(self.object().clone()));
        self.program().call_changing(&name, Some(object), arguments, keywords, &self.environment())
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
