//! Kernels of random operators. Each locks the generator for its whole output.

use super::access::{Constant, Operand, array, cast, number_of, over, parts};
use super::{reduce, views};
use crate::dense::{Dense, Spec};
use crate::generator::{Generator, on_device};
use crate::options::Options;
use rushlight_base::{DType, MemoryFormat, Result, Scalar, ensure};
use rushlight_cpu::device::random as device;
use rushlight_cpu::{Loop, arithmetic, random, special};

fn check_floating(name: &str, dense: &Dense) -> Result<()> {
    ensure!(dense.dtype.is_differentiable(), Runtime, "\"{name}\" not implemented for '{}'", dense.dtype.c10_name());
    Ok(())
}

fn uniform(out: &Dense, from: f64, to: f64, generator: Option<&Generator>) -> Result<()> {
    check_floating("check_uniform_bounds", out)?;
    let out = parts(out);
    if !out.is_on_host() {
        return on_device(out.device, generator, |philox| device::uniform(&array(&out), from, to, philox));
    }
    random::uniform(&Loop::new([array(&out)])?, from, to, &mut Generator::or_default(generator).lock())
}

fn fill_normal(out: &Dense, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    check_floating("normal_kernel_cpu", out)?;
    ensure!(std >= 0.0, Runtime, "normal expects std >= 0.0, but found std {std}");
    // Each part of a complex number has half of the variance.
    let std = if out.dtype.is_complex() { std / std::f64::consts::SQRT_2 } else { std };
    let out = parts(out);
    if !out.is_on_host() {
        return on_device(out.device, generator, |philox| device::normal(&array(&out), mean, std, philox));
    }
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
    integers(out, low, high, generator)
}

fn integers(out: &Dense, low: i64, high: i64, generator: Option<&Generator>) -> Result<()> {
    if !out.is_on_host() {
        return on_device(out.device, generator, |philox| device::integers(&array(out), low, high, philox));
    }
    random::integers(&Loop::new([array(out)])?, low, high, &mut Generator::or_default(generator).lock())
}

/// out: a permutation of 0..n
pub fn randperm(out: &Dense, n: i64, options: Options) -> Result<()> {
    randperm_generator(out, n, None, options)
}

/// out: a permutation of 0..n
pub fn randperm_generator(out: &Dense, _n: i64, generator: Option<&Generator>, _options: Options) -> Result<()> {
    if !out.is_on_host() {
        return on_device(out.device, generator, |philox| device::permutation(&array(out), philox));
    }
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
    if !self_.is_on_host() {
        return on_device(self_.device, generator, |philox| device::coins(&array(self_), p, philox));
    }
    random::coins(&Loop::new([array(self_)])?, p, &mut Generator::or_default(generator).lock())
}

/// self: 0 or 1, with the probabilities p
pub fn bernoulli_tensor_(self_: &Dense, p: &Dense, generator: Option<&Generator>) -> Result<()> {
    super::rules::check_expandable(p.sizes(), self_.sizes())?;
    if !self_.is_on_host() {
        return on_device(self_.device, generator, |philox| device::coins_of(&array(self_), &array(p), philox));
    }
    random::coins_of(&Loop::new([array(self_), array(p)])?, &mut Generator::or_default(generator).lock())
}

/// self: exponential
pub fn exponential_(self_: &Dense, lambd: f64, generator: Option<&Generator>) -> Result<()> {
    if self_.numel() == 0 {
        return Ok(());
    }
    if !self_.is_on_host() {
        return on_device(self_.device, generator, |philox| device::exponential(&array(self_), lambd, philox));
    }
    random::exponential(&Loop::new([array(self_)])?, lambd, &mut Generator::or_default(generator).lock())
}

/// self: Cauchy
pub fn cauchy_(self_: &Dense, median: f64, sigma: f64, generator: Option<&Generator>) -> Result<()> {
    if !self_.is_on_host() {
        return on_device(self_.device, generator, |philox| device::cauchy(&array(self_), median, sigma, philox));
    }
    random::cauchy(&Loop::new([array(self_)])?, median, sigma, &mut Generator::or_default(generator).lock())
}

/// self: log-normal
pub fn log_normal_(self_: &Dense, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
    if !self_.is_on_host() {
        return on_device(self_.device, generator, |philox| device::log_normal(&array(self_), mean, std, philox));
    }
    random::log_normal(&Loop::new([array(self_)])?, mean, std, &mut Generator::or_default(generator).lock())
}

/// self: geometric
pub fn geometric_(self_: &Dense, p: f64, generator: Option<&Generator>) -> Result<()> {
    if !self_.is_on_host() {
        return on_device(self_.device, generator, |philox| device::geometric(&array(self_), p, philox));
    }
    random::geometric(&Loop::new([array(self_)])?, p, &mut Generator::or_default(generator).lock())
}

/// self: integers, over the range of the dtype
pub fn random_(self_: &Dense, generator: Option<&Generator>) -> Result<()> {
    whole_range(self_, None, generator)
}

fn whole_range(self_: &Dense, from: Option<i64>, generator: Option<&Generator>) -> Result<()> {
    if !self_.is_on_host() {
        return on_device(self_.device, generator, |philox| device::whole_range(&array(self_), from, philox));
    }
    random::whole_range(&Loop::new([array(self_)])?, from, &mut Generator::or_default(generator).lock())
}

/// self: integers in [from, to), or from a number on
pub fn random_from_(self_: &Dense, from_: i64, to: Option<i64>, generator: Option<&Generator>) -> Result<()> {
    if let Some(to) = to {
        return integers(self_, from_, to, generator);
    }
    whole_range(self_, Some(from_), generator)
}

/// self: integers in [0, to)
pub fn random_to_(self_: &Dense, to: i64, generator: Option<&Generator>) -> Result<()> {
    random_from_(self_, 0, Some(to), generator)
}

fn add_into(out: &Dense, other: &Dense) -> Result<()> {
    over(out.dtype, [out, out, other], |walk| arithmetic::add(walk, Scalar::Int(1)))
}

/// out: normal, each element with its own mean
pub fn normal_of_means(out: &Dense, mean: &Dense, std: f64, generator: Option<&Generator>) -> Result<()> {
    fill_normal(out, 0.0, std, generator)?;
    add_into(out, mean)
}

/// out: normal, each element with its own deviation
pub fn normal_of_deviations(out: &Dense, mean: f64, std: &Dense, generator: Option<&Generator>) -> Result<()> {
    scaled_normal(out, std, generator)?;
    let mean = Constant::new(Scalar::Float(mean), out.dtype)?;
    arithmetic::add(&Loop::new([array(out), array(out), mean.array()])?, Scalar::Int(1))
}

/// out: normal, each element with its own mean and deviation
pub fn normal_of_both(out: &Dense, mean: &Dense, std: &Dense, generator: Option<&Generator>) -> Result<()> {
    scaled_normal(out, std, generator)?;
    add_into(out, mean)
}

/// The least element of a tensor of a device; infinity if there is none. This waits for it.
fn least(dense: &Dense) -> Result<f64> {
    if dense.numel() == 0 {
        return Ok(f64::INFINITY);
    }
    let out = Spec::new(&[], dense.dtype, dense.device).allocate()?;
    reduce::amin(&out, dense, &[], false)?;
    number_of(&out)
}

fn scaled_normal(out: &Dense, std: &Dense, generator: Option<&Generator>) -> Result<()> {
    if std.is_on_host() {
        random::check_deviations(&array(std))?;
    } else {
        ensure!(least(std)? >= 0.0, Runtime, "normal expects all elements of std >= 0.0");
    }
    fill_normal(out, 0.0, 1.0, generator)?;
    over(out.dtype, [out, out, std], arithmetic::mul)
}

/// out: Poisson, each element with its own mean
pub fn poisson(out: &Dense, self_: &Dense, generator: Option<&Generator>) -> Result<()> {
    if !out.is_on_host() {
        return on_device(out.device, generator, |philox| device::poisson(&array(out), &array(self_), philox));
    }
    random::poisson(&Loop::new([array(out), array(self_)])?, &mut Generator::or_default(generator).lock())
}

/// out: binomial, with count trials of probability prob
pub fn binomial(out: &Dense, count: &Dense, prob: &Dense, generator: Option<&Generator>) -> Result<()> {
    if !out.is_on_host() {
        let (count, prob) = (array(count), array(prob));
        return on_device(out.device, generator, |philox| device::binomial(&array(out), &count, &prob, philox));
    }
    let walk = Loop::new([array(out), array(count), array(prob)])?;
    random::binomial(&walk, &mut Generator::or_default(generator).lock())
}

/// out: gamma, each element with its own shape
pub fn standard_gamma(out: &Dense, self_: &Dense, generator: Option<&Generator>) -> Result<()> {
    if !out.is_on_host() {
        return on_device(out.device, generator, |philox| device::standard_gamma(&array(out), &array(self_), philox));
    }
    random::standard_gamma(&Loop::new([array(out), array(self_)])?, &mut Generator::or_default(generator).lock())
}

/// out = the derivative of the sample output of a gamma distribution with respect to its concentration self
pub fn standard_gamma_grad(out: &Dense, self_: &Dense, output: &Dense) -> Result<()> {
    over(out.dtype, [out, self_, output], special::standard_gamma_grad)
}

/// out = the derivative of the sample x of a Dirichlet distribution with respect to its concentration alpha, over 1 - x
pub fn dirichlet_grad(out: &Dense, x: &Dense, alpha: &Dense, total: &Dense) -> Result<()> {
    over(out.dtype, [out, x, alpha, total], special::dirichlet_grad)
}

/// out: Dirichlet, with the concentrations self along the last dimension
pub fn sample_dirichlet(out: &Dense, self_: &Dense, generator: Option<&Generator>) -> Result<()> {
    let length = self_.sizes().last().map_or(1, |&length| length as usize);
    if !out.is_on_host() {
        return on_device(out.device, generator, |philox| {
            device::dirichlet(&array(out), &array(self_), length, philox)
        });
    }
    let walk = Loop::new([array(out), array(self_)])?;
    random::dirichlet(&walk, length, &mut Generator::or_default(generator).lock())
}

/// out = indices sampled with the weights self
pub fn multinomial(
    out: &Dense,
    self_: &Dense,
    num_samples: i64,
    replacement: bool,
    generator: Option<&Generator>,
) -> Result<()> {
    if !out.is_on_host() {
        return multinomial_on_device(out, self_, num_samples, replacement, generator);
    }
    let categories = self_.sizes().last().map_or(0, |&categories| categories as usize);
    let (samples, generator) = (num_samples as usize, Generator::or_default(generator));
    random::multinomial(&array(out), &array(self_), categories, samples, replacement, &mut generator.lock())
}

/// [`multinomial`] by other kernels. The weights are checked, for which this waits.
fn multinomial_on_device(
    out: &Dense,
    weights: &Dense,
    samples: i64,
    replacement: bool,
    generator: Option<&Generator>,
) -> Result<()> {
    check_floating("multinomial", weights)?;
    let (device, wide) = (out.device, if weights.dtype == DType::F64 { DType::F64 } else { DType::F32 });
    let weights = if weights.dtype == wide { weights.clone() } else { cast(weights, wide)? };
    check_weights(&weights)?;
    if out.numel() == 0 {
        return Ok(());
    }
    let new = |sizes: &[i64]| Spec::new(sizes, wide, device).allocate();
    if replacement && samples > 1 {
        // A uniform number is searched among the cumulative sums, of which the last is 1.
        let (sums, numbers) = (new(weights.sizes())?, new(out.sizes())?);
        reduce::cumsum(&sums, &weights, -1, None)?;
        let last = weights.sizes().last().copied().unwrap_or(1) - 1;
        let totals = cast(&sums.with_geometry(views::narrow(&sums, -1, last, 1)?), wide)?;
        over(wide, [&sums, &sums, &totals], arithmetic::div)?;
        on_device(device, generator, |philox| device::uniform(&array(&numbers), 0.0, 1.0, philox))?;
        return rushlight_cpu::search::search(&array(out), &array(&sums), &array(&numbers), None, true);
    }
    // The largest quotients of weights and exponential numbers have the same distribution.
    let (quotients, largest) = (new(weights.sizes())?, new(out.sizes())?);
    on_device(device, generator, |philox| device::exponential(&array(&quotients), 1.0, philox))?;
    over(wide, [&quotients, &weights, &quotients], arithmetic::div)?;
    reduce::topk(&largest, out, &quotients, samples, -1, true, true)
}

/// Fails unless the weights of a device are finite, not negative, and in no row all 0.
fn check_weights(weights: &Dense) -> Result<()> {
    let of_rows = Spec::new(&weights.sizes()[..weights.ndim().saturating_sub(1)], weights.dtype, weights.device);
    let (of_rows, largest) = (of_rows.allocate()?, Spec::new(&[], weights.dtype, weights.device).allocate()?);
    if weights.numel() == 0 {
        return Ok(());
    }
    reduce::amax(&of_rows, weights, &[-1], false)?;
    reduce::amax(&largest, &of_rows, &[], false)?;
    ensure!(
        least(weights)? >= 0.0 && number_of(&largest)? < f64::INFINITY,
        Runtime,
        "probability tensor contains either `inf`, `nan` or element < 0"
    );
    ensure!(least(&of_rows)? > 0.0, Runtime, "invalid multinomial distribution (sum of probabilities <= 0)");
    Ok(())
}

/// out: integers in [0, high)
pub fn randint_like(
    out: &Dense,
    self_: &Dense,
    high: i64,
    options: Options,
    memory_format: Option<MemoryFormat>,
) -> Result<()> {
    randint_like_low(out, self_, 0, high, options, memory_format)
}

/// out: integers in [low, high)
pub fn randint_like_low(
    out: &Dense,
    _self: &Dense,
    low: i64,
    high: i64,
    _options: Options,
    _memory_format: Option<MemoryFormat>,
) -> Result<()> {
    integers(out, low, high, None)
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
