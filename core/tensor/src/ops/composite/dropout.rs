//! The family of dropout.

use crate::autograd::Expr;
use crate::generator::Generator;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Result, Scalar, ensure};

/// What `selu` saturates at, with the other sign.
const ALPHA: f64 = 1.758_099_340_847_376_6;

/// `input` as it is, where nothing is dropped; zeros, where everything is.
fn without_draw(input: &Tensor, p: f64, train: bool) -> Result<Option<Tensor>> {
    ensure!((0.0..=1.0).contains(&p), Runtime, "dropout probability has to be between 0 and 1, but got {p}");
    if p == 0.0 || !train || input.numel() == 0 {
        return Ok(Some(input.clone()));
    }
    if p == 1.0 {
        return ops::mul_tensor(input, &ops::zeros(&[], input.options())?).map(Some);
    }
    Ok(None)
}

/// Ones and zeros, these with probability p: for each element, or for each channel of each sample.
fn draw(input: &Tensor, p: f64, by_channel: bool) -> Result<Tensor> {
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

/// Elements or channels zeroed with probability p, the others scaled by 1 / (1 - p).
fn zeroing(input: &Tensor, p: f64, train: bool, by_channel: bool) -> Result<Tensor> {
    if let Some(result) = without_draw(input, p, train)? {
        return Ok(result);
    }
    let noise = draw(input, p, by_channel)?;
    ops::div_scalar_(&noise, Scalar::Float(1.0 - p))?;
    ops::mul_tensor(input, &noise)
}

/// Elements or channels set to where `selu` saturates with probability p, then brought back to mean 0 and variance 1.
fn saturating(input: &Tensor, p: f64, train: bool, by_channel: bool) -> Result<Tensor> {
    if let Some(result) = without_draw(input, p, train)? {
        return Ok(result);
    }
    let noise = draw(input, p, by_channel)?;
    let scale = 1.0 / ((ALPHA * ALPHA * p + 1.0) * (1.0 - p)).sqrt();
    let shift = (Expr::from(&noise) - 1.0) * (ALPHA * scale) + ALPHA * scale * p;
    ops::mul_scalar_(&noise, Scalar::Float(scale))?;
    (Expr::from(input) * Expr::from(noise) + shift).into_tensor()
}

/// Elements zeroed.
pub fn dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    zeroing(input, p, train, false)
}

/// Channels zeroed.
pub fn feature_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    zeroing(input, p, train, true)
}

/// Elements saturated.
pub fn alpha_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    saturating(input, p, train, false)
}

/// Channels saturated.
pub fn feature_alpha_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    saturating(input, p, train, true)
}
