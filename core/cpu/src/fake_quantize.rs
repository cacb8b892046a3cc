//! Fake quantization: floats rounded to the values that a quantized tensor can represent.

#[cfg(target_arch = "nvptx64")]
use crate::floats::Roundings;
use crate::number::Flag;
use crate::pointwise::{LIGHT, Loop, Parameter, Words};
use rushlight_base::Result;

/// The parameters of fake quantization.
#[derive(Clone, Copy, Debug)]
pub struct FakeQuantize {
    /// The distance of two representable values.
    pub scale: f32,
    /// The integer that represents 0, or a number between integers.
    pub zero_point: f64,
    /// Whether the zero point is a number between integers: it is added before rounding.
    pub between: bool,
    /// The smallest integer.
    pub min: i64,
    /// The largest integer.
    pub max: i64,
}

impl Parameter for FakeQuantize {
    #[inline(always)]
    fn words(self) -> Words {
        let first = u64::from(self.scale.to_bits()) | u64::from(self.between) << 32;
        Words([first, self.zero_point.to_bits(), self.min as u64, self.max as u64])
    }

    #[inline(always)]
    fn of_words(Words([first, zero_point, min, max]): Words) -> FakeQuantize {
        FakeQuantize {
            scale: f32::from_bits(first as u32),
            zero_point: f64::from_bits(zero_point),
            between: first >> 32 != 0,
            min: min as i64,
            max: max as i64,
        }
    }
}

/// A number as an integer, as processors convert it: one that does not fit becomes the smallest integer.
#[inline(always)]
fn whole(value: f64) -> i64 {
    if value.abs() < 9_223_372_036_854_775_808.0 { value as i64 } else { i64::MIN }
}

/// A type that fake quantization computes in.
trait Rounds: Copy {
    /// The integer that represents the number, which may be out of range.
    fn rounded(self, by: &FakeQuantize) -> i64;
    /// The number in this type.
    fn of(value: f64) -> Self;
}

macro_rules! rounds {
    ($($type:ident)*) => {$(
        impl Rounds for $type {
            #[inline(always)]
            fn rounded(self, by: &FakeQuantize) -> i64 {
                let (steps, zero) = (self * $type::from(1.0 / by.scale), by.zero_point as $type);
                if by.between {
                    return whole(f64::from(((zero + steps) as f32).round_ties_even()));
                }
                whole(f64::from(zero + steps.round_ties_even()))
            }

            #[inline(always)]
            fn of(value: f64) -> $type {
                value as $type
            }
        }
    )*};
}

rounds! { f32 f64 }

kernels! { "quantize";
    /// out = the representable value next to a
    pub fn fake_quantize(walk: &Loop<2>, by: FakeQuantize) -> Result<()> {
        compute!(walk.common(), "fake_quantize_tensor_cachemask_kernel_type_handling", half float, T => {
            walk.map::<T, T>(LIGHT, move |a| {
                let steps = a.rounded(&by).max(by.min).min(by.max);
                Rounds::of((steps as f64 - by.zero_point) * f64::from(by.scale))
            })
        })
    }

    /// out = whether a is in the range of representable values
    pub fn fake_quantize_mask(walk: &Loop<2>, by: FakeQuantize) -> Result<()> {
        compute!(walk.common(), "fake_quantize_tensor_cachemask_kernel_type_handling", half float, T => {
            walk.map::<Flag, T>(LIGHT, move |a| (by.min..=by.max).contains(&a.rounded(&by)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_integer_holds_becomes_the_smallest() {
        assert_eq!([f64::NAN, f64::INFINITY, 1e30, -1e30].map(whole), [i64::MIN; 4]);
        assert_eq!(whole(-2.0), -2);
    }
}
