//! The dropout operators.

use crate::autograd::Expr;
use crate::generator::Generator;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Result, Scalar, ensure};

/// The negated saturation value of `selu`.
const ALPHA: f64 = 1.758_099_340_847_376_6;

/// Whether `input` is returned unchanged.
fn is_idle(input: &Tensor, p: f64, train: bool) -> Result<bool> {
    ensure!((0.0..=1.0).contains(&p), Runtime, "dropout probability has to be between 0 and 1, but got {p}");
    Ok(p == 0.0 || !train || input.numel() == 0)
}

/// Ones and zeros, zeros with probability p: for each element, or for each channel of each sample.
fn sample_mask(input: &Tensor, p: f64, by_channel: bool) -> Result<Tensor> {
    let noise = if by_channel {
        ensure!(input.ndim() >= 2, Runtime, "Feature dropout requires at least 2 dimensions in the input");
        let mut sizes = DimVec::from_elem(1, input.ndim());
        sizes[..2].copy_from_slice(&input.sizes()[..2]);
        ops::empty_memory_format(&sizes, input.options(), None)?
    } else {
        ops::empty_like(input, Options::default(), None)?
    };
    let default: Option<&Generator> = None;
    ops::bernoulli_float_(&noise, 1.0 - p, default)?;
    Ok(noise)
}

/// The factor of elements, or channels: 0 with probability p, else 1 / (1 - p). None if they are unchanged.
fn factors(input: &Tensor, p: f64, train: bool, by_channel: bool) -> Result<Option<Tensor>> {
    if is_idle(input, p, train)? {
        return Ok(None);
    }
    if p == 1.0 {
        return ops::zeros(&[], input.options()).map(Some);
    }
    let noise = sample_mask(input, p, by_channel)?;
    ops::div_scalar_(&noise, Scalar::Float(1.0 - p))?;
    Ok(Some(noise))
}

fn zeroing(input: &Tensor, p: f64, train: bool, by_channel: bool) -> Result<Tensor> {
    factors(input, p, train, by_channel)?.map_or_else(|| Ok(input.clone()), |factors| ops::mul_tensor(input, &factors))
}

/// The factor of elements, or channels, and the addend: with probability p they are set to the saturation value of
/// `selu`; all are rescaled to mean 0 and variance 1. None if they are unchanged.
fn saturation(input: &Tensor, p: f64, train: bool, by_channel: bool) -> Result<Option<(Tensor, Option<Tensor>)>> {
    if is_idle(input, p, train)? {
        return Ok(None);
    }
    if p == 1.0 {
        return Ok(Some((ops::zeros(&[], input.options())?, None)));
    }
    let noise = sample_mask(input, p, by_channel)?;
    let scale = 1.0 / ((ALPHA * ALPHA * p + 1.0) * (1.0 - p)).sqrt();
    let shift = (Expr::from(&noise) - 1.0) * (ALPHA * scale) + ALPHA * scale * p;
    ops::mul_scalar_(&noise, Scalar::Float(scale))?;
    Ok(Some((noise, Some(shift.into_tensor()?))))
}

fn saturating(input: &Tensor, p: f64, train: bool, by_channel: bool) -> Result<Tensor> {
    let Some((factors, shift)) = saturation(input, p, train, by_channel)? else { return Ok(input.clone()) };
    let scaled = ops::mul_tensor(input, &factors)?;
    shift.map_or(Ok(scaled.clone()), |shift| ops::add_tensor(&scaled, &shift, Scalar::Int(1)))
}

fn saturate(input: &Tensor, p: f64, train: bool, by_channel: bool) -> Result<()> {
    let Some((factors, shift)) = saturation(input, p, train, by_channel)? else { return Ok(()) };
    ops::mul_tensor_(input, &factors)?;
    shift.map_or(Ok(()), |shift| ops::add_tensor_(input, &shift, Scalar::Int(1)))
}

/// Sets elements to zero.
pub fn dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    zeroing(input, p, train, false)
}

fn zero(input: &Tensor, p: f64, train: bool, by_channel: bool) -> Result<()> {
    factors(input, p, train, by_channel)?.map_or(Ok(()), |factors| ops::mul_tensor_(input, &factors))
}

/// Like `dropout`, in place.
pub fn dropout_(input: &Tensor, p: f64, train: bool) -> Result<()> {
    zero(input, p, train, false)
}

/// Like `feature_dropout`, in place.
pub fn feature_dropout_(input: &Tensor, p: f64, train: bool) -> Result<()> {
    zero(input, p, train, true)
}

/// Like `alpha_dropout`, in place.
pub fn alpha_dropout_(input: &Tensor, p: f64, train: bool) -> Result<()> {
    saturate(input, p, train, false)
}

/// Like `feature_alpha_dropout`, in place.
pub fn feature_alpha_dropout_(input: &Tensor, p: f64, train: bool) -> Result<()> {
    saturate(input, p, train, true)
}

/// Sets channels to zero.
pub fn feature_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    zeroing(input, p, train, true)
}

/// Sets elements to the saturation value.
pub fn alpha_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    saturating(input, p, train, false)
}

/// Sets channels to the saturation value.
pub fn feature_alpha_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    saturating(input, p, train, true)
}
