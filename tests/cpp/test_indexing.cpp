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

// The result of PyTorch 2.7.1 for x[mask, [0, 1, 2]].
TEST(Indexing, AMaskOfTwoDimensionsBesideATensor) {
  torch::Tensor x = grid();
  torch::Tensor mask = torch::tensor({true, false, true, false, true, false}).view({2, 3});
  EXPECT_TRUE(x.index({mask, torch::tensor({0, 1, 2})}).equal(torch::tensor({0, 9, 18})));
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

TEST(Indexing, Tensors) {
  torch::Tensor x = grid();
  torch::Tensor rows = torch::tensor({2, 0}), columns = torch::tensor({{0}, {3}});
  torch::Tensor picked = x.index({Slice(), rows, columns});
  EXPECT_EQ(picked.sizes(), (std::vector<int64_t>{2, 2, 2}));
  EXPECT_EQ(picked[1][1][0].item<int>(), 12 + 2 * 4 + 3);
  // Not adjacent: the dimensions of the indices come first.
  EXPECT_EQ(x.index({torch::tensor({0, 1, 1}), Slice(), torch::tensor({0, 1, 2})}).sizes(), (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(x.index({x > 20}).sum().item<int>(), 21 + 22 + 23);
  EXPECT_EQ(x.index({true}).sizes(), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(at::index(x, {std::nullopt, rows}).sizes(), (std::vector<int64_t>{2, 2, 4}));

  x.index_put_({0, rows}, torch::tensor({-1, -2, -3, -4}));
  EXPECT_EQ(x[0][2][3].item<int>(), -4);
  x.index_put_({x < 0}, 0);
  EXPECT_EQ(x[0][0].sum().item<int>(), 0);
  at::index_put_(x, {torch::tensor({1, 1}), torch::tensor({0, 0}), torch::tensor({0, 0})}, torch::tensor(5), true);
  EXPECT_EQ(x[1][0][0].item<int>(), 12 + 5 + 5);
  EXPECT_THROW(x.index({torch::tensor({2})}), c10::IndexError);
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
