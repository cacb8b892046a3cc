// ExpandingArray: a number per dimension, from one number for all or from a list.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN

namespace detail {
/// Checks the length of a list.
inline void check_expanding(size_t expected, size_t got) {
  if (C10_UNLIKELY(expected != got)) {
    rlt::raise<c10::Error>("Expected " + std::to_string(expected) + " values, but instead got " + std::to_string(got));
  }
}
}  // namespace detail

template <size_t D, typename T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(c10::ArrayRef<T>(list)) {}
  ExpandingArray(std::vector<T> list) : ExpandingArray(c10::ArrayRef<T>(list)) {}
  /// A list of D values.
  ExpandingArray(c10::ArrayRef<T> list) {
    detail::check_expanding(D, list.size());
    for (size_t i = 0; i < D; ++i) values_[i] = list[i];
  }
  /// D times the same value.
  ExpandingArray(T value) { values_.fill(value); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator c10::ArrayRef<T>() const { return c10::ArrayRef<T>(values_.data(), D); }
  size_t size() const noexcept { return D; }

 protected:
  std::array<T, D> values_;
};

/// A single value, or several in brackets.
template <size_t D, typename T>
std::ostream& operator<<(std::ostream& out, const ExpandingArray<D, T>& array) {
  if (D == 1) return out << (*array)[0];
  return out << static_cast<c10::ArrayRef<T>>(array);
}

/// An ExpandingArray whose elements may be missing.
template <size_t D, typename T = int64_t>
class ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
 public:
  using ExpandingArray<D, std::optional<T>>::ExpandingArray;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list) : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(std::vector<T> list) : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(c10::ArrayRef<T> list) : ExpandingArray<D, std::optional<T>>(std::nullopt) {
    detail::check_expanding(D, list.size());
    for (size_t i = 0; i < D; ++i) this->values_[i] = list[i];
  }
  ExpandingArrayWithOptionalElem(T value) : ExpandingArray<D, std::optional<T>>(std::optional<T>(value)) {}
  ExpandingArrayWithOptionalElem(const std::array<T, D>& values)
      : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(values.data(), D)) {}
};

template <size_t D, typename T>
std::ostream& operator<<(std::ostream& out, const ExpandingArrayWithOptionalElem<D, T>& array) {
  if (D > 1) out << "[";
  for (size_t i = 0; i < D; ++i) {
    if (i) out << ", ";
    if ((*array)[i]) {
      out << *(*array)[i];
    } else {
      out << "None";
    }
  }
  if (D > 1) out << "]";
  return out;
}

RLT_NAMESPACE_END
}  // namespace torch
