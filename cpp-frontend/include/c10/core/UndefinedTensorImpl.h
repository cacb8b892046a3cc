// UndefinedTensorImpl: the pointee of an undefined tensor.
#pragma once

#include <c10/core/TensorImpl.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

struct UndefinedTensorImpl {
  /// `Tensor::unsafeGetTensorImpl` returns this for an undefined tensor.
  static constexpr TensorImpl* singleton() { return nullptr; }
};

RLT_NAMESPACE_END
}  // namespace c10
