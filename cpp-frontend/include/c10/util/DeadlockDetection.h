// Whether the calling thread holds Python's global lock: a program with Python tells, another never does.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/env.h>

#include <atomic>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace impl {

struct PythonGILHooks {
  virtual ~PythonGILHooks() = default;
  virtual bool check_python_gil() const = 0;
};

namespace detail {
inline std::atomic<PythonGILHooks*>& python_gil_hooks() {
  static std::atomic<PythonGILHooks*> hooks{nullptr};
  return hooks;
}
inline bool deadlock_detection_disabled() { return utils::has_env("TORCH_DISABLE_DEADLOCK_DETECTION"); }
}  // namespace detail

inline bool check_python_gil() {
  PythonGILHooks* hooks = detail::python_gil_hooks().load();
  return hooks && hooks->check_python_gil();
}

/// Sets the hooks once; nullptr removes them. The variable TORCH_DISABLE_DEADLOCK_DETECTION switches them off.
inline void SetPythonGILHooks(PythonGILHooks* hooks) {
  if (detail::deadlock_detection_disabled()) return;
  TORCH_INTERNAL_ASSERT(!hooks || !detail::python_gil_hooks().load(), "the hooks for Python's global lock are set already");
  detail::python_gil_hooks().store(hooks);
}

/// Removes the hooks at the end of the scope.
struct PythonGILHooksRegisterer {
  explicit PythonGILHooksRegisterer(PythonGILHooks* hooks) { SetPythonGILHooks(hooks); }
  ~PythonGILHooksRegisterer() { SetPythonGILHooks(nullptr); }
  PythonGILHooksRegisterer(const PythonGILHooksRegisterer&) = delete;
  PythonGILHooksRegisterer& operator=(const PythonGILHooksRegisterer&) = delete;
};

}  // namespace impl
RLT_NAMESPACE_END
}  // namespace c10

#define TORCH_ASSERT_NO_GIL_WITHOUT_PYTHON_DEP()                      \
  TORCH_INTERNAL_ASSERT(!::c10::impl::check_python_gil(),             \
                        "Holding GIL before a blocking operation!  Please release the GIL before blocking.")
