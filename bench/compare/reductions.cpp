// Reductions and a scan, over 10^2 to 10^7 elements. "dim 0" and "dim 1" are of a nearly square matrix.
#include "harness.h"

namespace compare {
namespace {

void reductions_of_size(int64_t exponent) {
  const int64_t n = ten_to(exponent);
  const int64_t height = ten_to(exponent / 2), width = n / height;
  auto named = [&](const std::string& name, double bytes_per_element = 4) {
    return Case{"reduction", name, power_of_ten(exponent), bytes_per_element * static_cast<double>(n)};
  };

  Lazy a([=] { return torch::randn({n}); }), matrix([=] { return torch::randn({height, width}); });

  measure(named("sum"), UNARY(sum(x)), a);
  measure(named("mean"), UNARY(mean(x)), a);
  measure(named("max"), UNARY(max(x)), a);
  measure(named("argmax"), UNARY(argmax(x)), a);
  measure(named("var"), UNARY(var(x, true)), a);
  measure(named("norm"), UNARY(norm(x)), a);
  measure(named("sum dim 0"), UNARY(x.sum(0)), matrix);
  measure(named("sum dim 1"), UNARY(x.sum(1)), matrix);
  measure(named("max dim 1"), UNARY(max(x, 1)), matrix);
  measure(named("cumsum", 8), UNARY(cumsum(x, 0)), a);
}

}  // namespace

void reductions() {
  for (int64_t exponent = kFirstExponent; exponent <= kLastExponent; ++exponent) reductions_of_size(exponent);
}

}  // namespace compare
