//! Operators made of the three transforms: one, two and n dimensions, frequencies and shifts.
//!
//! Each is computed by one function for the functional form and the out form. `out` then receives the last transform.

use super::rules::{Normalization, dimension, unique_dimensions};
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::runtime::default_dtype;
use rushlight_base::{DType, DeviceType, Result, Scalar, bail, ensure};

/// `self` in the dtype that the transform computes in: integers in the default dtype, and complex if that is required.
fn promoted(self_: &Tensor, complex: bool) -> Result<Tensor> {
    let dtype = self_.dtype();
    if dtype.is_complex() {
        return Ok(self_.clone());
    }
    let real = if dtype.is_differentiable() { dtype } else { default_dtype() };
    let exists =
        matches!(real, DType::F32 | DType::F64) || (real == DType::F16 && self_.device().kind == DeviceType::Meta);
    ensure!(exists, Runtime, "Unsupported dtype {}", real.c10_name());
    let computed = if complex { real.to_complex() } else { real };
    if computed == dtype { Ok(self_.clone()) } else { ops::to_dtype(self_, computed, false, false, None) }
}

/// `self` with these sizes along `dims`: cut, or padded with zeros at the end.
fn resized(self_: &Tensor, dims: &[usize], sizes: &[i64]) -> Result<Tensor> {
    let own = self_.sizes();
    let mut result = self_.clone();
    let mut padding = vec![0; 2 * own.len()];
    let mut pads = false;
    for (&dim, &size) in dims.iter().zip(sizes) {
        if own[dim] > size {
            result = ops::slice_tensor(&result, dim as i64, Some(0), Some(size), 1)?;
        } else if own[dim] < size {
            padding[2 * (own.len() - 1 - dim) + 1] = size - own[dim];
            pads = true;
        }
    }
    if pads { ops::constant_pad_nd(&result, &padding, Scalar::Int(0)) } else { Ok(result) }
}

fn check_points(size: i64) -> Result<()> {
    ensure!(size >= 1, Runtime, "Invalid number of data points ({size}) specified");
    Ok(())
}

fn check_complex_out(name: &str, out: Option<&Tensor>) -> Result<()> {
    let dtype = out.map_or(DType::C64, Tensor::dtype);
    ensure!(dtype.is_complex(), Runtime, "{name} expects a complex output tensor, but got {}", dtype.c10_name());
    Ok(())
}

fn check_real_out(name: &str, out: Option<&Tensor>) -> Result<()> {
    let dtype = out.map_or(DType::F32, Tensor::dtype);
    ensure!(
        dtype.is_differentiable() && !dtype.is_complex(),
        Runtime,
        "{name} expects a floating point output tensor, but got {}",
        dtype.c10_name()
    );
    Ok(())
}

/// The dimensions of a transform as arguments of an operator.
fn listed(dims: &[usize]) -> Vec<i64> {
    dims.iter().map(|&dim| dim as i64).collect()
}

fn c2c(
    name: &str,
    input: &Tensor,
    dims: &[usize],
    norm: Normalization,
    forward: bool,
    out: Option<&Tensor>,
) -> Result<Tensor> {
    check_complex_out(name, out)?;
    match out {
        Some(out) => ops::_fft_c2c_out(input, &listed(dims), norm as i64, forward, out).map(|()| out.clone()),
        None => ops::_fft_c2c(input, &listed(dims), norm as i64, forward),
    }
}

fn r2c(
    name: &str,
    input: &Tensor,
    dims: &[usize],
    norm: Normalization,
    onesided: bool,
    out: Option<&Tensor>,
) -> Result<Tensor> {
    check_complex_out(name, out)?;
    match out {
        Some(out) => ops::_fft_r2c_out(input, &listed(dims), norm as i64, onesided, out).map(|()| out.clone()),
        None => ops::_fft_r2c(input, &listed(dims), norm as i64, onesided),
    }
}

fn c2r(
    name: &str,
    input: &Tensor,
    dims: &[usize],
    norm: Normalization,
    size: i64,
    out: Option<&Tensor>,
) -> Result<Tensor> {
    check_real_out(name, out)?;
    match out {
        Some(out) => ops::_fft_c2r_out(input, &listed(dims), norm as i64, size, out).map(|()| out.clone()),
        None => ops::_fft_c2r(input, &listed(dims), norm as i64, size),
    }
}

/// The arguments of a transform along one dimension.
struct Line<'a> {
    name: &'static str,
    n: Option<i64>,
    dim: i64,
    norm: Option<&'a str>,
    forward: bool,
    out: Option<&'a Tensor>,
}

impl Line<'_> {
    /// Real input: its spectrum, or the conjugate for an inverse transform.
    fn of_real(&self, self_: &Tensor, onesided: bool) -> Result<Tensor> {
        let dtype = self_.dtype();
        ensure!(
            !dtype.is_complex(),
            Runtime,
            "{} expects a real input tensor, but got {}",
            self.name,
            dtype.c10_name()
        );
        check_complex_out(self.name, self.out)?;
        let input = promoted(self_, false)?;
        let dim = dimension(self.dim, input.ndim())?;
        let size = self.n.unwrap_or_else(|| input.sizes()[dim]);
        check_points(size)?;
        let input = resized(&input, &[dim], &[size])?;
        let norm = Normalization::of_name(self.norm, self.forward)?;
        if self.forward {
            return r2c(self.name, &input, &[dim], norm, onesided, self.out);
        }
        conjugated(&r2c(self.name, &input, &[dim], norm, onesided, None)?, self.out)
    }

    fn of_complex(&self, self_: &Tensor) -> Result<Tensor> {
        let dim = dimension(self.dim, self_.ndim())?;
        let size = self.n.unwrap_or_else(|| self_.sizes()[dim]);
        check_points(size)?;
        let input = resized(self_, &[dim], &[size])?;
        let norm = Normalization::of_name(self.norm, self.forward)?;
        c2c(self.name, &input, &[dim], norm, self.forward, self.out)
    }

    /// The whole spectrum of real or complex input.
    fn whole(&self, self_: &Tensor) -> Result<Tensor> {
        if self_.dtype().is_complex() { self.of_complex(self_) } else { self.of_real(self_, false) }
    }

    /// The real signal whose spectrum begins with the input; for a forward transform the input is conjugated.
    fn real(&self, self_: &Tensor) -> Result<Tensor> {
        check_real_out(self.name, self.out)?;
        let input = promoted(self_, true)?;
        let dim = dimension(self.dim, input.ndim())?;
        let size = self.n.unwrap_or_else(|| 2 * (input.sizes()[dim] - 1));
        check_points(size)?;
        let input = if self.n.is_some() { resized(&input, &[dim], &[size / 2 + 1])? } else { input };
        let norm = Normalization::of_name(self.norm, self.forward)?;
        let input = if self.forward { ops::conj(&input)? } else { input };
        c2r(self.name, &input, &[dim], norm, size, self.out)
    }
}

/// The conjugate, lazily unless it is written to `out`.
fn conjugated(result: &Tensor, out: Option<&Tensor>) -> Result<Tensor> {
    match out {
        Some(out) => ops::conj_physical_out(result, out).map(|()| out.clone()),
        None => ops::conj(result),
    }
}

/// The dimensions of a transform along several, and their sizes.
struct Shape {
    dims: Vec<usize>,
    sizes: Vec<i64>,
}

impl Shape {
    /// The last dimensions if `dim` is absent, all if `s` is absent too; the size -1 stands for that of the input.
    fn new(self_: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>) -> Result<Shape> {
        let (own, ndim) = (self_.sizes(), self_.ndim());
        let dims = dim.map(|dim| unique_dimensions(dim, ndim)).transpose()?;
        if let Some(s) = s {
            let same = dims.as_ref().is_none_or(|dims| dims.len() == s.len());
            ensure!(same, Runtime, "When given, dim and shape arguments must have the same length");
            let count = s.len();
            ensure!(
                count <= ndim,
                Runtime,
                "Got shape with {count} values but input tensor only has {ndim} dimensions."
            );
        }
        let dims = dims.unwrap_or_else(|| (ndim - s.map_or(ndim, <[i64]>::len)..ndim).collect());
        let size = |(nth, &dim): (usize, &usize)| match s {
            Some(s) if s[nth] != -1 => s[nth],
            _ => own[dim],
        };
        let sizes: Vec<i64> = dims.iter().enumerate().map(size).collect();
        sizes.iter().try_for_each(|&size| check_points(size))?;
        Ok(Shape { dims, sizes })
    }

    fn check_any(&self, name: &str) -> Result<()> {
        ensure!(!self.dims.is_empty(), Runtime, "{name} must transform at least one axis");
        Ok(())
    }

    fn of(&self, self_: &Tensor) -> Result<Tensor> {
        resized(self_, &self.dims, &self.sizes)
    }

    /// The shape of the spectrum of a real signal, and the size of the signal along the last dimension.
    fn of_spectrum(name: &str, self_: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>) -> Result<(Shape, i64)> {
        let mut shape = Shape::new(self_, s, dim)?;
        shape.check_any(name)?;
        let given = s.and_then(<[i64]>::last).is_some_and(|&size| size != -1);
        let (Some(size), Some(&last)) = (shape.sizes.last_mut(), shape.dims.last()) else {
            bail!(Internal, "a transform without dimensions");
        };
        let signal = if given { *size } else { 2 * (self_.sizes()[last] - 1) };
        check_points(signal)?;
        *size = signal / 2 + 1;
        Ok((shape, signal))
    }
}

/// The arguments of a transform along several dimensions.
struct Volume<'a> {
    name: &'static str,
    s: Option<&'a [i64]>,
    dim: Option<&'a [i64]>,
    norm: Option<&'a str>,
    forward: bool,
    out: Option<&'a Tensor>,
}

impl Volume<'_> {
    fn norm(&self) -> Result<Normalization> {
        Normalization::of_name(self.norm, self.forward)
    }

    /// `fftn`, `ifftn`.
    fn whole(&self, self_: &Tensor) -> Result<Tensor> {
        let shape = Shape::new(self_, self.s, self.dim)?;
        let input = shape.of(&promoted(self_, true)?)?;
        // PyTorch names this operator for both directions.
        c2c("fftn", &input, &shape.dims, self.norm()?, self.forward, self.out)
    }

    /// `rfftn`.
    fn half(&self, self_: &Tensor) -> Result<Tensor> {
        let dtype = self_.dtype();
        let (name, dtype_name) = (self.name, dtype.c10_name());
        ensure!(!dtype.is_complex(), Runtime, "{name} expects a real-valued input tensor, but got {dtype_name}");
        let shape = Shape::new(self_, self.s, self.dim)?;
        shape.check_any(name)?;
        let input = shape.of(&promoted(self_, false)?)?;
        r2c(name, &input, &shape.dims, self.norm()?, true, self.out)
    }

    /// `irfftn`.
    fn real(&self, self_: &Tensor) -> Result<Tensor> {
        let (shape, size) = Shape::of_spectrum(self.name, self_, self.s, self.dim)?;
        let input = shape.of(&promoted(self_, true)?)?;
        c2r(self.name, &input, &shape.dims, self.norm()?, size, self.out)
    }

    /// `hfftn`: forward transforms along all dimensions but the last, of which the input is half.
    fn hermitian(&self, self_: &Tensor) -> Result<Tensor> {
        let (shape, size) = Shape::of_spectrum(self.name, self_, self.s, self.dim)?;
        let input = shape.of(&promoted(self_, true)?)?;
        let norm = self.norm()?;
        let (others, last) = shape.dims.split_at(shape.dims.len() - 1);
        let input = if others.is_empty() { input } else { c2c(self.name, &input, others, norm, true, None)? };
        c2r(self.name, &ops::conj(&input)?, last, norm, size, self.out)
    }

    /// `ihfftn`: the half along the last dimension, then inverse transforms along the others.
    fn half_hermitian(&self, self_: &Tensor) -> Result<Tensor> {
        check_complex_out(self.name, self.out)?;
        let shape = Shape::new(self_, self.s, self.dim)?;
        shape.check_any(self.name)?;
        let input = shape.of(&promoted(self_, false)?)?;
        let norm = self.norm()?;
        let (others, last) = shape.dims.split_at(shape.dims.len() - 1);
        let half = r2c(self.name, &input, last, norm, true, None)?;
        if others.is_empty() {
            return conjugated(&half, self.out);
        }
        c2c(self.name, &ops::conj_physical(&half)?, others, norm, false, self.out)
    }
}

/// `lines! { fft_fft, fft_fft_out: "fft", forward, |call, input| ...; }`: a transform along one dimension and its out
/// form.
macro_rules! lines {
    ($($doc:literal $name:ident, $out:ident: $title:literal, $forward:literal, $compute:expr;)*) => {$(
        #[doc = $doc]
        pub fn $name(self_: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
            ($compute)(Line { name: $title, n, dim, norm, forward: $forward, out: None }, self_)
        }

        #[doc = concat!($doc, " Written to `out`.")]
        pub fn $out(self_: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>, out: &Tensor) -> Result<()> {
            let call = Line { name: $title, n, dim, norm, forward: $forward, out: Some(out) };
            ($compute)(call, self_).map(drop)
        }
    )*};
}

lines! {
    "The spectrum." fft_fft, fft_fft_out: "fft", true, |call: Line<'_>, input| call.whole(input);
    "The signal of a spectrum." fft_ifft, fft_ifft_out: "ifft", false, |call: Line<'_>, input| call.whole(input);
    "The first half of the spectrum of a real signal."
        fft_rfft, fft_rfft_out: "rfft", true, |call: Line<'_>, input| call.of_real(input, true);
    "The real signal of a half spectrum."
        fft_irfft, fft_irfft_out: "irfft", false, |call: Line<'_>, input| call.real(input);
    "The real spectrum of a half signal."
        fft_hfft, fft_hfft_out: "hfft", true, |call: Line<'_>, input| call.real(input);
    "The half signal of a real spectrum."
        fft_ihfft, fft_ihfft_out: "ihfft", false, |call: Line<'_>, input| call.of_real(input, true);
}

/// Transforms along several dimensions, of two (`dim` is a list) and n dimensions (an optional list).
macro_rules! volumes {
    ($($doc:literal $title:literal, $forward:literal, $method:ident:
        $two:ident, $two_out:ident, $many:ident, $many_out:ident;)*) => {$(
        #[doc = $doc]
        pub fn $two(self_: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
            $many(self_, s, Some(dim), norm)
        }

        #[doc = concat!($doc, " Written to `out`.")]
        pub fn $two_out(
            self_: &Tensor,
            s: Option<&[i64]>,
            dim: &[i64],
            norm: Option<&str>,
            out: &Tensor,
        ) -> Result<()> {
            $many_out(self_, s, Some(dim), norm, out)
        }

        #[doc = $doc]
        pub fn $many(self_: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
            Volume { name: $title, s, dim, norm, forward: $forward, out: None }.$method(self_)
        }

        #[doc = concat!($doc, " Written to `out`.")]
        pub fn $many_out(
            self_: &Tensor,
            s: Option<&[i64]>,
            dim: Option<&[i64]>,
            norm: Option<&str>,
            out: &Tensor,
        ) -> Result<()> {
            Volume { name: $title, s, dim, norm, forward: $forward, out: Some(out) }.$method(self_).map(drop)
        }
    )*};
}

volumes! {
    "The spectrum." "fftn", true, whole: fft_fft2, fft_fft2_out, fft_fftn, fft_fftn_out;
    "The signal of a spectrum." "ifftn", false, whole: fft_ifft2, fft_ifft2_out, fft_ifftn, fft_ifftn_out;
    "Half of the spectrum of a real signal."
        "rfftn", true, half: fft_rfft2, fft_rfft2_out, fft_rfftn, fft_rfftn_out;
    "The real signal of half a spectrum."
        "irfftn", false, real: fft_irfft2, fft_irfft2_out, fft_irfftn, fft_irfftn_out;
    "The real spectrum of half a signal."
        "hfftn", true, hermitian: fft_hfft2, fft_hfft2_out, fft_hfftn, fft_hfftn_out;
    "Half of the signal of a real spectrum."
        "ihfftn", false, half_hermitian: fft_ihfft2, fft_ihfft2_out, fft_ihfftn, fft_ihfftn_out;
}

fn check_frequencies(name: &str, out: &Tensor) -> Result<()> {
    ensure!(out.dtype().is_differentiable(), Runtime, "{name} requires a floating point or complex dtype");
    Ok(())
}

/// Frequencies of a spectrum, in cycles per unit of the spacing `d`.
pub fn fft_fftfreq(n: i64, d: f64, options: Options) -> Result<Tensor> {
    let out = ops::empty_memory_format(&[n], options, None)?;
    fft_fftfreq_out(n, d, &out)?;
    Ok(out)
}

/// Frequencies of a spectrum, written to `out`.
pub fn fft_fftfreq_out(n: i64, d: f64, out: &Tensor) -> Result<()> {
    check_frequencies("fftfreq", out)?;
    ops::arange_out(Scalar::Int(n), out)?;
    let negative = ops::slice_tensor(out, 0, Some((n + 1) / 2), Some(n), 1)?;
    ops::sub_scalar_(&negative, Scalar::Int(n), Scalar::Int(1))?;
    ops::mul_scalar_(out, Scalar::Float(1.0 / (n as f64 * d)))
}

/// Frequencies of the first half of a spectrum.
pub fn fft_rfftfreq(n: i64, d: f64, options: Options) -> Result<Tensor> {
    let out = ops::empty_memory_format(&[n / 2 + 1], options, None)?;
    fft_rfftfreq_out(n, d, &out)?;
    Ok(out)
}

/// Frequencies of the first half of a spectrum, written to `out`.
pub fn fft_rfftfreq_out(n: i64, d: f64, out: &Tensor) -> Result<()> {
    check_frequencies("rfftfreq", out)?;
    ops::arange_out(Scalar::Int(n / 2 + 1), out)?;
    ops::mul_scalar_(out, Scalar::Float(1.0 / (n as f64 * d)))
}

/// Moves the zero frequency to the center.
pub fn fft_fftshift(self_: &Tensor, dim: Option<&[i64]>) -> Result<Tensor> {
    shifted(self_, dim, |size| size / 2)
}

/// Moves the zero frequency from the center to the front.
pub fn fft_ifftshift(self_: &Tensor, dim: Option<&[i64]>) -> Result<Tensor> {
    shifted(self_, dim, |size| (size + 1) / 2)
}

fn shifted(self_: &Tensor, dim: Option<&[i64]>, shift: impl Fn(i64) -> i64) -> Result<Tensor> {
    let (sizes, ndim) = (self_.sizes(), self_.ndim());
    let dims: Vec<usize> = match dim {
        Some(dim) => dim.iter().map(|&dim| dimension(dim, ndim)).collect::<Result<_>>()?,
        None => (0..ndim).collect(),
    };
    let shifts: Vec<i64> = dims.iter().map(|&dim| shift(sizes[dim])).collect();
    ops::roll(self_, &shifts, &listed(&dims))
}
