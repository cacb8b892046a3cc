// torch::save and torch::load, in both formats.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>

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

bool equal(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() && (a != b).to(torch::kLong).sum().item<int64_t>() == 0;
}

class Formats : public testing::TestWithParam<const char*> {};

TEST_P(Formats, Tensors) {
  File file(GetParam());
  Tensor saved = torch::arange(6, torch::kDouble).reshape({2, 3}), loaded;
  torch::save(saved, file.path());
  torch::load(loaded, file.path());
  EXPECT_TRUE(equal(saved, loaded));
  std::vector<Tensor> list = {torch::ones({2}), torch::tensor({1, 2, 3})}, list_loaded;
  torch::save(list, file.path());
  torch::load(list_loaded, file.path());
  ASSERT_EQ(list_loaded.size(), 2u);
  EXPECT_TRUE(equal(list[1], list_loaded[1]));
}

TEST_P(Formats, Modules) {
  File file(GetParam());
  torch::manual_seed(1);
  torch::nn::Sequential a(torch::nn::Linear(3, 4), torch::nn::ReLU(), torch::nn::Linear(4, 2)),
      b(torch::nn::Linear(3, 4), torch::nn::ReLU(), torch::nn::Linear(4, 2));
  Tensor x = torch::ones({1, 3});
  EXPECT_FALSE(equal(a->forward(x), b->forward(x)));
  torch::save(a, file.path());
  torch::load(b, file.path());
  EXPECT_TRUE(equal(a->forward(x), b->forward(x)));
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

INSTANTIATE_TEST_SUITE_P(Serialize, Formats, testing::Values(".pt", ".safetensors"));

TEST(Serialize, Streams) {
  std::stringstream stream;
  torch::nn::Linear a(3, 2), b(3, 2);
  torch::save(a, stream);
  torch::load(b, stream);
  EXPECT_TRUE(equal(a->weight, b->weight));
}

TEST(Serialize, MissingFile) {
  Tensor tensor;
  EXPECT_THROW(torch::load(tensor, "/nowhere/at/all.pt"), c10::Error);
}

}  // namespace
