//! The margin loss of rows with several labels on a device.

use super::parameters::Labelled;
use super::{Grid, address, launch, small};
use crate::array::Array;
use rushlight_base::backend::{self, Kernel};
use rushlight_base::report::Mistake;
use rushlight_base::{Result, err};

/// The operands in the order of [`Labelled`]: one of an element for each row, or for all, and rows of classes.
pub(crate) fn start(
    function: &'static str,
    losses: &Array,
    [marks, scores, labels]: [&Array; 3],
    gradient: Option<&Array>,
    factor: f64,
) -> Result<()> {
    let device = scores.device();
    let count = if scores.ndim() > 1 { scores.size(0) } else { 1 };
    if scores.numel() == 0 {
        return Ok(());
    }
    let number =
        |value: usize| small(value).ok_or_else(|| err!(Runtime, "{function} on device {device} of {value} elements"));
    let mut p = Labelled {
        at: [0; 5],
        rows: [0; 5],
        classes: [0; 5],
        factor,
        count: number(count)?,
        width: number(scores.numel() / count)?,
        watch: backend::watch(device, Mistake::Label, [0; 2])?,
    };
    number(scores.numel())?;
    (p.at[0], p.rows[0]) = (address(losses), if losses.ndim() > 0 { losses.stride(0) as i64 } else { 0 });
    for (nth, array) in [Some(marks), Some(scores), Some(labels), gradient].into_iter().enumerate() {
        let Some(array) = array else { continue };
        p.at[nth + 1] = address(array);
        (p.rows[nth + 1], p.classes[nth + 1]) = match array.ndim() {
            0 => (0, 0),
            1 => (0, array.stride(0) as i64),
            _ => (array.stride(0) as i64, array.stride(1) as i64),
        };
    }
    let kernel = Kernel { file: "loss", function, dtype: scores.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; the shape rule has checked that the arrays, which are
    // on the device, have these rows and classes.
    unsafe { launch(device, kernel, Grid::of(count), &p) }
}
