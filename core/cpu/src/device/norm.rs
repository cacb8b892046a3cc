//! Layer norm on a device.

use super::parameters::{Columns, Norm, ROW_SHARED};
use super::rows::{rows_from, threads_of};
use super::{Grid, MOST_BLOCKS, Temporary, add_parts, bytes_of, launch_with, sum_size};
use crate::array::Array;
use rushlight_base::backend::Kernel;
use rushlight_base::{Result, ensure};

/// Blocks that keep a device busy: rows are split into parts until there are as many.
const ENOUGH_BLOCKS: usize = 256;

/// Rows that are not split.
const FEW_ROWS: usize = 64;

fn address(array: Option<&Array>) -> u64 {
    array.map_or(0, super::address)
}

/// out = (a - mean) rstd weight + bias, of rows that are the dimensions from `axis` on.
pub(crate) fn layer_norm(
    [out, mean, rstd]: [&Array; 3],
    a: &Array,
    axis: usize,
    weight_and_bias: Option<[&Array; 2]>,
    eps: f64,
) -> Result<()> {
    let [weight, bias] = weight_and_bias.map_or([None; 2], |both| both.map(Some));
    let norm = Norm {
        mean: address(Some(mean)),
        rstd: address(Some(rstd)),
        weight: address(weight),
        bias: address(bias),
        eps,
    };
    by_rows("layer_norm", [out, a], axis, &norm)
}

/// The gradient by the input.
pub(crate) fn layer_norm_backward_input(
    arrays: [&Array; 3],
    axis: usize,
    [mean, rstd]: [&Array; 2],
    weight: Option<&Array>,
) -> Result<()> {
    let norm =
        Norm { mean: address(Some(mean)), rstd: address(Some(rstd)), weight: address(weight), bias: 0, eps: 0.0 };
    by_rows("layer_norm_backward_input", arrays, axis, &norm)
}

fn by_rows<const N: usize>(function: &'static str, arrays: [&Array; N], axis: usize, norm: &Norm) -> Result<()> {
    let out = arrays[0];
    if out.numel() == 0 {
        return Ok(());
    }
    let rows = rows_from(function, arrays, axis)?;
    let threads = threads_of(rows.length);
    let grid = Grid { blocks: [rows.count.min(MOST_BLOCKS), 1, 1], threads, shared: ROW_SHARED };
    let kernel = Kernel { file: "norm", function, dtype: out.dtype() };
    // SAFETY: the kernel takes these parameters, which have no padding; the arrays are on the device, with an element for
    // each index, and those of numbers have one for each row or column (the shape rule has checked that).
    unsafe { launch_with(out.device(), kernel, grid, &[bytes_of(&rows), bytes_of(norm)]) }
}

/// The gradient by the weight: for each column the sum over the rows, the dimensions before `axis`, of grad (a - mean)
/// rstd. The rows of `grad` and `a` have no gaps.
pub(crate) fn layer_norm_backward_weight(
    out: &Array,
    grad: &Array,
    a: &Array,
    axis: usize,
    [mean, rstd]: [&Array; 2],
) -> Result<()> {
    let (sides, columns) = a.sizes().split_at(axis);
    let (rows, columns) = (sides.iter().product::<i64>() as usize, columns.iter().product::<i64>() as usize);
    if columns == 0 {
        return Ok(());
    }
    let step = |array: &Array| -> Result<i64> {
        ensure!(
            rows <= 1 || array.is_contiguous(),
            NotImplemented,
            "the gradient by the weight of layer norm on a device needs contiguous inputs"
        );
        Ok(columns as i64)
    };
    let parts = ENOUGH_BLOCKS.div_ceil(columns.div_ceil(256)).min(rows.div_ceil(FEW_ROWS)).max(1);
    let sums = Temporary::new(out.device(), parts * columns * sum_size(out.dtype()) as usize)?;
    let parameter = Columns {
        at: [sums.at(), address(Some(grad)), address(Some(a)), address(Some(mean)), address(Some(rstd))],
        steps: [step(grad)?, step(a)?],
        rows: rows as u32,
        columns: columns as u32,
        parts: parts as u32,
        reserved: 0,
    };
    let grid = Grid { blocks: [columns.div_ceil(256).min(1 << 16) as u32, parts as u32, 1], threads: 256, shared: 0 };
    let kernel = Kernel { file: "norm", function: "layer_norm_backward_weight", dtype: a.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; the matrices have these rows and columns, and the
    // sums have room for each part.
    unsafe { launch_with(out.device(), kernel, grid, &[bytes_of(&parameter)])? };
    add_parts(out, &sums, parts)
}
