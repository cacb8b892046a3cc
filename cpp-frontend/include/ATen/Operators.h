// at::_ops: a struct for each overload of an operator, whose `call` is the function of that overload.
#pragma once

#include <ATen/Functions.h>

namespace at {
RLT_NAMESPACE_BEGIN
namespace _ops {

#define RLT_FUNCTION(Struct, operator_name, overload, function)                        \
  struct Struct {                                                                      \
    static constexpr const char* name = "aten::" operator_name;                        \
    static constexpr const char* overload_name = overload;                             \
    template <class... Args>                                                           \
    static decltype(auto) call(Args&&... args) {                                       \
      return at::function(static_cast<Args&&>(args)...);                                \
    }                                                                                  \
  };
#define RLT_METHOD(Struct, operator_name, overload, method)                            \
  struct Struct {                                                                      \
    static constexpr const char* name = "aten::" operator_name;                        \
    static constexpr const char* overload_name = overload;                             \
    template <class Self, class... Args>                                               \
    static decltype(auto) call(Self&& self, Args&&... args) {                          \
      return self.method(static_cast<Args&&>(args)...);                                 \
    }                                                                                  \
  };
#include <ATen/generated/operator_functions.h>
#undef RLT_FUNCTION
#undef RLT_METHOD

}  // namespace _ops
RLT_NAMESPACE_END
}  // namespace at
