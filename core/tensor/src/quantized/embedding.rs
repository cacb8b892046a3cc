//! `quantized::embedding_byte` and its packed parameters.

use super::linear::content;
use super::numbers::whole;
use super::{Quantized, one};
use crate::dispatch::{Args, Object, Value};
use crate::ops;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::{DType, MemoryFormat, Result, bail, ensure, format_sizes, list};

/// The class of the parameters of an embedding.
pub(super) const CLASS: &str = "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase";

/// Rows of bytes, with a scale and a smallest number for each.
pub(super) struct Embedding {
    pub weight: Tensor,
    bytes: Vec<i32>,
    scales: Vec<(f32, f32)>,
}

impl Embedding {
    /// Packs a weight with one scale and floating-point zero point for each row.
    pub fn new(name: &str, weight: &Tensor) -> Result<Embedding> {
        let given = Quantized::of(name, weight)?;
        let sizes = given.integers.sizes();
        ensure!(
            sizes.len() == 2 && given.dtype == DType::QU8,
            Runtime,
            "{name}: expected a quint8 matrix, but got {} {}; weights of 4 bits are not supported",
            format_sizes(&sizes),
            given.dtype
        );
        let Quantizer::PerChannel { scales, zero_points, axis: 0, float: true } = &*given.quantizer else {
            bail!(Runtime, "Expect embedding_bag weights to be quantized using kPerChannelAffineFloatQParams")
        };
        let row = |(&scale, &zero): (&f64, &f64)| (scale as f32, -(zero as f32) * scale as f32);
        Ok(Embedding {
            weight: ops::clone(weight, None)?,
            bytes: whole(&given.integers)?,
            scales: list::collect(scales.iter().zip(zero_points).map(row))?,
        })
    }
}

/// `quantized::embedding_bag_prepack`
pub(super) fn prepack(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(Object::new(CLASS, Embedding::new(name, args.tensor(0)?)?)?)
}

/// `quantized::embedding_bag_unpack`
pub(super) fn unpack(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(ops::clone(&content::<Embedding>(name, args, 0)?.weight, None)?)
}

/// `quantized::embedding_byte`: rows as floats.
pub(super) fn lookup(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (packed, indices) = (content::<Embedding>(name, args, 0)?, args.tensor(1)?);
    ensure!(
        !name.contains("4bit"),
        NotImplemented,
        "{name}: weights of 4 bits are not supported; these packed parameters have 8"
    );
    ensure!(
        matches!(indices.dtype(), DType::I32 | DType::I64),
        Runtime,
        "{name}: indices must have dtype int32 or int64, but got {}",
        indices.dtype()
    );
    let wide = ops::to_dtype(indices, DType::I64, false, false, None)?;
    let wanted: Vec<i64> = ops::contiguous(&wide, MemoryFormat::Contiguous)?.to_vec()?;
    let (rows, width) = (packed.scales.len(), packed.weight.sizes()[1].max(0) as usize);
    let mut out = list::with_capacity(wanted.len().saturating_mul(width))?;
    for index in wanted {
        let row = usize::try_from(index).ok().filter(|row| *row < rows);
        let Some((row, &(scale, least))) = row.and_then(|row| Some((row, packed.scales.get(row)?))) else {
            bail!(Index, "{name}: index {index} is out of range for an embedding with {rows} rows")
        };
        let bytes = packed.bytes.iter().skip(row * width).take(width);
        out.extend(bytes.map(|&byte| (byte as f32).mul_add(scale, least)));
    }
    let mut sizes = indices.sizes();
    sizes.push(width as i64);
    one(Tensor::from_slice(&out, &sizes)?)
}
