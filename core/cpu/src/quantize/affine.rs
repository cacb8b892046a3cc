//! Numbers to 8-bit integers with one scale and zero point, and sums of two such tensors. Back go tables: there are only
//! 256 integers.

use super::product::{LIGHT, in_shares};
use crate::simd::{Kernel, Simd, run_narrow};
use rushlight_base::runtime::chunk_length;
use rushlight_base::{Result, ensure, list};

/// How numbers become bytes: `round(number inverse) + zero_point`, saturated. Ties are rounded to even.
#[derive(Clone, Copy, Debug)]
pub struct Affine {
    /// One over the scale.
    pub inverse: f32,
    /// The integer of 0.
    pub zero_point: i32,
    /// The smallest and the largest integer.
    pub limits: (i32, i32),
    /// The integer of NaN.
    pub nan: i32,
}

impl Affine {
    #[inline(always)]
    fn byte(&self, value: f32) -> u8 {
        let steps = value * self.inverse;
        // A number beyond this saturates. Adding and subtracting 1.5 * 2^23 rounds to even.
        let rounded = (steps.clamp(-1e6, 1e6) + 12_582_912.0) - 12_582_912.0;
        let integer = (rounded as i32 + self.zero_point).clamp(self.limits.0, self.limits.1);
        let unknown = if value.is_nan() { self.nan } else { self.limits.0 };
        (if steps.is_nan() { unknown } else { integer }) as u8
    }

    /// The bytes of numbers.
    pub fn bytes(&self, values: &[f32]) -> Result<Vec<u8>> {
        let mut out = list::filled(values.len(), 0u8)?;
        let share = chunk_length(values.len(), LIGHT).max(1);
        in_shares(&mut out, share, |index, part| {
            let values = values.get(index * share..index * share + part.len()).unwrap_or(&[]);
            run_narrow(Bytes { by: *self, values, out: part });
            Ok(())
        })?;
        Ok(out)
    }
}

struct Bytes<'a> {
    by: Affine,
    values: &'a [f32],
    out: &'a mut [u8],
}

impl Kernel for Bytes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for (to, &value) in self.out.iter_mut().zip(self.values) {
            *to = self.by.byte(value);
        }
    }
}

/// Sums of the numbers of two tensors, as bytes of a third.
pub struct Sums<'a> {
    /// The numbers of the bytes of each operand.
    pub tables: [&'a [f32; 256]; 2],
    /// Whether negative sums become 0.
    pub relu: bool,
    /// The quantizer of the result.
    pub by: Affine,
}

impl Sums<'_> {
    /// The bytes of the sums.
    pub fn bytes(&self, a: &[u8], b: &[u8]) -> Result<Vec<u8>> {
        ensure!(a.len() == b.len(), Internal, "a sum of {} and {} elements", a.len(), b.len());
        let mut out = list::filled(a.len(), 0u8)?;
        let share = chunk_length(a.len(), LIGHT).max(1);
        in_shares(&mut out, share, |index, part| {
            let range = index * share..index * share + part.len();
            let (a, b) = (a.get(range.clone()).unwrap_or(&[]), b.get(range).unwrap_or(&[]));
            run_narrow(Sum { of: self, a, b, out: part });
            Ok(())
        })?;
        Ok(out)
    }
}

struct Sum<'a> {
    of: &'a Sums<'a>,
    a: &'a [u8],
    b: &'a [u8],
    out: &'a mut [u8],
}

impl Kernel for Sum<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Sums { tables: [first, second], relu, by } = *self.of;
        for ((to, &a), &b) in self.out.iter_mut().zip(self.a).zip(self.b) {
            let sum = first[usize::from(a)] + second[usize::from(b)];
            *to = by.byte(if relu && sum < 0.0 { 0.0 } else { sum });
        }
    }
}
