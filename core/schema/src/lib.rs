//! Operator signatures in PyTorch's grammar, and (as data, in `ops/*.toml`) the declaration of every operator.
//!
//! [`Signature`] represents a string such as `"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"`;
//! parse one with `text.parse::<Signature>()`, and print the canonical string with `Display`. `opgen` (bindings/opgen)
//! generates code from [`DECLARATIONS`] when a crate is built; `rushlight-tensor` uses the same parser at run time for
//! operators that users define. A malformed signature is an error with its position, never a panic. This crate has no
//! dependencies.

mod parse;
mod print;
mod signature;

pub use parse::ParseError;
pub use signature::{
    Alias, Argument, BaseType, Constant, Default, Detail, List, ListType, Name, Return, Signature, Type,
};

/// The declarations of all operators: the name of each family and the contents of `ops/<family>.toml`, sorted by name.
pub static DECLARATIONS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/families.rs"));
