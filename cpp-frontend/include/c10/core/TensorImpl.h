// TensorImpl: the pointee of Tensor::unsafeGetTensorImpl. It is the C handle under libtorch's name, and is never
// constructed or freed.
#pragma once

#include <c10/util/intrusive_ptr.h>
#include <rushlight/autograd.h>
#include <rushlight/tensor.h>

#include <memory>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// Base of the autograd metadata of a tensor.
struct AutogradMetaInterface {};

/// The number of in-place writes to a tensor. Tensors created in inference mode do not count them.
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

/// Metadata of custom backends. There are no such backends: setting it is an error.
struct BackendMeta : intrusive_ptr_target {
  virtual intrusive_ptr<BackendMeta> clone(const intrusive_ptr<BackendMeta>& pointer) const { return pointer; }
};

/// Names of dimensions: at::NamedTensorMeta (ATen/core/NamedTensor.h).
struct NamedTensorMetaInterface {
  virtual ~NamedTensorMetaInterface() = default;
  virtual void set_on(const rlt_tensor* tensor) const = 0;
};

class TensorImpl {
 public:
  TensorImpl() = delete;
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;

  const rlt_tensor* handle() const noexcept { return reinterpret_cast<const rlt_tensor*>(this); }
  /// Bumps the version counter.
  VariableVersion version_counter() const noexcept { return VariableVersion(handle()); }
  void bump_version() const { rlt::check(rlt_tensor_bump_version(handle())); }
  BackendMeta* get_backend_meta() const noexcept { return nullptr; }
  intrusive_ptr<BackendMeta> get_backend_meta_intrusive_ptr() const noexcept { return {}; }
  void set_backend_meta(const intrusive_ptr<BackendMeta>&) const { rlt::raise<NotImplementedError>("set_backend_meta is not implemented"); }
  /// Always allowed, as in libtorch: the flag has no effect.
  void set_allow_tensor_metadata_change(bool) const noexcept {}
  bool allow_tensor_metadata_change() const noexcept { return true; }
  void shallow_copy_from(const intrusive_ptr<TensorImpl>&) const { rlt::raise<NotImplementedError>("shallow_copy_from is not implemented"); }
  /// nullptr removes the names.
  RLT_LAZY void set_named_tensor_meta(std::unique_ptr<NamedTensorMetaInterface> names) const {
    const RLT_LATER(std::unique_ptr<NamedTensorMetaInterface>)& given = names;
    if (given) given->set_on(handle());
    else rlt::check(rlt_tensor_set_names(handle(), nullptr, 0));
  }
  /// For tensors that require gradients and for views; otherwise nullptr.
  AutogradMetaInterface* autograd_meta() const {
    int32_t requires_grad = 0, view = 0;
    rlt::check(rlt_tensor_requires_grad(handle(), &requires_grad));
    rlt::check(rlt_tensor_is_view(handle(), &view));
    if (!requires_grad && !view) return nullptr;
    return reinterpret_cast<AutogradMetaInterface*>(const_cast<TensorImpl*>(this));
  }
};

/// A pointer to a TensorImpl owns a reference to the tensor.
template <>
struct IntrusiveCount<TensorImpl> {
  static void retain(TensorImpl* tensor) {
    rlt_tensor* same = nullptr;
    rlt::check(rlt_tensor_retain(tensor->handle(), &same));
  }
  static void release(TensorImpl* tensor) { rlt_tensor_free(const_cast<rlt_tensor*>(tensor->handle())); }
  static size_t count(TensorImpl* tensor) {
    int64_t owners = 0;
    rlt::check(rlt_tensor_use_count(tensor->handle(), &owners));
    return static_cast<size_t>(owners);
  }
};

RLT_NAMESPACE_END
}  // namespace c10
