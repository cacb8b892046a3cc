//! Uniform integers (`random_`, `randint`) and permutations (`randperm`).
//!
//! A range is reduced by remainder, as in PyTorch: 32 bits are consumed for ranges below 2^28, 64 above. For a real
//! dtype the bounds are first moved to values that the dtype can represent.

use super::{Generator, Real};
use crate::runtime::{BETWEEN_CHECKS, check_cancelled};
use crate::{DType, Result, bf16, ensure, err, f16};

/// From this range on, 64 bits are consumed: the bias of the remainder stays under 5 %.
const WIDE_RANGE: u64 = 1 << 28;
/// From this length on, a permutation consumes 64 bits per element.
const LONG_PERMUTATION: usize = (u32::MAX / 20) as usize;

/// Uniform integers from one of PyTorch's three kinds of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomInteger {
    base: i64,
    /// Number of values; 0 stands for 2^64.
    range: u64,
    /// 2^64 divided by the range, rounded up, for ranges that consume 32 bits.
    reciprocal: u64,
    wide: bool,
}

impl RandomInteger {
    /// `[from, to)`, for a tensor of `dtype` (`random_.from`, `randint`).
    pub fn between(from: i64, to: i64, dtype: DType) -> Result<RandomInteger> {
        ensure!(from < to, Runtime, "random_ expects 'from' to be less than 'to', but got from={from} >= to={to}");
        let (low, high) = (raise_to_dtype(from, dtype), lower_to_dtype(to, dtype));
        ensure!(
            low < high,
            Runtime,
            "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, \
             but got from={low} >= to={high}"
        );
        check_bounds(low, high - 1, dtype)?;
        Ok(RandomInteger::of_range(low, high.wrapping_sub(low) as u64))
    }

    /// `[from, largest of dtype]` (`random_.from` without `to`); from `i64::MIN` on, all 2^64 values.
    pub fn from_on(from: i64, dtype: DType) -> Result<RandomInteger> {
        if from == i64::MIN {
            let served = matches!(dtype, DType::I64 | DType::F64 | DType::F32 | DType::BF16);
            ensure!(served, Runtime, "random_ over all 64 bits handles only int64, double, float and bfloat16");
            return Ok(RandomInteger::new(0, 0, true));
        }
        let low = raise_to_dtype(from, dtype);
        let high = match real_digits(dtype) {
            Some(digits) => 1i64 << digits,
            None => integer_bounds(dtype)?.1,
        };
        ensure!(
            low <= high,
            Runtime,
            "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, \
             but got from={low} > to_inc={high}"
        );
        check_bounds(low, high, dtype)?;
        Ok(RandomInteger::of_range(low, (high.wrapping_sub(low) as u64).wrapping_add(1)))
    }

    /// `[0, largest of dtype]`, for a real dtype `[0, 2^mantissa]` (`random_` without bounds).
    pub fn whole(dtype: DType) -> Result<RandomInteger> {
        ensure!(
            !dtype.is_complex() && !dtype.is_barebones_unsigned(),
            Runtime,
            "\"random_kernel_cpu\" not implemented for '{}'",
            dtype.c10_name()
        );
        let range = match real_digits(dtype) {
            Some(digits) => (1u64 << digits) + 1,
            None => integer_bounds(dtype)?.1 as u64 + 1,
        };
        Ok(RandomInteger::new(0, range, matches!(dtype, DType::I64 | DType::F64)))
    }

    fn of_range(base: i64, range: u64) -> RandomInteger {
        RandomInteger::new(base, range, range == 0 || range >= WIDE_RANGE)
    }

    fn new(base: i64, range: u64, wide: bool) -> RandomInteger {
        let reciprocal = if range < 2 { 0 } else { u64::MAX / range + 1 };
        RandomInteger { base, range, reciprocal, wide }
    }

    /// The first integer, and how many there are: 0 stands for 2^64.
    pub fn bounds(&self) -> (i64, u64) {
        (self.base, self.range)
    }

    /// The next integer. For a real dtype the caller converts it.
    #[inline(always)]
    pub fn sample(&self, generator: &mut Generator) -> i64 {
        let reduced = if self.wide {
            // A range of 2^64 needs no remainder.
            let bits = generator.random64();
            bits.checked_rem(self.range).unwrap_or(bits)
        } else {
            self.remainder(generator.random())
        };
        self.base.wrapping_add(reduced as i64)
    }

    /// The remainder of 32 bits for a range of at most 32 bits, by two multiplications (Lemire, Kaser and Kurz, "Faster
    /// remainder by direct computation", 2019). The fraction of the quotient, in 64 bits, times the range.
    #[inline(always)]
    fn remainder(&self, bits: u32) -> u64 {
        let fraction = self.reciprocal.wrapping_mul(u64::from(bits));
        ((u128::from(fraction) * u128::from(self.range)) >> 64) as u64
    }
}

/// Fills `out` with a permutation of `0..out.len()`; `number` turns an index into an element.
pub fn randperm<T: Copy>(generator: &mut Generator, out: &mut [T], number: impl Fn(i64) -> T) -> Result<()> {
    let n = out.len();
    if n < LONG_PERMUTATION {
        for (index, slot) in out.iter_mut().enumerate() {
            *slot = number(index as i64);
        }
        for index in 0..n.saturating_sub(1) {
            if index % BETWEEN_CHECKS == 0 {
                check_cancelled()?;
            }
            let ahead = generator.random() as usize % (n - index);
            out.swap(index, index + ahead);
        }
    } else {
        // 32 bits would be biased at this length: PyTorch builds the permutation from the front instead.
        for index in 0..n {
            if index % BETWEEN_CHECKS == 0 {
                check_cancelled()?;
            }
            let before = (generator.random64() % (index as u64 + 1)) as usize;
            out[index] = out[before];
            out[before] = number(index as i64);
        }
    }
    Ok(())
}

/// Bits of the mantissa of a real dtype.
fn real_digits(dtype: DType) -> Option<u32> {
    match dtype {
        DType::F16 => Some(f16::MANTISSA_BITS),
        DType::BF16 => Some(bf16::MANTISSA_BITS),
        DType::F32 => Some(f32::MANTISSA_BITS),
        DType::F64 => Some(f64::MANTISSA_BITS),
        _ => None,
    }
}

/// Smallest and largest value of an integer dtype, clipped to `i64`.
fn integer_bounds(dtype: DType) -> Result<(i64, i64)> {
    match dtype {
        DType::Bool => Ok((0, 1)),
        DType::U8 => Ok((0, u8::MAX.into())),
        DType::I8 => Ok((i8::MIN.into(), i8::MAX.into())),
        DType::I16 => Ok((i16::MIN.into(), i16::MAX.into())),
        DType::U16 => Ok((0, u16::MAX.into())),
        DType::I32 => Ok((i32::MIN.into(), i32::MAX.into())),
        DType::U32 => Ok((0, u32::MAX.into())),
        DType::I64 => Ok((i64::MIN, i64::MAX)),
        DType::U64 => Ok((0, i64::MAX)),
        _ => Err(err!(Runtime, "check_random_bounds handles only integral, floating-point and boolean types")),
    }
}

/// An integer after a round trip through a real dtype.
fn through_real(value: i64, dtype: DType) -> i64 {
    match dtype {
        DType::F16 => f16::from_f32(value as f32).to_f64() as i64,
        DType::BF16 => bf16::from_f32(value as f32).to_f64() as i64,
        DType::F32 => value as f32 as i64,
        DType::F64 => value as f64 as i64,
        _ => value,
    }
}

/// Distance of neighbouring values of a dtype of `digits` bits around `value`.
fn spacing(value: i64, digits: u32) -> i64 {
    let exponent = value.unsigned_abs().max(1).ilog2();
    1i64 << (exponent + 1).saturating_sub(digits).min(62)
}

/// `from`, moved up where rounding to the dtype would fall below it.
fn raise_to_dtype(from: i64, dtype: DType) -> i64 {
    let Some(digits) = real_digits(dtype) else { return from };
    let after = from.saturating_add(1);
    let rounded = through_real(after, dtype);
    if rounded < from { rounded.saturating_add(spacing(after, digits)) } else { from }
}

/// `to`, moved down where rounding to the dtype would reach it.
fn lower_to_dtype(to: i64, dtype: DType) -> i64 {
    let Some(digits) = real_digits(dtype) else { return to };
    let last = to.saturating_sub(1);
    let rounded = through_real(last, dtype);
    if rounded >= to { rounded.saturating_sub(spacing(last, digits)) } else { to }
}

/// Whether the dtype can represent both ends.
fn check_bounds(from: i64, last: i64, dtype: DType) -> Result<()> {
    let inside = |value: i64| match dtype {
        DType::F16 => Ok((value as f64).abs() <= f16::MAX.to_f64()),
        DType::BF16 | DType::F32 | DType::F64 => Ok(true),
        _ => integer_bounds(dtype).map(|(low, high)| (low..=high).contains(&value)),
    };
    ensure!(inside(from)?, Runtime, "from is out of bounds for {dtype}");
    ensure!(inside(last)?, Runtime, "to - 1 is out of bounds for {dtype}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_beyond_the_dtype_are_rejected() {
        assert!(RandomInteger::between(3, 3, DType::I64).is_err());
        assert!(RandomInteger::between(0, 257, DType::U8).is_err());
        assert!(RandomInteger::between(0, 256, DType::U8).is_ok());
        assert!(RandomInteger::between(0, 2, DType::C64).is_err());
        assert!(RandomInteger::between(0, 70_000, DType::F16).is_err());
        assert!(RandomInteger::from_on(i64::MIN, DType::I32).is_err());
    }

    #[test]
    fn the_widest_ranges_do_not_overflow() {
        let all = RandomInteger::from_on(i64::MIN, DType::I64).unwrap();
        let wide = RandomInteger::between(i64::MIN, i64::MAX, DType::I64).unwrap();
        let mut generator = Generator::default();
        for _ in 0..100 {
            all.sample(&mut generator);
            assert_ne!(wide.sample(&mut generator), i64::MAX);
        }
        assert!(RandomInteger::between(i64::MIN, i64::MAX, DType::F32).is_ok());
    }

    #[test]
    fn a_permutation_holds_every_index_once() {
        let mut out = [0i64; 100];
        randperm(&mut Generator::new(3), &mut out, |index| index).unwrap();
        out.sort_unstable();
        assert!(out.iter().enumerate().all(|(index, value)| index as i64 == *value));
    }
}
