//! Random numbers on a device: those of `torch.cuda`, from the same seed, with the same launches and offsets.

use super::parameters::{DRAWS, Draws, RANDOM_THREADS, Random};
use super::sort::ordered;
use super::{Grid, Temporary, address, launch, small};
use crate::array::Array;
use crate::convert::Target;
use crate::random::{below_one, smallest};
use crate::{Loop, convert};
use rushlight_base::backend::{self, Kernel};
use rushlight_base::random::{Bernoulli, Cauchy, Exponential, Geometric, LogNormal, RandomInteger, Uniform};
use rushlight_base::report::{Mistake, Watch};
use rushlight_base::{DType, Device, Result, contiguous_strides, ensure, err};

/// Numbers that a thread takes in one call.
const CALL: u64 = 4;

/// The generator of a device: its seed, and how many numbers each thread has had.
#[derive(Clone, Copy, Debug)]
pub struct Philox {
    /// The seed.
    pub seed: u64,
    /// A multiple of 4.
    pub offset: u64,
}

/// The error of the CPU for a dtype that is none of floating point, nor of integers if `integers` is set.
fn check(name: &str, dtype: DType, integers: bool) -> Result<()> {
    match integers {
        true => dispatch!(dtype, name, integer half float, _T => Ok(())),
        false => dispatch!(dtype, name, half float, _T => Ok(())),
    }
}

/// Fills `out`; a thread computes `together` elements from the numbers of one call.
fn fill(function: &'static str, out: &Array, generator: &mut Philox, together: u64, p: Random) -> Result<()> {
    let (device, count) = (out.device(), out.numel() as u64);
    if count == 0 {
        return Ok(());
    }
    let [processors, threads] = backend::of(device.kind)?.processors(device)?;
    let most = u64::from(processors) * u64::from(threads / RANDOM_THREADS);
    let blocks = count.div_ceil(u64::from(RANDOM_THREADS)).min(most.max(1));
    let held = if out.is_contiguous() { None } else { Some(Temporary::new(device, out.numel() * out.dtype().size())?) };
    let at = held.as_ref().map_or(address(out), Temporary::at);
    let p = Random { at, count, seed: generator.seed, offset: generator.offset, ..p };
    let calls = (count - 1) / (u64::from(RANDOM_THREADS) * blocks * together) + 1;
    generator.offset = generator.offset.wrapping_add(calls * CALL);
    let kernel = Kernel { file: "random", function, dtype: out.dtype() };
    let grid = Grid { blocks: [blocks as u32, 1, 1], threads: RANDOM_THREADS, shared: 0 };
    // SAFETY: the kernel takes this parameter, which has no padding; there are `count` elements at the address.
    unsafe { launch(device, kernel, grid, &p)? };
    let Some(held) = held else { return Ok(()) };
    let strides = contiguous_strides(out.sizes());
    convert::copy(&Loop::new([out.clone(), held.array(out.dtype(), out.sizes(), &strides)])?)
}

fn parameter(numbers: [f64; 2]) -> Random {
    Random { at: 0, count: 0, seed: 0, offset: 0, numbers, range: 0, base: 0 }
}

/// Elements from one call: doubles take two numbers each.
fn together(dtype: DType) -> u64 {
    if dtype == DType::F64 { 2 } else { 4 }
}

/// Uniform over [from, to).
pub fn uniform(out: &Array, from: f64, to: f64, generator: &mut Philox) -> Result<()> {
    dispatch!(out.dtype(), "uniform", half float, T => Uniform::<T>::new(from, to).map(drop))?;
    fill("uniform", out, generator, together(out.dtype()), parameter([from, to]))
}

/// Normal with mean and standard deviation.
pub fn normal(out: &Array, mean: f64, std: f64, generator: &mut Philox) -> Result<()> {
    fill("normal", out, generator, together(out.dtype()), parameter([mean, std]))
}

/// 0 or 1 with probability `p`.
pub fn coins(out: &Array, p: f64, generator: &mut Philox) -> Result<()> {
    Bernoulli::new(p)?;
    fill("coins", out, generator, together(out.dtype()), parameter([p, 0.0]))
}

/// Exponential with rate `lambda`.
pub fn exponential(out: &Array, lambda: f64, generator: &mut Philox) -> Result<()> {
    check("exponential_cpu", out.dtype(), false)?;
    Exponential::new(lambda)?;
    fill("exponential", out, generator, together(out.dtype()), parameter([lambda, 0.0]))
}

/// Cauchy around `median` with scale `sigma`.
pub fn cauchy(out: &Array, median: f64, sigma: f64, generator: &mut Philox) -> Result<()> {
    check("cauchy_cpu", out.dtype(), false)?;
    Cauchy::new(median, sigma)?;
    fill("cauchy", out, generator, together(out.dtype()), parameter([median, sigma]))
}

/// Powers of e of normal numbers.
pub fn log_normal(out: &Array, mean: f64, std: f64, generator: &mut Philox) -> Result<()> {
    check("log_normal_cpu", out.dtype(), false)?;
    LogNormal::new(mean, std)?;
    fill("log_normal", out, generator, together(out.dtype()), parameter([mean, std]))
}

/// Tries up to the first success.
pub fn geometric(out: &Array, p: f64, generator: &mut Philox) -> Result<()> {
    check("geometric_cpu", out.dtype(), true)?;
    Geometric::new(p)?;
    fill("geometric", out, generator, together(out.dtype()), parameter([(-p).ln_1p(), 0.0]))
}

/// Integers in [low, high).
pub fn integers(out: &Array, low: i64, high: i64, generator: &mut Philox) -> Result<()> {
    RandomInteger::between(low, high, out.dtype())?;
    of_range(out, low, high.wrapping_sub(low) as u64, generator)
}

/// The whole range of a dtype (`from` absent), or the range from a number on.
pub fn whole_range(out: &Array, from: Option<i64>, generator: &mut Philox) -> Result<()> {
    let dtype = out.dtype();
    let distribution = match from {
        None => RandomInteger::whole(dtype)?,
        Some(from) => RandomInteger::from_on(from, dtype)?,
    };
    let (base, range) = distribution.bounds();
    of_range(out, base, range, generator)
}

/// As many integers from `base` on as `range`; 0 stands for 2^64.
fn of_range(out: &Array, base: i64, range: u64, generator: &mut Philox) -> Result<()> {
    let has_wide = matches!(out.dtype(), DType::I64 | DType::F64 | DType::F32 | DType::BF16);
    let p = Random { range, base, ..parameter([0.0; 2]) };
    if has_wide && (range == 0 || range >= 1 << 32) {
        fill("wide_integers", out, generator, 2, p)
    } else {
        fill("integers", out, generator, 4, p)
    }
}

/// A permutation of 0..n in a one-dimensional output: the order of random keys.
pub fn permutation(out: &Array, generator: &mut Philox) -> Result<()> {
    let (device, count) = (out.device(), out.numel());
    let last = count.saturating_sub(1) as i64;
    dispatch!(out.dtype(), "randperm", integer unsigned half float, T => {
        let holds_all = <i64 as Target>::cast(<T as Target>::cast(last)) == last;
        ensure!(holds_all, Runtime, "n is too large for result tensor type: '{}'", out.dtype().c10_name());
        Ok(())
    })?;
    let length = small(count).ok_or_else(|| err!(Runtime, "randperm on device {device} of {count} elements"))?;
    if count == 0 {
        return Ok(());
    }
    let keys = Temporary::new(device, count * size_of::<u64>())?;
    of_range(&keys.array(DType::I64, out.sizes(), &[1]), 0, 0, generator)?;
    let sorted = ordered(device, keys, 1, length)?;
    let places = sorted.places.array(DType::I32, out.sizes(), &[1]);
    convert::copy(&Loop::new([out.clone(), places])?)
}

/// `array` in `dtype`, dense and of these sizes.
fn dense(device: Device, array: &Array, dtype: DType, sizes: &[i64]) -> Result<Temporary> {
    let count = sizes.iter().product::<i64>() as usize;
    let (copy, strides) = (Temporary::new(device, count * dtype.size())?, contiguous_strides(sizes));
    convert::copy(&Loop::new([copy.array(dtype, sizes, &strides), array.clone()])?)?;
    Ok(copy)
}

/// Samples each element of `out`, in `dtype`, from the distribution that the elements of the parameters state; the kernel
/// stores them as `stored`.
fn sampled(
    (function, dtype, stored): (&'static str, DType, DType),
    out: &Array,
    parameters: &[&Array],
    mistake: Option<Mistake>,
    generator: &mut Philox,
) -> Result<()> {
    let (device, count) = (out.device(), out.numel());
    if count == 0 {
        return Ok(());
    }
    let copies = parameters.iter().map(|array| dense(device, array, dtype, out.sizes())).collect::<Result<Vec<_>>>()?;
    let results = Temporary::new(device, count * stored.size())?;
    let mut at = [results.at(), 0, 0];
    at[1..].iter_mut().zip(&copies).for_each(|(at, copy)| *at = copy.at());
    let watch = mistake.map_or(Ok(Watch::NONE), |mistake| backend::watch(device, mistake, [0; 2]))?;
    let p = Draws {
        at,
        count: count as u64,
        length: 1,
        seed: generator.seed,
        offset: generator.offset,
        bounds: [smallest(out.dtype()), below_one(out.dtype())],
        watch,
    };
    generator.offset = generator.offset.wrapping_add(DRAWS);
    let kernel = Kernel { file: "random", function, dtype };
    // SAFETY: the kernel takes this parameter, which has no padding; there are `count` elements at each address.
    unsafe { launch(device, kernel, Grid::of(count), &p)? };
    let strides = contiguous_strides(out.sizes());
    convert::copy(&Loop::new([out.clone(), results.array(stored, out.sizes(), &strides)])?)
}

/// 0 or 1 with the probabilities `p`.
pub fn coins_of(out: &Array, p: &Array, generator: &mut Philox) -> Result<()> {
    check("bernoulli_tensor_cpu_p_", p.dtype(), false)?;
    if out.dtype() != DType::Bool {
        check("bernoulli_tensor_cpu_self_", out.dtype(), true)?;
    }
    sampled(("coins_of", p.dtype(), DType::Bool), out, &[p], Some(Mistake::Probability), generator)
}

/// out = events of a process with mean a
pub fn poisson(out: &Array, a: &Array, generator: &mut Philox) -> Result<()> {
    check("poisson_cpu", out.dtype(), false)?;
    sampled(("poisson", out.dtype(), out.dtype()), out, &[a], Some(Mistake::Rate), generator)
}

/// out = successes of `count` tries with probability `p`
pub fn binomial(out: &Array, count: &Array, p: &Array, generator: &mut Philox) -> Result<()> {
    check("binomial_cpu", out.dtype(), false)?;
    sampled(("binomial", out.dtype(), out.dtype()), out, &[count, p], None, generator)
}

/// out = a sample of the gamma distribution of shape a, at least the smallest normal number
pub fn standard_gamma(out: &Array, a: &Array, generator: &mut Philox) -> Result<()> {
    check("gamma_cpu", out.dtype(), false)?;
    sampled(("standard_gamma", out.dtype(), out.dtype()), out, &[a], None, generator)
}

/// out = Dirichlet samples, in rows of `length` with the concentrations a
pub fn dirichlet(out: &Array, a: &Array, length: usize, generator: &mut Philox) -> Result<()> {
    check("dirichlet", out.dtype(), false)?;
    let (device, count, sizes) = (out.device(), out.numel(), out.sizes());
    if count == 0 {
        return Ok(());
    }
    let strides = contiguous_strides(sizes);
    let (samples, results) = (Temporary::new(device, count * 8)?, Temporary::new(device, count * out.dtype().size())?);
    standard_gamma(&samples.array(DType::F64, sizes, &strides), a, generator)?;
    let rows = count / length.max(1);
    let p = Draws {
        at: [results.at(), samples.at(), 0],
        count: rows as u64,
        length: length as u64,
        seed: 0,
        offset: 0,
        bounds: [smallest(out.dtype()), below_one(out.dtype())],
        watch: Watch::NONE,
    };
    let kernel = Kernel { file: "random", function: "shares", dtype: out.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; there are `rows` times `length` elements at both
    // addresses.
    unsafe { launch(device, kernel, Grid::of(rows), &p)? };
    convert::copy(&Loop::new([out.clone(), results.array(out.dtype(), sizes, &strides)])?)
}
