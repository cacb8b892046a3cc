//! Tensors, dispatch, autograd and operators of Rushlight.
//!
//! `tensor` and `dense` are the data, `keys` and `dispatch` the dispatcher, `autograd` the gradients, `observe` the
//! observers of calls, `profile` the profiler, `ops` the operators (hand-written rules and glue, and the functions
//! generated from `core/schema`). Kernels are in `rushlight-cpu`; this crate does not depend on C.

pub mod autograd;
mod body;
mod components;
pub mod dense;
pub mod devices;
pub mod dispatch;
mod generator;
mod keys;
mod names;
#[cfg(feature = "op-nested")]
pub mod nested;
pub mod observe;
mod once;
pub mod ops;
mod options;
pub mod profile;
#[cfg(feature = "op-quantization")]
pub mod quantized;
mod quantizer;
mod refcount;
mod replace;
#[cfg(feature = "op-sparse")]
pub mod sparse;
mod tensor;

pub use body::Pinned;
pub use components::Components;
pub use dense::{Dense, Geometry, Lazy, Spec};
pub use dispatch::{Op, Value, Values};
pub use generator::{Generator, manual_seed};
pub use keys::{KeyGuard, KeySet};
pub use options::Options;
pub use quantizer::Quantizer;
pub use refcount::{Fresh, Tensor, TensorImpl, WeakTensor};

/// Returns to the state before the first call: default generator, run-time operators, settings and hooks. No other call
/// may be running.
pub fn shutdown() {
    profile::shutdown();
    observe::shutdown();
    dispatch::record::stop();
    dispatch::runtime_ops::shutdown();
    #[cfg(feature = "op-quantization")]
    quantized::library::shutdown();
    generator::shutdown();
    #[cfg(feature = "op-fft")]
    rushlight_fft::shutdown();
    rushlight_base::runtime::shutdown();
}
