//! Pooling: the maximum or the mean of each window, and the gradients.
//!
//! Windows are a table for each spatial dimension, so that plain, adaptive and fractional pooling are the same loops.
//! Planes are distributed over threads; each is computed by one.

use crate::array::Array;
use crate::extrema::Bounded;
use crate::number::{Analytic, Number, Wide};
use crate::volume::{Volume, each_planes};
use rushlight_base::list::{filled, with_capacity};
use rushlight_base::{Error, Result, bail, ensure};
use std::sync::OnceLock;

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
pub fn fractional(length: usize, input: usize, kernel: usize, sample: f64, single: bool) -> Result<Vec<Window>> {
    // Places are computed in the precision of the samples.
    let at = |index: usize| -> usize {
        if index + 1 == length {
            return input - kernel;
        }
        if single {
            let alpha = (input - kernel) as f32 / (length - 1) as f32;
            let sample = sample as f32;
            ((index as f32 + sample) * alpha) as usize - (sample * alpha) as usize
        } else {
            let alpha = (input - kernel) as f64 / (length - 1) as f64;
            ((index as f64 + sample) * alpha) as usize - (sample * alpha) as usize
        }
    };
    let window = |index: usize| {
        let start = at(index).min(input - kernel);
        Window { start, end: start + kernel, step: 1, counted: kernel }
    };
    table(length, window)
}

/// Runs `body` for the planes, on several threads; the first error is returned.
fn planes(count: usize, work: usize, body: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    let failed: OnceLock<Error> = OnceLock::new();
    each_planes(count, work, &|planes| {
        for plane in planes {
            if let Err(error) = body(plane) {
                // The first error is reported.
                let _ = failed.set(error);
                return;
            }
        }
    })?;
    failed.into_inner().map_or(Ok(()), Err)
}

/// Calls `visit` with the position of each output in its plane and its windows.
fn each_output(windows: &[Vec<Window>; 3], mut visit: impl FnMut([usize; 3], [Window; 3])) {
    for (d, &depth) in windows[0].iter().enumerate() {
        for (h, &height) in windows[1].iter().enumerate() {
            for (w, &width) in windows[2].iter().enumerate() {
                visit([d, h, w], [depth, height, width]);
            }
        }
    }
}

fn place(steps: [isize; 3], [d, h, w]: [usize; 3]) -> isize {
    d as isize * steps[0] + h as isize * steps[1] + w as isize * steps[2]
}

/// The index of the largest element of a window without elements.
const NO_INDEX: i64 = -1;

/// out = the largest element of each window, indices (int64) = its position in the plane of the input, row-major. A NaN
/// is larger than any number. A window of padding alone has the smallest number of the dtype, and no index: -1.
pub fn max(out: &Array, indices: &Array, input: &Array, windows: &Windows, spatial: usize) -> Result<()> {
    dispatch!(input.dtype(), "max_pool", integer half float, T => largest::<T>(out, indices, input, windows, spatial))
}

fn largest<T: Number<Wide: Bounded>>(
    out: &Array,
    indices: &Array,
    input: &Array,
    windows: &Windows,
    spatial: usize,
) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(input, spatial)?);
    let chosen = Volume::<i64>::of(indices, spatial)?;
    planes(to.planes(), windows.work(), &|plane| {
        let (target, source, index) = (to.plane(plane), from.plane(plane), chosen.plane(plane));
        each_output(windows.of(plane), |at, [depth, height, width]| {
            let mut best: Option<(T, i64)> = None;
            for d in (depth.start..depth.end).step_by(depth.step) {
                for h in (height.start..height.end).step_by(height.step) {
                    let row = from.row([d, h]);
                    let line = (d * from.sizes[1] + h) * from.sizes[2];
                    for w in (width.start..width.end).step_by(width.step) {
                        // SAFETY: windows are clipped to the input, so the position is inside it.
                        let value = unsafe { source.offset(row + w as isize * from.steps[2]).read() };
                        let better = best.is_none_or(|(best, _)| {
                            let value = value.wide();
                            value > best.wide() || value.is_nan()
                        });
                        if better {
                            best = Some((value, (line + w) as i64));
                        }
                    }
                }
            }
            let (value, line) = best.unwrap_or((T::narrow(T::Wide::LEAST), NO_INDEX));
            // SAFETY: the position is inside both outputs, in planes that belong to this share alone.
            unsafe {
                target.offset(place(to.steps, at)).write(value);
                index.offset(place(chosen.steps, at)).write(line);
            }
        });
        Ok(())
    })
}

/// out = grad accumulated at `indices`; 0 elsewhere. An index of -1 is left out.
pub fn max_backward(out: &Array, grad: &Array, indices: &Array, spatial: usize) -> Result<()> {
    dispatch!(out.dtype(), "max_pool_backward", half float, T => returned::<T>(out, grad, indices, spatial))
}

fn returned<T: Number>(out: &Array, grad: &Array, indices: &Array, spatial: usize) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(grad, spatial)?);
    let chosen = Volume::<i64>::of(indices, spatial)?;
    planes(to.planes(), to.area() + from.area(), &|plane| {
        let mut sums = filled(to.area(), T::Wide::ZERO)?;
        let (source, index) = (from.plane(plane), chosen.plane(plane));
        for d in 0..from.sizes[0] {
            for h in 0..from.sizes[1] {
                for w in 0..from.sizes[2] {
                    // SAFETY: the window index is inside both inputs.
                    let (value, at) = unsafe {
                        let at = index.offset(place(chosen.steps, [d, h, w])).read();
                        (source.offset(place(from.steps, [d, h, w])).read(), at)
                    };
                    if at == NO_INDEX {
                        continue;
                    }
                    let Some(sum) = usize::try_from(at).ok().and_then(|at| sums.get_mut(at)) else {
                        bail!(Index, "Found an invalid max index: {at} (planes have {} elements)", to.area());
                    };
                    *sum = sum.add(value.wide());
                }
            }
        }
        store(&to, plane, &sums);
        Ok(())
    })
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

/// Numbers that a mean is taken of.
pub trait Averaged: Wide {
    /// The sum divided by a count, which is not 0; integers round toward 0.
    fn over(self, count: i64) -> Self;
}

macro_rules! averaged {
    ($($type:ty),*) => {
        $(impl Averaged for $type {
            #[inline(always)]
            fn over(self, count: i64) -> $type {
                self / count as $type
            }
        })*
    };
}

averaged!(f32, f64, i64);

/// The divisor of the sum over windows: a given number, or the element counts of the windows.
fn divisor(given: Option<i64>, windows: [Window; 3]) -> i64 {
    given.unwrap_or_else(|| windows.iter().fold(1i64, |count, window| count.saturating_mul(window.counted as i64)))
}

/// out = the mean of each window.
pub fn mean(out: &Array, input: &Array, windows: &Windows, divide_by: Option<i64>, spatial: usize) -> Result<()> {
    if input.dtype() == rushlight_base::DType::I64 {
        return means::<i64>(out, input, windows, spatial, |sum, windows| sum.over(divisor(divide_by, windows)));
    }
    dispatch!(input.dtype(), "avg_pool", half float, T => {
        means::<T>(out, input, windows, spatial, |sum, windows| sum.over(divisor(divide_by, windows)))
    })
}

/// Like `mean`, for volumes of half precision: PyTorch accumulates in half precision, and divides by one extent of the
/// window after the other.
pub fn mean_of_volumes(out: &Array, input: &Array, windows: &Windows) -> Result<()> {
    if !input.dtype().is_half() {
        return mean(out, input, windows, None, 3);
    }
    stepwise!(input.dtype(), "adaptive_avg_pool3d_cpu", T => means::<T>(out, input, windows, 3, |sum, windows| {
        windows.iter().fold(sum, |sum, window| sum.div(T::from_f64(window.counted as f64)))
    }))
}

fn means<T: Number>(
    out: &Array,
    input: &Array,
    windows: &Windows,
    spatial: usize,
    divide: impl Fn(T::Wide, [Window; 3]) -> T::Wide + Sync,
) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(input, spatial)?);
    planes(to.planes(), windows.work(), &|plane| {
        let (target, source) = (to.plane(plane), from.plane(plane));
        each_output(windows.of(plane), |at, [depth, height, width]| {
            let mut sum = T::Wide::ZERO;
            for d in depth.start..depth.end {
                for h in height.start..height.end {
                    let row = from.row([d, h]);
                    for w in width.start..width.end {
                        // SAFETY: windows are clipped to the input, so the position is inside it.
                        sum = sum.add(unsafe { source.offset(row + w as isize * from.steps[2]).read() }.wide());
                    }
                }
            }
            let empty = [depth, height, width].iter().any(|window| window.start >= window.end);
            let mean = if empty { T::Wide::ZERO } else { divide(sum, [depth, height, width]) };
            // SAFETY: the position is inside the output, in a plane that belongs to this share alone.
            unsafe { target.offset(place(to.steps, at)).write(T::narrow(mean)) };
        });
        Ok(())
    })
}

/// out = the gradient of [`mean`]: each window's share of its output's gradient.
pub fn mean_backward(
    out: &Array,
    grad: &Array,
    windows: &Windows,
    divide_by: Option<i64>,
    spatial: usize,
) -> Result<()> {
    if out.dtype() == rushlight_base::DType::I64 {
        return shares::<i64>(out, grad, windows, divide_by, spatial);
    }
    dispatch!(out.dtype(), "avg_pool_backward", half float, T => shares::<T>(out, grad, windows, divide_by, spatial))
}

fn shares<T: Number<Wide: Averaged>>(
    out: &Array,
    grad: &Array,
    windows: &Windows,
    divide_by: Option<i64>,
    spatial: usize,
) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(grad, spatial)?);
    let [_, rows, row] = to.sizes;
    planes(to.planes(), windows.work() + to.area(), &|plane| {
        let mut sums = filled(to.area(), T::Wide::ZERO)?;
        let source = from.plane(plane);
        each_output(windows.of(plane), |at, [depth, height, width]| {
            if [depth, height, width].iter().any(|window| window.start >= window.end) {
                return;
            }
            // SAFETY: the window index is inside the gradient.
            let value = unsafe { source.offset(place(from.steps, at)).read() }.wide();
            let share = value.over(divisor(divide_by, [depth, height, width]));
            for d in depth.start..depth.end {
                for h in height.start..height.end {
                    let line = (d * rows + h) * row;
                    for sum in &mut sums[line + width.start..line + width.end] {
                        *sum = sum.add(share);
                    }
                }
            }
        });
        store(&to, plane, &sums);
        Ok(())
    })
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

/// The windows of fractional pooling: `samples` is (samples, channels, spatial dimensions), of the input's dtype.
pub fn fractional_windows(samples: &Array, input: &[i64], output: &[i64], kernel: &[i64]) -> Result<Windows> {
    let spatial = kernel.len();
    let (batch, channels) = (samples.size(0), samples.size(1));
    ensure!(samples.ndim() == 3 && samples.size(2) == spatial, Internal, "fractional pooling got other samples");
    let mut all = with_capacity(batch * channels)?;
    for plane in 0..batch * channels {
        let mut windows = [no_dimension(), no_dimension(), no_dimension()];
        for dim in 0..spatial {
            // Samples go from the last dimension of two to the first, of three from the first to the last.
            let which = if spatial == 2 { spatial - 1 - dim } else { dim };
            let sample = number_at(samples, [plane / channels, plane % channels, which])?;
            let single = samples.dtype() != rushlight_base::DType::F64;
            let [length, input, kernel] = [output[dim], input[dim], kernel[dim]].map(|size| size as usize);
            windows[3 - spatial + dim] = fractional(length, input, kernel, sample, single)?;
        }
        all.push(windows);
    }
    Ok(Windows::PerPlane(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_begin_within_the_input_on_a_tap() {
        // Padding 2, dilation 3: taps at -2, 1, 4.
        let windows = sliding(1, 5, [3, 1, 2, 3], true).unwrap();
        assert_eq!(windows[0], Window { start: 1, end: 5, step: 3, counted: 7 });
        let windows = sliding(3, 4, [3, 2, 1, 1], false).unwrap();
        let counted: Vec<usize> = windows.iter().map(|window| window.counted).collect();
        assert_eq!(counted, [2, 3, 1]);
    }

    #[test]
    fn adaptive_windows_overlap_where_sizes_do_not_divide() {
        let windows: Vec<_> = adaptive(3, 5).unwrap().iter().map(|window| (window.start, window.end)).collect();
        assert_eq!(windows, [(0, 2), (1, 4), (3, 5)]);
    }
}
