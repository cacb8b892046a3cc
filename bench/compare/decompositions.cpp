// Decompositions and linear systems: a thousand matrices of 4x4 up to one of 1024x1024.
#include "harness.h"

namespace compare {
namespace {

void of_order(int64_t n, int64_t batch) {
  const std::string size = (batch == 1 ? "" : std::to_string(batch) + " of ") + std::to_string(n) + 'x' + std::to_string(n);
  const double elements = static_cast<double>(batch * n * n), cubes = elements * static_cast<double>(n);
  // `brief` leaves cases out by their operations.
  auto named = [=](const std::string& name, double factor) { return Case{"linalg", name, size, 8 * elements, factor * cubes}; };
  Lazy general([=] { return torch::randn({batch, n, n}); });
  Lazy regular([=] { return torch::randn({batch, n, n}) / std::sqrt(static_cast<double>(n)) + 2 * torch::eye(n); });
  Lazy positive([=] {
    torch::Tensor a = torch::randn({batch, n, n});
    return torch::matmul(a, a.transpose(-2, -1)) / static_cast<double>(n) + torch::eye(n);
  });
  Lazy right([=] { return torch::randn({batch, n, 8}); });

  measure(named("cholesky", 1.0 / 3), UNARY(linalg_cholesky(x)), positive);
  measure(named("lu_factor", 2.0 / 3), UNARY(linalg_lu_factor(x)), regular);
  measure(named("solve", 2.0 / 3), BINARY(linalg_solve(x, y)), regular, right);
  measure(named("solve_triangular", 1), BINARY(linalg_solve_triangular(x, y, true)), regular, right);
  measure(named("cholesky_solve", 1), BINARY(cholesky_solve(y, x)), positive, right);
  measure(named("inv", 2), UNARY(linalg_inv(x)), regular);
  measure(named("det", 2.0 / 3), UNARY(linalg_det(x)), regular);
  measure(named("qr", 8.0 / 3), UNARY(linalg_qr(x)), general);
  measure(named("lstsq", 2), BINARY(linalg_lstsq(x, y)), regular, right);
  measure(named("eigh", 9), UNARY(linalg_eigh(x)), positive);
  measure(named("eigvalsh", 4.0 / 3), UNARY(linalg_eigvalsh(x)), positive);
  measure(named("svd", 20), UNARY(linalg_svd(x)), general);
  measure(named("svdvals", 8.0 / 3), UNARY(linalg_svdvals(x)), general);
  measure(named("pinv", 20), UNARY(linalg_pinv(x)), general);
  measure(named("matrix_exp", 20), UNARY(matrix_exp(x)), regular);
  // The general eigenvalue problem takes seconds at the largest order.
  if (n <= 512) measure(named("eig", 25), UNARY(linalg_eig(x)), general);
}

}  // namespace

void decompositions() {
  constexpr int64_t kOrders[][2] = {{4, 1000}, {16, 200}, {64, 1}, {128, 1}, {256, 1}, {512, 1}, {1024, 1}};
  for (auto [n, batch] : kOrders) of_order(n, batch);
}

}  // namespace compare
