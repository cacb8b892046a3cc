// OrderedDict: a map that keeps the order of insertion. Module keeps its parameters, buffers and children in it.
#pragma once

#include <c10/util/Exception.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN

template <class Key, class Value>
class OrderedDict {
 public:
  /// A constant key and a mutable value.
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    Value& operator*() { return value(); }
    const Value& operator*() const { return value(); }
    Value* operator->() { return &value(); }
    const Value* operator->() const { return &value(); }
    const Key& key() const noexcept { return pair_.first; }
    Value& value() noexcept { return pair_.second; }
    const Value& value() const noexcept { return pair_.second; }
    const std::pair<Key, Value>& pair() const noexcept { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  /// `key_description` describes keys in errors.
  explicit OrderedDict(std::string key_description = "Key") : key_description_(std::move(key_description)) {}
  OrderedDict(std::initializer_list<Item> items) : key_description_("Key") {
    for (const Item& item : items) insert(item.key(), item.value());
  }

  const std::string& key_description() const noexcept { return key_description_; }
  Item& front() { return checked_items("front").front(); }
  const Item& front() const { return const_cast<OrderedDict*>(this)->front(); }
  Item& back() { return checked_items("back").back(); }
  const Item& back() const { return const_cast<OrderedDict*>(this)->back(); }
  Item& operator[](size_t index) {
    if (index >= items_.size()) {
      rlt::raise<Error>("Index " + std::to_string(index) + " is out of bounds for a dictionary of size " + std::to_string(items_.size()));
    }
    return items_[index];
  }
  const Item& operator[](size_t index) const { return const_cast<OrderedDict&>(*this)[index]; }
  Value& operator[](const Key& key) {
    if (Value* value = find(key)) return *value;
    rlt::raise<Error>(c10::str(key_description_, " '", key, "' is not defined"));
  }
  const Value& operator[](const Key& key) const { return const_cast<OrderedDict&>(*this)[key]; }
  Value* find(const Key& key) noexcept {
    size_t place = position(key);
    return holds(place, key) ? &items_[index_[place]].value() : nullptr;
  }
  const Value* find(const Key& key) const noexcept { return const_cast<OrderedDict*>(this)->find(key); }
  bool contains(const Key& key) const noexcept { return find(key) != nullptr; }

  Iterator begin() { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator begin() const { return items_.begin(); }
  ConstIterator end() const { return items_.end(); }
  size_t size() const noexcept { return items_.size(); }
  bool is_empty() const noexcept { return items_.empty(); }
  void reserve(size_t capacity) {
    items_.reserve(capacity);
    index_.reserve(capacity);
  }

  template <class K, class V>
  Value& insert(K&& key, V&& value) {
    size_t place = position(key);
    if (holds(place, key)) rlt::raise<Error>(c10::str(key_description_, " '", key, "' already defined"));
    items_.emplace_back(std::forward<K>(key), std::forward<V>(value));
    index_.insert(index_.begin() + static_cast<std::ptrdiff_t>(place), items_.size() - 1);
    return items_.back().value();
  }
  Value& insert(Key key, Value&& value) { return insert<Key, Value>(std::move(key), std::move(value)); }
  void update(OrderedDict&& other) {
    for (Item& item : other.items_) insert(item.key(), std::move(item.value()));
  }
  void update(const OrderedDict& other) {
    for (const Item& item : other.items_) insert(item.key(), item.value());
  }
  void erase(const Key& key) {
    size_t place = position(key);
    if (!holds(place, key)) rlt::raise<Error>(c10::str(key_description_, " '", key, "' doesn't exist"));
    size_t gone = index_[place];
    index_.erase(index_.begin() + static_cast<std::ptrdiff_t>(place));
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(gone));
    for (size_t& entry : index_) entry -= entry > gone;
  }
  void clear() {
    items_.clear();
    index_.clear();
  }

  const std::vector<Item>& items() const noexcept { return items_; }
  std::vector<Key> keys() const {
    std::vector<Key> keys;
    keys.reserve(items_.size());
    for (const Item& item : items_) keys.push_back(item.key());
    return keys;
  }
  std::vector<Value> values() const {
    std::vector<Value> values;
    values.reserve(items_.size());
    for (const Item& item : items_) values.push_back(item.value());
    return values;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> pairs;
    pairs.reserve(items_.size());
    for (const Item& item : items_) pairs.push_back(item.pair());
    return pairs;
  }

  friend bool operator==(const OrderedDict& a, const OrderedDict& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a.items_[i].key() != b.items_[i].key() || !(a.items_[i].value() == b.items_[i].value())) return false;
    }
    return true;
  }

 private:
  std::vector<Item>& checked_items(const char* method) {
    if (items_.empty()) rlt::raise<Error>(std::string("Called ") + method + "() on an empty OrderedDict");
    return items_;
  }

  // The position of `key`, or where to insert it, in the index.
  size_t position(const Key& key) const {
    size_t low = 0, high = index_.size();
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (items_[index_[middle]].key() < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  bool holds(size_t place, const Key& key) const { return place < index_.size() && items_[index_[place]].key() == key; }

  std::vector<Item> items_;
  // The items in the order of their keys.
  std::vector<size_t> index_;
  std::string key_description_;
};

RLT_NAMESPACE_END
}  // namespace torch
