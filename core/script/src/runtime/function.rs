//! Functions of a program, and how the run time finds them.

use super::code::Code;
use super::lower::lower;
use super::object::{Class, EnumValue};
use crate::ast::Name;
use crate::classes::Custom;
use crate::graph::Graph;
use crate::plan::Compiled;
use crate::schema::Schema;
use crate::source::Source;
use crate::types::{Resolver, Type};
use rushlight_base::{DType, Result, bail};
use std::sync::{Arc, OnceLock};

/// The node of functions without a graph.
const BYTECODE: &str = "mobile::bytecode";

/// A function or method that can run.
pub struct Function {
    /// Its name, without the class: what error messages show.
    pub name: Name,
    /// Its graph. The inputs of a method begin with the object.
    pub graph: Arc<Graph>,
    /// Names, types and defaults of the arguments.
    pub schema: Arc<Schema>,
    code: OnceLock<Result<Arc<Code>>>,
    /// Its plans, if it is compiled.
    compiled: Option<Compiled>,
}

impl Function {
    /// A function.
    pub fn new(name: impl Into<Name>, graph: impl Into<Arc<Graph>>, schema: impl Into<Arc<Schema>>) -> Function {
        Function {
            name: name.into(),
            graph: graph.into(),
            schema: schema.into(),
            code: OnceLock::new(),
            compiled: None,
        }
    }

    /// The same function, which runs by plans that keep the matrices of linear layers in the dtype `weights`.
    #[must_use]
    pub fn compiled(mut self, weights: DType) -> Function {
        self.compiled = Some(Compiled::new(&self.name, self.graph.clone(), weights));
        self
    }

    /// Its plans, if it is compiled.
    pub fn plans(&self) -> Option<&Compiled> {
        self.compiled.as_ref()
    }

    /// A function of code without a graph: its graph has one node, which stands for the code.
    pub(crate) fn of_code(name: &str, schema: Schema, code: Code) -> Result<Function> {
        let mut graph = Graph::new();
        let top = graph.top();
        let mut inputs = Vec::new();
        for argument in &schema.arguments {
            inputs.push(graph.add_input(top, argument.kind.concrete().unwrap_or(Type::Any))?);
        }
        let returns = schema.returns.first().and_then(|value| value.kind.concrete()).unwrap_or(Type::Any);
        let node = graph.append(top, BYTECODE, &inputs, &[returns])?;
        for output in graph.node(node)?.outputs().to_vec() {
            graph.add_output(top, output)?;
        }
        let code = OnceLock::from(Ok(Arc::new(code)));
        Ok(Function { name: name.into(), graph: graph.into(), schema: schema.into(), code, compiled: None })
    }

    /// The graph, for passes and for saving. Methods of files of the lite interpreter have none.
    pub(crate) fn known_graph(&self) -> Result<&Arc<Graph>> {
        let mut nodes = self.graph.nodes(self.graph.top());
        if nodes.next().is_some_and(|node| self.graph.node(node).is_ok_and(|node| &*node.kind == BYTECODE)) {
            bail!(NotImplemented, "method '{}' has no graph: it is code for the lite interpreter", self.name);
        }
        Ok(&self.graph)
    }

    /// The code, which is created when the function is called first.
    pub(super) fn code(&self, linker: &dyn Linker) -> Result<Arc<Code>> {
        self.code.get_or_init(|| lower(&self.name, &self.graph, linker).map(Arc::new)).clone()
    }
}

/// Finds the parts of a program by their names.
pub trait Linker: Resolver + Send + Sync {
    /// The function with a qualified name.
    fn function(&self, name: &str) -> Result<Arc<Function>>;

    /// The method of a class.
    fn method(&self, class: &str, name: &str) -> Result<Arc<Function>>;

    /// The class with a qualified name.
    fn class(&self, name: &str) -> Result<Arc<Class>>;

    /// The members of an Enum.
    fn members(&self, class: &str) -> Result<Vec<EnumValue>> {
        bail!(Runtime, "there is no Enum '{class}'")
    }

    /// A method of an object whose class is not written in TorchScript. The first argument is the object.
    fn custom_method(&self, class: &str, name: &str) -> Option<Custom> {
        let _ = (class, name);
        None
    }

    /// The source code of a file, for error messages.
    fn source(&self, file: &str) -> Option<Source> {
        let _ = file;
        None
    }
}
