// TensorImpl: what Tensor::unsafeGetTensorImpl points to. It is the C handle under libtorch's name, and never made or freed.
#pragma once

#include <c10/util/Exception.h>
#include <rushlight/autograd.h>
#include <rushlight/tensor.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// Base of what autograd knows about a tensor.
struct AutogradMetaInterface {};

/// How often a tensor was written in place. Tensors made in inference mode do not know.
class VariableVersion {
 public:
  explicit VariableVersion(const rlt_tensor* tensor) noexcept : tensor_(tensor) {}
  uint32_t current_version() const {
    int64_t version = 0;
    rlt::check(rlt_tensor_version(tensor_, &version));
    return static_cast<uint32_t>(version);
  }
  void bump() const { rlt::check(rlt_tensor_bump_version(tensor_)); }

 private:
  const rlt_tensor* tensor_;
};

class TensorImpl {
 public:
  TensorImpl() = delete;
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;

  const rlt_tensor* handle() const noexcept { return reinterpret_cast<const rlt_tensor*>(this); }
  /// Counts writes in place.
  VariableVersion version_counter() const noexcept { return VariableVersion(handle()); }
  void bump_version() const { rlt::check(rlt_tensor_bump_version(handle())); }
  /// For tensors that require gradients and for views; otherwise nullptr.
  AutogradMetaInterface* autograd_meta() const {
    int32_t requires_grad = 0, view = 0;
    rlt::check(rlt_tensor_requires_grad(handle(), &requires_grad));
    rlt::check(rlt_tensor_is_view(handle(), &view));
    if (!requires_grad && !view) return nullptr;
    return reinterpret_cast<AutogradMetaInterface*>(const_cast<TensorImpl*>(this));
  }
};

RLT_NAMESPACE_END
}  // namespace c10
