// One step of an optimizer over four matrices. The bytes are those of a single pass: parameter, gradient and state read, parameter
// and state written.
#include "harness.h"

#include <memory>
#include <vector>

namespace compare {
namespace {

template <class Optimizer, class Options>
void steps(const char* name, double arrays, const Options& options) {
  for (int64_t side : {50, 1000}) {
    const double parameters = 4.0 * static_cast<double>(side * side);
    Case c{"optimizer", name, "4 of " + std::to_string(side) + 'x' + std::to_string(side), 4 * arrays * parameters};
    std::unique_ptr<Optimizer> optimizer;
    Lazy first([&] {
      std::vector<torch::Tensor> tensors;
      for (int i = 0; i < 4; ++i) {
        auto parameter = torch::randn({side, side}).set_requires_grad(true);
        parameter.mutable_grad() = torch::randn({side, side});
        tensors.push_back(parameter);
      }
      optimizer = std::make_unique<Optimizer>(tensors, options);
      return tensors[0];
    });
    measure(c, [&](auto&) { optimizer->step(); }, first);
  }
}

}  // namespace

void optimizers() {
  steps<torch::optim::SGD>("SGD with momentum", 5, torch::optim::SGDOptions(1e-3).momentum(0.9));
  steps<torch::optim::Adam>("Adam", 7, torch::optim::AdamOptions(1e-3));
}

}  // namespace compare
