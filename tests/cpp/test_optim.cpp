// Optimizers: groups, states, closures. Their numbers are compared with libtorch's by the oracle programs.
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

namespace optim = torch::optim;
using torch::Tensor;

Tensor weight() { return torch::tensor({1.0f, -2.0f}, torch::requires_grad()); }

TEST(Optim, GroupsAndState) {
  Tensor w = weight(), v = weight();
  optim::SGD sgd({w}, optim::SGDOptions(0.5).momentum(0.9));
  sgd.add_param_group(optim::OptimizerParamGroup({v}, std::make_unique<optim::SGDOptions>(0.25)));
  EXPECT_EQ(sgd.size(), 2u);
  (w + v).sum().backward();
  sgd.step();
  EXPECT_EQ(w[0].item<float>(), 0.5);
  EXPECT_EQ(v[0].item<float>(), 0.75);
  EXPECT_EQ(sgd.state().size(), 1u);
  auto& state = static_cast<optim::SGDParamState&>(*sgd.state()[w.unsafeGetTensorImpl()]);
  EXPECT_EQ(state.momentum_buffer()[0].item<float>(), 1);
  EXPECT_EQ(static_cast<optim::SGDOptions&>(sgd.param_groups()[1].options()).momentum(), 0);
  EXPECT_THROW(sgd.add_param_group(optim::OptimizerParamGroup({w})), c10::Error);
  sgd.param_groups()[0].options().set_lr(0.125);
  EXPECT_EQ(sgd.param_groups()[0].options().get_lr(), 0.125);
}

TEST(Optim, ClosureRecordsGradients) {
  Tensor w = weight();
  optim::Adam adam({w}, optim::AdamOptions(0.1));
  torch::NoGradGuard guard;
  Tensor loss = adam.step([&] {
    adam.zero_grad();
    Tensor value = (w * w).sum();
    value.backward();
    return value;
  });
  EXPECT_EQ(loss.item<float>(), 5);
  EXPECT_NEAR(w[0].item<float>(), 0.9, 1e-6);
  auto& state = static_cast<optim::AdamParamState&>(*adam.state().at(w.unsafeGetTensorImpl()));
  EXPECT_EQ(state.step(), 1);
  EXPECT_NEAR(state.exp_avg()[0].item<float>(), 0.2, 1e-6);
}

TEST(Optim, AdamWDecaysApart) {
  Tensor w = weight();
  optim::AdamW adam({w}, optim::AdamWOptions(0.1).weight_decay(0.5));
  w.sum().backward();
  adam.step();
  EXPECT_NEAR(w[0].item<float>(), 1 * (1 - 0.1 * 0.5) - 0.1, 1e-6);
}

TEST(Optim, FitsALine) {
  torch::manual_seed(0);
  torch::nn::Linear line(1, 1);
  optim::SGD sgd(line->parameters(), /*lr=*/0.1);
  Tensor x = torch::arange(-2, 3, torch::kFloat).reshape({5, 1}), y = x * 3 + 1;
  double loss_value = 0;
  for (int i = 0; i < 200; ++i) {
    sgd.zero_grad();
    Tensor error = line(x) - y;
    Tensor loss = (error * error).mean();
    loss.backward();
    sgd.step();
    loss_value = loss.item<double>();
  }
  EXPECT_LT(loss_value, 1e-6);
  EXPECT_NEAR(line->weight.item<double>(), 3, 1e-3);
}

TEST(Optim, OptionsCompareAndClone) {
  optim::AdamOptions options(0.5);
  options.betas({0.8, 0.9}).amsgrad(true);
  std::unique_ptr<optim::OptimizerOptions> copy = static_cast<optim::OptimizerOptions&>(options).clone();
  EXPECT_TRUE(static_cast<optim::AdamOptions&>(*copy) == options);
}

}  // namespace
