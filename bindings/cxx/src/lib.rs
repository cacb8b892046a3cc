//! Rushlight from a Cargo build with C++ in it: an operator written in C++ joins the library at run time, and Rust
//! (like every other language) calls it by name.
//!
//! `bridge` is the interface of the two languages, declared once for the crate `cxx`; `call` and `registry` are its
//! Rust side; `scaled_add.cc` is the operator. Programs that do not build with Cargo use the C functions
//! `rlt_op_define` and `rlt_op_impl` instead.

mod bridge;
mod call;
mod registry;

pub use registry::Registry;
