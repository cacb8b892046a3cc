//! TorchScript: from source code to a syntax tree, types and graphs, and the run time that executes them.
//!
//! It accepts the language that users write (`torch::jit::compile`, `Module::define`) and the subset that PyTorch
//! writes into files. [`parse_module`] reads a file with classes and functions, [`parse_functions`] the argument of
//! `define`. Names and types are resolved by the caller, through [`types::Resolver`]. A [`compile::Unit`] reads sources
//! on demand and compiles functions and methods to [`graph::Graph`]s. [`passes`] change graphs, `save` writes them as
//! source code or bytecode, `trace` records them from calls of operators, and `lite` reads files of the lite interpreter.

pub mod archive;
mod arguments;
pub mod ast;
mod boxed;
pub mod builtins;
pub mod classes;
pub mod compile;
mod construct;
mod describe;
pub mod graph;
mod lexer;
mod lite;
mod literal;
pub mod module;
pub mod operators;
mod packed;
mod parser;
pub mod passes;
pub mod plan;
mod print;
pub mod program;
pub mod runtime;
mod save;
pub mod schema;
mod source;
pub mod trace;
pub mod types;
mod upgrade;
pub mod values;

pub use boxed::Changed;
pub use parser::{parse_expression, parse_functions, parse_module, parse_type_comment};
pub use print::{print_expression, print_module, print_quoted};
pub use source::{Source, Span};
