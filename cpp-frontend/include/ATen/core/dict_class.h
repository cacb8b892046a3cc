// Dict: a dict that keeps the order of insertion and that its copies share.
#pragma once

#include <ATen/core/ivalue_base.h>

#include <iterator>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace detail {

struct DictImpl final : intrusive_ptr_target {
  DictImpl(const StaticType* keys, const StaticType* values) : static_key(keys), static_value(values) {}
  DictImpl(TypePtr keys, TypePtr values) : key(std::move(keys)), value(std::move(values)) {}

  using Entries = std::vector<std::pair<IValue, IValue>>;
  const StaticType* static_key = nullptr;
  const StaticType* static_value = nullptr;
  TypePtr key, value;
  Entries entries;
  /// The positions of the entries by the hash of their key.
  std::unordered_multimap<size_t, size_t> places;

  RLT_LAZY size_t find(const IValue& wanted) const {
    auto range = places.equal_range(wanted.hash());
    for (auto place = range.first; place != range.second; ++place) {
      const IValue& found = entries[place->second].first;
      if (found.tag_ == wanted.tag_ && (wanted.isTensor() ? found.is(wanted) : found == wanted)) return place->second;
    }
    return entries.size();
  }
  RLT_LAZY void add(IValue added, IValue with) {
    places.emplace(added.hash(), entries.size());
    entries.emplace_back(std::move(added), std::move(with));
  }
  RLT_LAZY void erase(size_t position) {
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(position));
    places.clear();
    for (size_t i = 0; i < entries.size(); ++i) places.emplace(entries[i].first.hash(), i);
  }
};

}  // namespace detail

namespace impl {

template <class Key, class Value>
class DictEntryRef final {
 public:
  DictEntryRef(detail::DictImpl* body, size_t position) : body_(body), position_(position) {}
  /// A reference for tensors and strings, valid as long as the entry.
  decltype(auto) key() const { return read<Key>(body_->entries[position_].first); }
  decltype(auto) value() const { return read<Value>(body_->entries[position_].second); }
  template <class T>
  void setValue(T&& value) const {
    body_->entries[position_].second = IValue(Value(std::forward<T>(value)));
  }

 private:
  template <class T>
  static decltype(auto) read(const IValue& item) {
    if constexpr (std::is_same_v<T, at::Tensor>) return item.toTensor();
    else if constexpr (std::is_same_v<T, std::string>) return item.toStringRef();
    else return item.template to<T>();
  }

  detail::DictImpl* body_;
  size_t position_;
};

template <class Key, class Value>
class DictIterator final {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = DictEntryRef<Key, Value>;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = const value_type&;

  DictIterator(detail::DictImpl* body, size_t position) : body_(body), position_(position), entry_(body, position) {}
  reference operator*() const { return entry_; }
  pointer operator->() const { return &entry_; }
  DictIterator& operator++() { return *this = DictIterator(body_, position_ + 1); }
  DictIterator operator++(int) {
    DictIterator before = *this;
    ++*this;
    return before;
  }
  friend difference_type operator-(const DictIterator& a, const DictIterator& b) {
    return static_cast<difference_type>(a.position_) - static_cast<difference_type>(b.position_);
  }
  friend bool operator==(const DictIterator& a, const DictIterator& b) { return a.body_ == b.body_ && a.position_ == b.position_; }
  friend bool operator!=(const DictIterator& a, const DictIterator& b) { return !(a == b); }
  friend bool operator<(const DictIterator& a, const DictIterator& b) { return a.position_ < b.position_; }
  size_t position() const { return position_; }

 private:
  detail::DictImpl* body_;
  size_t position_;
  DictEntryRef<Key, Value> entry_;
};

}  // namespace impl

template <class Key, class Value>
class Dict final {
 public:
  using key_type = Key;
  using mapped_type = Value;
  using size_type = size_t;
  using iterator = impl::DictIterator<Key, Value>;

  Dict() : body_(make_intrusive<detail::DictImpl>(&detail::StaticTypeOf<Key>::value, &detail::StaticTypeOf<Value>::value)) {}
  /// A dict of values of types that are known when the program runs (ATen/core/jit_type.h).
  Dict(TypePtr key, TypePtr value) : body_(make_intrusive<detail::DictImpl>(std::move(key), std::move(value))) {}
  // A dict that was moved from is the same dict still.
  Dict(const Dict&) = default;
  Dict& operator=(const Dict&) = default;

  size_t size() const { return body().entries.size(); }
  bool empty() const { return body().entries.empty(); }
  iterator begin() const { return iterator(&body(), 0); }
  iterator end() const { return iterator(&body(), size()); }
  void clear() const {
    body().entries.clear();
    body().places.clear();
  }
  void reserve(size_t count) const { body().entries.reserve(count); }
  iterator find(const Key& key) const { return iterator(&body(), body().find(IValue(key))); }
  bool contains(const Key& key) const { return body().find(IValue(key)) != size(); }
  Value at(const Key& key) const {
    size_t place = body().find(IValue(key));
    if (place == size()) rlt::raise<rlt::RangeError>("Argument passed to at() was not in the map.");
    return body().entries[place].second.template to<Value>();
  }
  /// Adds an entry, unless the key has one. Returns its place and whether it was added.
  template <class K, class V>
  std::pair<iterator, bool> insert(K&& key, V&& value) const {
    IValue wanted(Key(std::forward<K>(key)));
    size_t place = body().find(wanted);
    bool added = place == size();
    if (added) body().add(std::move(wanted), IValue(Value(std::forward<V>(value))));
    return {iterator(&body(), place), added};
  }
  /// Adds an entry, or sets the value of the one that the key has.
  template <class K, class V>
  std::pair<iterator, bool> insert_or_assign(K&& key, V&& value) const {
    IValue wanted(Key(std::forward<K>(key)));
    size_t place = body().find(wanted);
    bool added = place == size();
    if (added) body().add(std::move(wanted), IValue(Value(std::forward<V>(value))));
    else body().entries[place].second = IValue(Value(std::forward<V>(value)));
    return {iterator(&body(), place), added};
  }
  void erase(iterator place) const { body().erase(place.position()); }
  size_t erase(const Key& key) const {
    size_t place = body().find(IValue(key));
    if (place == size()) return 0;
    body().erase(place);
    return 1;
  }
  /// A new dict with the same entries.
  Dict copy() const { return Dict(make_intrusive<detail::DictImpl>(body())); }
  bool is(const Dict& other) const { return body_ == other.body_; }
  size_t use_count() const { return body_.use_count(); }
  /// The types of keys and values (ATen/core/jit_type.h).
  TypePtr keyType() const { return detail::key_type_of(body()); }
  TypePtr valueType() const { return detail::value_type_of(body()); }
  void unsafeSetKeyType(TypePtr type) const { body().key = std::move(type); }
  void unsafeSetValueType(TypePtr type) const { body().value = std::move(type); }

  friend bool operator==(const Dict& a, const Dict& b) { return IValue(a) == IValue(b); }
  friend bool operator!=(const Dict& a, const Dict& b) { return !(a == b); }

 private:
  friend struct IValue;
  template <class K, class V>
  friend class Dict;
  template <class K, class V>
  friend Dict<K, V> impl_to_typed_dict(Dict<IValue, IValue> dict);
  explicit Dict(intrusive_ptr<detail::DictImpl> body) : body_(std::move(body)) {}
  detail::DictImpl& body() const { return *body_; }

  intrusive_ptr<detail::DictImpl> body_;
};

template <class K, class V>
Dict<K, V> impl_to_typed_dict(Dict<IValue, IValue> dict) {
  return Dict<K, V>(std::move(dict.body_));
}

namespace impl {
/// The same dict with keys and values of static types.
template <class Key, class Value>
Dict<Key, Value> toTypedDict(GenericDict dict) {
  return impl_to_typed_dict<Key, Value>(std::move(dict));
}
template <class Key, class Value>
GenericDict toGenericDict(const Dict<Key, Value>& dict) {
  return IValue(dict).toGenericDict();
}
}  // namespace impl

RLT_NAMESPACE_END
}  // namespace c10

#include <ATen/core/ivalue_all.h>
