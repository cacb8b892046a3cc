// Iterator over batches, each loaded when it is dereferenced.
#pragma once

#include <c10/util/Exception.h>

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace detail {

template <class Batch>
struct ValidIterator;
template <class Batch>
struct SentinelIterator;

template <class Batch>
struct IteratorImpl {
  virtual ~IteratorImpl() = default;
  virtual void next() = 0;
  virtual Batch& get() = 0;
  virtual bool operator==(const IteratorImpl& other) const = 0;
  virtual bool operator==(const ValidIterator<Batch>& other) const = 0;
  virtual bool operator==(const SentinelIterator<Batch>& other) const = 0;
};

/// Points to a batch until there is none left.
template <class Batch>
struct ValidIterator : public IteratorImpl<Batch> {
  using BatchProducer = std::function<std::optional<Batch>()>;
  explicit ValidIterator(BatchProducer next_batch) : next_batch_(std::move(next_batch)) {}

  void next() override {
    begin();
    TORCH_CHECK(batch_.has_value(), "Attempted to increment iterator past the end");
    batch_ = next_batch_();
  }
  Batch& get() override {
    begin();
    TORCH_CHECK(batch_.has_value(), "Attempted to dereference iterator that was past the end");
    return *batch_;
  }
  bool operator==(const IteratorImpl<Batch>& other) const override { return other == *this; }
  bool operator==(const ValidIterator<Batch>& other) const override { return &other == this; }
  bool operator==(const SentinelIterator<Batch>&) const override {
    begin();
    return !batch_;
  }

 private:
  void begin() const {
    if (begun_) return;
    batch_ = next_batch_();
    begun_ = true;
  }

  BatchProducer next_batch_;
  mutable std::optional<Batch> batch_;
  mutable bool begun_ = false;
};

/// The end.
template <class Batch>
struct SentinelIterator : public IteratorImpl<Batch> {
  void next() override { rlt::raise<Error>("Incrementing the DataLoader's past-the-end iterator is not allowed"); }
  Batch& get() override { rlt::raise<Error>("Dereferencing the DataLoader's past-the-end iterator is not allowed"); }
  bool operator==(const IteratorImpl<Batch>& other) const override { return other == *this; }
  bool operator==(const ValidIterator<Batch>& other) const override { return other == *this; }
  bool operator==(const SentinelIterator<Batch>&) const override { return true; }
};

}  // namespace detail

template <class Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  explicit Iterator(std::unique_ptr<detail::IteratorImpl<Batch>> impl) : impl_(std::move(impl)) {}
  Iterator& operator++() { return impl_->next(), *this; }
  Batch& operator*() { return impl_->get(); }
  Batch* operator->() { return &impl_->get(); }
  bool operator==(const Iterator& other) const { return *impl_ == *other.impl_; }
  bool operator!=(const Iterator& other) const { return !(*this == other); }

 private:
  // Copies share their position.
  std::shared_ptr<detail::IteratorImpl<Batch>> impl_;
};

}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
