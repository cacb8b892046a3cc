//! Channels that are lines of adjacent elements, one of each sample.

use super::{CHAINS, Call, Coefficients, GRAIN, LEAF, Training, lanes_of, wide};
use crate::array::Array;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, Simd};
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Element, Result};

#[cfg(test)]
use crate::reduce::tests::run;
#[cfg(not(test))]
use crate::simd::run;

/// The moments of each channel, and the normalized input.
pub(super) fn forward<T: Float<Wide: Element + Into<f64>>>(
    of: &Training,
    samples: usize,
    len: usize,
    [steps, channels]: [[isize; 3]; 2],
) -> Result<()> {
    let address = |array: &Array| Shared::new(array.as_ptr::<T>());
    let at = [&of.out, &of.input, &of.input].map(address);
    let (weight, bias) = (of.weight.as_ref().map(address), of.bias.as_ref().map(address));
    let (mean, variance, eps) = (address(&of.mean), address(&of.variance), of.eps);
    parallel_chunks(of.input.size(1), GRAIN / (samples * len).max(1), &|range| {
        for channel in range {
            let at = std::array::from_fn(|nth| at[nth].get().wrapping_offset(channel as isize * channels[nth]));
            let lines = Lines { at, samples, len, steps };
            let moments = run(Moments { lines });
            // SAFETY: these arrays have an element for each channel, and each channel belongs to one thread.
            let factor = |array: Shared<T>| unsafe { array.get().add(channel).read() }.wide().into();
            let (weight, bias) = (weight.map_or(1.0, factor), bias.map_or(0.0, factor));
            // SAFETY: see above.
            unsafe {
                mean.get().add(channel).write(T::narrow(wide::<T>(moments[0])));
                variance.get().add(channel).write(T::narrow(wide::<T>(moments[1])));
            }
            run(ScaleLines { lines, mean: moments[0], scale: weight / (moments[1] + eps).sqrt(), bias });
        }
    })
}

/// The lines of one channel: see `Form::Lines`.
#[derive(Clone, Copy)]
struct Lines<T> {
    at: [*mut T; 3],
    samples: usize,
    len: usize,
    steps: [isize; 3],
}

impl<T: Float> Lines<T> {
    /// The addresses of a line.
    #[inline(always)]
    fn line(&self, sample: usize) -> [*mut T; 3] {
        let step = |nth: usize| self.at[nth].wrapping_offset(sample as isize * self.steps[nth]);
        [step(0), step(1), step(2)]
    }
}

/// The gradients.
pub(super) fn backward<T: Float<Wide: Element + Into<f64>>>(
    call: &Call<T>,
    samples: usize,
    len: usize,
    steps: [isize; 3],
    channel_steps: [isize; 3],
) -> Result<()> {
    parallel_chunks(call.channels, GRAIN / (samples * len).max(1), &|channels| {
        for channel in channels {
            let at =
                std::array::from_fn(|nth| call.at[nth].get().wrapping_offset(channel as isize * channel_steps[nth]));
            let lines = Lines { at, samples, len, steps };
            // SAFETY: `mean` has an element for each channel.
            let mean = unsafe { call.mean.get().add(channel).read() }.into();
            let sums = run(SumsOfLines { lines, mean });
            run(MapLines { lines, by: call.finish(channel, sums) });
        }
    })
}

/// The mean and the variance of the input.
struct Moments<T> {
    lines: Lines<T>,
}

impl<T: Float<Wide: Into<f64>>> Kernel for Moments<T> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> [f64; 2] {
        let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
        for sample in 0..self.lines.samples {
            let [_, _, input] = self.lines.line(sample);
            let mut start = 0;
            while start < self.lines.len {
                let len = LEAF.min(self.lines.len - start);
                let at = input.wrapping_add(start).cast_const();
                let [sum, _] = sums_around::<S, T>(at, len, 0.0);
                let center = sum / len as f64;
                // The sums around it also give its rounding error.
                let [rest, own_squares] = sums_around::<S, T>(at, len, center);
                let own = wide::<T>(center).into() + rest / len as f64;
                let own_squares = own_squares - rest * rest / len as f64;
                // Chan's formula: the moments of two parts.
                let (own_count, difference) = (len as f64, own - mean);
                let total = count + own_count;
                mean += difference * (own_count / total);
                squares += own_squares + difference * difference * (count * own_count / total);
                count = total;
                start += len;
            }
        }
        [mean, squares / count]
    }
}

/// The sums of `x - center` and `(x - center)^2` over up to [`LEAF`] elements; `center` is rounded to their dtype.
#[inline(always)]
fn sums_around<S: Simd, T: Float<Wide: Into<f64>>>(input: *const T, len: usize, center: f64) -> [f64; 2] {
    let width = T::Vector::<S>::LANES;
    let (zero, away) = (T::Vector::<S>::from_f64(0.0), T::Vector::<S>::from_f64(center));
    let (mut sums, mut squares) = ([zero; CHAINS], [zero; CHAINS]);
    let mut start = 0;
    // SAFETY: the caller owns `len` elements.
    unsafe {
        while start + CHAINS * width <= len {
            for chain in 0..CHAINS {
                let x = T::load::<S>(input.add(start + chain * width)) - away;
                sums[chain] = sums[chain] + x;
                squares[chain] = x.mul_add(x, squares[chain]);
            }
            start += CHAINS * width;
        }
        while start + width <= len {
            let x = T::load::<S>(input.add(start)) - away;
            sums[0] = sums[0] + x;
            squares[0] = x.mul_add(x, squares[0]);
            start += width;
        }
    }
    let (mut sum, mut square) = (lanes_of(sums), lanes_of(squares));
    let center: f64 = wide::<T>(center).into();
    for at in start..len {
        // SAFETY: see above.
        let x: f64 = unsafe { input.add(at).read() }.wide().into() - center;
        (sum, square) = (sum + x, square + x * x);
    }
    [sum, square]
}

/// Writes `(input - mean) * scale + bias`.
struct ScaleLines<T> {
    lines: Lines<T>,
    mean: f64,
    scale: f64,
    bias: f64,
}

impl<T: Float> Kernel for ScaleLines<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let width = T::Vector::<S>::LANES;
        let (mean, scale) = (T::Vector::<S>::from_f64(self.mean), T::Vector::<S>::from_f64(self.scale));
        let bias = T::Vector::<S>::from_f64(self.bias);
        for sample in 0..self.lines.samples {
            let [to, _, input] = self.lines.line(sample);
            let mut start = 0;
            while start < self.lines.len {
                let count = width.min(self.lines.len - start);
                // SAFETY: the lines have `len` elements each.
                unsafe {
                    let x = T::load_some::<S>(input.add(start), count);
                    T::store_some::<S>((x - mean).mul_add(scale, bias), to.add(start), count);
                }
                start += count;
            }
        }
    }
}

/// The sums of `grad * (input - mean)` and of `grad`.
struct SumsOfLines<T> {
    lines: Lines<T>,
    mean: f64,
}

impl<T: Float<Wide: Into<f64>>> Kernel for SumsOfLines<T> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> [f64; 2] {
        let mut total = [0.0; 2];
        for sample in 0..self.lines.samples {
            let [_, grad, input] = self.lines.line(sample);
            let mut start = 0;
            while start < self.lines.len {
                let len = LEAF.min(self.lines.len - start);
                let sums = leaf::<S, T>([grad.wrapping_add(start), input.wrapping_add(start)], len, self.mean);
                total = [total[0] + sums[0], total[1] + sums[1]];
                start += len;
            }
        }
        total
    }
}

/// [`SumsOfLines`] of up to [`LEAF`] elements.
#[inline(always)]
fn leaf<S: Simd, T: Float<Wide: Into<f64>>>([grad, input]: [*mut T; 2], len: usize, mean: f64) -> [f64; 2] {
    let width = T::Vector::<S>::LANES;
    let (zero, mean) = (T::Vector::<S>::from_f64(0.0), T::Vector::<S>::from_f64(mean));
    let (mut along, mut all) = ([zero; CHAINS], [zero; CHAINS]);
    let mut start = 0;
    // SAFETY: the caller owns `len` elements at both addresses.
    unsafe {
        while start + CHAINS * width <= len {
            for chain in 0..CHAINS {
                let at = start + chain * width;
                let (g, x) = (T::load::<S>(grad.add(at)), T::load::<S>(input.add(at)));
                along[chain] = g.mul_add(x - mean, along[chain]);
                all[chain] = all[chain] + g;
            }
            start += CHAINS * width;
        }
        while start < len {
            let count = width.min(len - start);
            let (g, x) = (T::load_some::<S>(grad.add(start), count), T::load_some::<S>(input.add(start), count));
            along[0] = g.mul_add(x - mean, along[0]);
            all[0] = all[0] + g;
            start += count;
        }
    }
    [lanes_of(along), lanes_of(all)]
}

/// Writes the gradient by the input.
struct MapLines<T> {
    lines: Lines<T>,
    by: Coefficients,
}

impl<T: Float> Kernel for MapLines<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let width = T::Vector::<S>::LANES;
        let (mean, shift) = (T::Vector::<S>::from_f64(self.by.mean), T::Vector::<S>::from_f64(self.by.shift));
        let (slope, scale) = (T::Vector::<S>::from_f64(self.by.slope), T::Vector::<S>::from_f64(self.by.scale));
        for sample in 0..self.lines.samples {
            let [to, grad, input] = self.lines.line(sample);
            let mut start = 0;
            while start < self.lines.len {
                let count = width.min(self.lines.len - start);
                // SAFETY: the lines have `len` elements each.
                unsafe {
                    let g = T::load_some::<S>(grad.add(start), count);
                    let x = T::load_some::<S>(input.add(start), count);
                    T::store_some::<S>((g - shift - (x - mean) * slope) * scale, to.add(start), count);
                }
                start += count;
            }
        }
    }
}
