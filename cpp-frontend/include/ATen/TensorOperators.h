// The operators of C++ on tensors and numbers.
#pragma once

#include <ATen/Functions.h>

namespace at {
RLT_NAMESPACE_BEGIN

#define RLT_BINARY(op, method)                                                                     \
  inline Tensor operator op(const Tensor& a, const Tensor& b) { return a.method(b); }              \
  inline Tensor operator op(const Tensor& a, const Scalar& b) { return a.method(b); }
RLT_BINARY(+, add)
RLT_BINARY(-, sub)
RLT_BINARY(*, mul)
RLT_BINARY(/, div)
RLT_BINARY(%, remainder)
RLT_BINARY(&, bitwise_and)
RLT_BINARY(|, bitwise_or)
RLT_BINARY(^, bitwise_xor)
RLT_BINARY(<<, bitwise_left_shift)
RLT_BINARY(>>, bitwise_right_shift)
RLT_BINARY(<, lt)
RLT_BINARY(<=, le)
RLT_BINARY(>, gt)
RLT_BINARY(>=, ge)
RLT_BINARY(==, eq)
RLT_BINARY(!=, ne)
#undef RLT_BINARY

// A number on the left.
inline Tensor operator+(const Scalar& a, const Tensor& b) { return b.add(a); }
// Like libtorch, this converts the number to the tensor's dtype: 1.5 - tensor({1, 2}) is a tensor of Long.
inline Tensor operator-(const Scalar& a, const Tensor& b) { return at::empty_like(b).fill_(a).sub_(b); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return b.mul(a); }
inline Tensor operator/(const Scalar& a, const Tensor& b) { return at::empty_like(b).fill_(a).div_(b); }
inline Tensor operator%(const Scalar& a, const Tensor& b) { return at::empty_like(b).fill_(a).remainder_(b); }
inline Tensor operator&(const Scalar& a, const Tensor& b) { return b.bitwise_and(a); }
inline Tensor operator|(const Scalar& a, const Tensor& b) { return b.bitwise_or(a); }
inline Tensor operator^(const Scalar& a, const Tensor& b) { return b.bitwise_xor(a); }
inline Tensor operator<(const Scalar& a, const Tensor& b) { return b.gt(a); }
inline Tensor operator<=(const Scalar& a, const Tensor& b) { return b.ge(a); }
inline Tensor operator>(const Scalar& a, const Tensor& b) { return b.lt(a); }
inline Tensor operator>=(const Scalar& a, const Tensor& b) { return b.le(a); }
inline Tensor operator==(const Scalar& a, const Tensor& b) { return b.eq(a); }
inline Tensor operator!=(const Scalar& a, const Tensor& b) { return b.ne(a); }

RLT_NAMESPACE_END
}  // namespace at
