//! The compiler: from syntax trees to graphs.
//!
//! A [`Unit`] holds the classes and functions of a program. It reads the files that define them on demand, through a
//! [`Host`], and compiles a function when its graph is asked for. Overloads of operators come from
//! [`Operators`](crate::operators::Operators).
//!
//! A function is compiled in one pass over its tree. Variables are kept in frames, one for each block of the graph;
//! where two blocks join, values that differ become outputs of `prim::If`. Code after an early return goes into the
//! branch that did not return, so that no pass has to remove exits later.

mod assignment;
mod builtin;
mod call;
mod class;
mod cleanup;
mod comprehension;
mod condition;
mod environment;
mod expression;
mod function;
mod iteration;
mod join;
mod literal;
mod loops;
mod matching;
mod member;
mod name;
mod special;
mod statement;
mod subscript;
mod sugar;
mod unit;

pub use class::{Attribute as ClassAttribute, Class};
pub use function::Function;
pub use unit::{Constant, Host, NoHost, Unit};
