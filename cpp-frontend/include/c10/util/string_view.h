// c10::string_view, which is std::string_view, and basic_string_view: the same with starts_with and ends_with.
#pragma once

#include <c10/util/Exception.h>

#include <limits>
#include <ostream>
#include <string>
#include <string_view>

namespace c10 {
RLT_NAMESPACE_BEGIN

using string_view = std::string_view;

template <class C>
class basic_string_view final {
  using Std = std::basic_string_view<C>;

 public:
  using value_type = C;
  using pointer = C*;
  using const_pointer = const C*;
  using reference = C&;
  using const_reference = const C&;
  using const_iterator = const C*;
  using iterator = const_iterator;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;
  using reverse_iterator = const_reverse_iterator;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;

  static constexpr size_type npos = size_type(-1);

  constexpr basic_string_view() noexcept = default;
  constexpr basic_string_view(const_pointer text, size_type size) : view_(text, size) {}
  constexpr basic_string_view(const_pointer text) : view_(text) {}
  basic_string_view(const std::basic_string<C>& text) : view_(text) {}
  constexpr basic_string_view(Std view) noexcept : view_(view) {}
  constexpr operator Std() const { return view_; }
  explicit operator std::basic_string<C>() const { return std::basic_string<C>(view_); }

  constexpr const_iterator begin() const noexcept { return view_.data(); }
  constexpr const_iterator end() const noexcept { return view_.data() + view_.size(); }
  constexpr const_iterator cbegin() const noexcept { return begin(); }
  constexpr const_iterator cend() const noexcept { return end(); }
  constexpr const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  constexpr const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
  constexpr const_reverse_iterator crbegin() const noexcept { return rbegin(); }
  constexpr const_reverse_iterator crend() const noexcept { return rend(); }

  constexpr const_reference operator[](size_type index) const { return view_[index]; }
  constexpr const_reference at(size_type index) const {
    if (index >= size()) out_of_range("string_view::operator[] or string_view::at() out of range. Index", index);
    return view_[index];
  }
  constexpr const_reference front() const { return view_.front(); }
  constexpr const_reference back() const { return view_.back(); }
  constexpr const_pointer data() const noexcept { return view_.data(); }
  constexpr size_type size() const noexcept { return view_.size(); }
  constexpr size_type length() const noexcept { return view_.size(); }
  constexpr size_type max_size() const noexcept { return static_cast<size_type>(std::numeric_limits<difference_type>::max()); }
  constexpr bool empty() const noexcept { return view_.empty(); }

  constexpr void remove_prefix(size_type count) {
    if (count > size()) out_of_range("basic_string_view::remove_prefix: out of range. PrefixLength", count);
    view_.remove_prefix(count);
  }
  constexpr void remove_suffix(size_type count) {
    if (count > size()) out_of_range("basic_string_view::remove_suffix: out of range. SuffixLength", count);
    view_.remove_suffix(count);
  }
  constexpr void swap(basic_string_view& other) noexcept {
    Std before = view_;
    view_ = other.view_;
    other.view_ = before;
  }
  size_type copy(pointer target, size_type count, size_type start = 0) const {
    if (start > size()) out_of_range("basic_string_view::copy: out of range. Index", start);
    return view_.copy(target, count, start);
  }
  constexpr basic_string_view substr(size_type start = 0, size_type count = npos) const {
    if (start > size()) out_of_range("basic_string_view::substr parameter out of bounds. Index", start);
    return view_.substr(start, count);
  }

  constexpr int compare(basic_string_view other) const noexcept { return sign(view_.compare(other.view_)); }
  constexpr int compare(size_type start, size_type count, basic_string_view other) const { return substr(start, count).compare(other); }
  constexpr int compare(size_type start, size_type count, basic_string_view other, size_type other_start, size_type other_count) const {
    return substr(start, count).compare(other.substr(other_start, other_count));
  }
  constexpr int compare(const_pointer other) const { return compare(basic_string_view(other)); }
  constexpr int compare(size_type start, size_type count, const_pointer other) const {
    return compare(start, count, basic_string_view(other));
  }
  constexpr int compare(size_type start, size_type count, const_pointer other, size_type other_count) const {
    return compare(start, count, basic_string_view(other, other_count));
  }

  constexpr bool starts_with(basic_string_view prefix) const noexcept {
    return prefix.size() <= size() && view_.substr(0, prefix.size()) == prefix.view_;
  }
  constexpr bool starts_with(C prefix) const noexcept { return !empty() && front() == prefix; }
  constexpr bool starts_with(const_pointer prefix) const { return starts_with(basic_string_view(prefix)); }
  constexpr bool ends_with(basic_string_view suffix) const noexcept {
    return suffix.size() <= size() && view_.substr(size() - suffix.size()) == suffix.view_;
  }
  constexpr bool ends_with(C suffix) const noexcept { return !empty() && back() == suffix; }
  constexpr bool ends_with(const_pointer suffix) const { return ends_with(basic_string_view(suffix)); }

// The searches of std::basic_string_view.
#define RLT_SEARCH(name, start)                                                                                                     \
  constexpr size_type name(basic_string_view other, size_type from = start) const noexcept { return view_.name(other.view_, from); } \
  constexpr size_type name(C letter, size_type from = start) const noexcept { return view_.name(letter, from); }                    \
  constexpr size_type name(const_pointer other, size_type from, size_type count) const { return view_.name(other, from, count); }   \
  constexpr size_type name(const_pointer other, size_type from = start) const { return view_.name(other, from); }
  RLT_SEARCH(find, 0)
  RLT_SEARCH(rfind, npos)
  RLT_SEARCH(find_first_of, 0)
  RLT_SEARCH(find_last_of, npos)
  RLT_SEARCH(find_first_not_of, 0)
  RLT_SEARCH(find_last_not_of, npos)
#undef RLT_SEARCH

  friend constexpr bool operator==(basic_string_view a, basic_string_view b) noexcept { return a.view_ == b.view_; }
  friend constexpr bool operator!=(basic_string_view a, basic_string_view b) noexcept { return a.view_ != b.view_; }
  friend constexpr bool operator<(basic_string_view a, basic_string_view b) noexcept { return a.view_ < b.view_; }
  friend constexpr bool operator<=(basic_string_view a, basic_string_view b) noexcept { return a.view_ <= b.view_; }
  friend constexpr bool operator>(basic_string_view a, basic_string_view b) noexcept { return a.view_ > b.view_; }
  friend constexpr bool operator>=(basic_string_view a, basic_string_view b) noexcept { return a.view_ >= b.view_; }
  friend std::basic_ostream<C>& operator<<(std::basic_ostream<C>& out, basic_string_view text) { return out << text.view_; }

 private:
  static constexpr int sign(int order) { return (order > 0) - (order < 0); }
  [[noreturn]] RLT_COLD void out_of_range(const char* what, size_type index) const {
    rlt::raise<rlt::RangeError>(std::string(what) + ": " + std::to_string(index) + ", size: " + std::to_string(size()));
  }

  Std view_;
};

template <class C>
constexpr void swap(basic_string_view<C>& a, basic_string_view<C>& b) noexcept {
  a.swap(b);
}

template <class C>
constexpr const C* begin(const basic_string_view<C>& text) noexcept {
  return text.begin();
}
template <class C>
constexpr const C* end(const basic_string_view<C>& text) noexcept {
  return text.end();
}

using c10_string_view = basic_string_view<char>;

RLT_NAMESPACE_END
}  // namespace c10

template <class C>
struct std::hash<c10::basic_string_view<C>> {
  size_t operator()(c10::basic_string_view<C> text) const { return std::hash<std::basic_string_view<C>>()(text); }
};
