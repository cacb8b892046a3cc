//! Pooling: the maximum or the mean of each window, and the gradients.
//!
//! Windows are a table for each spatial dimension, so that plain, adaptive and fractional pooling are the same loops.
//! `groups.rs` finds outputs that are computed together in vectors, `largest.rs` and `mean.rs` compute them.

mod fractional;
mod groups;
mod largest;
mod mean;
mod sums;
#[cfg(test)]
mod tests;

use crate::array::Array;
use crate::device::{self, Table};
use crate::number::Number;
use crate::volume::Volume;
pub use largest::{max, max_backward};
pub use mean::{mean, mean_backward, mean_of_volumes};
use rushlight_base::list::with_capacity;
use rushlight_base::{Result, ensure};
use std::ops::Range;

/// The window of one output position along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first position of the input.
    pub start: usize,
    /// The end of its range (exclusive).
    pub end: usize,
    /// Step between its elements.
    pub step: usize,
    /// Positions that a mean counts: with padding, if that is counted.
    pub counted: usize,
}

/// The windows along each of three dimensions: the same in every plane, or those of each.
#[derive(Debug)]
pub enum Windows {
    /// The same for all.
    Same([Vec<Window>; 3]),
    /// One table for each plane.
    PerPlane(Vec<[Vec<Window>; 3]>),
}

impl Windows {
    /// The windows as tables for a device; none if they differ from plane to plane.
    fn tables(&self) -> Result<Option<[Table; 3]>> {
        let Windows::Same([depth, height, width]) = self else { return Ok(None) };
        Ok(Some([Table::of_windows(depth)?, Table::of_windows(height)?, Table::of_windows(width)?]))
    }

    fn of(&self, plane: usize) -> &[Vec<Window>; 3] {
        match self {
            Windows::Same(windows) => windows,
            Windows::PerPlane(all) => &all[plane],
        }
    }

    /// Approximate number of elements that are read for a plane.
    fn work(&self) -> usize {
        let planes = match self {
            Windows::Same(windows) => Some(windows),
            Windows::PerPlane(all) => all.first(),
        };
        let along = |windows: &Vec<Window>| windows.iter().map(|window| window.end - window.start).sum::<usize>();
        planes.map_or(0, |windows| windows.iter().map(along).fold(1, usize::saturating_mul))
    }
}

/// Windows of a missing dimension: one element.
pub fn no_dimension() -> Vec<Window> {
    vec![Window { start: 0, end: 1, step: 1, counted: 1 }]
}

fn table(length: usize, window: impl Fn(usize) -> Window) -> Result<Vec<Window>> {
    let mut windows = with_capacity(length)?;
    windows.extend((0..length).map(window));
    Ok(windows)
}

/// Windows of `kernel` elements every `stride`, `dilation` apart, over an input with padding.
pub fn sliding(
    length: usize,
    input: usize,
    [kernel, stride, padding, dilation]: [usize; 4],
    count_padding: bool,
) -> Result<Vec<Window>> {
    let (reach, padding) = ((kernel - 1) * dilation + 1, padding as isize);
    let window = |at: usize| {
        let first = (at * stride) as isize - padding;
        // Padding ends where the input's does: elements beyond are not counted.
        let padded_end = (first + reach as isize).min(input as isize + padding);
        let skipped = (-first).max(0) as usize;
        let start = (first + skipped.next_multiple_of(dilation) as isize).max(0) as usize;
        let end = padded_end.min(input as isize).max(start as isize) as usize;
        let counted = if count_padding { (padded_end - first).max(0) as usize } else { end - start };
        Window { start, end, step: dilation, counted }
    };
    table(length, window)
}

/// Windows that share the input evenly.
pub fn adaptive(length: usize, input: usize) -> Result<Vec<Window>> {
    let window = |at: usize| {
        let (start, end) = (at * input / length, ((at + 1) * input).div_ceil(length));
        Window { start, end, step: 1, counted: end - start }
    };
    table(length, window)
}

/// Windows of `kernel` elements at positions chosen by `sample`, between 0 and 1.
fn chosen(length: usize, input: usize, kernel: usize, sample: f64, single: bool) -> Result<Vec<Window>> {
    let window = |index: usize| {
        let start = fractional::start(index, length, [input, kernel], sample, single);
        Window { start, end: start + kernel, step: 1, counted: kernel }
    };
    table(length, window)
}

fn place(steps: [isize; 3], [d, h, w]: [usize; 3]) -> isize {
    d as isize * steps[0] + h as isize * steps[1] + w as isize * steps[2]
}

/// Writes a plane of sums.
pub(crate) fn store<T: Number>(to: &Volume<T>, plane: usize, sums: &[T::Wide]) {
    let target = to.plane(plane);
    let rows = (0..to.sizes[0]).flat_map(|d| (0..to.sizes[1]).map(move |h| [d, h]));
    for (row, sums) in rows.zip(sums.chunks_exact(to.sizes[2].max(1))) {
        let at = to.row(row);
        for (w, &sum) in sums.iter().enumerate() {
            // SAFETY: the position is inside the output, in a plane that belongs to the caller.
            unsafe { target.offset(at + w as isize * to.steps[2]).write(T::narrow(sum)) };
        }
    }
}

/// Writes the sums of planes whose elements are adjacent at each position, as the sums are.
pub(crate) fn store_adjacent<T: Number>(to: &Volume<T>, planes: Range<usize>, sums: &[T::Wide]) {
    let (target, [depth, height, width]) = (to.plane(planes.start), to.sizes);
    for (position, sums) in sums.chunks_exact(planes.len().max(1)).enumerate() {
        let at = [position / width / height % depth, position / width % height, position % width];
        for (plane, &sum) in sums.iter().enumerate() {
            // SAFETY: the position is inside these planes of the output, which are adjacent and belong to the caller.
            unsafe { target.offset(place(to.steps, at)).add(plane).write(T::narrow(sum)) };
        }
    }
}

/// An element of an array of three dimensions.
fn number_at(array: &Array, index: [usize; 3]) -> Result<f64> {
    fn read<T: Number<Wide: Into<f64>>>(array: &Array, offset: isize) -> f64 {
        // SAFETY: the caller passes an index within the array's sizes.
        unsafe { array.as_ptr::<T>().offset(offset).read() }.wide().into()
    }
    let offset = (0..3).map(|dim| index[dim] as isize * array.stride(dim)).sum();
    dispatch!(array.dtype(), "fractional_max_pool", half float, T => Ok(read::<T>(array, offset)))
}

/// out, indices = the maxima of windows of `kernel` elements at places determined by `samples` (samples, channels, spatial
/// dimensions), of the input's dtype, and their positions in the plane of the input.
pub fn fractional_max(out: &Array, indices: &Array, input: &Array, samples: &Array, kernel: &[i64]) -> Result<()> {
    let spatial = kernel.len();
    if !out.is_on_host() {
        dispatch!(input.dtype(), "fractional_max_pool", half float, _T => Ok(()))?;
        return device::fractional_max([out, input], indices, samples, kernel, spatial);
    }
    let of = |array: &Array<'_>| array.ndim() - spatial;
    let windows = fractional_windows(samples, &input.sizes()[of(input)..], &out.sizes()[of(out)..], kernel)?;
    max(out, Some(indices), input, &windows, spatial)
}

/// The windows of each plane.
fn fractional_windows(samples: &Array, input: &[i64], output: &[i64], kernel: &[i64]) -> Result<Windows> {
    let spatial = kernel.len();
    let (batch, channels) = (samples.size(0), samples.size(1));
    ensure!(samples.ndim() == 3 && samples.size(2) == spatial, Internal, "fractional pooling got other samples");
    let mut all = with_capacity(batch * channels)?;
    for plane in 0..batch * channels {
        let mut windows = [no_dimension(), no_dimension(), no_dimension()];
        for dim in 0..spatial {
            let which = fractional::sample_of(dim, spatial);
            let sample = number_at(samples, [plane / channels, plane % channels, which])?;
            let single = samples.dtype() != rushlight_base::DType::F64;
            let [length, input, kernel] = [output[dim], input[dim], kernel[dim]].map(|size| size as usize);
            windows[3 - spatial + dim] = chosen(length, input, kernel, sample, single)?;
        }
        all.push(windows);
    }
    Ok(Windows::PerPlane(all))
}
