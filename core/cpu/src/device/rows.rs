//! Functions of rows on a device.

use super::parameters::{ROW_RANK, ROW_SHARED, ROW_THREADS, Rows};
use super::{Grid, MOST_BLOCKS, address, launch};
use crate::array::Array;
use rushlight_base::backend::Kernel;
use rushlight_base::{Result, ensure, err};

/// The rows of arrays of one shape and dtype: the elements along the dimensions from `first` to `last`, which have one
/// common step in each array.
fn described<const N: usize>(
    function: &'static str,
    arrays: [&Array; N],
    (first, last): (usize, usize),
) -> Result<Rows<N>> {
    let out = arrays[0];
    let same = arrays.iter().all(|array| array.sizes() == out.sizes() && array.dtype() == out.dtype());
    ensure!(same, Internal, "{function} got arrays of different shapes or dtypes");
    let even = |array: &&Array| {
        (first..last).all(|dim| array.stride(dim) == array.stride(dim + 1) * array.size(dim + 1) as isize)
    };
    ensure!(
        arrays.iter().all(even),
        NotImplemented,
        "{function} on device {} needs rows with one step, got strides {:?}",
        out.device(),
        arrays.map(|array| array.strides())
    );
    let length: usize = (first..=last).map(|dim| out.size(dim)).product();
    let inside = |dim: &usize| (first..=last).contains(dim);
    let mut rows = Rows {
        at: arrays.map(address),
        length: u32::try_from(length).map_err(|_| err!(Runtime, "{function}: a row has {length} elements"))?,
        count: u32::try_from(out.numel() / length).map_err(|_| err!(Runtime, "{function}: too many rows"))?,
        steps: arrays.map(|array| array.stride(last) as i64),
        sizes: [1; ROW_RANK],
        strides: [[0; N]; ROW_RANK],
        option: 0.0,
    };
    let others = (0..out.ndim()).rev().filter(|other| !inside(other) && out.size(*other) > 1);
    for (index, other) in others.enumerate() {
        ensure!(
            index < ROW_RANK,
            NotImplemented,
            "{function} on device {} takes at most {ROW_RANK} dimensions besides those of the rows, got sizes {:?}",
            out.device(),
            out.sizes()
        );
        rows.sizes[index] = out.size(other) as u32;
        rows.strides[index] = arrays.map(|array| array.stride(other) as i64);
    }
    Ok(rows)
}

/// The rows that are the dimensions from `axis` on.
pub(super) fn rows_from<const N: usize>(function: &'static str, arrays: [&Array; N], axis: usize) -> Result<Rows<N>> {
    described(function, arrays, (axis, arrays[0].ndim() - 1))
}

/// Threads of a block that computes a row: more where a row of one block has many elements.
pub(super) fn threads_of(length: u32) -> u32 {
    let most = if length > 16 * ROW_THREADS { 4 * ROW_THREADS } else { ROW_THREADS };
    length.next_multiple_of(32).min(most)
}

/// Runs the function on the rows along `dim` of arrays of one shape and dtype. `option` is a number for the function.
pub(crate) fn rows<const N: usize>(function: &'static str, arrays: [&Array; N], dim: usize, option: f64) -> Result<()> {
    let out = arrays[0];
    if out.numel() == 0 {
        return Ok(());
    }
    let parameter = Rows { option, ..described(function, arrays, (dim, dim))? };
    let threads = threads_of(parameter.length);
    let blocks = [parameter.count.min(MOST_BLOCKS), 1, 1];
    let kernel = Kernel { file: "rows", function, dtype: out.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are on the device, with an element for
    // each index.
    unsafe { launch(out.device(), kernel, Grid { blocks, threads, shared: ROW_SHARED }, &parameter) }
}
