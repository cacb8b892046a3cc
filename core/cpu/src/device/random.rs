//! Random numbers on a device: those of `torch.cuda`, from the same seed, with the same launches and offsets.

use super::parameters::{RANDOM_THREADS, Random};
use super::{Grid, Temporary, address, launch};
use crate::array::Array;
use crate::{Loop, convert};
use rushlight_base::backend::{self, Kernel};
use rushlight_base::random::{Bernoulli, RandomInteger, Uniform};
use rushlight_base::{DType, Result, contiguous_strides};

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

/// Integers in [low, high).
pub fn integers(out: &Array, low: i64, high: i64, generator: &mut Philox) -> Result<()> {
    RandomInteger::between(low, high, out.dtype())?;
    let range = high.wrapping_sub(low) as u64;
    let is_wide = matches!(out.dtype(), DType::I64 | DType::F64 | DType::F32 | DType::BF16) && range >= 1 << 32;
    let p = Random { range, base: low, ..parameter([0.0; 2]) };
    if is_wide { fill("wide_integers", out, generator, 2, p) } else { fill("integers", out, generator, 4, p) }
}
