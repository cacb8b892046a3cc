// Out forms that call another form and copy: the copy, and macros for the functions of ATen/InternalFunctions.h. Only headers that
// define such functions include this.
#pragma once

#include <ATen/core/TensorBody.h>
#include <c10/core/GradMode.h>

#include <tuple>

namespace rlt {
RLT_NAMESPACE_BEGIN

RLT_LAZY void write_copy(const char* name, const at::Tensor& out, const at::Tensor& result) {
  TORCH_CHECK(!c10::GradMode::is_enabled() || !(result.requires_grad() || out.requires_grad()), name,
              "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
  TORCH_CHECK(result.dtype() == out.dtype(), name, "(): Expected out tensor to have dtype ", result.dtype(), ", but got ", out.dtype(), " instead");
  TORCH_CHECK(result.device() == out.device(), name, "(): Expected out tensor to have device ", result.device(), ", but got ", out.device(), " instead");
  // A copy replaces the sizes of a tensor in COO format.
  if (result.layout() == at::kStrided) out.resize_(result.sizes());
  out.copy_(result);
}
RLT_LAZY at::Tensor& copy_out(const char* name, at::Tensor& out, const at::Tensor& result) {
  write_copy(name, out, result);
  return out;
}
RLT_LAZY void copy_out(const char* name, at::TensorList outs, const std::vector<at::Tensor>& results) {
  TORCH_CHECK(outs.size() == results.size(), name, "(): Expected ", results.size(), " out tensors, but got ", outs.size());
  for (size_t i = 0; i < outs.size(); ++i) write_copy(name, outs[i], results[i]);
}
template <class... Outs, class Results>
std::tuple<Outs...> copy_out(const char* name, std::tuple<Outs...> outs, const Results& results) {
  static_assert(sizeof...(Outs) == std::tuple_size_v<Results>);
  std::apply([&](auto&... out) { std::apply([&](const auto&... result) { (write_copy(name, out, result), ...); }, results); }, outs);
  return outs;
}

RLT_NAMESPACE_END
}  // namespace rlt

// An out form takes the outputs and then the arguments of the function. The parameter pack also takes what converts to an
// argument, but no braced list.
#define RLT_OUT_1(name)                                  \
  template <class... Args>                               \
  Tensor& name##_out(Tensor& out, const Args&... args) { \
    return rlt::copy_out(#name, out, at::name(args...)); \
  }
#define RLT_OUT_2(name)                                                                      \
  template <class... Args>                                                                   \
  std::tuple<Tensor&, Tensor&> name##_out(Tensor& out0, Tensor& out1, const Args&... args) { \
    return rlt::copy_out(#name, std::tie(out0, out1), at::name(args...));                    \
  }
#define RLT_OUT_3(name)                                                                                             \
  template <class... Args>                                                                                          \
  std::tuple<Tensor&, Tensor&, Tensor&> name##_out(Tensor& out0, Tensor& out1, Tensor& out2, const Args&... args) { \
    return rlt::copy_out(#name, std::tie(out0, out1, out2), at::name(args...));                                     \
  }
#define RLT_OUT_4(name)                                                                                             \
  template <class... Args>                                                                                          \
  std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> name##_out(Tensor& out0, Tensor& out1, Tensor& out2, Tensor& out3, \
                                                            const Args&... args) {                                  \
    return rlt::copy_out(#name, std::tie(out0, out1, out2, out3), at::name(args...));                               \
  }
// An out form of a method.
#define RLT_OUT_METHOD(name)                                                 \
  template <class... Args>                                                   \
  Tensor& name##_out(Tensor& out, const Tensor& self, const Args&... args) { \
    return rlt::copy_out(#name, out, self.name(args...));                    \
  }
