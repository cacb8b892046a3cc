//! Optimizer steps on a device.

use super::parameters::{STEP_ARRAYS, STEP_NUMBERS, STEP_THREADS, Step};
use super::{Grid, address, launch};
use crate::array::Array;
use rushlight_base::backend::Kernel;
use rushlight_base::{Result, ensure};

/// Most blocks of a grid: a thread updates several elements if there are more.
const MOST_BLOCKS: usize = 1 << 16;

/// Updates every element of arrays of one dtype, shape and strides, without gaps.
pub(crate) fn step<const N: usize>(
    function: &'static str,
    arrays: [&Array; N],
    numbers: [f64; STEP_NUMBERS],
) -> Result<()> {
    let param = arrays[0];
    let same = |array: &Array| array.sizes() == param.sizes() && array.dtype() == param.dtype();
    ensure!(
        arrays.iter().all(|array| same(array)),
        Runtime,
        "params, grads and optimizer state must have the same dtype and shape"
    );
    ensure!(
        arrays.iter().all(|array| array.is_contiguous()),
        NotImplemented,
        "params, grads and optimizer state on device {} must be contiguous, got strides {:?}",
        param.device(),
        arrays.map(|array| array.strides())
    );
    let count = param.numel();
    if count == 0 {
        return Ok(());
    }
    let mut at = [0; STEP_ARRAYS];
    for (at, array) in at.iter_mut().zip(arrays) {
        *at = address(array);
    }
    let blocks = count.div_ceil(STEP_THREADS as usize).min(MOST_BLOCKS) as u32;
    let grid = Grid { blocks: [blocks, 1, 1], threads: STEP_THREADS, shared: 0 };
    let kernel = Kernel { file: "optim", function, dtype: param.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are on the device, with `count` elements
    // each from their first one on.
    unsafe { launch(param.device(), kernel, grid, &Step { at, count: count as u64, numbers }) }
}
