// Pooling of large planes with few channels and of small planes with many; channels first and last, forward and with the gradient.
#include "harness.h"

#include <functional>
#include <string>

namespace compare {
namespace {

using torch::Tensor;
using Pool = std::function<Tensor(const Tensor&)>;

struct Kind {
  const char* name;
  Pool pool;
};

const Kind kKinds[] = {
    {"max 3 stride 2", [](const Tensor& x) { return torch::max_pool2d(x, 3, 2, 1); }},
    {"max 2 stride 2", [](const Tensor& x) { return torch::max_pool2d(x, 2, 2); }},
    {"max 3 stride 1", [](const Tensor& x) { return torch::max_pool2d(x, 3, 1, 1); }},
    {"avg 3 stride 2", [](const Tensor& x) { return torch::avg_pool2d(x, 3, 2, 1); }},
    {"avg 2 stride 2", [](const Tensor& x) { return torch::avg_pool2d(x, 2, 2); }},
    {"adaptive avg to 1", [](const Tensor& x) { return torch::adaptive_avg_pool2d(x, {1, 1}); }},
    {"adaptive avg to 7", [](const Tensor& x) { return torch::adaptive_avg_pool2d(x, {7, 7}); }},
    {"adaptive max to 7", [](const Tensor& x) { return std::get<0>(torch::adaptive_max_pool2d(x, {7, 7})); }},
};

void pool(const Kind& kind, int64_t channels, int64_t side, bool last) {
  const std::string size = "4x" + std::to_string(channels) + 'x' + std::to_string(side) + 'x' + std::to_string(side);
  const std::string name = std::string(kind.name) + (last ? ", channels last" : "");
  const double bytes = 16.0 * static_cast<double>(channels * side * side);
  Lazy images([=] {
    Tensor x = torch::randn({4, channels, side, side});
    return last ? x.contiguous(torch::MemoryFormat::ChannelsLast) : x;
  });
  measure(Case{"pooling", name, size, bytes}, [&](const Tensor& x) { return kind.pool(x); }, images);
  Lazy leaves([=] {
    Tensor x = torch::randn({4, channels, side, side});
    return (last ? x.contiguous(torch::MemoryFormat::ChannelsLast) : x).set_requires_grad(true);
  });
  auto step = [&](const Tensor& x) {
    Tensor y = kind.pool(x);
    return torch::autograd::grad({y}, {x}, {y.detach()})[0];
  };
  measure(Case{"pooling", name + ", with gradient", size, 2 * bytes}, step, leaves);
}

}  // namespace

void pooling() {
  for (const Kind& kind : kKinds) {
    for (bool last : {false, true}) {
      pool(kind, 64, 112, last);
      pool(kind, 512, 14, last);
    }
  }
}

}  // namespace compare
