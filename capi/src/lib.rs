//! The C ABI of Rushlight, and the shipped libraries `librushlight.so` and `librushlight.a`.
//!
//! One module here is one header in `include/rushlight`, under the same name, and the headers are generated from
//! these sources: the documentation of a module opens its header as a chapter, whose example runs as a test, and a line
//! `// ---- title ----` begins a section. One module per family of operators is in `ops`. `support` is what each function is made of. The conventions that hold for
//! every function stand in `docs/c-abi.md`. Nothing below this crate knows of C.

#![allow(non_camel_case_types, non_snake_case, reason = "the names are those of the C interface")]
#![allow(clippy::missing_safety_doc, reason = "docs/c-abi.md says it once for every C function")]
#![allow(
    clippy::too_many_arguments,
    reason = "C functions take what PyTorch's schemas say, and lengths beside pointers"
)]

pub mod autograd;
pub mod core;
pub mod dispatch;
pub mod dlpack;
pub mod generator;
pub mod gradcheck;
pub mod hooks;
pub mod io;
pub mod memory;
pub mod ops;
pub mod runtime;
pub mod support;
pub mod tensor;

/// The library must not end its host where `malloc` gives nothing.
#[cfg(not(feature = "foreign-allocator"))]
#[global_allocator]
static ALLOCATOR: rushlight_base::reserve::Reserve = rushlight_base::reserve::Reserve;

// Java's entry points are functions of the crate `rushlight-jni`: naming it links them into this library.
#[cfg(feature = "jni")]
use rushlight_jni as _;
