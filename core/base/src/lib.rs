//! The types that every other crate of Rushlight uses.
//!
//! Dtypes, devices, shapes, scalars, errors, storage and its allocator, and the process-wide state. This crate does not
//! depend on tensors, operators or autograd (see `rushlight-tensor`), nor on C (see `capi`).

mod asymmetric;
pub mod backend;
mod cache;
mod callee;
pub mod cancel;
mod cores;
mod device;
mod dtype;
mod error;
mod fork;
pub mod handles;
mod hooks;
#[cfg(any(unix, windows))]
pub mod image;
pub mod list;
mod local;
mod mapped;
pub mod memory;
mod overflow;
mod parallel;
pub mod pins;
pub mod plan;
mod pool;
pub mod random;
pub mod reduction;
pub mod report;
pub mod reserve;
pub mod runtime;
mod scalar;
mod scratch;
mod shape;
pub mod spin;
mod storage;
pub mod thread;
#[cfg(windows)]
mod windows;

pub use device::{Device, DeviceType, Layout, MemoryFormat};
pub use dtype::{Category, Complex32, Complex64, Complex128, DType, Element};
pub use error::{Error, ErrorKind, Payload, Result};
pub use half::{bf16, f16};
pub use num_complex::Complex;
pub use scalar::Scalar;
pub use scratch::Scratch;
pub use shape::{
    DimVec, contiguous_strides, copy_dims, format_sizes, numel, push_contiguous_strides, same_sizes, wrap_dim,
};
pub use smallvec::{Array, SmallVec, smallvec};
pub use storage::{Home, Storage};
