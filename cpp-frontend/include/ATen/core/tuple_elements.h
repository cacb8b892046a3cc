// c10::ivalue::TupleElements: the values of a tuple.
#pragma once

#include <ATen/core/ivalue_all.h>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace ivalue {

class TupleElements {
 public:
  using iterator = std::vector<IValue>::iterator;
  using const_iterator = std::vector<IValue>::const_iterator;

  TupleElements() = default;
  explicit TupleElements(std::vector<IValue> values) : values_(std::move(values)) {}
  explicit TupleElements(c10::ArrayRef<IValue> values) : values_(values.begin(), values.end()) {}
  explicit TupleElements(IValue first) : values_{std::move(first)} {}
  explicit TupleElements(IValue first, IValue second) : values_{std::move(first), std::move(second)} {}
  explicit TupleElements(IValue first, IValue second, IValue third) : values_{std::move(first), std::move(second), std::move(third)} {}

  void setContents(std::vector<IValue>&& values) { values_ = std::move(values); }
  bool empty() const { return values_.empty(); }
  size_t size() const { return values_.size(); }
  IValue& operator[](size_t index) { return values_[index]; }
  const IValue& operator[](size_t index) const { return values_[index]; }
  IValue& at(size_t index) {
    TORCH_CHECK(index < size(), "TupleElements: invalid index ", index, " for ", size(), " elements");
    return values_[index];
  }
  const IValue& at(size_t index) const { return const_cast<TupleElements*>(this)->at(index); }
  IValue& back() { return values_.back(); }
  const IValue& back() const { return values_.back(); }
  iterator begin() { return values_.begin(); }
  iterator end() { return values_.end(); }
  const_iterator begin() const { return values_.begin(); }
  const_iterator end() const { return values_.end(); }
  const_iterator cbegin() const { return values_.begin(); }
  const_iterator cend() const { return values_.end(); }
  std::vector<IValue> vec() const& { return values_; }
  std::vector<IValue> vec() && { return std::move(values_); }
  operator c10::ArrayRef<IValue>() const { return values_; }

 private:
  std::vector<IValue> values_;
};

}  // namespace ivalue
RLT_NAMESPACE_END
}  // namespace c10
