//! Uniform reals, and the continuous distributions that come from one uniform by inverting their CDF.
//!
//! The number of bits kept is that of the dtype's mantissa, and the scaling to `[from, to)` is one fused multiply-add:
//! ATen is compiled so, and a separate multiply and add would differ in the last bit.

use super::{Generator, with_fused_multiply_add};
use crate::{Element, Result, bf16, ensure, f16};
use std::f64::consts::PI;

/// A real dtype, as the distributions use it.
pub trait Real: Element {
    /// Bits of the mantissa, the hidden one included.
    const MANTISSA_BITS: u32;
    /// The value, rounded to this dtype. Half and bfloat16 round through `f32`, as C++'s casts do.
    fn from_f64(value: f64) -> Self;
    /// The value, exactly.
    fn to_f64(self) -> f64;
    /// Random bits that a uniform consumes: 32 or 64.
    const RANDOM_BITS: u32;
    /// A uniform in `[0, 1)` of the lowest [`Real::MANTISSA_BITS`] random bits, times `span`, plus `from`.
    fn uniform_of(bits: u64, from: Self, span: Self) -> Self;
}

/// The lowest `digits` bits as an `f32` in `[0, 1)`.
#[inline(always)]
fn unit_f32(bits: u64, digits: u32) -> f32 {
    let kept = bits as u32 & ((1u32 << digits) - 1);
    kept as f32 / (1u32 << digits) as f32
}

/// 24 random bits as an `f32` in `[0, 1)`.
#[inline(always)]
pub(super) fn next_unit_f32(generator: &mut Generator) -> f32 {
    unit_f32(u64::from(generator.random()), f32::MANTISSA_BITS)
}

/// 53 random bits as an `f64` in `[0, 1)`.
#[inline(always)]
pub(super) fn unit_f64(generator: &mut Generator) -> f64 {
    unit_f64_of(generator.random64())
}

/// The lowest 53 bits as an `f64` in `[0, 1)`.
#[inline(always)]
fn unit_f64_of(bits: u64) -> f64 {
    let kept = bits & ((1u64 << 53) - 1);
    kept as f64 / (1u64 << 53) as f64
}

impl Real for f64 {
    const MANTISSA_BITS: u32 = 53;
    fn from_f64(value: f64) -> f64 {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
    const RANDOM_BITS: u32 = 64;
    #[inline(always)]
    fn uniform_of(bits: u64, from: f64, span: f64) -> f64 {
        unit_f64_of(bits).mul_add(span, from)
    }
}

impl Real for f32 {
    const MANTISSA_BITS: u32 = 24;
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    const RANDOM_BITS: u32 = 32;
    #[inline(always)]
    fn uniform_of(bits: u64, from: f32, span: f32) -> f32 {
        unit_f32(bits, Self::MANTISSA_BITS).mul_add(span, from)
    }
}

macro_rules! narrow_real {
    ($type:ty, $digits:expr) => {
        impl Real for $type {
            const MANTISSA_BITS: u32 = $digits;
            fn from_f64(value: f64) -> $type {
                <$type>::from_f32(value as f32)
            }
            fn to_f64(self) -> f64 {
                f64::from(self.to_f32())
            }
            const RANDOM_BITS: u32 = 32;
            #[inline(always)]
            fn uniform_of(bits: u64, from: $type, span: $type) -> $type {
                let unit = unit_f32(bits, Self::MANTISSA_BITS);
                <$type>::from_f32(unit.mul_add(span.to_f32(), from.to_f32()))
            }
        }
    };
}

narrow_real!(f16, 11);
narrow_real!(bf16, 8);

/// Uniform over `[from, to)` (`uniform_`, `rand`).
#[derive(Clone, Copy, Debug)]
pub struct Uniform<T> {
    from: T,
    span: T,
}

impl<T: Real> Uniform<T> {
    /// Checks the bounds and rounds them to the dtype.
    pub fn new(from: f64, to: f64) -> Result<Uniform<T>> {
        let dtype = T::DTYPE;
        let max = largest::<T>();
        // NaN bounds fail the first comparison they meet.
        ensure!((-max..=max).contains(&from), Runtime, "from is out of bounds for {dtype}");
        ensure!((-max..=max).contains(&to), Runtime, "to is out of bounds for {dtype}");
        ensure!(from <= to, Runtime, "uniform_ expects to return a [from, to) range, but found from={from} > to={to}");
        ensure!(
            to - from <= max,
            Runtime,
            "uniform_ expects to-from <= std::numeric_limits<{}>::max(), but found to={to} and from={from} \
             which result in to-from to exceed the limit",
            dtype.c10_name()
        );
        let (from, to) = (T::from_f64(from), T::from_f64(to));
        Ok(Uniform { from, span: T::from_f64(to.to_f64() - from.to_f64()) })
    }

    /// The next sample.
    pub fn sample(&self, generator: &mut Generator) -> T {
        let bits = if T::RANDOM_BITS == 64 { generator.random64() } else { u64::from(generator.random()) };
        T::uniform_of(bits, self.from, self.span)
    }

    /// The next samples.
    pub fn fill(&self, generator: &mut Generator, out: &mut [T]) {
        fill_uniform(generator, out, self.from, self.span);
    }
}

/// Fills `out` with uniforms in `[0, 1)`, times `span`, plus `from`.
pub(super) fn fill_uniform<T: Real>(generator: &mut Generator, mut out: &mut [T], from: T, span: T) {
    with_fused_multiply_add(
        #[inline(always)]
        move || {
            if T::RANDOM_BITS == 64 {
                out.fill_with(|| T::uniform_of(generator.random64(), from, span));
                return;
            }
            while !out.is_empty() {
                let words = generator.words(out.len());
                let (now, later) = std::mem::take(&mut out).split_at_mut(words.len());
                for (slot, &word) in now.iter_mut().zip(words) {
                    *slot = T::uniform_of(u64::from(word), from, span);
                }
                out = later;
            }
        },
    );
}

/// The largest finite value of a real dtype.
pub(super) fn largest<T: Real>() -> f64 {
    match T::DTYPE {
        crate::DType::F16 => f16::MAX.to_f64(),
        crate::DType::BF16 => bf16::MAX.to_f64(),
        crate::DType::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    }
}

/// Exponential with rate `lambda`, sampled in double and rounded by the caller (`exponential_`).
#[derive(Clone, Copy, Debug)]
pub struct Exponential {
    lambda: f64,
}

impl Exponential {
    /// Checks the rate.
    pub fn new(lambda: f64) -> Result<Exponential> {
        ensure!(lambda > 0.0, Runtime, "exponential_ expects lambda > 0.0, but found lambda={lambda}");
        Ok(Exponential { lambda })
    }

    /// The next sample.
    pub fn sample(&self, generator: &mut Generator) -> f64 {
        -1.0 / self.lambda * (-unit_f64(generator)).ln_1p()
    }
}

/// Cauchy around `median` with scale `sigma`, sampled in double (`cauchy_`).
#[derive(Clone, Copy, Debug)]
pub struct Cauchy {
    median: f64,
    sigma: f64,
}

impl Cauchy {
    /// Checks the scale.
    pub fn new(median: f64, sigma: f64) -> Result<Cauchy> {
        ensure!(sigma > 0.0, Runtime, "cauchy_ expects sigma > 0.0, but found sigma={sigma}");
        Ok(Cauchy { median, sigma })
    }

    /// The next sample.
    pub fn sample(&self, generator: &mut Generator) -> f64 {
        (PI * (unit_f64(generator) - 0.5)).tan().mul_add(self.sigma, self.median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_checked_as_pytorch_does() {
        assert!(Uniform::<f32>::new(1.0, 1.0).is_ok());
        assert!(Uniform::<f32>::new(2.0, 1.0).is_err());
        assert!(Uniform::<f32>::new(f64::NAN, 1.0).is_err());
        assert_eq!(Uniform::<f16>::new(0.0, 7e4).unwrap_err().message(), "to is out of bounds for float16");
        assert!(Uniform::<f64>::new(f64::MIN, f64::MAX).is_err());
    }
}
