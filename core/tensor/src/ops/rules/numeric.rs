//! Rules of signs, extrema and combinations.

use super::elementwise;
use super::pointwise::{arithmetic, like};
use super::promotion::common_dtype;
use crate::dense::{Dense, Spec};
use crate::options::cpp_name;
use rushlight_base::{DType, Result, Scalar, ensure};

/// Only real numbers can be compared with zero.
pub fn sign(self_: &Dense) -> Result<Spec> {
    ensure!(
        !self_.dtype.is_complex(),
        Runtime,
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
    );
    like(self_)
}

/// An angle is real; of an integer, of the default dtype.
pub fn angle(self_: &Dense) -> Result<Spec> {
    let spec = super::pointwise::unary_float(self_)?;
    Ok(Spec { dtype: spec.dtype.to_real(), ..spec })
}

/// A mantissa of the dtype, and an exponent.
pub fn frexp(self_: &Dense) -> Result<[Spec; 2]> {
    ensure!(
        self_.dtype.is_differentiable() && !self_.dtype.is_complex(),
        Runtime,
        "torch.frexp() only supports floating-point dtypes"
    );
    let spec = like(self_)?;
    Ok([spec.clone(), Spec { dtype: DType::I32, ..spec }])
}

/// Like `self`, which is real.
fn rounded(name: &str, self_: &Dense) -> Result<Spec> {
    ensure!(!self_.dtype.is_complex(), Runtime, "{name} is not supported for complex inputs");
    like(self_)
}

/// Real numbers, rounded up.
pub fn ceil(self_: &Dense) -> Result<Spec> {
    rounded("ceil", self_)
}

/// Real numbers, rounded down.
pub fn floor(self_: &Dense) -> Result<Spec> {
    rounded("floor", self_)
}

/// Real numbers, rounded towards 0.
pub fn trunc(self_: &Dense) -> Result<Spec> {
    rounded("trunc", self_)
}

/// The smaller of two: real numbers only.
pub fn minimum(self_: &Dense, other: &Dense) -> Result<Spec> {
    let spec = arithmetic(self_, other)?;
    ensure!(!spec.dtype.is_complex(), Runtime, "minimum not implemented for complex tensors.");
    Ok(spec)
}

/// A bound for each element: real numbers only.
pub fn clamp_bound(self_: &Dense, bound: &Dense) -> Result<Spec> {
    let spec = arithmetic(self_, bound)?;
    ensure!(!spec.dtype.is_complex(), Runtime, "clamp is not supported for complex types");
    Ok(spec)
}

/// A step, with its value at zero.
pub fn heaviside(self_: &Dense, values: &Dense) -> Result<Spec> {
    ensure!(
        !self_.dtype.is_complex() && !values.dtype.is_complex(),
        Runtime,
        "heaviside is not yet implemented for complex tensors."
    );
    ensure!(
        self_.dtype == values.dtype,
        Runtime,
        "heaviside is not yet implemented for tensors with different dtypes."
    );
    arithmetic(self_, values)
}

/// The promoted dtype of three.
pub fn ternary(a: &Dense, b: &Dense, c: &Dense) -> Result<Spec> {
    elementwise(common_dtype(&[a, b, c])?, &[a, b, c])
}

fn check_interpolation(self_: &Dense, name: &str, other: &Dense) -> Result<()> {
    ensure!(
        self_.dtype == other.dtype,
        Runtime,
        "expected dtype {} for `{name}` but got dtype {}",
        cpp_name(self_.dtype),
        cpp_name(other.dtype)
    );
    Ok(())
}

/// Both ends have the same dtype; a complex weight needs complex ends.
pub fn lerp_scalar(self_: &Dense, end: &Dense, weight: Scalar) -> Result<Spec> {
    check_interpolation(self_, "end", end)?;
    if self_.dtype.is_floating() {
        weight.check_convertible(self_.dtype.opmath())?;
    }
    arithmetic(self_, end)
}

/// All have the same dtype; only a 0-dim weight is promoted.
pub fn lerp(self_: &Dense, end: &Dense, weight: &Dense) -> Result<Spec> {
    check_interpolation(self_, "end", end)?;
    if weight.ndim() > 0 {
        check_interpolation(self_, "weight", weight)?;
    }
    ternary(self_, end, weight)
}

/// A factor that the dtype of the result represents.
pub fn addcmul(self_: &Dense, tensor1: &Dense, tensor2: &Dense, value: Scalar) -> Result<Spec> {
    let spec = ternary(self_, tensor1, tensor2)?;
    value.check_convertible(spec.dtype.opmath())?;
    Ok(spec)
}

/// Quotients are not integers.
pub fn addcdiv(self_: &Dense, tensor1: &Dense, tensor2: &Dense, value: Scalar) -> Result<Spec> {
    ensure!(
        !(tensor1.dtype.is_integral(true) && tensor2.dtype.is_integral(true)),
        Runtime,
        "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true \
         division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * \
         torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for \
         float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), \
         for all dtypes."
    );
    addcmul(self_, tensor1, tensor2, value)
}
