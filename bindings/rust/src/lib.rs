//! Tensors, autograd, neural networks and saved models: the operators of PyTorch in Rust, without Python and without libtorch.
//!
//! ```
//! // Fits y = 2 a - 3 b + 1 by gradient descent.
//! use rushlight::nn::{Linear, Module};
//! use rushlight::optim::{Optimizer, Sgd, SgdOptions};
//! use rushlight::{Result, Tensor, manual_seed};
//!
//! fn main() -> Result<()> {
//!     manual_seed(0);
//!     let model = Linear::new(2, 1)?;
//!     let mut optimizer = Sgd::new(model.parameters(), SgdOptions { lr: 0.1, ..Default::default() });
//!     let x = Tensor::randn([64, 2])?;
//!     let y = x.mm(&Tensor::from_slice(&[2.0f32, -3.0], [2, 1])?)?.add_scalar(1)?;
//!     for _ in 0..300 {
//!         optimizer.zero_grad()?;
//!         model.forward(&x)?.mse_loss(&y)?.backward()?;
//!         optimizer.step()?;
//!     }
//!     assert_eq!(model.weight.to_string(), "tensor([[ 2.0000, -3.0000]], requires_grad=True)");
//!     Ok(())
//! }
//! ```
//!
//! The crate compiles the library from source; it needs no other file at build time or at run time.
//!
//! # Operators
//!
//! Every public operator is a method of [`Tensor`]: of its `self`, or of its first argument if that is a tensor. The others,
//! such as [`Tensor::zeros`] and [`Tensor::cat`], are associated functions. Names follow from PyTorch's:
//!
//! - Rust has no overloads. One overload has the name of the operator, the name of the others follows it: `add.Tensor` is
//!   [`add`](Tensor::add), `add.Scalar` is [`add_scalar`](Tensor::add_scalar), `sum.dim_IntList` is
//!   [`sum_dim`](Tensor::sum_dim). The documentation of a method has its schema.
//! - In-place forms end with `_` and return `self` ([`add_`](Tensor::add_)), forms that write into given tensors end with `_out`
//!   ([`add_out`](Tensor::add_out)).
//! - A method takes the arguments without a default. The method with `_with` in its name takes all: as its last argument the
//!   optional one, or a struct of [`options`] if there are several. Arguments thus have names, and further ones can be added:
//!
//! ```
//! # use rushlight::{Tensor, options};
//! # let (x, weight, bias) = (Tensor::ones([1, 1, 4, 4])?, Tensor::ones([2, 1, 3, 3])?, Tensor::zeros(2)?);
//! let y = x.conv2d(&weight)?;
//! let z = x.conv2d_with(&weight, options::Conv2d { bias: Some(&bias), stride: &[2, 2], ..Default::default() })?;
//! let (largest, places) = z.max_dim_with(1, true)?; // keepdim
//! # assert_eq!((y.sizes(), z.sizes(), largest.sizes()), (vec![1, 2, 2, 2], vec![1, 2, 1, 1], vec![1, 1, 1, 1]));
//! # assert_eq!(places.item()?.to_i64(), 0);
//! # Ok::<(), rushlight::Error>(())
//! ```
//!
//! - `clone` has another meaning in Rust: the operator is [`deep_clone`](Tensor::deep_clone).
//!
//! [`call`] calls operators by name.
//!
//! # Errors and panics
//!
//! A method returns [`Result`]. An [`Error`] has a [kind](Error::kind) and a [message](Error::message) that names the operator,
//! shapes and dtypes. A failed call leaves its arguments unchanged, unless it was interrupted: an in-place target holds
//! unspecified values if the call was cancelled or ran out of memory.
//!
//! The operators `+`, `-`, `*`, `/` and their assignments have no way to return an error: as with other crates for arrays, they
//! *panic* with its message. Code that must not panic calls methods:
//!
//! ```
//! # use rushlight::Tensor;
//! let (a, b) = (Tensor::ones([2])?, Tensor::ones([3])?);
//! let c = 2.0 * &a + 1; // same shapes
//! let error = a.add(&b).unwrap_err();
//! assert_eq!(
//!     error.message(),
//!     "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0\n  in operator add.Tensor"
//! );
//! # assert_eq!(c.to_vec::<f32>()?, [3.0, 3.0]);
//! # Ok::<(), rushlight::Error>(())
//! ```
//!
//! # More
//!
//! - [`Tensor::i`] indexes, [`Tensor::from_slice`] and [`Tensor::to_vec`] convert.
//! - [`autograd`] has gradients, [`nn`] layers, [`optim`] optimizers.
//! - [`StateDict`] and [`checkpoint`] read and write files, [`ScriptModule`] runs models that Python saved.
//! - [`manual_seed`], [`set_num_threads`], [`CancelToken`], [`set_log`] and [`memory_stats`] are for the process.
//!
//! # Features
//!
//! All are on by default. `nn`, `optim` and `script` are modules of this crate, `cuda` is the support of NVIDIA GPUs, and
//! `op-<family>` the operators of a family. Without default features, the crate has the families of elementary operators.
#![deny(missing_docs)]

/// The code of the guide.
#[cfg(all(doctest, feature = "all-operators", feature = "nn", feature = "optim", feature = "script"))]
#[doc = include_str!("../../../docs/guides/rust.md")]
struct Guide;

pub mod autograd;
pub mod checkpoint;
mod display;
#[allow(clippy::derivable_impls, reason = "the defaults of the schema are written out")]
mod generated;
mod index;
mod lists;
#[cfg(feature = "nn")]
pub mod nn;
mod operators;
#[cfg(feature = "optim")]
pub mod optim;
mod options_of_factories;
mod runtime;
#[cfg(feature = "script")]
mod script;
mod state;
mod tensor;
mod value;

pub use generated::options;
pub use index::{Ellipsis, Index, IntoIndex, NewAxis};
pub use lists::{IntList, OptionalIntList};
pub use options_of_factories::{Reduction, TensorOptions};
pub use runtime::{
    CancelToken, Determinism, LogLevel, MemoryStats, cuda_device_count, default_dtype, determinism, is_cuda_available,
    manual_seed, memory_stats, num_threads, remove_log, reset_peak_memory, set_default_dtype, set_determinism, set_log,
    set_num_threads, trim_memory,
};
pub use rushlight_base::{
    Complex, Complex32, Complex64, Complex128, DType, Device, DeviceType, Element, Error, ErrorKind, Layout,
    MemoryFormat, Result, Scalar, bf16, f16,
};
pub use rushlight_tensor::Generator;
#[cfg(feature = "script")]
pub use script::{Script, ScriptModule};
pub use state::{Format, Incompatible, StateDict};
pub use tensor::Tensor;
pub use value::{IValue, Opaque, call};
