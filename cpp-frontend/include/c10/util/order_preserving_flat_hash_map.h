// ska_ordered::order_preserving_flat_hash_map: a hash map whose iterators visit the entries in the order of insertion.
#pragma once

#include <c10/util/Exception.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace ska_ordered {
RLT_NAMESPACE_BEGIN

template <class Key, class Value, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
class order_preserving_flat_hash_map {
  struct Links {
    Links* before;
    Links* after;
  };
  struct Node : Links {
    template <class... Args>
    explicit Node(Args&&... args) : Links{nullptr, nullptr}, entry(std::forward<Args>(args)...) {}
    std::pair<Key, Value> entry;
    Node* next_in_bucket = nullptr;
    size_t hash = 0;
  };

  template <bool Const>
  class Iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = std::pair<Key, Value>;
    using difference_type = std::ptrdiff_t;
    using reference = std::conditional_t<Const, const value_type&, value_type&>;
    using pointer = std::conditional_t<Const, const value_type*, value_type*>;

    Iterator() = default;
    operator Iterator<true>() const { return Iterator<true>(links_); }
    reference operator*() const { return static_cast<Node*>(links_)->entry; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      links_ = links_->after;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    Iterator& operator--() {
      links_ = links_->before;
      return *this;
    }
    Iterator operator--(int) {
      Iterator before = *this;
      --*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.links_ == b.links_; }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return a.links_ != b.links_; }

   private:
    friend class order_preserving_flat_hash_map;
    friend class Iterator<!Const>;
    explicit Iterator(Links* links) : links_(links) {}
    Links* links_ = nullptr;
  };

 public:
  using key_type = Key;
  using mapped_type = Value;
  using value_type = std::pair<Key, Value>;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using hasher = Hash;
  using key_equal = Equal;
  using reference = value_type&;
  using const_reference = const value_type&;
  using iterator = Iterator<false>;
  using const_iterator = Iterator<true>;

  order_preserving_flat_hash_map() = default;
  explicit order_preserving_flat_hash_map(size_t buckets, Hash hash = Hash(), Equal equal = Equal())
      : hash_(std::move(hash)), equal_(std::move(equal)) {
    if (buckets) rehash(buckets);
  }
  template <class It, class = typename std::iterator_traits<It>::iterator_category>
  order_preserving_flat_hash_map(It first, It last) {
    insert(first, last);
  }
  order_preserving_flat_hash_map(std::initializer_list<value_type> entries) { insert(entries); }
  order_preserving_flat_hash_map(const order_preserving_flat_hash_map& other) : hash_(other.hash_), equal_(other.equal_) {
    insert(other.begin(), other.end());
  }
  order_preserving_flat_hash_map(order_preserving_flat_hash_map&& other) : order_preserving_flat_hash_map() { swap(other); }
  order_preserving_flat_hash_map& operator=(order_preserving_flat_hash_map other) {
    swap(other);
    return *this;
  }
  ~order_preserving_flat_hash_map() { clear(); }

  iterator begin() { return iterator(ends_.after); }
  iterator end() { return iterator(&ends_); }
  const_iterator begin() const { return const_iterator(ends_.after); }
  const_iterator end() const { return const_iterator(const_cast<Links*>(&ends_)); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t bucket_count() const { return buckets_.size(); }
  float load_factor() const { return buckets_.empty() ? 0 : static_cast<float>(size_) / static_cast<float>(buckets_.size()); }
  float max_load_factor() const { return 1; }

  iterator find(const Key& key) { return iterator(locate(key)); }
  const_iterator find(const Key& key) const { return const_iterator(locate(key)); }
  size_t count(const Key& key) const { return find(key) == end() ? 0 : 1; }
  bool contains(const Key& key) const { return count(key) != 0; }
  std::pair<iterator, iterator> equal_range(const Key& key) {
    iterator found = find(key);
    return {found, found == end() ? found : std::next(found)};
  }
  std::pair<const_iterator, const_iterator> equal_range(const Key& key) const {
    const_iterator found = find(key);
    return {found, found == end() ? found : std::next(found)};
  }
  Value& operator[](const Key& key) { return emplace(key, Value()).first->second; }
  Value& operator[](Key&& key) { return emplace(std::move(key), Value()).first->second; }
  Value& at(const Key& key) {
    iterator found = find(key);
    if (found == end()) rlt::raise<rlt::RangeError>("Argument passed to at() was not in the map.");
    return found->second;
  }
  const Value& at(const Key& key) const { return const_cast<order_preserving_flat_hash_map*>(this)->at(key); }

  /// A new entry is the last one. An entry with this key stays as it is.
  template <class K, class... Args>
  std::pair<iterator, bool> emplace(K&& key, Args&&... args) {
    iterator found = find(key);
    if (found != end()) return {found, false};
    return {append(std::make_unique<Node>(std::piecewise_construct, std::forward_as_tuple(std::forward<K>(key)),
                                          std::forward_as_tuple(std::forward<Args>(args)...))),
            true};
  }
  std::pair<iterator, bool> insert(const value_type& entry) { return emplace(entry.first, entry.second); }
  std::pair<iterator, bool> insert(value_type&& entry) { return emplace(std::move(entry.first), std::move(entry.second)); }
  iterator insert(const_iterator, const value_type& entry) { return insert(entry).first; }
  template <class It, class = typename std::iterator_traits<It>::iterator_category>
  void insert(It first, It last) {
    for (; first != last; ++first) emplace(first->first, first->second);
  }
  void insert(std::initializer_list<value_type> entries) { insert(entries.begin(), entries.end()); }
  template <class V>
  std::pair<iterator, bool> insert_or_assign(const Key& key, V&& value) {
    auto result = emplace(key, value);
    if (!result.second) result.first->second = std::forward<V>(value);
    return result;
  }

  /// Returns the iterator after the erased entry.
  iterator erase(const_iterator position) {
    Node* node = static_cast<Node*>(position.links_);
    iterator next(node->after);
    Node** slot = &buckets_[node->hash % buckets_.size()];
    while (*slot != node) slot = &(*slot)->next_in_bucket;
    *slot = node->next_in_bucket;
    node->before->after = node->after;
    node->after->before = node->before;
    --size_;
    delete node;
    return next;
  }
  iterator erase(const_iterator first, const_iterator last) {
    while (first != last) first = erase(first);
    return iterator(last.links_);
  }
  size_t erase(const Key& key) {
    const_iterator found = find(key);
    if (found == end()) return 0;
    erase(found);
    return 1;
  }
  void clear() {
    for (Links* links = ends_.after; links != &ends_;) delete static_cast<Node*>(std::exchange(links, links->after));
    ends_ = {&ends_, &ends_};
    buckets_.clear();
    size_ = 0;
  }
  void reserve(size_t entries) {
    if (entries > buckets_.size()) rehash(entries);
  }
  /// Changes the number of buckets; there are at least as many as entries.
  void rehash(size_t buckets) {
    std::vector<Node*> changed(std::max(buckets, size_));
    for (Links* links = ends_.after; links != &ends_; links = links->after) link(changed, static_cast<Node*>(links));
    buckets_ = std::move(changed);
  }
  void swap(order_preserving_flat_hash_map& other) {
    if (this == &other) return;
    std::swap(ends_, other.ends_);
    std::swap(size_, other.size_);
    attach_ends();
    other.attach_ends();
    buckets_.swap(other.buckets_);
    std::swap(hash_, other.hash_);
    std::swap(equal_, other.equal_);
  }
  friend void swap(order_preserving_flat_hash_map& a, order_preserving_flat_hash_map& b) { a.swap(b); }

  /// The same entries, in any order.
  friend bool operator==(const order_preserving_flat_hash_map& a, const order_preserving_flat_hash_map& b) {
    if (a.size() != b.size()) return false;
    for (const value_type& entry : a) {
      const_iterator found = b.find(entry.first);
      if (found == b.end() || !(found->second == entry.second)) return false;
    }
    return true;
  }
  friend bool operator!=(const order_preserving_flat_hash_map& a, const order_preserving_flat_hash_map& b) { return !(a == b); }

 private:
  Links* locate(const Key& key) const {
    if (!buckets_.empty()) {
      size_t hash = hash_(key);
      for (Node* node = buckets_[hash % buckets_.size()]; node; node = node->next_in_bucket) {
        if (node->hash == hash && equal_(node->entry.first, key)) return node;
      }
    }
    return const_cast<Links*>(&ends_);
  }
  static void link(std::vector<Node*>& buckets, Node* node) {
    Node*& bucket = buckets[node->hash % buckets.size()];
    node->next_in_bucket = std::exchange(bucket, node);
  }
  iterator append(std::unique_ptr<Node> owned) {
    owned->hash = hash_(owned->entry.first);
    if (size_ == buckets_.size()) rehash(size_ < 4 ? 8 : 2 * size_);
    Node* node = owned.release();
    link(buckets_, node);
    node->before = ends_.before;
    node->after = &ends_;
    ends_.before->after = node;
    ends_.before = node;
    ++size_;
    return iterator(node);
  }
  /// The list is a ring through `ends_`, whose address a swap changes.
  void attach_ends() {
    if (size_ == 0) {
      ends_ = {&ends_, &ends_};
      return;
    }
    ends_.after->before = &ends_;
    ends_.before->after = &ends_;
  }

  Links ends_{&ends_, &ends_};
  std::vector<Node*> buckets_;
  size_t size_ = 0;
  // A hash function need not be const.
  mutable Hash hash_;
  mutable Equal equal_;
};

RLT_NAMESPACE_END
}  // namespace ska_ordered
