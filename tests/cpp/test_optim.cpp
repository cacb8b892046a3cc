// Optimizers: groups, states, closures. Their numbers are compared with libtorch's by the oracle programs.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>

#include "messages.h"

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

// Seven steps from the same weights; the numbers are libtorch 2.7.1's for the same calls.
template <class Optimizer, class Options>
std::vector<double> after_seven_steps(Options options) {
  torch::manual_seed(0);
  Tensor w = torch::randn({3, 2}, torch::kDouble).set_requires_grad(true);
  Optimizer optimizer({w}, options);
  for (int i = 0; i < 7; ++i) {
    optimizer.step([&] {
      optimizer.zero_grad();
      Tensor loss = (w * w - torch::arange(6, torch::kDouble).view({3, 2})).pow(2).sum();
      loss.backward();
      return loss;
    });
  }
  return std::vector<double>(w.data_ptr<double>(), w.data_ptr<double>() + 6);
}
void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-13) << i;
}

TEST(Optim, StepsAreLibtorchs) {
  expect_near(after_seven_steps<optim::Adagrad>(optim::AdagradOptions(0.1).lr_decay(0.1).weight_decay(0.01).initial_accumulator_value(0.2)),
              {1.24675790934329, -0.638747579700527, -1.88830322569314, 0.918564528009975, -1.41484288213196, -1.72208494235215});
  expect_near(after_seven_steps<optim::RMSprop>(optim::RMSpropOptions(0.05).weight_decay(0.01)),
              {0.607153827388383, -0.993175623711794, -1.43038115033418, 1.73132755982161, -1.9993748952248, -2.23550889061333});
  expect_near(after_seven_steps<optim::RMSprop>(optim::RMSpropOptions(0.05).momentum(0.9).centered(true).alpha(0.9)),
              {-0.168656882759763, -1.2490574808335, -0.72425333497452, 2.41310549884326, -2.54157655991656, -2.73515180662744});
  expect_near(after_seven_steps<optim::LBFGS>(optim::LBFGSOptions(0.3).max_iter(3).history_size(2)),
              {0.358100971650402, -1.01179095450836, -1.41418340086121, 1.73184117305506, -1.99996305686988, -2.23354361924913});
  expect_near(after_seven_steps<optim::LBFGS>(optim::LBFGSOptions(1).max_iter(3).line_search_fn("strong_wolfe")),
              {0.23448173372027, -1.00347209354607, -1.40608649785771, 1.7324347606447, -2.00074378506951, -2.23825309215382});
}

TEST(Optim, SchedulersSetRates) {
  Tensor w = weight();
  optim::Adam adam({w}, optim::AdamOptions(1.0));
  auto rate = [&] { return adam.param_groups()[0].options().get_lr(); };
  optim::StepLR by_step(adam, 3, 0.5);
  std::vector<double> rates;
  for (int i = 0; i < 10; ++i) by_step.step(), rates.push_back(rate());
  EXPECT_EQ(rates, (std::vector<double>{1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125}));

  using Plateau = optim::ReduceLROnPlateauScheduler;
  Plateau plateau(adam, Plateau::min, 0.5f, /*patience=*/2, 1e-4, Plateau::rel, /*cooldown=*/1, {0.05f}, 1e-8, /*verbose=*/true);
  rates.clear();
  testing::internal::CaptureStdout();
  for (int i = 0; i < 14; ++i) plateau.step(5), rates.push_back(rate());
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "Epoch 4: reducing learning rate of group 0 to 0.0625\nEpoch 8: reducing learning rate of group 0 to 0.05\n");
  EXPECT_EQ(rates[2], 0.125);
  EXPECT_EQ(rates[6], 0.0625);
  EXPECT_EQ(rates[13], 0.05f);
}

TEST(Optim, RefusesInLibtorchsWords) {
  Tensor w = weight();
  EXPECT_EQ(message_of([&] { optim::RMSprop({w}, optim::RMSpropOptions(-1)); }), "Invalid learning rate: -1");
  EXPECT_EQ(message_of([&] { optim::Adagrad({w}, optim::AdagradOptions(1).lr_decay(-1)); }), "Invalid lr_decay value: -1");
  EXPECT_EQ(message_of([&] { optim::LBFGS({w}, 1.0).step(nullptr); }), "LBFGS requires a closure function");
  EXPECT_EQ(message_of([&] { optim::LBFGS({optim::OptimizerParamGroup({w}), optim::OptimizerParamGroup({weight()})}, 1.0); }),
            "LBFGS doesn't support per-parameter options (parameter groups)");
  EXPECT_EQ(message_of([] { optim::OptimizerOptions().clone(); }),
            "clone() has not been implemented for torch::optim::OptimizerOptions. Subclass "
            "torch::optim::OptimizerCloneableOptions<YourOptimizerOptions> instead of torch::optim::OptimizerOptions to inherit the ability to clone.");
  torch::serialize::OutputArchive archive;
  EXPECT_EQ(message_of([&] { optim::OptimizerParamState().serialize(archive); }),
            "void serialize(torch::serialize::OutputArchive& archive) has not been implemented for torch::optim::OptimizerParamState. You must "
            "override it in your subclass of torch::optim::OptimizerCloneableParamState<YourOptimizerParamState>.");
}

// A custom optimizer.
struct DriftOptions : optim::OptimizerCloneableOptions<DriftOptions> {
  DriftOptions(double lr = 1) : lr_(lr) {}
  TORCH_ARG(double, lr);

 public:
  void serialize(torch::serialize::OutputArchive& archive) const override { archive.write("lr", lr()); }
  void serialize(torch::serialize::InputArchive& archive) override {
    c10::IValue value;
    archive.read("lr", value);
    lr(value.toDouble());
  }
};
struct DriftState : optim::OptimizerCloneableParamState<DriftState> {
  TORCH_ARG(int64_t, steps) = 0;

 public:
  void serialize(torch::serialize::OutputArchive& archive) const override { archive.write("steps", steps()); }
  void serialize(torch::serialize::InputArchive& archive) override {
    c10::IValue value;
    archive.read("steps", value);
    steps(value.toInt());
  }
};
struct Drift : optim::Optimizer {
  explicit Drift(std::vector<Tensor> params, DriftOptions options = {})
      : Optimizer(std::move(params), std::make_unique<DriftOptions>(options)) {}
  Tensor step(LossClosure = nullptr) override {
    torch::NoGradGuard guard;
    for (Tensor& param : param_groups_[0].params()) {
      auto& state = state_[param.unsafeGetTensorImpl()];
      if (!state) state = std::make_unique<DriftState>();
      auto& own = static_cast<DriftState&>(*state);
      own.steps(own.steps() + 1);
      param.sub_(static_cast<DriftOptions&>(param_groups_[0].options()).lr());
    }
    return {};
  }
  void save(torch::serialize::OutputArchive& archive) const override { optim::serialize<DriftState, DriftOptions>(archive, *this); }
  void load(torch::serialize::InputArchive& archive) override { optim::serialize<DriftState, DriftOptions>(archive, *this); }
};

TEST(Optim, AProgramsOwnOptimizerIsSavedAndLoaded) {
  Tensor w = weight();
  Drift a({w}, 0.25), b({w}, 3);
  a.step();
  a.step();
  std::stringstream stream;
  torch::save(a, stream);
  torch::load(b, stream);
  EXPECT_EQ(static_cast<DriftOptions&>(b.param_groups()[0].options()).lr(), 0.25);
  EXPECT_EQ(static_cast<DriftState&>(*b.state().at(w.unsafeGetTensorImpl())).steps(), 2);
}

// The fields of options and state are saved by libtorch's macros.
struct SlideOptions : optim::OptimizerCloneableOptions<SlideOptions> {
  using Pair = std::tuple<double, double>;
  TORCH_ARG(double, lr) = 1;
  TORCH_ARG(Pair, betas) = Pair(0.9, 0.999);
  TORCH_ARG(bool, adam) = false;
  TORCH_ARG(std::optional<int64_t>, limit) = std::nullopt;

 public:
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(lr);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(betas);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(adam);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(limit);
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, lr);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(Pair, betas);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(bool, adam);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(int64_t, limit);
  }
};
struct SlideParamState : optim::OptimizerCloneableParamState<SlideParamState> {
  TORCH_ARG(Tensor, mean);
  TORCH_ARG(Tensor, maximum);
  TORCH_ARG(std::deque<Tensor>, steps);

 public:
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(mean);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(maximum);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(steps);
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(Tensor, mean);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(Tensor, maximum);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(std::deque<Tensor>, steps);
  }
};
struct Slide : optim::Optimizer {
  explicit Slide(std::vector<Tensor> params, SlideOptions options = {})
      : Optimizer(std::move(params), std::make_unique<SlideOptions>(options)) {}
  Tensor step(LossClosure = nullptr) override {
    auto state = std::make_unique<SlideParamState>();
    state->mean(torch::full({2}, 3.0)).steps({torch::ones(1), torch::zeros(1)});
    state_[param_groups_[0].params()[0].unsafeGetTensorImpl()] = std::move(state);
    return {};
  }
  void save(torch::serialize::OutputArchive& archive) const override { serialize(*this, archive); }
  void load(torch::serialize::InputArchive& archive) override { serialize(*this, archive); }
  template <class Self, class Archive>
  static void serialize(Self& self, Archive& archive) {
    _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(Slide);
  }
};

TEST(Optim, MacrosSaveAndLoadTheFieldsOfOptionsAndState) {
  Tensor w = weight();
  Slide a({w}, SlideOptions().lr(0.5).betas({0.25, 0.75}).adam(true).limit(7)), b({w});
  a.step();
  std::stringstream stream;
  torch::save(a, stream);
  torch::load(b, stream);
  auto& options = static_cast<SlideOptions&>(b.param_groups()[0].options());
  EXPECT_EQ(options.lr(), 0.5);
  EXPECT_EQ(options.betas(), std::make_tuple(0.25, 0.75));
  EXPECT_TRUE(options.adam());
  EXPECT_EQ(options.limit(), 7);
  auto& state = static_cast<SlideParamState&>(*b.state().at(w.unsafeGetTensorImpl()));
  EXPECT_TRUE(state.mean().equal(torch::full({2}, 3.0)));
  EXPECT_FALSE(state.maximum().defined());
  ASSERT_EQ(state.steps().size(), 2u);
  EXPECT_EQ(state.steps()[0].item<float>(), 1);
  torch::serialize::InputArchive empty;
  EXPECT_THROW(SlideOptions().serialize(empty), c10::Error);
}

TEST(Optim, OptionsCompareAndClone) {
  optim::AdamOptions options(0.5);
  options.betas({0.8, 0.9}).amsgrad(true);
  std::unique_ptr<optim::OptimizerOptions> copy = static_cast<optim::OptimizerOptions&>(options).clone();
  EXPECT_TRUE(static_cast<optim::AdamOptions&>(*copy) == options);
}

}  // namespace
