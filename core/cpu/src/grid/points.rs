//! The points of a grid, and the elements of the image that each refers to.

use super::Sampling;
use super::weights::{Axis, along};
use crate::array::Array;
use crate::number::{Analytic, Number};
use crate::volume::Volume;
use rushlight_base::list::filled;
use rushlight_base::{Result, ensure};

/// An element type of images and grids.
pub(super) trait Pixel: Number<Wide: Analytic + Into<f64>> {}
impl<T: Number<Wide: Analytic + Into<f64>>> Pixel for T {}

/// Layout of a grid: (samples, points..., dimensions).
pub(super) struct Places<T> {
    grid: Volume<T>,
    /// Spatial dimensions.
    spatial: usize,
    component: isize,
    sampling: Sampling,
    orders: [usize; 3],
    /// Spatial sizes of the image.
    sizes: [usize; 3],
}

impl<T: Pixel> Places<T> {
    pub fn new(grid: &Array, sizes: [usize; 3], sampling: Sampling, orders: &[i64]) -> Result<Places<T>> {
        let spatial = orders.len();
        let fits = matches!(spatial, 2 | 3) && grid.ndim() == spatial + 2 && grid.size(spatial + 1) == spatial;
        ensure!(fits, Internal, "sampling got a grid of another shape");
        let (sizes_of, strides_of) = (&grid.sizes()[..spatial + 1], &grid.strides()[..spatial + 1]);
        // SAFETY: the array has the grid's sizes without the last dimension: the first coordinate of each point.
        let first = unsafe { Array::new(grid.start(), grid.dtype(), sizes_of, strides_of) };
        let mut all = [0; 3];
        for (dim, &order) in orders.iter().enumerate() {
            all[3 - spatial + dim] = usize::try_from(order).unwrap_or(0);
        }
        let (grid, component) = (Volume::of(&first, spatial)?, grid.stride(spatial + 1));
        Ok(Places { grid, spatial, component, sampling, orders: all, sizes })
    }

    /// The terms of the point at `at` of a sample, along each dimension.
    #[inline(always)]
    pub fn axes(&self, sample: usize, [d, h, w]: [usize; 3]) -> [Axis; 3] {
        let at = self.grid.row([d, h]) + w as isize * self.grid.steps[2];
        let mut axes = [Axis::single(); 3];
        // The first number of the grid is that of the last dimension.
        for (component, axis) in axes.iter_mut().rev().enumerate().take(self.spatial) {
            let at = at + component as isize * self.component;
            // SAFETY: `at` is a point of the grid plus one of its coordinates.
            let value = unsafe { self.grid.plane(sample).offset(at).read() }.wide().into();
            let dim = 2 - component;
            *axis = along::<T>(value, self.sizes[dim], &self.sampling, self.orders[dim]);
        }
        axes
    }

    /// Most terms of a point.
    fn most(&self) -> usize {
        self.sampling.interpolation.taps().pow(self.spatial as u32)
    }
}

/// The position with index `index` in a volume of these sizes.
pub(super) fn unravel(index: usize, sizes: [usize; 3]) -> [usize; 3] {
    [index / (sizes[1] * sizes[2]), index / sizes[2] % sizes[1], index % sizes[2]]
}

/// Points of a table.
pub(super) const POINTS: usize = 64;

/// The terms of some points of a sample, sums of elements times weights: the first terms of all points, then the second
/// ones, and so on.
pub(super) struct Table<W> {
    most: usize,
    /// Offsets of elements in a plane; 0 if the term is missing.
    offsets: Vec<isize>,
    weights: Vec<W>,
    /// Whether there is such a term.
    present: Vec<bool>,
}

/// The terms with one number of all points.
pub(super) struct Terms<'a, W> {
    pub offsets: &'a [isize],
    pub weights: &'a [W],
    pub present: &'a [bool],
}

impl<W: Analytic> Table<W> {
    pub fn new<T: Pixel<Wide = W>>(places: &Places<T>) -> Result<Table<W>> {
        let (most, count) = (places.most(), places.most() * POINTS);
        let (offsets, weights, present) = (filled(count, 0)?, filled(count, W::ZERO)?, filled(count, false)?);
        Ok(Table { most, offsets, weights, present })
    }

    /// Computes the terms of `count` points of a sample, the first one at `first` of a volume of `sizes`; `steps` are
    /// those of the spatial dimensions of the elements.
    #[inline(always)]
    pub fn fill<T: Pixel<Wide = W>>(
        &mut self,
        places: &Places<T>,
        [sample, first, count]: [usize; 3],
        sizes: [usize; 3],
        steps: [isize; 3],
    ) {
        let mut at = unravel(first, sizes);
        for point in 0..count.min(POINTS) {
            let [depth, height, width] = places.axes(sample, at);
            let mut nth = point;
            for &(z, of_z) in depth.taps() {
                for &(y, of_y) in height.taps() {
                    let row = z as isize * steps[0] + y as isize * steps[1];
                    for &(x, of_x) in width.taps() {
                        self.offsets[nth] = row + x as isize * steps[2];
                        self.weights[nth] = W::from_f64(of_z * of_y * of_x);
                        self.present[nth] = true;
                        nth += POINTS;
                    }
                }
            }
            while nth < self.present.len() {
                (self.offsets[nth], self.weights[nth], self.present[nth]) = (0, W::ZERO, false);
                nth += POINTS;
            }
            at = next(at, sizes);
        }
    }

    /// The terms of the `count` first points, one number after the other.
    #[inline(always)]
    pub fn each(&self, count: usize) -> impl Iterator<Item = Terms<'_, W>> {
        let count = count.min(POINTS);
        (0..self.most).map(move |nth| {
            let own = nth * POINTS..nth * POINTS + count;
            let (offsets, weights) = (&self.offsets[own.clone()], &self.weights[own.clone()]);
            Terms { offsets, weights, present: &self.present[own] }
        })
    }

    /// The terms of a point.
    #[inline(always)]
    pub fn of(&self, point: usize) -> impl Iterator<Item = (isize, W)> {
        let all = (point..self.present.len()).step_by(POINTS);
        all.take_while(|&nth| self.present[nth]).map(|nth| (self.offsets[nth], self.weights[nth]))
    }
}

/// The position after `at`.
#[inline(always)]
pub(super) fn next([d, h, w]: [usize; 3], [_, height, width]: [usize; 3]) -> [usize; 3] {
    match (w + 1 < width, h + 1 < height) {
        (true, _) => [d, h, w + 1],
        (false, true) => [d, h + 1, 0],
        (false, false) => [d + 1, 0, 0],
    }
}

/// Calls `visit` with the sample, the first point and the number of points of each table of `range`, whose indices count
/// the points of all samples, `area` each.
#[inline(always)]
pub(super) fn each_table(range: std::ops::Range<usize>, area: usize, mut visit: impl FnMut([usize; 3])) {
    let mut index = range.start;
    while index < range.end {
        let (sample, first) = (index / area, index % area);
        let count = POINTS.min(range.end - index).min(area - first);
        visit([sample, first, count]);
        index += count;
    }
}
