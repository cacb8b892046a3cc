// Pointwise operators, copies and casts, over 10^2 to 10^7 elements. "out=" writes to an existing tensor.
#include "harness.h"

namespace compare {
namespace {

void elementwise_of_size(int64_t exponent) {
  const int64_t n = ten_to(exponent);
  // A matrix with as many elements, for operands that are not simply contiguous.
  const int64_t height = ten_to(exponent / 2), width = n / height;
  auto named = [&](const std::string& name, double bytes_per_element) {
    return Case{"elementwise", name, power_of_ten(exponent), bytes_per_element * static_cast<double>(n)};
  };

  Lazy a([=] { return torch::randn({n}); }), b([=] { return torch::randn({n}); });
  Lazy positive([=] { return torch::rand({n}) + 0.5; });
  Lazy mask([=] { return torch::randn({n}).gt(0); });
  Lazy wide([=] { return torch::randn({n}, torch::kDouble); });
  Lazy matrix([=] { return torch::randn({height, width}); }), transposed([=] { return torch::randn({width, height}).t(); });
  Lazy row([=] { return torch::randn({width}); });
  Lazy out([=] { return torch::empty({n}); });

  measure(named("add", 12), BINARY(add(x, y)), a, b);
  measure(named("mul", 12), BINARY(mul(x, y)), a, b);
  measure(named("add number", 8), UNARY(add(x, 1.5)), a);
  measure(named("relu", 8), UNARY(relu(x)), a);
  measure(named("clamp", 8), UNARY(clamp(x, -0.5, 0.5)), a);
  measure(named("where", 13), TERNARY(where(x, y, z)), mask, a, b);
  measure(named("eq", 9), BINARY(eq(x, y)), a, b);
  measure(named("copy_", 8), BINARY(x.copy_(y)), out, a);
  measure(named("clone", 8), UNARY(clone(x)), a);
  measure(named("add row", 8), BINARY(add(x, y)), matrix, row);
  measure(named("add transposed", 12), BINARY(add(x, y)), matrix, transposed);
  measure(named("f32 to f16", 6), UNARY(x.to(torch::kHalf)), a);
  measure(named("f32 to bf16", 6), UNARY(x.to(torch::kBFloat16)), a);
  measure(named("f64 to f32", 12), UNARY(x.to(torch::kFloat)), wide);

  measure(named("exp", 8), UNARY(exp(x)), a);
  measure(named("log", 8), UNARY(log(x)), positive);
  measure(named("tanh", 8), UNARY(tanh(x)), a);
  measure(named("sigmoid", 8), UNARY(sigmoid(x)), a);
  measure(named("gelu", 8), UNARY(gelu(x)), a);
  measure(named("sin", 8), UNARY(sin(x)), a);
  measure(named("pow", 8), UNARY(pow(x, 1.7)), positive);

  if (exponent < 6) return;
  measure(named("add out=", 12), TERNARY(add_out(x, y, z)), out, a, b);
  measure(named("exp out=", 8), BINARY(exp_out(x, y)), out, a);
  measure(named("tanh out=", 8), BINARY(tanh_out(x, y)), out, a);
  measure(named("sigmoid out=", 8), BINARY(sigmoid_out(x, y)), out, a);
}

}  // namespace

void elementwise() {
  for (int64_t exponent = kFirstExponent; exponent <= kLastExponent; ++exponent) elementwise_of_size(exponent);
}

}  // namespace compare
