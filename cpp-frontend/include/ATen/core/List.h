// List: a list of values of one type that its copies share.
#pragma once

#include <ATen/core/ivalue_base.h>

#include <initializer_list>
#include <iterator>

namespace c10 {
RLT_NAMESPACE_BEGIN

// Programs that use this namespace write `string`.
using std::string;
namespace detail {

struct ListImpl final : intrusive_ptr_target {
  explicit ListImpl(const StaticType* type) : element_kind(type->kind), static_element(type) {}
  ListImpl(std::string kind, TypePtr type) : element_kind(std::move(kind)), element(std::move(type)) {}

  /// The kind of the type of the elements: `int`, `List`, ...
  std::string element_kind;
  /// The type of the elements, unless `element` is set.
  const StaticType* static_element = nullptr;
  TypePtr element;
  std::vector<IValue> items;
};

}  // namespace detail

namespace impl {

/// An element of a list that is const: a reference where the value holds one.
template <class T>
struct ListConstReference {
  using type = T;
  static T of(const IValue& value) { return value.to<T>(); }
};
template <>
struct ListConstReference<at::Tensor> {
  using type = const at::Tensor&;
  static type of(const IValue& value) { return value.toTensor(); }
};
template <>
struct ListConstReference<IValue> {
  using type = const IValue&;
  static type of(const IValue& value) { return value; }
};
template <class T>
struct ListStringReference {
  using type = const std::string&;
  static type of(const IValue& value) { return value.toStringRef(); }
};
template <>
struct ListConstReference<std::string> : ListStringReference<std::string> {};
template <class T>
struct ListConstReference<std::optional<T>> {
  using type = std::conditional_t<std::is_same_v<T, std::string>, std::optional<std::reference_wrapper<const std::string>>, std::optional<T>>;
  static type of(const IValue& value) {
    if constexpr (std::is_same_v<T, std::string>) return value.toOptionalStringRef();
    else return value.to<std::optional<T>>();
  }
};

/// A reference to an element: it reads as T, and can be assigned.
template <class T>
class ListElementReference final {
 public:
  explicit ListElementReference(IValue& place) : place_(place) {}
  ListElementReference(const ListElementReference&) = default;
  operator T() const { return place_.template to<T>(); }
  const IValue& get() const { return place_; }
  ListElementReference& operator=(T value) {
    place_ = IValue(std::move(value));
    return *this;
  }
  ListElementReference& operator=(const ListElementReference& other) {
    place_ = other.place_;
    return *this;
  }
  friend void swap(ListElementReference a, ListElementReference b) noexcept { a.place_.swap(b.place_); }
  friend bool operator==(const ListElementReference& a, const T& b) { return static_cast<T>(a) == b; }
  friend bool operator==(const T& a, const ListElementReference& b) { return a == static_cast<T>(b); }
  friend bool operator==(const ListElementReference& a, const ListElementReference& b) { return a.place_ == b.place_; }
  friend bool operator!=(const ListElementReference& a, const T& b) { return !(a == b); }

 private:
  IValue& place_;
};

/// A random access iterator.
template <class T>
class ListIterator final {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = ListElementReference<T>;

  ListIterator() = default;
  explicit ListIterator(IValue* place) : place_(place) {}
  reference operator*() const { return reference(*place_); }
  reference operator[](difference_type offset) const { return reference(place_[offset]); }
  ListIterator& operator++() { return ++place_, *this; }
  ListIterator operator++(int) { return ListIterator(place_++); }
  ListIterator& operator--() { return --place_, *this; }
  ListIterator operator--(int) { return ListIterator(place_--); }
  ListIterator& operator+=(difference_type offset) { return place_ += offset, *this; }
  ListIterator& operator-=(difference_type offset) { return place_ -= offset, *this; }
  ListIterator operator+(difference_type offset) const { return ListIterator(place_ + offset); }
  ListIterator operator-(difference_type offset) const { return ListIterator(place_ - offset); }
  friend difference_type operator-(const ListIterator& a, const ListIterator& b) { return a.place_ - b.place_; }
  friend bool operator==(const ListIterator& a, const ListIterator& b) { return a.place_ == b.place_; }
  friend bool operator!=(const ListIterator& a, const ListIterator& b) { return a.place_ != b.place_; }
  friend bool operator<(const ListIterator& a, const ListIterator& b) { return a.place_ < b.place_; }
  friend bool operator<=(const ListIterator& a, const ListIterator& b) { return a.place_ <= b.place_; }
  friend bool operator>(const ListIterator& a, const ListIterator& b) { return a.place_ > b.place_; }
  friend bool operator>=(const ListIterator& a, const ListIterator& b) { return a.place_ >= b.place_; }
  IValue* place() const { return place_; }

 private:
  IValue* place_ = nullptr;
};

}  // namespace impl

template <class T>
class List final {
 public:
  using value_type = T;
  using size_type = size_t;
  using iterator = impl::ListIterator<T>;
  using const_iterator = iterator;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using internal_reference_type = impl::ListElementReference<T>;

  List() : body_(make_intrusive<detail::ListImpl>(&detail::StaticTypeOf<T>::value)) {}
  List(std::initializer_list<T> values) : List() { assign(values); }
  explicit List(ArrayRef<T> values) : List() { assign(values); }
  explicit List(const std::vector<T>& values) : List() { assign(values); }
  /// A list of values of a type that is known when the program runs (ATen/core/jit_type.h).
  template <class Pointer, std::enable_if_t<std::is_same_v<T, IValue> && std::is_convertible_v<Pointer, TypePtr>, bool> = true>
  explicit List(Pointer element) : body_(make_intrusive<detail::ListImpl>(detail::kind_of_type(TypePtr(element)), TypePtr(element))) {}
  // A list that was moved from is the same list still.
  List(const List&) = default;
  List& operator=(const List&) = default;

  size_t size() const { return items().size(); }
  bool empty() const { return items().empty(); }
  T get(size_t position) const { return at(position).template to<T>(); }
  void set(size_t position, T value) const { at(position) = IValue(std::move(value)); }
  T extract(size_t position) const {
    T value = get(position);
    at(position) = IValue(T());
    return value;
  }
  impl::ListElementReference<T> operator[](size_t position) { return impl::ListElementReference<T>(at(position)); }
  typename impl::ListConstReference<T>::type operator[](size_t position) const { return impl::ListConstReference<T>::of(at(position)); }
  iterator begin() const { return iterator(items().data()); }
  iterator end() const { return iterator(items().data() + size()); }
  reverse_iterator rbegin() const { return reverse_iterator(end()); }
  reverse_iterator rend() const { return reverse_iterator(begin()); }
  void push_back(T value) const { items().emplace_back(std::move(value)); }
  template <class... Args>
  void emplace_back(Args&&... args) const {
    push_back(T(std::forward<Args>(args)...));
  }
  iterator insert(iterator position, T value) const {
    auto place = items().insert(items().begin() + (position - begin()), IValue(std::move(value)));
    return begin() + (place - items().begin());
  }
  template <class... Args>
  iterator emplace(iterator position, Args&&... args) const {
    return insert(position, T(std::forward<Args>(args)...));
  }
  iterator erase(iterator position) const { return erase(position, position + 1); }
  iterator erase(iterator first, iterator last) const {
    auto place = items().erase(items().begin() + (first - begin()), items().begin() + (last - begin()));
    return begin() + (place - items().begin());
  }
  void append(const List& other) const {
    std::vector<IValue> added = other.items();
    items().insert(items().end(), added.begin(), added.end());
  }
  void reserve(size_t count) const { items().reserve(count); }
  void resize(size_t count) const { items().resize(count, IValue(T())); }
  void resize(size_t count, const T& value) const { items().resize(count, IValue(value)); }
  void pop_back() const { items().pop_back(); }
  void clear() const { items().clear(); }
  /// A new list with the same elements.
  List copy() const { return List(make_intrusive<detail::ListImpl>(body())); }
  bool is(const List& other) const { return body_ == other.body_; }
  size_t use_count() const { return body_.use_count(); }
  std::vector<T> vec() const {
    std::vector<T> values;
    values.reserve(size());
    for (const IValue& item : items()) values.push_back(item.to<T>());
    return values;
  }
  /// The type of the elements (ATen/core/jit_type.h).
  TypePtr elementType() const { return detail::element_type_of(body()); }
  void unsafeSetElementType(TypePtr type) const {
    body().element_kind = detail::kind_of_type(type);
    body().element = std::move(type);
  }

  friend bool operator==(const List& a, const List& b) { return IValue(a) == IValue(b); }
  friend bool operator!=(const List& a, const List& b) { return !(a == b); }

 private:
  friend struct IValue;
  template <class U>
  friend class List;
  template <class U>
  friend List<U> impl_to_typed_list(List<IValue> list);
  explicit List(intrusive_ptr<detail::ListImpl> body) : body_(std::move(body)) {}
  template <class Values>
  void assign(const Values& values) {
    items().reserve(values.size());
    for (const T& value : values) items().emplace_back(value);
  }
  detail::ListImpl& body() const { return *body_; }
  std::vector<IValue>& items() const { return body().items; }
  IValue& at(size_t position) const {
    if (position >= size()) rlt::raise<rlt::RangeError>("list index out of range");
    return items()[position];
  }

  intrusive_ptr<detail::ListImpl> body_;
};

template <class U>
List<U> impl_to_typed_list(List<IValue> list) {
  return List<U>(std::move(list.body_));
}

namespace impl {
/// The same list with elements of a static type.
template <class T>
List<T> toTypedList(GenericList list) {
  if (list.size() != 0) list.get(0).template to<T>();
  return impl_to_typed_list<T>(std::move(list));
}
template <class T>
GenericList toList(const List<T>& list) {
  return IValue(list).toList();
}
}  // namespace impl

RLT_NAMESPACE_END
}  // namespace c10

#include <ATen/core/ivalue_all.h>
