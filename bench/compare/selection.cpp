// Operators that choose elements: sorting, indices, and cumulative sums.
#include "harness.h"

namespace compare {

void selection() {
  for (int64_t exponent = 3; exponent <= 6; ++exponent) {
    const int64_t n = ten_to(exponent);
    auto named = [&](const char* name) { return Case{"selection", name, power_of_ten(exponent), 8.0 * static_cast<double>(n)}; };
    Lazy values([=] { return torch::randn({n}); }), rows([=] { return torch::randn({n / 100, 100}); });
    Lazy integers([=] { return torch::randint(0, n, {n}, torch::kLong); }), others([=] { return torch::randn({n}); });
    Lazy columns([=] { return torch::randint(0, 100, {n / 100, 100}, torch::kLong); });
    measure(named("sort"), UNARY(sort(x)), values);
    measure(named("sort int64"), UNARY(sort(x)), integers);
    measure(named("sort dim 1"), UNARY(sort(x, 1)), rows);
    measure(named("topk 10"), UNARY(topk(x, 10)), values);
    measure(named("topk 10 dim 1"), UNARY(topk(x, 10, 1)), rows);
    measure(named("gather dim 0"), BINARY(gather(x, 0, y)), values, integers);
    measure(named("gather dim 1"), BINARY(gather(x, 1, y)), rows, columns);
    measure(named("index_put"), TERNARY(index_put(x, {y}, z)), values, integers, others);
    measure(named("index_put accumulate"), TERNARY(index_put(x, {y}, z, true)), values, integers, others);
    measure(named("cumsum"), UNARY(cumsum(x, 0)), values);
    measure(named("cumsum dim 0"), UNARY(cumsum(x, 0)), rows);
    measure(named("cumsum dim 1"), UNARY(cumsum(x, 1)), rows);
  }
}

}  // namespace compare
