// VecMask<T, N>: which elements of a VectorizedN<T, N> take part in an operation. All bits of an element are set, or none.
#pragma once

#include <ATen/cpu/vec/vec_convert.h>

namespace at {
RLT_NAMESPACE_BEGIN
namespace vec {

template <class T, int N>
class VecMask {
  using Vectors = VectorizedN<T, N>;

 public:
  using size_type = int;
  static constexpr size_type size() { return Vectors::size(); }

  VecMask() : mask_(T(0)) {}
  VecMask(const Vectors& mask) : mask_(mask) {}
  template <int L = N, std::enable_if_t<L == 1, bool> = true>
  VecMask(const Vectorized<T>& mask) : mask_(mask) {}

  /// Elements that are not 0 are in the mask; elements that the source lacks are not.
  template <class U, int L>
  static VecMask from(const VectorizedN<U, L>& source) {
    return build([&](int i) { return i < source.size() && source[i / Vectorized<U>::size()][i % Vectorized<U>::size()] != U(0); });
  }
  /// All elements, or none.
  template <class U>
  static VecMask from(U condition) {
    return build([&](int) { return static_cast<bool>(condition); });
  }
  template <class U>
  static VecMask from(U* conditions) {
    return build([&](int i) { return static_cast<bool>(conditions[i]); });
  }
  static VecMask blendv(const VecMask& a, const VecMask& b, const VecMask& mask) { return Vectors::blendv(a.mask_, b.mask_, mask.mask_); }
  static VecMask set(const VecMask& a, const VecMask& b, int64_t count = size()) { return Vectors::set(a.mask_, b.mask_, count); }

  void store(bool* target, int count = size()) const {
    for (int i = 0; i < count; ++i) target[i] = is_masked(i);
  }
  /// 1 for the elements in the mask, 0 for the others.
  template <class U, int L>
  std::conditional_t<L == 1, Vectorized<U>, VectorizedN<U, L>> to() const {
    VectorizedN<U, L> result;
    for (int i = 0; i < size() && i < result.size(); ++i) {
      result[i / Vectorized<U>::size()][i % Vectorized<U>::size()] = static_cast<U>(is_masked(i) ? 1 : 0);
    }
    return result;
  }
  /// The mask of vectors of another type.
  template <class U, int L>
  VecMask<U, L> cast() const {
    if constexpr (std::is_same_v<VecMask, VecMask<U, L>>) return *this;
    else return VecMask<U, L>::from(mask_);
  }

  bool all_zero() const { return count() == 0; }
  bool all_masked() const { return count() == size(); }
  bool is_masked(int index) const { return detail::is_set(mask_[index / Vectorized<T>::size()][index % Vectorized<T>::size()]); }

  operator Vectors() const { return mask_; }
  template <int L = N, std::enable_if_t<L == 1, bool> = true>
  operator Vectorized<T>() const {
    return mask_[0];
  }
  Vectorized<T> operator[](int index) const { return mask_[index]; }

  /// Reads the elements in the mask; the others are 0, and their memory is not read.
  template <class U, int L, std::enable_if_t<(VectorizedN<U, L>::size() >= size()), bool> = true>
  std::conditional_t<L == 1, Vectorized<U>, VectorizedN<U, L>> loadu(const U* source) const {
    VectorizedN<U, L> result;
    for (int i = 0; i < size(); ++i) {
      if (is_masked(i)) result[i / Vectorized<U>::size()][i % Vectorized<U>::size()] = source[i];
    }
    return result;
  }

 private:
  template <class Condition>
  static VecMask build(Condition condition) {
    Vectors mask;
    for (int i = 0; i < size(); ++i) mask[i / Vectorized<T>::size()][i % Vectorized<T>::size()] = detail::mask_of<T>(condition(i));
    return mask;
  }
  int count() const {
    int found = 0;
    for (int i = 0; i < size(); ++i) found += is_masked(i);
    return found;
  }

  Vectors mask_;
};

template <class T, int N>
VecMask<T, N> operator~(const VecMask<T, N>& a) {
  return ~VectorizedN<T, N>(a);
}

// Masks of the same number of elements; the result is for vectors of the first type.
#define RLT_MASK_OPERATOR(op, expression)                                                                                              \
  template <class T, int N, class U, int M, std::enable_if_t<(VecMask<T, N>::size() == VecMask<U, M>::size()), bool> = true>           \
  VecMask<T, N> operator op(const VecMask<T, N>& first, const VecMask<U, M>& second) {                                                 \
    VectorizedN<T, N> a = first, b = second.template cast<T, N>();                                                                     \
    return expression;                                                                                                                 \
  }
RLT_MASK_OPERATOR(&, a & b)
RLT_MASK_OPERATOR(*, a & b)
RLT_MASK_OPERATOR(|, a | b)
RLT_MASK_OPERATOR(^, a ^ b)
RLT_MASK_OPERATOR(!=, a ^ b)
RLT_MASK_OPERATOR(==, ~(a ^ b))
RLT_MASK_OPERATOR(>, a & ~b)
RLT_MASK_OPERATOR(<, ~a & b)
RLT_MASK_OPERATOR(>=, a | ~b)
RLT_MASK_OPERATOR(<=, ~a | b)
#undef RLT_MASK_OPERATOR

}  // namespace vec
RLT_NAMESPACE_END
}  // namespace at
