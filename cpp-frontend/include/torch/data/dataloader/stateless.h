// StatelessDataLoader: a sampler chooses the examples, each worker has a copy of the dataset.
#pragma once

#include <torch/data/dataloader/base.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {

template <class Dataset, class Sampler>
class StatelessDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType> {
 public:
  using super = DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType>;
  using typename super::BatchRequestType;

  StatelessDataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options) : super(options), sampler_(std::move(sampler)) {
    if constexpr (std::is_copy_constructible_v<Dataset>) {
      for (size_t i = 0; i < this->options_.workers; ++i) {
        this->workers_.emplace_back([this, dataset]() mutable { this->worker_thread(dataset); });
      }
    } else {
      TORCH_CHECK(this->options_.workers == 0, "Workers need copies of the dataset, which cannot be copied");
    }
    if (this->options_.workers == 0) this->main_thread_dataset_ = std::make_unique<Dataset>(std::move(dataset));
  }

 private:
  void reset() override {
    sampler_.reset(std::nullopt);
    super::reset();
  }
  std::optional<BatchRequestType> get_batch_request() override {
    std::optional<BatchRequestType> request = sampler_.next(this->options_.batch_size);
    if (request && request->size() < this->options_.batch_size && this->options_.drop_last) request.reset();
    return request;
  }

  Sampler sampler_;
};

}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
