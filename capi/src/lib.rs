//! The C ABI of Rushlight, and the shipped libraries `librushlight.so` and `librushlight.a`.
//!
//! One module here is one header in `include/rushlight`, under the same name, and the headers are generated from
//! these sources, documentation included: `core`, `tensor`, `generator`, `autograd`, `dispatch`, `dlpack`, `io`, and
//! one per family of operators in `ops`. `support` is what each function is made of. The conventions that hold for
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
pub mod ops;
pub mod support;
pub mod tensor;

// Java's entry points are functions of the crate `rushlight-jni`: naming it links them into this library.
#[cfg(feature = "jni")]
use rushlight_jni as _;
