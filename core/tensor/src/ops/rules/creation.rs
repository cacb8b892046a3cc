//! Rules of factories: constants, sequences, random numbers, copies.

use super::layout::preserved_strides;
use super::promotion::scalar_dtype;
use crate::dense::{Dense, Spec, strides_in};
use crate::generator::Generator;
use crate::options::Options;
use rushlight_base::{
    Category, DType, DeviceType, DimVec, MemoryFormat, Result, Scalar, bail, contiguous_strides, ensure, format_sizes,
};

pub(super) fn made(size: &[i64], dtype: DType, options: Options) -> Result<Spec> {
    options.check()?;
    if let Some(negative) = size.iter().find(|&&extent| extent < 0) {
        bail!(Runtime, "Trying to create tensor with negative dimension {negative}: {}", format_sizes(size));
    }
    Ok(Spec::new(size, dtype, options.device_or_cpu()))
}

/// A tensor of this size.
pub fn sized(size: &[i64], options: Options) -> Result<Spec> {
    made(size, options.dtype_or_default(), options)
}

/// A random tensor of this size.
pub fn sized_generator(size: &[i64], _generator: Option<&Generator>, options: Options) -> Result<Spec> {
    sized(size, options)
}

/// A tensor of this size in a memory format.
pub fn empty(size: &[i64], options: Options, memory_format: Option<MemoryFormat>) -> Result<Spec> {
    let spec = sized(size, options)?;
    match memory_format {
        None | Some(MemoryFormat::Contiguous) => Ok(spec),
        Some(MemoryFormat::Preserve) => bail!(
            Runtime,
            "memory format option is only supported by strided tensors, and there is no layout to preserve"
        ),
        Some(format) => Ok(spec.with_strides(strides_in(size, format)?)),
    }
}

/// The strides of a copy of `self_` in a memory format (absent: preserve).
fn copied_strides(self_: &Dense, memory_format: Option<MemoryFormat>) -> Result<Option<DimVec>> {
    match memory_format.unwrap_or(MemoryFormat::Preserve) {
        MemoryFormat::Contiguous => Ok(None),
        // Contiguous tensors may have other strides where the size is 1, which are kept.
        MemoryFormat::Preserve if *contiguous_strides(self_.sizes()) == *self_.strides() => Ok(None),
        MemoryFormat::Preserve => Ok(Some(preserved_strides(self_.sizes(), self_.strides()))),
        format => Ok(Some(strides_in(self_.sizes(), format)?)),
    }
}

/// Shape of the input; also dtype and device, unless the options override them.
pub fn empty_like(self_: &Dense, options: Options, memory_format: Option<MemoryFormat>) -> Result<Spec> {
    options.check()?;
    Ok(Spec {
        sizes: DimVec::from_slice(self_.sizes()),
        strides: copied_strides(self_, memory_format)?.map(Box::new),
        dtype: options.dtype.unwrap_or(self_.dtype),
        device: options.device.unwrap_or(self_.device),
    })
}

/// Like `empty_like`, to be filled.
pub fn full_like(
    self_: &Dense,
    fill_value: Scalar,
    options: Options,
    memory_format: Option<MemoryFormat>,
) -> Result<Spec> {
    let spec = empty_like(self_, options, memory_format)?;
    fill_value.check_convertible(spec.dtype)?;
    Ok(spec)
}

/// Given strides. They may leave gaps or overlap, so the memory covers the farthest element.
pub fn empty_strided(size: &[i64], stride: &[i64], options: Options) -> Result<Spec> {
    ensure!(
        size.len() == stride.len(),
        Runtime,
        "dimensionality of sizes ({}) must match dimensionality of strides ({})",
        size.len(),
        stride.len()
    );
    ensure!(
        stride.iter().all(|&step| step >= 0),
        Runtime,
        "as_strided: Negative strides are not supported at the moment, got strides: {}",
        format_sizes(stride)
    );
    Ok(sized(size, options)?.with_strides(DimVec::from_slice(stride)))
}

/// One value everywhere; without a dtype, that of the value.
pub fn full(size: &[i64], fill_value: Scalar, options: Options) -> Result<Spec> {
    let dtype = options.dtype.unwrap_or_else(|| scalar_dtype(fill_value));
    fill_value.check_convertible(dtype)?;
    made(size, dtype, options)
}

/// Number of elements of `start, start + step, ...` before `end`.
fn arange_length(start: Scalar, end: Scalar, step: Scalar, dtype: DType) -> Result<i64> {
    for bound in [start, end, step] {
        bound.check_convertible(DType::F64)?;
    }
    let (first, last, stride) = (start.to_f64(), end.to_f64(), step.to_f64());
    let moves = if dtype.is_integral(false) { step.to_i64() != 0 } else { stride != 0.0 };
    ensure!(moves, Runtime, "step must be nonzero");
    ensure!(first.is_finite() && last.is_finite(), Runtime, "unsupported range: {first} -> {last}");
    ensure!(
        (stride > 0.0 && last >= first) || (stride < 0.0 && last <= first),
        Runtime,
        "upper bound and larger bound inconsistent with step sign"
    );
    if dtype == DType::I64 {
        // In integers: doubles cannot represent all of them beyond 2^53.
        let (first, last, stride) = (i128::from(start.to_i64()), i128::from(end.to_i64()), i128::from(step.to_i64()));
        let towards = if stride > 0 { 1 } else { -1 };
        return Ok(((last - first + stride - towards) / stride).clamp(0, i128::from(i64::MAX)) as i64);
    }
    let length = ((last - first) / stride).ceil();
    ensure!(length < i64::MAX as f64, Runtime, "invalid size, possible overflow?");
    Ok(length as i64)
}

/// start, start + step, ... before end; int64 if all three are integers.
pub fn arange_start_step(start: Scalar, end: Scalar, step: Scalar, options: Options) -> Result<Spec> {
    let integral = [start, end, step].iter().all(|value| value.category() <= Category::Integral);
    let inferred = if integral { DType::I64 } else { Options::default().dtype_or_default() };
    let dtype = options.dtype.unwrap_or(inferred);
    made(&[arange_length(start, end, step, dtype)?], dtype, options)
}

/// start, start + 1, ... before end.
pub fn arange_start(start: Scalar, end: Scalar, options: Options) -> Result<Spec> {
    arange_start_step(start, end, Scalar::Int(1), options)
}

/// 0, 1, ... before end.
pub fn arange(end: Scalar, options: Options) -> Result<Spec> {
    arange_start_step(Scalar::Int(0), end, Scalar::Int(1), options)
}

/// start, start + step, ... up to end.
pub fn range_step(start: Scalar, end: Scalar, step: Scalar, options: Options) -> Result<Spec> {
    let dtype = options.dtype_or_default();
    let supported = matches!(
        dtype,
        DType::U8
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::F16
            | DType::BF16
            | DType::F32
            | DType::F64
    );
    ensure!(supported, Runtime, "\"range_cpu\" not implemented for '{}'", dtype.c10_name());
    for bound in [start, end, step] {
        bound.check_convertible(DType::F64)?;
    }
    let (first, last, stride) = (start.to_f64(), end.to_f64(), step.to_f64());
    let moves = if dtype.is_integral(false) { step.to_i64() != 0 } else { stride != 0.0 };
    ensure!(moves, Runtime, "step must be nonzero");
    ensure!(first.is_finite() && last.is_finite(), Runtime, "unsupported range: {first} -> {last}");
    ensure!(
        (stride > 0.0 && last >= first) || (stride < 0.0 && last <= first),
        Runtime,
        "upper bound and lower bound inconsistent with step sign"
    );
    // Integers are truncated first.
    let ends = [first, last, stride].map(|end| if dtype.is_integral(false) { end.trunc() } else { end });
    let length = ((ends[1] - ends[0]) / ends[2]).floor() + 1.0;
    ensure!(length < i64::MAX as f64, Runtime, "invalid size, possible overflow?");
    made(&[length as i64], dtype, options)
}

/// start, start + 1, ... up to end.
pub fn range(start: Scalar, end: Scalar, options: Options) -> Result<Spec> {
    range_step(start, end, Scalar::Int(1), options)
}

/// The tensor, filled with a number.
pub fn fill(self_: &Dense, value: Scalar) -> Result<Spec> {
    value.check_convertible(self_.dtype)?;
    super::like(self_)
}

/// The tensor, filled with the one element of another.
pub fn fill_tensor(self_: &Dense, value: &Dense) -> Result<Spec> {
    ensure!(
        value.ndim() == 0,
        Runtime,
        "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions.",
        value.ndim()
    );
    super::like(self_)
}

/// A copy in a memory format.
pub fn clone(self_: &Dense, memory_format: Option<MemoryFormat>) -> Result<Spec> {
    empty_like(self_, Options::default(), memory_format)
}

/// A copy of another dtype or on another device.
pub fn to_copy(
    self_: &Dense,
    options: Options,
    _non_blocking: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Spec> {
    let spec = empty_like(self_, options, memory_format)?;
    ensure!(
        self_.device.kind != DeviceType::Meta || spec.device.kind == DeviceType::Meta,
        NotImplemented,
        "Cannot copy out of meta tensor; no data!"
    );
    Ok(spec)
}

/// The requirements on a copy into an existing tensor.
pub fn copy_(self_: &Dense, src: &Dense, _non_blocking: bool) -> Result<()> {
    let shape = super::broadcast::broadcast_sizes(self_.sizes(), src.sizes())?;
    ensure!(
        *shape == *self_.sizes(),
        Runtime,
        "output with shape {} doesn't match the broadcast shape {}",
        format_sizes(self_.sizes()),
        format_sizes(&shape)
    );
    ensure!(
        src.device.kind != DeviceType::Meta || self_.device.kind == DeviceType::Meta,
        NotImplemented,
        "Cannot copy out of meta tensor; no data!"
    );
    Ok(())
}

/// Normal numbers of this size.
pub fn normal(_mean: f64, _std: f64, size: &[i64], _generator: Option<&Generator>, options: Options) -> Result<Spec> {
    sized(size, options)
}

fn integers(size: &[i64], options: Options) -> Result<Spec> {
    made(size, options.dtype.unwrap_or(DType::I64), options)
}

/// Integers in [0, high).
pub fn randint(high: i64, size: &[i64], options: Options) -> Result<Spec> {
    randint_low(0, high, size, options)
}

/// Like `randint`, from a generator.
pub fn randint_generator(high: i64, size: &[i64], _generator: Option<&Generator>, options: Options) -> Result<Spec> {
    randint(high, size, options)
}

/// Integers in [low, high).
pub fn randint_low(low: i64, high: i64, size: &[i64], options: Options) -> Result<Spec> {
    ensure!(low < high, Runtime, "random_ expects 'from' to be less than 'to', but got from={low} >= to={high}");
    integers(size, options)
}

/// Like `randint_low`, from a generator.
pub fn randint_low_generator(
    low: i64,
    high: i64,
    size: &[i64],
    _generator: Option<&Generator>,
    options: Options,
) -> Result<Spec> {
    randint_low(low, high, size, options)
}

/// A permutation of 0..n.
pub fn randperm(n: i64, options: Options) -> Result<Spec> {
    integers(&[n], options)
}

/// Like `randperm`, from a generator.
pub fn randperm_generator(n: i64, _generator: Option<&Generator>, options: Options) -> Result<Spec> {
    randperm(n, options)
}

/// Samples in the shape of their probabilities. The result is contiguous: samples are generated in its order.
pub fn bernoulli(self_: &Dense, _generator: Option<&Generator>) -> Result<Spec> {
    Ok(Spec::new(self_.sizes(), self_.dtype, self_.device))
}

/// Like `bernoulli`, with one probability.
pub fn bernoulli_p(self_: &Dense, _p: f64, generator: Option<&Generator>) -> Result<Spec> {
    bernoulli(self_, generator)
}

/// Normal numbers of these means.
pub fn normal_of_means(mean: &Dense, _std: f64, _generator: Option<&Generator>) -> Result<Spec> {
    Ok(Spec::new(mean.sizes(), mean.dtype, mean.device))
}

fn check_deviations(std: &Dense) -> Result<()> {
    ensure!(!std.dtype.is_complex(), Runtime, "normal expects standard deviation to be non-complex");
    Ok(())
}

/// Normal numbers of these deviations.
pub fn normal_of_deviations(_mean: f64, std: &Dense, _generator: Option<&Generator>) -> Result<Spec> {
    check_deviations(std)?;
    Ok(Spec::new(std.sizes(), std.dtype, std.device))
}

/// Normal numbers of these means and deviations.
pub fn normal_of_both(mean: &Dense, std: &Dense, _generator: Option<&Generator>) -> Result<Spec> {
    check_deviations(std)?;
    Ok(Spec::new(&super::broadcast_sizes(mean.sizes(), std.sizes())?, mean.dtype, mean.device))
}

/// Samples, one for each parameter.
pub fn sampled(self_: &Dense) -> Result<Spec> {
    Ok(Spec::new(self_.sizes(), self_.dtype, self_.device))
}

/// Number of successes of this many trials each.
pub fn binomial(count: &Dense, prob: &Dense) -> Result<Spec> {
    ensure!(
        count.dtype == prob.dtype,
        Runtime,
        "expected scalar type {} but found {}",
        count.dtype.c10_name(),
        prob.dtype.c10_name()
    );
    super::check_expandable(prob.sizes(), count.sizes())?;
    sampled(count)
}

/// Indices, this many for each row of weights.
pub fn multinomial(self_: &Dense, num_samples: i64, replacement: bool) -> Result<Spec> {
    ensure!(
        self_.dtype.is_differentiable() && !self_.dtype.is_complex(),
        Runtime,
        "multinomial only supports floating-point dtypes for input, got: {}",
        self_.dtype.c10_name()
    );
    ensure!(self_.ndim() == 1 || self_.ndim() == 2, Runtime, "prob_dist must be 1 or 2 dim");
    ensure!(num_samples > 0, Runtime, "cannot sample n_sample <= 0 samples");
    let categories = self_.sizes()[self_.ndim() - 1];
    ensure!(
        replacement || num_samples <= categories,
        Runtime,
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
    );
    let mut sizes = DimVec::from_slice(self_.sizes());
    if let Some(last) = sizes.last_mut() {
        *last = num_samples;
    }
    Ok(Spec::new(&sizes, DType::I64, self_.device))
}

/// Integers, shaped like a tensor.
pub fn randint_like(self_: &Dense, high: i64, options: Options, memory_format: Option<MemoryFormat>) -> Result<Spec> {
    randint_like_low(self_, 0, high, options, memory_format)
}

/// Like `randint_like`, from a number on.
pub fn randint_like_low(
    self_: &Dense,
    low: i64,
    high: i64,
    options: Options,
    memory_format: Option<MemoryFormat>,
) -> Result<Spec> {
    ensure!(low < high, Runtime, "random_ expects 'from' to be less than 'to', but got from={low} >= to={high}");
    empty_like(self_, options, memory_format)
}

/// Complex numbers of two parts of one dtype.
pub fn complex(real: &Dense, imag: &Dense) -> Result<Spec> {
    let is_part = |dtype| matches!(dtype, DType::F16 | DType::F32 | DType::F64);
    ensure!(
        is_part(real.dtype) && is_part(imag.dtype),
        Runtime,
        "Expected both inputs to be Half, Float or Double tensors but got {} and {}",
        real.dtype.c10_name(),
        imag.dtype.c10_name()
    );
    check_alike(real, imag)?;
    super::elementwise(real.dtype.to_complex(), &[real, imag])
}

pub(super) fn check_alike(first: &Dense, second: &Dense) -> Result<()> {
    ensure!(
        first.dtype == second.dtype,
        Runtime,
        "Expected object of scalar type {} but got scalar type {} for second argument",
        first.dtype.c10_name(),
        second.dtype.c10_name()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_ranges() {
        let length = |start, end, step| arange_start_step(start, end, step, Options::default());
        assert_eq!(length(Scalar::Int(0), Scalar::Int(5), Scalar::Int(2)).unwrap().sizes.as_slice(), &[3]);
        assert_eq!(length(Scalar::Int(5), Scalar::Int(0), Scalar::Int(-2)).unwrap().sizes.as_slice(), &[3]);
        assert_eq!(length(Scalar::Float(0.0), Scalar::Float(1.0), Scalar::Float(0.3)).unwrap().sizes.as_slice(), &[4]);
        assert!(length(Scalar::Int(0), Scalar::Int(5), Scalar::Int(-1)).is_err());
        assert!(length(Scalar::Int(0), Scalar::Int(5), Scalar::Int(0)).is_err());
    }
}
