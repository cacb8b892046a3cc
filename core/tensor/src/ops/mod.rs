//! The operators.
//!
//! `generated` holds a typed function for each form of each operator declared in `core/schema/ops`: the build script
//! writes it (`make generate` puts a formatted copy into `build/generated/rust` for reading). It calls the hand-written
//! modules here: `rules` (shape rules), `views` (view rules), `composite` (operators made of
//! operators) and the kernels, one file per subject, which bring inputs to the dtype of the computation and
//! hand strided memory to the loops of `rushlight-cpu`.

mod access;
pub mod activation;
pub mod advanced;
#[cfg(feature = "op-sorting")]
mod bins;
pub mod channel_norm;
pub mod compare;
pub mod composite;
#[cfg(feature = "op-convolution")]
pub mod conv;
pub mod copy;
pub mod creation;
pub mod ctc;
#[cfg(feature = "op-detection")]
pub mod detection;
pub mod distance;
pub mod elementary;
#[cfg(feature = "op-nn")]
pub mod embedding_bag;
#[cfg(feature = "op-factory")]
pub mod factory;
#[cfg(feature = "op-fft")]
pub mod fft;
#[cfg(feature = "op-series")]
pub mod filter;
#[cfg(feature = "op-foreach")]
pub mod foreach;

/// The operators, family by family. Each family is a cargo feature (`op-<family>`) that adds its rows to the operator
/// table; the code of the families that autograd uses is part of every build.
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/ops.rs"));
}
#[cfg(feature = "op-vision")]
mod grid;
pub mod index;
#[cfg(feature = "op-joining")]
pub mod joining;
#[cfg(feature = "op-linalg_solve")]
pub mod linalg;
pub mod loss;
pub mod masks;
pub mod matmul;
pub mod metadata;
pub mod norm;
pub mod numeric;
pub mod optim;
pub mod pointwise;
#[cfg(feature = "op-pooling")]
pub mod pooling;
pub mod prepared;
#[cfg(feature = "op-quantization")]
pub mod quantization;
pub mod random;
#[cfg(feature = "op-recurrent")]
pub mod recurrent;
pub mod reduce;
pub mod regions;
pub mod rules;
pub mod softmax;
#[cfg(feature = "op-sorting")]
pub mod sorting;
#[cfg(feature = "op-special")]
pub mod special;
pub mod transfer;
#[cfg(feature = "op-view_copy")]
pub mod view_copies;
pub mod views;
#[cfg(feature = "op-vision")]
pub mod vision;

pub use generated::*;
