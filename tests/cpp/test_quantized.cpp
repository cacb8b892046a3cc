// Quantized tensors: creation, access, printing, operators and the library `quantized::`. Numbers and strings are those of
// libtorch.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <torch/library.h>

#include <sstream>
#include <string>

#include "messages.h"

namespace {

torch::Tensor sample() { return at::quantize_per_tensor(torch::tensor({{1.0f, -2.0f}, {0.25f, 3.0f}}), 0.5, 3, torch::kQInt8); }

TEST(Quantized, HasIntegersAndAQuantizer) {
  auto q = sample();
  EXPECT_TRUE(q.is_quantized());
  EXPECT_FALSE(torch::ones({1}).is_quantized());
  EXPECT_EQ(q.scalar_type(), torch::kQInt8);
  EXPECT_EQ(q.qscheme(), at::kPerTensorAffine);
  EXPECT_EQ(q.q_scale(), 0.5);
  EXPECT_EQ(q.q_zero_point(), 3);
  // A tie is rounded to the even integer.
  EXPECT_TRUE(torch::equal(q.int_repr(), torch::tensor({{5, -1}, {3, 9}}, torch::kChar)));
  EXPECT_TRUE(torch::equal(q.dequantize(), torch::tensor({{1.0f, -2.0f}, {0.0f, 3.0f}})));
  EXPECT_NE(message_of([&] { q.exp(); }).find("Could not run 'aten::exp' with arguments from the 'QuantizedCPU' backend"), std::string::npos);
  EXPECT_THROW(q.exp(), c10::NotImplementedError);
  EXPECT_THROW(torch::ones({1}).q_scale(), c10::Error);
}

TEST(Quantized, MemoryAloneHasNoQuantizer) {
  int8_t bytes[4] = {1, 2, 3, 4};
  EXPECT_THROW(torch::from_blob(bytes, {4}, torch::kQInt8), c10::Error);
  EXPECT_THROW(torch::from_blob(bytes, {4}, torch::kChar).view(torch::kQInt8), c10::Error);
  EXPECT_THROW(torch::empty({4}, torch::kQInt8), c10::Error);
  EXPECT_THROW(torch::zeros({4}, torch::kChar).to(torch::kQInt8), c10::Error);
}

TEST(Quantized, HasParametersOfChannels) {
  auto x = torch::tensor({{1.0f, -2.0f}, {0.25f, 3.0f}});
  auto q = at::quantize_per_channel(x, torch::tensor({0.5f, 0.25f}), torch::tensor({3, 1}, torch::kLong), 0, torch::kQUInt8);
  EXPECT_EQ(q.qscheme(), at::kPerChannelAffine);
  EXPECT_EQ(q.q_per_channel_axis(), 0);
  EXPECT_TRUE(torch::equal(q.q_per_channel_scales(), torch::tensor({0.5, 0.25}, torch::kDouble)));
  EXPECT_TRUE(torch::equal(q.q_per_channel_zero_points(), torch::tensor({3, 1}, torch::kLong)));
  EXPECT_TRUE(torch::equal(q.int_repr(), torch::tensor({{5, 0}, {2, 13}}, torch::kByte)));
  EXPECT_EQ(q.select(0, 1).q_scale(), 0.25);
  EXPECT_NE(message_of([&] { q.permute({1, 0}); }).find("uniformly quantized"), std::string::npos);
}

TEST(Quantized, IsPrintedWithItsQuantizer) {
  std::ostringstream out;
  out << sample();
  EXPECT_EQ(out.str(), " 1 -2\n 0  3\n[ QuantizedCPUQInt8Type{2,2}, qscheme: per_tensor_affine, scale: 0.5, zero_point: 3 ]");
}

TEST(Quantized, ViewsShareMemory) {
  auto q = sample();
  q.view({4}).select(0, 1).copy_(torch::tensor(7.0f));
  EXPECT_EQ(q.dequantize()[0][1].item<float>(), 7.0f);
  EXPECT_TRUE(torch::equal(torch::relu(q).dequantize(), torch::tensor({{1.0f, 7.0f}, {0.0f, 3.0f}})));
}

TEST(Quantized, LibraryOperatorsAreCalledByName) {
  auto add = c10::Dispatcher::singleton().findSchemaOrThrow("quantized::add", "").typed<torch::Tensor(const torch::Tensor&, const torch::Tensor&, double, int64_t)>();
  auto sum = add.call(sample(), sample(), 1.0, 0);
  EXPECT_EQ(sum.q_scale(), 1.0);
  EXPECT_TRUE(torch::equal(sum.int_repr(), torch::tensor({{2, -4}, {0, 6}}, torch::kChar)));
  EXPECT_THROW(add.call(torch::ones({1}), torch::ones({1}), 1.0, 0), c10::Error);
}

}  // namespace
