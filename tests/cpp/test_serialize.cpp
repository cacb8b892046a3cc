// torch::save and torch::load, in both formats.
#include <gtest/gtest.h>
#include <torch/csrc/jit/mobile/import_data.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <sstream>
#include <string>

#include "messages.h"

namespace {

using torch::Tensor;

class File {
 public:
  explicit File(const std::string& ending) : path_(testing::TempDir() + "rushlight_" + std::to_string(counter()++) + ending) {}
  ~File() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  static int& counter() {
    static int value = 0;
    return value;
  }
  std::string path_;
};

bool same(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() && (a != b).to(torch::kLong).sum().item<int64_t>() == 0;
}

class Formats : public testing::TestWithParam<const char*> {};

TEST_P(Formats, Tensors) {
  File file(GetParam());
  Tensor saved = torch::arange(6, torch::kDouble).reshape({2, 3}), loaded;
  torch::save(saved, file.path());
  torch::load(loaded, file.path());
  EXPECT_TRUE(same(saved, loaded));
  std::vector<Tensor> list = {torch::ones({2}), torch::tensor({1, 2, 3})}, list_loaded;
  torch::save(list, file.path());
  torch::load(list_loaded, file.path());
  ASSERT_EQ(list_loaded.size(), 2u);
  EXPECT_TRUE(same(list[1], list_loaded[1]));
}

TEST_P(Formats, Modules) {
  File file(GetParam());
  torch::manual_seed(1);
  torch::nn::Sequential a(torch::nn::Linear(3, 4), torch::nn::ReLU(), torch::nn::Linear(4, 2)),
      b(torch::nn::Linear(3, 4), torch::nn::ReLU(), torch::nn::Linear(4, 2));
  Tensor x = torch::ones({1, 3});
  EXPECT_FALSE(same(a->forward(x), b->forward(x)));
  torch::save(a, file.path());
  torch::load(b, file.path());
  EXPECT_TRUE(same(a->forward(x), b->forward(x)));
  EXPECT_TRUE(b->parameters()[0].requires_grad());
}

TEST_P(Formats, Optimizers) {
  File file(GetParam());
  Tensor w = torch::ones({2}, torch::requires_grad()), v = torch::ones({2}, torch::requires_grad());
  torch::optim::Adam a({w}, torch::optim::AdamOptions(0.1).amsgrad(true)), b({v}, torch::optim::AdamOptions(0.5));
  (w * w).sum().backward();
  a.step();
  torch::save(a, file.path());
  torch::load(b, file.path());
  EXPECT_EQ(b.param_groups()[0].options().get_lr(), 0.1);
  auto& state = static_cast<torch::optim::AdamParamState&>(*b.state().at(v.unsafeGetTensorImpl()));
  EXPECT_EQ(state.step(), 1);
  EXPECT_NEAR(state.exp_avg()[0].item<float>(), 0.2, 1e-6);
  EXPECT_TRUE(state.max_exp_avg_sq().defined());
}

TEST_P(Formats, Archives) {
  File file(GetParam());
  torch::serialize::OutputArchive out, inner;
  inner.write("x", torch::ones({2}));
  out.write("nested", inner);
  out.write("number", 2.5);
  out.save_to(file.path());
  torch::serialize::InputArchive in, nested;
  in.load_from(file.path());
  // A safetensors file orders its entries by itself.
  std::vector<std::string> keys = in.keys();
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys, (std::vector<std::string>{"nested", "number"}));
  c10::IValue number;
  EXPECT_TRUE(in.try_read("number", number));
  EXPECT_EQ(number.toDouble(), 2.5);
  EXPECT_TRUE(in.try_read("nested", nested));
  Tensor x;
  nested.read("x", x);
  EXPECT_EQ(x.sum().item<float>(), 2);
  EXPECT_FALSE(in.try_read("absent", x));
  EXPECT_THROW(in.read("absent", x), c10::Error);
}

/// A parameter, a layer, and a layer with buffers.
struct Net : torch::nn::Module {
  Net() : a(2, 3), b(3) {
    register_module("a", a);
    register_module("b", b);
    s = register_parameter("s", torch::ones({}));
  }
  torch::nn::Linear a;
  torch::nn::BatchNorm1d b;
  Tensor s;
};

TEST_P(Formats, StateDicts) {
  File file(GetParam());
  Net net, other;
  // The order is Python's.
  EXPECT_EQ(net.state_dict().keys(), (std::vector<std::string>{"s", "a.weight", "a.bias", "b.weight", "b.bias", "b.running_mean",
                                                               "b.running_var", "b.num_batches_tracked"}));
  torch::save(net.state_dict(), file.path());
  torch::OrderedDict<std::string, Tensor> loaded;
  torch::load(loaded, file.path());
  EXPECT_EQ(loaded.size(), 8u);
  Tensor weight = other.a->weight;
  auto left = other.load_state_dict(loaded);
  EXPECT_TRUE(left.missing_keys.empty() && left.unexpected_keys.empty());
  for (const auto& item : net.state_dict()) EXPECT_TRUE(same(item.value(), other.state_dict()[item.key()])) << item.key();
  // It is still the same parameter, which collects gradients.
  EXPECT_TRUE(same(weight, net.a->weight) && weight.requires_grad() && weight.is_leaf());
}

TEST(StateDicts, RejectsMismatches) {
  Net net;
  torch::OrderedDict<std::string, Tensor> dict = net.state_dict();
  dict.erase("a.bias");
  dict.erase("b.weight");
  dict.insert("x", torch::ones({1}));
  dict.insert("y", torch::ones({1}));
  dict["a.weight"] = torch::ones({2, 2});
  dict["s"] = torch::full({}, 7);
  try {
    net.load_state_dict(dict);
    FAIL() << "loaded";
  } catch (const c10::Error& error) {
    // The words of PyTorch 2.7.1.
    EXPECT_NE(std::string(error.what()).find(
                  "Net:\n\tMissing key(s) in state_dict: \"a.bias\", \"b.weight\". \n\tUnexpected key(s) in state_dict: \"x\", \"y\". "
                  "\n\tsize mismatch for a.weight: copying a param with shape torch.Size([2, 2]) from checkpoint, the shape in current "
                  "model is torch.Size([3, 2])."),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(net.s.item<float>(), 1) << "written though rejected";
  EXPECT_THROW(net.load_state_dict(dict, /*strict=*/false), c10::Error);
  dict.erase("a.weight");
  // A scalar may come from a tensor of one element, as in old files.
  dict["s"] = torch::full({1}, 5);
  auto left = net.load_state_dict(dict, /*strict=*/false);
  EXPECT_EQ(left.missing_keys, (std::vector<std::string>{"a.weight", "a.bias", "b.weight"}));
  EXPECT_EQ(left.unexpected_keys, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(net.s.item<float>(), 5);
}

INSTANTIATE_TEST_SUITE_P(Serialize, Formats, testing::Values(".pt", ".safetensors"));

TEST(Serialize, Streams) {
  std::stringstream stream;
  torch::nn::Linear a(3, 2), b(3, 2);
  torch::save(a, stream);
  torch::load(b, stream);
  EXPECT_TRUE(same(a->weight, b->weight));
}

TEST(Serialize, ValuesOfAnyKind) {
  torch::serialize::OutputArchive out, inner;
  inner.write("flag", true);
  out.write("inner", inner);
  out.write("number", 7);
  out.write("real", 0.1);
  out.write("text", "Gr\xc3\xbc\xc3\x9f");
  out.write("none", c10::IValue());
  out.write("complex", c10::complex<double>(1, -2));
  out.write("ints", std::vector<int64_t>{3, 1, 2});
  out.write("tensors", std::vector<Tensor>{torch::ones({2}), Tensor(), torch::zeros({1})});
  std::string bytes;
  out.save_to([&](const void* data, size_t count) {
    bytes.append(static_cast<const char*>(data), count);
    return count;
  });
  torch::serialize::InputArchive in, nested;
  in.load_from(bytes.data(), bytes.size());
  EXPECT_EQ(in.keys(), (std::vector<std::string>{"inner", "number", "real", "text", "none", "complex", "ints", "tensors"}));
  auto read = [](torch::serialize::InputArchive& archive, const char* key) {
    c10::IValue value;
    archive.read(key, value);
    return value;
  };
  in.read("inner", nested);
  EXPECT_TRUE(read(nested, "flag").toBool());
  EXPECT_EQ(read(in, "number").toInt(), 7);
  EXPECT_EQ(read(in, "real").toDouble(), 0.1);
  EXPECT_EQ(read(in, "text").toStringRef(), "Gr\xc3\xbc\xc3\x9f");
  EXPECT_TRUE(read(in, "none").isNone());
  EXPECT_EQ(read(in, "complex").toComplexDouble(), c10::complex<double>(1, -2));
  EXPECT_EQ(read(in, "ints").toIntVector(), (std::vector<int64_t>{3, 1, 2}));
  auto tensors = read(in, "tensors").toTensorVector();
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_TRUE(same(tensors[0], torch::ones({2})));
  EXPECT_FALSE(tensors[1].defined());
  EXPECT_THROW(read(in, "absent"), c10::Error);
}

TEST(Serialize, FromAReadFunction) {
  Tensor saved = torch::arange(10000), loaded;
  std::string bytes;
  torch::save(saved, [&](const void* data, size_t count) {
    bytes.append(static_cast<const char*>(data), count);
    return count;
  });
  torch::load(loaded, [&](uint64_t place, void* to, size_t count) { return bytes.copy(static_cast<char*>(to), count, place); },
              [&] { return bytes.size(); });
  EXPECT_TRUE(same(saved, loaded));
}

struct Holder : torch::nn::Module {
  explicit Holder(torch::nn::Sequential layers) { register_module("layers", std::move(layers)); }
};

TEST(Serialize, MissingEntriesAreNamedFromTheTop) {
  using namespace torch::nn;
  auto saved = std::make_shared<Holder>(Sequential(Linear(2, 2), ReLU())), other = std::make_shared<Holder>(Sequential(Linear(2, 2), ReLU(), Linear(2, 2)));
  std::stringstream stream;
  torch::save(saved, stream);
  EXPECT_EQ(message_of([&] { torch::load(other, stream); }), "No such serialized submodule: 'layers.2'");
  torch::nn::Linear line(2, 2);
  EXPECT_EQ(message_of([&] { torch::load(line, stream); }), "No such serialized tensor 'weight'");
}

TEST(Serialize, OptimizersRefuseFilesOfOthers) {
  Tensor w = torch::ones({2}), v = torch::ones({2});
  torch::optim::Adam one({w}, 0.1), two({w, v}, 0.1);
  torch::optim::Adam groups({torch::optim::OptimizerParamGroup({w}), torch::optim::OptimizerParamGroup({v})}, 0.1);
  std::stringstream stream;
  torch::save(one, stream);
  EXPECT_EQ(message_of([&] { torch::load(two, stream); }),
            "loaded state dict contains a parameter group that has a different size than the optimizer's parameter group");
  EXPECT_EQ(message_of([&] { torch::load(groups, stream); }), "loaded state dict has a different number of parameter groups");
}

struct Warnings : c10::WarningHandler {
  Warnings() : before(c10::WarningUtils::get_warning_handler()) { c10::WarningUtils::set_warning_handler(this); }
  ~Warnings() override { c10::WarningUtils::set_warning_handler(before); }
  void process(const c10::Warning& warning) override { texts.push_back(warning.msg()); }
  c10::WarningHandler* before;
  std::vector<std::string> texts;
};

TEST(Serialize, OptimizersReadListsOfBefore15) {
  Tensor w = torch::ones({2}), v = torch::ones({3});
  torch::serialize::OutputArchive old;
  old.write("momentum_buffers/size", torch::tensor(int64_t{1}));
  old.write("momentum_buffers/0", torch::tensor({0.5f, 0.25f}), /*is_buffer=*/true);
  old.write("iteration_", int64_t{3});
  std::stringstream stream;
  old.save_to(stream);
  torch::optim::SGD sgd({w, v}, torch::optim::SGDOptions(0.1).momentum(0.9));
  Warnings warnings;
  torch::load(sgd, stream);
  EXPECT_EQ(warnings.texts,
            (std::vector<std::string>{"Your serialized SGD optimizer is still using the old serialization format. You should re-save your SGD "
                                      "optimizer to use the new serialization format."}));
  ASSERT_EQ(sgd.state().size(), 1u);
  auto& state = static_cast<torch::optim::SGDParamState&>(*sgd.state().at(w.unsafeGetTensorImpl()));
  EXPECT_TRUE(same(state.momentum_buffer(), torch::tensor({0.5f, 0.25f})));
}

TEST(Serialize, LbfgsGoesOnWhereItWas) {
  auto loss_of = [](const Tensor& w) { return ((w * w - torch::arange(1, 4)).pow(2)).sum(); };
  auto run = [&](torch::optim::LBFGS& optimizer, Tensor& w, int steps) {
    for (int i = 0; i < steps; ++i) {
      optimizer.step([&] {
        optimizer.zero_grad();
        Tensor loss = loss_of(w);
        loss.backward();
        return loss;
      });
    }
  };
  auto options = torch::optim::LBFGSOptions(0.3).max_iter(2).history_size(3);
  Tensor w = torch::ones({3}, torch::requires_grad());
  torch::optim::LBFGS whole({w}, options);
  run(whole, w, 3);
  Tensor half = w.detach().clone().requires_grad_();
  std::stringstream stream;
  torch::save(whole, stream);
  torch::optim::LBFGS restored({half}, 1.0);
  torch::load(restored, stream);
  auto state_of = [](torch::optim::LBFGS& optimizer, const Tensor& tensor) {
    return static_cast<torch::optim::LBFGSParamState&>(*optimizer.state().at(tensor.unsafeGetTensorImpl()));
  };
  EXPECT_TRUE(state_of(whole, w) == state_of(restored, half));
  run(whole, w, 3);
  run(restored, half, 3);
  EXPECT_TRUE(same(w.detach(), half.detach()));
  EXPECT_FALSE(state_of(whole, w) == torch::optim::LBFGSParamState());
}

TEST(Values, ListsAreSharedAndCopiedDeeply) {
  Tensor a = torch::ones({2}), b = a.detach();
  c10::List<Tensor> list({a, b, a});
  c10::IValue value(list);
  EXPECT_TRUE(value.isTensorList());
  EXPECT_EQ(value.tagKind(), "GenericList");
  EXPECT_TRUE(list[0].get().is(list[2].get()));
  EXPECT_FALSE(list[0].get().is(list[1].get()));
  EXPECT_TRUE(list[0].get().isAliasOf(list[1].get()));
  c10::List<c10::IValue> copy = value.deepcopy().toList();
  EXPECT_TRUE(copy[0].get().is(copy[2].get()));
  EXPECT_FALSE(copy[0].get().isAliasOf(list[0].get()));
  // A list in a value is the list itself.
  list.push_back(torch::zeros({1}));
  EXPECT_EQ(value.toTensorVector().size(), 4u);
  EXPECT_EQ(copy.size(), 3u);
  EXPECT_EQ(message_of([&] { value.toInt(); }), "Expected Int but got GenericList");
  EXPECT_FALSE(c10::IValue(std::optional<int64_t>()).toOptional<int64_t>().has_value());
}

TEST(Serialize, MissingFile) {
  Tensor tensor;
  EXPECT_THROW(torch::load(tensor, "/nowhere/at/all.pt"), c10::Error);
}

TEST(LoadParameters, ReturnsTheTensorsOfAStateDict) {
  File file(".pt");
  torch::nn::Linear linear(2, 3);
  torch::save(linear->state_dict(), file.path());
  std::map<std::string, Tensor> parameters = torch::jit::_load_parameters(file.path());
  ASSERT_EQ(parameters.size(), 2u);
  EXPECT_TRUE(parameters["weight"].equal(linear->weight));
  EXPECT_TRUE(parameters["bias"].equal(linear->bias));
}

}  // namespace
