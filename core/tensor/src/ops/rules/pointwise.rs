//! Rules of pointwise operators and comparisons.

use super::promotion::{Promotion, common_dtype};
use super::{common_device, elementwise};
use crate::dense::{Dense, Spec};
use rushlight_base::{Category, Complex, DType, Device, Result, Scalar, bail, ensure, runtime};

fn with_scalar(input: &Dense, scalar: Scalar) -> Result<DType> {
    Promotion::default().with(input)?.with_scalar(scalar)?.dtype()
}

/// Integers and bools become the default floating dtype.
fn to_floating(dtype: DType) -> DType {
    if dtype.is_integral(true) { runtime::default_dtype() } else { dtype }
}

#[inline(always)]
fn check_alpha(dtype: DType, alpha: Scalar) -> Result<()> {
    // An integer is compatible with every dtype.
    if matches!(alpha, Scalar::Int(_)) { Ok(()) } else { check_other_alpha(dtype, alpha) }
}

fn check_other_alpha(dtype: DType, alpha: Scalar) -> Result<()> {
    ensure!(
        !matches!(alpha, Scalar::Bool(_)) || dtype == DType::Bool,
        Runtime,
        "Boolean alpha only supported for Boolean results."
    );
    ensure!(
        dtype.is_differentiable() || alpha.category() <= Category::Integral,
        Runtime,
        "For integral input tensors, argument alpha must not be a floating point number."
    );
    ensure!(
        dtype.is_complex() || alpha.category() != Category::Complex,
        Runtime,
        "For non-complex input tensors, argument alpha must not be a complex number."
    );
    Ok(())
}

fn check_sub(a: DType, b: DType) -> Result<()> {
    ensure!(
        a != DType::Bool || b != DType::Bool,
        Runtime,
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` \
         operator instead."
    );
    ensure!(
        a != DType::Bool && b != DType::Bool,
        Runtime,
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use \
         the `~` or `logical_not()` operator instead."
    );
    Ok(())
}

/// self + alpha other
pub fn add(self_: &Dense, other: &Dense, alpha: Scalar) -> Result<Spec> {
    let inputs = [self_, other];
    let dtype = common_dtype(&inputs)?;
    check_alpha(dtype, alpha)?;
    elementwise(dtype, &inputs)
}

/// self + alpha other, for a number
pub fn add_scalar(self_: &Dense, other: Scalar, alpha: Scalar) -> Result<Spec> {
    let dtype = with_scalar(self_, other)?;
    check_alpha(dtype, alpha)?;
    elementwise(dtype, &[self_])
}

/// self - alpha other
pub fn sub(self_: &Dense, other: &Dense, alpha: Scalar) -> Result<Spec> {
    check_sub(self_.dtype, other.dtype)?;
    add(self_, other, alpha)
}

/// self - alpha other, for a number
pub fn sub_scalar(self_: &Dense, other: Scalar, alpha: Scalar) -> Result<Spec> {
    check_sub(self_.dtype, other.dtype())?;
    add_scalar(self_, other, alpha)
}

/// The promoted dtype, of any category.
pub fn arithmetic(self_: &Dense, other: &Dense) -> Result<Spec> {
    let inputs = [self_, other];
    elementwise(common_dtype(&inputs)?, &inputs)
}

/// Like `arithmetic`, for a number.
pub fn arithmetic_scalar(self_: &Dense, other: Scalar) -> Result<Spec> {
    elementwise(with_scalar(self_, other)?, &[self_])
}

/// The exact quotient: floating or complex.
pub fn true_divide(self_: &Dense, other: &Dense) -> Result<Spec> {
    elementwise(to_floating(common_dtype(&[self_, other])?), &[self_, other])
}

/// Like `true_divide`, for a number.
pub fn true_divide_scalar(self_: &Dense, other: Scalar) -> Result<Spec> {
    elementwise(to_floating(with_scalar(self_, other)?), &[self_])
}

/// Whether the rounding mode rounds (`None` does not).
fn rounds(rounding_mode: Option<&str>) -> Result<bool> {
    match rounding_mode {
        None => Ok(false),
        Some("trunc" | "floor") => Ok(true),
        Some(other) => {
            bail!(Runtime, "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{other}'")
        }
    }
}

/// A rounded quotient keeps the promoted dtype.
pub fn divide_mode(self_: &Dense, other: &Dense, rounding_mode: Option<&str>) -> Result<Spec> {
    if rounds(rounding_mode)? { arithmetic(self_, other) } else { true_divide(self_, other) }
}

/// Like `divide_mode`, for a number.
pub fn divide_mode_scalar(self_: &Dense, other: Scalar, rounding_mode: Option<&str>) -> Result<Spec> {
    if rounds(rounding_mode)? { arithmetic_scalar(self_, other) } else { true_divide_scalar(self_, other) }
}

/// Any two tensors, compared for equality.
pub fn equality(self_: &Dense, other: &Dense) -> Result<Spec> {
    // Promotion may fail (uint16 with int32, for example), and then so must the comparison.
    common_dtype(&[self_, other])?;
    elementwise(DType::Bool, &[self_, other])
}

/// Like `equality`, with a number.
pub fn equality_scalar(self_: &Dense, other: Scalar) -> Result<Spec> {
    with_scalar(self_, other)?;
    elementwise(DType::Bool, &[self_])
}

/// Any two real tensors; the kernel rejects complex ones by its own name.
pub fn ordering(self_: &Dense, other: &Dense) -> Result<Spec> {
    common_dtype(&[self_, other])?;
    elementwise(DType::Bool, &[self_, other])
}

/// Like `ordering`, with a number.
pub fn ordering_scalar(self_: &Dense, other: Scalar) -> Result<Spec> {
    with_scalar(self_, other)?;
    elementwise(DType::Bool, &[self_])
}

/// The logical value of each element.
pub fn logical_unary(self_: &Dense) -> Result<Spec> {
    elementwise(DType::Bool, &[self_])
}

/// Booleans about the signs of real numbers.
pub fn signbit(self_: &Dense) -> Result<Spec> {
    ensure!(!self_.dtype.is_complex(), Runtime, "signbit is not implemented for complex tensors.");
    logical_unary(self_)
}

/// Shape and dtype of the input.
pub fn like(self_: &Dense) -> Result<Spec> {
    elementwise(self_.dtype, &[self_])
}

/// A function of two tensors of the same dtype, which it keeps.
pub fn binary_of_one_dtype(self_: &Dense, other: &Dense) -> Result<Spec> {
    let (expected, found) = (self_.dtype.c10_name(), other.dtype.c10_name());
    ensure!(found == expected, Runtime, "Found dtype {found} but expected {expected}");
    elementwise(self_.dtype, &[self_, other])
}

/// A function of three tensors of the same dtype, which it keeps.
pub fn ternary_of_one_dtype(first: &Dense, second: &Dense, third: &Dense) -> Result<Spec> {
    for other in [second, third] {
        binary_of_one_dtype(first, other)?;
    }
    elementwise(first.dtype, &[first, second, third])
}

/// A real function: integers become floating.
pub fn unary_float(self_: &Dense) -> Result<Spec> {
    elementwise(to_floating(self_.dtype), &[self_])
}

/// A function of real numbers that keeps the dtype; not for bools.
pub fn unary_real(self_: &Dense) -> Result<Spec> {
    ensure!(self_.dtype != DType::Bool, Runtime, "Boolean inputs not supported for relu");
    ensure!(!self_.dtype.is_complex(), Runtime, "clamp is not supported for complex types");
    elementwise(self_.dtype, &[self_])
}

/// The negative number.
pub fn negate(self_: &Dense) -> Result<Spec> {
    ensure!(
        self_.dtype != DType::Bool,
        Runtime,
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the \
         `~` or `logical_not()` operator instead."
    );
    like(self_)
}

/// The real part: half the size per element.
pub fn real_part(self_: &Dense) -> Result<Spec> {
    elementwise(self_.dtype.to_real(), &[self_])
}

fn check_clamp(dtype: DType) -> Result<DType> {
    ensure!(!dtype.is_complex(), Runtime, "clamp is not supported for complex types");
    Ok(dtype)
}

/// Bounds that are numbers take part in promotion.
pub fn clamp(self_: &Dense, min: Option<Scalar>, max: Option<Scalar>) -> Result<Spec> {
    ensure!(min.is_some() || max.is_some(), Runtime, "torch.clamp: At least one of 'min' or 'max' must not be None");
    let start = Promotion::default().with(self_)?;
    let dtype = [min, max].into_iter().flatten().try_fold(start, Promotion::with_scalar)?.dtype()?;
    elementwise(check_clamp(dtype)?, &[self_])
}

/// One bound.
pub fn clamp_scalar(self_: &Dense, min: Scalar) -> Result<Spec> {
    clamp(self_, Some(min), None)
}

/// Bounds that are tensors.
pub fn clamp_tensor(self_: &Dense, min: Option<&Dense>, max: Option<&Dense>) -> Result<Spec> {
    ensure!(min.is_some() || max.is_some(), Runtime, "torch.clamp: At least one of 'min' or 'max' must not be None");
    let inputs: rushlight_base::SmallVec<[&Dense; 3]> = [Some(self_), min, max].into_iter().flatten().collect();
    elementwise(check_clamp(common_dtype(&inputs)?)?, &inputs)
}

/// The larger of two: real numbers only.
pub fn maximum(self_: &Dense, other: &Dense) -> Result<Spec> {
    let dtype = common_dtype(&[self_, other])?;
    ensure!(!dtype.is_complex(), Runtime, "maximum not implemented for complex tensors.");
    elementwise(dtype, &[self_, other])
}

/// grad where self > threshold.
pub fn threshold_backward(grad_output: &Dense, self_: &Dense, _threshold: Scalar) -> Result<Spec> {
    arithmetic(grad_output, self_)
}

/// `value` where `mask`; the mask must be expandable to the shape of the result.
pub fn masked_fill(self_: &Dense, mask: &Dense, value: Scalar) -> Result<Spec> {
    ensure!(
        mask.dtype == DType::Bool,
        Runtime,
        "masked_fill_ only supports boolean masks, but got mask with dtype {}",
        crate::options::cpp_name(mask.dtype)
    );
    value.check_convertible(self_.dtype)?;
    // The order follows PyTorch's error message.
    super::broadcast(&[mask, self_])?;
    elementwise(self_.dtype, &[self_, mask])
}

/// Like `masked_fill`, with a 0-dim tensor.
pub fn masked_fill_tensor(self_: &Dense, mask: &Dense, value: &Dense) -> Result<Spec> {
    ensure!(
        value.ndim() == 0,
        Runtime,
        "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).",
        value.ndim()
    );
    let like = match value.dtype.category() {
        // Its imaginary part may be lost.
        Category::Complex => Scalar::Complex(Complex::I),
        _ => Scalar::Int(0),
    };
    masked_fill(self_, mask, like)
}

/// An element-wise selection by a condition.
pub fn where_self(condition: &Dense, self_: &Dense, other: &Dense) -> Result<Spec> {
    ensure!(
        matches!(condition.dtype, DType::Bool | DType::U8),
        Runtime,
        "where expected condition to be a boolean tensor, but got a tensor with dtype {}",
        condition.dtype.c10_name()
    );
    let spec = elementwise(common_dtype(&[self_, other])?, &[condition, self_, other])?;
    // The condition alone may be the only operand with dimensions, but never decides against the values.
    let device: Device = common_device(&[condition, self_, other]);
    Ok(Spec { device, ..spec })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dtype: DType, sizes: &[i64]) -> Dense {
        Spec::new(sizes, dtype, Device::META).allocate().unwrap()
    }

    #[test]
    fn division_leaves_the_integers_unless_it_rounds() {
        let a = tensor(DType::I32, &[2]);
        assert_eq!(true_divide(&a, &a).unwrap().dtype, DType::F32);
        assert_eq!(divide_mode(&a, &a, Some("floor")).unwrap().dtype, DType::I32);
        assert!(divide_mode(&a, &a, Some("round")).is_err());
    }

    #[test]
    fn bools_are_not_subtracted() {
        let flag = tensor(DType::Bool, &[2]);
        let error = sub(&flag, &flag, Scalar::Int(1)).unwrap_err();
        assert!(error.message().starts_with("Subtraction, the `-` operator, with two bool tensors"));
        assert!(add(&tensor(DType::I64, &[2]), &flag, Scalar::Float(0.5)).is_err());
    }
}
