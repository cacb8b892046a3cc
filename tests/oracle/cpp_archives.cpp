// Files of libtorch's torch::save: tests/data/io/cpp_*.pt. `cpp_archives FOLDER` writes, `cpp_archives FOLDER check`
// reads cpp_*.pt of that folder and fails if the contents differ.
#include <torch/torch.h>

#include <cstdio>
#include <string>
#include <vector>

namespace nn = torch::nn;
using torch::Tensor;

namespace {

std::string folder;
bool checking = false;
int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s\n", what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition)

std::string file(const char* name) { return folder + "/cpp_" + name + ".pt"; }

/// Parameters that need no random numbers: 0, 1, 2, ...
nn::Sequential net() {
  nn::Sequential net(nn::Linear(3, 2), nn::ReLU(), nn::BatchNorm1d(2), nn::Linear(nn::LinearOptions(2, 1).bias(false)));
  torch::NoGradGuard guard;
  double next = 0;
  for (Tensor& parameter : net->parameters()) {
    parameter.copy_(torch::arange(next, next + parameter.numel()).reshape(parameter.sizes()));
    next += parameter.numel();
  }
  return net;
}

void tensors() {
  Tensor matrix = torch::arange(6).to(torch::kFloat).reshape({2, 3});
  std::vector<Tensor> list = {matrix.t(), torch::tensor({1, 2, 3}), torch::tensor({true, false})};
  if (!checking) {
    torch::save(matrix, file("tensor"));
    torch::save(list, file("tensors"));
    return;
  }
  Tensor loaded;
  torch::load(loaded, file("tensor"));
  EXPECT(torch::equal(loaded, matrix));
  std::vector<Tensor> loaded_list;
  torch::load(loaded_list, file("tensors"));
  EXPECT(loaded_list.size() == 3);
  for (size_t i = 0; i < loaded_list.size() && i < 3; ++i) EXPECT(loaded_list[i].dtype() == list[i].dtype() && torch::equal(loaded_list[i], list[i]));
}

void module() {
  nn::Sequential saved = net();
  saved->forward(torch::arange(12.f).reshape({4, 3}));
  if (!checking) return torch::save(saved, file("module"));
  nn::Sequential loaded(nn::Linear(3, 2), nn::ReLU(), nn::BatchNorm1d(2), nn::Linear(nn::LinearOptions(2, 1).bias(false)));
  torch::load(loaded, file("module"));
  auto same = [](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    bool same = a.size() == b.size();
    for (size_t i = 0; same && i < a.size(); ++i) same = torch::allclose(a[i], b[i]);
    return same;
  };
  EXPECT(same(loaded->parameters(), saved->parameters()));
  EXPECT(same(loaded->buffers(), saved->buffers()));
  EXPECT(loaded->parameters()[0].requires_grad());
}

/// Two steps from the same parameters are equal if the state is.
template <class Optimizer, class Options>
void optimizer(const char* name, const Options& options, const Options& others) {
  auto step = [](Optimizer& optimizer, Tensor& weight) {
    optimizer.zero_grad();
    (weight * weight).sum().backward();
    optimizer.step();
  };
  Tensor a = torch::tensor({1.f, -2.f}, torch::requires_grad()), b = torch::tensor({3.f}, torch::requires_grad());
  Optimizer saved({torch::optim::OptimizerParamGroup({a}), torch::optim::OptimizerParamGroup({b})}, options);
  step(saved, a);
  if (!checking) return torch::save(saved, file(name));
  Tensor c = a.detach().clone().requires_grad_(), d = torch::tensor({3.f}, torch::requires_grad());
  Optimizer loaded({torch::optim::OptimizerParamGroup({c}), torch::optim::OptimizerParamGroup({d})}, others);
  torch::load(loaded, file(name));
  EXPECT(loaded.state().size() == saved.state().size());
  EXPECT(static_cast<Options&>(loaded.param_groups()[0].options()) == options);
  EXPECT(static_cast<Options&>(loaded.param_groups()[1].options()) == options);
  step(saved, a);
  step(loaded, c);
  EXPECT(torch::allclose(a, c, 1e-6, 0));
}

void values() {
  const std::vector<int64_t> ints = {3, 1, 2};
  const std::vector<double> doubles = {0.5, 1.5};
  if (!checking) {
    torch::serialize::OutputArchive out, inner;
    inner.write("flag", c10::IValue(true));
    inner.write("tensor", torch::ones({2}), /*is_buffer=*/true);
    out.write("inner", inner);
    out.write("number", c10::IValue(-7));
    out.write("real", c10::IValue(0.1));
    out.write("text", c10::IValue("Gr\xc3\xbc\xc3\x9f"));
    out.write("none", c10::IValue());
    out.write("ints", c10::IValue(ints));
    out.write("doubles", c10::IValue(doubles));
    out.write("bools", c10::IValue(std::vector<bool>{true, false}));
    out.write("tensors", c10::IValue(std::vector<Tensor>{torch::ones({2}), torch::zeros({1})}));
    out.write("complex", c10::IValue(c10::complex<double>(1, -2)));
    return out.save_to(file("values"));
  }
  torch::serialize::InputArchive in, inner;
  in.load_from(file("values"));
  auto read = [](torch::serialize::InputArchive& archive, const char* key) {
    c10::IValue value;
    archive.read(key, value);
    return value;
  };
  in.read("inner", inner);
  Tensor tensor;
  inner.read("tensor", tensor, /*is_buffer=*/true);
  EXPECT(torch::equal(tensor, torch::ones({2})));
  EXPECT(read(inner, "flag").toBool());
  EXPECT(read(in, "number").toInt() == -7);
  EXPECT(read(in, "real").toDouble() == 0.1);
  EXPECT(read(in, "text").toStringRef() == "Gr\xc3\xbc\xc3\x9f");
  EXPECT(read(in, "none").isNone());
  EXPECT(read(in, "ints").toIntVector() == ints);
  EXPECT(read(in, "doubles").toDoubleVector() == doubles);
  EXPECT(read(in, "bools").isBoolList());
  EXPECT(read(in, "tensors").toTensorVector().size() == 2);
  EXPECT(read(in, "complex").toComplexDouble() == c10::complex<double>(1, -2));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: cpp_archives FOLDER [check]\n"), 2;
  folder = argv[1];
  checking = argc > 2;
  tensors();
  module();
  optimizer<torch::optim::SGD>("sgd", torch::optim::SGDOptions(0.1).momentum(0.9), torch::optim::SGDOptions(1));
  optimizer<torch::optim::Adam>("adam", torch::optim::AdamOptions(0.1).betas({0.8, 0.9}).amsgrad(true), torch::optim::AdamOptions(1));
  optimizer<torch::optim::RMSprop>("rmsprop", torch::optim::RMSpropOptions(0.1).centered(true), torch::optim::RMSpropOptions(1));
  optimizer<torch::optim::Adagrad>("adagrad", torch::optim::AdagradOptions(0.1).lr_decay(0.5), torch::optim::AdagradOptions(1));
  values();
  return failures == 0 ? 0 : 1;
}
