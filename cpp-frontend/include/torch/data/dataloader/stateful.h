// StatefulDataLoader: the dataset chooses the next batch; all workers share it.
#pragma once

#include <torch/data/dataloader/base.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {

template <class Dataset>
class StatefulDataLoader
    : public DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType> {
 public:
  using super = DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType>;
  using typename super::BatchRequestType;

  StatefulDataLoader(Dataset dataset, DataLoaderOptions options) : super(options, std::make_unique<Dataset>(std::move(dataset))) {
    for (size_t i = 0; i < this->options_.workers; ++i) {
      this->workers_.emplace_back([this] { this->worker_thread(*this->main_thread_dataset_); });
    }
  }

 private:
  void reset() override {
    this->main_thread_dataset_->reset();
    super::reset();
  }
  std::optional<BatchRequestType> get_batch_request() override { return this->options_.batch_size; }
};

}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
