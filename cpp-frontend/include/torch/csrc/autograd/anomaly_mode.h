// Anomaly mode: errors in backward name the forward call, as warnings before the exception, and NaN is an error.
#pragma once

#include <c10/util/Exception.h>
#include <rushlight/autograd.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

struct AnomalyMode {
  static bool is_enabled() {
    int32_t on = 0;
    rlt::check(rlt_get_anomaly_mode(&on));
    return on != 0;
  }
  static bool should_check_nan() {
    int32_t on = 0;
    rlt::check(rlt_get_anomaly_check_nan(&on));
    return on != 0;
  }
  static void set_enabled(bool enabled, bool check_nan = true) {
    rlt::check(rlt_set_anomaly_mode(enabled));
    rlt::check(rlt_set_anomaly_check_nan(check_nan));
  }
};

/// Anomaly mode in this scope.
class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true) : enabled_(AnomalyMode::is_enabled()), check_nan_(AnomalyMode::should_check_nan()) {
    AnomalyMode::set_enabled(true, check_nan);
  }
  ~DetectAnomalyGuard() {
    rlt_set_anomaly_mode(enabled_);
    rlt_set_anomaly_check_nan(check_nan_);
  }
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool enabled_;
  bool check_nan_;
};

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
