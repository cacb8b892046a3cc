// Matrix products: squares and the shapes of common layers, x @ W^T, batches, and other dtypes than float.
#include "harness.h"

namespace compare {
namespace {

struct Shape {
  int64_t m, n, k;
  std::string text() const { return std::to_string(m) + 'x' + std::to_string(n) + 'x' + std::to_string(k); }
  double operations(int64_t batch = 1) const { return 2.0 * static_cast<double>(batch * m * n * k); }
};

constexpr Shape kMatrices[] = {{16, 16, 16},    {32, 32, 32},    {64, 64, 64},     {128, 128, 128},    {256, 256, 256},    {512, 512, 512},
                               {1, 1000, 4096}, {64, 10, 320},   {128, 512, 784},  {3136, 64, 576},    {784, 128, 1152},   {196, 256, 2304},
                               {49, 512, 4608}, {32, 4096, 4096}, {1024, 1024, 1024}, {2048, 2048, 2048}};
constexpr Shape kLinear[] = {{1, 1000, 4096}, {1, 512, 512},    {8, 512, 512},   {32, 512, 784},   {64, 10, 320},
                             {128, 512, 784}, {128, 2048, 512}, {512, 768, 768}, {512, 3072, 768}, {64, 1000, 2048}};
constexpr struct {
  int64_t batch;
  Shape shape;
} kBatches[] = {{64, {64, 64, 64}}, {96, {128, 128, 64}}, {96, {128, 64, 128}}, {512, {16, 16, 16}}};
constexpr Shape kDouble[] = {{16, 16, 16}, {64, 64, 64}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {128, 512, 784}};
constexpr int64_t kLow[] = {64, 256, 512, 1024};

void product(const std::string& name, Shape s, torch::Dtype dtype) {
  Lazy a([=] { return torch::randn({s.m, s.k}).to(dtype); }), b([=] { return torch::randn({s.k, s.n}).to(dtype); });
  Lazy out([=] { return torch::empty({s.m, s.n}, dtype); });
  measure({"gemm", name, s.text(), 0, s.operations()}, TERNARY(mm_out(x, y, z)), out, a, b);
}

}  // namespace

void products() {
  for (Shape s : kMatrices) product("f32", s, torch::kFloat);
  for (Shape s : kLinear) {
    Lazy input([=] { return torch::randn({s.m, s.k}); }), weight([=] { return torch::randn({s.n, s.k}); });
    Lazy bias([=] { return torch::randn({s.n}); });
    measure({"linear", "f32", s.text(), 0, s.operations()}, BINARY(linear(x, y)), input, weight);
  }
  {
    constexpr Shape s = {128, 512, 784};
    Lazy input([=] { return torch::randn({s.m, s.k}); }), weight([=] { return torch::randn({s.n, s.k}); });
    Lazy bias([=] { return torch::randn({s.n}); });
    measure({"linear", "f32 with bias", s.text(), 0, s.operations()}, TERNARY(linear(x, y, z)), input, weight, bias);
    Lazy tall([=] { return torch::randn({s.m, s.n}); });
    measure({"linear", "f32, gradient of the weight", s.text(), 0, s.operations()}, BINARY(mm(x.t(), y)), tall, input);
  }
  for (auto [batch, s] : kBatches) {
    Lazy a([batch = batch, s = s] { return torch::randn({batch, s.m, s.k}); });
    Lazy b([batch = batch, s = s] { return torch::randn({batch, s.k, s.n}); });
    Lazy out([batch = batch, s = s] { return torch::empty({batch, s.m, s.n}); });
    measure({"bmm", "f32", std::to_string(batch) + " of " + s.text(), 0, s.operations(batch)}, TERNARY(bmm_out(x, y, z)), out, a, b);
  }
  for (Shape s : kDouble) product("f64", s, torch::kDouble);
  for (int64_t n : kLow) product("bf16", {n, n, n}, torch::kBFloat16);
  for (int64_t n : kLow) product("f16", {n, n, n}, torch::kHalf);
  for (int64_t n : kLow) {
    Shape s = {n, n, n};
    auto integers = [n] { return torch::randint(-10, 10, {n, n}, torch::kLong).to(torch::kChar); };
    Lazy a(integers), b(integers);
    measure({"gemm", "int8", s.text(), 0, s.operations()}, BINARY(_int_mm(x, y)), a, b);
  }
}

}  // namespace compare
