//! Embeddings of 8, 4 and 2 bits as one uint8 tensor: each row ends with its scale and its smallest number, floats for 8
//! bits and half precision otherwise. `quantized::embedding_bag_byte_prepack`, `embedding_bag_byte_unpack`,
//! `embedding_bag_byte_rowwise_offsets`, and those of 4 and 2 bits.

use super::embedding::{Bags, add_row};
use super::{numbers::floats, one};
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, MemoryFormat, Result, bail, ensure, f16, format_sizes, list};

/// The bits of an integer.
#[derive(Clone, Copy)]
struct Bits(u32);

impl Bits {
    /// Those of the operator.
    fn of(name: &str) -> Bits {
        match name {
            _ if name.contains("4bit") => Bits(4),
            _ if name.contains("2bit") => Bits(2),
            _ => Bits(8),
        }
    }

    /// Integers in a byte.
    fn each(self) -> usize {
        8 / self.0 as usize
    }

    /// Bytes behind the integers of a row.
    fn parameters(self) -> usize {
        if self.0 == 8 { 8 } else { 4 }
    }

    /// The largest integer.
    fn most(self) -> u8 {
        u8::MAX >> (8 - self.0)
    }

    /// Splits a row into its bytes, and its scale and smallest number.
    fn parts(self, row: &[u8]) -> Option<(&[u8], (f32, f32))> {
        let (bytes, parameters) = row.split_at_checked(row.len().checked_sub(self.parameters())?)?;
        let numbers = match *parameters {
            [a, b, c, d, e, f, g, h] => (f32::from_le_bytes([a, b, c, d]), f32::from_le_bytes([e, f, g, h])),
            [a, b, c, d] => (f16::from_le_bytes([a, b]).to_f32(), f16::from_le_bytes([c, d]).to_f32()),
            _ => return None,
        };
        Some((bytes, numbers))
    }

    /// The integers of bytes: the first has the low bits.
    fn integers(self, bytes: &[u8]) -> impl Iterator<Item = u8> {
        bytes.iter().flat_map(move |&byte| (0..self.each() as u32).map(move |at| (byte >> (at * self.0)) & self.most()))
    }

    /// Appends the row of these numbers, of which the integers represent those between `least` and `most`.
    fn pack(self, numbers: &[f32], (least, most): (f32, f32), out: &mut Vec<u8>) {
        if self.0 == 8 {
            let range = most - least;
            let inverse = 255.0 / (range + 1e-8);
            out.extend(numbers.iter().map(|value| ((value - least) * inverse).round_ties_even() as u8));
            out.extend((range / 255.0).to_le_bytes());
            out.extend(least.to_le_bytes());
            return;
        }
        let half = f16::from_f32(least);
        let range = most - half.to_f32();
        let scale = f16::from_f32(if range == 0.0 { 1.0 } else { range / f32::from(self.most()) });
        let mut scale = if scale == f16::ZERO { f16::ONE } else { scale };
        if (1.0 / scale.to_f32()).is_infinite() {
            scale = f16::ONE;
        }
        let inverse = 1.0 / scale.to_f32();
        for numbers in numbers.chunks(self.each()) {
            let integer = |value: &f32| {
                let steps = ((value - half.to_f32()) * inverse).round_ties_even();
                (steps as u8).min(self.most())
            };
            let places = numbers.iter().enumerate();
            out.push(places.fold(0, |byte, (at, value)| byte | (integer(value) << (at as u32 * self.0))));
        }
        out.extend(scale.to_le_bytes());
        out.extend(half.to_le_bytes());
    }
}

/// The smallest and the largest number.
fn range(numbers: &[f32]) -> (f32, f32) {
    numbers.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)))
}

/// The range with which the integers represent the numbers best.
fn searched(numbers: &[f32], bins: i64, ratio: f64, bits: Bits) -> Result<(f32, f32)> {
    let count = numbers.len() as i64;
    let row = Tensor::from_slice(numbers, &[count])?;
    let (most, least) = ops::choose_qparams_optimized(&row, count, bins, ratio, i64::from(bits.0))?;
    Ok((least.item()?.to_f64() as f32, most.item()?.to_f64() as f32))
}

/// `quantized::embedding_bag_byte_prepack` and similar
pub(super) fn prepack(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (weight, bits) = (args.tensor(0)?, Bits::of(name));
    let mut sizes = weight.sizes();
    ensure!(
        matches!(weight.dtype(), DType::F32 | DType::F16),
        Runtime,
        "{name}: The 'weight' must have dtype float32 or float16, but got {}",
        weight.dtype()
    );
    ensure!(
        sizes.len() == 2 || (bits.0 == 8 && !sizes.is_empty()),
        Runtime,
        "{name}: expected a weight with 2 dimensions, but got {}",
        format_sizes(&sizes)
    );
    let columns = sizes.last().copied().unwrap_or(0).max(0) as usize;
    ensure!(
        columns > 0 && columns.is_multiple_of(bits.each()),
        Runtime,
        "{name} only works for a number of columns that is a multiple of {}, but the weight has {}",
        bits.each(),
        format_sizes(&sizes)
    );
    let numbers = floats(&ops::to_dtype(&ops::detach(weight)?, DType::F32, false, false, None)?)?;
    let width = columns / bits.each() + bits.parameters();
    let mut out = list::with_capacity((numbers.len() / columns).saturating_mul(width))?;
    let search = bits.0 != 8 && args.bool(1)?;
    for row in numbers.chunks(columns) {
        let range = if search { searched(row, args.int(2)?, args.float(3)?, bits)? } else { range(row) };
        bits.pack(row, range, &mut out);
    }
    if let Some(last) = sizes.last_mut() {
        *last = width as i64;
    }
    one(Tensor::from_slice(&out, &sizes)?)
}

/// The width of the rows of a packed weight, in integers.
fn width(name: &str, weight: &Tensor, bits: Bits) -> Result<usize> {
    let sizes = weight.sizes();
    let columns = sizes.last().copied().unwrap_or(0).max(0) as usize;
    ensure!(
        weight.dtype() == DType::U8
            && columns >= bits.parameters()
            && (sizes.len() == 2 || (bits.0 == 8 && name.contains("unpack"))),
        Runtime,
        "{name}: expected a packed weight of dtype uint8 with 2 dimensions, whose rows end with {} bytes of parameters, but \
         got {} {}",
        bits.parameters(),
        weight.dtype(),
        format_sizes(&sizes)
    );
    Ok((columns - bits.parameters()) * bits.each())
}

/// `quantized::embedding_bag_byte_unpack` and similar
pub(super) fn unpack(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (weight, bits) = (args.tensor(0)?, Bits::of(name));
    let width = width(name, weight, bits)?;
    let mut sizes = weight.sizes();
    let columns = sizes.last().copied().unwrap_or(0).max(1) as usize;
    if let Some(last) = sizes.last_mut() {
        *last = width as i64;
    }
    let bytes: Vec<u8> = ops::contiguous(weight, MemoryFormat::Contiguous)?.to_vec()?;
    let mut out = list::with_capacity(rushlight_base::numel(&sizes)? as usize)?;
    for row in bytes.chunks(columns) {
        let Some((bytes, (scale, least))) = bits.parts(row) else { continue };
        out.extend(bits.integers(bytes).map(|integer| f32::from(integer).mul_add(scale, least)));
    }
    one(Tensor::from_slice(&out, &sizes)?)
}

/// `quantized::embedding_bag_byte_rowwise_offsets` and similar
pub(super) fn bag(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (weight, bits) = (args.tensor(0)?, Bits::of(name));
    let (width, bags) = (width(name, weight, bits)?, Bags::of(name, args)?);
    let sizes = weight.sizes();
    let (rows, columns) = (sizes[0], sizes[1].max(0) as usize);
    // Only the rows that occur are read, in the order of the indices; another row stands for a pruned one.
    let mut wanted = list::with_capacity(bags.rows.len())?;
    for row in bags.rows.iter().map(|row| row.unwrap_or(0)) {
        ensure!(
            (0..rows).contains(&row),
            Index,
            "{name}: index {row} is out of range for an embedding with {rows} rows"
        );
        wanted.push(row);
    }
    let wanted = Tensor::from_slice(&wanted, &[wanted.len() as i64])?;
    let bytes: Vec<u8> = ops::index_select(weight, 0, &wanted)?.to_vec()?;
    bags.sums(width, |place, _, factor, sum| {
        let row = bytes.get(place * columns..(place + 1) * columns).and_then(|row| bits.parts(row));
        let Some((bytes, scale)) = row else { bail!(Internal, "{name}: a row is missing") };
        add_row(sum, bits.integers(bytes), scale, factor);
        Ok(())
    })
}
