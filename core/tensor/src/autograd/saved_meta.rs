//! Metadata of a tensor whose values a derivative does not need, so that its memory can be freed.

use super::expr::Expr;
use crate::dense::Geometry;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Device, DimVec};

/// Geometry, dtype and device of a tensor at the time of the call. The methods are those of [`Expr`], so that a formula
/// works with either.
#[derive(Clone, Debug)]
pub struct Meta {
    geometry: Geometry,
    dtype: DType,
    device: Device,
}

impl Meta {
    /// The metadata of `tensor`.
    #[inline(never)]
    pub fn of(tensor: &Tensor) -> Meta {
        let geometry = Geometry { sizes: tensor.sizes(), strides: tensor.strides(), offset: tensor.storage_offset() };
        Meta { geometry, dtype: tensor.dtype(), device: tensor.device() }
    }

    /// Extent of each dimension.
    pub fn sizes(&self) -> DimVec {
        DimVec::from_slice(&self.geometry.sizes)
    }

    /// Sizes, strides and offset.
    pub fn geometry(&self) -> Geometry {
        self.geometry.clone()
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.geometry.sizes.len()
    }

    /// Number of elements.
    pub fn numel(&self) -> i64 {
        self.geometry.numel()
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The device of the tensor.
    pub fn device(&self) -> Device {
        self.device
    }

    /// dtype and device as factory options.
    pub fn options(&self) -> Options {
        Options::of(self.dtype).on(self.device)
    }

    /// Zeros of the same shape, dtype and device.
    pub fn zeros(&self) -> Expr {
        Expr::of(|| ops::zeros(&self.geometry.sizes, self.options()))
    }
}

/// Metadata of the tensors of a list argument.
#[derive(Clone, Debug)]
pub struct MetaList(Vec<Meta>);

impl MetaList {
    /// The metadata of `tensors`.
    pub fn of(tensors: &[&Tensor]) -> MetaList {
        MetaList(tensors.iter().map(|tensor| Meta::of(tensor)).collect())
    }

    /// The sizes of each.
    pub fn sizes(&self) -> Vec<DimVec> {
        self.0.iter().map(Meta::sizes).collect()
    }
}
