// c10::irange: counts in a range-based for.
#pragma once

#include <c10/macros/Macros.h>

#include <iterator>
#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace detail {
template <class I>
class integer_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = I;
  using difference_type = std::ptrdiff_t;
  using pointer = I*;
  using reference = I&;

  constexpr explicit integer_iterator(I value) : value_(value) {}
  constexpr I operator*() const { return value_; }
  constexpr const I* operator->() const { return &value_; }
  constexpr integer_iterator& operator++() {
    ++value_;
    return *this;
  }
  constexpr integer_iterator operator++(int) {
    integer_iterator before = *this;
    ++value_;
    return before;
  }
  constexpr bool operator==(const integer_iterator& other) const { return value_ == other.value_; }
  constexpr bool operator!=(const integer_iterator& other) const { return value_ != other.value_; }

 private:
  I value_;
};
}  // namespace detail

template <class I>
struct integer_range {
  constexpr integer_range(I begin, I end) : begin_(begin), end_(end) {}
  using iterator = detail::integer_iterator<I>;
  constexpr iterator begin() const { return begin_; }
  constexpr iterator end() const { return end_; }

 private:
  iterator begin_;
  iterator end_;
};

/// begin, begin + 1, ..., end - 1; nothing when end is before begin.
template <class A, class B, std::enable_if_t<std::is_integral_v<A> && std::is_integral_v<B>, bool> = true>
constexpr integer_range<B> irange(A begin, B end) {
  B first = static_cast<B>(begin);
  return {first, first > end ? first : end};
}

/// 0, 1, ..., end - 1.
template <class I, std::enable_if_t<std::is_integral_v<I>, bool> = true>
constexpr integer_range<I> irange(I end) {
  return {I(), I() > end ? I() : end};
}
RLT_NAMESPACE_END
}  // namespace c10
