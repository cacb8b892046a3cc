// c10::DimVector: sizes or strides; those of up to five dimensions are within the object.
#pragma once

#include <c10/core/SymInt.h>
#include <c10/core/impl/SizesAndStrides.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

constexpr size_t kDimVectorStaticSize = C10_SIZES_AND_STRIDES_MAX_INLINE_SIZE;
using DimVector = SmallVector<int64_t, kDimVectorStaticSize>;
using SymDimVector = SmallVector<SymInt, kDimVectorStaticSize>;

RLT_NAMESPACE_END
}  // namespace c10
