//! The image at the points of a grid.

use super::points::{POINTS, Pixel, Places, Table, Tables, no_axes, offsets_from, unravel};
use super::weights::Axis;
use super::{Interpolation, Sampling};
use crate::array::Array;
use crate::number::{Analytic, Number, Wide};
use crate::simd::{Kernel, Simd, run_narrow};
use crate::stepwise::Stepwise;
use crate::volume::Volume;
use rushlight_base::Result;
use rushlight_base::runtime::{parallel_chunks, try_parallel_chunks};
use std::ops::Range;

/// Elements that are worth a second thread.
const GRAIN: usize = 1 << 12;
/// Most adjacent channels that are computed together.
const CHANNELS: usize = 64;

/// out (samples, channels, points) = the image (samples, channels, spatial dimensions) at the points of the grid.
/// `orders` has the order of the derivative with respect to the grid for each spatial dimension.
pub fn sample(out: &Array, image: &Array, grid: &Array, sampling: Sampling, orders: &[i64]) -> Result<()> {
    if out.dtype().is_half() && orders.iter().all(|&order| order == 0) {
        return dispatch!(out.dtype(), "grid_sampler", half, T => read_by_steps::<T>(out, image, grid, sampling, orders));
    }
    dispatch!(out.dtype(), "grid_sampler", half float, T => read::<T>(out, image, grid, sampling, orders))
}

/// Like `read`, for half precision: every product and sum is rounded. A cubic sum is one along the rows, and then of
/// these.
fn read_by_steps<T>(out: &Array, image: &Array, grid: &Array, sampling: Sampling, orders: &[i64]) -> Result<()>
where
    T: Pixel<Wide = f32>,
    Stepwise<T>: Number<Wide: Analytic>,
{
    let spatial = orders.len();
    let (to, from) = (Volume::<Stepwise<T>>::of(out, spatial)?, Volume::<Stepwise<T>>::of(image, spatial)?);
    let places = Places::<T>::new(grid, from.sizes, sampling, orders)?;
    let (channels, area) = (out.size(1), to.area());
    let cubic = sampling.interpolation == Interpolation::Cubic;
    parallel_chunks(out.size(0) * area, (1 << 12) / (1 + channels), &|chunk: Range<usize>| {
        for index in chunk {
            let (sample, at) = (index / area, unravel(index % area, to.sizes));
            let mut axes = no_axes();
            places.fill(&mut axes, sample, at, 1);
            let number = |weight: f32| <Stepwise<T> as Number>::Wide::from_f64(weight.into());
            let terms = |axis: &Axis<f32, 1>| {
                let all = (0..axis.taps()).map(|tap| (axis.at[tap][0], axis.weights[tap][0]));
                all.filter_map(|(at, weight)| Some((usize::try_from(at).ok()?, number(weight)))).collect::<Vec<_>>()
            };
            let [depth, height, width] = [terms(&axes[0]), terms(&axes[1]), terms(&axes[2])];
            let target = to.row([at[0], at[1]]) + at[2] as isize * to.steps[2];
            for channel in sample * channels..(sample + 1) * channels {
                let source = from.plane(channel);
                // SAFETY: taps were checked to be inside the image.
                let value = |z: usize, y: usize, x: usize| unsafe {
                    source.offset(from.row([z, y]) + x as isize * from.steps[2]).read().wide()
                };
                let mut sum = number(0.0);
                for &(z, of_z) in &depth {
                    for &(y, of_y) in &height {
                        let mut row = number(0.0);
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
                unsafe { to.plane(channel).offset(target).write(Stepwise::<T>::narrow(sum)) };
            }
        }
    })
}

fn read<T: Pixel>(out: &Array, image: &Array, grid: &Array, sampling: Sampling, orders: &[i64]) -> Result<()> {
    let spatial = orders.len();
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(image, spatial)?);
    let places = Places::<T>::new(grid, from.sizes, sampling, orders)?;
    let channels = out.size(1);
    try_parallel_chunks(out.size(0) * to.area(), GRAIN / (1 + channels), &|points| {
        run_narrow(Read { to, from, places: &places, channels, points, table: Table::new(&places)? });
        Ok(())
    })
}

/// Some points, in all channels.
struct Read<'a, T: Pixel> {
    to: Volume<T>,
    from: Volume<T>,
    places: &'a Places<T>,
    channels: usize,
    points: Range<usize>,
    table: Table<T::Wide>,
}

impl<T: Pixel> Kernel for Read<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Read { to, from, places, channels, points, mut table } = self;
        let adjacent = from.channel_step() == 1 && channels > 1;
        let mut targets = [0; POINTS];
        for [sample, first, count] in (Tables { range: points, area: to.area() }) {
            table.fill(places, [sample, first, count], to.sizes, from.steps);
            offsets_from(&mut targets[..count], unravel(first, to.sizes), &to);
            let (plane, targets) = (sample * channels, &targets[..count]);
            if adjacent {
                read_pixels(&to, &from, &table, plane..plane + channels, targets);
            } else {
                for plane in plane..plane + channels {
                    read_plane(&to, &from, &table, plane, targets);
                }
            }
        }
    }
}

/// The points of a table in one plane.
#[inline(always)]
fn read_plane<T: Pixel>(to: &Volume<T>, from: &Volume<T>, table: &Table<T::Wide>, plane: usize, targets: &[isize]) {
    let mut sums = [T::Wide::ZERO; POINTS];
    let (sums, source, out) = (&mut sums[..targets.len()], from.plane(plane), to.plane(plane));
    for terms in table.each(targets.len()) {
        let terms = terms.offsets.iter().zip(terms.weights).zip(terms.present);
        for (sum, ((&offset, &weight), &present)) in sums.iter_mut().zip(terms) {
            // SAFETY: the terms were checked to be inside the image, and the offset of a missing one is 0.
            let value = unsafe { source.offset(offset).read() }.wide();
            *sum = sum.add(weight.mul(if present { value } else { T::Wide::ZERO }));
        }
    }
    if to.even_step() == Some(1) {
        for (nth, &sum) in sums.iter().enumerate() {
            // SAFETY: the targets are adjacent; they are inside the output plane and belong to this share alone.
            unsafe { out.offset(targets[0]).add(nth).write(T::narrow(sum)) };
        }
        return;
    }
    for (&sum, &target) in sums.iter().zip(targets) {
        // SAFETY: the target is inside the output plane, and the point belongs to this share alone.
        unsafe { out.offset(target).write(T::narrow(sum)) };
    }
}

/// The points of a table in `planes`, whose elements are adjacent in the image.
#[inline(always)]
fn read_pixels<T: Pixel>(
    to: &Volume<T>,
    from: &Volume<T>,
    table: &Table<T::Wide>,
    planes: Range<usize>,
    targets: &[isize],
) {
    let mut sums = [T::Wide::ZERO; CHANNELS];
    for start in planes.clone().step_by(CHANNELS) {
        let lanes = CHANNELS.min(planes.end - start);
        let (sums, source, out) = (&mut sums[..lanes], from.plane(start), to.plane(start));
        for (point, &target) in targets.iter().enumerate() {
            sums.fill(T::Wide::ZERO);
            for (offset, weight) in table.of(point) {
                for (lane, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: the terms were checked to be inside the image, whose channels are adjacent.
                    let value = unsafe { source.offset(offset).add(lane).read() }.wide();
                    *sum = sum.add(weight.mul(value));
                }
            }
            let target = out.wrapping_offset(target);
            for (lane, &sum) in sums.iter().enumerate() {
                // SAFETY: the target is inside the output, and the point belongs to this share alone.
                unsafe { target.offset(lane as isize * to.channel_step()).write(T::narrow(sum)) };
            }
        }
    }
}
