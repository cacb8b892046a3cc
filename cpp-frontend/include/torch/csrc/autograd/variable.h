// The autograd metadata of a tensor, and autograd itself.
#pragma once

#include <c10/core/TensorImpl.h>
#include <torch/csrc/autograd/public.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

/// The mode in which a view was created: some modes do not allow in-place writes to it.
enum class CreationMeta : uint8_t {
  DEFAULT = RLT_VIEW_FREE,
  IN_CUSTOM_FUNCTION = RLT_VIEW_OF_CUSTOM_FUNCTION,
  MULTI_OUTPUT_NODE = RLT_VIEW_OF_SEVERAL,
  NO_GRAD_MODE = RLT_VIEW_OF_NO_GRAD,
  INFERENCE_MODE = RLT_VIEW_OF_INFERENCE
};

/// The pointee of TensorImpl::autograd_meta for a view.
struct DifferentiableViewMeta : c10::AutogradMetaInterface {
  bool has_bw_view() const {
    int32_t view = 0;
    rlt::check(rlt_tensor_is_view(reinterpret_cast<const rlt_tensor*>(this), &view));
    return view != 0;
  }
  CreationMeta get_creation_meta() const {
    int32_t restriction = 0;
    rlt::check(rlt_tensor_view_restriction(reinterpret_cast<const rlt_tensor*>(this), &restriction));
    return static_cast<CreationMeta>(restriction);
  }
};

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
