//! Products of 8-bit integers with a packed weight, added up in int32, and their way back to 8 bits.
//!
//! `sum_ij = Σ_k (x_ik - zero) (w_jk - zero_j)`. The matrix product multiplies the integers themselves, as int8: those of
//! x have their sign bit flipped, which subtracts 128. The zero points enter afterwards, through the sums of the rows of
//! both operands:
//!
//! `sum_ij = Σ_k x'_ik w_jk - zero_j Σ_k x'_ik + (128 - zero) Σ_k (w_jk - zero_j)`, with `x' = x - 128`.
//!
//! All of it is arithmetic modulo 2^32, so the result is exact.

use crate::array::Array;
use crate::gemm::{Epilogue, PackedB, gemm_packed};
use crate::simd::{Kernel, Simd, run_narrow};
use rushlight_base::runtime::{FirstError, chunk_length, parallel_for};
use rushlight_base::{DType, Result, ensure, err, list};
use std::sync::{Mutex, PoisonError};

/// The sign bit of a byte: flipping it turns an unsigned byte into a signed one, less by 128.
pub(super) const SIGN: u8 = 0x80;

/// Multiplications of matrices that are worth a share of a loop, a few microseconds.
pub(super) const SHARE: usize = 1 << 21;

/// Elements of a light loop that are worth a share.
pub(super) const LIGHT: usize = 1 << 16;

/// A weight of int8, packed for products: a row for each output channel.
pub struct Weight {
    /// None without elements.
    packed: Option<PackedB>,
    depth: usize,
    zeros: Vec<i32>,
    /// The sums of the distances of a row from its zero point.
    sums: Vec<i32>,
}

impl Weight {
    /// Packs rows, each with a zero point.
    pub fn new(values: &[i8], zeros: &[i32]) -> Result<Weight> {
        let (rows, depth) = (zeros.len(), values.len() / zeros.len().max(1));
        ensure!(rows * depth == values.len(), Internal, "a weight of {} elements and {rows} rows", values.len());
        let sum = |row: &[i8], zero: i32| row.iter().fold(0i32, |sum, &w| sum.wrapping_add(i32::from(w) - zero));
        let sums = values.chunks_exact(depth.max(1)).zip(zeros).map(|(row, &zero)| sum(row, zero));
        let sums = list::collect(sums.chain(std::iter::repeat_n(0, if depth == 0 { rows } else { 0 })))?;
        let (sizes, strides) = ([depth as i64, rows as i64], [1, depth as i64]);
        // SAFETY: the array has the sizes of the slice, which is only read, and outlives the packing.
        let matrix = unsafe { Array::new(values.as_ptr().cast_mut().cast(), DType::I8, &sizes, &strides) };
        let packed = if values.is_empty() { None } else { Some(PackedB::for_sums(&matrix)?) };
        Ok(Weight { packed, depth, zeros: list::copied(zeros)?, sums })
    }

    /// Output channels.
    pub fn rows(&self) -> usize {
        self.zeros.len()
    }

    /// Elements of a row.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The products of `left`, rows of bytes with flipped signs whose zero point is `zero`, on this thread or, from
    /// outside of a parallel loop, on all.
    pub(super) fn multiply(&self, left: &[u8], zero: u8, out: &mut [i32]) -> Result<()> {
        let (rows, columns) = (out.len() / self.rows().max(1), self.rows());
        ensure!(
            rows * columns == out.len() && rows * self.depth == left.len(),
            Internal,
            "products of {} bytes with a weight of {columns} rows of {} as {} sums",
            left.len(),
            self.depth,
            out.len()
        );
        let (out_sizes, left_sizes) = ([rows as i64, columns as i64], [rows as i64, self.depth as i64]);
        let (out_strides, left_strides) = ([columns as i64, 1], [self.depth as i64, 1]);
        // SAFETY: the arrays have the sizes of the slices, as checked above; the left one is only read, and the slice of
        // the other is borrowed mutably until the product has ended.
        let (sums, bytes) = unsafe {
            (
                Array::new(out.as_mut_ptr().cast(), DType::I32, &out_sizes, &out_strides),
                Array::new(left.as_ptr().cast_mut(), DType::I8, &left_sizes, &left_strides),
            )
        };
        match &self.packed {
            Some(packed) => gemm_packed(&sums, &bytes, packed, &Epilogue::default())?,
            None => {
                out.fill(0);
                return Ok(());
            }
        }
        run_narrow(AddZeros { weight: self, left, zero, out });
        Ok(())
    }
}

/// What the zero points add to products.
struct AddZeros<'a> {
    weight: &'a Weight,
    left: &'a [u8],
    zero: u8,
    out: &'a mut [i32],
}

impl Kernel for AddZeros<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Weight { depth, zeros, sums, .. } = self.weight;
        let missing = 128 - i32::from(self.zero);
        for row in self.out.chunks_exact_mut(zeros.len().max(1)) {
            for (out, sum) in row.iter_mut().zip(sums) {
                *out = out.wrapping_add(missing.wrapping_mul(*sum));
            }
        }
        if *depth == 0 || zeros.iter().all(|&zero| zero == 0) {
            return;
        }
        for (row, bytes) in self.out.chunks_exact_mut(zeros.len()).zip(self.left.chunks_exact(*depth)) {
            let total = bytes.iter().fold(0i32, |sum, &byte| sum.wrapping_add(i32::from(byte.cast_signed())));
            for (out, zero) in row.iter_mut().zip(zeros) {
                *out = out.wrapping_sub(zero.wrapping_mul(total));
            }
        }
    }
}

/// The bytes with flipped signs.
pub(super) fn flipped(bytes: &[u8]) -> Result<Vec<u8>> {
    list::collect(bytes.iter().map(|byte| byte ^ SIGN))
}

/// The sums of products of each row of `bytes`, whose zero point is `zero`, with each row of the weight.
pub fn products(bytes: &[u8], zero: u8, weight: &Weight) -> Result<Vec<i32>> {
    let (depth, columns) = (weight.depth(), weight.rows());
    let rows = bytes.len().checked_div(depth).unwrap_or(0);
    let left = flipped(bytes)?;
    let mut out = list::filled(rows.saturating_mul(columns), 0i32)?;
    let share = chunk_length(rows, 1 + SHARE / (columns * depth).max(1)).max(1);
    in_shares(&mut out, share * columns, |index, part| {
        let first = index * share * depth;
        let length = part.len() / columns.max(1) * depth;
        weight.multiply(left.get(first..first + length).unwrap_or(&[]), zero, part)
    })?;
    Ok(out)
}

/// Calls `body` with the index and the elements of each share of `length` elements of `out`, on all threads.
pub(super) fn in_shares<T: Send>(
    out: &mut [T],
    length: usize,
    body: impl Fn(usize, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    let failed = FirstError::default();
    let parts: Vec<Mutex<&mut [T]>> = list::collect(out.chunks_mut(length.max(1)).map(Mutex::new))?;
    parallel_for(parts.len(), &|index| {
        let Some(part) = parts.get(index) else { return };
        failed.note(body(index, &mut part.lock().unwrap_or_else(PoisonError::into_inner)));
    })?;
    drop(parts);
    failed.result()
}

/// How sums of products become bytes: `round((sum + bias) factor) + zero_point`, saturated. Ties are rounded to even.
pub struct Requantize {
    /// A pair for each output channel: its bias in units of the sum, and its factor.
    pub channels: Vec<(f32, f32)>,
    /// The zero point of the result.
    pub zero_point: u8,
    /// Whether negative numbers become 0: bytes below the zero point do not occur.
    pub relu: bool,
}

impl Requantize {
    /// The bytes of rows of sums, which have an element for each of the channels from `first` on.
    pub(super) fn bytes(&self, sums: &[i32], first: usize, channels: usize, out: &mut [u8], step: usize) -> Result<()> {
        let channels = self.channels.get(first..first + channels);
        let channels = channels.ok_or_else(|| err!(Internal, "a result has more channels than its weight"))?;
        run_narrow(Bytes { by: self, channels, sums, out, first, step });
        Ok(())
    }

    /// The bytes of rows of sums of all channels.
    pub fn all(&self, sums: &[i32]) -> Result<Vec<u8>> {
        let channels = self.channels.len();
        let mut out = list::filled(sums.len(), 0u8)?;
        let share = chunk_length(sums.len() / channels.max(1), 1 + LIGHT / channels.max(1)).max(1) * channels;
        in_shares(&mut out, share, |index, part| {
            let sums = sums.get(index * share..index * share + part.len()).unwrap_or(&[]);
            self.bytes(sums, 0, channels, part, channels)
        })?;
        Ok(out)
    }
}

/// A loop of [`Requantize`]. The rows of `out` are `step` bytes apart, and begin with channel 0.
struct Bytes<'a> {
    by: &'a Requantize,
    channels: &'a [(f32, f32)],
    sums: &'a [i32],
    out: &'a mut [u8],
    first: usize,
    step: usize,
}

impl Kernel for Bytes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let zero = i32::from(self.by.zero_point);
        let low = if self.by.relu { zero } else { 0 };
        let count = self.channels.len();
        for (row, sums) in self.out.chunks_mut(self.step.max(1)).zip(self.sums.chunks_exact(count.max(1))) {
            let Some(row) = row.get_mut(self.first..self.first + count) else { return };
            for ((to, &sum), &(bias, factor)) in row.iter_mut().zip(sums).zip(self.channels) {
                // A number beyond this saturates. Adding and subtracting 1.5 * 2^23 rounds to even.
                let steps = ((sum as f32 + bias) * factor).clamp(-1e6, 1e6);
                let rounded = (steps + 12_582_912.0) - 12_582_912.0;
                *to = (rounded as i32 + zero).clamp(low, 255) as u8;
            }
        }
    }
}
