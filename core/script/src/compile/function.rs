//! A compiled function.

use crate::ast::Name;
use crate::graph::Graph;
use crate::schema::Schema;
use std::sync::Arc;

/// A compiled function or method.
#[derive(Debug)]
pub struct Function {
    /// The qualified name: `__torch__.Net.forward`.
    pub name: Name,
    /// Arguments and result. The first argument of a method is `self`.
    pub schema: Arc<Schema>,
    /// The graph.
    pub graph: Graph,
    /// The qualified names of functions and methods that the graph calls by name, each once. Calls through interfaces
    /// are not among them.
    pub calls: Vec<Name>,
}
