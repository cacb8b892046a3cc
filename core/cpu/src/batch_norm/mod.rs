//! Batch norm in training: the moments of each channel, then the normalized input; and its gradients: two sums over each
//! channel, from which the gradient by the input follows.
//!
//! A channel is either several lines, one of each sample, or a column of a matrix, as in channels last. Lines are read
//! twice, channel by channel, so that the second pass mostly finds them in the cache.

mod columns;
mod lines;
#[cfg(test)]
mod tests;

use crate::array::Array;
use crate::number::Wide;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, MAX_LANES};
use rushlight_base::plan::Plan;
use rushlight_base::{DType, Element, Result, Scalar, bail, ensure};

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

/// Arrays of [`forward`]. All but the output and the input have an element for each channel and no gaps; the statistics
/// have the dtype of the input, like the factors.
#[derive(Debug)]
pub struct Training<'a> {
    /// The normalized input, like it.
    pub out: Array<'a>,
    /// The input: `(N, C, *)`.
    pub input: Array<'a>,
    /// The factor of each channel; 1 without it.
    pub weight: Option<Array<'a>>,
    /// The summand of each channel; 0 without it.
    pub bias: Option<Array<'a>>,
    /// The mean of each channel.
    pub mean: Array<'a>,
    /// The variance of each channel, without Bessel's correction.
    pub variance: Array<'a>,
    /// What is added to the variance.
    pub eps: f64,
}

/// `out = (input - mean) / sqrt(variance + eps) * weight + bias`, if channels are lines of `f32` or `f64`; whether they
/// are.
pub fn forward(of: &Training) -> Result<bool> {
    let dtype = of.input.dtype();
    let Some(Form::Lines { samples, len, steps, channels }) = Form::of([&of.out, &of.input, &of.input]) else {
        return Ok(false);
    };
    if !matches!(dtype, DType::F32 | DType::F64) {
        return Ok(false);
    }
    let count = of.input.size(1);
    let parts = [Some(&of.mean), Some(&of.variance), of.weight.as_ref(), of.bias.as_ref()];
    let fits = |array: &&Array| array.numel() == count && array.is_contiguous() && array.dtype() == dtype;
    ensure!(
        of.out.sizes() == of.input.sizes() && of.out.dtype() == dtype && parts.iter().flatten().all(fits),
        Internal,
        "batch_norm got arrays of mismatched sizes or dtypes"
    );
    dispatch!(dtype, "batch_norm", float, T => lines::forward::<T>(of, samples, len, [steps, channels]))?;
    Ok(true)
}

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
    let Some(form) = Form::of([by_input, &of.grad, &of.input]) else {
        bail!(Internal, "batch_norm_backward got arrays without common lines or columns");
    };
    let call = Call::<T>::new(of, by_input, sums)?;
    match form {
        Form::Lines { samples, len, steps, channels } => lines::backward(&call, samples, len, steps, channels),
        Form::Columns { rows, steps } => columns::backward(&call, rows, steps),
    }
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
