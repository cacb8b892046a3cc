// Fits y = 2 a - 3 b + 1 by gradient descent.
#include <torch/torch.h>

#include <iostream>

int main() {
  torch::manual_seed(0);
  torch::nn::Linear model(2, 1);
  torch::optim::SGD optimizer(model->parameters(), /*lr=*/0.1);
  auto x = torch::randn({64, 2});
  auto y = torch::mm(x, torch::tensor({2.0f, -3.0f}).view({2, 1})) + 1;
  for (int step = 0; step < 300; ++step) {
    optimizer.zero_grad();
    auto error = model->forward(x) - y;
    (error * error).mean().backward();
    optimizer.step();
  }
  std::cout << model->weight << '\n' << model->bias << '\n';
}
