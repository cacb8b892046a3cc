//! Rules of powers.

use super::pointwise::{arithmetic, arithmetic_scalar};
use crate::dense::{Dense, Spec};
use rushlight_base::{Category, DType, Result, Scalar, ensure};

/// Like a product, but bools become integers.
pub fn square(self_: &Dense) -> Result<Spec> {
    arithmetic_scalar(self_, Scalar::Int(2))
}

/// The promoted dtype; integers have no negative powers. Integers and half precision must hold the exponent.
pub fn pow_tensor_scalar(self_: &Dense, exponent: Scalar) -> Result<Spec> {
    let integral = self_.dtype.is_integral(true) && exponent.category() <= Category::Integral;
    ensure!(!integral || exponent.to_i64() >= 0, Runtime, "Integers to negative integer powers are not allowed.");
    let spec = arithmetic_scalar(self_, exponent)?;
    if spec.dtype.is_integral(true) || matches!(spec.dtype, DType::F16 | DType::BF16) {
        exponent.check_convertible(spec.dtype)?;
    }
    Ok(spec)
}

/// The promoted dtype of a number and its exponents.
pub fn pow_scalar(self_: Scalar, exponent: &Dense) -> Result<Spec> {
    arithmetic_scalar(exponent, self_)
}

/// float64, or complex128 if one operand is complex.
fn in_doubles(spec: Spec) -> Spec {
    Spec { dtype: if spec.dtype.is_complex() { DType::C128 } else { DType::F64 }, ..spec }
}

/// A power in double precision.
pub fn float_power(self_: &Dense, exponent: &Dense) -> Result<Spec> {
    arithmetic(self_, exponent).map(in_doubles)
}

/// A power in double precision, of one exponent.
pub fn float_power_scalar(self_: &Dense, exponent: Scalar) -> Result<Spec> {
    arithmetic_scalar(self_, exponent).map(in_doubles)
}

/// Powers in double precision of one number.
pub fn float_power_of_number(self_: Scalar, exponent: &Dense) -> Result<Spec> {
    float_power_scalar(exponent, self_)
}
