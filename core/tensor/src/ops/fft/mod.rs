//! Fourier transforms: the kernels' glue over `rushlight-fft`, their rules (`rules`), the operators made of them
//! (`composite`) and spectrograms (`spectrogram`).

pub mod composite;
pub mod rules;
pub mod spectrogram;

use super::access::array;
use crate::dense::Dense;
use rules::{Normalization, dimensions, spectrum_strides};
use rushlight_base::{DimVec, Result, err};
use rushlight_cpu::Array;
use rushlight_fft as kernels;

/// The product of the sizes along `dims`.
fn count(sizes: &[i64], dims: &[usize]) -> f64 {
    dims.iter().map(|&dim| sizes[dim] as f64).product()
}

/// out = transform of self along dim
pub fn c2c(out: &Dense, self_: &Dense, dim: &[i64], normalization: i64, forward: bool) -> Result<()> {
    let dims = dimensions("_fft_c2c", self_, dim)?;
    let scale = Normalization::new(normalization)?.scale(count(self_.sizes(), &dims));
    if self_.numel() == 0 {
        return Ok(());
    }
    kernels::complex_to_complex(&array(out), &array(self_), &dims, forward, scale)
}

/// out = spectrum of self along dim
pub fn r2c(out: &Dense, self_: &Dense, dim: &[i64], normalization: i64, _onesided: bool) -> Result<()> {
    let dims = dimensions("_fft_r2c", self_, dim)?;
    let scale = Normalization::new(normalization)?.scale(count(self_.sizes(), &dims));
    if self_.numel() == 0 {
        return Ok(());
    }
    kernels::real_to_complex(&array(out), &array(self_), &dims, scale)
}

/// out = real signal of the spectrum self along dim
pub fn c2r(out: &Dense, self_: &Dense, dim: &[i64], normalization: i64, _last_dim_size: i64) -> Result<()> {
    let dims = dimensions("_fft_c2r", self_, dim)?;
    let (&last, others) = dims.split_last().ok_or_else(|| err!(Internal, "a transform without dimensions"))?;
    let scale = Normalization::new(normalization)?.scale(count(out.sizes(), &dims));
    if out.numel() == 0 {
        return Ok(());
    }
    if others.is_empty() {
        return kernels::complex_to_real(&array(out), &array(self_), last, scale);
    }
    // Only the part that the last transform reads.
    let mut sizes = DimVec::from_slice(self_.sizes());
    sizes[last] = out.sizes()[last] / 2 + 1;
    let strides = spectrum_strides(&sizes, self_.strides(), others);
    let spectrum = rules::spec(&sizes, self_.dtype, self_).with_strides(strides).allocate()?;
    let part = part_of(self_, &sizes);
    kernels::complex_to_complex(&array(&spectrum), &part, others, false, 1.0)?;
    kernels::complex_to_real(&array(out), &array(&spectrum), last, scale)
}

/// The first elements of `dense` along each dimension, as many as `sizes` (the shape rule compares them).
fn part_of<'a>(dense: &'a Dense, sizes: &'a [i64]) -> Array<'a> {
    super::access::array_as(dense, sizes, dense.strides())
}
