//! What Java calls: the functions `Java_org_rushlight_internal_*`.
//!
//! A Java `long` is the handle of the C interface, so the two faces share tensors; the wrappers in `java/` own
//! them. `support` has the guard that turns errors and panics into Java exceptions, and the conversions; `generated`
//! the operators, one file per family; the other modules are written by hand, one for each part of
//! `org.rushlight.internal.NativeCore`. Below are `rushlight-tensor` and `rushlight-io`; the crate `capi` links this
//! one into the shared library.

mod arrays;
mod autograd;
mod files;
mod generated;
mod graph;
mod library;
mod runtime;
pub mod support;
mod tensor;
