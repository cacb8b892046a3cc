//! The quantizer of a quantized tensor: how its integers represent numbers.
//!
//! A quantized tensor has a body like a strided one, with a quantized dtype and a quantizer beside it. The key `QUANTIZED`
//! sends every call with such a tensor to the layer of `quantized`; `Tensor::dense` fails for it. `Tensor::integers` is
//! the strided tensor of the integers in the same memory.

use crate::components::Components;
use crate::dense::Dense;
use crate::dispatch::QScheme;
use crate::keys::KeySet;
use crate::tensor::Tensor;
use rushlight_base::{Result, err};
use std::sync::Arc;

/// Scales and zero points: an integer q represents (q - zero_point) * scale.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantizer {
    /// One scale and zero point.
    PerTensor {
        /// The distance of two representable numbers.
        scale: f64,
        /// The integer that represents 0.
        zero_point: i64,
    },
    /// A scale and a zero point for each index of a dimension.
    PerChannel {
        /// The scales.
        scales: Vec<f64>,
        /// The integers that represent 0; numbers between integers if `float`.
        zero_points: Vec<f64>,
        /// The dimension.
        axis: usize,
        /// Whether the parameters are floats (`per_channel_affine_float_qparams`).
        float: bool,
    },
}

impl Quantizer {
    /// The quantization scheme.
    pub fn scheme(&self) -> QScheme {
        match self {
            Quantizer::PerTensor { .. } => QScheme::PerTensorAffine,
            Quantizer::PerChannel { float: false, .. } => QScheme::PerChannelAffine,
            Quantizer::PerChannel { float: true, .. } => QScheme::PerChannelAffineFloatQParams,
        }
    }

    /// The number that an integer represents at an index of the quantizer's dimension.
    #[inline]
    pub(crate) fn number(&self, integer: i32, channel: usize) -> f32 {
        match self {
            Quantizer::PerTensor { scale, zero_point } => {
                *scale as f32 * integer.wrapping_sub(*zero_point as i32) as f32
            }
            Quantizer::PerChannel { scales, zero_points, float: true, .. } => {
                (integer as f32 - zero_points[channel] as f32) * scales[channel] as f32
            }
            // The engine multiplies in double here.
            Quantizer::PerChannel { scales, zero_points, float: false, .. } => {
                (scales[channel] * (f64::from(integer) - zero_points[channel])) as f32
            }
        }
    }
}

impl Tensor {
    /// A quantized tensor over the memory of `integers`, which are uint8, int8 or int32.
    pub fn from_integers(integers: &Tensor, quantizer: Arc<Quantizer>) -> Result<Tensor> {
        #[cfg(feature = "op-quantization")]
        crate::dispatch::QUANTIZED.link(crate::quantized::handle);
        let body = integers.dense()?;
        let dtype = body.dtype.to_quantized().ok_or_else(|| {
            err!(
                Runtime,
                "Creation of quantized tensor requires integers of dtype uint8, int8 or int32, got {}",
                body.dtype
            )
        })?;
        let mut next = Dense::new(body.storage.clone(), body.geometry.clone(), dtype, body.device);
        next.components = Some(Arc::new(Components::Quantized(quantizer)));
        Ok(integers.sharing(next))
    }

    /// The integers of a quantized tensor, in the same memory.
    pub fn integers(&self) -> Result<Tensor> {
        let body = self.imp().body.pin();
        if !body.dtype.is_quantized() {
            return Err(err!(Runtime, "the tensor is not quantized: it has dtype {}", body.dtype));
        }
        let next = Dense::new(body.storage.clone(), body.geometry.clone(), body.dtype.to_integer(), body.device);
        Ok(self.sharing(next))
    }

    /// Another body over the same memory, with the same version counter.
    fn sharing(&self, body: Dense) -> Tensor {
        let other = Tensor::from_dense(body);
        if let Some(version) = self.imp().version.get() {
            // The cell is new and empty.
            let _ = other.imp().version.set(version.clone());
        }
        if self.is_inference() {
            other.add_keys(KeySet::INFERENCE);
        }
        other
    }

    /// The quantizer of a quantized tensor; `None` for any other.
    pub fn quantizer(&self) -> Option<Arc<Quantizer>> {
        match self.imp().body.pin().components.as_deref() {
            Some(Components::Quantized(quantizer)) => Some(quantizer.clone()),
            _ => None,
        }
    }

    /// Whether the tensor is quantized.
    pub fn is_quantized(&self) -> bool {
        self.keys().intersects(KeySet::QUANTIZED)
    }
}
