//! `quantized::embedding_byte`, `quantized::embedding_bag_byte` and their packed parameters.

use super::linear::content;
use super::numbers::bytes;
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
    bytes: Vec<u8>,
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
            bytes: bytes(&ops::contiguous(&given.integers, MemoryFormat::Contiguous)?)?,
            scales: list::collect(scales.iter().zip(zero_points).map(row))?,
        })
    }

    /// The number of elements of a row.
    fn width(&self) -> usize {
        self.weight.sizes().get(1).copied().unwrap_or(0).max(0) as usize
    }

    /// A row with its scale and smallest number.
    fn row(&self, name: &str, index: i64) -> Result<(&[u8], (f32, f32))> {
        let (rows, width) = (self.scales.len(), self.width());
        let row = usize::try_from(index).ok().and_then(|row| Some((row, *self.scales.get(row)?)));
        let found = row.and_then(|(row, scale)| Some((self.bytes.get(row * width..(row + 1) * width)?, scale)));
        match found {
            Some(found) => Ok(found),
            None => bail!(Index, "{name}: index {index} is out of range for an embedding with {rows} rows"),
        }
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

/// The packed parameters; an error for an operator of 4 bits.
fn packed<'a>(name: &str, args: &Args<'a>) -> Result<&'a Embedding> {
    ensure!(
        !name.contains("4bit"),
        NotImplemented,
        "{name}: weights of 4 bits are not supported; these packed parameters have 8"
    );
    content(name, args, 0)
}

/// Indices or offsets.
fn integers(name: &str, kind: &str, tensor: &Tensor) -> Result<Vec<i64>> {
    ensure!(
        matches!(tensor.dtype(), DType::I32 | DType::I64),
        Runtime,
        "{name}: {kind} must have dtype int32 or int64, but got {}",
        tensor.dtype()
    );
    let wide = ops::to_dtype(tensor, DType::I64, false, false, None)?;
    ops::contiguous(&wide, MemoryFormat::Contiguous)?.to_vec()
}

/// `quantized::embedding_byte`: rows as floats.
pub(super) fn lookup(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (packed, indices) = (packed(name, args)?, args.tensor(1)?);
    let wanted = integers(name, "indices", indices)?;
    let width = packed.width();
    let mut out = list::with_capacity(wanted.len().saturating_mul(width))?;
    for index in wanted {
        let (bytes, (scale, least)) = packed.row(name, index)?;
        out.extend(bytes.iter().map(|&byte| f32::from(byte).mul_add(scale, least)));
    }
    let mut sizes = indices.sizes();
    sizes.push(width as i64);
    one(Tensor::from_slice(&out, &sizes)?)
}

/// The rows of an embedding that bags add up.
pub(super) struct Bags {
    /// The row of each index; `None` if it was pruned.
    pub rows: Vec<Option<i64>>,
    /// The factors of the indices.
    factors: Option<Vec<f32>>,
    /// Where each bag begins and ends in `rows`.
    bags: Vec<(usize, usize)>,
}

impl Bags {
    /// The arguments of an embedding bag, which follow the weight: indices, offsets, scale_grad_by_freq, mode,
    /// pruned_weights, per_sample_weights, compressed_indices_mapping, include_last_offset. Bags are added up in every
    /// mode, as in PyTorch.
    pub fn of(name: &str, args: &Args<'_>) -> Result<Bags> {
        let (indices, offsets) = (args.tensor(1)?, args.tensor_opt(2)?);
        let wanted = integers(name, "indices", indices)?;
        let bags = match (&indices.sizes()[..], offsets) {
            ([_], Some(offsets)) => split(name, &integers(name, "offsets", offsets)?, wanted.len(), args.bool(8)?)?,
            ([_], None) => bail!(Runtime, "{name} expects offsets to be set for 1D indices."),
            (&[count, each], None) => {
                let each = each.max(0) as usize;
                list::collect((0..count.max(0) as usize).map(|bag| (bag * each, (bag + 1) * each)))?
            }
            ([_, _], Some(_)) => bail!(
                Runtime,
                "{name} operator: input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed \
                 length sequences."
            ),
            (sizes, _) => {
                bail!(Runtime, "{name} expects indices with 1 or 2 dimensions, but got {}", format_sizes(sizes))
            }
        };
        let factors = match args.tensor_opt(6)? {
            Some(factors) => {
                ensure!(
                    factors.dtype() == DType::F32 && factors.numel() == wanted.len() as i64,
                    Runtime,
                    "{name}: expected per_sample_weights to have dtype float32 and {} elements, but got {} {}",
                    wanted.len(),
                    factors.dtype(),
                    format_sizes(&factors.sizes())
                );
                Some(super::floats(&ops::detach(factors)?)?)
            }
            None => None,
        };
        let rows = if args.bool(5)? {
            kept(name, wanted, args.tensor_opt(7)?)?
        } else {
            list::collect(wanted.into_iter().map(Some))?
        };
        Ok(Bags { rows, factors, bags })
    }

    /// The sums. `add` adds a row, times a factor, to the last argument; the first is the index of its place in `rows`.
    pub fn sums(
        &self,
        width: usize,
        mut add: impl FnMut(usize, i64, f32, &mut [f32]) -> Result<()>,
    ) -> Result<Vec<Value>> {
        let count = rushlight_base::numel(&[self.bags.len() as i64, width as i64])? as usize;
        let mut out = list::filled(count, 0.0f32)?;
        for (&(start, end), sum) in self.bags.iter().zip(out.chunks_mut(width.max(1))) {
            for (place, row) in self.rows.iter().enumerate().take(end).skip(start) {
                let factor = self.factors.as_ref().and_then(|factors| factors.get(place)).copied().unwrap_or(1.0);
                if let Some(row) = *row {
                    add(place, row, factor, sum)?;
                }
            }
        }
        one(Tensor::from_slice(&out, &[self.bags.len() as i64, width as i64])?)
    }
}

/// Adds a row of integers, times a factor, as the engine does: its smallest number first, then products.
pub(super) fn add_row(sum: &mut [f32], row: impl Iterator<Item = u8>, (scale, least): (f32, f32), factor: f32) {
    let (scale, least) = (scale * factor, least * factor);
    for (to, integer) in sum.iter_mut().zip(row) {
        *to = f32::from(integer).mul_add(scale, *to + least);
    }
}

/// The bags that begin at `offsets`; the last offset is the end of the last bag if `ends`.
fn split(name: &str, offsets: &[i64], count: usize, ends: bool) -> Result<Vec<(usize, usize)>> {
    let place = |offset: i64| match usize::try_from(offset) {
        Ok(place) if place <= count => Ok(place),
        _ => bail!(Runtime, "{name}: offset {offset} is out of range for {count} indices"),
    };
    if let Some(&first) = offsets.first() {
        ensure!(
            first == 0,
            Runtime,
            "{name}: offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. \
             However, got {first}"
        );
    }
    let mut bags = list::with_capacity(offsets.len())?;
    for (at, &offset) in offsets.iter().enumerate() {
        let end = match offsets.get(at + 1) {
            Some(&next) => place(next)?,
            None if ends => break,
            None => count,
        };
        let start = place(offset)?;
        ensure!(start <= end, Runtime, "{name}: offsets must not decrease, but {end} follows {start}");
        bags.push((start, end));
    }
    Ok(bags)
}

/// The rows that indices of a pruned embedding stand for.
fn kept(name: &str, wanted: Vec<i64>, mapping: Option<&Tensor>) -> Result<Vec<Option<i64>>> {
    let Some(mapping) = mapping else { bail!(Runtime, "{name} expects compressed_indices_mapping for pruned weights") };
    let mapping = integers(name, "compressed_indices_mapping", mapping)?;
    if mapping[..] == [0] {
        // Nothing was pruned.
        return list::collect(wanted.into_iter().map(Some));
    }
    list::try_collect(wanted.into_iter().map(|index| {
        let row = usize::try_from(index).ok().and_then(|index| mapping.get(index));
        match row {
            Some(&row) => Ok((row >= 0).then_some(row)),
            None => {
                bail!(Index, "{name}: index {index} is out of range for a mapping of {} indices", mapping.len())
            }
        }
    }))
}

/// `quantized::embedding_bag_byte`
pub(super) fn bag(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (packed, bags) = (packed(name, args)?, Bags::of(name, args)?);
    bags.sums(packed.width(), |_, row, factor, sum| {
        let (bytes, scale) = packed.row(name, row)?;
        add_row(sum, bytes.iter().copied(), scale, factor);
        Ok(())
    })
}
