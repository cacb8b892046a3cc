// torch::linalg: names, defaults and overloads of libtorch.
#include <gtest/gtest.h>
#include <torch/torch.h>

TEST(Linalg, FunctionsHaveLibtorchsDefaults) {
  auto a = torch::tensor({{4.0, 1.0}, {1.0, 3.0}}, torch::kDouble);
  EXPECT_TRUE(torch::allclose(torch::matmul(torch::linalg::inv(a), a), torch::eye(2, torch::kDouble)));
  EXPECT_NEAR(torch::linalg::det(a).item<double>(), 11.0, 1e-12);
  EXPECT_TRUE(torch::allclose(torch::linalg::solve(a, torch::tensor({5.0, 4.0}, torch::kDouble)), torch::ones(2, torch::kDouble)));
  auto [sign, logarithm] = torch::linalg::slogdet(a);
  EXPECT_NEAR((sign * logarithm.exp()).item<double>(), 11.0, 1e-12);
}

// All arguments of two overloads have defaults in the schema; libtorch gives them to one of the two.
TEST(Linalg, PseudoinverseOfAMatrixAloneIsNotAmbiguous) {
  auto a = torch::tensor({{2.0, 0.0}, {0.0, 0.5}, {0.0, 0.0}}, torch::kDouble);
  auto expected = torch::tensor({{0.5, 0.0, 0.0}, {0.0, 2.0, 0.0}}, torch::kDouble);
  EXPECT_TRUE(torch::allclose(torch::linalg_pinv(a), expected));
  EXPECT_TRUE(torch::allclose(torch::linalg::pinv(a), expected));
  expected[1][1] = 0.0;
  EXPECT_TRUE(torch::allclose(torch::linalg_pinv(a, 0.5), expected));
  EXPECT_TRUE(torch::allclose(torch::linalg_pinv(a, 1.0, std::nullopt), expected));
}

TEST(Linalg, NormsTakeNumbersAndNames) {
  auto a = torch::tensor({{3.0, 0.0}, {0.0, 4.0}}, torch::kDouble);
  EXPECT_DOUBLE_EQ(torch::linalg::norm(a).item<double>(), 5.0);
  EXPECT_DOUBLE_EQ(torch::linalg::norm(a, "fro").item<double>(), 5.0);
  EXPECT_NEAR(torch::linalg::norm(a, "nuc").item<double>(), 7.0, 1e-12);
  EXPECT_NEAR(torch::linalg::matrix_norm(a, 2).item<double>(), 4.0, 1e-12);
  EXPECT_DOUBLE_EQ(torch::linalg::matrix_norm(a).item<double>(), 5.0);
}
