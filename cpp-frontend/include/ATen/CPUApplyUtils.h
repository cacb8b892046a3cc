// CPU_tensor_apply: calls a function with references to the elements of tensors with the same number of elements.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <c10/util/SmallVector.h>

#include <array>

namespace at {
RLT_NAMESPACE_BEGIN

namespace detail {
/// The position in a strided tensor, in the order of its elements.
template <class T>
class ElementCursor {
 public:
  explicit ElementCursor(const Tensor& tensor)
      : data_(tensor.data_ptr<T>()), sizes_(tensor.sizes().begin(), tensor.sizes().end()), strides_(tensor.strides().begin(), tensor.strides().end()),
        index_(sizes_.size(), 0) {}
  T& operator*() const { return *data_; }
  void next() {
    for (size_t d = sizes_.size(); d-- > 0;) {
      data_ += strides_[d];
      if (++index_[d] < sizes_[d]) return;
      data_ -= strides_[d] * sizes_[d];
      index_[d] = 0;
    }
  }

 private:
  T* data_;
  c10::SmallVector<int64_t, 8> sizes_, strides_, index_;
};

/// The operation is called with one element of each tensor.
template <class... Ts, size_t... Index, class Operation>
void apply_to_elements(const Operation& operation, const std::array<Tensor, sizeof...(Ts)>& tensors, std::index_sequence<Index...>) {
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.is_cpu() && tensor.layout() == kStrided, "CPU_tensor_apply: expected strided tensors on the CPU");
    TORCH_CHECK(tensor.numel() == tensors[0].numel(), "inconsistent tensor size, expected tensors to have the same number of elements, but got ",
                tensors[0].sizes(), " and ", tensor.sizes());
  }
  std::tuple<ElementCursor<Ts>...> cursors{ElementCursor<Ts>(tensors[Index])...};
  for (int64_t left = tensors[0].numel(); left > 0; --left) {
    std::apply(
        [&](auto&... cursor) {
          operation(*cursor...);
          (cursor.next(), ...);
        },
        cursors);
  }
}
}  // namespace detail

template <class T1, class T2, class Operation>
void CPU_tensor_apply2(const Tensor& a, const Tensor& b, const Operation operation) {
  detail::apply_to_elements<T1, T2>(operation, {a, b}, std::make_index_sequence<2>());
}
template <class T1, class T2, class T3, class Operation>
void CPU_tensor_apply3(const Tensor& a, const Tensor& b, const Tensor& c, const Operation operation) {
  detail::apply_to_elements<T1, T2, T3>(operation, {a, b, c}, std::make_index_sequence<3>());
}
template <class T1, class T2, class T3, class T4, class Operation>
void CPU_tensor_apply4(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d, const Operation operation) {
  detail::apply_to_elements<T1, T2, T3, T4>(operation, {a, b, c, d}, std::make_index_sequence<4>());
}

RLT_NAMESPACE_END
}  // namespace at
