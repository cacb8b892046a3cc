//! The native methods of Java: the functions `Java_org_rushlight_internal_*`.
//!
//! A Java `long` is the handle of the C interface, so the two bindings share tensors; the wrappers in `java/` own them.
//! `support` has the guard that turns errors and panics into Java exceptions, and the conversions; `ops` the operators;
//! the other modules are written by hand, one for each part of `org.rushlight.internal.NativeCore`, `profiler`, `script` and
//! `trace` for `NativeProfiler`, `NativeScript` and `NativeTrace`. Below are `rushlight-tensor`, `rushlight-io` and
//! `rushlight-script`; the crate `capi` links this one into the shared library.

mod arrays;
mod autograd;
mod cancel;
mod checkpoint;
mod files;
mod graph;
mod library;
mod profiler;
#[cfg(feature = "script")]
mod runs;
mod runtime;
#[cfg(feature = "script")]
mod script;
pub mod support;
mod tensor;
#[cfg(feature = "script")]
mod trace;

/// The shims of the operators, one for each call class, behind the cargo features of the families that use it. The build
/// script writes them.
#[allow(non_snake_case, reason = "JNI prescribes the names")]
#[allow(unused_imports, reason = "small builds need fewer types")]
#[allow(clippy::too_many_arguments, reason = "the signatures are those of the operators")]
mod ops {
    include!(concat!(env!("OUT_DIR"), "/ops.rs"));
}
