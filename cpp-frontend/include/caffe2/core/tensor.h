// caffe2::Tensor: the tensor of Caffe2's programs. It shares its memory with the at::Tensor that it was created from.
#pragma once

#include <ATen/Functions.h>

namespace caffe2 {
RLT_NAMESPACE_BEGIN

class Tensor final {
 public:
  Tensor() = default;
  explicit Tensor(at::Tensor tensor) : tensor_(std::move(tensor)) {
    TORCH_CHECK(!tensor_.defined() || tensor_.layout() == at::kStrided, "caffe2::Tensor requires a strided tensor");
  }
  explicit operator at::Tensor() const& { return tensor_; }
  explicit operator at::Tensor() && { return std::move(tensor_); }

  bool defined() const { return tensor_.defined(); }
  explicit operator bool() const { return defined(); }
  int64_t dim() const { return tensor_.dim(); }
  at::IntArrayRef sizes() const { return tensor_.sizes(); }
  int64_t size(int64_t dim) const { return tensor_.size(dim); }
  int64_t numel() const { return tensor_.numel(); }
  at::DeviceType GetDeviceType() const { return tensor_.device().type(); }
  bool is_contiguous() const { return tensor_.is_contiguous(); }
  template <class T>
  const T* data() const {
    return tensor_.data_ptr<T>();
  }
  template <class T>
  T* mutable_data() {
    return tensor_.data_ptr<T>();
  }
  /// A copy of the elements.
  Tensor Clone() const { return Tensor(tensor_.clone()); }
  /// The same memory.
  Tensor Alias() const { return *this; }

 private:
  at::Tensor tensor_;
};

RLT_NAMESPACE_END
}  // namespace caffe2
