// c10::maybe_wrap_dim: a dimension that may be negative, counted from the end, as an index.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// A scalar has the dimensions 0 and -1 unless `wrap_scalar` is false.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t ndim, bool wrap_scalar = true) {
  TORCH_CHECK_INDEX(ndim >= 0, "Rank cannot be negative but got ", ndim);
  TORCH_CHECK_INDEX(ndim > 0 || wrap_scalar, "Dimension specified as ", dim, " but tensor has no dimensions");
  int64_t count = ndim > 0 ? ndim : 1;
  TORCH_CHECK_INDEX(dim >= -count && dim < count, "Dimension out of range (expected to be in range of [", -count, ", ", count - 1, "], but got ", dim,
                    ")");
  return dim < 0 ? dim + count : dim;
}

RLT_NAMESPACE_END
}  // namespace c10
