// c10::enumerate: the elements of a container with their indices, for a range-based for.
#pragma once

#include <c10/macros/Macros.h>

#include <iterator>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace detail {

template <class Iterator>
struct EnumeratedElement {
  size_t index;
  typename std::iterator_traits<Iterator>::reference element;
  typename std::iterator_traits<Iterator>::reference operator*() const { return element; }
  auto* operator->() const { return &element; }
};

template <class Container>
class Enumerated {
 public:
  using Inner = decltype(std::begin(std::declval<Container&>()));
  class iterator {
   public:
    iterator(Inner at, size_t index) : at_(at), index_(index) {}
    EnumeratedElement<Inner> operator*() const { return {index_, *at_}; }
    iterator& operator++() {
      ++at_, ++index_;
      return *this;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }
    bool operator!=(const iterator& other) const { return !(*this == other); }

   private:
    Inner at_;
    size_t index_;
  };

  explicit Enumerated(Container&& items) : items_(std::forward<Container>(items)) {}
  iterator begin() { return {std::begin(items_), 0}; }
  iterator end() { return {std::end(items_), 0}; }

 private:
  // A reference, or the container itself if it is a temporary.
  Container items_;
};

}  // namespace detail

template <class Container>
detail::Enumerated<Container> enumerate(Container&& items) {
  return detail::Enumerated<Container>(std::forward<Container>(items));
}

RLT_NAMESPACE_END
}  // namespace c10
