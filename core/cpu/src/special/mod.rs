//! Element-wise special functions: gamma, error, Bessel, Airy and zeta functions, and orthogonal polynomials.
//!
//! They are computed in `f64` for `f64`, otherwise in `f32`, over the scalar trait in `float.rs`. Each file names where
//! its formulas come from. Most functions are a known factor or term (the asymptotic growth, a logarithm, the zeros)
//! and a Chebyshev series for the remainder. `coefficients.rs` has the series, written by
//! `tests/oracle/special_coefficients.py`; `f32` uses only as many terms as its precision needs. The other functions
//! use recurrences and asymptotic series.

mod bessel;
mod beta_sample;
mod coefficients;
mod error;
mod float;
mod gamma;
mod gamma_sample;
mod polynomials;
#[cfg(test)]
mod tests;

use crate::math;
use crate::pointwise::{HEAVY, Loop, float_kernels};
use rushlight_base::Result;
use std::f64::consts::FRAC_1_SQRT_2;

/// Kernels `out = f(a)`: their PyTorch name and the function.
macro_rules! of_one {
    ($($(#[$doc:meta])* $name:ident($kernel:literal): $function:path;)*) => {$(
        kernels! { "special";
            $(#[$doc])*
            pub fn $name(walk: &Loop<2>) -> Result<()> {
                compute!(walk.common(), $kernel, half float, T => walk.map::<T, T>(HEAVY, $function))
            }
        }
    )*};
}

of_one! {
    /// out = the derivative of ln Gamma at a
    digamma("digamma"): gamma::digamma;
    /// out = I0(a)
    i0("i0"): bessel::i0;
    /// out = e^-|a| I0(a)
    i0e("i0e"): bessel::i0e;
    /// out = I1(a)
    i1("i1"): bessel::i1;
    /// out = e^-|a| I1(a)
    i1e("i1e"): bessel::i1e;
    /// out = -a ln a
    entr("entr"): error::entr;
    /// out = e^(a^2) (1 - erf a)
    erfcx("erfcx"): error::erfcx;
    /// out = ln of the CDF of the standard normal distribution at a
    log_ndtr("log_ndtr"): error::log_ndtr;
    /// out = the quantile a of the standard normal distribution
    ndtri("ndtri"): error::ndtri;
    /// out = Ai(a)
    airy_ai("special_airy_ai"): bessel::airy_ai;
    /// out = J0(a)
    bessel_j0("special_bessel_j0"): bessel::j0;
    /// out = J1(a)
    bessel_j1("special_bessel_j1"): bessel::j1;
    /// out = Y0(a)
    bessel_y0("special_bessel_y0"): bessel::y0;
    /// out = Y1(a)
    bessel_y1("special_bessel_y1"): bessel::y1;
    /// out = K0(a)
    bessel_k0("modified_bessel_k0"): bessel::k0;
    /// out = K1(a)
    bessel_k1("modified_bessel_k1"): bessel::k1;
    /// out = e^a K0(a)
    scaled_bessel_k0("scaled_modified_bessel_k0"): bessel::k0e;
    /// out = e^a K1(a)
    scaled_bessel_k1("scaled_modified_bessel_k1"): bessel::k1e;
    /// out = sin(a)/a
    spherical_bessel_j0("spherical_bessel_j0"): bessel::spherical_j0;
}

float_kernels! { "special";
    /// out = the CDF of the standard normal distribution at a, for floats
    ndtr<2>("ndtr", HEAVY): |a| math::erfc(a * V::from_f64(-FRAC_1_SQRT_2)) * V::from_f64(0.5);
    /// out = ln |Gamma(a)|
    lgamma<2>("lgamma_vml_cpu", HEAVY): |a| gamma::lgamma(a);
    /// out = the inverse of the error function at a
    erfinv<2>("erfinv_vml_cpu", HEAVY): |a| error::erfinv(a);
}

kernels! { "special";
    /// out = the n-th derivative of digamma at a
    pub fn polygamma(walk: &Loop<2>, n: i64) -> Result<()> {
        compute!(walk.common(), "polygamma", half float, T => {
            walk.map::<T, T>(HEAVY, move |a| gamma::polygamma(n, a))
        })
    }
}

kernels! { "special";
    /// out = the derivative of the sample b of a gamma distribution with respect to its concentration a
    pub fn standard_gamma_grad(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "_standard_gamma_grad_cpu", float, T => {
            walk.map::<T, T, T>(HEAVY, gamma_sample::derivative)
        })
    }
}

kernels! { "special";
    /// out = the derivative of the sample a of a Dirichlet distribution with respect to its concentration b, over 1 - a; c is the
    /// sum of the concentrations
    pub fn dirichlet_grad(walk: &Loop<4>) -> Result<()> {
        compute!(walk.common(), "_dirichlet_grad_cpu", float, T => {
            walk.map::<T, T, T, T>(HEAVY, beta_sample::derivative)
        })
    }
}

/// Kernels `out = f(a, b)`: their PyTorch name and the function.
macro_rules! of_two {
    ($($(#[$doc:meta])* $name:ident($kernel:literal): $function:path;)*) => {$(
        kernels! { "special";
            $(#[$doc])*
            pub fn $name(walk: &Loop<3>) -> Result<()> {
                compute!(walk.common(), $kernel, half float, T => walk.map::<T, T, T>(HEAVY, $function))
            }
        }
    )*};
}

of_two! {
    /// out = the regularized lower incomplete gamma function of a and b
    igamma("igamma"): gamma::igamma;
    /// out = the regularized upper incomplete gamma function of a and b
    igammac("igammac"): gamma::igammac;
    /// out = the sum of (b + k)^-a
    zeta("zeta"): gamma::zeta;
    /// out = a ln(1 + b)
    xlog1py("xlog1py_cpu"): error::xlog1py;
    /// out = T_b(a)
    chebyshev_polynomial_t("chebyshev_polynomial_t_cpu"): polynomials::chebyshev_t;
    /// out = U_b(a)
    chebyshev_polynomial_u("chebyshev_polynomial_u_cpu"): polynomials::chebyshev_u;
    /// out = V_b(a)
    chebyshev_polynomial_v("chebyshev_polynomial_v_cpu"): polynomials::chebyshev_v;
    /// out = W_b(a)
    chebyshev_polynomial_w("chebyshev_polynomial_w_cpu"): polynomials::chebyshev_w;
    /// out = T_b(2 a - 1)
    shifted_chebyshev_polynomial_t("shifted_chebyshev_polynomial_t_cpu"): polynomials::shifted_chebyshev_t;
    /// out = U_b(2 a - 1)
    shifted_chebyshev_polynomial_u("shifted_chebyshev_polynomial_u_cpu"): polynomials::shifted_chebyshev_u;
    /// out = V_b(2 a - 1)
    shifted_chebyshev_polynomial_v("shifted_chebyshev_polynomial_v_cpu"): polynomials::shifted_chebyshev_v;
    /// out = W_b(2 a - 1)
    shifted_chebyshev_polynomial_w("shifted_chebyshev_polynomial_w_cpu"): polynomials::shifted_chebyshev_w;
    /// out = the physicists' Hermite polynomial of degree b at a
    hermite_polynomial_h("hermite_polynomial_h_cpu"): polynomials::hermite_h;
    /// out = the probabilists' Hermite polynomial of degree b at a
    hermite_polynomial_he("hermite_polynomial_he_cpu"): polynomials::hermite_he;
    /// out = Laguerre's polynomial of degree b at a
    laguerre_polynomial_l("laguerre_polynomial_l_cpu"): polynomials::laguerre;
    /// out = Legendre's polynomial of degree b at a
    legendre_polynomial_p("legendre_polynomial_p_cpu"): polynomials::legendre;
}
