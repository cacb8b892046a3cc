//! Rules of operators that sort, search and count.

use super::reduction::value_and_place;
use crate::dense::{Dense, Spec};
use crate::ops::access::array;
use crate::options::cpp_name;
use rushlight_base::{DType, Result, Scalar, ensure, err, format_sizes, wrap_dim};
use rushlight_cpu::search::are_below;

/// The elements in order, and their indices.
pub fn sort(self_: &Dense, dim: i64, _descending: bool) -> Result<[Spec; 2]> {
    wrap_dim(dim, self_.ndim())?;
    ensure!(!self_.dtype.is_complex(), Value, "Sort currently does not support complex dtypes on CPU.");
    Ok([self_.dtype, DType::I64].map(|dtype| Spec::new(self_.sizes(), dtype, self_.device)))
}

/// Like `sort`.
pub fn sort_stable(self_: &Dense, _stable: Option<bool>, dim: i64, descending: bool) -> Result<[Spec; 2]> {
    sort(self_, dim, descending)
}

/// An index for each slice along a dimension.
pub fn order_of_slices(self_: &Dense, dim: i64) -> Result<Spec> {
    let dim = wrap_dim(dim, self_.ndim())?;
    let count = self_.sizes().get(dim).copied().unwrap_or(1);
    Ok(Spec::new(&[count], DType::I64, self_.device))
}

/// One element of each row, with its index.
pub fn kthvalue(self_: &Dense, k: i64, dim: i64, keepdim: bool) -> Result<[Spec; 2]> {
    let specs = value_and_place("kthvalue", self_, dim, keepdim)?;
    let at = wrap_dim(dim, self_.ndim())?;
    let size = self_.sizes().get(at).copied().unwrap_or(1);
    ensure!((1..=size).contains(&k), Runtime, "kthvalue(): selected number k out of range for dimension {at}");
    Ok(specs)
}

/// One element of each row, with its index.
pub fn mode(self_: &Dense, dim: i64, keepdim: bool) -> Result<[Spec; 2]> {
    value_and_place("mode", self_, dim, keepdim)
}

fn place(sizes: &[i64], sequence: &Dense, out_int32: bool) -> Spec {
    Spec::new(sizes, if out_int32 { DType::I32 } else { DType::I64 }, sequence.device)
}

/// An insertion index for each element of `self_`.
pub fn searchsorted(
    sorted_sequence: &Dense,
    self_: &Dense,
    out_int32: bool,
    right: bool,
    side: Option<&str>,
    sorter: Option<&Dense>,
) -> Result<Spec> {
    check_search(sorted_sequence, right, side, sorter, out_int32)?;
    let (sequence, values) = (sorted_sequence.sizes(), self_.sizes());
    ensure!(
        sequence.len() == 1 || !values.is_empty(),
        Runtime,
        "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got \
         boundaries tensor dim({}) and input value's dim(0) numel(1)",
        sequence.len()
    );
    let leads = sequence.len() == values.len() && sequence[..sequence.len() - 1] == values[..values.len() - 1];
    ensure!(
        sequence.len() == 1 || leads,
        Runtime,
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor \
         and input value tensor must match, but we got boundaries tensor {} and input value tensor {}",
        format_sizes(sequence),
        format_sizes(values)
    );
    Ok(place(values, sorted_sequence, out_int32))
}

/// An insertion index for one number.
pub fn searchsorted_scalar(
    sorted_sequence: &Dense,
    _self: Scalar,
    out_int32: bool,
    right: bool,
    side: Option<&str>,
    sorter: Option<&Dense>,
) -> Result<Spec> {
    check_search(sorted_sequence, right, side, sorter, out_int32)?;
    ensure!(
        sorted_sequence.ndim() == 1,
        Runtime,
        "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got \
         boundaries tensor dim({}) and input value's dim(0) numel(1)",
        sorted_sequence.ndim()
    );
    Ok(place(&[], sorted_sequence, out_int32))
}

/// A bucket index for each element of `self_`.
pub fn bucketize(self_: &Dense, boundaries: &Dense, out_int32: bool, right: bool) -> Result<Spec> {
    check_boundaries(boundaries)?;
    searchsorted(boundaries, self_, out_int32, right, None, None)
}

/// A bucket index for one number.
pub fn bucketize_scalar(self_: Scalar, boundaries: &Dense, out_int32: bool, right: bool) -> Result<Spec> {
    check_boundaries(boundaries)?;
    searchsorted_scalar(boundaries, self_, out_int32, right, None, None)
}

fn check_boundaries(boundaries: &Dense) -> Result<()> {
    ensure!(
        boundaries.ndim() == 1,
        Runtime,
        "boundaries tensor must be 1 dimension, but got dim({})",
        boundaries.ndim()
    );
    Ok(())
}

fn check_search(
    sequence: &Dense,
    right: bool,
    side: Option<&str>,
    sorter: Option<&Dense>,
    out_int32: bool,
) -> Result<()> {
    if let Some(side) = side {
        ensure!(
            matches!(side, "left" | "right"),
            Runtime,
            "torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        );
        ensure!(
            !right || side == "right",
            Runtime,
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        );
    }
    ensure!(
        sequence.ndim() > 0,
        Runtime,
        "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
    );
    let len = sequence.sizes()[sequence.ndim() - 1];
    ensure!(
        !out_int32 || len < i64::from(i32::MAX),
        Runtime,
        "torch.searchsorted(): the size of boundaries' last dimension should be less than {}, but we got {len}",
        i32::MAX
    );
    let Some(sorter) = sorter else { return Ok(()) };
    ensure!(
        sorter.sizes() == sequence.sizes(),
        Runtime,
        "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor {}and got sorter \
         tensor {}",
        format_sizes(sequence.sizes()),
        format_sizes(sorter.sizes())
    );
    ensure!(
        sorter.dtype == DType::I64,
        Runtime,
        "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {}",
        sorter.dtype.c10_name()
    );
    let inside = sorter.is_meta() || are_below(&array(sorter), len as usize);
    ensure!(inside, Runtime, "torch.searchsorted(): sorter index out of range");
    Ok(())
}

/// A count for each bin.
pub fn count_in_bins(self_: &Dense, bin_edges: &[Dense], weight: Option<&Dense>, _search: &str) -> Result<Spec> {
    ensure!(self_.ndim() == 2, Runtime, "a histogram counts the rows of a matrix, got {}", self_.describe());
    let columns = self_.sizes()[1];
    ensure!(
        columns == bin_edges.len() as i64 && columns > 0,
        Runtime,
        "torch.histogramdd: expected {columns} sequences of bin edges for a {columns}-dimensional histogram but got {}",
        bin_edges.len()
    );
    for (dim, edges) in bin_edges.iter().enumerate() {
        ensure!(
            edges.ndim() == 1,
            Runtime,
            "torch.histogramdd: bins tensor should have one dimension, but got {} dimensions in the bins tensor for \
             dimension {dim}",
            edges.ndim()
        );
        ensure!(
            edges.dtype == self_.dtype,
            Runtime,
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype {} and \
             bins for dimension {dim} with dtype {}",
            cpp_name(self_.dtype),
            cpp_name(edges.dtype)
        );
        ensure!(
            edges.numel() >= 2,
            Runtime,
            "torch.histogram(): bins must be > 0, but got {} for dimension {dim}",
            edges.numel() - 1
        );
    }
    if let Some(weight) = weight {
        ensure!(
            weight.dtype == self_.dtype,
            Runtime,
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, \
             but got input({}), and weight({})",
            cpp_name(self_.dtype),
            cpp_name(weight.dtype)
        );
        ensure!(
            weight.sizes() == &self_.sizes()[..1],
            Runtime,
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding \
             its innermost dimension, but got input with shape {} and weight with shape {}",
            format_sizes(self_.sizes()),
            format_sizes(weight.sizes())
        );
    }
    let sizes: Vec<i64> = bin_edges.iter().map(|edges| edges.numel() - 1).collect();
    Ok(Spec::new(&sizes, self_.dtype, self_.device))
}

/// The edges of this many bins.
pub fn bin_edges(self_: &Dense, bins: i64, _start: f64, _end: f64) -> Result<Spec> {
    ensure!(bins > 0, Runtime, "torch.histogram(): bins must be > 0, but got {bins} for dimension 0");
    let edges = bins
        .checked_add(1)
        .ok_or_else(|| err!(Runtime, "Storage size calculation overflowed with sizes=[{bins} + 1]"))?;
    Ok(Spec::new(&[edges], self_.dtype, self_.device))
}
