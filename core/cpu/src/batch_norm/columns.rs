//! Channels that are columns of a matrix.

use super::{CHAINS, Call, GRAIN, LEAF_ROWS, MOST_PARTS, PART, wide};
use crate::number::Wide;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, MAX_LANES, Simd};
use rushlight_base::list::filled;
use rushlight_base::runtime::{chunk_length, parallel_chunks};
use rushlight_base::{Element, Result};

#[cfg(test)]
use crate::reduce::tests::run;
#[cfg(not(test))]
use crate::simd::run;

/// The gradients.
pub(super) fn backward<T: Float<Wide: Element + Into<f64>>>(
    call: &Call<T>,
    rows: usize,
    steps: [isize; 3],
) -> Result<()> {
    let channels = call.channels;
    // Parts follow from the shape alone, and are added in order.
    let share = (PART / channels.max(1)).max(LEAF_ROWS).max(rows.div_ceil(MOST_PARTS));
    let length = chunk_length(rows, share);
    let parts = rows.div_ceil(length);
    let mut partial = filled(parts * 2 * channels, 0.0f64)?;
    let to = Shared::new(partial.as_mut_ptr());
    let row = |row: usize| -> [*mut T; 3] {
        std::array::from_fn(|nth| call.at[nth].get().wrapping_offset(row as isize * steps[nth]))
    };
    parallel_chunks(rows, share, &|range| {
        let to = to.get().wrapping_add(range.start / length * 2 * channels);
        for start in range.clone().step_by(LEAF_ROWS) {
            let columns = Columns { at: row(start), steps, rows: LEAF_ROWS.min(range.end - start), channels };
            run(SumsOfColumns { columns, mean: call.mean.get(), to });
        }
    })?;
    let mut coefficients = filled(4 * channels, wide::<T>(0.0))?;
    for channel in 0..channels {
        let total = |nth: usize| (0..parts).map(|part| partial[(part * 2 + nth) * channels + channel]).sum();
        let by = call.finish(channel, [total(0), total(1)]);
        for (nth, value) in [by.mean, by.shift, by.slope, by.scale].into_iter().enumerate() {
            coefficients[nth * channels + channel] = wide::<T>(value);
        }
    }
    let by = Shared::new(coefficients.as_mut_ptr());
    parallel_chunks(rows, GRAIN / channels.max(1), &|range| {
        let columns = Columns { at: row(range.start), steps, rows: range.len(), channels };
        run(MapColumns { columns, by: by.get() });
    })
}

/// Neighbouring rows of the matrices: see `Form::Columns`.
#[derive(Clone, Copy)]
struct Columns<T> {
    at: [*mut T; 3],
    steps: [isize; 3],
    rows: usize,
    channels: usize,
}

impl<T: Float> Columns<T> {
    /// The addresses of an element.
    #[inline(always)]
    fn element(&self, row: usize, channel: usize) -> [*mut T; 3] {
        let at = |nth: usize| self.at[nth].wrapping_offset(row as isize * self.steps[nth]).wrapping_add(channel);
        [at(0), at(1), at(2)]
    }
}

/// Adds the sums of up to [`LEAF_ROWS`] rows to `to`, which has those of `grad * (input - mean)` of all channels, then
/// those of `grad`.
struct SumsOfColumns<T: Float> {
    columns: Columns<T>,
    mean: *const T::Wide,
    to: *mut f64,
}

impl<T: Float<Wide: Into<f64>>> SumsOfColumns<T> {
    /// The sums of `COUNT` vectors of channels from `first` on; the last one has `lanes` lanes.
    #[inline(always)]
    fn sums<S: Simd, const COUNT: usize>(&self, first: usize, lanes: usize) {
        let width = T::Vector::<S>::LANES;
        let zero = T::Vector::<S>::from_f64(0.0);
        let (mut along, mut all, mut mean) = ([zero; COUNT], [zero; COUNT], [zero; COUNT]);
        for (nth, mean) in mean.iter_mut().enumerate() {
            // SAFETY: `mean` has an element for each channel.
            *mean = unsafe { T::Vector::<S>::load_some(self.mean.add(first + nth * width), lanes) };
        }
        for row in 0..self.columns.rows {
            let [_, grad, input] = self.columns.element(row, first);
            for nth in 0..COUNT {
                // SAFETY: the rows have an element for each channel.
                let (g, x) = unsafe {
                    (T::load_some::<S>(grad.add(nth * width), lanes), T::load_some::<S>(input.add(nth * width), lanes))
                };
                along[nth] = g.mul_add(x - mean[nth], along[nth]);
                all[nth] = all[nth] + g;
            }
        }
        for nth in 0..COUNT {
            for (offset, sum) in [(0, along[nth]), (self.columns.channels, all[nth])] {
                let mut buffer = [T::Wide::ZERO; MAX_LANES];
                // SAFETY: a vector has at most `MAX_LANES` lanes; `to` has two sums for each channel.
                unsafe {
                    sum.store(buffer.as_mut_ptr());
                    let to = self.to.add(offset + first + nth * width);
                    for (lane, &value) in buffer[..lanes].iter().enumerate() {
                        *to.add(lane) += value.into();
                    }
                }
            }
        }
    }
}

impl<T: Float<Wide: Into<f64>>> Kernel for SumsOfColumns<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let lanes = T::Vector::<S>::LANES;
        let mut first = 0;
        while first + CHAINS * lanes <= self.columns.channels {
            self.sums::<S, CHAINS>(first, lanes);
            first += CHAINS * lanes;
        }
        while first < self.columns.channels {
            self.sums::<S, 1>(first, lanes.min(self.columns.channels - first));
            first += lanes;
        }
    }
}

/// Writes the gradient by the input. `by` has the four coefficients of all channels, one after another.
struct MapColumns<T: Float> {
    columns: Columns<T>,
    by: *const T::Wide,
}

impl<T: Float> Kernel for MapColumns<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let (width, channels) = (T::Vector::<S>::LANES, self.columns.channels);
        for row in 0..self.columns.rows {
            let [to, grad, input] = self.columns.element(row, 0);
            let mut first = 0;
            while first < channels {
                let count = width.min(channels - first);
                // SAFETY: the rows have an element for each channel, and there are four coefficients of each.
                unsafe {
                    let mean = T::Vector::<S>::load_some(self.by.add(first), count);
                    let shift = T::Vector::<S>::load_some(self.by.add(channels + first), count);
                    let slope = T::Vector::<S>::load_some(self.by.add(2 * channels + first), count);
                    let scale = T::Vector::<S>::load_some(self.by.add(3 * channels + first), count);
                    let g = T::load_some::<S>(grad.add(first), count);
                    let x = T::load_some::<S>(input.add(first), count);
                    T::store_some::<S>((g - shift - (x - mean) * slope) * scale, to.add(first), count);
                }
                first += width;
            }
        }
    }
}
