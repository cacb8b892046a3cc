//! Rules of the transforms that the operators of the family are made of: which inputs are valid, and how results are
//! stored.

use crate::dense::{Dense, Spec};
use rushlight_base::{DType, DimVec, Result, bail, ensure, format_sizes};

/// What a transform is divided by, as a number in the operators that others call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalization {
    /// Nothing.
    None = 0,
    /// The square root of the number of elements.
    ByRoot = 1,
    /// The number of elements.
    ByCount = 2,
}

impl Normalization {
    /// The normalization with this number.
    pub fn new(number: i64) -> Result<Normalization> {
        match number {
            0 => Ok(Normalization::None),
            1 => Ok(Normalization::ByRoot),
            2 => Ok(Normalization::ByCount),
            _ => bail!(Runtime, "Invalid normalization mode: {number} (0: none, 1: 1/sqrt(n), 2: 1/n)"),
        }
    }

    /// The normalization that a name stands for, of a forward or an inverse transform.
    pub fn of_name(norm: Option<&str>, forward: bool) -> Result<Normalization> {
        let divided = match norm {
            None | Some("backward") => !forward,
            Some("forward") => forward,
            Some("ortho") => return Ok(Normalization::ByRoot),
            Some(other) => bail!(Runtime, "Invalid normalization mode: \"{other}\""),
        };
        Ok(if divided { Normalization::ByCount } else { Normalization::None })
    }

    /// The factor for `count` elements.
    pub fn scale(self, count: f64) -> f64 {
        match self {
            Normalization::None => 1.0,
            Normalization::ByRoot => 1.0 / count.sqrt(),
            Normalization::ByCount => 1.0 / count,
        }
    }
}

/// A result on the device of `self_`.
pub fn spec(sizes: &[i64], dtype: DType, self_: &Dense) -> Spec {
    Spec::new(sizes, dtype, self_.device)
}

/// The dimension that `dim` names, of a tensor that has some.
pub fn dimension(dim: i64, ndim: usize) -> Result<usize> {
    ensure!(ndim > 0, Index, "Dimension specified as {dim} but tensor has no dimensions");
    rushlight_base::wrap_dim(dim, ndim)
}

/// The dimensions that `dim` names, each once.
pub fn unique_dimensions(dim: &[i64], ndim: usize) -> Result<Vec<usize>> {
    let mut dims = rushlight_base::list::with_capacity(dim.len())?;
    for &dim in dim {
        dims.push(dimension(dim, ndim)?);
    }
    let mut seen = 0u64;
    for &dim in &dims {
        ensure!(seen >> dim & 1 == 0, Runtime, "FFT dims must be unique");
        seen |= 1 << dim;
    }
    Ok(dims)
}

/// The dimensions of a transform, none of which may be empty.
pub fn dimensions(name: &str, self_: &Dense, dim: &[i64]) -> Result<Vec<usize>> {
    let dims = unique_dimensions(dim, self_.ndim())?;
    for &dim in &dims {
        let size = self_.sizes()[dim];
        let shape = format_sizes(self_.sizes());
        ensure!(
            size >= 1,
            Runtime,
            "{name}: Invalid number of data points ({size}) specified: dimension {dim} of a tensor of shape {shape} is empty"
        );
    }
    Ok(dims)
}

/// Dimensions in the order of descending strides of the input, those of equal strides as they are.
fn by_stride(dims: &mut [usize], strides: &[i64]) {
    dims.sort_by_key(|&dim| std::cmp::Reverse(strides[dim]));
}

/// The strides of a result: the dimensions that are not transformed come first, in the order of the input's strides,
/// then those in `dims` in this order.
pub fn spectrum_strides(sizes: &[i64], input: &[i64], dims: &[usize]) -> DimVec {
    let mut order: Vec<usize> = (0..sizes.len()).filter(|dim| !dims.contains(dim)).collect();
    by_stride(&mut order, input);
    order.extend(dims);
    let (mut strides, mut step) = (DimVec::from_elem(1, sizes.len()), 1i64);
    for &dim in order.iter().rev() {
        strides[dim] = step;
        step = step.saturating_mul(sizes[dim].max(1));
    }
    strides
}

/// Whether a transform exists for numbers of this real dtype on the device of `self_`.
fn check_dtype(name: &str, self_: &Dense, real: DType) -> Result<()> {
    let exists = matches!(real, DType::F32 | DType::F64) || (real == DType::F16 && self_.is_meta());
    let dtype = self_.dtype.c10_name();
    ensure!(exists, Runtime, "{name}: Fourier transforms on the CPU do not support tensors of type: {dtype}");
    Ok(())
}

fn check_complex(name: &str, self_: &Dense) -> Result<()> {
    let dtype = self_.dtype.c10_name();
    ensure!(
        self_.dtype.is_complex(),
        Runtime,
        "Expected self.is_complex() to be true, but got false. ({name} takes a complex tensor, got {dtype})"
    );
    check_dtype(name, self_, self_.dtype.to_real())
}

/// The same shape.
pub fn c2c(self_: &Dense, dim: &[i64], normalization: i64, _forward: bool) -> Result<Spec> {
    check_complex("_fft_c2c", self_)?;
    let mut dims = dimensions("_fft_c2c", self_, dim)?;
    Normalization::new(normalization)?;
    let result = spec(self_.sizes(), self_.dtype, self_);
    if dims.is_empty() {
        let strides = crate::ops::rules::preserved_strides(self_.sizes(), self_.strides());
        return Ok(result.with_strides(strides));
    }
    by_stride(&mut dims, self_.strides());
    Ok(result.with_strides(spectrum_strides(self_.sizes(), self_.strides(), &dims)))
}

/// Complex; the last dimension of `dim` has n / 2 + 1 elements, or all.
pub fn r2c(self_: &Dense, dim: &[i64], normalization: i64, onesided: bool) -> Result<Spec> {
    let dtype = self_.dtype.c10_name();
    let is_real = self_.dtype.is_differentiable() && !self_.dtype.is_complex();
    ensure!(
        is_real,
        Runtime,
        "Expected self.is_floating_point() to be true, but got false. (_fft_r2c takes a floating point tensor, got {dtype})"
    );
    check_dtype("_fft_r2c", self_, self_.dtype)?;
    let mut dims = dimensions("_fft_r2c", self_, dim)?;
    Normalization::new(normalization)?;
    let Some((&mut last, others)) = dims.split_last_mut() else {
        bail!(Runtime, "_fft_r2c must transform at least one axis");
    };
    by_stride(others, self_.strides());
    let mut sizes = DimVec::from_slice(self_.sizes());
    if onesided {
        sizes[last] = sizes[last] / 2 + 1;
    }
    let strides = spectrum_strides(&sizes, self_.strides(), &dims);
    Ok(spec(&sizes, self_.dtype.to_complex(), self_).with_strides(strides))
}

/// Real; the last dimension of `dim` has `last_dim_size` elements.
pub fn c2r(self_: &Dense, dim: &[i64], normalization: i64, last_dim_size: i64) -> Result<Spec> {
    check_complex("_fft_c2r", self_)?;
    let mut dims = dimensions("_fft_c2r", self_, dim)?;
    Normalization::new(normalization)?;
    let Some((&mut last, others)) = dims.split_last_mut() else {
        bail!(Runtime, "_fft_c2r must transform at least one axis");
    };
    ensure!(last_dim_size >= 1, Runtime, "Invalid number of data points ({last_dim_size}) specified");
    let given = self_.sizes()[last];
    ensure!(
        given > last_dim_size / 2,
        Runtime,
        "_fft_c2r: a signal of {last_dim_size} elements has a spectrum of {} elements, but dimension {last} of a tensor \
         of shape {} has {given}",
        last_dim_size / 2 + 1,
        format_sizes(self_.sizes())
    );
    let mut strides = DimVec::from_slice(self_.strides());
    if !others.is_empty() {
        by_stride(others, self_.strides());
        strides = spectrum_strides(self_.sizes(), &strides, others);
    }
    let mut sizes = DimVec::from_slice(self_.sizes());
    sizes[last] = last_dim_size;
    let strides = spectrum_strides(&sizes, &strides, &[last]);
    Ok(spec(&sizes, self_.dtype.to_real(), self_).with_strides(strides))
}
