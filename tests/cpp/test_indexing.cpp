// torch::indexing, where it makes views.
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

using namespace torch::indexing;

torch::Tensor grid() { return torch::arange(24).reshape({2, 3, 4}); }

TEST(Indexing, Sizes) {
  torch::Tensor x = grid();
  EXPECT_EQ(x.index({0}).sizes(), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(x.index({Slice(), 1}).sizes(), (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(x.index({"...", 1}).sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(x.index({None, 0, Ellipsis, None}).sizes(), (std::vector<int64_t>{1, 3, 4, 1}));
  EXPECT_EQ(x.index({Slice(None, None, 2), Slice(1, None), Slice(-2, None)}).sizes(), (std::vector<int64_t>{1, 2, 2}));
}

TEST(Indexing, Values) {
  torch::Tensor x = grid();
  EXPECT_EQ(x.index({1, 2, 3}).item<int>(), 23);
  EXPECT_EQ(x.index({-1, -1, -1}).item<int>(), 23);
  EXPECT_EQ(x.index({torch::tensor(1), 2, 3}).item<int>(), 23);
  EXPECT_EQ(x[1][2][torch::tensor(3)].item<int>(), 23);
  EXPECT_EQ(x.index({Slice(1, 2), 0, Slice(1, 3)}).sum().item<int>(), 13 + 14);
}

TEST(Indexing, Writing) {
  torch::Tensor x = grid();
  x.index_put_({0, Slice(), 0}, torch::tensor({100, 200, 300}));
  EXPECT_EQ(x[0][2][0].item<int>(), 300);
  x.index_put_({Ellipsis, 3}, 7);
  EXPECT_EQ(x[1][1][3].item<int>(), 7);
  x[1] = torch::zeros({3, 4}, torch::kLong);
  EXPECT_EQ(x[1].sum().item<int>(), 0);
  x.index({0, 0}) = 5;
  EXPECT_EQ(x[0][0].sum().item<int>(), 20);
  x.index_put_({0, 0}, torch::full({1, 1, 4}, 2));
  EXPECT_EQ(x[0][0].sum().item<int>(), 8);
}

TEST(Indexing, Errors) {
  torch::Tensor x = grid();
  EXPECT_THROW(x.index({2}), c10::IndexError);
  EXPECT_THROW(x.index({0, 0, 0, 0}), c10::IndexError);
  EXPECT_THROW(x.index({Slice(None, None, -1)}), c10::ValueError);
  EXPECT_THROW(x.index({"abc"}), c10::Error);
  EXPECT_THROW(Slice(0, 1, 0), c10::ValueError);
  EXPECT_THROW(torch::tensor(1).index({0}), c10::IndexError);
  EXPECT_THROW(x[torch::tensor({1, 2})], c10::IndexError);
}

}  // namespace
