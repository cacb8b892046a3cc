// The other half of two_units.cpp.
#include <torch/torch.h>

torch::Tensor doubled_elsewhere(const torch::Tensor& tensor) { return tensor * 2; }

torch::nn::Linear layer_from_elsewhere() { return torch::nn::Linear(3, 2); }

void fail_elsewhere() { torch::ones({2}).size(5); }
