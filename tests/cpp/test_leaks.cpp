// Every handle that C++ takes is released: after a training step, after errors, with hooks and custom functions.
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

int64_t live_handles() {
  int64_t count = 0;
  rlt::check(rlt_live_handles(&count));
  return count;
}

struct Twice : torch::autograd::Function<Twice> {
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, torch::Tensor x) {
    torch::Tensor result = x * 2;
    ctx->save_for_backward({x, result});
    return result;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    ctx->get_saved_variables();
    return {grads[0] * 2};
  }
};

void use_everything() {
  torch::nn::Sequential net(torch::nn::Linear(3, 4), torch::nn::ReLU(), torch::nn::Dropout(0.5), torch::nn::Linear(4, 2));
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(0.1).amsgrad(true));
  torch::optim::SGD sgd(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  torch::Tensor x = torch::randn({5, 3}, torch::requires_grad()), target = torch::tensor({0, 1, 0, 1, 0});
  torch::Tensor factor = torch::full({}, 2.0f);
  x.register_hook([factor](torch::Tensor grad) { return grad * factor; });
  for (int i = 0; i < 3; ++i) {
    torch::Tensor loss = torch::nn::functional::cross_entropy(net->forward(Twice::apply(x)), target);
    loss.backward();
    adam.step();
    sgd.step();
    adam.zero_grad();
  }
  // A graph that is never run backward, one that fails, and saved tensors that are never unpacked.
  torch::Tensor unused = Twice::apply(x).sum();
  EXPECT_THROW(x + torch::ones({7}), c10::Error);
  EXPECT_THROW(Twice::apply(x).backward(), c10::Error);
  torch::Tensor grid = torch::zeros({3, 3});
  grid.index_put_({torch::indexing::Slice(), 0}, 1);
  torch::autograd::grad({(x * 2).sum()}, {x});
  net->clone();
}

TEST(Leaks, EveryHandleIsGivenBack) {
  use_everything();
  int64_t before = live_handles();
  for (int i = 0; i < 3; ++i) use_everything();
  EXPECT_EQ(live_handles(), before);
}

}  // namespace
