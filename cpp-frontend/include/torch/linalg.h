// torch::linalg: linear algebra under NumPy's names. Each function is an operator.
#pragma once

#include <ATen/ATen.h>
#include <c10/util/string_view.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace linalg {

// With the arguments of the operator.
#define RLT_LINALG(name)                                   \
  template <class... Args>                                 \
  decltype(auto) name(Args&&... args) {                    \
    return at::linalg_##name(static_cast<Args&&>(args)...); \
  }
#include <ATen/generated/linalg_functions.h>
#undef RLT_LINALG

// Lists in braces convert to these arguments, and not to those of a template.
template <class T = Tensor>
Tensor norm(const T& self, const std::optional<Scalar>& ord = {}, OptionalIntArrayRef dim = {}, bool keepdim = false,
            std::optional<ScalarType> dtype = {}) {
  return at::linalg_norm(self, ord, dim, keepdim, dtype);
}
template <class T = Tensor>
Tensor norm(const T& self, c10::string_view ord, OptionalIntArrayRef dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  return at::linalg_norm(self, ord, dim, keepdim, dtype);
}
template <class T = Tensor>
Tensor vector_norm(const T& self, const Scalar& ord = 2, OptionalIntArrayRef dim = {}, bool keepdim = false,
                   std::optional<ScalarType> dtype = {}) {
  return at::linalg_vector_norm(self, ord, dim, keepdim, dtype);
}
template <class T = Tensor>
Tensor matrix_norm(const T& self, const Scalar& ord, IntArrayRef dim = {-2, -1}, bool keepdim = false,
                   std::optional<ScalarType> dtype = {}) {
  return at::linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}
template <class T = Tensor>
Tensor matrix_norm(const T& self, c10::string_view ord = "fro", IntArrayRef dim = {-2, -1}, bool keepdim = false,
                   std::optional<ScalarType> dtype = {}) {
  return at::linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}
template <class T = Tensor>
Tensor tensorsolve(const T& self, const T& other, OptionalIntArrayRef dims = {}) {
  return at::linalg_tensorsolve(self, other, dims);
}

}  // namespace linalg
RLT_NAMESPACE_END
}  // namespace torch
