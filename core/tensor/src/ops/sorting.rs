//! Kernels that sort, search and count.

use super::access::{Constant, Operand, array};
use super::bins;
use super::reduce::value_and_place;
use super::rules::{Promotion, common_dtype};
use crate::dense::Dense;
use rushlight_base::{DType, Result, Scalar, bail, wrap_dim};
use rushlight_cpu::Array;
use rushlight_cpu::histogram::{self, Bins};

/// out0, out1 = the elements of self along dim in order, and their indices; equal elements keep their order
pub fn sort(out0: &Dense, out1: &Dense, self_: &Dense, dim: i64, descending: bool) -> Result<()> {
    let dim = wrap_dim(dim, self_.ndim())?;
    rushlight_cpu::sort::sort(&array(out0), &array(out1), &array(self_), dim, descending)
}

/// The same: every sort is stable.
pub fn sort_stable(
    out0: &Dense,
    out1: &Dense,
    self_: &Dense,
    _stable: Option<bool>,
    dim: i64,
    descending: bool,
) -> Result<()> {
    sort(out0, out1, self_, dim, descending)
}

/// out = the indices that sort the slices of self along dim
pub fn order_of_slices(out: &Dense, self_: &Dense, dim: i64) -> Result<()> {
    if !self_.is_on_host() {
        return bins::order_of_slices(out, self_, wrap_dim(dim, self_.ndim())?);
    }
    rushlight_cpu::sort::order_of_slices(&array(out), &array(self_), wrap_dim(dim, self_.ndim())?)
}

/// out0, out1 = the k-th smallest element of self along dim and its index
pub fn kthvalue(out0: &Dense, out1: &Dense, self_: &Dense, k: i64, dim: i64, _keepdim: bool) -> Result<()> {
    value_and_place(out0, out1, self_, dim, |values, indices, a, dim| {
        rushlight_cpu::median::kth_value(values, indices, a, dim, k as usize)
    })
}

/// out0, out1 = the most frequent element of self along dim and its index
pub fn mode(out0: &Dense, out1: &Dense, self_: &Dense, dim: i64, _keepdim: bool) -> Result<()> {
    value_and_place(out0, out1, self_, dim, rushlight_cpu::median::mode)
}

fn search(
    out: &Dense,
    sequence: &Dense,
    values: &Array,
    common: DType,
    sorter: Option<&Dense>,
    right: bool,
) -> Result<()> {
    let sequence = Operand::cast(sequence, common)?;
    let sorter = sorter.map(array);
    rushlight_cpu::search::search(&array(out), &sequence.array(), values, sorter.as_ref(), right)
}

/// out = insertion indices of self in sorted_sequence
pub fn searchsorted(
    out: &Dense,
    sorted_sequence: &Dense,
    self_: &Dense,
    _out_int32: bool,
    right: bool,
    side: Option<&str>,
    sorter: Option<&Dense>,
) -> Result<()> {
    let common = common_dtype(&[sorted_sequence, self_])?;
    let values = Operand::cast(self_, common)?;
    search(out, sorted_sequence, &values.array(), common, sorter, right || side == Some("right"))
}

/// out = the insertion index of a number in sorted_sequence
pub fn searchsorted_scalar(
    out: &Dense,
    sorted_sequence: &Dense,
    self_: Scalar,
    _out_int32: bool,
    right: bool,
    side: Option<&str>,
    sorter: Option<&Dense>,
) -> Result<()> {
    let common = Promotion::default().with(sorted_sequence)?.with_scalar(self_)?.dtype()?;
    let value = Constant::new(self_, common)?;
    search(out, sorted_sequence, &value.array(), common, sorter, right || side == Some("right"))
}

/// out = bucket indices of self among boundaries
pub fn bucketize(out: &Dense, self_: &Dense, boundaries: &Dense, out_int32: bool, right: bool) -> Result<()> {
    searchsorted(out, boundaries, self_, out_int32, right, None, None)
}

/// out = the bucket index of a number among boundaries
pub fn bucketize_scalar(out: &Dense, self_: Scalar, boundaries: &Dense, out_int32: bool, right: bool) -> Result<()> {
    searchsorted_scalar(out, boundaries, self_, out_int32, right, None, None)
}

/// out = number of rows of self, or sum of weights, in each bin
pub fn count_in_bins(
    out: &Dense,
    self_: &Dense,
    bin_edges: &[Dense],
    weight: Option<&Dense>,
    search: &str,
) -> Result<()> {
    let how = match search {
        "even" => Bins::Even,
        "even_by_edges" => Bins::EvenByEdges,
        "sorted" => Bins::Sorted,
        other => bail!(Value, "unknown search method \"{other}\" of histogram bins"),
    };
    if !out.is_on_host() {
        return bins::count_in_bins(out, self_, bin_edges, weight, how);
    }
    let edges: Vec<Array> = bin_edges.iter().map(array).collect();
    let weight = weight.map(array);
    histogram::count_in_bins(&array(out), &array(self_), &edges, weight.as_ref(), how)
}

/// out = edges of bins of equal width
pub fn bin_edges(out: &Dense, _self: &Dense, _bins: i64, start: f64, end: f64) -> Result<()> {
    if !out.is_on_host() {
        return bins::even_edges(out, start, end);
    }
    histogram::even_edges(&array(out), start, end)
}
