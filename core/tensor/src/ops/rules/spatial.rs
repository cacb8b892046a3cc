//! Common parts of the rules of images: memory formats, parameters that are one number for all dimensions, names for
//! messages.

use super::layout::suggested_format;
use crate::dense::{Dense, Spec, strides_in};
use rushlight_base::{DType, DimVec, MemoryFormat, Result, SmallVec, bail, ensure, format_sizes};

/// One number for each spatial dimension.
pub(crate) type Spatial = SmallVec<[i64; 3]>;

/// "one", "two" or "three".
fn spelled(count: usize) -> &'static str {
    ["no", "one", "two", "three"][count.min(3)]
}

/// A parameter as one number for each of `count` dimensions.
pub(crate) fn each(op: &str, what: &str, given: &[i64], count: usize) -> Result<Spatial> {
    if given.len() == count {
        return Ok(given.into());
    }
    ensure!(
        given.len() == 1,
        Runtime,
        "{op}: {what} must either be a single int, or a tuple of {} ints",
        spelled(count)
    );
    Ok(SmallVec::from_elem(given[0], count))
}

/// The channels-last format of a tensor whose strides show one.
pub(crate) fn channels_last(dense: &Dense) -> Option<MemoryFormat> {
    let format = suggested_format(dense.sizes(), dense.strides());
    (format != MemoryFormat::Contiguous).then_some(format)
}

/// An output with the memory format of the first of `models` that is channels-last, else row-major.
pub(crate) fn formatted(sizes: &[i64], dtype: DType, models: &[&Dense]) -> Result<Spec> {
    let spec = Spec::new(sizes, dtype, models[0].device);
    match models.iter().find_map(|model| channels_last(model)) {
        Some(format) if sizes.len() == models[0].ndim() => Ok(spec.with_strides(strides_in(sizes, format)?)),
        _ => Ok(spec),
    }
}

/// The input of an operator on images: `spatial` dimensions after the channels, batch dimension optional. All but the
/// batch must have elements.
pub(crate) fn check_image(op: &str, input: &Dense, spatial: usize) -> Result<()> {
    let rank = input.ndim();
    let plausible = rank == spatial + 1 || rank == spatial + 2;
    let filled = plausible && input.sizes()[rank - spatial - 1..].iter().all(|&size| size != 0);
    if !filled {
        bail!(
            Runtime,
            "{op}: Expected {}D or {}D (batch mode) tensor with optional 0 dim batch size for input, but got: {}",
            spatial + 1,
            spatial + 2,
            format_sizes(input.sizes())
        );
    }
    Ok(())
}

/// `3x4x5`, as messages on images write sizes.
pub(crate) fn crossed(sizes: &[i64]) -> String {
    sizes.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

/// `sizes` with other spatial sizes at its end.
pub(crate) fn with_spatial(sizes: &[i64], spatial: &[i64]) -> DimVec {
    let mut out = DimVec::from_slice(sizes);
    let lead = out.len() - spatial.len();
    out[lead..].copy_from_slice(spatial);
    out
}
