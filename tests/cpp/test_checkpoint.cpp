// Checkpoints of Python (tests/oracle/io_fixtures.py) with nested values and the options of optimizers, and round trips.
#include <gtest/gtest.h>
#include <torch/checkpoint.h>
#include <torch/torch.h>

#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

const std::string data = RUSHLIGHT_TEST_DATA "/io/";

c10::IValue at(const c10::IValue& dict, const c10::IValue& key) { return dict.toGenericDict().at(key); }

torch::nn::Sequential dense() {
  return torch::nn::Sequential(torch::nn::Linear(3, 2), torch::nn::ReLU(), torch::nn::Linear(2, 1));
}

void load(torch::nn::Sequential& net, const c10::IValue& state) {
  torch::NoGradGuard guard;
  for (auto& parameter : net->named_parameters()) parameter.value().copy_(at(state, parameter.key()).toTensor());
}

// A file that is removed at the end.
struct File {
  std::string path = "/tmp/rushlight-checkpoint-" + std::to_string(getpid()) + ".pt";
  ~File() { std::remove(path.c_str()); }
};

TEST(Checkpoint, ValuesOfPythonKeepTypesAndNesting) {
  c10::IValue whole = torch::load_checkpoint(data + "checkpoint.pt");
  EXPECT_EQ(at(whole, "epoch").toInt(), 3);
  EXPECT_EQ(at(whole, "note").toStringRef(), "résumé");
  EXPECT_TRUE(at(whole, "best").isNone());
  EXPECT_EQ(at(at(whole, "model"), "0.bias").toTensor()[1].item<float>(), 11);
  c10::IValue group = at(at(whole, "optimizer"), "param_groups").toList().get(0);
  EXPECT_EQ(at(group, "lr").toDouble(), 0.25);
  EXPECT_EQ(at(group, "betas").toTupleRef().elements()[1].toDouble(), 0.999);
  EXPECT_EQ(at(at(at(at(whole, "optimizer"), "state"), 0), "step").toTensor().item<float>(), 1);
}

// The losses are those of PyTorch, so the learning rate, the moments and the step counts have arrived.
TEST(Checkpoint, TrainingGoesOnFromPython) {
  c10::IValue whole = torch::load_checkpoint(data + "checkpoint.pt"), expected = torch::load_checkpoint(data + "resumed.pt");
  auto net = dense();
  load(net, at(whole, "model"));
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(1e-3));
  torch::optim::load_checkpoint(adam, at(whole, "optimizer"));
  EXPECT_EQ(adam.param_groups()[0].options().get_lr(), at(expected, "lr").toDouble());
  auto x = torch::tensor({{0.5f, -1.0f, 2.0f}, {1.0f, 0.25f, -0.5f}});
  auto losses = at(expected, "losses").toList();
  ASSERT_EQ(losses.size(), 4);
  for (size_t i = 0; i < losses.size(); ++i) {
    adam.zero_grad();
    auto loss = (net->forward(x) - 700).abs().mean();
    loss.backward();
    adam.step();
    EXPECT_NEAR(loss.item<double>(), losses.get(i).toDouble(), 1e-4);
  }
}

template <class Optimizer, class Options>
void restores(const Options& first, const Options& second) {
  File file;
  auto one = dense(), two = dense();
  Optimizer a(one->parameters(), first), b(two->parameters(), second);
  auto step = [](torch::nn::Sequential& net, Optimizer& optimizer) {
    optimizer.step([&] {
      optimizer.zero_grad();
      auto loss = net->forward(torch::ones({2, 3})).square().mean();
      loss.backward();
      return loss;
    });
  };
  step(one, a);
  step(one, a);
  c10::impl::GenericDict whole(c10::StringType::get(), c10::AnyType::get()), model(c10::StringType::get(), c10::AnyType::get());
  for (auto& parameter : one->named_parameters()) model.insert(parameter.key(), parameter.value().detach());
  whole.insert("model", model);
  whole.insert("optimizer", torch::optim::checkpoint(a));
  torch::save_checkpoint(whole, file.path);
  c10::IValue loaded = torch::load_checkpoint(file.path);
  load(two, at(loaded, "model"));
  torch::optim::load_checkpoint(b, at(loaded, "optimizer"));
  EXPECT_TRUE(static_cast<const Options&>(b.param_groups()[0].options()) == first);
  step(one, a);
  step(two, b);
  for (size_t i = 0; i < one->parameters().size(); ++i) EXPECT_TRUE(one->parameters()[i].equal(two->parameters()[i])) << i;
}

TEST(Checkpoint, OptimizersAreRestored) {
  restores<torch::optim::SGD>(torch::optim::SGDOptions(1e-4).momentum(0.5).nesterov(true), torch::optim::SGDOptions(1));
  restores<torch::optim::Adam>(torch::optim::AdamOptions(0.01).betas({0.5, 0.9}).amsgrad(true), torch::optim::AdamOptions(1));
  restores<torch::optim::AdamW>(torch::optim::AdamWOptions(0.01).eps(1e-3), torch::optim::AdamWOptions(1));
  restores<torch::optim::RMSprop>(torch::optim::RMSpropOptions(0.01).centered(true), torch::optim::RMSpropOptions(1));
  restores<torch::optim::Adagrad>(torch::optim::AdagradOptions(0.01).lr_decay(0.1), torch::optim::AdagradOptions(1));
}

template <class Optimizer>
std::string error_of(Optimizer& optimizer, const c10::IValue& state) {
  try {
    torch::optim::load_checkpoint(optimizer, state);
    return "";
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
}

TEST(Checkpoint, WhatDoesNotFitIsRejectedAndChangesNothing) {
  c10::IValue state = at(torch::load_checkpoint(data + "checkpoint.pt"), "optimizer");
  auto net = dense();
  torch::optim::AdamW decoupled(net->parameters(), torch::optim::AdamWOptions(0.5));
  EXPECT_EQ(error_of(decoupled, state), "the state is one of Adam, not of AdamW");
  auto three = net->parameters();
  three.pop_back();
  torch::optim::Adam fewer(three, torch::optim::AdamOptions(0.5));
  EXPECT_NE(error_of(fewer, state).find("a different size than the optimizer's parameter group"), std::string::npos);
  torch::optim::SGD other(net->parameters(), torch::optim::SGDOptions(0.5));
  EXPECT_EQ(error_of(other, state), "the optimizer has no option 'betas'");
  for (auto* optimizer : std::vector<torch::optim::Optimizer*>{&decoupled, &fewer, &other}) {
    EXPECT_EQ(optimizer->param_groups()[0].options().get_lr(), 0.5);
    EXPECT_TRUE(optimizer->state().empty());
  }
}

}  // namespace
