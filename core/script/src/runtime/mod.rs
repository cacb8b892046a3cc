//! Programs at run time.
//!
//! [`value`] and its neighbours are the values. `resolve` finds the operator of a node, `lower` translates a graph to
//! `code` over registers, `stack` the code of files of the lite interpreter; `interpreter` runs it. [`function`] is what callers have: functions, and the trait through
//! which the run time finds the other parts of a program.

mod code;
pub(crate) mod compare;
mod constant;
mod construct;
pub(crate) mod convert;
pub mod dict;
mod drop;
mod fork;
pub mod function;
mod interpreter;
pub mod list;
mod lower;
pub mod object;
pub(crate) mod print;
mod print_tensor;
pub(crate) mod resolve;
mod stack;
mod trace;
pub mod value;

pub(crate) use constant::{attribute_of, constant, member};
pub(crate) use interpreter::Suspended;
pub use interpreter::{Environment, Sink, run};
pub(crate) use lower::{LastUse, last_uses};
pub(crate) use resolve::{resolve, schema_of};
pub(crate) use stack::translate;
pub use trace::Exception;
