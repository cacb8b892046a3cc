// Helpers for tests of custom operators.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#if __has_include(<gmock/gmock.h>)
#include <gmock/gmock.h>
#endif

/// Calls an operator with C++ types.
template <class Result, class... Args>
Result callOpUnboxed(const c10::OperatorHandle& op, Args... args) {
  return op.typed<Result(Args...)>().call(std::forward<Args>(args)...);
}
