// A program that includes the headers of single operators, as programs of libtorch do.
#include <ATen/ops/_weight_norm.h>
#include <ATen/ops/add.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linalg_inv.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <iostream>

int main() {
  double numbers[] = {1, 2, 0, 1};
  at::Tensor matrix = at::from_blob(numbers, {2, 2}, at::kDouble);
  at::Tensor product = at::linalg_inv(matrix).matmul(matrix).add_(at::zeros_like(matrix));
  std::cout << product.equal(at::add(at::tensor({1.0, 0.0, 0.0, 1.0}).view({2, 2}), 0)) << at::_weight_norm(product, product).equal(product) << "\n";
}
