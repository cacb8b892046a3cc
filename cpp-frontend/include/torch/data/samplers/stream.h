// StreamSampler: requests a number of examples, without choosing them.
#pragma once

#include <torch/data/samplers/base.h>
#include <torch/data/samplers/custom_batch_request.h>

#include <algorithm>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace samplers {

/// A request for a number of examples.
struct BatchSize : public CustomBatchRequest {
  explicit BatchSize(size_t size) : size_(size) {}
  size_t size() const noexcept override { return size_; }
  operator size_t() const noexcept { return size_; }
  size_t size_;
};

namespace detail {
/// StreamSampler. (A template, so that only programs that instantiate one compile it.)
template <class Request>
class StreamSamplerOf : public Sampler<Request> {
 public:
  explicit StreamSamplerOf(size_t epoch_size) : epoch_size_(epoch_size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override {
    epoch_size_ = new_size.value_or(epoch_size_);
    retrieved_ = 0;
  }
  std::optional<Request> next(size_t batch_size) override {
    if (retrieved_ >= epoch_size_) return std::nullopt;
    const size_t count = std::min(batch_size, epoch_size_ - retrieved_);
    retrieved_ += count;
    return Request(count);
  }
  void save(serialize::OutputArchive& archive) const override { write_place(archive, "examples_retrieved_so_far", retrieved_); }
  void load(serialize::InputArchive& archive) override { retrieved_ = read_place(archive, "examples_retrieved_so_far"); }

 private:
  size_t retrieved_ = 0;
  size_t epoch_size_;
};
}  // namespace detail

class StreamSampler : public detail::StreamSamplerOf<BatchSize> {
 public:
  using StreamSamplerOf::StreamSamplerOf;
};

}  // namespace samplers
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
