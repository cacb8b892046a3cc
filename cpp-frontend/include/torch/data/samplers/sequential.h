// SequentialSampler: 0, 1, 2 and so on.
#pragma once

#include <torch/data/samplers/base.h>

#include <algorithm>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace samplers {

namespace detail {
/// SequentialSampler. (A template, so that only programs that instantiate one compile it.)
template <class Request>
class SequentialSamplerOf : public Sampler<Request> {
 public:
  explicit SequentialSamplerOf(size_t size) : size_(size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override {
    size_ = new_size.value_or(size_);
    index_ = 0;
  }
  std::optional<Request> next(size_t batch_size) override {
    if (index_ >= size_) return std::nullopt;
    Request indices(std::min(batch_size, size_ - index_));
    for (size_t& index : indices) index = index_++;
    return indices;
  }
  void save(serialize::OutputArchive& archive) const override { write_place(archive, "index", index_); }
  void load(serialize::InputArchive& archive) override { index_ = read_place(archive, "index"); }
  size_t index() const noexcept { return index_; }

 private:
  size_t size_;
  size_t index_ = 0;
};
}  // namespace detail

class SequentialSampler : public detail::SequentialSamplerOf<std::vector<size_t>> {
 public:
  using SequentialSamplerOf::SequentialSamplerOf;
};

}  // namespace samplers
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
