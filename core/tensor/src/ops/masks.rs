//! Kernels whose elements a mask selects.

use super::access::{Operand, array, copy_unless_same};
use super::views;
use crate::dense::Dense;
use rushlight_base::{DType, Result, ensure};
use rushlight_cpu::masks;

/// `dense` broadcast to `sizes`.
pub(super) fn spread(dense: &Dense, sizes: &[i64]) -> Result<Dense> {
    Ok(dense.with_geometry(views::expand(dense, sizes, false)?))
}

/// out = the coordinates of the elements that differ from zero
pub fn nonzero(out: &Dense, self_: &Dense) -> Result<()> {
    let mask = Operand::cast(self_, DType::Bool)?;
    masks::coordinates(&array(out), &mask.array())
}

/// out = the elements of self under mask
pub fn masked_select(out: &Dense, self_: &Dense, mask: &Dense) -> Result<()> {
    let sizes = super::rules::broadcast(&[self_, mask])?;
    masks::select(&array(out), &array(&spread(self_, &sizes)?), &array(&spread(mask, &sizes)?))
}

/// out = self with the elements under mask replaced by those of source, in order
pub fn masked_scatter(out: &Dense, self_: &Dense, mask: &Dense, source: &Dense) -> Result<()> {
    let mask = spread(mask, out.sizes())?;
    ensure!(
        masks::count(&array(&mask))? as i64 <= source.numel(),
        Runtime,
        "masked_scatter: the mask has more true elements than the source has elements: {}",
        source.numel()
    );
    copy_unless_same(out, self_)?;
    let source = super::index::in_shape(source, &[source.numel()])?;
    masks::scatter(&array(out), &array(&mask), &array(&source))
}
