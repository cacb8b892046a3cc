// ArrayRef: a view of contiguous elements that another object owns, and its optional form.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/Optional.h>

#include <array>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class T>
class ArrayRef final {
 public:
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;
  using value_type = T;
  using reverse_iterator = std::reverse_iterator<iterator>;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& one) : data_(&one), length_(1) {}
  // Not `const T*`: the indices `{0, 0}` would be a null pointer and a length.
  template <class P, class = decltype(static_cast<const T*>(std::declval<P>()))>
  constexpr ArrayRef(P data, size_t length) : data_(data), length_(length) {}
  template <class P, class = decltype(static_cast<const T*>(std::declval<P>()))>
  constexpr ArrayRef(P begin, const T* end) : data_(begin), length_(static_cast<size_t>(end - data_)) {}
  template <class Container, class = std::enable_if_t<std::is_same_v<std::remove_const_t<decltype(std::declval<Container>().data())>, T*> ||
                                                      std::is_same_v<decltype(std::declval<Container>().data()), const T*>>>
  ArrayRef(const Container& items) : data_(items.data()), length_(items.size()) {}
  template <class A>
  ArrayRef(const std::vector<T, A>& items) : data_(items.data()), length_(items.size()) {
    static_assert(!std::is_same_v<T, bool>, "ArrayRef<bool> cannot view std::vector<bool>, which packs its elements into bits");
  }
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& items) : data_(items.data()), length_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&items)[N]) : data_(items), length_(N) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  // The list lives to the end of the full expression, like every temporary that is viewed.
  constexpr ArrayRef(const std::initializer_list<T>& items)
      : data_(items.begin() == items.end() ? nullptr : items.begin()), length_(items.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  constexpr iterator begin() const { return data_; }
  constexpr iterator end() const { return data_ + length_; }
  constexpr const_iterator cbegin() const { return begin(); }
  constexpr const_iterator cend() const { return end(); }
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
  constexpr bool empty() const { return length_ == 0; }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return length_; }
  /// The form that the C interface takes.
  constexpr int64_t raw_length() const { return static_cast<int64_t>(length_); }
  constexpr const T& operator[](size_t index) const { return data_[index]; }

  constexpr const T& at(size_t index) const {
    if (C10_UNLIKELY(index >= length_)) out_of_range(index);
    return data_[index];
  }
  constexpr const T& front() const { return at(0); }
  constexpr const T& back() const { return at(length_ - 1); }
  constexpr ArrayRef slice(size_t start, size_t count) const {
    if (C10_UNLIKELY(start + count > length_)) out_of_range(start + count);
    return {data_ + start, count};
  }
  constexpr ArrayRef slice(size_t start) const { return slice(start, length_ - start); }
  constexpr bool equals(ArrayRef other) const {
    if (length_ != other.length_) return false;
    for (size_t i = 0; i < length_; ++i) {
      if (!(data_[i] == other.data_[i])) return false;
    }
    return true;
  }
  template <class Predicate>
  constexpr bool allMatch(const Predicate& predicate) const {
    for (const T& item : *this) {
      if (!predicate(item)) return false;
    }
    return true;
  }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }

 private:
  [[noreturn]] RLT_COLD void out_of_range(size_t index) const {
    rlt::raise<Error>("ArrayRef: invalid index Index = " + std::to_string(index) + "; Length = " + std::to_string(length_));
  }

  const T* data_ = nullptr;
  size_t length_ = 0;
};

template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !a.equals(b);
}
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator!=(const std::vector<T>& a, ArrayRef<T> b) {
  return !ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}
template <class T>
bool operator!=(ArrayRef<T> a, const std::vector<T>& b) {
  return !a.equals(ArrayRef<T>(b));
}

/// `[2, 3]`
template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> items) {
  const char* separator = "";
  out << "[";
  for (const T& item : items) {
    out << separator << item;
    separator = ", ";
  }
  out << "]";
  return out;
}

template <class T>
ArrayRef<T> makeArrayRef(const std::vector<T>& items) {
  return items;
}
template <class T>
ArrayRef<T> makeArrayRef(const T* data, size_t length) {
  return {data, length};
}
template <class Container, class T = std::remove_const_t<std::remove_pointer_t<decltype(std::declval<const Container&>().data())>>>
ArrayRef<T> makeArrayRef(const Container& items) {
  return {items.data(), items.size()};
}

namespace detail {
/// `take<T>(make<U>())` compiles if a U converts to T: std::is_convertible_v without its classes.
template <class T>
void take(T) noexcept;
template <class U>
U&& make() noexcept;
}  // namespace detail

/// None, or a view. Accepts a braced list, like ArrayRef.
template <class T>
class OptionalArrayRef final {
 public:
  constexpr OptionalArrayRef() = default;
  constexpr OptionalArrayRef(std::nullopt_t) {}
  // The comparisons below make this a candidate for most arguments of operators of this namespace. A call is the cheapest test.
  template <class U, class = decltype(detail::take<ArrayRef<T>>(detail::make<U>())),
            std::enable_if_t<!std::is_same_v<std::decay_t<U>, OptionalArrayRef> && !rlt::is_number<std::decay_t<U>>, bool> = true>
  constexpr OptionalArrayRef(U&& value) : value_(std::forward<U>(value)), set_(true) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& items) : value_(items), set_(true) {}
  constexpr OptionalArrayRef(const T& one) : value_(one), set_(true) {}
  template <class Items, std::enable_if_t<std::is_same_v<Items, ArrayRef<T>> || std::is_same_v<Items, std::vector<T>>, bool> = true>
  constexpr OptionalArrayRef(const std::optional<Items>& other) : set_(other.has_value()) {
    if (other) value_ = ArrayRef<T>(*other);
  }

  constexpr explicit operator bool() const { return set_; }
  constexpr bool has_value() const { return set_; }
  constexpr const ArrayRef<T>& value() const { return value_; }
  constexpr const ArrayRef<T>& operator*() const { return value_; }
  constexpr const ArrayRef<T>* operator->() const { return &value_; }
  constexpr ArrayRef<T> value_or(ArrayRef<T> otherwise) const { return set_ ? value_ : otherwise; }

  /// The form that the C interface takes: NULL means None, so an empty list needs an address.
  const T* raw_data() const {
    static constexpr T none{};
    if (!set_) return nullptr;
    return value_.data() ? value_.data() : &none;
  }
  int64_t raw_length() const { return static_cast<int64_t>(value_.size()); }

 private:
  ArrayRef<T> value_;
  bool set_ = false;
};

using IntArrayRef = ArrayRef<int64_t>;
using IntList = IntArrayRef;
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

inline bool operator==(const OptionalIntArrayRef& a, const IntArrayRef& b) { return a.has_value() && a->equals(b); }
inline bool operator==(const IntArrayRef& a, const OptionalIntArrayRef& b) { return b == a; }

/// A list, or none, that owns its elements. It converts to what operators take for both.
template <class T>
struct OptionalArray {
  std::optional<std::vector<T>> list;

  OptionalArray() = default;
  OptionalArray(std::vector<T> values) : list(std::move(values)) {}
  OptionalArray& operator=(std::optional<ArrayRef<T>> values) {
    if (values) list.emplace(values->begin(), values->end());
    else list.reset();
    return *this;
  }
  OptionalArray& operator=(OptionalArrayRef<T> values) {
    if (values.has_value()) list.emplace(values->begin(), values->end());
    else list.reset();
    return *this;
  }

  operator std::optional<ArrayRef<T>>() {
    if (list) return ArrayRef<T>(*list);
    return std::nullopt;
  }
  operator OptionalArrayRef<T>() {
    if (list) return OptionalArrayRef<T>(ArrayRef<T>(*list));
    return std::nullopt;
  }
};

RLT_NAMESPACE_END
}  // namespace c10
