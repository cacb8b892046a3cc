//! Histograms and orders of slices on a device, by its kernels of comparisons, searches, sorts and sums.

use super::access::{Constant, array, cast, copy_into, over};
use super::compare::{ge, le, logical_and};
use super::index::{index_add, index_select};
use super::sorting::sort;
use super::{transfer, views};
use crate::dense::{Dense, Geometry, Spec};
use rushlight_base::{DType, Device, Result, Scalar, ensure};
use rushlight_cpu::histogram::{self, Bins};
use rushlight_cpu::{Loop, arithmetic, fill};

fn filled(sizes: &[i64], dtype: DType, device: Device, value: i64) -> Result<Dense> {
    let out = Spec::new(sizes, dtype, device).allocate()?;
    fill::fill(&Loop::new([array(&out)])?, Scalar::Int(value))?;
    Ok(out)
}

/// The numbers of the bins of elements, of which each step is rounded to their dtype.
fn by_division(x: &Dense, ends: [&Dense; 2], count: i64) -> Result<Dense> {
    let [first, last] = ends;
    let (dtype, bins) = (x.dtype, Constant::new(Scalar::Int(count), x.dtype)?);
    let place = Spec::new(x.sizes(), dtype, x.device).allocate()?;
    let width = Spec::new(&[], dtype, x.device).allocate()?;
    over(dtype, [&place, x, first], |walk| arithmetic::sub(walk, Scalar::Int(1)))?;
    over(dtype, [&width, last, first], |walk| arithmetic::sub(walk, Scalar::Int(1)))?;
    arithmetic::mul(&Loop::new([array(&place), array(&place), bins.array()])?)?;
    over(dtype, [&place, &place, &width], arithmetic::div)?;
    cast(&place, DType::I64)
}

/// The numbers of the edges that are not above each element, less 1.
fn by_search(x: &Dense, edges: &Dense) -> Result<Dense> {
    let place = Spec::new(x.sizes(), DType::I64, x.device).allocate()?;
    rushlight_cpu::search::search(&array(&place), &array(edges), &array(x), None, true)?;
    let one = Constant::new(Scalar::Int(1), DType::I64)?;
    arithmetic::sub(&Loop::new([array(&place), array(&place), one.array()])?, Scalar::Int(1))?;
    Ok(place)
}

/// [`histogram::count_in_bins`] of a device. Points outside of the edges are counted in a bin of their own.
pub(super) fn count_in_bins(
    out: &Dense,
    points: &Dense,
    edges: &[Dense],
    weight: Option<&Dense>,
    how: Bins,
) -> Result<()> {
    let (device, dtype, rows) = (out.device, points.dtype, points.sizes()[0]);
    ensure!(dtype.is_floating(), Runtime, "\"histogram_cpu\" not implemented for '{}'", dtype.c10_name());
    let bins = out.numel();
    let (places, inside) = (filled(&[rows], DType::I64, device, 0)?, filled(&[rows], DType::Bool, device, 1)?);
    for (column, edges) in edges.iter().enumerate() {
        let (x, edges, count) = (column_of(points, column)?, cast(edges, dtype)?, edges.numel() - 1);
        let end = |nth: i64| Ok::<_, rushlight_base::Error>(edges.with_geometry(views::select(&edges, 0, nth)?));
        let (first, last) = (end(0)?, end(count)?);
        let found = match how {
            Bins::Even => by_division(&x, [&first, &last], count)?,
            // Between edges of equal width a search finds the bin that a division and its neighbours do.
            Bins::EvenByEdges | Bins::Sorted => by_search(&x, &edges)?,
        };
        // The last bin includes its right edge.
        over(DType::I64, [&found, &found], |walk| {
            arithmetic::clamp_scalar(walk, Some(Scalar::Int(0)), Some(Scalar::Int(count - 1)))
        })?;
        let size = Constant::new(Scalar::Int(count), DType::I64)?;
        arithmetic::mul(&Loop::new([array(&places), array(&places), size.array()])?)?;
        over(DType::I64, [&places, &places, &found], |walk| arithmetic::add(walk, Scalar::Int(1)))?;
        let is_within = Spec::new(&[rows], DType::Bool, device).allocate()?;
        ge(&is_within, &x, &first)?;
        logical_and(&inside, &inside, &is_within)?;
        le(&is_within, &x, &last)?;
        logical_and(&inside, &inside, &is_within)?;
    }
    let outside = Constant::new(Scalar::Int(bins), DType::I64)?;
    arithmetic::select_where(&Loop::new([array(&places), array(&inside), array(&places), outside.array()])?)?;
    let weights = match weight {
        Some(weight) => cast(weight, DType::F64)?,
        None => filled(&[rows], DType::F64, device, 1)?,
    };
    let sums = filled(&[bins + 1], DType::F64, device, 0)?;
    index_add(&sums, &sums, 0, &places, &weights, Scalar::Int(1))?;
    copy_into(out, &sums.with_geometry(Geometry::contiguous(out.sizes())))
}

fn column_of(points: &Dense, column: usize) -> Result<Dense> {
    Ok(points.with_geometry(views::select(points, 1, column as i64)?))
}

/// [`histogram::even_edges`], computed on the host and copied once.
pub(super) fn even_edges(out: &Dense, first: f64, last: f64) -> Result<()> {
    let host = transfer::result_on_host(out)?;
    histogram::even_edges(&array(&host), first, last)?;
    transfer::across(out, &host, false)
}

/// out = the slices of `a` along `dim` in lexicographic order: a stable sort for each element of a slice, from the last
/// element on.
pub(super) fn order_of_slices(out: &Dense, a: &Dense, dim: usize) -> Result<()> {
    let (count, device) = (a.sizes()[dim], a.device);
    let width = if count == 0 { 0 } else { a.numel() / count };
    ensure!(!a.dtype.is_complex(), Runtime, "\"unique_dim\" not implemented for '{}'", a.dtype.c10_name());
    if width == 0 {
        return fill::arange(&array(out), Scalar::Int(0), Scalar::Int(1));
    }
    let mut moved = a.geometry.clone();
    let (size, stride) = (moved.sizes.remove(dim), moved.strides.remove(dim));
    moved.sizes.insert(0, size);
    moved.strides.insert(0, stride);
    let slices = Spec::new(&moved.sizes, a.dtype, device).allocate()?;
    copy_into(&slices, &a.with_geometry(moved))?;
    let slices = slices.with_geometry(Geometry::contiguous(&[count, width]));
    let new = |dtype: DType| Spec::new(&[count], dtype, device).allocate();
    let (keys, sorted, places) = (new(a.dtype)?, new(a.dtype)?, new(DType::I64)?);
    let (mut order, mut next) = (new(DType::I64)?, new(DType::I64)?);
    for column in (0..width).rev() {
        let column_keys = column_of(&slices, column as usize)?;
        if column + 1 == width {
            sort(&sorted, &order, &column_keys, 0, false)?;
            continue;
        }
        index_select(&keys, &column_keys, 0, &order)?;
        sort(&sorted, &places, &keys, 0, false)?;
        index_select(&next, &order, 0, &places)?;
        std::mem::swap(&mut order, &mut next);
    }
    copy_into(out, &order)
}
