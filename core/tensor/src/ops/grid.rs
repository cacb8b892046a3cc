//! Grid sampling on a device: its terms by a kernel, and with these a selection and sums.

use super::access::{array, cast, copy_into, over};
use super::index::{index_add, index_select};
use super::{reduce, views};
use crate::dense::{Dense, Geometry, Spec};
use rushlight_base::{DType, Result, Scalar};
use rushlight_cpu::grid::{Sampling, most_terms, terms};
use rushlight_cpu::{Loop, arithmetic, fill};

/// The terms of all points: places in a plane, of (samples, terms), and weights, of (samples, points, terms of a point).
struct Terms {
    places: Dense,
    weights: Dense,
    /// Points of a sample, and terms of a point.
    points: i64,
    most: i64,
}

impl Terms {
    fn new(grid: &Dense, sizes: &[i64], sampling: Sampling, orders: &[i64]) -> Result<Terms> {
        let (samples, spatial) = (grid.sizes()[0], sizes.len());
        let points: i64 = grid.sizes()[1..=spatial].iter().product();
        let most = most_terms(sampling, spatial) as i64;
        let wide = if grid.dtype == DType::F64 { DType::F64 } else { DType::F32 };
        let places = Spec::new(&[samples, points * most], DType::I64, grid.device).allocate()?;
        let weights = Spec::new(&[samples, points, most], wide, grid.device).allocate()?;
        terms(&array(&places), &array(&weights), &array(grid), sizes, sampling, orders)?;
        Ok(Terms { places, weights, points, most })
    }

    /// The places and the weights of a sample.
    fn of(&self, sample: i64) -> Result<[Dense; 2]> {
        Ok([part(&self.places, sample)?, part(&self.weights, sample)?])
    }
}

/// An index of the first dimension.
fn part(dense: &Dense, index: i64) -> Result<Dense> {
    Ok(dense.with_geometry(views::select(dense, 0, index)?))
}

fn zeros(sizes: &[i64], like: &Dense) -> Result<Dense> {
    let out = Spec::new(sizes, like.dtype, like.device).allocate()?;
    fill::fill(&Loop::new([array(&out)])?, Scalar::Int(0))?;
    Ok(out)
}

/// The same elements under other sizes, of a row-major tensor.
fn seen(dense: &Dense, sizes: &[i64]) -> Dense {
    dense.with_geometry(Geometry { offset: dense.geometry.offset, ..Geometry::contiguous(sizes) })
}

/// out = the images at the points of the grid
pub(super) fn sample(out: &Dense, images: &Dense, grid: &Dense, sampling: Sampling, orders: &[i64]) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    let (channels, sizes) = (images.sizes()[1], &images.sizes()[2..]);
    let (area, terms) = (sizes.iter().product::<i64>(), Terms::new(grid, sizes, sampling, orders)?);
    let images = cast(images, terms.weights.dtype)?;
    // The element after the last one is that of missing terms.
    let padded = zeros(&[channels, area + 1], &terms.weights)?;
    let inner = padded.with_geometry(views::narrow(&padded, 1, 0, area)?);
    let (points, most) = (terms.points, terms.most);
    let taken = Spec::new(&[channels, points * most], terms.weights.dtype, out.device).allocate()?;
    let sums = Spec::new(&[channels, points], terms.weights.dtype, out.device).allocate()?;
    let mut of_image = vec![channels];
    of_image.extend(sizes);
    let mut inner_geometry = Geometry::contiguous(&of_image);
    inner_geometry.strides[0] = area + 1;
    let inner = inner.with_geometry(inner_geometry);
    for index in 0..out.sizes()[0] {
        let [places, weights] = terms.of(index)?;
        copy_into(&inner, &part(&images, index)?)?;
        index_select(&taken, &padded, 1, &places)?;
        let taken = seen(&taken, &[channels, points, most]);
        over(taken.dtype, [&taken, &taken, &weights], arithmetic::mul)?;
        reduce::sum_dim(&sums, &taken, Some(&[2]), false, None)?;
        let target = part(out, index)?;
        copy_into(&target, &seen(&sums, target.sizes()))?;
    }
    Ok(())
}

/// out = grad at the places of the images that the points refer to
pub(super) fn spread(out: &Dense, grad: &Dense, grid: &Dense, sampling: Sampling, orders: &[i64]) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    let (channels, sizes) = (out.sizes()[1], &out.sizes()[2..]);
    let (area, terms) = (sizes.iter().product::<i64>(), Terms::new(grid, sizes, sampling, orders)?);
    let (points, most, wide) = (terms.points, terms.most, terms.weights.dtype);
    let grad = cast(grad, wide)?;
    let values = Spec::new(&[channels, points, most], wide, out.device).allocate()?;
    let row = Spec::new(&[channels, points, 1], wide, out.device).allocate()?;
    for index in 0..out.sizes()[0] {
        let [places, weights] = terms.of(index)?;
        let own = part(&grad, index)?;
        copy_into(&seen(&row, own.sizes()), &own)?;
        over(wide, [&values, &row, &weights], arithmetic::mul)?;
        let sums = zeros(&[channels, area + 1], &values)?;
        index_add(&sums, &sums, 1, &places, &seen(&values, &[channels, points * most]), Scalar::Int(1))?;
        let target = part(out, index)?;
        let mut geometry = Geometry::contiguous(target.sizes());
        geometry.strides[0] = area + 1;
        copy_into(&target, &sums.with_geometry(geometry))?;
    }
    Ok(())
}
