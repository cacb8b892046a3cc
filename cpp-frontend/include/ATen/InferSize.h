// at::infer_size: the size that -1 stands for in a list of sizes.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>

#include <optional>
#include <vector>

namespace at {
RLT_NAMESPACE_BEGIN

/// Writes the sizes to `result`, which has as many.
template <class Result>
void infer_size_impl(IntArrayRef shape, int64_t numel, Result& result) {
  int64_t known = 1;
  std::optional<size_t> inferred;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      TORCH_CHECK(!inferred, "only one dimension can be inferred");
      inferred = i;
    } else {
      TORCH_CHECK(shape[i] >= 0, "invalid shape dimension ", shape[i], " at index ", i, " of shape ", shape);
      known *= shape[i];
    }
  }
  TORCH_CHECK(inferred ? known == 0 ? numel == 0 : numel % known == 0 : numel == known, "shape '", shape, "' is invalid for input of size ", numel);
  if (!inferred) return;
  TORCH_CHECK(known != 0, "cannot reshape tensor of 0 elements into shape ", shape, " because the unspecified dimension size -1 can be any value and is ambiguous");
  result[*inferred] = numel / known;
}
inline std::vector<int64_t> infer_size(IntArrayRef shape, int64_t numel) {
  std::vector<int64_t> result = shape.vec();
  infer_size_impl(shape, numel, result);
  return result;
}
inline DimVector infer_size_dv(IntArrayRef shape, int64_t numel) {
  DimVector result(shape.begin(), shape.end());
  infer_size_impl(shape, numel, result);
  return result;
}

RLT_NAMESPACE_END
}  // namespace at
