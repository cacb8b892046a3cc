//! Kernels of CUDA devices, from the source of the CPU's.
//!
//! The files of `core/cpu` (and two of `core/base`) are compiled a second time for `nvptx64`: a thread of the device runs
//! the same function as a thread of the CPU, over a [`Loop`](pointwise::Loop) that visits this thread's elements. The
//! macro `kernels!` makes an entry of it for each dtype. One thread is one more level of `simd`: a vector of one lane
//! with a fused multiply-add, so that results have the bits of the CPU's at `RUSHLIGHT_SIMD=avx2`.
//!
//! `core` alone is linked. A panic is a trap of the device, and `Error` is a number that the host reads.

#![no_std]
#![feature(abi_ptx, stdarch_nvptx, asm_experimental_arch, core_float_math, link_llvm_intrinsics, stmt_expr_attributes)]
#![allow(dead_code, unused_variables, unused_imports, unused_macros, missing_docs, clippy::all)]

extern crate core as std;
extern crate self as rushlight_base;

#[macro_use]
mod base;
#[macro_use]
mod entries;
#[macro_use]
#[path = "../../../cpu/src/dispatch.rs"]
mod dispatch;
#[macro_use]
#[path = "../../../cpu/src/stepwise.rs"]
mod stepwise;

pub mod floats;
mod boxes;
mod convert;
mod convolution;
mod deform;
mod detection;
mod fractional;
mod gemm;
mod grid;
mod images;
mod indexing;
mod lines;
mod loss;
mod memory;
mod multilabel;
mod norm;
mod optim;
#[path = "../../../cpu/src/device/parameters.rs"]
mod parameters;
mod pointwise;
#[path = "../../../base/src/random/philox.rs"]
mod philox;
mod raised;
mod random;
mod reduce;
#[path = "../../../base/src/random/rejection.rs"]
mod rejection;
#[path = "../../../base/src/report.rs"]
pub mod report;
mod rows;
mod sampled;
mod scan;
mod simt;
mod sort;
mod tensor;
mod unfold;
pub mod simd;

#[path = "../../../base/src/dtype.rs"]
mod dtype;
#[path = "../../../cpu/src/number.rs"]
mod number;
#[path = "../../../base/src/scalar.rs"]
mod scalar;

#[path = "../../../cpu/src/activation.rs"]
pub mod activation;
#[path = "../../../cpu/src/arithmetic.rs"]
pub mod arithmetic;
#[path = "../../../cpu/src/bitwise.rs"]
pub mod bitwise;
#[path = "../../../cpu/src/cast.rs"]
mod cast;
#[path = "../../../cpu/src/channel_norm.rs"]
pub mod channel_norm;
#[path = "../../../cpu/src/compare.rs"]
pub mod compare;
#[path = "../../../cpu/src/complex.rs"]
mod complex;
#[path = "../../../cpu/src/deviation.rs"]
pub mod deviation;
#[path = "../../../cpu/src/elementary.rs"]
pub mod elementary;
#[path = "../../../cpu/src/fake_quantize.rs"]
pub mod fake_quantize;
#[path = "../../../cpu/src/fill.rs"]
pub mod fill;
#[path = "../../../cpu/src/bisect.rs"]
mod bisect;
#[path = "../../../cpu/src/indexing/join.rs"]
mod join;
#[path = "../../../cpu/src/log_add.rs"]
mod log_add;
#[path = "../../../cpu/src/rank.rs"]
mod rank;
#[path = "../../../cpu/src/math/mod.rs"]
pub mod math;
#[path = "../../../cpu/src/numeric.rs"]
pub mod numeric;

#[path = "../../../cpu/src/special/mod.rs"]
pub mod special;

pub use base::{Error, Result};
pub use dtype::{Category, Complex32, Complex64, Complex128, DType, Element};
pub use half::{bf16, f16};
pub use num_complex::Complex;
pub use number::Flag;
pub use pointwise::Loop;
pub use scalar::Scalar;

#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    base::trap()
}
