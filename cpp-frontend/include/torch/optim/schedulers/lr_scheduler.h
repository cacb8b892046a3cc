// LRScheduler: sets the learning rates of an optimizer's groups, step by step.
#pragma once

#include <torch/optim/optimizer.h>

#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

class LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}
  virtual ~LRScheduler() = default;

  RLT_LAZY void step() {
    set_optimizer_lrs(get_lrs());
    ++step_count_;
  }

 protected:
  /// The next rates, one per group.
  virtual std::vector<double> get_lrs() = 0;
  RLT_LAZY std::vector<double> get_current_lrs() const {
    std::vector<double> rates;
    for (const OptimizerParamGroup& group : optimizer_.param_groups()) rates.push_back(group.options().get_lr());
    return rates;
  }

  unsigned step_count_ = 0;

 private:
  RLT_LAZY void set_optimizer_lrs(const std::vector<double>& rates) {
    std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
    TORCH_CHECK(rates.size() == groups.size(), "Number of learning rates not equal to the number of param groups\nNumber of learning rates given: ",
                rates.size(), "\nNumber of param groups: ", groups.size());
    for (size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(rates[i]);
  }

  Optimizer& optimizer_;
};

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch
