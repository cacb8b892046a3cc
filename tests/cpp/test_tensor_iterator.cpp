// Loops over tensors: TensorIterator, kernels, parallel loops and the choice of a C++ type for a dtype.
#include <ATen/CPUApplyUtils.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/cpu/Loops.h>
#include <gtest/gtest.h>

#include <atomic>

namespace {

using at::Tensor;
using at::TensorIterator;
using at::TensorIteratorConfig;

TEST(TensorIterator, BroadcastsAndMergesDimensions) {
  Tensor a = at::arange(6, at::kFloat).view({2, 3}), b = at::tensor({10.0f, 20.0f, 30.0f});
  auto iter = TensorIterator::binary_op(Tensor(), a, b);
  EXPECT_EQ(iter.shape(), (at::IntArrayRef{3, 2}));
  EXPECT_EQ(iter.strides(2), (at::IntArrayRef{4, 0}));
  at::native::cpu_kernel(iter, [](float x, float y) -> float { return x + y; });
  EXPECT_TRUE(iter.output().equal(at::tensor({10.0f, 21.0f, 32.0f, 13.0f, 24.0f, 35.0f}).view({2, 3})));
  auto flat = TensorIterator::unary_op(Tensor(), a);
  EXPECT_EQ(flat.ndim(), 1);
  EXPECT_TRUE(flat.is_contiguous());
}

TEST(TensorIterator, KeepsTheOrderOfStrides) {
  Tensor a = at::arange(6, at::kFloat).view({2, 3}).t();
  auto iter = TensorIterator::unary_op(Tensor(), a);
  EXPECT_EQ(iter.ndim(), 1);
  at::native::cpu_kernel_vec(
      iter, [](float x) -> float { return -x; }, [](at::vec::Vectorized<float> x) { return x.neg(); });
  EXPECT_EQ(iter.output().strides(), (at::IntArrayRef{1, 3}));
  EXPECT_TRUE(iter.output().equal(-a));
}

TEST(TensorIterator, PromotesDtypes) {
  Tensor ints = at::tensor({1, 2, 3}), half = at::tensor(0.5, at::kDouble);
  auto iter = TensorIterator::binary_op(Tensor(), ints, half);
  EXPECT_EQ(iter.common_dtype(), at::kDouble);
  at::native::cpu_kernel(iter, [](double x, double y) -> double { return x * y; });
  EXPECT_TRUE(iter.output().equal(at::tensor({0.5, 1.0, 1.5})));
  EXPECT_EQ(TensorIterator::unary_float_op(Tensor(), ints).common_dtype(), at::kFloat);
  // The output has another dtype: the results are converted.
  Tensor out = at::empty({3}, at::kDouble);
  auto converting = TensorIterator::binary_op(out, ints, ints);
  at::native::cpu_kernel(converting, [](int x, int y) -> int { return x * y; });
  EXPECT_TRUE(out.equal(at::tensor({1.0, 4.0, 9.0})));
}

TEST(TensorIterator, RejectsWhatDoesNotFit) {
  Tensor a = at::ones({2, 3}), b = at::ones({4});
  EXPECT_THROW(TensorIterator::binary_op(Tensor(), a, b), c10::Error);
  TensorIteratorConfig config;
  config.add_output(Tensor()).add_input(at::ones({2})).add_input(at::ones({2}, at::kInt));
  EXPECT_THROW(config.build(), c10::Error);
  Tensor expanded = at::zeros({1}).expand({4});
  EXPECT_THROW(TensorIterator::nullary_op(expanded), c10::Error);
  auto iter = TensorIterator::unary_op(Tensor(), a);
  EXPECT_THROW(at::native::cpu_kernel(iter, [](float x, float y) -> float { return x + y; }), c10::Error);
}

TEST(TensorIterator, SeveralOutputsAndRanges) {
  Tensor x = at::arange(5, at::kLong), quotient, remainder;
  auto iter = TensorIteratorConfig().add_output(quotient).add_output(remainder).add_input(x).build();
  at::native::cpu_kernel_multiple_outputs(iter, [](int64_t n) -> std::tuple<int64_t, int64_t> { return {n / 2, n % 2}; });
  EXPECT_TRUE(iter.output(0).equal(at::tensor({0, 0, 1, 1, 2}, at::kLong)));
  EXPECT_TRUE(iter.output(1).equal(at::tensor({0, 1, 0, 1, 0}, at::kLong)));
  Tensor matrix = at::arange(12, at::kInt).view({3, 4}).slice(1, 0, 3);
  auto visits = TensorIteratorConfig().add_input(matrix).build();
  std::vector<int> seen;
  at::native::cpu_serial_kernel(visits, [&](int n) { seen.push_back(n); }, at::Range(2, 7));
  EXPECT_EQ(seen, (std::vector<int>{2, 4, 5, 6, 8}));
}

TEST(ParallelLoops, CoverTheRangeOnce) {
  std::vector<std::atomic<int>> counts(1000);
  at::parallel_for(0, 1000, 10, [&](int64_t first, int64_t last) {
    EXPECT_TRUE(at::in_parallel_region());
    for (int64_t i = first; i < last; ++i) ++counts[static_cast<size_t>(i)];
  });
  for (const auto& count : counts) ASSERT_EQ(count, 1);
  EXPECT_FALSE(at::in_parallel_region());
  auto sum = at::parallel_reduce(
      0, 1001, 7, int64_t{0},
      [](int64_t first, int64_t last, int64_t start) {
        for (int64_t i = first; i < last; ++i) start += i;
        return start;
      },
      std::plus<int64_t>());
  EXPECT_EQ(sum, 500500);
  EXPECT_THROW(at::parallel_for(0, 100, 1, [](int64_t, int64_t) { throw std::runtime_error("stop"); }), std::runtime_error);
}

TEST(Dispatch, ChoosesTheType) {
  auto size = [](at::ScalarType dtype) {
    return AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBool, dtype, "size", [&] { return sizeof(scalar_t); });
  };
  EXPECT_EQ(size(at::kDouble), 8u);
  EXPECT_EQ(size(at::kHalf), 2u);
  EXPECT_EQ(size(at::kBool), 1u);
  try {
    size(at::kComplexFloat);
    FAIL();
  } catch (const c10::NotImplementedError& error) {
    EXPECT_EQ(std::string(error.what_without_backtrace()), "\"size\" not implemented for 'ComplexFloat'");
  }
  AT_DISPATCH_QINT_TYPES(at::kQUInt8, "quantized", [&] { EXPECT_TRUE((std::is_same_v<underlying_t, uint8_t>)); });
  AT_DISPATCH_INDEX_TYPES(at::kLong, "index", [&] { EXPECT_TRUE((std::is_same_v<index_t, int64_t>)); });
}

TEST(ApplyUtils, VisitsElementsInOrder) {
  Tensor x = at::arange(6, at::kDouble).view({2, 3}).t(), y = at::zeros({3, 2});
  at::CPU_tensor_apply2<float, double>(y, x, [](float& to, const double& from) { to = static_cast<float>(from * 2); });
  EXPECT_TRUE(y.equal(at::tensor({0.0f, 6.0f, 2.0f, 8.0f, 4.0f, 10.0f}).view({3, 2})));
  EXPECT_THROW((at::CPU_tensor_apply2<float, float>(y, at::zeros({5}), [](float&, float&) {})), c10::Error);
}

}  // namespace
