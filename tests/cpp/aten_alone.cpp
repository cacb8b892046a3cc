// A program that includes nothing but the tensor library: all methods of tensors are defined there.
#include <ATen/ATen.h>

int main() {
  at::Tensor leaf = at::ones({2}).requires_grad_();
  return !leaf.grad_fn() && (leaf * 2).grad_fn() ? 0 : 1;
}
