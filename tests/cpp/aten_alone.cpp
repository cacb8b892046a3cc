// A program that includes nothing but the tensor library: all methods of tensors and the checks of arguments are defined there.
#include <ATen/ATen.h>

int main() {
  at::Tensor leaf = at::ones({2}).requires_grad_();
  at::checkDim("main", at::TensorArg{leaf, "leaf", 1}, 1);
  return !leaf.grad_fn() && (leaf * 2).grad_fn() ? 0 : 1;
}
