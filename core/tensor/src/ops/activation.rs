//! Kernels of the activation functions and their gradients.

use super::access::{Constant, array, over};
use super::rules::{SELU_ALPHA, SELU_SCALE};
use crate::dense::{Dense, Geometry, Spec};
use crate::generator::Generator;
use rushlight_base::{DType, Result, Scalar, wrap_dim};
use rushlight_cpu::{Loop, activation, arithmetic, elementary, random};

/// A parameter in the precision in which elements of `dtype` are computed.
fn number(value: Scalar, dtype: DType) -> Result<f64> {
    // The kernel rejects dtypes that are not floating point.
    if dtype.is_floating() {
        value.check_convertible(dtype.opmath())?;
    }
    Ok(value.to_f64())
}

/// `kernels! { elu[self_](alpha, scale) }` declares a kernel that calls the loop of the same name with these tensors
/// and numbers.
macro_rules! kernels {
    ($($name:ident[$($tensor:ident),+]($($number:ident),*);)*) => {$(
        #[doc = concat!("out = ", stringify!($name), "(...)")]
        pub fn $name(out: &Dense, $($tensor: &Dense,)+ $($number: Scalar),*) -> Result<()> {
            over(out.dtype, [out, $($tensor),+], |walk| activation::$name(walk, $(number($number, out.dtype)?),*))
        }
    )*};
}

kernels! {
    silu_backward[grad_output, self_]();
    mish[self_]();
    mish_backward[grad_output, self_]();
    elu[self_](alpha, scale, input_scale);
    leaky_relu[self_](negative_slope);
    hardsigmoid[self_]();
    hardsigmoid_backward[grad_output, self_]();
    hardswish[self_]();
    hardswish_backward[grad_output, self_]();
    hardtanh_backward[grad_output, self_](min_val, max_val);
    softplus[self_](beta, threshold);
    softplus_backward[grad_output, self_](beta, threshold);
    log_sigmoid[self_]();
    softshrink[self_](lambd);
    hardshrink[self_](lambd);
}

/// out = self sigmoid self
pub fn silu(out: &Dense, self_: &Dense) -> Result<()> {
    over(out.dtype, [out, self_], elementary::silu)
}

/// out = self where self > 0, else weight self
pub fn prelu(out: &Dense, self_: &Dense, weight: &Dense) -> Result<()> {
    over(out.dtype, [out, self_, weight], activation::prelu)
}

/// out = self Phi(self)
pub fn gelu(out: &Dense, self_: &Dense, approximate: &str) -> Result<()> {
    // The shape rule has rejected every other name.
    let kernel = if approximate == "tanh" { activation::gelu_tanh } else { activation::gelu };
    over(out.dtype, [out, self_], kernel)
}

/// The gradient of `gelu`.
pub fn gelu_backward(out: &Dense, grad_output: &Dense, self_: &Dense, approximate: &str) -> Result<()> {
    let kernel = if approximate == "tanh" { activation::gelu_tanh_backward } else { activation::gelu_backward };
    over(out.dtype, [out, grad_output, self_], kernel)
}

/// The gradient of `elu`, from its input or its result.
pub fn elu_backward(
    out: &Dense,
    grad_output: &Dense,
    alpha: Scalar,
    scale: Scalar,
    input_scale: Scalar,
    is_result: bool,
    self_or_result: &Dense,
) -> Result<()> {
    let kernel = if is_result { activation::elu_backward_of_result } else { activation::elu_backward };
    let [alpha, scale, input_scale] = [alpha, scale, input_scale].map(|value| number(value, out.dtype));
    over(out.dtype, [out, grad_output, self_or_result], |walk| kernel(walk, alpha?, scale?, input_scale?))
}

/// out = selu self
pub fn selu(out: &Dense, self_: &Dense) -> Result<()> {
    elu(out, self_, Scalar::Float(SELU_ALPHA), Scalar::Float(SELU_SCALE), Scalar::Int(1))
}

/// out = celu self
pub fn celu(out: &Dense, self_: &Dense, alpha: Scalar) -> Result<()> {
    elu(out, self_, alpha, Scalar::Int(1), Scalar::Float(1.0 / alpha.to_f64()))
}

/// The gradient of `leaky_relu`.
pub fn leaky_relu_backward(
    out: &Dense,
    grad_output: &Dense,
    self_: &Dense,
    negative_slope: Scalar,
    _self_is_result: bool,
) -> Result<()> {
    // A result has its input's sign: the shape rule has rejected slopes for which that is not true.
    over(out.dtype, [out, grad_output, self_], |walk| {
        activation::leaky_relu_backward(walk, number(negative_slope, out.dtype)?)
    })
}

/// out = value where self <= threshold, else self
pub fn threshold(out: &Dense, self_: &Dense, threshold: Scalar, value: Scalar) -> Result<()> {
    threshold.check_convertible(out.dtype)?;
    value.check_convertible(out.dtype)?;
    over(out.dtype, [out, self_], |walk| arithmetic::threshold(walk, threshold, value))
}

/// out = min(max(self, min_val), max_val)
pub fn hardtanh(out: &Dense, self_: &Dense, min_val: Scalar, max_val: Scalar) -> Result<()> {
    super::pointwise::clamp(out, self_, Some(min_val), Some(max_val))
}

/// out = min(max(self, 0), 6)
pub fn relu6(out: &Dense, self_: &Dense) -> Result<()> {
    hardtanh(out, self_, Scalar::Int(0), Scalar::Int(6))
}

/// The gradient of `hardshrink` and `softshrink`.
pub fn shrink_backward(out: &Dense, grad_output: &Dense, self_: &Dense, lambd: Scalar) -> Result<()> {
    over(out.dtype, [out, grad_output, self_], |walk| activation::shrink_backward(walk, number(lambd, out.dtype)?))
}

/// out = the first half of self along dim times the sigmoid of the second
pub fn glu(out: &Dense, self_: &Dense, dim: i64) -> Result<()> {
    let at = wrap_dim(dim, self_.ndim())?;
    let half = |nth: i64| {
        let Geometry { mut sizes, strides, offset } = self_.geometry.clone();
        sizes[at] /= 2;
        let offset = offset + nth * sizes[at] * strides[at];
        self_.with_geometry(Geometry { sizes, strides, offset })
    };
    over(out.dtype, [out, &half(0), &half(1)], activation::glu)
}

/// out = ln(self / (1 - self)); a negative eps is none
pub fn logit(out: &Dense, self_: &Dense, eps: Option<f64>) -> Result<()> {
    let eps = eps.filter(|eps| *eps >= 0.0 || eps.is_nan());
    over(out.dtype, [out, self_], |walk| activation::logit(walk, eps))
}

/// out0 = self times out1, which is random where self is not above zero, else 1
pub fn rrelu(
    out0: &Dense,
    out1: &Dense,
    self_: &Dense,
    lower: Scalar,
    upper: Scalar,
    generator: Option<&Generator>,
) -> Result<()> {
    rrelu_slopes(out1, self_, lower, upper, generator)?;
    super::pointwise::mul(out0, self_, out1)
}

/// out = 1 where self is above zero, else a factor between the bounds
pub fn rrelu_slopes(
    out: &Dense,
    self_: &Dense,
    lower: Scalar,
    upper: Scalar,
    generator: Option<&Generator>,
) -> Result<()> {
    if !out.is_on_host() {
        super::random::uniform_(out, lower.to_f64(), upper.to_f64(), generator)?;
        let is_scaled = Spec::new(self_.sizes(), DType::Bool, self_.device).allocate()?;
        super::compare::le_scalar(&is_scaled, self_, Scalar::Int(0))?;
        let one = Constant::new(Scalar::Int(1), out.dtype)?;
        return arithmetic::select_where(&Loop::new([array(out), array(&is_scaled), array(out), one.array()])?);
    }
    let walk = Loop::new([array(out), array(self_)])?;
    random::slopes(&walk, lower.to_f64(), upper.to_f64(), &mut Generator::or_default(generator).lock())
}
