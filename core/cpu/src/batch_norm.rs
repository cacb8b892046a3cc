//! Gradients of batch norm: two sums over each channel, from which the gradient by the input follows.
//!
//! A channel is either several lines, one of each sample, or a column of a matrix, as in channels last. Lines are read
//! twice, channel by channel, so that the second pass mostly finds them in the cache.

use crate::array::Array;
use crate::number::Wide;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, MAX_LANES, Simd};
use rushlight_base::list::filled;
use rushlight_base::plan::Plan;
use rushlight_base::runtime::{chunk_length, parallel_chunks};
use rushlight_base::{Element, Result, Scalar, ensure};

#[cfg(test)]
use crate::reduce::tests::run;
#[cfg(not(test))]
use crate::simd::run;

/// Accumulators of each sum: independent additions keep the processor busy.
const CHAINS: usize = 4;
/// Elements of a line, and rows of columns, that are summed before their sum joins the others in `f64`.
const LEAF: usize = 4096;
const LEAF_ROWS: usize = 64;
/// Elements worth another thread.
const GRAIN: usize = 1 << 14;
/// Elements of a part of the rows whose sums are computed separately from those of the other parts.
const PART: usize = 1 << 16;
/// Maximum number of parts, which limits the memory of their sums.
const MOST_PARTS: usize = 32;

/// What the gradients are computed from. The statistics and the weight have the wide type of the elements, an element
/// for each channel, and no gaps.
#[derive(Debug)]
pub struct Operands<'a> {
    /// The gradient by the output.
    pub grad: Array<'a>,
    /// The input: `(N, C, *)`, like `grad`.
    pub input: Array<'a>,
    /// The mean of each channel.
    pub mean: Array<'a>,
    /// The reciprocal standard deviation of each channel.
    pub rstd: Array<'a>,
    /// The factor of each channel; 1 without it.
    pub weight: Option<Array<'a>>,
    /// Whether the statistics are those of the input, and change with it.
    pub training: bool,
}

/// Whether [`batch_norm_backward`] takes arrays of these strides: those of contiguous tensors or of channels last, or of
/// a part of one.
pub fn has_kernel(arrays: [&Array; 3]) -> bool {
    Form::of(arrays).is_some()
}

/// `by_input = rstd * (g - mean(g) - n * mean(g * n))`, or `rstd * g` if not in training, with `g = grad * weight` and
/// `n = (input - mean) * rstd`; `sums`, which have the wide type: the sums over each channel of `grad * n` and `grad`.
pub fn batch_norm_backward(of: &Operands, by_input: &Array, sums: [&Array; 2]) -> Result<()> {
    dispatch!(of.input.dtype(), "batch_norm_backward", half float, T => backward::<T>(of, by_input, sums))
}

/// Where the elements of a channel are.
#[derive(Clone, Copy)]
enum Form {
    /// `samples` lines of `len` adjacent elements, with steps from a sample to the next, and from a channel to the next.
    Lines { samples: usize, len: usize, steps: [isize; 3], channels: [isize; 3] },
    /// A column of a matrix of `rows` rows, which are contiguous and `steps` apart.
    Columns { rows: usize, steps: [isize; 3] },
}

impl Form {
    fn of(arrays: [&Array; 3]) -> Option<Form> {
        let sizes = arrays[0].sizes();
        let step_of = |dim: usize| arrays.map(|array| array.stride(dim));
        let line = Plan::row_major(&sizes[2..], arrays.map(|array| &array.strides()[2..]));
        if line.numel() > 1 && line.inner() == (line.numel(), [1; 3]) {
            let (samples, len) = (arrays[0].size(0), line.numel());
            return Some(Form::Lines { samples, len, steps: step_of(0), channels: step_of(1) });
        }
        let without_channels = |list: &[i64]| -> Vec<i64> { [&list[..1], &list[2..]].concat() };
        let strides = arrays.map(|array| without_channels(array.strides()));
        let sizes_of_rows = without_channels(sizes);
        let rows = Plan::row_major(&sizes_of_rows, [&strides[0], &strides[1], &strides[2]].map(Vec::as_slice));
        let (count, steps) = rows.inner();
        let fits = count == rows.numel() && (sizes[1] <= 1 || step_of(1) == [1; 3]);
        fits.then_some(Form::Columns { rows: count, steps })
    }
}

/// The arrays of a call, by address.
struct Call<T: Float> {
    /// The gradient by the input, the gradient by the output, the input.
    at: [Shared<T>; 3],
    channels: usize,
    mean: Shared<T::Wide>,
    rstd: Shared<T::Wide>,
    weight: Option<Shared<T::Wide>>,
    sums: [Shared<T::Wide>; 2],
    training: bool,
    /// Elements of a channel.
    count: f64,
}

/// `by_input = (grad - shift - (input - mean) * slope) * scale`.
#[derive(Clone, Copy)]
struct Coefficients {
    mean: f64,
    shift: f64,
    slope: f64,
    scale: f64,
}

impl<T: Float<Wide: Element + Into<f64>>> Call<T> {
    fn new(of: &Operands, by_input: &Array, sums: [&Array; 2]) -> Result<Call<T>> {
        let arrays = [by_input, &of.grad, &of.input];
        let sizes = of.input.sizes();
        let channels = of.input.size(1);
        let numbers = |array: &Array| -> Result<Shared<T::Wide>> {
            ensure!(
                array.numel() == channels && array.is_contiguous() && array.dtype() == <T::Wide as Element>::DTYPE,
                Internal,
                "batch_norm_backward got statistics of another number, dtype or step than its channels"
            );
            Ok(Shared::new(array.as_ptr::<T::Wide>()))
        };
        ensure!(
            arrays.iter().all(|array| array.sizes() == sizes && array.dtype() == of.input.dtype()),
            Internal,
            "batch_norm_backward got arrays of mismatched sizes or dtypes"
        );
        Ok(Call {
            at: arrays.map(|array| Shared::new(array.as_ptr::<T>())),
            channels,
            mean: numbers(&of.mean)?,
            rstd: numbers(&of.rstd)?,
            weight: of.weight.as_ref().map(numbers).transpose()?,
            sums: [numbers(sums[0])?, numbers(sums[1])?],
            training: of.training,
            count: (of.input.numel() / channels.max(1)) as f64,
        })
    }

    /// Writes the sums of a channel; `along` is that of `grad * (input - mean)`, `all` that of `grad`.
    fn finish(&self, channel: usize, [along, all]: [f64; 2]) -> Coefficients {
        // SAFETY: `mean`, `rstd`, `weight` and both sums have an element for each channel, and each channel belongs to
        // one thread.
        unsafe {
            let [mean, rstd] = [self.mean, self.rstd].map(|numbers| numbers.get().add(channel).read().into());
            let weight = self.weight.map_or(1.0, |weight| weight.get().add(channel).read().into());
            self.sums[0].get().add(channel).write(wide::<T>(along * rstd));
            self.sums[1].get().add(channel).write(wide::<T>(all));
            let [shift, slope] =
                if self.training { [all / self.count, along / self.count * rstd * rstd] } else { [0.0; 2] };
            Coefficients { mean, shift, slope, scale: weight * rstd }
        }
    }
}

/// The number in the wide type.
fn wide<T: Float>(value: f64) -> T::Wide {
    T::Wide::from_scalar(Scalar::Float(value))
}

fn backward<T: Float<Wide: Element + Into<f64>>>(of: &Operands, by_input: &Array, sums: [&Array; 2]) -> Result<()> {
    let form = Form::of([by_input, &of.grad, &of.input]);
    ensure!(form.is_some(), Internal, "batch_norm_backward got arrays without common lines or columns");
    let call = Call::<T>::new(of, by_input, sums)?;
    match form {
        Some(Form::Lines { samples, len, steps, channels }) => by_lines(&call, samples, len, steps, channels),
        Some(Form::Columns { rows, steps }) => by_columns(&call, rows, steps),
        None => Ok(()),
    }
}

// ---- Lines ----

/// The lines of one channel: see [`Form::Lines`].
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

fn by_lines<T: Float<Wide: Element + Into<f64>>>(
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

/// The sum of all lanes.
#[inline(always)]
fn lanes_of<V: FloatVector<Scalar: Into<f64>>>(chains: [V; CHAINS]) -> f64 {
    let sum = (chains[0] + chains[1]) + (chains[2] + chains[3]);
    let mut lanes = [V::Scalar::ZERO; MAX_LANES];
    // SAFETY: a vector has at most `MAX_LANES` lanes.
    unsafe { sum.store(lanes.as_mut_ptr()) };
    let mut total = 0.0;
    for &lane in &lanes[..V::LANES] {
        total += lane.into();
    }
    total
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

// ---- Columns ----

fn by_columns<T: Float<Wide: Element + Into<f64>>>(call: &Call<T>, rows: usize, steps: [isize; 3]) -> Result<()> {
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

/// Neighbouring rows of the matrices: see [`Form::Columns`].
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
        for nth in 0..COUNT {
            // SAFETY: `mean` has an element for each channel.
            mean[nth] = unsafe { T::Vector::<S>::load_partial(self.mean.add(first + nth * width), lanes) };
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

/// # Safety
/// `count` numbers at `at` can be read.
#[inline(always)]
unsafe fn some<S: Simd, T: Float>(at: *const T::Wide, count: usize) -> T::Vector<S> {
    // SAFETY: the caller's promise.
    unsafe {
        if count == T::Vector::<S>::LANES { T::Vector::<S>::load(at) } else { T::Vector::<S>::load_partial(at, count) }
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
                    let at = self.by.add(first);
                    let (mean, shift) = (some::<S, T>(at, count), some::<S, T>(at.add(channels), count));
                    let (slope, scale) =
                        (some::<S, T>(at.add(2 * channels), count), some::<S, T>(at.add(3 * channels), count));
                    let g = T::load_some::<S>(grad.add(first), count);
                    let x = T::load_some::<S>(input.add(first), count);
                    T::store_some::<S>((g - shift - (x - mean) * slope) * scale, to.add(first), count);
                }
                first += width;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::tests::at_every_level;
    use rushlight_base::{DType, contiguous_strides, runtime};

    /// Samples, channels and the elements of a line; whether the channels come last.
    #[derive(Clone, Copy)]
    struct Case {
        samples: usize,
        channels: usize,
        len: usize,
        last: bool,
        weighted: bool,
        training: bool,
    }

    fn noise(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i + seed) * 7919 % 613) as f32 * 0.01 - 2.0).collect()
    }

    fn array<'a>(at: &mut [f32], sizes: &'a [i64], strides: &'a [i64]) -> Array<'a> {
        // SAFETY: the vectors have as many elements as the shapes, and each is written by one array.
        unsafe { Array::new(at.as_mut_ptr().cast(), DType::F32, sizes, strides) }
    }

    impl Case {
        fn count(self) -> usize {
            self.samples * self.channels * self.len
        }

        fn index(self, sample: usize, channel: usize, place: usize) -> usize {
            if self.last {
                (sample * self.len + place) * self.channels + channel
            } else {
                (sample * self.channels + channel) * self.len + place
            }
        }

        /// The gradients by the input, the weight and the bias.
        fn computed(self) -> [Vec<f32>; 3] {
            let (count, channels) = (self.count(), self.channels);
            let (mut x, mut grad) = (noise(count, 0), noise(count, 5));
            let [mut mean, mut rstd, mut weight] = [3, 9, 11].map(|seed| noise(channels, seed));
            let mut results = [vec![0.0; count], vec![0.0; channels], vec![0.0; channels]];
            let [samples, len] = [self.samples, self.len].map(|count| count as i64);
            let sizes = [samples, channels as i64, len];
            let strides = match self.last {
                true => [len * channels as i64, 1, channels as i64],
                false => [len * channels as i64, len, 1],
            };
            let per_channel = [channels as i64];
            let packed = contiguous_strides(&per_channel);
            let operands = Operands {
                grad: array(&mut grad, &sizes, &strides),
                input: array(&mut x, &sizes, &strides),
                mean: array(&mut mean, &per_channel, &packed),
                rstd: array(&mut rstd, &per_channel, &packed),
                weight: self.weighted.then(|| array(&mut weight, &per_channel, &packed)),
                training: self.training,
            };
            let [by_input, by_weight, by_bias] = &mut results;
            let sums = [by_weight, by_bias].map(|sum| array(sum, &per_channel, &packed));
            batch_norm_backward(&operands, &array(by_input, &sizes, &strides), [&sums[0], &sums[1]]).unwrap();
            results
        }

        /// The same in plain loops.
        fn expected(self) -> [Vec<f64>; 3] {
            let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<_>>();
            let (count, channels) = (self.count(), self.channels);
            let (x, grad) = (wide(noise(count, 0)), wide(noise(count, 5)));
            let [mean, rstd, weight] = [3, 9, 11].map(|seed| wide(noise(channels, seed)));
            let mut results = [vec![0.0; count], vec![0.0; channels], vec![0.0; channels]];
            let of_channel = (self.samples * self.len) as f64;
            for channel in 0..channels {
                let places = || (0..self.samples).flat_map(|sample| (0..self.len).map(move |place| (sample, place)));
                let at = |(sample, place)| self.index(sample, channel, place);
                let normal = |i: usize| (x[i] - mean[channel]) * rstd[channel];
                let factor = if self.weighted { weight[channel] } else { 1.0 };
                results[1][channel] = places().map(|place| grad[at(place)] * normal(at(place))).sum();
                results[2][channel] = places().map(|place| grad[at(place)]).sum();
                for i in places().map(at) {
                    let (shift, slope) = match self.training {
                        true => (results[2][channel] / of_channel, results[1][channel] / of_channel),
                        false => (0.0, 0.0),
                    };
                    results[0][i] = rstd[channel] * factor * (grad[i] - shift - normal(i) * slope);
                }
            }
            results
        }
    }

    const SHAPES: [[usize; 3]; 7] =
        [[3, 5, 19], [2, 3, 5000], [1, 2, 64], [70, 9, 1], [200, 37, 1], [4, 64, 49], [1, 1, 1]];

    #[test]
    fn gradients_agree_with_plain_loops() {
        at_every_level(|| {
            for [samples, channels, len] in SHAPES {
                for flags in 0..8 {
                    let [last, weighted, training] = [1, 2, 4].map(|bit| flags & bit != 0);
                    let case = Case { samples, channels, len, last, weighted, training };
                    for (found, expected) in case.computed().iter().zip(case.expected()) {
                        let largest = expected.iter().fold(1.0f64, |largest, value| largest.max(value.abs()));
                        for (&found, expected) in found.iter().zip(expected) {
                            assert!((f64::from(found) - expected).abs() <= 1e-5 * largest, "{found} for {expected}");
                        }
                    }
                }
            }
        });
    }

    #[test]
    fn results_are_equal_to_the_bit_at_any_number_of_threads() {
        at_every_level(|| {
            let before = runtime::num_threads();
            for last in [false, true] {
                let case = Case { samples: 8, channels: 24, len: 3000, last, weighted: true, training: true };
                let results = [1, 2, 3, 8].map(|threads| {
                    runtime::set_num_threads(threads).unwrap();
                    case.computed().map(|values| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
                });
                assert!(results.iter().all(|result| *result == results[0]));
            }
            runtime::set_num_threads(before as i64).unwrap();
        });
    }

    #[test]
    fn arrays_without_common_lines_or_columns_have_no_kernel() {
        let mut values = noise(64, 0);
        let sizes = [2, 4, 8];
        let arrays = [[32, 8, 1], [32, 8, 1], [32, 1, 4]].map(|strides| (strides, values.as_mut_ptr()));
        let made = |nth: usize| {
            // SAFETY: all elements are within `values`, and nothing is written.
            unsafe { Array::new(arrays[nth].1.cast(), DType::F32, &sizes, &arrays[nth].0) }
        };
        assert!(has_kernel([&made(0), &made(1), &made(1)]));
        assert!(has_kernel([&made(2), &made(2), &made(2)]));
        assert!(!has_kernel([&made(0), &made(1), &made(2)]));
    }
}
