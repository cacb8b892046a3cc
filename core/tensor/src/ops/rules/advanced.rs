//! Rules of indices into several dimensions at once. A mask stands for the positions of its true elements: their number
//! depends on the data.

use crate::dense::{Dense, Spec};
use rushlight_base::{DType, DimVec, Result, ensure, format_sizes};

/// The region of a tensor that indices select.
pub struct Region {
    /// The dimensions that are not indexed, with those of `shape` inserted.
    pub sizes: DimVec,
    /// The broadcast shape of the indices.
    pub shape: DimVec,
    /// Number of dimensions of `sizes` before those of `shape`.
    pub at: usize,
}

/// Whether an index is a mask over elements.
pub fn is_mask(index: &Dense) -> bool {
    matches!(index.dtype, DType::Bool | DType::U8)
}

/// The given indices, each with the first dimension to which it applies.
pub fn placed(indices: &[Option<Dense>]) -> impl Iterator<Item = (usize, usize, &Dense)> {
    let mut dim = 0;
    indices.iter().enumerate().filter_map(move |(nth, index)| {
        let first = dim;
        dim += index.as_ref().map_or(1, |index| if is_mask(index) { index.ndim() } else { 1 });
        index.as_ref().map(|index| (nth, first, index))
    })
}

/// Checks indices, and finds the selected positions.
pub fn region(self_: &Dense, indices: &[Option<Dense>]) -> Result<Region> {
    let mut shape = DimVec::new();
    let mut covered = Vec::new();
    let width = |index: &Option<Dense>| index.as_ref().filter(|index| is_mask(index)).map_or(1, Dense::ndim);
    let dims: usize = indices.iter().map(width).sum();
    ensure!(dims <= self_.ndim(), Index, "too many indices for tensor of dimension {} (got {dims})", self_.ndim());
    for (nth, first, index) in placed(indices) {
        let own = if is_mask(index) {
            check_mask(self_, nth, first, index)?;
            covered.extend(first..first + index.ndim());
            DimVec::from_elem(super::masks::count("index", index)?, 1)
        } else {
            ensure!(
                matches!(index.dtype, DType::I64 | DType::I32),
                Index,
                "tensors used as indices must be long, int, byte or bool tensors"
            );
            covered.push(first);
            DimVec::from_slice(index.sizes())
        };
        shape = super::broadcast_sizes(&shape, &own).map_err(|_| {
            let shapes: Vec<String> = placed(indices).map(|(_, _, index)| format_sizes(index.sizes())).collect();
            rushlight_base::err!(
                Index,
                "shape mismatch: indexing tensors could not be broadcast together with shapes {}",
                shapes.join(", ")
            )
        })?;
    }
    let free = |dims: std::ops::Range<usize>| -> DimVec {
        dims.filter(|dim| !covered.contains(dim)).map(|dim| self_.sizes()[dim]).collect()
    };
    // Adjacent indexed dimensions are replaced in place, others are moved to the front.
    let together = covered.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    let at = covered.first().copied().filter(|_| together).unwrap_or(0);
    let (before, after) =
        if together { (free(0..at), free(at..self_.ndim())) } else { (DimVec::new(), free(0..self_.ndim())) };
    let sizes = before.iter().chain(&shape).chain(&after).copied().collect();
    Ok(Region { sizes, shape, at })
}

fn check_mask(self_: &Dense, nth: usize, first: usize, mask: &Dense) -> Result<()> {
    for (at, &size) in mask.sizes().iter().enumerate() {
        ensure!(
            size == self_.sizes()[first + at],
            Index,
            "The shape of the mask {} at index {at} does not match the shape of the indexed tensor {} at index {}{}",
            format_sizes(mask.sizes()),
            format_sizes(self_.sizes()),
            first + at,
            if nth == first { String::new() } else { format!(" (it is index number {nth})") }
        );
    }
    Ok(())
}

/// The elements that indices select.
pub fn index(self_: &Dense, indices: &[Option<Dense>]) -> Result<Spec> {
    Ok(Spec::new(&region(self_, indices)?.sizes, self_.dtype, self_.device))
}

/// `values` written to the selected positions.
pub fn index_put(self_: &Dense, indices: &[Option<Dense>], values: &Dense, _accumulate: bool) -> Result<Spec> {
    ensure!(
        self_.dtype == values.dtype,
        Index,
        "Index put requires the source and destination dtypes match, got {} for the destination and {} for the source.",
        self_.dtype.c10_name(),
        values.dtype.c10_name()
    );
    // On the meta device the number of values for a mask is unknown.
    if placed(indices).any(|(_, _, index)| is_mask(index) && index.is_meta()) {
        return super::like(self_);
    }
    let region = region(self_, indices)?;
    super::check_expandable(values.sizes(), &region.sizes).map_err(|_| {
        rushlight_base::err!(
            Runtime,
            "shape mismatch: value tensor of shape {} cannot be broadcast to indexing result of shape {}",
            format_sizes(values.sizes()),
            format_sizes(&region.sizes)
        )
    })?;
    super::like(self_)
}

/// The same.
pub fn index_put_impl(
    self_: &Dense,
    indices: &[Option<Dense>],
    values: &Dense,
    accumulate: bool,
    _unsafe: bool,
) -> Result<Spec> {
    index_put(self_, indices, values, accumulate)
}
