// Modules, functional and optimizers, as libtorch has them: tests/data/semantics_nn.expected.txt.
//
// The same source, compiled against Rushlight, must print the same bytes. Results of longer computations go through
// `rounded`.

#include "show.h"

#include <memory>
#include <vector>

namespace nn = torch::nn;
namespace F = torch::nn::functional;
namespace optim = torch::optim;
using torch::Tensor;

namespace {

struct NetImpl : nn::Module {
  NetImpl(int64_t inputs, int64_t outputs) : first(inputs, 4), second(nn::LinearOptions(4, outputs).bias(false)) {
    register_module("first", first);
    register_module("second", second);
    register_module("drop", drop);
    scale = register_parameter("scale", torch::full({1}, 0.5f));
    steps = register_buffer("steps", torch::zeros({1}, torch::kLong));
  }

  Tensor forward(const Tensor& x) { return second(drop(torch::relu(first(x)))) * scale; }

  nn::Linear first, second;
  nn::Dropout drop{0.25};
  Tensor scale, steps;
};
TORCH_MODULE(Net);

// Parameters that need no generator: -0.5, -0.375, -0.25, ...
void fill(nn::Module& module) {
  torch::NoGradGuard guard;
  for (auto& p : module.parameters()) {
    p.copy_(torch::arange(p.numel(), torch::kFloat).reshape(p.sizes()).mul(0.125f).sub(0.5f));
  }
}

void printing() {
  SHOW("Linear", nn::Linear(3, 2));
  SHOW("Linear, no bias", nn::Linear(nn::LinearOptions(3, 2).bias(false)));
  SHOW("ReLU", nn::ReLU());
  SHOW("ReLU, in place", nn::ReLU(nn::ReLUOptions(true)));
  SHOW("Dropout", nn::Dropout());
  SHOW("Dropout, p", nn::Dropout(nn::DropoutOptions(0.1).inplace(true)));
  SHOW("Sequential", nn::Sequential(nn::Linear(3, 2), nn::ReLU(), nn::Dropout(0.1), nn::Linear(2, 1)));
  SHOW("Sequential, named", nn::Sequential({{"in", nn::Linear(3, 2)}, {"out", nn::Linear(2, 1)}}));
  SHOW("Sequential, empty", nn::Sequential());
  SHOW("own module", Net(3, 2));
  SHOW("own module, dereferenced", *Net(3, 2));
  SHOW("name", Net(3, 2)->first->name());
}

void modules() {
  Net net(3, 2);
  std::cout << "== named_parameters\n";
  for (const auto& item : net->named_parameters()) {
    std::cout << item.key() << " " << item.value().sizes() << " " << item.value().requires_grad() << "\n";
  }
  std::cout << "== named_parameters, not recursive\n";
  for (const auto& item : net->named_parameters(/*recurse=*/false)) {
    std::cout << item.key() << "\n";
  }
  std::cout << "== named_buffers\n";
  for (const auto& item : net->named_buffers()) {
    std::cout << item.key() << " " << item.value().scalar_type() << "\n";
  }
  std::cout << "== named_children\n";
  for (const auto& item : net->named_children()) {
    std::cout << item.key() << "\n";
  }
  std::cout << "== named_modules\n";
  for (const auto& item : net->named_modules()) {
    std::cout << "'" << item.key() << "'\n";
  }
  SHOW("parameters", net->parameters().size());
  SHOW("is_training", net->is_training());
  net->eval();
  SHOW("eval reaches the children", net->drop->is_training());
  net->train();
  SHOW("train", net->drop->is_training());
  fill(*net);
  net->eval();
  SHOW("forward", net(torch::tensor({{1.0f, 2.0f, -1.0f}})));
  SHOW("forward through the holder", net->forward(torch::tensor({{0.5f, 0.25f, 1.0f}})));
  net(torch::ones({1, 3})).sum().backward();
  SHOW("gradient", net->scale.grad());
  net->zero_grad();
  SHOW("zero_grad drops the gradient", net->scale.grad().defined());
  net->to(torch::kDouble);
  SHOW("to, parameters", net->first->weight.dtype());
  SHOW("to converts buffers of integers too", net->steps.dtype());
  SHOW("to keeps requires_grad", net->first->weight.requires_grad());
  nn::Sequential sequential(nn::Linear(2, 2), nn::ReLU());
  sequential->push_back(nn::Linear(2, 1));
  fill(*sequential);
  SHOW("Sequential, size", sequential->size());
  SHOW("Sequential, forward", sequential->forward(torch::tensor({{1.0f, -3.0f}})));
  SHOW("Sequential, at", sequential->at<nn::LinearImpl>(2).options.in_features());
  SHOW("Sequential, ptr", sequential->ptr(1)->name());
  std::cout << "== Sequential, keys\n";
  for (const auto& item : sequential->named_parameters()) {
    std::cout << item.key() << "\n";
  }
  nn::Linear nothing = nullptr;
  SHOW("an empty holder", nothing.is_empty());
  SHOW("as", net->first->as<nn::Linear>() != nullptr);
  SHOW("as another", net->first->as<nn::Dropout>() == nullptr);
  net->apply([](nn::Module& module) { module.eval(); });
  SHOW("apply", net->is_training());
  ERROR_OF("name twice", net->register_parameter("scale", torch::zeros({1})));
  ERROR_OF("name with a dot", net->register_module("a.b", nn::ReLU()));
  ERROR_OF("empty name", net->register_buffer("", torch::zeros({1})));
  ERROR_OF("name of a child twice", net->register_module("first", nn::ReLU()));
  ERROR_OF("unknown child", net->named_children()["nobody"]);
  ERROR_OF("an empty holder used", nothing->weight.sizes());
  ERROR_OF("Dropout, probability", nn::Dropout(1.5));
}

void initialisation() {
  torch::manual_seed(0);
  nn::Linear first(3, 2);
  nn::Linear second(2, 1);
  SHOW("weight", first->weight);
  SHOW("bias", first->bias);
  SHOW("second weight", second->weight);
  SHOW("second bias", second->bias);
  SHOW("the generator moved as far", torch::rand({2}));
  torch::manual_seed(0);
  SHOW("no bias", nn::Linear(nn::LinearOptions(3, 2).bias(false))->weight);
  SHOW("and no bias", nn::Linear(nn::LinearOptions(3, 2).bias(false))->bias);
}

void functional() {
  auto x = torch::tensor({{1.0f, -2.0f, 0.5f}});
  SHOW("relu", F::relu(x));
  SHOW("relu, in place", F::relu(x.clone(), F::ReLUFuncOptions(true)));
  SHOW("linear", F::linear(x, torch::ones({2, 3}), torch::tensor({1.0f, 2.0f})));
  SHOW("log_softmax", F::log_softmax(x, 1));
  SHOW("log_softmax, options", F::log_softmax(x, F::LogSoftmaxFuncOptions(0)));
  auto log_p = torch::tensor({{-0.5f, -1.5f}, {-2.0f, -0.25f}});
  auto target = torch::tensor({1, 1});
  SHOW("nll_loss", F::nll_loss(log_p, target));
  SHOW("nll_loss, sum", F::nll_loss(log_p, target, F::NLLLossFuncOptions().reduction(torch::kSum)));
  SHOW("nll_loss, none", F::nll_loss(log_p, target, F::NLLLossFuncOptions().reduction(torch::kNone)));
  SHOW("nll_loss, ignore_index", F::nll_loss(log_p, torch::tensor({0, 1}), F::NLLLossFuncOptions().ignore_index(1)));
  SHOW("dropout off", F::dropout(x, F::DropoutFuncOptions().p(0.5).training(false)));
  torch::manual_seed(1);
  SHOW("dropout", F::dropout(torch::ones({2, 8}), F::DropoutFuncOptions().p(0.5)));
  SHOW("dropout, everything", F::dropout(x, F::DropoutFuncOptions().p(1)));
  SHOW("dropout, nothing", F::dropout(x, F::DropoutFuncOptions().p(0)));
  SHOW("the generator moved as far", torch::rand({2}));
  torch::manual_seed(1);
  nn::Dropout drop(0.5);
  SHOW("Dropout", drop(torch::ones({2, 8})));
  drop->eval();
  SHOW("Dropout in eval", drop(torch::ones({2})));
  auto grad_input = torch::ones({8}, torch::requires_grad());
  torch::manual_seed(1);
  torch::dropout(grad_input, 0.5, true).sum().backward();
  SHOW("dropout, gradient", grad_input.grad());
  ERROR_OF("dropout, probability", F::dropout(x, F::DropoutFuncOptions().p(-1)));
}

// Three steps on w = [1, -2] with gradient [1, -2] times 3, 2, 1; prints w after each.
template <class Optimizer, class Options>
void run(const char* name, Options options) {
  auto w = torch::tensor({1.0f, -2.0f}, torch::requires_grad());
  Optimizer optimizer(std::vector<Tensor>{w}, options);
  std::cout << "== " << name << "\n";
  for (int factor = 3; factor >= 1; --factor) {
    optimizer.zero_grad();
    (w * torch::tensor({1.0f, -2.0f}) * factor).sum().backward();
    optimizer.step();
    std::cout << oracle::rounded(w[0].item<double>()) << " " << oracle::rounded(w[1].item<double>()) << "\n";
  }
}

void optimizers() {
  run<optim::SGD>("SGD", optim::SGDOptions(0.1));
  run<optim::SGD>("SGD, momentum", optim::SGDOptions(0.1).momentum(0.9));
  run<optim::SGD>("SGD, dampening", optim::SGDOptions(0.1).momentum(0.9).dampening(0.5));
  run<optim::SGD>("SGD, nesterov", optim::SGDOptions(0.1).momentum(0.9).nesterov(true));
  run<optim::SGD>("SGD, weight decay", optim::SGDOptions(0.1).weight_decay(0.125));
  run<optim::Adam>("Adam", optim::AdamOptions(0.1));
  run<optim::Adam>("Adam, betas", optim::AdamOptions(0.1).betas({0.9, 0.5}));
  run<optim::Adam>("Adam, eps", optim::AdamOptions(0.1).eps(1));
  run<optim::Adam>("Adam, weight decay", optim::AdamOptions(0.1).weight_decay(0.5));
  run<optim::Adam>("Adam, amsgrad", optim::AdamOptions(0.1).betas({0.9, 0.5}).amsgrad(true));

  auto w = torch::tensor({1.0f}, torch::requires_grad());
  auto idle = torch::tensor({5.0f}, torch::requires_grad());
  optim::SGD sgd({w, idle}, /*lr=*/0.5);
  auto loss = sgd.step([&] {
    sgd.zero_grad();
    auto value = (w * w).sum();
    value.backward();
    return value;
  });
  SHOW("a closure returns the loss", loss);
  SHOW("after the closure", w);
  SHOW("no gradient, no step", idle);
  sgd.zero_grad();
  SHOW("zero_grad sets to none", w.grad().defined());
  w.sum().backward();
  sgd.zero_grad(/*set_to_none=*/false);
  SHOW("zero_grad to zero", w.grad());
  for (auto& group : sgd.param_groups()) {
    static_cast<optim::SGDOptions&>(group.options()).lr(0.25);
  }
  w.sum().backward();
  sgd.step();
  SHOW("another learning rate", w);
  SHOW("get_lr", sgd.param_groups()[0].options().get_lr());
  SHOW("parameters", sgd.param_groups()[0].params().size());

  auto a = torch::tensor({1.0f}, torch::requires_grad());
  auto b = torch::tensor({1.0f}, torch::requires_grad());
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{a}, std::make_unique<optim::SGDOptions>(0.5));
  groups.emplace_back(std::vector<Tensor>{b});
  optim::SGD grouped(groups, optim::SGDOptions(0.25));
  (a + b).sum().backward();
  grouped.step();
  SHOW("group with its own rate", a);
  SHOW("group with the default rate", b);

  ERROR_OF("SGD, learning rate", optim::SGD({w}, optim::SGDOptions(-1)));
  ERROR_OF("SGD, momentum", optim::SGD({w}, optim::SGDOptions(0.1).momentum(-0.5)));
  ERROR_OF("SGD, weight decay", optim::SGD({w}, optim::SGDOptions(0.1).weight_decay(-1)));
  ERROR_OF("SGD, nesterov", optim::SGD({w}, optim::SGDOptions(0.1).nesterov(true)));
  ERROR_OF("Adam, learning rate", optim::Adam({w}, optim::AdamOptions(-1)));
  ERROR_OF("Adam, beta", optim::Adam({w}, optim::AdamOptions(0.1).betas({1.0, 0.9})));
  ERROR_OF("Adam, eps", optim::Adam({w}, optim::AdamOptions(0.1).eps(-1)));
  ERROR_OF("a parameter that is not a leaf", optim::SGD({w * 2}, 0.1));
}

void training() {
  torch::manual_seed(7);
  // One after the other: as arguments, compilers for other processors would initialize their parameters in another
  // order.
  nn::Linear out(8, 2), in(2, 8);
  nn::Sequential net(in, nn::ReLU(), nn::Dropout(0.1), out);
  auto x = torch::tensor({{0.0f, 0.0f}, {0.0f, 1.0f}, {1.0f, 0.0f}, {1.0f, 1.0f}});
  auto y = torch::tensor({0, 1, 1, 0});
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.05));
  std::cout << "== exclusive or\n";
  for (int step = 1; step <= 10; ++step) {
    auto rows = torch::randperm(4);
    optimizer.zero_grad();
    auto loss = F::nll_loss(F::log_softmax(net->forward(x.index_select(0, rows)), 1), y.index_select(0, rows));
    loss.backward();
    optimizer.step();
    std::cout << step << " " << oracle::rounded(loss.item<double>()) << "\n";
  }
}

}  // namespace

int main() {
  std::cout << std::boolalpha;
  std::cout << "= printing\n";
  printing();
  std::cout << "= modules\n";
  modules();
  std::cout << "= initialisation\n";
  initialisation();
  std::cout << "= functional\n";
  functional();
  std::cout << "= optimizers\n";
  optimizers();
  std::cout << "= training\n";
  training();
}
