//! The gradient of the image.

use super::Sampling;
use super::points::{POINTS, Pixel, Places, Table, Tables, offsets_from, unravel};
use crate::array::Array;
use crate::number::Wide;
use crate::pooling::{store, store_adjacent};
use crate::simd::{Kernel, Simd, run_narrow};
use crate::volume::{Volume, try_each_planes};
use rushlight_base::Result;
use rushlight_base::list::filled;
use rushlight_base::runtime::num_threads;
use std::ops::Range;

/// Most planes that are computed together.
const CHANNELS: usize = 64;

/// out, like an image = the transpose of [`sample`](super::sample), applied to `grad`.
pub fn spread(out: &Array, grad: &Array, grid: &Array, sampling: Sampling, orders: &[i64]) -> Result<()> {
    dispatch!(out.dtype(), "grid_sampler_backward", half float, T => returned::<T>(out, grad, grid, sampling, orders))
}

fn returned<T: Pixel>(out: &Array, grad: &Array, grid: &Array, sampling: Sampling, orders: &[i64]) -> Result<()> {
    let spatial = orders.len();
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(grad, spatial)?);
    let places = Places::<T>::new(grid, to.sizes, sampling, orders)?;
    let [samples, channels] = to.lead();
    // Planes of a sample use the same points: few parts, but enough for all threads.
    let parts = num_threads().div_ceil(samples.max(1)).max(channels.div_ceil(CHANNELS));
    let together = channels.div_ceil(parts.max(1)).max(1);
    let parts = channels.div_ceil(together);
    try_each_planes(samples * parts, from.area() * 16 * together, &|mut units| {
        units.try_for_each(|unit| {
            let (sample, first) = (unit / parts, unit % parts * together);
            let start = sample * channels + first;
            returned_to(&to, &from, &places, sample, start..start + together.min(channels - first))
        })
    })
}

/// The gradients of some planes of a sample.
fn returned_to<T: Pixel>(
    to: &Volume<T>,
    from: &Volume<T>,
    places: &Places<T>,
    sample: usize,
    planes: Range<usize>,
) -> Result<()> {
    let (area, table) = (to.area(), Table::new(places)?);
    let mut sums = filled(planes.len() * area, T::Wide::ZERO)?;
    let spread = Spread { from, places, sizes: to.sizes, sample, planes: planes.clone(), sums: &mut sums, table };
    if [from.channel_step(), to.channel_step()] == [1; 2] && planes.len() > 1 {
        run_narrow(Adjacent(spread));
        store_adjacent(to, planes, &sums);
        return Ok(());
    }
    run_narrow(spread);
    for (plane, sums) in planes.zip(sums.chunks_exact(area.max(1))) {
        store(to, plane, sums);
    }
    Ok(())
}

struct Spread<'a, T: Pixel> {
    from: &'a Volume<T>,
    places: &'a Places<T>,
    /// Spatial sizes of the image.
    sizes: [usize; 3],
    sample: usize,
    planes: Range<usize>,
    /// The sums of each plane; for [`Adjacent`] those of each position.
    sums: &'a mut [T::Wide],
    table: Table<T::Wide>,
}

impl<T: Pixel> Kernel for Spread<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Spread { from, places, sizes, sample, planes, sums, mut table } = self;
        let area: usize = sizes.iter().product();
        let steps = [sizes[1] * sizes[2], sizes[2], 1].map(|step| step as isize);
        let mut sources = [0; POINTS];
        for [_, first, count] in (Tables { range: 0..from.area(), area: from.area() }) {
            table.fill(places, [sample, first, count], from.sizes, steps);
            offsets_from(&mut sources[..count], unravel(first, from.sizes), from);
            for (plane, sums) in planes.clone().zip(sums.chunks_exact_mut(area)) {
                let grads = from.plane(plane);
                for (point, &source) in sources[..count].iter().enumerate() {
                    // SAFETY: `source` is an element of the gradient's plane.
                    let value = unsafe { grads.offset(source).read() }.wide();
                    for (offset, weight) in table.of(point) {
                        let sum = &mut sums[offset as usize];
                        *sum = sum.add(weight.mul(value));
                    }
                }
            }
        }
    }
}

/// Planes whose elements are adjacent at each position: those of channels last.
struct Adjacent<'a, T: Pixel>(Spread<'a, T>);

impl<T: Pixel> Kernel for Adjacent<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Spread { from, places, sizes, sample, planes, sums, mut table } = self.0;
        let steps = [sizes[1] * sizes[2], sizes[2], 1].map(|step| step as isize);
        let (together, grads) = (planes.len(), from.plane(planes.start));
        let mut sources = [0; POINTS];
        for [_, first, count] in (Tables { range: 0..from.area(), area: from.area() }) {
            table.fill(places, [sample, first, count], from.sizes, steps);
            offsets_from(&mut sources[..count], unravel(first, from.sizes), from);
            for (point, &source) in sources[..count].iter().enumerate() {
                // SAFETY: `source` is an element of the gradient's first plane, and those of the others follow it.
                let grads = unsafe { std::slice::from_raw_parts(grads.offset(source), together) };
                for (offset, weight) in table.of(point) {
                    let sums = &mut sums[offset as usize * together..][..together];
                    for (sum, grad) in sums.iter_mut().zip(grads) {
                        *sum = sum.add(weight.mul(grad.wide()));
                    }
                }
            }
        }
    }
}
