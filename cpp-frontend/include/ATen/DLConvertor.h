// Exchange of tensors with other libraries by DLPack.
#pragma once

#include <ATen/Functions.h>
#include <ATen/dlpack.h>
#include <rushlight/dlpack.h>

#include <functional>

namespace at {
RLT_NAMESPACE_BEGIN

/// The struct shares the tensor's memory; its consumer calls its deleter.
inline DLManagedTensor* toDLPack(const Tensor& tensor) {
  DLManagedTensor* managed = nullptr;
  rlt::check(rlt_tensor_to_dlpack_legacy(tensor.handle(), &managed));
  return managed;
}
/// A tensor over the memory of another library. It takes ownership of the struct.
inline Tensor fromDLPack(DLManagedTensor* managed) {
  rlt_tensor* tensor = nullptr;
  rlt::check(rlt_tensor_from_dlpack_legacy(managed, &tensor));
  return Tensor(tensor);
}
/// Calls `deleter` with the struct instead of the struct's own deleter.
inline Tensor fromDLPack(DLManagedTensor* managed, std::function<void(void*)> deleter) {
  // The struct's context leads back to the caller's deleter.
  struct Wrapped {
    DLManagedTensor own;
    DLManagedTensor* managed;
    std::function<void(void*)> deleter;
  };
  auto wrapped = std::make_unique<Wrapped>(Wrapped{*managed, managed, std::move(deleter)});
  wrapped->own.manager_ctx = wrapped.get();
  wrapped->own.deleter = [](DLManagedTensor* own) {
    std::unique_ptr<Wrapped> owner(static_cast<Wrapped*>(own->manager_ctx));
    owner->deleter(owner->managed);
  };
  Tensor result = fromDLPack(&wrapped->own);
  wrapped.release();
  return result;
}

inline DLDataType getDLDataType(const Tensor& tensor) {
  DLManagedTensor* managed = toDLPack(tensor.detach());
  DLDataType dtype = managed->dl_tensor.dtype;
  managed->deleter(managed);
  return dtype;
}

RLT_NAMESPACE_END
}  // namespace at
