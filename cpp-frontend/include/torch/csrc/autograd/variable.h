// What autograd knows about a tensor, and autograd itself.
#pragma once

#include <c10/core/TensorImpl.h>
#include <torch/autograd.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

/// How a view was made: some ways forbid to write through it.
enum class CreationMeta : uint8_t { DEFAULT, IN_CUSTOM_FUNCTION, MULTI_OUTPUT_NODE, NO_GRAD_MODE, INFERENCE_MODE };

/// What TensorImpl::autograd_meta points to for a view.
struct DifferentiableViewMeta : c10::AutogradMetaInterface {
  bool has_bw_view() const {
    int32_t view = 0;
    rlt::check(rlt_tensor_is_view(reinterpret_cast<const rlt_tensor*>(this), &view));
    return view != 0;
  }
  /// The library keeps it to itself: what is forbidden is an error when it is done.
  CreationMeta get_creation_meta() const { rlt::raise<NotImplementedError>("get_creation_meta is not implemented"); }
};

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
