// Modules: registration, walking, cloning, holders, AnyModule, Sequential.
#include <gtest/gtest.h>
#include <torch/nn/parallel/data_parallel.h>
#include <torch/torch.h>

#include <sstream>

namespace {

namespace nn = torch::nn;
using torch::Tensor;

struct NetImpl : nn::Cloneable<NetImpl> {
  NetImpl(int64_t inputs, int64_t outputs) : inputs(inputs), outputs(outputs) { reset(); }
  void reset() override {
    first = register_module("first", nn::Linear(inputs, 4));
    second = register_module("second", nn::Linear(4, outputs));
    scale = register_parameter("scale", torch::ones({1}));
    count = register_buffer("count", torch::zeros({1}));
  }
  Tensor forward(Tensor x) { return second(torch::relu(first(x))) * scale; }

  int64_t inputs, outputs;
  nn::Linear first{nullptr}, second{nullptr};
  Tensor scale, count;
};
TORCH_MODULE(Net);

TEST(Module, WalksInOrder) {
  Net net(3, 2);
  std::vector<std::string> names;
  for (const auto& item : net->named_parameters()) names.push_back(item.key());
  EXPECT_EQ(names, (std::vector<std::string>{"scale", "first.weight", "first.bias", "second.weight", "second.bias"}));
  EXPECT_EQ(net->parameters(/*recurse=*/false).size(), 1u);
  EXPECT_EQ(net->buffers().size(), 1u);
  EXPECT_EQ(net->modules().size(), 3u);
  EXPECT_EQ(net->children().size(), 2u);
  EXPECT_EQ(net->modules(/*include_self=*/false).size(), 2u);
  std::vector<std::string> visited;
  net->apply([&](const std::string& name, nn::Module&) { visited.push_back(name); }, "net");
  EXPECT_EQ(visited, (std::vector<std::string>{"net", "net.first", "net.second"}));
  NetImpl on_the_stack(3, 2);
  EXPECT_THROW(on_the_stack.modules(), c10::Error);
}

TEST(Module, ClonesDeeply) {
  Net net(3, 2);
  auto copy = std::dynamic_pointer_cast<NetImpl>(net->clone());
  ASSERT_TRUE(copy);
  for (const auto& item : net->named_parameters()) {
    Tensor other = copy->named_parameters()[item.key()];
    EXPECT_EQ((other == item.value()).to(torch::kLong).sum().item<int64_t>(), item.value().numel());
    EXPECT_FALSE(other.is_alias_of(item.value()));
  }
  {
    torch::NoGradGuard guard;
    copy->first->weight.add_(1);
  }
  EXPECT_NE(copy->first->weight[0][0].item<float>(), net->first->weight[0][0].item<float>());
  EXPECT_TRUE(copy->first->weight.requires_grad());
  Tensor x = torch::ones({1, 3});
  EXPECT_NE(copy->forward(x).sum().item<float>(), net(x).sum().item<float>());
}

TEST(Module, Converts) {
  Net net(3, 2);
  Tensor before = net->first->weight;
  net->to(torch::kDouble);
  EXPECT_EQ(net->first->weight.dtype(), torch::kDouble);
  EXPECT_EQ(net->count.dtype(), torch::kDouble);
  EXPECT_TRUE(before.is_same(net->first->weight));
  EXPECT_TRUE(net->first->weight.requires_grad());
}

TEST(Module, Modes) {
  Net net(3, 2);
  net->eval();
  EXPECT_FALSE(net->first->is_training());
  net->train();
  EXPECT_TRUE(net->first->is_training());
  net(torch::ones({1, 3})).sum().backward();
  EXPECT_TRUE(net->scale.grad().defined());
  net->zero_grad(/*set_to_none=*/false);
  EXPECT_EQ(net->scale.grad().item<float>(), 0);
  net->zero_grad();
  EXPECT_FALSE(net->scale.grad().defined());
}

TEST(Module, Replaces) {
  Net net(3, 2);
  net->first = net->replace_module("first", nn::Linear(3, 4));
  EXPECT_TRUE(net->named_parameters()["first.weight"].is_same(net->first->weight));
  net->unregister_module("first");
  EXPECT_EQ(net->children().size(), 1u);
  EXPECT_THROW(net->unregister_module("first"), c10::Error);
}

TEST(Module, Holders) {
  nn::Linear empty = nullptr;
  EXPECT_TRUE(empty.is_empty());
  EXPECT_THROW(empty->weight.sizes(), c10::Error);
  Net net(3, 2), same = net;
  EXPECT_EQ(net.get(), same.get());
  EXPECT_EQ(net.ptr().use_count(), 2);
  Net shared(std::make_shared<NetImpl>(1, 1));
  EXPECT_EQ(shared->inputs, 1);
  EXPECT_TRUE(net->as<Net>() != nullptr);
  nn::Module& base = *net;
  EXPECT_EQ(base.as<NetImpl>(), net.get());
  EXPECT_EQ(base.as<nn::Linear>(), nullptr);
}

struct TwoArguments : nn::Module {
  Tensor forward(Tensor a, const Tensor& b) { return a + b; }
};
struct Maker : nn::Module {
  int forward(double x) { return static_cast<int>(x) + 1; }
};
struct WithDefault : nn::Module {
  int forward(int a, int b = 5) { return a + b; }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(5)})
};

TEST(AnyModule, CallsAndChecks) {
  nn::AnyModule any(TwoArguments{});
  EXPECT_EQ(any.forward(torch::ones({2}), torch::ones({2})).sum().item<int>(), 4);
  EXPECT_THROW(any.forward(torch::ones({2})), c10::Error);
  EXPECT_THROW(any.forward(torch::ones({2}), 5), c10::Error);
  nn::AnyModule maker(Maker{});
  EXPECT_EQ(maker.forward<int>(2.5), 3);
  EXPECT_THROW(maker.forward(2.5), c10::Error);
  EXPECT_NO_THROW(maker.get<Maker>());
  EXPECT_THROW(maker.get<TwoArguments>(), c10::Error);
  nn::AnyModule with_default(WithDefault{});
  EXPECT_EQ(with_default.forward<int>(1), 6);
  EXPECT_EQ(with_default.forward<int>(1, 1), 2);
  nn::AnyModule linear(nn::Linear(2, 3));
  EXPECT_EQ(linear.get<nn::Linear>()->options.out_features(), 3);
  EXPECT_TRUE(nn::AnyModule().is_empty());
}

TEST(Sequential, HoldsModulesOfEveryKind) {
  nn::Sequential net(nn::Linear(2, 3), nn::ReLU(), std::make_shared<nn::LinearImpl>(3, 1));
  net->push_back("flatten", nn::Flatten(nn::FlattenOptions().start_dim(0)));
  net->push_back(nn::Functional([](Tensor x) { return x * 2; }));
  EXPECT_EQ(net->size(), 5u);
  EXPECT_EQ(net->forward(torch::ones({4, 2})).sizes(), std::vector<int64_t>{4});
  EXPECT_EQ(net->at<nn::LinearImpl>(2).options.in_features(), 3);
  EXPECT_EQ(net[1]->name(), "torch::nn::ReLUImpl");
  EXPECT_TRUE(net->named_children().contains("flatten"));
  EXPECT_THROW(net->at<nn::LinearImpl>(1), c10::Error);
  EXPECT_THROW(nn::Sequential()->forward(torch::ones({1})), c10::Error);
  nn::Sequential maker{Maker{}};
  EXPECT_EQ(maker->forward<int>(1.0), 2);
}

TEST(Sequential, ClonesAndExtends) {
  nn::Sequential net({{"a", nn::Linear(2, 3)}, {"b", nn::Linear(3, 1)}});
  auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone());
  EXPECT_EQ(copy->named_children().keys(), (std::vector<std::string>{"0", "1"}));
  EXPECT_FALSE(copy->parameters()[0].is_alias_of(net->parameters()[0]));
  EXPECT_EQ(copy->forward(torch::ones({2})).item<float>(), net->forward(torch::ones({2})).item<float>());
  nn::Sequential more;
  more->push_back(nn::ReLU());
  more->extend(*copy);
  EXPECT_EQ(more->size(), 3u);
}

TEST(Sequential, NestedModulePrinting) {
  struct OuterImpl : nn::Module {
    OuterImpl() { register_module("inner", nn::Sequential(nn::Linear(1, 2), nn::ReLU())); }
  };
  std::ostringstream text;
  text << OuterImpl();
  EXPECT_NE(text.str().find("  (inner): torch::nn::Sequential(\n    (0): torch::nn::Linear(in_features=1"), std::string::npos) << text.str();
}

TEST(Init, BoundsAndGains) {
  EXPECT_DOUBLE_EQ(nn::init::calculate_gain(torch::kTanh), 5.0 / 3.0);
  EXPECT_DOUBLE_EQ(nn::init::calculate_gain(torch::kLeakyReLU, 1.0), 1.0);
  Tensor w = torch::empty({50, 30});
  nn::init::xavier_uniform_(w);
  double bound = std::sqrt(6.0 / 80.0);
  EXPECT_LE(w.max().item<double>(), bound);
  EXPECT_GT(w.max().item<double>(), 0.9 * bound);
  nn::init::kaiming_normal_(w, 0, torch::kFanOut, torch::kReLU);
  nn::init::constant_(w, 2);
  EXPECT_EQ(w.sum().item<float>(), 3000);
  nn::init::eye_(w);
  EXPECT_EQ(w.sum().item<float>(), 30);
  EXPECT_THROW(nn::init::xavier_normal_(torch::empty({3})), c10::Error);
}

// In libtorch these options are std::variants.
TEST(Options, ChoicesActLikeVariants) {
  namespace enumtype = torch::enumtype;
  auto loss = nn::functional::MSELossFuncOptions(torch::kSum);
  const auto& seen = loss.reduction();
  EXPECT_NE(std::get_if<enumtype::kSum>(&loss.reduction()), nullptr);
  EXPECT_EQ(std::get_if<enumtype::kMean>(&seen), nullptr);
  EXPECT_TRUE(std::holds_alternative<enumtype::kSum>(seen));
  std::get<enumtype::kSum>(seen);
  EXPECT_THROW(std::get<enumtype::kMean>(seen), std::bad_variant_access);
  EXPECT_TRUE(std::visit([](auto name) { return std::is_same_v<decltype(name), enumtype::kSum>; }, loss.reduction()));
  std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum> variant = seen;
  EXPECT_EQ(variant.index(), 2u);
  variant = torch::kNone;
  loss.reduction(variant);
  EXPECT_EQ(enumtype::get_enum_name(seen), "kNone");
  EXPECT_EQ(enumtype::get_enum_name(variant), "kNone");
  loss.reduction() = torch::kMean;
  EXPECT_EQ(seen.index(), 1u);
  EXPECT_EQ(enumtype::reduction_get_enum(seen), at::Reduction::Mean);

  auto conv = nn::Conv2dOptions(1, 2, 3).padding({1, 2});
  EXPECT_EQ((**std::get_if<torch::ExpandingArray<2>>(&conv.padding()))[1], 2);
  conv.padding(torch::kSame);
  EXPECT_EQ(std::get_if<torch::ExpandingArray<2>>(&conv.padding()), nullptr);
  std::variant<torch::ExpandingArray<2>, enumtype::kValid, enumtype::kSame> padding = conv.padding();
  EXPECT_EQ(padding.index(), 2u);
  conv.padding(3).padding(padding);
  EXPECT_TRUE(std::holds_alternative<enumtype::kSame>(conv.padding()));

  auto layer = nn::TransformerEncoderLayerOptions(4, 2).activation([](const Tensor& x) { return x + 1; });
  std::variant<enumtype::kReLU, enumtype::kGELU, std::function<Tensor(const Tensor&)>> activation = layer.activation();
  EXPECT_EQ(std::get<2>(activation)(torch::ones({})).item<float>(), 2);
  activation = torch::kGELU;
  EXPECT_TRUE(std::holds_alternative<enumtype::kGELU>(layer.activation(activation).activation()));
}

TEST(OrderedDict, KeepsOrder) {
  torch::OrderedDict<std::string, int> dict("Number");
  dict.insert("z", 1);
  dict.insert("a", 2);
  dict.insert("m", 3);
  EXPECT_EQ(dict.keys(), (std::vector<std::string>{"z", "a", "m"}));
  EXPECT_EQ(dict["a"], 2);
  EXPECT_EQ(dict[2].key(), "m");
  EXPECT_THROW(dict.insert("a", 1), c10::Error);
  EXPECT_THROW(dict["q"], c10::Error);
  dict.erase("a");
  EXPECT_EQ(dict.keys(), (std::vector<std::string>{"z", "m"}));
  EXPECT_EQ(dict["m"], 3);
  EXPECT_EQ(*dict.find("z"), 1);
  EXPECT_EQ(dict.find("a"), nullptr);
  torch::OrderedDict<std::string, int> braced = {{"x", 1}, {"y", 2}};
  dict.update(braced);
  EXPECT_EQ(dict.size(), 4u);
  EXPECT_EQ(dict.back().value(), 2);
}

TEST(Module, DataParallelAppliesTheModuleOnOneDevice) {
  torch::nn::Linear linear(3, 2);
  torch::Tensor input = torch::arange(12, torch::kFloat).reshape({4, 3}).requires_grad_();
  torch::Tensor output = torch::nn::parallel::data_parallel(linear, input, std::vector<torch::Device>{torch::kCPU}, torch::Device("meta"));
  EXPECT_EQ(output.sizes(), (std::vector<int64_t>{4, 2}));
  EXPECT_TRUE(output.is_meta());
  output = torch::nn::parallel::data_parallel(linear, input, std::vector<torch::Device>{torch::kCPU});
  EXPECT_TRUE(torch::equal(output, linear->forward(input)));
  output.sum().backward();
  EXPECT_TRUE(torch::equal(linear->bias.grad(), torch::full({2}, 4.0)));
  std::vector<torch::Device> two{torch::kCPU, torch::Device("meta")};
  EXPECT_THROW(torch::nn::parallel::data_parallel(linear, input, two), c10::NotImplementedError);

  std::vector<torch::nn::Linear> modules{linear, torch::nn::Linear(3, 5)};
  std::vector<torch::Tensor> outputs = torch::nn::parallel::parallel_apply(modules, {input, input});
  EXPECT_TRUE(torch::equal(outputs[0], output));
  EXPECT_EQ(outputs[1].sizes(), (std::vector<int64_t>{4, 5}));
  EXPECT_TRUE(outputs[1].requires_grad());
  EXPECT_THROW(torch::nn::parallel::parallel_apply(modules, {input}), c10::Error);
}

}  // namespace
