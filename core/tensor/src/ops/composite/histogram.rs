//! Composite operators: histograms.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, Scalar, ensure, err, format_sizes, list};

/// Ways to find the bin of an element, as `_count_in_bins` names them.
const EVEN: &str = "even";
const EVEN_BY_EDGES: &str = "even_by_edges";
const SORTED: &str = "sorted";

fn check_dtype(name: &str, self_: &Tensor) -> Result<()> {
    let dtype = self_.dtype();
    ensure!(dtype.is_floating(), Runtime, "\"{name}\" not implemented for '{}'", dtype.c10_name());
    Ok(())
}

/// The minimum and maximum; 0 and 1 for a constant tensor.
fn extent(self_: &Tensor) -> Result<(f64, f64)> {
    // Without data, any bins have the right shape.
    if self_.numel() == 0 || super::sorting::is_meta(self_) {
        return Ok((0.0, 1.0));
    }
    Ok((ops::min(self_)?.item()?.to_f64(), ops::max(self_)?.item()?.to_f64()))
}

fn check_finite(name: &str, first: f64, last: f64) -> Result<()> {
    let shown = |value: f64| if value.is_nan() { "nan".to_string() } else { value.to_string() };
    let finite = first.is_finite() && last.is_finite();
    ensure!(finite, Runtime, "{name} [{}, {}] is not finite", shown(first), shown(last));
    Ok(())
}

/// Counts the elements in bins of equal width.
pub fn histc(self_: &Tensor, bins: i64, min: Scalar, max: Scalar) -> Result<Tensor> {
    check_dtype("histogram_cpu", self_)?;
    let self_ = ops::detach(self_)?;
    let (mut first, mut last) = (min.to_f64(), max.to_f64());
    if first == last && self_.numel() > 0 {
        (first, last) = extent(&self_)?;
    }
    if first == last {
        (first, last) = (first - 1.0, last + 1.0);
    }
    check_finite("torch.histc: range of", first, last)?;
    ensure!(first < last, Runtime, "torch.histc: max must be larger than min");
    let edges = ops::_bin_edges(&self_, bins, first, last)?;
    ops::_count_in_bins(&ops::reshape(&self_, &[-1, 1])?, &[&edges], None, EVEN)
}

/// The range of the bins along each column of a matrix: the given one, else the range of its elements.
fn outer_edges(points: &Tensor, columns: i64, range: Option<&[f64]>) -> Result<Vec<(f64, f64)>> {
    let mut ends = Vec::new();
    if let Some(range) = range {
        ensure!(
            range.len() as i64 == 2 * columns,
            Runtime,
            "torch.histogramdd: for a {columns}-dimensional histogram range should have {} elements, but got {}",
            2 * columns,
            range.len()
        );
        ends.extend(range.chunks(2).map(|pair| (pair[0], pair[1])));
    } else {
        for column in 0..columns {
            ends.push(extent(&ops::select_int(points, 1, column)?)?);
        }
    }
    for (dim, (first, last)) in ends.iter_mut().enumerate() {
        check_finite(&format!("torch.histogramdd: dimension {dim}'s range"), *first, *last)?;
        ensure!(
            first <= last,
            Runtime,
            "torch.histogramdd: min should not exceed max, but got min {first} max {last} for dimension {dim}"
        );
        if first == last {
            (*first, *last) = (*first - 0.5, *last + 0.5);
        }
    }
    Ok(ends)
}

/// Points along the last dimension, as rows of a matrix, with their weights as a vector.
fn rows(self_: &Tensor, weight: Option<&Tensor>) -> Result<(Tensor, Option<Tensor>)> {
    check_dtype("histogramdd", self_)?;
    let sizes = self_.sizes();
    ensure!(sizes.len() >= 2, Runtime, "torch.histogramdd: input tensor should have at least 2 dimensions");
    let (lead, columns) = (&sizes[..sizes.len() - 1], sizes[sizes.len() - 1]);
    if let Some(weight) = weight {
        ensure!(
            *weight.sizes() == *lead,
            Runtime,
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding \
             its innermost dimension, but got input with shape {} and weight with shape {}",
            format_sizes(&sizes),
            format_sizes(&weight.sizes())
        );
    }
    let count = lead.iter().product();
    let points = ops::reshape(&ops::detach(self_)?, &[count, columns])?;
    let weight = weight.map(|weight| ops::reshape(&ops::detach(weight)?, &[count])).transpose()?;
    Ok((points, weight))
}

/// The counts of a histogram with these edges, divided by the total and the bin sizes if `density`.
fn counted(points: &Tensor, edges: &[&Tensor], weight: Option<&Tensor>, density: bool, search: &str) -> Result<Tensor> {
    let mut counts = ops::_count_in_bins(points, edges, weight, search)?;
    if density {
        counts = ops::div_tensor(&counts, &ops::sum(&counts, None)?)?;
        for (dim, edges) in edges.iter().enumerate() {
            let bins = edges.numel() - 1;
            let widths =
                ops::sub_tensor(&ops::narrow(edges, 0, 1, bins)?, &ops::narrow(edges, 0, 0, bins)?, Scalar::Int(1))?;
            let mut shape = vec![1; counts.ndim()];
            shape[dim] = bins;
            counts = ops::div_tensor(&counts, &ops::reshape(&widths, &shape)?)?;
        }
    }
    Ok(counts)
}

/// Edges of bins of equal width for each column.
pub fn _histogramdd_bin_edges(
    self_: &Tensor,
    bins: &[i64],
    range: Option<&[f64]>,
    weight: Option<&Tensor>,
    _density: bool,
) -> Result<Vec<Tensor>> {
    let (points, _) = rows(self_, weight)?;
    let columns = points.sizes()[1];
    ensure!(
        bins.len() as i64 == columns,
        Runtime,
        "torch.histogramdd: expected {columns} bin counts for a {columns}-dimensional histogram but got {}",
        bins.len()
    );
    let ends = outer_edges(&points, columns, range)?;
    bins.iter().zip(ends).map(|(&bins, (first, last))| ops::_bin_edges(&points, bins, first, last)).collect()
}

/// The histogram of points over bins of equal width.
pub fn _histogramdd_from_bin_cts(
    self_: &Tensor,
    bins: &[i64],
    range: Option<&[f64]>,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<Tensor> {
    let edges = _histogramdd_bin_edges(self_, bins, range, weight, density)?;
    let (points, weight) = rows(self_, weight)?;
    counted(&points, &edges.iter().collect::<Vec<_>>(), weight.as_ref(), density, EVEN_BY_EDGES)
}

/// The histogram of points over bins with the given edges.
pub fn _histogramdd_from_bin_tensors(
    self_: &Tensor,
    bins: &[&Tensor],
    weight: Option<&Tensor>,
    density: bool,
) -> Result<Tensor> {
    let (points, weight) = rows(self_, weight)?;
    counted(&points, bins, weight.as_ref(), density, SORTED)
}

/// Elements as points with one coordinate.
fn as_points(self_: &Tensor, weight: Option<&Tensor>) -> Result<(Tensor, Option<Tensor>)> {
    let column = |tensor: &Tensor, sizes: &[i64]| ops::reshape(tensor, sizes);
    let weight = match weight {
        Some(weight) if weight.sizes() == self_.sizes() => Some(column(weight, &[-1])?),
        other => other.cloned(),
    };
    Ok((column(self_, &[-1, 1])?, weight))
}

/// The histogram of elements over bins of equal width, and their edges.
pub fn histogram_bin_ct(
    self_: &Tensor,
    bins: i64,
    range: Option<&[f64]>,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<(Tensor, Tensor)> {
    let (points, weight) = as_points(self_, weight)?;
    let (points, weight) = rows(&points, weight.as_ref())?;
    let (first, last) = outer_edges(&points, 1, range)?[0];
    let edges = ops::_bin_edges(&points, bins, first, last)?;
    Ok((counted(&points, &[&edges], weight.as_ref(), density, EVEN_BY_EDGES)?, edges))
}

/// The histogram of elements over bins with the given edges, and these.
pub fn histogram_bins_tensor(
    self_: &Tensor,
    bins: &Tensor,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<(Tensor, Tensor)> {
    let (points, weight) = as_points(self_, weight)?;
    let (points, weight) = rows(&points, weight.as_ref())?;
    let counts = counted(&points, &[bins], weight.as_ref(), density, SORTED)?;
    Ok((counts, ops::clone(&ops::detach(bins)?, None)?))
}

/// The histogram of points over bins of equal width, and their edges.
pub fn histogramdd(
    self_: &Tensor,
    bins: &[i64],
    range: Option<&[f64]>,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<(Tensor, Vec<Tensor>)> {
    let sizes = self_.sizes();
    ensure!(
        sizes.len() < 2 || bins.len() as i64 == sizes[sizes.len() - 1],
        Runtime,
        "histogramdd: The size of bins must be equal to the innermost dimension of the input."
    );
    let edges = ops::_histogramdd_bin_edges(self_, bins, range, weight, density)?;
    Ok((ops::_histogramdd_from_bin_cts(self_, bins, range, weight, density)?, edges))
}

/// The same number of bins in each dimension.
pub fn histogramdd_int_bins(
    self_: &Tensor,
    bins: i64,
    range: Option<&[f64]>,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<(Tensor, Vec<Tensor>)> {
    let columns = self_.sizes().last().copied();
    let columns = columns.ok_or_else(|| err!(Index, "Dimension specified as -1 but tensor has no dimensions"))?;
    list::check_memory(columns as usize)?;
    histogramdd(self_, &vec![bins; columns as usize], range, weight, density)
}

/// The histogram of points over bins with the given edges, and these.
pub fn histogramdd_tensors(
    self_: &Tensor,
    bins: &[&Tensor],
    _range: Option<&[f64]>,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<(Tensor, Vec<Tensor>)> {
    let counts = ops::_histogramdd_from_bin_tensors(self_, bins, weight, density)?;
    Ok((counts, bins.iter().map(|&edges| edges.clone()).collect()))
}
