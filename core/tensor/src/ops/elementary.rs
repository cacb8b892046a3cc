//! Kernels of the elementary functions.

use super::access::{Constant, array, copy_unless_same, over};
use crate::dense::Dense;
use rushlight_base::{Complex, Result, Scalar};
use rushlight_cpu::{Loop, elementary, fill};

/// `unary! { sin cos }`: kernels `sin(out, self)` of the loops of the same names.
macro_rules! unary {
    ($($name:ident)*) => {$(
        #[doc = concat!("out = ", stringify!($name), " self")]
        pub fn $name(out: &Dense, self_: &Dense) -> Result<()> {
            over(out.dtype, [out, self_], elementary::$name)
        }
    )*};
}

unary! {
    exp exp2 expm1 log log2 log10 log1p sqrt rsqrt
    sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
    sigmoid erf erfc sinc
}

/// out = self pi/180
pub fn deg2rad(out: &Dense, self_: &Dense) -> Result<()> {
    over(out.dtype, [out, self_], |walk| elementary::scale(walk, std::f64::consts::PI / 180.0))
}

/// out = self 180/pi
pub fn rad2deg(out: &Dense, self_: &Dense) -> Result<()> {
    over(out.dtype, [out, self_], |walk| elementary::scale(walk, 180.0 / std::f64::consts::PI))
}

/// out = grad conj(1 - output^2)
pub fn tanh_backward(out: &Dense, grad_output: &Dense, output: &Dense) -> Result<()> {
    over(out.dtype, [out, grad_output, output], elementary::tanh_backward)
}

/// out = grad conj((1 - output) output)
pub fn sigmoid_backward(out: &Dense, grad_output: &Dense, output: &Dense) -> Result<()> {
    over(out.dtype, [out, grad_output, output], elementary::sigmoid_backward)
}

/// out = self^exponent
pub fn pow(out: &Dense, self_: &Dense, exponent: &Dense) -> Result<()> {
    over(out.dtype, [out, self_, exponent], elementary::pow)
}

/// out = self^exponent
pub fn pow_tensor_scalar(out: &Dense, self_: &Dense, exponent: Scalar) -> Result<()> {
    // Without the products of a complex power, in which infinite parts become NaN.
    if exponent.to_complex() == Complex::new(1.0, 0.0) {
        return copy_unless_same(out, self_);
    }
    if !matches!(exponent, Scalar::Complex(_))
        && let Some(kernel) = elementary::easy_power(exponent.to_f64())
    {
        return over(out.dtype, [out, self_], kernel);
    }
    let exponent = Constant::new(exponent, out.dtype)?;
    elementary::pow(&Loop::new([array(out), array(self_), exponent.array()])?)
}

/// out = self^exponent
pub fn pow_scalar(out: &Dense, self_: Scalar, exponent: &Dense) -> Result<()> {
    // Also to powers that are infinite or NaN.
    if self_.to_complex() == Complex::new(1.0, 0.0) {
        return fill::fill(&Loop::new([array(out)])?, Scalar::Int(1));
    }
    let base = Constant::new(self_, out.dtype)?;
    elementary::pow(&Loop::new([array(out), base.array(), array(exponent)])?)
}

/// out = self^2
pub fn square(out: &Dense, self_: &Dense) -> Result<()> {
    pow_tensor_scalar(out, self_, Scalar::Int(2))
}
