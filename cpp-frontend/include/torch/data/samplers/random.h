// RandomSampler: every index once, in random order.
#pragma once

#include <torch/data/samplers/base.h>

#include <algorithm>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace samplers {

namespace detail {
/// RandomSampler. (A template, so that only programs that instantiate one compile it.)
template <class Request>
class RandomSamplerOf : public Sampler<Request> {
 public:
  explicit RandomSamplerOf(int64_t size, Dtype index_dtype = kLong) : indices_(torch::randperm(size, index_dtype)) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override {
    indices_ = torch::randperm(new_size ? static_cast<int64_t>(*new_size) : indices_.numel(), indices_.options());
    index_ = 0;
  }
  std::optional<Request> next(size_t batch_size) override {
    const int64_t left = indices_.numel() - index_;
    if (left <= 0) return std::nullopt;
    const int64_t count = std::min(static_cast<int64_t>(batch_size), left);
    Tensor part = indices_.narrow(0, index_, count).to(kLong);
    const int64_t* data = part.const_data_ptr<int64_t>();
    index_ += count;
    return Request(data, data + count);
  }
  void save(serialize::OutputArchive& archive) const override {
    write_place(archive, "index", index());
    archive.write("indices", indices_, /*is_buffer=*/true);
  }
  void load(serialize::InputArchive& archive) override {
    index_ = static_cast<int64_t>(read_place(archive, "index"));
    archive.read("indices", indices_, /*is_buffer=*/true);
  }
  size_t index() const noexcept { return static_cast<size_t>(index_); }

 private:
  Tensor indices_;
  int64_t index_ = 0;
};
}  // namespace detail

class RandomSampler : public detail::RandomSamplerOf<std::vector<size_t>> {
 public:
  using RandomSamplerOf::RandomSamplerOf;
};

}  // namespace samplers
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
