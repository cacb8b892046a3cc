// at::intraop_launch_future: a function on another thread, with a future that is complete when it has returned.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/ivalue_all.h>

namespace at {
RLT_NAMESPACE_BEGIN

/// The future has no value; an exception of the function is its error.
inline c10::intrusive_ptr<c10::ivalue::Future> intraop_launch_future(std::function<void()> function) {
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::TypePtr());
  auto run = [future, function = std::move(function)] {
    try {
      function();
      future->markCompleted();
    } catch (...) {
      future->setError(std::current_exception());
    }
  };
  intraop_launch(std::move(run));
  return future;
}

RLT_NAMESPACE_END
}  // namespace at
