// Thread-local switches of autograd, and their guards.
#pragma once

#include <c10/util/Exception.h>
#include <rushlight/autograd.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// Whether operators are recorded for backward.
struct GradMode {
  static bool is_enabled() {
    int32_t on = 0;
    rlt::check(rlt_get_grad_enabled(&on));
    return on != 0;
  }
  static void set_enabled(bool enabled) { rlt::check(rlt_set_grad_enabled(enabled)); }
};

/// Sets grad mode for a scope.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : before_(GradMode::is_enabled()) { GradMode::set_enabled(enabled); }
  ~AutoGradMode() { rlt_set_grad_enabled(before_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool before_;
};

/// No recording in this scope.
struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};

/// Neither recording nor version counting in this scope: tensors created here can never take part in autograd.
class InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true) : before_(is_enabled()), grad_before_(GradMode::is_enabled()) {
    rlt::check(rlt_set_inference_mode(enabled));
    GradMode::set_enabled(!enabled);
  }
  ~InferenceMode() {
    rlt_set_inference_mode(before_);
    rlt_set_grad_enabled(grad_before_);
  }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  static bool is_enabled() {
    int32_t on = 0;
    rlt::check(rlt_get_inference_mode(&on));
    return on != 0;
  }

 private:
  bool before_;
  bool grad_before_;
};

RLT_NAMESPACE_END
}  // namespace c10
