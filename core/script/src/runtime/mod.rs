//! Programs at run time: their values, and how they are printed, compared and given to operators.

pub(crate) mod compare;
pub(crate) mod convert;
pub mod dict;
mod drop;
pub mod list;
pub mod object;
pub(crate) mod print;
mod print_tensor;
pub mod value;
