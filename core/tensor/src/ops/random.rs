//! Kernels of random operators. Each holds the generator for its whole output.

use super::access::{Operand, array};
use crate::dense::{Dense, Geometry};
use crate::generator::Generator;
use crate::options::Options;
use rushlight_base::{DimVec, MemoryFormat, Result, Scalar, ensure};
use rushlight_cpu::{Loop, arithmetic, random};

/// A complex tensor as its real and imaginary parts, in a last dimension of 2; a real one as it is.
fn parts(dense: &Dense) -> Dense {
    if !dense.dtype.is_complex() {
        return dense.clone();
    }
    let mut sizes = DimVec::from_slice(dense.sizes());
    sizes.push(2);
    let mut strides: DimVec = dense.strides().iter().map(|stride| stride * 2).collect();
    strides.push(1);
    let geometry = Geometry { sizes, strides, offset: dense.geometry.offset * 2 };
    Dense::new(dense.storage.clone(), geometry, dense.dtype.to_real(), dense.device)
}

fn check_floating(name: &str, dense: &Dense) -> Result<()> {
    ensure!(
        dense.dtype.is_differentiable(),
        NotImplemented,
        "\"{name}\" not implemented for '{}'",
        dense.dtype.c10_name()
    );
    Ok(())
}

fn uniform(out: &Dense, from: f64, to: f64, generator: Option<&Generator>) -> Result<()> {
    check_floating("check_uniform_bounds", out)?;
    let out = parts(out);
    random::uniform(&Loop::new([array(&out)])?, from, to, &mut Generator::or_default(generator).lock())
}

fn fill_normal(out: &Dense, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    check_floating("normal_kernel_cpu", out)?;
    ensure!(std >= 0.0, Runtime, "normal expects std >= 0.0, but found std {std}");
    // Each part of a complex number has half of the variance.
    let std = if out.dtype.is_complex() { std / std::f64::consts::SQRT_2 } else { std };
    let out = parts(out);
    random::normal(&array(&out), mean, std, &mut Generator::or_default(generator).lock())
}

/// self: uniform over [from, to)
pub fn uniform_(self_: &Dense, from_: f64, to: f64, generator: Option<&Generator>) -> Result<()> {
    uniform(self_, from_, to, generator)
}

/// out: uniform over [0, 1)
pub fn rand(out: &Dense, _size: &[i64], _options: Options) -> Result<()> {
    uniform(out, 0.0, 1.0, None)
}

/// out: uniform over [0, 1)
pub fn rand_generator(out: &Dense, _size: &[i64], generator: Option<&Generator>, _options: Options) -> Result<()> {
    uniform(out, 0.0, 1.0, generator)
}

/// out: uniform over [0, 1)
pub fn rand_like(out: &Dense, _self: &Dense, _options: Options, _memory_format: Option<MemoryFormat>) -> Result<()> {
    uniform(out, 0.0, 1.0, None)
}

/// self: normal
pub fn normal_(self_: &Dense, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    fill_normal(self_, mean, std, generator)
}

/// out: normal
pub fn normal(
    out: &Dense,
    mean: f64,
    std: f64,
    _size: &[i64],
    generator: Option<&Generator>,
    _options: Options,
) -> Result<()> {
    fill_normal(out, mean, std, generator)
}

/// out: standard normal
pub fn randn(out: &Dense, _size: &[i64], _options: Options) -> Result<()> {
    fill_normal(out, 0.0, 1.0, None)
}

/// out: standard normal
pub fn randn_generator(out: &Dense, _size: &[i64], generator: Option<&Generator>, _options: Options) -> Result<()> {
    fill_normal(out, 0.0, 1.0, generator)
}

/// out: standard normal
pub fn randn_like(out: &Dense, _self: &Dense, _options: Options, _memory_format: Option<MemoryFormat>) -> Result<()> {
    fill_normal(out, 0.0, 1.0, None)
}

/// out: integers in [0, high)
pub fn randint(out: &Dense, high: i64, size: &[i64], options: Options) -> Result<()> {
    randint_low_generator(out, 0, high, size, None, options)
}

/// out: integers in [0, high)
pub fn randint_generator(
    out: &Dense,
    high: i64,
    size: &[i64],
    generator: Option<&Generator>,
    options: Options,
) -> Result<()> {
    randint_low_generator(out, 0, high, size, generator, options)
}

/// out: integers in [low, high)
pub fn randint_low(out: &Dense, low: i64, high: i64, size: &[i64], options: Options) -> Result<()> {
    randint_low_generator(out, low, high, size, None, options)
}

/// out: integers in [low, high)
pub fn randint_low_generator(
    out: &Dense,
    low: i64,
    high: i64,
    _size: &[i64],
    generator: Option<&Generator>,
    _options: Options,
) -> Result<()> {
    random::integers(&Loop::new([array(out)])?, low, high, &mut Generator::or_default(generator).lock())
}

/// out: a permutation of 0..n
pub fn randperm(out: &Dense, n: i64, options: Options) -> Result<()> {
    randperm_generator(out, n, None, options)
}

/// out: a permutation of 0..n
pub fn randperm_generator(out: &Dense, _n: i64, generator: Option<&Generator>, _options: Options) -> Result<()> {
    random::permutation(&array(out), &mut Generator::or_default(generator).lock())
}

/// out: 0 or 1, with the probabilities self
pub fn bernoulli(out: &Dense, self_: &Dense, generator: Option<&Generator>) -> Result<()> {
    bernoulli_tensor_(out, self_, generator)
}

/// out: 0 or 1, with probability p
pub fn bernoulli_p(out: &Dense, _self: &Dense, p: f64, generator: Option<&Generator>) -> Result<()> {
    bernoulli_float_(out, p, generator)
}

/// self: 0 or 1, with probability p
pub fn bernoulli_float_(self_: &Dense, p: f64, generator: Option<&Generator>) -> Result<()> {
    random::coins(&Loop::new([array(self_)])?, p, &mut Generator::or_default(generator).lock())
}

/// self: 0 or 1, with the probabilities p
pub fn bernoulli_tensor_(self_: &Dense, p: &Dense, generator: Option<&Generator>) -> Result<()> {
    super::rules::check_expandable(p.sizes(), self_.sizes())?;
    random::coins_of(&Loop::new([array(self_), array(p)])?, &mut Generator::or_default(generator).lock())
}

/// out0, out1 = input mask / (1 - p) and the mask, which keeps an element with probability 1 - p; without
/// training the input and a mask of ones
pub fn native_dropout(out0: &Dense, out1: &Dense, input: &Dense, p: f64, train: Option<bool>) -> Result<()> {
    if train == Some(false) {
        rushlight_cpu::fill::fill(&Loop::new([array(out1)])?, Scalar::Bool(true))?;
        return super::access::copy_into(out0, input);
    }
    let keep = 1.0 - p;
    bernoulli_float_(out1, keep, None)?;
    let input = Operand::cast(input, out0.dtype)?;
    let scale = if keep == 0.0 { 0.0 } else { 1.0 / keep };
    arithmetic::mask_scale(&Loop::new([array(out0), input.array(), array(out1)])?, scale)
}
