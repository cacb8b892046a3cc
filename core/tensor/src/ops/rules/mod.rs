//! Shape rules: from the inputs of an operator to shape, strides, dtype and device of its output.
//!
//! `promotion`, `broadcast` and `layout` hold the arithmetic of PyTorch's TensorIterator; the other files hold one
//! function per rule that a schema entry names, by family. A rule reads only sizes and dtypes, and therefore also
//! serves the meta device; only those of `masks`, whose output shape depends on the elements, read data.

mod activation;
mod advanced;
mod broadcast;
#[cfg(feature = "op-convolution")]
pub(crate) mod convolution;
mod creation;
#[cfg(feature = "op-detection")]
pub(crate) mod detection;
mod distance;
mod elementary;
#[cfg(feature = "op-factory")]
mod factory;
mod indexing;
#[cfg(feature = "op-joining")]
mod joining;
mod layout;
mod linalg;
mod loss;
mod masks;
mod nn;
mod normalization;
mod numeric;
mod pointwise;
#[cfg(feature = "op-pooling")]
pub(crate) mod pooling;
mod promotion;
#[cfg(feature = "op-quantization")]
mod quantization;
#[cfg(feature = "op-recurrent")]
mod recurrent;
mod reduction;
mod regions;
#[cfg(feature = "op-sorting")]
mod sorting;
#[cfg(any(feature = "op-convolution", feature = "op-pooling", feature = "op-vision"))]
#[allow(dead_code, reason = "each of these families takes a part of it")]
pub(crate) mod spatial;
#[cfg(feature = "op-special")]
mod special;
#[cfg(feature = "op-vision")]
pub(crate) mod vision;

pub use activation::*;
pub use advanced::*;
pub(crate) use broadcast::broadcast_sizes;
pub use broadcast::{broadcast, check_expandable};
#[cfg(feature = "op-convolution")]
pub use convolution::*;
pub use creation::*;
#[cfg(feature = "op-detection")]
pub use detection::*;
pub use distance::*;
pub use elementary::*;
#[cfg(feature = "op-factory")]
pub use factory::*;
pub use indexing::*;
#[cfg(feature = "op-joining")]
pub use joining::*;
pub use layout::{is_non_overlapping_and_dense, preserved_strides, suggested_format};
pub use linalg::*;
pub use loss::*;
pub use masks::*;
pub use nn::*;
pub use normalization::*;
pub use numeric::*;
pub use pointwise::*;
#[cfg(feature = "op-pooling")]
pub use pooling::*;
pub use promotion::{Promotion, common_dtype, result_type, scalar_dtype};
#[cfg(feature = "op-quantization")]
pub use quantization::*;
#[cfg(feature = "op-recurrent")]
pub use recurrent::*;
pub use reduction::*;
pub use regions::*;
#[cfg(feature = "op-sorting")]
pub use sorting::*;
#[cfg(feature = "op-special")]
pub use special::*;
#[cfg(feature = "op-vision")]
pub use vision::*;

use crate::dense::{Dense, Spec};
use rushlight_base::{DType, Device, DeviceType, Result, copy_dims, same_sizes};

/// The device of a call: that of the first operand that is not a 0-dim CPU tensor.
fn common_device(inputs: &[&Dense]) -> Device {
    let decides = |input: &&&Dense| input.ndim() > 0 || input.device.kind != DeviceType::Cpu;
    inputs.iter().find(decides).or(inputs.first()).map_or(Device::CPU, |input| input.device)
}

/// The output of a pointwise operator: broadcast shape, strides that follow the inputs.
#[inline(always)]
fn elementwise(dtype: DType, inputs: &[&Dense]) -> Result<Spec> {
    // The usual case, checked with one comparison per input: same shape, all row-major.
    if let Some((first, others)) = inputs.split_first() {
        let mut alike = first.is_contiguous();
        for input in others {
            alike = alike
                && input.is_contiguous()
                && input.device == first.device
                && same_sizes(input.sizes(), first.sizes());
        }
        if alike {
            return Ok(Spec { sizes: copy_dims(&first.geometry.sizes), strides: None, dtype, device: first.device });
        }
        // A row-major first input that the others are broadcast to decides the order alone, if it steps along every dimension.
        let decides = first.is_contiguous() && first.sizes().iter().all(|&size| size > 1);
        if decides && others.iter().all(|input| input.device == first.device && fits(input.sizes(), first.sizes())) {
            return Ok(Spec { sizes: copy_dims(&first.geometry.sizes), strides: None, dtype, device: first.device });
        }
    }
    elementwise_general(dtype, inputs)
}

/// Whether broadcasting a tensor of sizes `own` to `sizes` changes nothing.
fn fits(own: &[i64], sizes: &[i64]) -> bool {
    let Some(lead) = sizes.len().checked_sub(own.len()) else { return false };
    own.iter().zip(&sizes[lead..]).all(|(&own, &size)| own == size || own == 1)
}

fn elementwise_general(dtype: DType, inputs: &[&Dense]) -> Result<Spec> {
    let device = common_device(inputs);
    let sizes = broadcast(inputs)?;
    let strides = layout::elementwise_strides(&sizes, inputs).map(Box::new);
    Ok(Spec { sizes, strides, dtype, device })
}
