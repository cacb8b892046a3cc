//! Rules of operators whose elements a mask selects. Output shapes depend on the elements, which these rules read.

use crate::dense::{Dense, Spec};
use crate::ops::access;
use crate::ops::masks::spread;
use crate::ops::transfer;
use rushlight_base::{DType, DeviceType, Result, ensure};
use rushlight_cpu::masks;

/// Number of nonzero elements.
pub(super) fn count(name: &str, mask: &Dense) -> Result<i64> {
    ensure!(
        mask.device.kind != DeviceType::Meta,
        NotImplemented,
        "{name}: the shape of the result depends on data, which is not available on {}",
        mask.device
    );
    // The shape of the result depends on the elements: the host waits for them.
    let mask = &transfer::on_host(mask)?;
    let mask = access::Operand::cast(mask, DType::Bool)?;
    Ok(masks::count(&mask.array())? as i64)
}

/// A row of coordinates for each element that differs from zero.
pub fn nonzero(self_: &Dense) -> Result<Spec> {
    // The same strides as PyTorch's, column by column.
    let rows = count("nonzero", self_)?;
    let sizes = [rows, self_.ndim() as i64];
    Ok(Spec::new(&sizes, DType::I64, self_.device).with_strides([1, rows.max(1)].as_slice().into()))
}

/// The elements under a mask.
pub fn masked_select(self_: &Dense, mask: &Dense) -> Result<Spec> {
    ensure!(mask.dtype == DType::Bool, Runtime, "masked_select: expected BoolTensor for mask");
    let sizes = super::broadcast(&[self_, mask])?;
    Ok(Spec::new(&[count("masked_select", &spread(mask, &sizes)?)?], self_.dtype, self_.device))
}

/// The elements under a mask replaced.
pub fn masked_scatter(self_: &Dense, mask: &Dense, source: &Dense) -> Result<Spec> {
    ensure!(
        mask.dtype == DType::Bool,
        Runtime,
        "masked_scatter_ only supports boolean masks, but got mask with dtype {}",
        crate::options::cpp_name(mask.dtype)
    );
    ensure!(
        self_.dtype == source.dtype,
        Runtime,
        "masked_scatter_: expected self and source to have same dtypes but got {} and {}",
        self_.dtype.c10_name(),
        source.dtype.c10_name()
    );
    Ok(Spec::new(&super::broadcast(&[self_, mask])?, self_.dtype, self_.device))
}
