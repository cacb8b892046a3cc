//! Kernels of indices into several dimensions at once.

use super::access::{array, cast, copy_unless_same};
use super::masks::spread;
use super::rules::{Region, is_mask, placed, region};
use crate::dense::{Dense, Geometry, Spec};
use rushlight_base::{DType, DimVec, Result, Scalar, ensure};
use rushlight_cpu::indexing::{self, Combine, Indexed, Places};
use rushlight_cpu::{Loop, arithmetic};

/// Lists of int64 indices, each for one dimension: masks become the coordinates of their true elements.
struct Lists(Vec<(usize, Dense)>);

impl Lists {
    fn of(indices: &[Option<Dense>]) -> Result<Lists> {
        let mut lists = Vec::new();
        for (_, first, index) in placed(indices) {
            if !is_mask(index) {
                lists.push((first, in_dtype(index, DType::I64)?));
                continue;
            }
            let mask = in_dtype(index, DType::Bool)?;
            let count = rushlight_cpu::masks::count(&array(&mask))? as i64;
            // Column by column, so that each coordinate is a list.
            let strides = DimVec::from_slice(&[1, count.max(1)]);
            let sizes = [count, index.ndim() as i64];
            let coordinates = Spec::new(&sizes, DType::I64, index.device).with_strides(strides).allocate()?;
            rushlight_cpu::masks::coordinates(&array(&coordinates), &array(&mask))?;
            for column in 0..index.ndim() as i64 {
                let offset = coordinates.geometry.offset + column * count;
                let (sizes, strides) = (DimVec::from_elem(count, 1), DimVec::from_elem(1, 1));
                lists.push((first + column as usize, coordinates.with_geometry(Geometry { sizes, strides, offset })));
            }
        }
        Ok(Lists(lists))
    }

    /// The positions that the index lists select in `reached`; a traversal over the region reads or writes their
    /// elements.
    fn places<'a>(&'a self, region: &Region, reached: &Dense) -> Result<Places<'a>> {
        let indexed: Vec<Indexed> =
            self.0.iter().map(|(dim, list)| Indexed { dim: *dim, index: array(list) }).collect();
        let leads_nowhere = self.0.iter().any(|(dim, _)| reached.sizes()[*dim] == 0) && !region.shape.contains(&0);
        ensure!(!leads_nowhere, Index, "index is out of bounds for dimension with size 0");
        Places::together(&indexed, &region.shape, region.at, &array(reached))
    }
}

fn in_dtype(index: &Dense, dtype: DType) -> Result<Dense> {
    if index.dtype == dtype { Ok(index.clone()) } else { cast(index, dtype) }
}

/// The mask, and the first of the dimensions that it selects from, if it is the only index.
fn single_mask(indices: &[Option<Dense>]) -> Result<Option<(usize, Dense)>> {
    let mut all = placed(indices);
    match (all.next(), all.next()) {
        (Some((_, first, mask)), None) if is_mask(mask) => Ok(Some((first, in_dtype(mask, DType::Bool)?))),
        _ => Ok(None),
    }
}

/// out = self with the only element of `value` where the mask over the dimensions from `first` on is true
fn fill_masked(out: &Dense, self_: &Dense, mask: &Dense, first: usize, value: &Dense) -> Result<()> {
    let over_all = |dense: &Dense, strides: DimVec| {
        let (sizes, offset) = (DimVec::from_slice(out.sizes()), dense.geometry.offset);
        dense.with_geometry(Geometry { sizes, strides, offset })
    };
    let still = DimVec::from_elem(0, out.ndim());
    let mut strides = still.clone();
    strides[first..first + mask.ndim()].copy_from_slice(mask.strides());
    let (mask, value) = (over_all(mask, strides), over_all(value, still));
    arithmetic::select_where(&Loop::new([array(out), array(&mask), array(&value), array(self_)])?)
}

/// out = the elements of self that the indices lead to
pub fn index(out: &Dense, self_: &Dense, indices: &[Option<Dense>]) -> Result<()> {
    if let Some((_, mask)) = single_mask(indices)?
        && mask.ndim() == self_.ndim()
    {
        return rushlight_cpu::masks::select(&array(out), &array(self_), &array(&mask));
    }
    let (region, lists) = (region(self_, indices)?, Lists::of(indices)?);
    ensure!(*region.sizes == *out.sizes(), Runtime, "index: a mask was changed by another thread meanwhile");
    indexing::gather(&array(out), &array(self_), &lists.places(&region, self_)?)
}

/// out = self with values written, or added, where the indices lead to
pub fn index_put(
    out: &Dense,
    self_: &Dense,
    indices: &[Option<Dense>],
    values: &Dense,
    accumulate: bool,
) -> Result<()> {
    if let Some((first, mask)) = single_mask(indices)?
        && !accumulate
        && values.numel() == 1
    {
        return fill_masked(out, self_, &mask, first, values);
    }
    let (region, lists) = (region(out, indices)?, Lists::of(indices)?);
    let places = lists.places(&region, out)?;
    let values = spread(values, &region.sizes)?;
    copy_unless_same(out, self_)?;
    match accumulate {
        true => indexing::combine(&array(out), &places, &array(&values), Combine::Sum(Scalar::Int(1))),
        false => indexing::scatter(&array(out), &places, &array(&values)),
    }
}

/// The same: indices are always checked.
pub fn index_put_impl(
    out: &Dense,
    self_: &Dense,
    indices: &[Option<Dense>],
    values: &Dense,
    accumulate: bool,
    _unsafe: bool,
) -> Result<()> {
    index_put(out, self_, indices, values, accumulate)
}
