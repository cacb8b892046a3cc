// ReduceLROnPlateauScheduler: lowers the learning rates when a metric stops improving.
#pragma once

#include <torch/optim/optimizer.h>

#include <cstdio>
#include <limits>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

class ReduceLROnPlateauScheduler {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };
  RLT_LAZY ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min, float factor = 0.1f, int patience = 10, double threshold = 1e-4,
                             ThresholdMode threshold_mode = rel, int cooldown = 0, const std::vector<float>& min_lr = std::vector<float>(),
                             double eps = 1e-8, bool verbose = false)
      : optimizer_(optimizer), mode_(mode), factor_(factor), patience_(patience), threshold_(threshold), threshold_mode_(threshold_mode),
        cooldown_(cooldown), min_lrs_(min_lr), eps_(eps), verbose_(verbose) {
    TORCH_CHECK(factor < 1.0f, "Factor should be < 1.0.");
    TORCH_CHECK(min_lr.empty() || min_lr.size() == optimizer.param_groups().size(),
                "Number of learning rates not equal to the number of param groups\nNumber of learning rates given: ", min_lr.size(),
                "\nNumber of param groups: ", optimizer.param_groups().size());
    if (min_lr.empty()) min_lrs_.assign(optimizer.param_groups().size(), 0);
    best_ = mode == min ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest();
  }
  virtual ~ReduceLROnPlateauScheduler() = default;

  /// Called with the metric of an epoch.
  RLT_LAZY void step(float metric) {
    ++last_epoch_;
    if (is_better(metric)) {
      best_ = metric;
      num_bad_epochs_ = 0;
    } else {
      ++num_bad_epochs_;
    }
    if (cooldown_counter_ > 0) {
      --cooldown_counter_;
      num_bad_epochs_ = 0;
    }
    if (num_bad_epochs_ > patience_) {
      reduce();
      cooldown_counter_ = cooldown_;
      num_bad_epochs_ = 0;
    }
  }

 private:
  bool is_better(float metric) const {
    const double by = threshold_mode_ == rel ? best_ * threshold_ : threshold_;
    return mode_ == min ? metric < best_ - by : metric > best_ + by;
  }
  RLT_LAZY void reduce() {
    std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
    for (size_t i = 0; i < groups.size(); ++i) {
      const double before = groups[i].options().get_lr();
      const double least = min_lrs_.at(i), scaled = before * factor_, rate = scaled > least ? scaled : least;
      if (before - rate <= eps_) continue;
      groups[i].options().set_lr(rate);
      if (verbose_) std::printf("Epoch %d: reducing learning rate of group %zu to %.4g\n", last_epoch_, i, rate);
    }
  }

  Optimizer& optimizer_;
  SchedulerMode mode_;
  float factor_;
  int patience_;
  double threshold_;
  ThresholdMode threshold_mode_;
  int cooldown_;
  std::vector<float> min_lrs_;
  double eps_;
  bool verbose_;
  float best_ = 0;
  int cooldown_counter_ = 0;
  int last_epoch_ = 0;
  int num_bad_epochs_ = 0;
};

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch
