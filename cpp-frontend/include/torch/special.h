// torch::special: special functions under the names of SciPy. Each is an operator of its own or another name of one.
#pragma once

#include <ATen/ATen.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace special {

// With the arguments of the operator, and as `name_out(result, ...)`.
#define RLT_SPECIAL(name, function)                           \
  template <class... Args>                                    \
  Tensor name(Args&&... args) {                               \
    return at::function(std::forward<Args>(args)...);         \
  }                                                           \
  template <class... Args>                                    \
  Tensor& name##_out(Tensor& result, Args&&... args) {        \
    return at::function##_out(result, std::forward<Args>(args)...); \
  }
RLT_SPECIAL(airy_ai, special_airy_ai)
RLT_SPECIAL(bessel_j0, special_bessel_j0)
RLT_SPECIAL(bessel_j1, special_bessel_j1)
RLT_SPECIAL(bessel_y0, special_bessel_y0)
RLT_SPECIAL(bessel_y1, special_bessel_y1)
RLT_SPECIAL(chebyshev_polynomial_t, special_chebyshev_polynomial_t)
RLT_SPECIAL(chebyshev_polynomial_u, special_chebyshev_polynomial_u)
RLT_SPECIAL(chebyshev_polynomial_v, special_chebyshev_polynomial_v)
RLT_SPECIAL(chebyshev_polynomial_w, special_chebyshev_polynomial_w)
RLT_SPECIAL(digamma, digamma)
RLT_SPECIAL(entr, special_entr)
RLT_SPECIAL(erf, erf)
RLT_SPECIAL(erfc, erfc)
RLT_SPECIAL(erfcx, special_erfcx)
RLT_SPECIAL(erfinv, erfinv)
RLT_SPECIAL(exp2, exp2)
RLT_SPECIAL(expit, sigmoid)
RLT_SPECIAL(expm1, expm1)
RLT_SPECIAL(gammainc, igamma)
RLT_SPECIAL(gammaincc, igammac)
RLT_SPECIAL(gammaln, lgamma)
RLT_SPECIAL(hermite_polynomial_h, special_hermite_polynomial_h)
RLT_SPECIAL(hermite_polynomial_he, special_hermite_polynomial_he)
RLT_SPECIAL(i0, i0)
RLT_SPECIAL(i0e, special_i0e)
RLT_SPECIAL(i1, special_i1)
RLT_SPECIAL(i1e, special_i1e)
RLT_SPECIAL(laguerre_polynomial_l, special_laguerre_polynomial_l)
RLT_SPECIAL(legendre_polynomial_p, special_legendre_polynomial_p)
RLT_SPECIAL(log1p, log1p)
RLT_SPECIAL(log_ndtr, special_log_ndtr)
RLT_SPECIAL(logit, logit)
RLT_SPECIAL(modified_bessel_i0, special_modified_bessel_i0)
RLT_SPECIAL(modified_bessel_i1, special_modified_bessel_i1)
RLT_SPECIAL(modified_bessel_k0, special_modified_bessel_k0)
RLT_SPECIAL(modified_bessel_k1, special_modified_bessel_k1)
RLT_SPECIAL(ndtr, special_ndtr)
RLT_SPECIAL(ndtri, special_ndtri)
RLT_SPECIAL(polygamma, special_polygamma)
RLT_SPECIAL(psi, digamma)
RLT_SPECIAL(round, round)
RLT_SPECIAL(scaled_modified_bessel_k0, special_scaled_modified_bessel_k0)
RLT_SPECIAL(scaled_modified_bessel_k1, special_scaled_modified_bessel_k1)
RLT_SPECIAL(shifted_chebyshev_polynomial_t, special_shifted_chebyshev_polynomial_t)
RLT_SPECIAL(shifted_chebyshev_polynomial_u, special_shifted_chebyshev_polynomial_u)
RLT_SPECIAL(shifted_chebyshev_polynomial_v, special_shifted_chebyshev_polynomial_v)
RLT_SPECIAL(shifted_chebyshev_polynomial_w, special_shifted_chebyshev_polynomial_w)
RLT_SPECIAL(sinc, sinc)
RLT_SPECIAL(spherical_bessel_j0, special_spherical_bessel_j0)
RLT_SPECIAL(xlog1py, special_xlog1py)
RLT_SPECIAL(xlogy, xlogy)
RLT_SPECIAL(zeta, special_zeta)
#undef RLT_SPECIAL

inline Tensor multigammaln(const Tensor& self, int64_t p) { return at::mvlgamma(self, p); }
inline Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim) { return at::logsumexp(self, dims, keepdim); }
inline Tensor& logsumexp_out(Tensor& result, const Tensor& self, IntArrayRef dims, bool keepdim) {
  return at::logsumexp_out(result, self, dims, keepdim);
}
inline Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt) { return at::softmax(self, dim, dtype); }
inline Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt) {
  return at::log_softmax(self, dim, dtype);
}

}  // namespace special
RLT_NAMESPACE_END
}  // namespace torch
