// A program for libtorch, compiled against Rushlight. It runs with impostor.so loaded first.
#include <torch/torch.h>

int main() {
  torch::manual_seed(1);
  torch::nn::Linear linear(2, 3);
  torch::Tensor a = torch::ones({2, 2});
  torch::Tensor b = a.add(a, 1) + a.mul(a);
  if (b.sum().item<float>() != 12) return 1;
  linear->forward(b).sum().backward();
  linear->zero_grad();
  try {
    a.mm(torch::ones({3, 1}));
  } catch (const c10::Error& error) {
    return std::string(error.what()).find("mat1 and mat2 shapes cannot be multiplied") == std::string::npos;
  }
  return 2;
}
