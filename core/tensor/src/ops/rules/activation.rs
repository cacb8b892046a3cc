//! Rules of activation functions: the requirements on their parameters. The kernels reject dtypes.

use super::pointwise::{arithmetic, like};
use super::{common_dtype, elementwise};
use crate::dense::{Dense, Spec};
use rushlight_base::{DType, DimVec, Result, Scalar, ensure, wrap_dim};

/// The parameters of `selu`, which preserve mean 0 and variance 1.
pub const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
/// The factor of `selu`.
pub const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

/// The exact GELU, or its approximation by tanh.
pub fn gelu(self_: &Dense, approximate: &str) -> Result<Spec> {
    check_approximate(approximate)?;
    like(self_)
}

/// Like `gelu`.
pub fn gelu_backward(grad_output: &Dense, self_: &Dense, approximate: &str) -> Result<Spec> {
    check_approximate(approximate)?;
    arithmetic(grad_output, self_)
}

fn check_approximate(approximate: &str) -> Result<()> {
    ensure!(matches!(approximate, "none" | "tanh"), Runtime, "approximate argument must be either none or tanh.");
    Ok(())
}

/// The gradient of `self` has its dtype, not the promoted one.
pub fn mish_backward(grad_output: &Dense, self_: &Dense) -> Result<Spec> {
    let inputs = [grad_output, self_];
    elementwise(common_dtype(&inputs)?, &inputs)?.cast_to(self_.dtype)
}

/// The sign of a result determines the sign of its input only if the slope below zero is not negative.
pub fn elu_backward(
    grad_output: &Dense,
    alpha: Scalar,
    _scale: Scalar,
    _input_scale: Scalar,
    is_result: bool,
    self_or_result: &Dense,
) -> Result<Spec> {
    ensure!(
        !is_result || alpha.to_f64() >= 0.0,
        Runtime,
        "In-place elu backward calculation is triggered with a negative slope which is not supported. This is caused by \
         calling in-place forward function with a negative slope, please call out-of-place version instead."
    );
    arithmetic(grad_output, self_or_result)
}

/// Like `elu_backward`.
pub fn leaky_relu_backward(
    grad_output: &Dense,
    self_: &Dense,
    negative_slope: Scalar,
    self_is_result: bool,
) -> Result<Spec> {
    ensure!(
        !self_is_result || negative_slope.to_f64() >= 0.0,
        Runtime,
        "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This is \
         caused by calling in-place forward function with a negative slope, please call out-of-place version instead."
    );
    arithmetic(grad_output, self_)
}

/// `alpha` is a divisor, so it must not be 0.
pub fn celu(self_: &Dense, alpha: Scalar) -> Result<Spec> {
    alpha.check_convertible(DType::F64)?;
    ensure!(alpha.to_f64() != 0.0, Runtime, "ZeroDivisionError: alpha cannot be 0 for CELU");
    like(self_)
}

/// Also for integers, if the limits are integers.
pub fn hardtanh(self_: &Dense, min_val: Scalar, max_val: Scalar) -> Result<Spec> {
    let dtype = self_.dtype;
    ensure!(dtype != DType::Bool, Runtime, "Bool inputs not supported for hardtanh");
    min_val.check_convertible(DType::F64)?;
    max_val.check_convertible(DType::F64)?;
    if dtype.is_integral(false) {
        min_val.check_convertible(DType::I64)?;
        max_val.check_convertible(DType::I64)?;
    }
    let unsigned = matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64);
    ensure!(
        !unsigned || (min_val.to_f64() >= 0.0 && max_val.to_f64() >= 0.0),
        Runtime,
        "cannot do hardtanh on an unsigned type with negative limits"
    );
    like(self_)
}

/// Limits of 0 and 6.
pub fn relu6(self_: &Dense) -> Result<Spec> {
    hardtanh(self_, Scalar::Int(0), Scalar::Int(6))
}

/// The threshold must not be negative.
pub fn softshrink(self_: &Dense, lambd: Scalar) -> Result<Spec> {
    lambd.check_convertible(DType::F64)?;
    let lambd = lambd.to_f64();
    ensure!(lambd >= 0.0, Runtime, "lambda must be greater or equal to 0, but found to be {lambd}.");
    like(self_)
}

/// One weight, or one for each channel; the composite has given it the input's dimensions.
pub fn prelu(self_: &Dense, weight: &Dense) -> Result<Spec> {
    ensure!(
        self_.dtype == weight.dtype,
        Runtime,
        "prelu: Type promoting not supported. Got {} and {}",
        self_.dtype.c10_name(),
        weight.dtype.c10_name()
    );
    arithmetic(self_, weight)
}

/// The halves of a dimension.
pub fn glu(self_: &Dense, dim: i64) -> Result<Spec> {
    ensure!(self_.ndim() > 0, Runtime, "glu does not support 0-dimensional tensors");
    let at = wrap_dim(dim, self_.ndim())?;
    let size = self_.sizes()[at];
    ensure!(size % 2 == 0, Runtime, "Halving dimension must be even, but dimension {at} is size {size}");
    let mut sizes = DimVec::from_slice(self_.sizes());
    sizes[at] = size / 2;
    Ok(Spec::new(&sizes, self_.dtype, self_.device))
}

/// The result and its factors.
pub fn rrelu(self_: &Dense, lower: Scalar, upper: Scalar) -> Result<[Spec; 2]> {
    Ok([like(self_)?, rrelu_slopes(self_, lower, upper)?])
}

/// The factors are row-major.
pub fn rrelu_slopes(self_: &Dense, lower: Scalar, upper: Scalar) -> Result<Spec> {
    ensure!(lower.to_f64() <= upper.to_f64(), Runtime, "Lower bound should be less than or equal to the upper bound");
    Ok(Spec::new(self_.sizes(), self_.dtype, self_.device))
}
