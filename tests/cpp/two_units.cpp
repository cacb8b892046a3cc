// Two translation units with all headers link, and share tensors, modules and exceptions.
#include <torch/torch.h>

#include <cstdio>

torch::Tensor doubled_elsewhere(const torch::Tensor& tensor);
torch::nn::Linear layer_from_elsewhere();
void fail_elsewhere();

int main() {
  torch::Tensor tensor = doubled_elsewhere(torch::ones({2}));
  if (tensor.sum().item<double>() != 4) return 1;
  torch::nn::Linear layer = layer_from_elsewhere();
  if (layer->as<torch::nn::LinearImpl>() == nullptr) return 2;
  if (layer(torch::ones({1, 3})).size(1) != 2) return 3;
  try {
    fail_elsewhere();
  } catch (const c10::IndexError&) {
    std::puts("ok");
    return 0;
  }
  return 4;
}
