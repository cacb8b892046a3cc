// The overhead of a call with a trivial computation, including allocation and release of the result.
#include "harness.h"

namespace compare {

void calls() {
  auto named = [](const char* name) { return Case{"call", name, "4"}; };
  Lazy a([] { return torch::randn({4}); }), b([] { return torch::randn({4}); });
  Lazy total([] { return torch::zeros({4}); });
  Lazy square([] { return torch::randn({4, 4}); });
  Lazy recorded([] { return torch::randn({4}).set_requires_grad(true); });

  measure(named("add"), BINARY(add(x, y)), a, b);
  measure(named("add, recorded"), BINARY(add(x, y)), recorded, b);
  measure(named("add_"), BINARY(x.add_(y)), total, b);
  measure(named("add a number"), UNARY(add(x, 1)), a);
  measure(named("view"), UNARY(x.view({2, 2})), a);
  measure(named("sum"), UNARY(sum(x)), a);
  measure(named("mm 4x4"), BINARY(mm(x, y)), square, square);
  // Its values are uninitialized: there is nothing to compare.
  measure(named("empty"), UNARY(static_cast<void>(empty_like(x))), a);
  measure(named("forward and backward of (x*b+b).sum()"), BINARY(sum(add(mul(x, y), y)).backward()), recorded, b);
}

}  // namespace compare
