//! The loops of the CPU kernels, over raw memory described by sizes and strides.
//!
//! [`Array`] is the argument of a kernel: a pointer, a dtype, sizes and strides; creating one is the only unsafe step,
//! every function here is safe after it. [`Loop`] traverses several arrays of one shape with a
//! [`rushlight_base::plan::Plan`]. Kernels are written once over the element types of `number` and instantiated by
//! `dispatch!`; half precision computes in `f32` inside the loop. This crate does not depend on tensors, type promotion
//! or broadcasting rules: `rushlight-tensor` calls it with inputs that already have the computation dtype.

#[macro_use]
mod dispatch;
#[macro_use]
mod kernels;
#[macro_use]
mod stepwise;
mod array;
mod bisect;
mod cast;
mod complex;
mod log_add;
pub mod math;
mod number;
mod order;
mod raised;
mod rank;
mod rows;
pub mod simd;

pub mod activation;
pub mod arithmetic;
pub mod batch_norm;
pub mod bitwise;
pub mod channel_norm;
pub mod compare;
pub mod concat;
pub mod convert;
pub mod convolution;
pub mod ctc;
pub mod detection;
pub mod deviation;
pub mod device;
pub mod elementary;
pub mod embedding_bag;
pub mod extrema;
pub mod fake_quantize;
pub mod fill;
pub mod filter;
pub mod finish;
pub mod gemm;
pub mod grid;
pub mod histogram;
#[cfg(test)]
mod images;
pub mod indexing;
pub mod layer_norm;
pub mod loss;
pub mod masks;
pub mod median;
pub mod multilabel;
pub mod numeric;
pub mod optim;
mod pointwise;
pub mod pooling;
pub mod quantize;
pub mod random;
pub mod recurrent;
pub mod reduce;
pub mod resample;
pub mod scan;
mod scratch;
pub mod search;
mod select;
mod shared;
pub mod softmax;
pub mod sort;
pub mod sparse;
pub mod special;
pub mod triangle;
pub mod unfold;
mod volume;

pub use array::Array;
pub use number::Flag;
pub use pointwise::Loop;
