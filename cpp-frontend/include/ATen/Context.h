// The process's switches, as at::globalContext() has them.
#pragma once

#include <c10/util/Exception.h>
#include <rushlight/runtime.h>

#include <string>

namespace at {
RLT_NAMESPACE_BEGIN

class Context {
 public:
  /// Asks for the same bits in every run. Every operator of this library gives them anyway, on any number of threads. What
  /// changes is memory that nobody has written, and what alertNotDeterministic answers.
  void setDeterministicAlgorithms(bool on, bool warn_only = false) {
    rlt::check(rlt_set_determinism(!on ? RLT_DETERMINISM_OFF : warn_only ? RLT_DETERMINISM_WARN : RLT_DETERMINISM_ERROR));
  }
  bool deterministicAlgorithms() const { return determinism() != RLT_DETERMINISM_OFF; }
  bool deterministicAlgorithmsWarnOnly() const { return determinism() == RLT_DETERMINISM_WARN; }
  /// Where determinism is asked for, are elements that empty and its kin leave unset filled with NaN or the largest integer?
  bool deterministicFillUninitializedMemory() const {
    int32_t on = 0;
    rlt::check(rlt_get_fill_uninitialized_memory(&on));
    return on != 0;
  }
  void setDeterministicFillUninitializedMemory(bool on) { rlt::check(rlt_set_fill_uninitialized_memory(on)); }
  /// For operators of the program that could give other bits in the next run: an exception or a warning, if that was asked for.
  static void alertNotDeterministic(const std::string& caller) {
    if (determinism() == RLT_DETERMINISM_WARN) {
      TORCH_WARN(caller,
                 " does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True, warn_only=True)'. "
                 "You can file an issue at https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic support "
                 "for this operation.");
    } else {
      rlt::check(rlt_alert_not_deterministic(caller.c_str()));
    }
  }

 private:
  static int32_t determinism() {
    int32_t level = 0;
    rlt::check(rlt_get_determinism(&level));
    return level;
  }
};

inline Context& globalContext() {
  static Context context;
  return context;
}

RLT_NAMESPACE_END
}  // namespace at
