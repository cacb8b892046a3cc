//! The C ABI of Rushlight, and the shipped libraries `librushlight.so` and `librushlight.a`.
//!
//! Each module here is one header in `include/rushlight`, under the same name, and the headers are generated from these
//! sources: the documentation of a module opens its header as a chapter, whose example runs as a test, and a line
//! `// ---- title ----` begins a section. There is one module per operator family in `ops`. `support` has the parts of
//! which each function is composed. `docs/c-abi.md` states the conventions of all functions. No crate below this one
//! depends on C.

#![allow(non_camel_case_types, non_snake_case, reason = "the names are those of the C interface")]
#![allow(clippy::missing_safety_doc, reason = "docs/c-abi.md documents it for every C function")]
#![allow(
    clippy::too_many_arguments,
    reason = "C functions take what PyTorch's schemas say, and lengths beside pointers"
)]

pub mod autograd;
pub mod cancel;
pub mod checkpoint;
pub mod core;
pub mod cuda;
pub mod dispatch;
pub mod dlpack;
pub mod generator;
pub mod gradcheck;
pub mod hooks;
pub mod io;
pub mod memory;
pub mod object;
pub mod profiler;
pub mod runtime;
#[cfg(feature = "script")]
pub mod script;
pub mod support;
pub mod tensor;

/// The operators, one module for each family, each behind the cargo feature of the family. The build script writes them.
#[allow(missing_docs, reason = "the headers document the functions: include/rushlight/ops")]
pub mod ops {
    include!(concat!(env!("OUT_DIR"), "/ops.rs"));
}

/// Keeps small internal allocations working if `malloc` fails, so that the library does not abort its host.
#[cfg(not(feature = "foreign-allocator"))]
#[global_allocator]
static ALLOCATOR: rushlight_base::reserve::Reserve = rushlight_base::reserve::Reserve;

// The Java entry points are functions of the crate `rushlight-jni`: naming it links them into this library.
#[cfg(feature = "jni")]
use rushlight_jni as _;
