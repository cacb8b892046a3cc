//! Grid sampling: images are read at positions given by a grid, between elements and beyond the borders.
//!
//! Along each dimension a position is a weighted sum of a few elements, with weights that are functions of the grid.
//! [`sample`] sums them, [`spread`] propagates gradients back to them; both take the order of the derivative of the
//! weights along each dimension, so that the gradient with respect to the grid, and every higher one, is also a sample.

mod weights;

use crate::array::Array;
use crate::number::{Analytic, Number, Wide};
use crate::pooling::store;
use crate::volume::{Volume, each_planes};
use rushlight_base::list::filled;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Error, Result, Scalar, bail, ensure};
use std::ops::Range;
use std::sync::OnceLock;
use weights::{Axis, Rounding, along};

/// Interpolation between elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The two elements around it along each dimension.
    Linear,
    /// The nearest one.
    Nearest,
    /// The four around it.
    Cubic,
}

/// Padding mode: values beyond the borders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Zeros.
    Zeros,
    /// The last element.
    Border,
    /// The image mirrored.
    Reflection,
}

/// Sampling options.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Between elements.
    pub interpolation: Interpolation,
    /// Beyond the borders.
    pub beyond: Beyond,
    /// Whether -1 and 1 refer to the centres of the first and the last element, rather than their outer edges.
    pub align_corners: bool,
}

impl Sampling {
    /// The sampling with PyTorch's numbers.
    pub fn from_codes(interpolation: i64, beyond: i64, align_corners: bool) -> Result<Sampling> {
        let interpolation = match interpolation {
            0 => Interpolation::Linear,
            1 => Interpolation::Nearest,
            2 => Interpolation::Cubic,
            _ => bail!(Value, "grid_sampler(): {interpolation} is not an interpolation mode (0, 1 or 2)"),
        };
        let beyond = match beyond {
            0 => Beyond::Zeros,
            1 => Beyond::Border,
            2 => Beyond::Reflection,
            _ => bail!(Value, "grid_sampler(): {beyond} is not a padding mode (0, 1 or 2)"),
        };
        Ok(Sampling { interpolation, beyond, align_corners })
    }
}

/// Layout of a grid: (samples, points..., dimensions).
struct Places<T> {
    grid: Volume<T>,
    /// Spatial dimensions.
    spatial: usize,
    component: isize,
    sampling: Sampling,
    orders: [usize; 3],
    /// Spatial sizes of the image, and its steps.
    sizes: [usize; 3],
    rounding: Rounding,
}

/// A term of an interpolated value: the position of the element in a plane, and its weight.
type Terms = Vec<([usize; 3], f64)>;

impl<T: Number> Places<T> {
    fn new(grid: &Array, sizes: [usize; 3], sampling: Sampling, orders: &[i64]) -> Result<Places<T>> {
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
        Ok(Places {
            grid: Volume::of(&first, spatial)?,
            spatial,
            component: grid.stride(spatial + 1),
            sampling,
            orders: all,
            sizes,
            rounding: Rounding(grid.dtype()),
        })
    }

    /// The terms of the point at `at` of a sample, along each dimension.
    fn axes(&self, sample: usize, [d, h, w]: [usize; 3]) -> [Axis; 3]
    where
        T::Wide: Into<f64>,
    {
        let at = self.grid.row([d, h]) + w as isize * self.grid.steps[2];
        std::array::from_fn(|dim| {
            // The first number of the grid is that of the last dimension.
            let Some(component) = (dim + self.spatial).checked_sub(3).map(|own| self.spatial - 1 - own) else {
                return Axis::single();
            };
            let at = at + component as isize * self.component;
            // SAFETY: `offset` is a point of the grid plus one of its coordinates.
            let value = unsafe { self.grid.plane(sample).offset(at).read() }.wide().into();
            along(value, self.sizes[dim], &self.sampling, self.orders[dim], self.rounding)
        })
    }

    /// The terms of the point at `at` of a sample.
    fn terms(&self, sample: usize, at: [usize; 3], terms: &mut Terms)
    where
        T::Wide: Into<f64>,
    {
        terms.clear();
        let axes = self.axes(sample, at);
        for &(z, depth) in axes[0].taps() {
            for &(y, height) in axes[1].taps() {
                for &(x, width) in axes[2].taps() {
                    terms.push(([z, y, x], depth * height * width));
                }
            }
        }
    }
}

/// The position with index `index` in a volume of these sizes.
fn unravel(index: usize, sizes: [usize; 3]) -> [usize; 3] {
    [index / (sizes[1] * sizes[2]), index / sizes[2] % sizes[1], index % sizes[2]]
}

/// out (samples, channels, points) = the image (samples, channels, spatial dimensions) at the points of the grid.
/// `orders` has the order of the derivative with respect to the grid for each spatial dimension.
pub fn sample(out: &Array, image: &Array, grid: &Array, sampling: Sampling, orders: &[i64]) -> Result<()> {
    if out.dtype().is_half() && orders.iter().all(|&order| order == 0) {
        return stepwise!(out.dtype(), "grid_sampler", T => read_by_steps::<T>(out, image, grid, sampling, orders));
    }
    dispatch!(out.dtype(), "grid_sampler", half float, T => read::<T>(out, image, grid, sampling, orders))
}

/// Like `read`, for half precision: every product and sum is rounded. A cubic sum is one along the rows, and then of
/// these.
fn read_by_steps<T: Number<Wide: Into<f64> + Analytic>>(
    out: &Array,
    image: &Array,
    grid: &Array,
    sampling: Sampling,
    orders: &[i64],
) -> Result<()> {
    let spatial = orders.len();
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(image, spatial)?);
    let places = Places::<T>::new(grid, from.sizes, sampling, orders)?;
    let (channels, area) = (out.size(1), to.area());
    let cubic = sampling.interpolation == Interpolation::Cubic;
    parallel_chunks(out.size(0) * area, (1 << 12) / (1 + channels), &|chunk: Range<usize>| {
        for index in chunk {
            let (sample, at) = (index / area, unravel(index % area, to.sizes));
            let [depth, height, width] = places.axes(sample, at).map(|axis| {
                axis.taps().iter().map(|&(at, weight)| (at, T::Wide::from_f64(weight))).collect::<Vec<_>>()
            });
            let target = to.row([at[0], at[1]]) + at[2] as isize * to.steps[2];
            for channel in sample * channels..(sample + 1) * channels {
                let source = from.plane(channel);
                // SAFETY: taps were checked to be inside the image.
                let value = |z: usize, y: usize, x: usize| unsafe {
                    source.offset(from.row([z, y]) + x as isize * from.steps[2]).read().wide()
                };
                let mut sum = T::Wide::ZERO;
                for &(z, of_z) in &depth {
                    for &(y, of_y) in &height {
                        let mut row = T::Wide::ZERO;
                        for &(x, of_x) in &width {
                            if cubic {
                                row = row.add(of_x.mul(value(z, y, x)));
                            } else {
                                sum = sum.add(of_x.mul(of_y).mul(of_z).mul(value(z, y, x)));
                            }
                        }
                        if cubic {
                            sum = sum.add(of_y.mul(row));
                        }
                    }
                }
                // SAFETY: the target is inside the output plane, which belongs to this share alone.
                unsafe { to.plane(channel).offset(target).write(T::narrow(sum)) };
            }
        }
    })
}

fn read<T: Number<Wide: Into<f64>>>(
    out: &Array,
    image: &Array,
    grid: &Array,
    sampling: Sampling,
    orders: &[i64],
) -> Result<()> {
    let spatial = orders.len();
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(image, spatial)?);
    let places = Places::<T>::new(grid, from.sizes, sampling, orders)?;
    let (channels, area) = (out.size(1), to.area());
    parallel_chunks(out.size(0) * area, (1 << 12) / (1 + channels), &|chunk: Range<usize>| {
        let mut terms = Terms::new();
        for index in chunk {
            let (sample, at) = (index / area, unravel(index % area, to.sizes));
            places.terms(sample, at, &mut terms);
            let target = to.row([at[0], at[1]]) + at[2] as isize * to.steps[2];
            for channel in sample * channels..(sample + 1) * channels {
                let source = from.plane(channel);
                let mut sum = T::Wide::ZERO;
                for &([z, y, x], weight) in &terms {
                    // SAFETY: the terms were checked to be inside the image.
                    let value = unsafe { source.offset(from.row([z, y]) + x as isize * from.steps[2]).read() };
                    sum = sum.add(T::Wide::from_scalar(Scalar::Float(weight)).mul(value.wide()));
                }
                // SAFETY: the target is inside the output plane, which belongs to this share alone.
                unsafe { to.plane(channel).offset(target).write(T::narrow(sum)) };
            }
        }
    })
}

/// out, like an image = the transpose of [`sample`], applied to `grad`.
pub fn spread(out: &Array, grad: &Array, grid: &Array, sampling: Sampling, orders: &[i64]) -> Result<()> {
    dispatch!(out.dtype(), "grid_sampler_backward", half float, T => returned::<T>(out, grad, grid, sampling, orders))
}

fn returned<T: Number<Wide: Into<f64>>>(
    out: &Array,
    grad: &Array,
    grid: &Array,
    sampling: Sampling,
    orders: &[i64],
) -> Result<()> {
    let spatial = orders.len();
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(grad, spatial)?);
    let places = Places::<T>::new(grid, to.sizes, sampling, orders)?;
    let (channels, area) = (out.size(1).max(1), to.area());
    let failed: OnceLock<Error> = OnceLock::new();
    each_planes(to.planes(), from.area() * 16, &|planes| {
        let mut terms = Terms::new();
        let mut start = planes.start;
        while start < planes.end {
            // All planes of a sample use the same points.
            let sample = start / channels;
            let own = start..planes.end.min((sample + 1) * channels);
            let mut sums = match filled(own.len() * area, T::Wide::ZERO) {
                Ok(sums) => sums,
                Err(error) => {
                    // The first error is reported.
                    let _ = failed.set(error);
                    return;
                }
            };
            for index in 0..from.area() {
                let at = unravel(index, from.sizes);
                places.terms(sample, at, &mut terms);
                let source = from.row([at[0], at[1]]) + at[2] as isize * from.steps[2];
                for (plane, sums) in own.clone().zip(sums.chunks_exact_mut(area)) {
                    // SAFETY: `source` is an element of the gradient's plane.
                    let value = unsafe { from.plane(plane).offset(source).read() }.wide();
                    for &([z, y, x], weight) in &terms {
                        let sum = &mut sums[(z * to.sizes[1] + y) * to.sizes[2] + x];
                        *sum = sum.add(T::Wide::from_scalar(Scalar::Float(weight)).mul(value));
                    }
                }
            }
            for (plane, sums) in own.clone().zip(sums.chunks_exact(area)) {
                store(&to, plane, sums);
            }
            start = own.end;
        }
    })?;
    failed.into_inner().map_or(Ok(()), Err)
}
