// MapDataset: a dataset with a transform.
#pragma once

#include <torch/data/datasets/base.h>

#include <type_traits>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace datasets {

namespace detail {
template <bool optional, class T>
using optional_if_t = std::conditional_t<optional, std::optional<T>, T>;
}

template <class Source, class Transform>
class MapDataset : public BatchDataset<MapDataset<Source, Transform>, detail::optional_if_t<Source::is_stateful, typename Transform::OutputBatchType>,
                                       typename Source::BatchRequestType> {
 public:
  using DatasetType = Source;
  using TransformType = Transform;
  using BatchRequestType = typename Source::BatchRequestType;
  using OutputBatchType = detail::optional_if_t<Source::is_stateful, typename Transform::OutputBatchType>;

  MapDataset(DatasetType dataset, TransformType transform) : dataset_(std::move(dataset)), transform_(std::move(transform)) {}
  OutputBatchType get_batch(BatchRequestType request) override {
    if constexpr (Source::is_stateful) {
      if (auto batch = dataset_.get_batch(std::move(request))) return transform_.apply_batch(std::move(*batch));
      return std::nullopt;
    } else {
      return transform_.apply_batch(dataset_.get_batch(std::move(request)));
    }
  }
  std::optional<size_t> size() const noexcept override { return dataset_.size(); }
  /// Begins an epoch of a dataset that ends by itself.
  void reset() { dataset_.reset(); }
  const Source& dataset() noexcept { return dataset_; }
  const Transform& transform() noexcept { return transform_; }

 private:
  Source dataset_;
  Transform transform_;
};

template <class DatasetType, class TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform) {
  return {std::move(dataset), std::move(transform)};
}

}  // namespace datasets
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
