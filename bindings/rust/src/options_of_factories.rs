//! Arguments that many operators share: the options of factories, and reductions of losses.

use crate::{DType, Device, Layout};

/// Options of factories besides sizes and values. `None` means the default: the default dtype
/// ([`set_default_dtype`](crate::set_default_dtype)), strided, on the CPU; and for `*_like` and `new_*` the option of the
/// input.
///
/// A [`DType`], a [`Device`] or a pair of both converts into it:
///
/// ```
/// # use rushlight::{DType, Device, Tensor};
/// let x = Tensor::zeros_with([2], DType::I64)?;
/// let y = Tensor::zeros_with([2], (DType::F64, Device::META))?;
/// assert_eq!((x.dtype(), y.device()), (DType::I64, Device::META));
/// # Ok::<(), rushlight::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TensorOptions {
    /// Element type.
    pub dtype: Option<DType>,
    /// Arrangement of elements.
    pub layout: Option<Layout>,
    /// The device of the tensor.
    pub device: Option<Device>,
    /// Page-locked host memory, for transfers to a GPU.
    pub pin_memory: Option<bool>,
}

impl TensorOptions {
    /// Nothing but defaults.
    pub const DEFAULT: TensorOptions = TensorOptions { dtype: None, layout: None, device: None, pin_memory: None };
}

impl From<DType> for TensorOptions {
    #[inline]
    fn from(dtype: DType) -> TensorOptions {
        TensorOptions { dtype: Some(dtype), ..TensorOptions::DEFAULT }
    }
}

impl From<Device> for TensorOptions {
    #[inline]
    fn from(device: Device) -> TensorOptions {
        TensorOptions { device: Some(device), ..TensorOptions::DEFAULT }
    }
}

impl From<(DType, Device)> for TensorOptions {
    #[inline]
    fn from((dtype, device): (DType, Device)) -> TensorOptions {
        TensorOptions { device: Some(device), ..dtype.into() }
    }
}

impl From<TensorOptions> for rushlight_tensor::Options {
    #[inline]
    fn from(options: TensorOptions) -> rushlight_tensor::Options {
        let TensorOptions { dtype, layout, device, pin_memory } = options;
        rushlight_tensor::Options { dtype, layout, device, pin_memory }
    }
}

/// How a loss is reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(i64)]
pub enum Reduction {
    /// No reduction: a loss for each element.
    None = 0,
    /// The mean of the losses.
    #[default]
    Mean = 1,
    /// The sum of the losses.
    Sum = 2,
}
