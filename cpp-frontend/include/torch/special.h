// torch::special: special functions under SciPy's names. Each is an operator or an alias of one.
#pragma once

#include <ATen/ATen.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace special {

// With the arguments of the operator.
#define RLT_SPECIAL(name)                                   \
  template <class... Args>                                  \
  decltype(auto) name(Args&&... args) {                     \
    return at::special_##name(static_cast<Args&&>(args)...); \
  }
#include <ATen/generated/special_functions.h>
#undef RLT_SPECIAL

inline Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim) { return at::logsumexp(self, dims, keepdim); }
inline Tensor& logsumexp_out(Tensor& result, const Tensor& self, IntArrayRef dims, bool keepdim) {
  return at::logsumexp_out(result, self, dims, keepdim);
}
inline Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt) {
  return at::log_softmax(self, dim, dtype);
}

}  // namespace special
RLT_NAMESPACE_END
}  // namespace torch
