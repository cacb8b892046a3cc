// Sparse tensors: creation, access, printing, products and gradients. Numbers and strings are those of libtorch.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>
#include <string>

#include "messages.h"

namespace {

torch::Tensor sample() {
  auto indices = torch::tensor({{0, 1, 1, 0}, {2, 0, 2, 2}}, torch::kLong);
  return torch::sparse_coo_tensor(indices, torch::tensor({3.0f, 4.0f, 5.0f, 1.0f}), {2, 3});
}

TEST(Sparse, HasComponentsAndNoMemory) {
  auto sparse = sample();
  EXPECT_TRUE(sparse.is_sparse());
  EXPECT_EQ(sparse.layout(), torch::kSparse);
  EXPECT_EQ(sparse._nnz(), 4);
  EXPECT_EQ(sparse.sparse_dim(), 2);
  EXPECT_EQ(sparse.dense_dim(), 0);
  EXPECT_FALSE(sparse.is_coalesced());
  auto sorted = sparse.coalesce();
  EXPECT_TRUE(sorted.is_coalesced());
  EXPECT_TRUE(torch::equal(sorted.values(), torch::tensor({4.0f, 4.0f, 5.0f})));
  EXPECT_TRUE(torch::equal(sorted.indices(), torch::tensor({{0, 1, 1}, {2, 0, 2}}, torch::kLong)));
  EXPECT_TRUE(torch::equal(sparse.to_dense(), torch::tensor({{0.0f, 0.0f, 4.0f}, {4.0f, 0.0f, 5.0f}})));
  EXPECT_NE(message_of([&] { sparse.data_ptr(); }).find("Cannot access data pointer of Tensor that doesn't have storage"), std::string::npos);
  EXPECT_NE(message_of([&] { sparse.exp(); }).find("Could not run 'aten::exp' with arguments from the 'SparseCPU' backend"), std::string::npos);
  EXPECT_THROW(sparse.exp(), c10::NotImplementedError);
}

TEST(Sparse, Prints) {
  std::ostringstream text;
  text << sample();
  EXPECT_EQ(text.str(), "[ SparseCPUFloatType{}\nindices:\n 0  1  1  0\n 2  0  2  2\n[ CPULongType{2,4} ]\nvalues:\n 3\n 4\n 5\n 1\n[ CPUFloatType{4} ]\nsize:\n[2, 3]\n]");
}

TEST(Sparse, Multiplies) {
  auto right = torch::arange(6.0f).reshape({3, 2});
  auto expected = torch::tensor({{16.0f, 20.0f}, {20.0f, 29.0f}});
  EXPECT_TRUE(torch::equal(torch::mm(sample(), right), expected));
  EXPECT_TRUE(torch::equal(sample().to_sparse_csr().matmul(right), expected));
  EXPECT_TRUE(torch::equal((sample() * 2).to_dense(), sample().to_dense() * 2));
  auto sum = torch::ones({2, 3});
  sum += sample();
  EXPECT_TRUE(torch::equal(sum, sample().to_dense() + 1));
}

TEST(Sparse, HasGradients) {
  auto left = sample().coalesce().set_requires_grad(true);
  auto right = torch::arange(6.0f).reshape({3, 2}).set_requires_grad(true);
  auto weights = torch::tensor({{1.0f, 2.0f}, {3.0f, 4.0f}});
  (torch::_sparse_mm(left, right) * weights).sum().backward();
  EXPECT_TRUE(left.grad().is_sparse());
  EXPECT_TRUE(torch::equal(left.grad().coalesce().values(), torch::tensor({14.0f, 4.0f, 32.0f})));
  EXPECT_TRUE(torch::equal(right.grad(), torch::tensor({{12.0f, 16.0f}, {0.0f, 0.0f}, {19.0f, 28.0f}})));
}

TEST(Sparse, GradientsOfAnEmbeddingUpdateItsRows) {
  auto words = torch::nn::Embedding(torch::nn::EmbeddingOptions(5, 2).sparse(true));
  auto before = words->weight.detach().clone();
  words->forward(torch::tensor({1, 3, 1}, torch::kLong)).sum().backward();
  ASSERT_TRUE(words->weight.grad().is_sparse());
  EXPECT_EQ(words->weight.grad()._nnz(), 3);
  torch::optim::SGD(words->parameters(), 0.5).step();
  auto steps = torch::tensor({{0.0f, 0.0f}, {1.0f, 1.0f}, {0.0f, 0.0f}, {0.5f, 0.5f}, {0.0f, 0.0f}});
  EXPECT_TRUE(torch::allclose(words->weight.detach(), before - steps));
  // PyTorch's numbers of Adagrad from weights of 1: the first step of a row is the learning rate, the second 1 / sqrt(2) of it.
  {
    torch::NoGradGuard guard;
    words->weight.fill_(1.0);
  }
  torch::optim::Adagrad adagrad(words->parameters(), 0.5);
  adagrad.step();
  adagrad.step();
  auto row = 1.0f - 0.5f - 0.5f / std::sqrt(2.0f);
  auto expected = torch::tensor({1.0f, row, 1.0f, row, 1.0f}).unsqueeze(1).expand({5, 2});
  EXPECT_TRUE(torch::allclose(words->weight.detach(), expected));
  torch::optim::SGD decaying(words->parameters(), torch::optim::SGDOptions(0.5).weight_decay(0.1));
  EXPECT_THROW(decaying.step(), c10::Error);
}

}  // namespace
