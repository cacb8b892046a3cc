//! Normal samples by Box and Muller's method, in the two orders that PyTorch uses.
//!
//! One element at a time (short or strided tensors): always in double, and the second of a pair is cached in the
//! generator. In blocks ([`fill_normal`], contiguous tensors of 16 and more elements): first the uniforms of the whole
//! tensor, in its own dtype, then pairs eight apart; an incomplete last block samples sixteen fresh ones and is
//! recomputed, overlapping the previous one.

use super::uniform::unit_f64;
use super::{Generator, Real, cephes};
use crate::runtime::{BETWEEN_CHECKS, check_cancelled};
use crate::{Result, bf16, ensure, f16};
use std::f64::consts::PI;

/// Elements in a block: eight pairs.
const BLOCK: usize = 16;

/// Normal with `mean` and standard deviation `std`, one sample at a time.
#[derive(Clone, Copy, Debug)]
pub struct Normal {
    mean: f64,
    std: f64,
}

impl Normal {
    /// Checks the deviation.
    pub fn new(mean: f64, std: f64) -> Result<Normal> {
        ensure!(std >= 0.0, Runtime, "normal expects std >= 0.0, but found std {std}");
        Ok(Normal { mean, std })
    }

    /// The next sample, in double whatever the dtype: the caller rounds it.
    pub fn sample(&self, generator: &mut Generator) -> f64 {
        standard_normal(generator).mul_add(self.std, self.mean)
    }
}

/// The cached second sample of a pair, or the first of a new pair.
fn standard_normal(generator: &mut Generator) -> f64 {
    if let Some(waiting) = generator.next_normal_f64.take() {
        return waiting;
    }
    let u1 = unit_f64(generator);
    let u2 = unit_f64(generator);
    let radius = (-2.0 * (-u2).ln_1p()).sqrt();
    let theta = 2.0 * PI * u1;
    generator.next_normal_f64 = Some(radius * theta.sin());
    radius * theta.cos()
}

/// `exp` of a normal sample (`log_normal_`).
#[derive(Clone, Copy, Debug)]
pub struct LogNormal(Normal);

impl LogNormal {
    /// Checks the deviation.
    pub fn new(mean: f64, std: f64) -> Result<LogNormal> {
        ensure!(std > 0.0, Runtime, "log_normal_ expects std > 0.0, but found std={std}");
        Ok(LogNormal(Normal { mean, std }))
    }

    /// The next sample.
    pub fn sample(&self, generator: &mut Generator) -> f64 {
        self.0.sample(generator).exp()
    }
}

/// A dtype whose contiguous tensors are filled in blocks.
pub trait BlockNormal: Real {
    /// Converts a pair of uniforms to a pair of normals, rounded where PyTorch rounds in this dtype.
    fn box_muller(u1: Self, u2: Self, mean: Self, std: Self) -> (Self, Self);
}

impl BlockNormal for f32 {
    #[inline(always)]
    fn box_muller(u1: f32, u2: f32, mean: f32, std: f32) -> (f32, f32) {
        let radius = (-2.0 * cephes::ln(1.0 - u1)).sqrt();
        let (sin, cos) = cephes::sin_cos((2.0 * PI) as f32 * u2);
        ((radius * cos).mul_add(std, mean), (radius * sin).mul_add(std, mean))
    }
}

impl BlockNormal for f64 {
    #[inline(always)]
    fn box_muller(u1: f64, u2: f64, mean: f64, std: f64) -> (f64, f64) {
        let radius = (-2.0 * (1.0 - u1).ln()).sqrt();
        let theta = 2.0 * PI * u2;
        ((radius * theta.cos()).mul_add(std, mean), (radius * theta.sin()).mul_add(std, mean))
    }
}

macro_rules! narrow_block_normal {
    ($type:ty) => {
        impl BlockNormal for $type {
            #[inline(always)]
            fn box_muller(u1: $type, u2: $type, mean: $type, std: $type) -> ($type, $type) {
                // Every single step rounds to the narrow dtype: ATen computes these blocks in it, not in f32.
                let round = |value: f32| <$type>::from_f32(value).to_f32();
                let log = round(round(1.0 - u1.to_f32()).ln());
                let radius = round(round(-2.0 * log).sqrt());
                let theta = round((2.0 * PI * u2.to_f64()) as f32);
                let stretch = |unit: f32| {
                    let scaled = round(round(radius * round(unit)) * std.to_f32());
                    <$type>::from_f32(scaled + mean.to_f32())
                };
                (stretch(theta.cos()), stretch(theta.sin()))
            }
        }
    };
}

narrow_block_normal!(f16);
narrow_block_normal!(bf16);

/// Fills `out` with the result of `normal_(mean, std)` for a contiguous tensor of this dtype.
pub fn fill_normal<T: BlockNormal>(generator: &mut Generator, out: &mut [T], mean: f64, std: f64) -> Result<()> {
    let normal = Normal::new(mean, std)?;
    if out.len() < BLOCK {
        out.fill_with(|| T::from_f64(normal.sample(generator)));
        return Ok(());
    }
    let (mean, std) = (T::from_f64(mean), T::from_f64(std));
    for piece in out.chunks_mut(BETWEEN_CHECKS) {
        check_cancelled()?;
        fill_unit(generator, piece);
        transform_blocks(piece, mean, std);
    }
    if !out.len().is_multiple_of(BLOCK) {
        let last = out.len() - BLOCK;
        fill_unit(generator, &mut out[last..]);
        transform_blocks(&mut out[last..], mean, std);
    }
    Ok(())
}

fn fill_unit<T: Real>(generator: &mut Generator, out: &mut [T]) {
    let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
    out.fill_with(|| T::uniform(generator, zero, one));
}

/// Converts each whole block of uniforms to normals.
fn transform_blocks<T: BlockNormal>(out: &mut [T], mean: T, std: T) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the check above found both instruction sets, which is all that the function requires.
        return unsafe { transform_blocks_fma(out, mean, std) };
    }
    transform_blocks_portable(out, mean, std);
}

/// The same loop with the fused multiply-add as an instruction: without it each one is a call.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn transform_blocks_fma<T: BlockNormal>(out: &mut [T], mean: T, std: T) {
    transform_blocks_portable(out, mean, std);
}

#[inline(always)]
fn transform_blocks_portable<T: BlockNormal>(out: &mut [T], mean: T, std: T) {
    for block in out.chunks_exact_mut(BLOCK) {
        let (front, back) = block.split_at_mut(BLOCK / 2);
        for (a, b) in front.iter_mut().zip(back) {
            (*a, *b) = T::box_muller(*a, *b, mean, std);
        }
    }
}
