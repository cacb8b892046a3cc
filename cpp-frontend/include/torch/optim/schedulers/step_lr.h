// StepLR: multiplies the learning rates by gamma every step_size steps.
#pragma once

#include <torch/optim/schedulers/lr_scheduler.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, const unsigned step_size, const double gamma = 0.1)
      : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {}

 private:
  std::vector<double> get_lrs() override {
    std::vector<double> rates = get_current_lrs();
    if (step_count_ == 0 || step_count_ % step_size_ != 0) return rates;
    for (double& rate : rates) rate *= gamma_;
    return rates;
  }

  unsigned step_size_;
  double gamma_;
};

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch
