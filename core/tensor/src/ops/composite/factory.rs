//! Composite operators: windows, Vandermonde matrices, resized tensors, and mapped files.

use crate::dense::{Dense, Geometry, Spec, strides_in};
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DeviceType, DimVec, MemoryFormat, Result, Scalar, Storage, bail, ensure};
use std::f64::consts::PI;

/// `0, 1, ..., n - 1` for a window of `window_length`, or the window itself if it is too short for a formula; a
/// periodic one is cut from one that is longer by one.
enum Steps {
    Window(Tensor),
    Of { steps: Tensor, last: f64, length: i64 },
}

impl Steps {
    fn new(name: &str, window_length: i64, periodic: bool, options: Options) -> Result<Steps> {
        let dtype = options.dtype_or_default();
        // Windows of one element are ones of any such dtype; for others PyTorch counts steps, which have no complex dtype.
        ensure!(
            !dtype.is_complex() || window_length <= 1,
            Runtime,
            "\"arange_cpu\" not implemented for '{}'",
            dtype.c10_name()
        );
        ensure!(dtype.is_differentiable(), Runtime, "{name} expects floating point dtypes, got: {}", dtype.c10_name());
        ensure!(
            window_length >= 0,
            Runtime,
            "{name} requires non-negative window_length, got window_length={window_length}"
        );
        let options = Options { dtype: Some(dtype), ..options };
        if window_length <= 1 {
            return Ok(Steps::Window(ops::ones(&[window_length], options)?));
        }
        // The longest of all has no memory anyway.
        let length = window_length.saturating_add(i64::from(periodic));
        let steps = ops::arange(Scalar::Int(length), options)?;
        Ok(Steps::Of { steps, last: (length - 1) as f64, length: window_length })
    }

    /// The window that `formula` computes from the steps and the last of them.
    fn window(self, formula: impl FnOnce(Tensor, f64) -> Result<Tensor>) -> Result<Tensor> {
        match self {
            Steps::Window(window) => Ok(window),
            Steps::Of { steps, last, length } => ops::narrow(&formula(steps, last)?, 0, 0, length),
        }
    }
}

/// `offset + factor cos(turn steps)`
fn wave(steps: &Tensor, turn: f64, factor: f64, offset: f64) -> Result<Tensor> {
    let wave = ops::cos(&times(steps, turn)?)?;
    ops::add_scalar(&times(&wave, factor)?, Scalar::Float(offset), Scalar::Int(1))
}

/// The product with a number, which in half precision is rounded: PyTorch multiplies windows in place.
fn times(steps: &Tensor, factor: f64) -> Result<Tensor> {
    let product = ops::clone(steps, None)?;
    ops::mul_scalar_(&product, Scalar::Float(factor))?;
    Ok(product)
}

/// A triangle.
pub fn bartlett_window(window_length: i64, options: Options) -> Result<Tensor> {
    bartlett_window_periodic(window_length, true, options)
}

/// A triangle.
pub fn bartlett_window_periodic(window_length: i64, periodic: bool, options: Options) -> Result<Tensor> {
    Steps::new("bartlett_window", window_length, periodic, options)?.window(|steps, last| {
        let rise = times(&steps, 2.0 / last)?;
        let fall = ops::rsub_scalar(&rise, Scalar::Int(2), Scalar::Int(1))?;
        ops::where_self(&ops::le_scalar(&steps, Scalar::Float((last / 2.0).floor()))?, &rise, &fall)
    })
}

/// Two cosines.
pub fn blackman_window(window_length: i64, options: Options) -> Result<Tensor> {
    blackman_window_periodic(window_length, true, options)
}

/// Two cosines.
pub fn blackman_window_periodic(window_length: i64, periodic: bool, options: Options) -> Result<Tensor> {
    Steps::new("blackman_window", window_length, periodic, options)?.window(|steps, last| {
        let fast = wave(&steps, 4.0 * PI / last, 0.08, 0.42)?;
        ops::add_tensor(&fast, &wave(&steps, 2.0 * PI / last, -0.5, 0.0)?, Scalar::Int(1))
    })
}

fn raised_cosine(
    name: &str,
    window_length: i64,
    periodic: bool,
    alpha: f64,
    beta: f64,
    options: Options,
) -> Result<Tensor> {
    Steps::new(name, window_length, periodic, options)?
        .window(|steps, last| wave(&steps, 2.0 * PI / last, -beta, alpha))
}

/// A cosine from 0 to 1.
pub fn hann_window(window_length: i64, options: Options) -> Result<Tensor> {
    hann_window_periodic(window_length, true, options)
}

/// A cosine from 0 to 1.
pub fn hann_window_periodic(window_length: i64, periodic: bool, options: Options) -> Result<Tensor> {
    raised_cosine("hann_window", window_length, periodic, 0.5, 0.5, options)
}

/// A cosine on a step.
pub fn hamming_window(window_length: i64, options: Options) -> Result<Tensor> {
    hamming_window_periodic(window_length, true, options)
}

/// A cosine on a step.
pub fn hamming_window_periodic(window_length: i64, periodic: bool, options: Options) -> Result<Tensor> {
    hamming_window_alpha(window_length, periodic, 0.54, options)
}

/// A raised cosine (Hann, Hamming).
pub fn hamming_window_alpha(window_length: i64, periodic: bool, alpha: f64, options: Options) -> Result<Tensor> {
    hamming_window_alpha_beta(window_length, periodic, alpha, 0.46, options)
}

/// A generalized raised cosine.
pub fn hamming_window_alpha_beta(
    window_length: i64,
    periodic: bool,
    alpha: f64,
    beta: f64,
    options: Options,
) -> Result<Tensor> {
    raised_cosine("hamming_window", window_length, periodic, alpha, beta, options)
}

/// A ratio of Bessel functions.
pub fn kaiser_window(window_length: i64, options: Options) -> Result<Tensor> {
    kaiser_window_periodic(window_length, true, options)
}

/// A ratio of Bessel functions.
pub fn kaiser_window_periodic(window_length: i64, periodic: bool, options: Options) -> Result<Tensor> {
    kaiser_window_beta(window_length, periodic, 12.0, options)
}

/// The Kaiser window: a ratio of Bessel functions.
pub fn kaiser_window_beta(window_length: i64, periodic: bool, beta: f64, options: Options) -> Result<Tensor> {
    Steps::new("kaiser_window", window_length, periodic, options)?.window(|steps, last| {
        // Half precision is rounded once, at the end.
        let dtype = steps.dtype();
        let steps = ops::to_dtype(&steps, dtype.opmath(), false, false, None)?;
        // From -1 to 1.
        let place =
            ops::sub_scalar(&ops::mul_scalar(&steps, Scalar::Float(2.0 / last))?, Scalar::Int(1), Scalar::Int(1))?;
        let height = ops::rsub_scalar(&ops::mul_tensor(&place, &place)?, Scalar::Int(1), Scalar::Int(1))?;
        // Rounding may leave the ends a little below zero.
        let height = ops::sqrt(&ops::clamp_min(&height, Scalar::Int(0))?)?;
        let most = ops::i0(&ops::full(&[], Scalar::Float(beta), place.options())?)?;
        let window = ops::div_tensor(&ops::i0(&ops::mul_scalar(&height, Scalar::Float(beta))?)?, &most)?;
        ops::to_dtype(&window, dtype, false, false, None)
    })
}

/// `x^0, x^1, ..., x^(count - 1)` in a last dimension.
fn powers(x: &Tensor, count: i64) -> Result<Tensor> {
    let mut sizes = x.sizes();
    sizes.push(1);
    let x = ops::unsqueeze(x, -1)?;
    let dtype = if x.dtype().is_integral(true) { DType::I64 } else { x.dtype() };
    let ones = ops::ones(&sizes, Options::of(dtype).on(x.device()))?;
    if count <= 1 {
        return ops::narrow(&ones, -1, 0, count);
    }
    if let Some(last) = sizes.last_mut() {
        *last = count - 1;
    }
    let rest = ops::cumprod(&ops::expand(&x, &sizes, false)?, -1, None)?;
    ops::cat(&[&ones, &rest], -1)
}

/// Columns are powers.
pub fn vander(x: &Tensor, n: Option<i64>, increasing: bool) -> Result<Tensor> {
    ensure!(x.ndim() == 1, Runtime, "x must be a one-dimensional tensor.");
    let count = n.unwrap_or(x.sizes()[0]);
    ensure!(count >= 0, Runtime, "N must be non-negative.");
    let powers = powers(x, count)?;
    if increasing { Ok(powers) } else { ops::flip(&powers, &[1]) }
}

/// Columns are rising powers; a number is a vector of one.
pub fn linalg_vander(x: &Tensor, n: Option<i64>) -> Result<Tensor> {
    ensure!(
        x.dtype() != DType::Bool && !matches!(x.dtype(), DType::F16 | DType::BF16 | DType::C32),
        Runtime,
        "linalg.vander supports floating point, complex, and integer tensors, but got {}",
        x.dtype().c10_name()
    );
    let row = if x.ndim() == 0 { ops::reshape(x, &[1])? } else { x.clone() };
    let count = n.unwrap_or(row.sizes()[row.ndim() - 1]);
    ensure!(count > 1, Runtime, "N must be greater than 1.");
    powers(&row, count)
}

/// Other sizes, in memory that may grow.
pub fn resize_(self_: &Tensor, size: &[i64], memory_format: Option<MemoryFormat>) -> Result<()> {
    ensure!(!self_.requires_grad(), Runtime, "cannot resize variables that require grad");
    rushlight_base::numel(size)?;
    let spec = Spec::new(size, self_.dtype(), self_.device());
    let spec = match memory_format {
        None => spec,
        Some(MemoryFormat::Preserve) => {
            return Err(rushlight_base::err!(Runtime, "Unsupported memory format Preserve"));
        }
        Some(format) => spec.with_strides(strides_in(size, format)?),
    };
    self_.resize_keeping(&spec)
}

/// The sizes of another tensor, in memory that may grow.
pub fn resize_as_(self_: &Tensor, the_template: &Tensor, memory_format: Option<MemoryFormat>) -> Result<()> {
    let sizes: DimVec = the_template.sizes();
    let format = match memory_format {
        Some(MemoryFormat::Preserve) => Some(the_template.suggested_format()),
        other => other,
    };
    resize_(self_, &sizes, format)
}

/// A file as the memory of a tensor.
pub fn from_file(filename: &str, shared: Option<bool>, size: Option<i64>, options: Options) -> Result<Tensor> {
    ensure!(options.pin_memory != Some(true), Runtime, "tensors constructed from a file cannot be pinned");
    options.check()?;
    let (dtype, device) = (options.dtype_or_default(), options.device_or_cpu());
    ensure!(
        device.kind == DeviceType::Cpu,
        NotImplemented,
        "Could not run 'aten::from_file' with arguments from the '{}' backend.",
        device.kind.name()
    );
    let size = size.unwrap_or(0);
    let bytes = usize::try_from(size).ok().and_then(|size| size.checked_mul(dtype.size()));
    let Some(bytes) = bytes else { bail!(Runtime, "unable to mmap {size} elements from file <{filename}>") };
    let storage = Storage::of_file(filename, shared.unwrap_or(false), bytes)?;
    Ok(Tensor::from_dense(Dense::new(storage, Geometry::contiguous(&[size]), dtype, device)))
}
