//! Rows along a dimension of operands of different dtypes: what sorts, scans and searches pass to their kernels.

use super::parameters::{Lines, ROW_RANK, Size};
use super::{Grid, address, launch, small};
use crate::array::Array;
use rushlight_base::backend::Kernel;
use rushlight_base::report::Watch;
use rushlight_base::{DType, Result, ensure, err};

/// The rows along `dim`. The other dimensions are those of the first operand; an operand with one dimension less of them
/// has the same row for all.
pub(super) fn lines(function: &'static str, arrays: &[Option<&Array>], dim: usize) -> Result<Lines> {
    let Some(first) = arrays.iter().copied().flatten().next() else {
        return Err(err!(Internal, "{function} got no arrays"));
    };
    let device = first.device();
    let number =
        |value: usize| small(value).ok_or_else(|| err!(Runtime, "{function} on device {device} of {value} elements"));
    let length = first.size(dim);
    let mut lines = Lines {
        at: [0; 4],
        steps: [0; 4],
        sizes: [Size::new(1); ROW_RANK],
        strides: [[0; 4]; ROW_RANK],
        between: [0; 2],
        rows: number(first.numel().checked_div(length).unwrap_or(0))?,
        length: number(length)?,
        results: number(length)?,
        rank: 0,
        options: [0; 4],
        watch: Watch::NONE,
    };
    number(first.numel())?;
    for (nth, array) in arrays.iter().enumerate() {
        if let Some(array) = array {
            ensure!(array.device() == device, Internal, "{function} got arrays of two devices");
            lines.at[nth] = address(array);
            lines.steps[nth] = array.stride(dim.min(array.ndim().saturating_sub(1))) as i64;
        }
    }
    for other in (0..first.ndim()).rev().filter(|other| *other != dim && first.size(*other) != 1) {
        let nth = lines.rank as usize;
        ensure!(
            nth < ROW_RANK,
            NotImplemented,
            "{function} on device {device} takes at most {ROW_RANK} dimensions besides its own, got sizes {:?}",
            first.sizes()
        );
        lines.sizes[nth] = Size::new(number(first.size(other))?.max(1));
        for (operand, array) in arrays.iter().enumerate() {
            if let Some(array) = array {
                // The only dimension of an operand is that of its row.
                lines.strides[nth][operand] = if array.ndim() < first.ndim() { 0 } else { array.stride(other) as i64 };
            }
        }
        lines.rank += 1;
    }
    Ok(lines)
}

/// Starts a kernel of rows.
pub(super) fn start(
    (file, function): (&'static str, &'static str),
    dtype: DType,
    device: rushlight_base::Device,
    grid: Grid,
    lines: &Lines,
) -> Result<()> {
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are on the device, with an element for
    // each index.
    unsafe { launch(device, Kernel { file, function, dtype }, grid, lines) }
}

/// out = the part of the matrices `a` on one side of the diagonal, zeros on the other.
pub(crate) fn triangle(out: &Array, a: &Array, upper: bool, diagonal: i64) -> Result<()> {
    let last = out.ndim() - 1;
    let mut p = lines("triangle", &[Some(out), Some(a)], last)?;
    // A matrix of one row has no dimension of rows.
    let rows = if out.size(last - 1) == 1 { 0 } else { 1 };
    let diagonal = diagonal.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
    p.options = [u32::from(upper), diagonal as u32, rows, 0];
    let dtype = super::indexing::moved(out.dtype());
    start(("indexing", "triangle"), dtype, out.device(), Grid::of(out.numel()), &p)
}
