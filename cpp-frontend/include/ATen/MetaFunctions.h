// at::meta: operators on the metadata of tensors. The arguments may be on any device; the result has shape and dtype,
// and is on the meta device.
#pragma once

#include <ATen/ATen.h>

namespace at {
RLT_NAMESPACE_BEGIN
namespace meta {
namespace detail {

inline Tensor on_meta(const Tensor& tensor) { return tensor.defined() ? tensor.to(kMeta) : tensor; }
inline std::optional<Tensor> on_meta(const std::optional<Tensor>& tensor) { return tensor ? std::optional<Tensor>(on_meta(*tensor)) : tensor; }
inline std::vector<Tensor> on_meta(TensorList tensors) {
  std::vector<Tensor> list;
  list.reserve(tensors.size());
  for (const Tensor& tensor : tensors) list.push_back(on_meta(tensor));
  return list;
}
inline std::vector<Tensor> on_meta(const std::vector<Tensor>& tensors) { return on_meta(TensorList(tensors)); }
template <class T, std::enable_if_t<!std::is_convertible_v<T&&, Tensor> && !std::is_convertible_v<T&&, TensorList> &&
                                          !std::is_same_v<std::decay_t<T>, std::optional<Tensor>>,
                                      bool> = true>
T&& on_meta(T&& other) {
  return std::forward<T>(other);
}

}  // namespace detail

#define RLT_META(name)                                                \
  template <class... Args>                                            \
  auto name(Args&&... args) {                                         \
    return at::name(detail::on_meta(std::forward<Args>(args))...);    \
  }
#include <ATen/generated/meta_functions.h>
#undef RLT_META

}  // namespace meta
RLT_NAMESPACE_END
}  // namespace at
