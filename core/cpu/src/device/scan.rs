//! Scans on a device: each element combined with those before it in its row. A block scans a row, or a part of it, whose
//! first launch only finds the totals of the parts. The order of the combinations depends on the sizes only.

use super::lines::{lines, start};
use super::parameters::{Lines, SCAN_EACH, SCAN_SHARED, SCAN_THREADS};
use super::{Grid, MOST_BLOCKS, Temporary};
use crate::array::Array;
use rushlight_base::{DType, Device, Result};

/// Blocks that keep a device busy: rows are split into parts until there are as many.
const ENOUGH_BLOCKS: u32 = 256;

/// Elements of a row that are not split, and most parts of one.
const FEW: u32 = 8192;
const MOST_PARTS: u32 = 128;

/// Bytes of the total of a part.
const TOTAL: usize = 16;

fn run(function: &'static str, dtype: DType, device: Device, p: &mut Lines) -> Result<()> {
    let parts = ENOUGH_BLOCKS.div_ceil(p.rows).min(p.length.div_ceil(FEW)).clamp(1, MOST_PARTS);
    let threads = p.length.div_ceil(SCAN_EACH).next_multiple_of(32).min(SCAN_THREADS);
    let blocks = [p.rows.min(MOST_BLOCKS), parts, 1];
    let grid = || Grid { blocks, threads, shared: SCAN_SHARED };
    p.options[0] = parts;
    if parts == 1 {
        return start(("scan", function), dtype, device, grid(), p);
    }
    let totals = Temporary::new(device, p.rows as usize * parts as usize * TOTAL)?;
    p.between = [totals.at(), 0];
    p.options[1] = 1;
    start(("scan", function), dtype, device, grid(), p)?;
    p.options[1] = 2;
    start(("scan", function), dtype, device, grid(), p)
}

/// out = the scan of `a` along `dim`, from its end if `backwards`.
pub(crate) fn scan(function: &'static str, out: &Array, a: &Array, dim: usize, backwards: bool) -> Result<()> {
    if a.numel() == 0 {
        return Ok(());
    }
    let mut p = lines(function, &[Some(a), Some(out)], dim)?;
    if backwards {
        let size = a.dtype().size() as i64;
        for operand in 0..2 {
            let last = i64::from(p.length - 1) * p.steps[operand] * size;
            p.at[operand] = p.at[operand].wrapping_add_signed(last);
            p.steps[operand] = -p.steps[operand];
        }
    }
    run(function, a.dtype(), a.device(), &mut p)
}

/// The extremum of the elements up to each along `dim`, and its index.
pub(crate) fn running_extremum(
    function: &'static str,
    values: &Array,
    indices: &Array,
    a: &Array,
    dim: usize,
) -> Result<()> {
    if a.numel() == 0 {
        return Ok(());
    }
    let mut p = lines(function, &[Some(a), Some(values), Some(indices)], dim)?;
    run(function, a.dtype(), a.device(), &mut p)
}

/// counts = the number of true elements of a mask up to each, as int64; both are dense and have one dimension.
pub(super) fn count_true(counts: &Array, mask: &Array) -> Result<()> {
    let mut p = lines("count", &[Some(mask), Some(counts)], 0)?;
    run("count_true", DType::Bool, mask.device(), &mut p)
}
