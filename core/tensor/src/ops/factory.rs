//! Kernels of sequences, identities, and `*_like` factories.

use super::access::{array, copy_into, over};
use super::creation::{part, unset};
use super::views;
use crate::dense::Dense;
use crate::options::Options;
use crate::tensor::scalar_of;
use rushlight_base::{Result, Scalar};
use rushlight_cpu::{Loop, elementary, fill};

fn fill_with(out: &Dense, value: Scalar) -> Result<()> {
    fill::fill(&Loop::new([array(out)])?, value)
}

/// out = s
pub fn scalar_tensor(out: &Dense, s: Scalar, _options: Options) -> Result<()> {
    fill_with(out, s)
}

/// out = 1 on the diagonal, 0 elsewhere
pub fn eye(out: &Dense, _n: i64, _options: Options) -> Result<()> {
    fill_with(out, Scalar::Int(0))?;
    fill_with(&out.with_geometry(views::diagonal(out, 0, 0, 1)?), Scalar::Int(1))
}

/// out = 1 on the diagonal, 0 elsewhere
pub fn eye_m(out: &Dense, n: i64, _m: i64, options: Options) -> Result<()> {
    eye(out, n, options)
}

/// out_i = start + i (end - start)/(steps - 1)
pub fn linspace(out: &Dense, start: Scalar, end: Scalar, _steps: i64, _options: Options) -> Result<()> {
    if out.numel() > 0 {
        start.check_convertible(out.dtype)?;
    }
    if out.numel() > 1 {
        end.check_convertible(out.dtype)?;
    }
    fill::linspace(&array(out), start, end)
}

/// Like `linspace`, from tensor to tensor.
pub fn linspace_tensors(out: &Dense, start: &Dense, end: &Dense, steps: i64, options: Options) -> Result<()> {
    linspace(out, scalar_of(start)?, scalar_of(end)?, steps, options)
}

/// Like `linspace`, from tensor to number.
pub fn linspace_from_tensor(out: &Dense, start: &Dense, end: Scalar, steps: i64, options: Options) -> Result<()> {
    linspace(out, scalar_of(start)?, end, steps, options)
}

/// Like `linspace`, from number to tensor.
pub fn linspace_to_tensor(out: &Dense, start: Scalar, end: &Dense, steps: i64, options: Options) -> Result<()> {
    linspace(out, start, scalar_of(end)?, steps, options)
}

/// out_i = base^(start + i (end - start)/(steps - 1))
pub fn logspace(out: &Dense, start: Scalar, end: Scalar, _steps: i64, base: f64, _options: Options) -> Result<()> {
    // One power is computed without the end, from a floating-point exponent.
    if out.numel() > 1 {
        start.check_convertible(out.dtype)?;
        end.check_convertible(out.dtype)?;
    }
    fill::logspace(&array(out), start, end, base)
}

/// Like `logspace`, from tensor to tensor.
pub fn logspace_tensors(
    out: &Dense,
    start: &Dense,
    end: &Dense,
    steps: i64,
    base: f64,
    options: Options,
) -> Result<()> {
    logspace(out, scalar_of(start)?, scalar_of(end)?, steps, base, options)
}

/// Like `logspace`, from tensor to number.
pub fn logspace_from_tensor(
    out: &Dense,
    start: &Dense,
    end: Scalar,
    steps: i64,
    base: f64,
    options: Options,
) -> Result<()> {
    logspace(out, scalar_of(start)?, end, steps, base, options)
}

/// Like `logspace`, from number to tensor.
pub fn logspace_to_tensor(
    out: &Dense,
    start: Scalar,
    end: &Dense,
    steps: i64,
    base: f64,
    options: Options,
) -> Result<()> {
    logspace(out, start, scalar_of(end)?, steps, base, options)
}

/// Rows and columns of the elements in columns `first(row)..last(row)` of each row.
fn indices(out: &Dense, row: i64, first: &dyn Fn(i64) -> i64, last: &dyn Fn(i64) -> i64) -> Result<()> {
    let each = || (0..row).flat_map(|i| (first(i)..last(i)).map(move |j| (i, j)));
    fill::integers(&array(&out.with_geometry(views::select(out, 0, 0)?)), &mut each().map(|(i, _)| i))?;
    fill::integers(&array(&out.with_geometry(views::select(out, 0, 1)?)), &mut each().map(|(_, j)| j))
}

/// out = rows and columns of the lower triangle
pub fn tril_indices(out: &Dense, row: i64, col: i64, offset: i64, _options: Options) -> Result<()> {
    indices(out, row, &|_| 0, &|i| offset.saturating_add(i + 1).clamp(0, col))
}

/// out = rows and columns of the upper triangle
pub fn triu_indices(out: &Dense, row: i64, col: i64, offset: i64, _options: Options) -> Result<()> {
    indices(out, row, &|i| offset.saturating_add(i).clamp(0, col), &|_| col)
}

/// out: uninitialized
pub fn empty_permuted(out: &Dense, _size: &[i64], _physical_layout: &[i64], _options: Options) -> Result<()> {
    unset(out)
}

/// out: uninitialized
pub fn new_empty(out: &Dense, _self: &Dense, _size: &[i64], _options: Options) -> Result<()> {
    unset(out)
}

/// out: uninitialized
pub fn new_empty_strided(out: &Dense, _self: &Dense, _size: &[i64], _stride: &[i64], _options: Options) -> Result<()> {
    unset(out)
}

/// out = fill_value
pub fn new_full(out: &Dense, _self: &Dense, _size: &[i64], fill_value: Scalar, _options: Options) -> Result<()> {
    fill_with(out, fill_value)
}

/// out = 1
pub fn new_ones(out: &Dense, _self: &Dense, _size: &[i64], _options: Options) -> Result<()> {
    fill_with(out, Scalar::Int(1))
}

/// out = 0
pub fn new_zeros(out: &Dense, _self: &Dense, _size: &[i64], _options: Options) -> Result<()> {
    fill_with(out, Scalar::Int(0))
}

/// out = abs (cos angle + i sin angle)
pub fn polar(out: &Dense, abs: &Dense, angle: &Dense) -> Result<()> {
    let (real, imag) = (part(out, 0)?, part(out, 1)?);
    over(real.dtype, [&real, abs, angle], elementary::real_of_polar)?;
    over(imag.dtype, [&imag, abs, angle], elementary::imaginary_of_polar)
}

/// out = self
pub fn lift_fresh_copy(out: &Dense, self_: &Dense) -> Result<()> {
    copy_into(out, self_)
}
