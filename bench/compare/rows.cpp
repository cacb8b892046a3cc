// Operators that work row by row: softmax and layer norm over the last dimension.
#include "harness.h"

namespace compare {

void rows() {
  constexpr int64_t kShapes[][2] = {{100, 10}, {128, 1000}, {1024, 1024}, {4096, 768}, {8, 50257}};
  for (auto [height, width] : kShapes) {
    auto named = [height = height, width = width](const char* name) {
      return Case{"rows", name, std::to_string(height) + 'x' + std::to_string(width), 8.0 * static_cast<double>(height * width)};
    };
    Lazy a([height = height, width = width] { return torch::randn({height, width}); });
    Lazy weight([width = width] { return torch::rand({width}); }), bias([width = width] { return torch::rand({width}); });
    measure(named("softmax"), UNARY(softmax(x, 1)), a);
    measure(named("log_softmax"), UNARY(log_softmax(x, 1)), a);
    int64_t size = width;
    measure(named("layer_norm"), TERNARY(layer_norm(x, at::IntArrayRef(&size, 1), y, z)), a, weight, bias);
  }
}

}  // namespace compare
