//! Kernels of special functions.

use super::access::{Constant, array, over};
use super::{elementary, pointwise};
use crate::dense::Dense;
use rushlight_base::{Result, Scalar};
use rushlight_cpu::{Loop, special};

/// `of_one! { lgamma }`: kernels `lgamma(out, self)` of the loops of the same names.
macro_rules! of_one {
    ($($name:ident)*) => {$(
        #[doc = concat!("out = ", stringify!($name), " self")]
        pub fn $name(out: &Dense, self_: &Dense) -> Result<()> {
            over(out.dtype, [out, self_], special::$name)
        }
    )*};
}

of_one! {
    lgamma digamma erfinv i0 i0e i1 i1e entr erfcx log_ndtr ndtri airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 bessel_k0 bessel_k1
    scaled_bessel_k0 scaled_bessel_k1 spherical_bessel_j0
}

/// out = the n-th derivative of digamma
pub fn polygamma(out: &Dense, n: i64, self_: &Dense) -> Result<()> {
    over(out.dtype, [out, self_], |walk| special::polygamma(walk, n))
}

/// out = the CDF of the standard normal distribution at self
pub fn ndtr(out: &Dense, self_: &Dense) -> Result<()> {
    if out.dtype.is_half() {
        // (1 + erf(self / sqrt 2)) / 2, rounded to half precision after every step, as in PyTorch.
        pointwise::div_scalar(out, self_, Scalar::Float(std::f64::consts::SQRT_2))?;
        elementary::erf(out, out)?;
        pointwise::add_scalar(out, out, Scalar::Int(1), Scalar::Int(1))?;
        return pointwise::mul_scalar(out, out, Scalar::Float(0.5));
    }
    over(out.dtype, [out, self_], special::ndtr)
}

/// out = the regularized lower incomplete gamma function of self and other
pub fn igamma(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    over(out.dtype, [out, self_, other], special::igamma)
}

/// out = the regularized upper incomplete gamma function of self and other
pub fn igammac(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    over(out.dtype, [out, self_, other], special::igammac)
}

/// Kernels of two tensors, of a tensor and a number, and of a number and a tensor.
macro_rules! of_two {
    ($($name:ident, $with_number:ident, $of_number:ident;)*) => {$(
        #[doc = concat!("out = ", stringify!($name), "(a, b)")]
        pub fn $name(out: &Dense, a: &Dense, b: &Dense) -> Result<()> {
            over(out.dtype, [out, a, b], special::$name)
        }

        #[doc = concat!("out = ", stringify!($name), "(a, b)")]
        pub fn $with_number(out: &Dense, a: &Dense, b: Scalar) -> Result<()> {
            let b = Constant::new(b, out.dtype)?;
            special::$name(&Loop::new([array(out), array(a), b.array()])?)
        }

        #[doc = concat!("out = ", stringify!($name), "(a, b)")]
        pub fn $of_number(out: &Dense, a: Scalar, b: &Dense) -> Result<()> {
            let a = Constant::new(a, out.dtype)?;
            special::$name(&Loop::new([array(out), a.array(), array(b)])?)
        }
    )*};
}

of_two! {
    zeta, zeta_scalar, scalar_zeta;
    xlog1py, xlog1py_scalar, scalar_xlog1py;
    chebyshev_polynomial_t, chebyshev_polynomial_t_scalar, scalar_chebyshev_polynomial_t;
    chebyshev_polynomial_u, chebyshev_polynomial_u_scalar, scalar_chebyshev_polynomial_u;
    chebyshev_polynomial_v, chebyshev_polynomial_v_scalar, scalar_chebyshev_polynomial_v;
    chebyshev_polynomial_w, chebyshev_polynomial_w_scalar, scalar_chebyshev_polynomial_w;
    shifted_chebyshev_polynomial_t, shifted_chebyshev_polynomial_t_scalar, scalar_shifted_chebyshev_polynomial_t;
    shifted_chebyshev_polynomial_u, shifted_chebyshev_polynomial_u_scalar, scalar_shifted_chebyshev_polynomial_u;
    shifted_chebyshev_polynomial_v, shifted_chebyshev_polynomial_v_scalar, scalar_shifted_chebyshev_polynomial_v;
    shifted_chebyshev_polynomial_w, shifted_chebyshev_polynomial_w_scalar, scalar_shifted_chebyshev_polynomial_w;
    hermite_polynomial_h, hermite_polynomial_h_scalar, scalar_hermite_polynomial_h;
    hermite_polynomial_he, hermite_polynomial_he_scalar, scalar_hermite_polynomial_he;
    laguerre_polynomial_l, laguerre_polynomial_l_scalar, scalar_laguerre_polynomial_l;
    legendre_polynomial_p, legendre_polynomial_p_scalar, scalar_legendre_polynomial_p;
}
