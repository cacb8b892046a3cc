//! Derivatives of Fourier transforms: transforms in the other direction with the same normalization.

use super::Expr;
use crate::ops;
use rushlight_base::{Scalar, wrap_dim};

/// The dimension that is half of a spectrum.
fn last(dim: &[i64], ndim: usize) -> usize {
    dim.last().and_then(|&dim| wrap_dim(dim, ndim).ok()).unwrap_or_default()
}

/// `grad` with zeros at the end of a dimension, which then has `size` elements.
fn padded(grad: &Expr, dim: usize, size: i64) -> Expr {
    let sizes = grad.sizes();
    let missing = size - sizes.get(dim).copied().unwrap_or(size);
    if missing <= 0 {
        return grad.clone();
    }
    let mut padding = vec![0; 2 * (sizes.len() - dim)];
    if let Some(end) = padding.last_mut() {
        *end = missing;
    }
    grad.constant_pad_nd(&padding, Scalar::Int(0))
}

/// The gradient of a spectrum of real data of these sizes: that of a whole spectrum, whose missing half has none.
pub fn fft_r2c(grad: &Expr, dim: &[i64], normalization: i64, onesided: bool, sizes: &[i64]) -> Expr {
    let at = last(dim, sizes.len());
    let whole = if onesided { padded(grad, at, sizes.get(at).copied().unwrap_or(0)) } else { grad.clone() };
    whole._fft_c2c(dim, normalization, false).real()
}

/// The gradient of a real signal with respect to the half spectrum of these sizes: elements that stand for two, because
/// the signal is real, count twice.
pub fn fft_c2r(grad: &Expr, dim: &[i64], normalization: i64, sizes: &[i64]) -> Expr {
    let at = last(dim, sizes.len());
    let half = grad._fft_r2c(dim, normalization, true);
    let (given, length) = (half.sizes().get(at).copied(), grad.sizes().get(at).copied());
    let (Some(given), Some(length)) = (given, length) else { return half };
    let along = at as i64;
    let twice = length - given;
    let half = if twice > 0 {
        let parts = [
            half.narrow(along, 0, 1),
            half.narrow(along, 1, twice) * Scalar::Int(2),
            half.narrow(along, 1 + twice, given - 1 - twice),
        ];
        Expr::of(|| ops::cat(&[parts[0].tensor()?, parts[1].tensor()?, parts[2].tensor()?], along))
    } else {
        half
    };
    padded(&half, at, sizes.get(at).copied().unwrap_or(given))
}
