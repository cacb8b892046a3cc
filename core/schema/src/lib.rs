//! Operator signatures in PyTorch's own grammar, and (as data, in `ops/*.toml`) the declaration of every operator.
//!
//! [`Signature`] is what `"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"` means; parse one
//! with `text.parse::<Signature>()`, print the canonical text back with `Display`. `opgen` (bindings/opgen) reads
//! the declarations at build-of-source time; `rushlight-tensor` uses the same parser at run time for operators
//! that users define, so that a wrong text is an error with its position and never a panic.
//! This crate depends on nothing.

mod parse;
mod print;
mod signature;

pub use parse::ParseError;
pub use signature::{Alias, Argument, BaseType, Constant, Default, ListType, Return, Signature, Type};
