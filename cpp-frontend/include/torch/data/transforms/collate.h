// Collation: transforms that combine the examples of a batch.
#pragma once

#include <torch/data/example.h>
#include <torch/data/transforms/lambda.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace transforms {

template <class T, class BatchType = std::vector<T>>
using Collation = BatchTransform<BatchType, T>;
template <class T, class BatchType = std::vector<T>>
using Collate = BatchLambda<BatchType, T>;

}  // namespace transforms
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
