//! Normal samples by Box and Muller's method, in the two orders that PyTorch uses.
//!
//! One element at a time (short or strided tensors): always in double, and the second of a pair is cached in the
//! generator. In blocks ([`normal_pieces`], contiguous tensors of 16 and more elements): first the uniforms of the whole
//! tensor, in its own dtype, then pairs eight apart; an incomplete last block samples sixteen fresh ones and is
//! recomputed, overlapping the previous one.

use super::uniform::{fill_uniform, unit_f64};
use super::{Generator, Real, cephes, with_fused_multiply_add};
use crate::runtime::{BETWEEN_CHECKS, check_cancelled};
use crate::{Result, bf16, ensure, f16};
use std::f64::consts::PI;

/// Elements in a block: eight pairs.
const BLOCK: usize = 16;

/// Elements that are sampled together: whole blocks, and a part of [`BETWEEN_CHECKS`].
const PIECE: usize = 512;

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
pub(super) fn standard_normal(generator: &mut Generator) -> f64 {
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

/// `normal_(mean, std)` of a contiguous tensor of at least [`BLOCK`] elements. The samples are written piece by piece:
/// `write(at, piece)`.
pub fn normal_pieces<T: BlockNormal>(
    generator: &mut Generator,
    count: usize,
    mean: f64,
    std: f64,
    mut write: impl FnMut(usize, &[T]),
) -> Result<()> {
    Normal::new(mean, std)?;
    ensure!(count >= BLOCK, Internal, "blocks of {BLOCK} normal samples need as many elements, not {count}");
    let (mean, std) = (T::from_f64(mean), T::from_f64(std));
    let mut buffer = [T::default(); PIECE];
    let mut sample = |at: usize, len: usize| {
        let piece = &mut buffer[..len];
        fill_uniform(generator, piece, T::from_f64(0.0), T::from_f64(1.0));
        transform_blocks(piece, mean, std);
        write(at, piece);
    };
    for at in (0..count).step_by(PIECE) {
        if at.is_multiple_of(BETWEEN_CHECKS) {
            check_cancelled()?;
        }
        sample(at, PIECE.min(count - at));
    }
    if !count.is_multiple_of(BLOCK) {
        sample(count - BLOCK, BLOCK);
    }
    Ok(())
}

/// Converts each whole block of uniforms to normals.
fn transform_blocks<T: BlockNormal>(out: &mut [T], mean: T, std: T) {
    with_fused_multiply_add(
        #[inline(always)]
        move || {
            for block in out.chunks_exact_mut(BLOCK) {
                let (front, back) = block.split_at_mut(BLOCK / 2);
                for (a, b) in front.iter_mut().zip(back) {
                    (*a, *b) = T::box_muller(*a, *b, mean, std);
                }
            }
        },
    );
}
