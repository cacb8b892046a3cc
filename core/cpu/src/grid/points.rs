//! The points of a grid, and the elements of the image that each refers to.

use super::Sampling;
use super::weights::{Axis, Coordinate, along};
use crate::array::Array;
use crate::number::{Number, Wide};
use crate::simd::{Kernel, Simd, run_narrow};
use crate::volume::Volume;
use rushlight_base::list::filled;
use rushlight_base::{Result, ensure};

/// An element type of images and grids.
pub(super) trait Pixel: Number<Wide: Coordinate> {}
impl<T: Number<Wide: Coordinate>> Pixel for T {}

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
        let short = sizes.iter().all(|&size| i32::try_from(size).is_ok());
        ensure!(short, Value, "grid_sampler(): images of sizes {sizes:?} have a dimension of 2^31 elements or more");
        let mut all = [0; 3];
        for (dim, &order) in orders.iter().enumerate() {
            all[3 - spatial + dim] = usize::try_from(order).unwrap_or(0);
        }
        let (grid, component) = (Volume::of(&first, spatial)?, grid.stride(spatial + 1));
        Ok(Places { grid, spatial, component, sampling, orders: all, sizes })
    }

    /// axes = the terms of `count` points of a sample along each dimension, the first point at `at`; at most `N`.
    #[inline(always)]
    pub fn fill<const N: usize>(&self, axes: &mut Axes<T::Wide, N>, sample: usize, at: [usize; 3], count: usize) {
        let mut values = [[T::Wide::ZERO; N]; 3];
        let (points, mut offsets) = (self.grid.plane(sample), [0; N]);
        let offsets = &mut offsets[..count.min(N)];
        offsets_from(offsets, at, &self.grid);
        // The first number of the grid is that of the last dimension.
        for (component, values) in values.iter_mut().rev().enumerate().take(self.spatial) {
            let points = points.wrapping_offset(component as isize * self.component);
            for (value, &offset) in values.iter_mut().zip(offsets.iter()) {
                // SAFETY: the offset is that of a point of the grid, whose coordinate is at `points`.
                *value = unsafe { points.offset(offset).read() }.wide();
            }
        }
        for dim in 3 - self.spatial..3 {
            along::<T, N>(&mut axes[dim], &values[dim], self.sizes[dim], &self.sampling, self.orders[dim]);
        }
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

/// The terms of points along each dimension.
pub(super) type Axes<W, const N: usize> = [Axis<W, N>; 3];

/// Axes of which all dimensions are missing.
pub(super) fn no_axes<W: Coordinate, const N: usize>() -> Axes<W, N> {
    [Axis::single(); 3]
}

/// offsets = those of the elements of a plane from `at` on.
#[inline(always)]
pub(super) fn offsets_from<T>(offsets: &mut [isize], mut at: [usize; 3], volume: &Volume<T>) {
    let first = volume.row([at[0], at[1]]) + at[2] as isize * volume.steps[2];
    if let Some(step) = volume.even_step() {
        for (nth, offset) in offsets.iter_mut().enumerate() {
            *offset = first + nth as isize * step;
        }
        return;
    }
    for offset in offsets {
        *offset = volume.row([at[0], at[1]]) + at[2] as isize * volume.steps[2];
        at = next(at, volume.sizes);
    }
}

/// Points of a table.
pub(super) const POINTS: usize = 64;

/// The terms of some points of a sample, sums of elements times weights: the first terms of all points, then the second
/// ones, and so on.
pub(super) struct Table<W> {
    /// Terms of each point.
    count: usize,
    axes: Axes<W, POINTS>,
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

impl<W: Coordinate> Table<W> {
    pub fn new<T: Pixel<Wide = W>>(places: &Places<T>) -> Result<Table<W>> {
        let most = places.most() * POINTS;
        let (offsets, weights, present) = (filled(most, 0)?, filled(most, W::ZERO)?, filled(most, false)?);
        Ok(Table { count: 0, axes: no_axes(), offsets, weights, present })
    }

    /// Computes the terms of `count` points of a sample, the first one at `first` of a volume of `sizes`; `steps` are
    /// those of the spatial dimensions of the elements.
    pub fn fill<T: Pixel<Wide = W>>(
        &mut self,
        places: &Places<T>,
        [sample, first, count]: [usize; 3],
        sizes: [usize; 3],
        steps: [isize; 3],
    ) {
        run_narrow(Fill { table: self, places, sample, first: unravel(first, sizes), count, steps });
    }

    /// The terms of the first `points`, one number after the other.
    #[inline(always)]
    pub fn each(&self, points: usize) -> impl Iterator<Item = Terms<'_, W>> {
        let points = points.min(POINTS);
        (0..self.count).map(move |nth| {
            let own = nth * POINTS..nth * POINTS + points;
            let (offsets, weights) = (&self.offsets[own.clone()], &self.weights[own.clone()]);
            Terms { offsets, weights, present: &self.present[own] }
        })
    }

    /// The terms of a point.
    #[inline(always)]
    pub fn of(&self, point: usize) -> impl Iterator<Item = (isize, W)> {
        let all = (point..self.count * POINTS).step_by(POINTS);
        all.filter(|&nth| self.present[nth]).map(|nth| (self.offsets[nth], self.weights[nth]))
    }
}

/// Computes the terms of a table. Sampling and its gradient share this kernel, so that it is compiled once for each
/// instruction set.
struct Fill<'a, T: Pixel> {
    table: &'a mut Table<T::Wide>,
    places: &'a Places<T>,
    sample: usize,
    /// The first of `count` points.
    first: [usize; 3],
    count: usize,
    steps: [isize; 3],
}

impl<T: Pixel> Kernel for Fill<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Fill { table, places, sample, first, count, steps } = self;
        places.fill(&mut table.axes, sample, first, count);
        let Table { count: terms, axes: [depth, height, width], offsets, weights, present } = table;
        let mut lines = Lines { offsets, weights, present };
        *terms = 0;
        for z in 0..depth.taps() {
            for y in 0..height.taps() {
                for x in 0..width.taps() {
                    let axes = [(&*depth, z), (&*height, y), (&*width, x)];
                    lines.set(*terms, axes.map(|(axis, tap)| (&axis.at[tap], &axis.weights[tap])), steps);
                    *terms += 1;
                }
            }
        }
    }
}

/// The terms of a table, one number of all points after the other.
struct Lines<'a, W> {
    offsets: &'a mut [isize],
    weights: &'a mut [W],
    present: &'a mut [bool],
}

impl<W: Coordinate> Lines<'_, W> {
    /// The terms with the number `nth` of all points, from their elements and weights along each dimension.
    #[inline(always)]
    fn set(&mut self, nth: usize, [z, y, x]: [(&[i32; POINTS], &[W; POINTS]); 3], steps: [isize; 3]) {
        let own = nth * POINTS..(nth + 1) * POINTS;
        let (offsets, present) = (&mut self.offsets[own.clone()], &mut self.present[own.clone()]);
        for i in 0..POINTS {
            // An element beyond the image has the index -1 and the weight 0.
            let inside = z.0[i] | y.0[i] | x.0[i] >= 0;
            let offset = z.0[i] as isize * steps[0] + y.0[i] as isize * steps[1] + x.0[i] as isize * steps[2];
            offsets[i] = if inside { offset } else { 0 };
            present[i] = inside;
        }
        for (i, weight) in self.weights[own].iter_mut().enumerate() {
            *weight = z.1[i] * y.1[i] * x.1[i];
        }
    }
}

/// The position after `at`.
#[inline(always)]
fn next([d, h, w]: [usize; 3], [_, height, width]: [usize; 3]) -> [usize; 3] {
    match (w + 1 < width, h + 1 < height) {
        (true, _) => [d, h, w + 1],
        (false, true) => [d, h + 1, 0],
        (false, false) => [d + 1, 0, 0],
    }
}

/// The sample, the first point and the number of points of each table of `range`, whose indices count the points of all
/// samples, `area` each. An iterator, since closures do not inherit the target features of a kernel.
pub(super) struct Tables {
    pub range: std::ops::Range<usize>,
    pub area: usize,
}

impl Iterator for Tables {
    type Item = [usize; 3];

    #[inline(always)]
    fn next(&mut self) -> Option<[usize; 3]> {
        let Tables { range, area } = self;
        if range.start >= range.end {
            return None;
        }
        let (sample, first) = (range.start / *area, range.start % *area);
        let count = POINTS.min(range.len()).min(*area - first);
        range.start += count;
        Some([sample, first, count])
    }
}
