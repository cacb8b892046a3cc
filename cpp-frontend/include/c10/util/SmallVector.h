// c10::SmallVector: a vector whose first elements are within the object itself, without an allocation.
#pragma once

#include <c10/util/Exception.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <ostream>
#include <type_traits>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// A SmallVector without the number of elements within it: what functions take as a parameter.
template <class T>
class SmallVectorImpl {
  template <class Iterator>
  using if_input_iterator = std::enable_if_t<
      std::is_convertible_v<typename std::iterator_traits<Iterator>::iterator_category, std::input_iterator_tag> ||
      std::is_same_v<typename std::iterator_traits<Iterator>::iterator_category, std::output_iterator_tag>>;

 public:
  using value_type = T;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;

  SmallVectorImpl(const SmallVectorImpl&) = delete;

  iterator begin() { return data_; }
  const_iterator begin() const { return data_; }
  const_iterator cbegin() const { return data_; }
  iterator end() { return data_ + size_; }
  const_iterator end() const { return data_ + size_; }
  const_iterator cend() const { return data_ + size_; }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }

  size_t size() const { return size_; }
  size_type max_size() const { return std::numeric_limits<difference_type>::max() / sizeof(T); }
  size_t size_in_bytes() const { return size_ * sizeof(T); }
  size_t capacity() const { return capacity_; }
  size_t capacity_in_bytes() const { return capacity_ * sizeof(T); }
  bool empty() const { return size_ == 0; }
  pointer data() { return data_; }
  const_pointer data() const { return data_; }
  reference operator[](size_type index) {
    assert(index < size_);
    return data_[index];
  }
  const_reference operator[](size_type index) const {
    assert(index < size_);
    return data_[index];
  }
  reference at(size_type index) {
    check_index(index);
    return data_[index];
  }
  const_reference at(size_type index) const {
    check_index(index);
    return data_[index];
  }
  reference front() { return (*this)[0]; }
  const_reference front() const { return (*this)[0]; }
  reference back() { return (*this)[size_ - 1]; }
  const_reference back() const { return (*this)[size_ - 1]; }

  void clear() { truncate(0); }
  void truncate(size_t count) {
    assert(count <= size_);
    std::destroy(data_ + count, data_ + size_);
    size_ = count;
  }
  void reserve(size_type count) {
    if (count > capacity_) Growth(*this, count).finish(size_);
  }
  void resize(size_type count) {
    if (count <= size_) return truncate(count);
    reserve(count);
    std::uninitialized_value_construct(data_ + size_, data_ + count);
    size_ = count;
  }
  /// New elements of simple types are not initialized.
  void resize_for_overwrite(size_type count) {
    if (count <= size_) return truncate(count);
    reserve(count);
    std::uninitialized_default_construct(data_ + size_, data_ + count);
    size_ = count;
  }
  void resize(size_type count, const T& value) {
    if (count <= size_) return truncate(count);
    append(count - size_, value);
  }

  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  /// The arguments may be elements of this vector.
  template <class... Args>
  reference emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      Growth growth(*this, size_ + 1);
      ::new (static_cast<void*>(growth.data + size_)) T(std::forward<Args>(args)...);
      growth.finish(size_);
    } else {
      ::new (static_cast<void*>(data_ + size_)) T(std::forward<Args>(args)...);
    }
    ++size_;
    return back();
  }
  void pop_back() { truncate(size_ - 1); }
  void pop_back_n(size_type count) { truncate(size_ - count); }
  T pop_back_val() {
    T value = std::move(back());
    pop_back();
    return value;
  }

  void append(size_type count, const T& value) {
    if (count > capacity_ - size_) {
      Growth growth(*this, size_ + count);
      std::uninitialized_fill_n(growth.data + size_, count, value);
      growth.finish(size_);
    } else {
      std::uninitialized_fill_n(data_ + size_, count, value);
    }
    size_ += count;
  }
  template <class Iterator, class = if_input_iterator<Iterator>>
  void append(Iterator first, Iterator last) {
    if constexpr (is_forward<Iterator>) {
      size_type count = static_cast<size_type>(std::distance(first, last));
      check_range_is_valid(first, last, size_ + count);
      reserve(size_ + count);
      std::uninitialized_copy(first, last, data_ + size_);
      size_ += count;
    } else if constexpr (is_output<Iterator>) {
      // It has no end to compare with: two iterators are a count and a value.
      append(static_cast<size_type>(static_cast<int>(first)), static_cast<T>(last));
    } else {
      for (; first != last; ++first) emplace_back(*first);
    }
  }
  void append(std::initializer_list<T> items) { append(items.begin(), items.end()); }
  void append(const SmallVectorImpl& other) { append(other.begin(), other.end()); }

  void assign(size_type count, const T& value) {
    if (count > capacity_) {
      Growth growth(*this, count);
      std::uninitialized_fill_n(growth.data, count, value);
      clear();
      growth.finish(0);
    } else {
      std::fill_n(data_, std::min(count, size_), value);
      if (count > size_) std::uninitialized_fill_n(data_ + size_, count - size_, value);
      else std::destroy(data_ + count, data_ + size_);
    }
    size_ = count;
  }
  template <class Iterator, class = if_input_iterator<Iterator>>
  void assign(Iterator first, Iterator last) {
    check_range_is_valid(first, last, 0);
    clear();
    append(first, last);
  }
  void assign(std::initializer_list<T> items) { assign(items.begin(), items.end()); }
  void assign(const SmallVectorImpl& other) {
    if (this != &other) assign(other.begin(), other.end());
  }

  iterator erase(const_iterator position) { return erase(position, position + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    assert(begin() <= first && first <= last && last <= end());
    iterator target = data_ + (first - data_);
    iterator rest = std::move(data_ + (last - data_), end(), target);
    truncate(static_cast<size_type>(rest - data_));
    return target;
  }

  iterator insert(iterator position, T&& value) { return insert_one(position, std::move(value)); }
  iterator insert(iterator position, const T& value) { return insert_one(position, value); }
  iterator insert(iterator position, size_type count, const T& value) {
    if (count == 0) return position;
    size_t index = index_of(position);
    if (index == size_) {
      append(count, value);
      return data_ + index;
    }
    bool internal = references_element(value);
    if (!internal) return insert_gap(index, count, [&](T* gap, size_t assigned) {
      std::fill_n(gap, assigned, value);
      std::uninitialized_fill_n(gap + assigned, count - assigned, value);
    });
    T copy(value);
    return insert_gap(index, count, [&](T* gap, size_t assigned) {
      std::fill_n(gap, assigned, copy);
      std::uninitialized_fill_n(gap + assigned, count - assigned, copy);
    });
  }
  template <class Iterator, class = if_input_iterator<Iterator>>
  iterator insert(iterator position, Iterator first, Iterator last) {
    size_t index = index_of(position);
    size_t count = static_cast<size_t>(std::distance(first, last));
    if (count == 0) return position;
    check_range_is_valid(first, last, size_ + count);
    if (index == size_) {
      append(first, last);
      return data_ + index;
    }
    return insert_gap(index, count, [&](T* gap, size_t assigned) {
      Iterator middle = std::next(first, static_cast<std::ptrdiff_t>(assigned));
      std::copy(first, middle, gap);
      std::uninitialized_copy(middle, last, gap + assigned);
    });
  }
  void insert(iterator position, std::initializer_list<T> items) { insert(position, items.begin(), items.end()); }

  void swap(SmallVectorImpl& other) {
    if (this == &other) return;
    if (!is_small() && !other.is_small()) {
      std::swap(data_, other.data_);
      std::swap(size_, other.size_);
      std::swap(capacity_, other.capacity_);
      return;
    }
    reserve(other.size_);
    other.reserve(size_);
    SmallVectorImpl& longer = size_ > other.size_ ? *this : other;
    SmallVectorImpl& shorter = size_ > other.size_ ? other : *this;
    size_t shared = shorter.size_;
    std::swap_ranges(shorter.begin(), shorter.end(), longer.begin());
    shorter.take_elements(longer.data_ + shared, longer.data_ + longer.size_);
    longer.truncate(shared);
  }

  SmallVectorImpl& operator=(const SmallVectorImpl& other) {
    if (this == &other) return *this;
    if (other.size_ > capacity_) {
      clear();
      append(other.begin(), other.end());
      return *this;
    }
    size_t shared = std::min(size_, other.size_);
    std::copy_n(other.begin(), shared, begin());
    truncate(shared);
    append(other.begin() + shared, other.end());
    return *this;
  }
  SmallVectorImpl& operator=(SmallVectorImpl&& other) {
    if (this == &other) return *this;
    if (!other.is_small()) {
      clear();
      free_memory();
      data_ = std::exchange(other.data_, other.inline_data());
      size_ = std::exchange(other.size_, 0);
      // The inline elements of `other` stay unused: their number is not known here.
      capacity_ = std::exchange(other.capacity_, 0);
      return *this;
    }
    if (other.size_ > capacity_) clear();
    reserve(other.size_);
    size_t shared = std::min(size_, other.size_);
    std::move(other.begin(), other.begin() + shared, begin());
    truncate(shared);
    take_elements(other.begin() + shared, other.end());
    other.clear();
    return *this;
  }

  friend bool operator==(const SmallVectorImpl& a, const SmallVectorImpl& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  }
  friend bool operator!=(const SmallVectorImpl& a, const SmallVectorImpl& b) { return !(a == b); }
  friend bool operator<(const SmallVectorImpl& a, const SmallVectorImpl& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
  friend std::ostream& operator<<(std::ostream& out, const SmallVectorImpl& items) {
    const char* separator = "";
    out << "[";
    for (const T& item : items) {
      out << separator << item;
      separator = ", ";
    }
    return out << "]";
  }

 protected:
  explicit SmallVectorImpl(size_t inline_capacity) : data_(inline_data()), capacity_(inline_capacity) {}
  ~SmallVectorImpl() {
    std::destroy(begin(), end());
    free_memory();
  }
  bool is_small() const { return data_ == inline_data(); }

 private:
  /// The position of the elements within a SmallVector, which follow the members of this class.
  struct Layout {
    T* data;
    size_t size;
    size_t capacity;
    alignas(T) unsigned char first[sizeof(T)];
  };
  T* inline_data() const {
    auto address = reinterpret_cast<uintptr_t>(this) + offsetof(Layout, first);
    return reinterpret_cast<T*>(address);
  }

  template <class Iterator>
  static constexpr bool is_forward =
      std::is_convertible_v<typename std::iterator_traits<Iterator>::iterator_category, std::forward_iterator_tag>;
  template <class Iterator>
  static constexpr bool is_output =
      std::is_same_v<typename std::iterator_traits<Iterator>::iterator_category, std::output_iterator_tag>;

  /// Larger memory for the elements; `finish` moves them over. The old ones are valid until then.
  struct Growth {
    Growth(SmallVectorImpl& owner, size_t least) : vector(owner) {
      if (least > owner.max_size()) rlt::raise<Error>("SmallVector: the capacity " + std::to_string(least) + " exceeds the maximum size");
      size_t doubled = owner.capacity_ < owner.max_size() / 2 ? 2 * owner.capacity_ + 1 : owner.max_size();
      capacity = std::max(doubled, least);
      data = std::allocator<T>().allocate(capacity);
    }
    Growth(const Growth&) = delete;
    Growth& operator=(const Growth&) = delete;
    ~Growth() {
      if (data) std::allocator<T>().deallocate(data, capacity);
    }
    void finish(size_t moved) {
      std::uninitialized_move(vector.data_, vector.data_ + moved, data);
      std::destroy(vector.data_, vector.data_ + moved);
      vector.free_memory();
      vector.data_ = std::exchange(data, nullptr);
      vector.capacity_ = capacity;
    }

    SmallVectorImpl& vector;
    size_t capacity;
    T* data;
  };

  void free_memory() {
    if (!is_small()) std::allocator<T>().deallocate(data_, capacity_);
  }
  void take_elements(T* first, T* last) {
    std::uninitialized_move(first, last, data_ + size_);
    size_ += static_cast<size_t>(last - first);
  }
  bool references_element(const T& value) const {
    return !std::less<const T*>()(&value, begin()) && std::less<const T*>()(&value, end());
  }
  size_t index_of(const_iterator position) const {
    assert(begin() <= position && position <= end());
    return static_cast<size_t>(position - begin());
  }
  /// A range of this vector's elements is invalid input if the vector changes before the range is read.
  template <class Iterator>
  void check_range_is_valid([[maybe_unused]] Iterator first, [[maybe_unused]] Iterator last, [[maybe_unused]] size_t new_size) const {
    if constexpr (std::is_pointer_v<Iterator> && std::is_same_v<std::remove_cv_t<std::remove_pointer_t<Iterator>>, T>) {
      assert((first == last || (new_size != 0 && new_size <= capacity_) || !references_element(*first)) &&
             "Attempting to reference an element of the vector in an operation "
             "that invalidates it");
    }
  }

  template <class Value>
  iterator insert_one(iterator position, Value&& value) {
    size_t index = index_of(position);
    if (index == size_) {
      emplace_back(std::forward<Value>(value));
      return data_ + index;
    }
    auto* source = const_cast<T*>(&value);
    size_t source_index = references_element(value) ? static_cast<size_t>(source - data_) : size_;
    bool internal = source_index < size_;
    reserve(size_ + 1);
    ::new (static_cast<void*>(data_ + size_)) T(std::move(back()));
    std::move_backward(data_ + index, data_ + size_ - 1, data_ + size_);
    ++size_;
    // The value moved up with the elements from the position on.
    if (internal) source = data_ + source_index + (source_index >= index ? 1 : 0);
    if constexpr (std::is_rvalue_reference_v<Value&&>) data_[index] = std::move(*source);
    else data_[index] = *source;
    return data_ + index;
  }

  /// Makes a gap of `count` elements before the last ones. `fill` assigns to the first `assigned` of them and constructs the others.
  template <class Fill>
  iterator insert_gap(size_t index, size_t count, const Fill& fill) {
    reserve(size_ + count);
    T* gap = data_ + index;
    T* old_end = end();
    size_t after = size_ - index;
    if (after >= count) {
      std::uninitialized_move(old_end - count, old_end, old_end);
      std::move_backward(gap, old_end - count, old_end);
      fill(gap, count);
    } else {
      std::uninitialized_move(gap, old_end, gap + count);
      fill(gap, after);
    }
    size_ += count;
    return data_ + index;
  }

  RLT_COLD void check_index(size_type index) const {
    if (index >= size_) {
      rlt::raise<rlt::RangeError>("SmallVector: invalid index " + std::to_string(index) + " of " + std::to_string(size_) + " elements");
    }
  }

  T* data_;
  size_t size_ = 0;
  size_t capacity_;
};

/// As many elements as 64 bytes hold besides the vector's own members, and at least one.
template <class T>
struct CalculateSmallVectorDefaultInlinedElements {
  static_assert(sizeof(T) <= 256, "SmallVector<T>: give the number of inline elements of so large a type");
  static constexpr size_t own = sizeof(void*) + 2 * sizeof(size_t);
  static constexpr size_t fitting = (64 - own) / sizeof(T);
  static constexpr unsigned value = fitting == 0 ? 1 : static_cast<unsigned>(fitting);
};

template <class T, unsigned N>
struct SmallVectorStorage {
  alignas(T) unsigned char elements_[N * sizeof(T)];
};
// The address of the elements is within the object, so that no allocation has it.
template <class T>
struct SmallVectorStorage<T, 0> {
  alignas(T) unsigned char unused_[1];
};

template <class T, unsigned N = CalculateSmallVectorDefaultInlinedElements<T>::value>
class SmallVector : public SmallVectorImpl<T>, SmallVectorStorage<T, N> {
  using Base = SmallVectorImpl<T>;

 public:
  SmallVector() : Base(N) {}
  explicit SmallVector(size_t count, const T& value = T()) : Base(N) { this->assign(count, value); }
  template <class Iterator, class = std::enable_if_t<std::is_convertible_v<typename std::iterator_traits<Iterator>::iterator_category,
                                                                           std::input_iterator_tag>>>
  SmallVector(Iterator first, Iterator last) : Base(N) {
    this->append(first, last);
  }
  template <class Container,
            class = std::enable_if_t<std::is_convertible_v<typename std::iterator_traits<decltype(std::declval<Container>().begin())>::iterator_category,
                                                           std::input_iterator_tag> &&
                                     !std::is_base_of_v<Base, std::decay_t<Container>>>>
  explicit SmallVector(Container&& items) : Base(N) {
    this->append(items.begin(), items.end());
  }
  SmallVector(std::initializer_list<T> items) : Base(N) { this->append(items); }
  SmallVector(const SmallVector& other) : Base(N) { this->append(other); }
  SmallVector(SmallVector&& other) : Base(N) { Base::operator=(static_cast<Base&&>(other)); }
  SmallVector(Base&& other) : Base(N) { Base::operator=(std::move(other)); }
  ~SmallVector() = default;

  SmallVector& operator=(const SmallVector& other) {
    Base::operator=(other);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) {
    Base::operator=(static_cast<Base&&>(other));
    return *this;
  }
  SmallVector& operator=(Base&& other) {
    Base::operator=(std::move(other));
    return *this;
  }
  SmallVector& operator=(std::initializer_list<T> items) {
    this->assign(items);
    return *this;
  }
};

RLT_NAMESPACE_END
}  // namespace c10

namespace std {
template <class T>
void swap(c10::SmallVectorImpl<T>& a, c10::SmallVectorImpl<T>& b) {
  a.swap(b);
}
template <class T, unsigned N>
void swap(c10::SmallVector<T, N>& a, c10::SmallVector<T, N>& b) {
  a.swap(b);
}
}  // namespace std
