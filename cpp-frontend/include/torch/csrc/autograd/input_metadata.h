// Metadata that a node has of the tensor whose gradient it receives, and conversion of gradients to it.
#pragma once

#include <torch/csrc/autograd/function_hook.h>

#include <optional>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

/// Shape, dtype and device of a tensor.
struct InputMetadata {
  InputMetadata() = default;
  InputMetadata(const at::TensorOptions& options, at::IntArrayRef shape) : options_(options), shape_(shape.vec()) {}
  explicit InputMetadata(const at::Tensor& tensor) : InputMetadata(tensor.options(), tensor.sizes()) {}

  const at::TensorOptions& options() const { return options_; }
  caffe2::TypeMeta dtype() const { return options_.dtype(); }
  at::Device device() const { return options_.device(); }
  at::IntArrayRef shape_as_dim_vector() const { return shape_; }
  at::Tensor zeros_like() const { return at::zeros(shape_, options_); }
  bool is_same_shape(const at::Tensor& gradient) const { return gradient.sizes() == at::IntArrayRef(shape_); }
  /// Whether the gradient has this shape after summing over the dimensions over which the tensor was broadcast.
  RLT_LAZY bool is_expandable_to_shape(const at::Tensor& gradient) const {
    at::IntArrayRef sizes = gradient.sizes();
    if (sizes.size() < shape_.size()) return false;
    size_t added = sizes.size() - shape_.size();
    for (size_t i = 0; i < shape_.size(); ++i) {
      if (shape_[i] != 1 && shape_[i] != sizes[i + added]) return false;
    }
    return true;
  }
  at::Tensor reduce_grad(const at::Tensor& gradient) const { return gradient.sum_to_size(shape_); }

 private:
  at::TensorOptions options_;
  std::vector<int64_t> shape_;
};

/// Converts gradients to the metadata that nodes expect: sums over broadcast dimensions, casts. An incompatible
/// gradient is an error, whose message `format_error` may extend.
template <class Format>
void validate_outputs(const std::vector<std::optional<InputMetadata>>& metadata, variable_list& gradients, const Format& format_error) {
  auto fail = [&](const std::string& text) { rlt::raise<Error>(format_error(text)); };
  if (gradients.size() != metadata.size()) {
    fail("invalid number of gradients - expected " + std::to_string(metadata.size()) + ", but got " + std::to_string(gradients.size()));
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    at::Tensor& gradient = gradients[i];
    if (!metadata[i] || !gradient.defined()) continue;
    const InputMetadata& expected = *metadata[i];
    std::string where = "invalid gradient at index " + std::to_string(i) + " - ";
    if (!expected.is_same_shape(gradient)) {
      if (!expected.is_expandable_to_shape(gradient)) {
        fail(where + "got " + c10::str(gradient.sizes()) + " but expected shape compatible with " + c10::str(expected.shape_as_dim_vector()));
      }
      gradient = expected.reduce_grad(gradient);
    }
    if (gradient.device() != expected.device()) {
      fail(where + "expected device " + c10::str(expected.device()) + " but got " + c10::str(gradient.device()));
    }
    if (gradient.dtype() != expected.dtype()) gradient = gradient.to(expected.dtype().toScalarType());
  }
}

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
