//! The points of a grid on a device.

use super::parameters::{GridTerms, Size};
use super::{Grid, address, launch, small};
use crate::array::Array;
use crate::grid::Sampling;
use rushlight_base::backend::Kernel;
use rushlight_base::{Result, ensure, err};

/// The terms of the points of `grid`, whose last dimension has the coordinates, in an image of these spatial sizes: for each
/// point as many places of elements in a plane, counted in row-major order, and weights. Missing ones lead to the place after
/// the last element, with the weight 0.
pub fn grid_terms(
    places: &Array,
    weights: &Array,
    grid: &Array,
    sizes: &[i64],
    sampling: Sampling,
    orders: &[i64],
) -> Result<()> {
    let (device, spatial) = (grid.device(), sizes.len());
    dispatch!(grid.dtype(), "grid_sampler", half float, _T => Ok(()))?;
    ensure!(
        matches!(spatial, 2 | 3) && grid.ndim() == spatial + 2 && grid.size(spatial + 1) == spatial,
        Internal,
        "sampling got a grid of another shape"
    );
    let count = grid.numel() / spatial;
    if count == 0 {
        return Ok(());
    }
    let number =
        |value: i64| small(value).ok_or_else(|| err!(Runtime, "a grid on device {device} of {value} elements"));
    let mut p = GridTerms {
        at: [address(grid), address(places), address(weights)],
        strides: [0; 5],
        points: [Size::new(1); 3],
        sizes: [1; 3],
        orders: [0; 3],
        spatial: spatial as u32,
        most: number(places.numel() as i64)? / number(count as i64)?,
        codes: sampling.codes(),
        align_corners: u32::from(sampling.align_corners),
        count: number(count as i64)?,
    };
    (p.strides[0], p.strides[4]) = (grid.strides()[0], grid.strides()[spatial + 1]);
    for dim in 0..spatial {
        let to = 3 - spatial + dim;
        p.strides[1 + to] = grid.strides()[1 + dim];
        p.points[to] = Size::new(number(grid.sizes()[1 + dim])?.max(1));
        p.sizes[to] = number(sizes[dim])?;
        p.orders[to] = number(orders[dim])?;
    }
    let kernel = Kernel { file: "images", function: "grid_terms", dtype: grid.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; places and weights are dense, on the device, with
    // `most` elements for each point.
    unsafe { launch(device, kernel, Grid::of(count), &p) }
}
