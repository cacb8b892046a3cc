// SavedVariable: a tensor that a node keeps for backward.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <optional>
#include <utility>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

struct Node;

/// What reading a saved tensor after its graph was freed is reported as.
inline constexpr const char* ERR_BACKWARD_TWICE =
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved "
    "intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
    "to backward through the graph a second time or if you need to access saved tensors after calling backward.";

/// A tensor that is kept for backward with its version: reading it is an error if it was modified in place since.
class SavedVariable {
 public:
  /// Holds no tensor.
  SavedVariable() = default;
  /// Saves a tensor; an undefined one stays undefined. Of an output of the function that saves it (`is_output`), the history is left
  /// out, which would be a reference cycle. `is_inplace_on_view` tells libtorch where the node of such an output is; here the output
  /// knows it.
  SavedVariable(const at::Tensor& variable, bool is_output, bool /*is_inplace_on_view*/ = false) {
    if (variable.defined()) rlt::check(rlt_saved_tensor_new(variable.handle(), is_output, &handle_));
  }
  SavedVariable(const std::optional<at::Tensor>& variable, bool is_output, bool is_inplace_on_view = false)
      : SavedVariable(variable ? *variable : at::Tensor(), is_output, is_inplace_on_view) {}
  SavedVariable(SavedVariable&& other) noexcept : handle_(rlt::exchange_value(other.handle_, nullptr)), freed_(other.freed_) {}
  SavedVariable& operator=(SavedVariable&& other) noexcept {
    rlt::swap_values(handle_, other.handle_);
    rlt::swap_values(freed_, other.freed_);
    return *this;
  }
  ~SavedVariable() { rlt_saved_tensor_free(handle_); }

  /// The tensor; undefined if none was saved. An error if it was modified in place, or after `reset_data`.
  RLT_LAZY at::Tensor unpack(std::shared_ptr<Node> /*saved_for*/ = nullptr) const {
    if (freed_) rlt::raise<c10::Error>(ERR_BACKWARD_TWICE);
    rlt_tensor* tensor = nullptr;
    if (handle_) rlt::check(rlt_saved_tensor_unpack(handle_, &tensor));
    return at::Tensor(tensor);
  }

  /// Releases the tensor.
  void reset_data() {
    rlt_saved_tensor_free(rlt::exchange_value(handle_, nullptr));
    freed_ = true;
  }

 private:
  rlt_saved_tensor* handle_ = nullptr;
  bool freed_ = false;
};

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
