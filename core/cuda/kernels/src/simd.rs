//! A thread of the device as a level of `core/cpu/src/simd`: vectors of one lane with a fused multiply-add.

#[path = "../../../cpu/src/simd/float.rs"]
mod float;
#[path = "../../../cpu/src/simd/portable.rs"]
mod portable;
#[path = "../../../cpu/src/simd/vector.rs"]
mod vector;

pub use float::Float;
pub use vector::{FloatVector, HalfVector, IntVector, MAX_LANES, Mask};

/// The token of a level, as kernels are written over it.
pub trait Simd: Copy + Send + Sync + 'static {
    type F32: HalfVector<Int: IntVector<Scalar = i32>>;
    type F64: FloatVector<Scalar = f64, Int: IntVector<Scalar = i64>>;
}

/// One thread.
#[derive(Clone, Copy)]
pub struct Thread;

impl Simd for Thread {
    type F32 = portable::Lanes<f32, 1>;
    type F64 = portable::Lanes<f64, 1>;
}

/// The vector of one `f32`.
pub type Single = portable::Lanes<f32, 1>;
/// The vector of one `f64`.
pub type Double = portable::Lanes<f64, 1>;
