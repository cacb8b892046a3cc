//! Kernels of rounding, signs, remainders and combinations, and of bitwise operators.

use super::access::{Constant, array, copy_unless_same, over};
use crate::dense::{Dense, Shown};
use rushlight_base::{DType, Result, Scalar};
use rushlight_cpu::arithmetic::{self, Rounding};
use rushlight_cpu::{Loop, bitwise, elementary, numeric};

/// `rounding! { ceil floor }`: integers are copied.
macro_rules! rounding {
    ($($name:ident)*) => {$(
        #[doc = concat!("out = ", stringify!($name), " self")]
        pub fn $name(out: &Dense, self_: &Dense) -> Result<()> {
            if out.dtype.is_integral(false) {
                return copy_unless_same(out, self_);
            }
            over(out.dtype, [out, self_], numeric::$name)
        }
    )*};
}

rounding! { ceil floor trunc round }

/// `of_input! { isinf }`: kernels that compute in the input's dtype, for any output dtype.
macro_rules! of_input {
    ($($name:ident)*) => {$(
        #[doc = concat!("out = ", stringify!($name), " self")]
        pub fn $name(out: &Dense, self_: &Dense) -> Result<()> {
            over(self_.dtype, [out, self_], numeric::$name)
        }
    )*};
}

of_input! { abs signbit isinf isfinite }

/// out = whether self is plus infinity
pub fn isposinf(out: &Dense, self_: &Dense) -> Result<()> {
    over(self_.dtype, [out, self_], |walk| numeric::is_infinity_of(walk, false))
}

/// out = whether self is minus infinity
pub fn isneginf(out: &Dense, self_: &Dense) -> Result<()> {
    over(self_.dtype, [out, self_], |walk| numeric::is_infinity_of(walk, true))
}

/// out = sgn self
pub fn sgn(out: &Dense, self_: &Dense) -> Result<()> {
    over(out.dtype, [out, self_], numeric::sgn)
}

/// out = self - trunc self
pub fn frac(out: &Dense, self_: &Dense) -> Result<()> {
    over(out.dtype, [out, self_], numeric::frac)
}

/// out = self rounded to digits
pub fn round_decimals(out: &Dense, self_: &Dense, decimals: i64) -> Result<()> {
    if out.dtype.is_integral(false) {
        return copy_unless_same(out, self_);
    }
    over(out.dtype, [out, self_], |walk| numeric::round_decimals(walk, decimals))
}

/// out = self, or a replacement where it (or a part of a complex number) is not finite
pub fn nan_to_num(
    out: &Dense,
    self_: &Dense,
    nan: Option<f64>,
    posinf: Option<f64>,
    neginf: Option<f64>,
) -> Result<()> {
    if out.dtype.is_integral(true) {
        return copy_unless_same(out, self_);
    }
    let most = match out.dtype {
        DType::F16 => 65504.0,
        DType::BF16 => f64::from(f32::from_bits(0x7f7f_0000)),
        DType::F32 | DType::C64 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    let (above, below) = (posinf.unwrap_or(most), neginf.unwrap_or(-most));
    over(out.dtype, [out, self_], |walk| numeric::nan_to_num(walk, nan.unwrap_or(0.0), above, below))
}

/// Kernels of two tensors, of a tensor and a number, and of a number and a tensor.
macro_rules! binary {
    ($($name:ident$(, $with_number:ident$(, $of_number:ident)?)?: $kernel:expr;)*) => {$(
        #[doc = concat!("out = ", stringify!($name), "(self, other)")]
        pub fn $name(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
            over(out.dtype, [out, self_, other], $kernel)
        }
        $(
            #[doc = concat!("out = ", stringify!($name), "(self, other)")]
            pub fn $with_number(out: &Dense, self_: &Dense, other: Scalar) -> Result<()> {
                let other = Constant::new(other, out.dtype)?;
                ($kernel)(&Loop::new([array(out), array(self_), other.array()])?)
            }
            $(
                #[doc = concat!("out = ", stringify!($name), "(self, other)")]
                pub fn $of_number(out: &Dense, self_: Scalar, other: &Dense) -> Result<()> {
                    let first = Constant::new(self_, out.dtype)?;
                    ($kernel)(&Loop::new([array(out), first.array(), array(other)])?)
                }
            )?
        )?
    )*};
}

binary! {
    copysign, copysign_scalar: numeric::copysign;
    fmod, fmod_scalar: |walk: &Loop<3>| numeric::remainder(walk, false);
    remainder, remainder_scalar, scalar_remainder: |walk: &Loop<3>| numeric::remainder(walk, true);
    floor_divide, floor_divide_scalar: |walk: &Loop<3>| arithmetic::div_rounded(walk, Rounding::Floor);
    nextafter: numeric::nextafter;
    gcd: numeric::gcd;
    lcm: numeric::lcm;
    minimum: arithmetic::minimum;
    fmax: numeric::fmax;
    fmin: numeric::fmin;
    heaviside: numeric::heaviside;
    atan2: elementary::atan2;
    hypot: elementary::hypot;
    logaddexp: elementary::logaddexp;
    logaddexp2: elementary::logaddexp2;
    xlogy, xlogy_scalar, scalar_xlogy: elementary::xlogy;
    bitwise_and, bitwise_and_scalar, scalar_bitwise_and: bitwise::bitwise_and;
    bitwise_or, bitwise_or_scalar, scalar_bitwise_or: bitwise::bitwise_or;
    bitwise_xor, bitwise_xor_scalar, scalar_bitwise_xor: bitwise::bitwise_xor;
    bitwise_left_shift, bitwise_left_shift_scalar, scalar_bitwise_left_shift: bitwise::left_shift;
    bitwise_right_shift, bitwise_right_shift_scalar, scalar_bitwise_right_shift: bitwise::right_shift;
}

/// out = bitwise NOT of self
pub fn bitwise_not(out: &Dense, self_: &Dense) -> Result<()> {
    over(out.dtype, [out, self_], bitwise::bitwise_not)
}

/// out = the angle of self in the complex plane
pub fn angle(out: &Dense, self_: &Dense) -> Result<()> {
    if !self_.dtype.is_complex() {
        return over(out.dtype, [out, self_], numeric::angle);
    }
    let part = |nth: i64| {
        let mut geometry = super::views::pairs(&self_.geometry);
        geometry.sizes.pop();
        geometry.strides.pop();
        geometry.offset += nth;
        self_.shown(Shown { geometry, dtype: self_.dtype.to_real(), lazy: self_.lazy })
    };
    over(out.dtype, [out, &part(1), &part(0)], elementary::atan2)
}

/// mantissa, exponent = the parts of self
pub fn frexp(mantissa: &Dense, exponent: &Dense, self_: &Dense) -> Result<()> {
    // The mantissa may be stored in self's memory.
    over(self_.dtype, [exponent, self_], numeric::exponent)?;
    over(self_.dtype, [mantissa, self_], numeric::mantissa)
}

/// out = self + weight (end - self)
pub fn lerp(out: &Dense, self_: &Dense, end: &Dense, weight: &Dense) -> Result<()> {
    over(out.dtype, [out, self_, end, weight], numeric::lerp)
}

/// out = self + weight (end - self)
pub fn lerp_scalar(out: &Dense, self_: &Dense, end: &Dense, weight: Scalar) -> Result<()> {
    over(out.dtype, [out, self_, end], |walk| numeric::lerp_scalar(walk, weight))
}

/// out = self + value tensor1 tensor2
pub fn addcmul(out: &Dense, self_: &Dense, tensor1: &Dense, tensor2: &Dense, value: Scalar) -> Result<()> {
    over(out.dtype, [out, self_, tensor1, tensor2], |walk| numeric::addcmul(walk, value))
}

/// out = self + value tensor1 / tensor2
pub fn addcdiv(out: &Dense, self_: &Dense, tensor1: &Dense, tensor2: &Dense, value: Scalar) -> Result<()> {
    over(out.dtype, [out, self_, tensor1, tensor2], |walk| numeric::addcdiv(walk, value))
}

/// out = whether self is NaN
pub fn isnan(out: &Dense, self_: &Dense) -> Result<()> {
    over(self_.dtype, [out, self_, self_], rushlight_cpu::compare::ne)
}

/// out = the logical XOR of self and other
pub fn logical_xor(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    over(DType::Bool, [out, self_, other], bitwise::bitwise_xor)
}
