// Families of operators on a CUDA device against the CPU, in sizes that need several launches, and the errors that kernels
// report.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <vector>

#include "support.h"

namespace {

/// Floats in no order, of which many are equal.
torch::Tensor mixed(at::IntArrayRef sizes) {
  torch::Tensor numbers = torch::arange(c10::multiply_integers(sizes), torch::kLong);
  return ((numbers * 7919) % 251 - 100).to(torch::kFloat).view(sizes) / 8;
}

/// Indices below `size`, with many repetitions.
torch::Tensor places(int64_t count, int64_t size) { return (torch::arange(count, torch::kLong) * 7919 + 5) % size; }

TEST(CudaIndexing, ReadsAsOnTheCpu) {
  torch::Tensor x = mixed({17, 5, 6}), index = places(40, 17), gpu = x.cuda();
  EXPECT_TRUE(gpu.index_select(0, index.cuda()).cpu().equal(x.index_select(0, index)));
  EXPECT_TRUE(gpu.transpose(0, 2).index_select(2, index.cuda()).cpu().equal(x.transpose(0, 2).index_select(2, index)));
  torch::Tensor each = places(17 * 5 * 3, 6).view({17, 5, 3});
  EXPECT_TRUE(gpu.gather(2, each.cuda()).cpu().equal(x.gather(2, each)));
  EXPECT_TRUE(gpu.index({index.cuda() - 17, torch::indexing::Slice(), index.cuda() % 6}).cpu().equal(
      x.index({index - 17, torch::indexing::Slice(), index % 6})));
  EXPECT_TRUE(gpu.index({gpu > 3}).cpu().equal(x.index({x > 3})));
  EXPECT_TRUE(gpu.transpose(0, 1).take(index.cuda() * 30).cpu().equal(x.transpose(0, 1).take(index * 30)));
  EXPECT_TRUE((gpu > 3).nonzero().cpu().equal((x > 3).nonzero()));
  EXPECT_TRUE(torch::embedding(x.view({17, 30}).cuda(), index.cuda()).cpu().equal(torch::embedding(x.view({17, 30}), index)));
}

TEST(CudaIndexing, WritesInTheOrderOfTheIndices) {
  // Sums of float16 depend on their order; 3000 indices of one lane are sorted, 50 are not.
  for (int64_t count : {50, 3000}) {
    torch::Tensor index = places(count, 7), source = mixed({count}).to(torch::kHalf) / 3;
    torch::Tensor zeros = torch::zeros({7}, torch::kHalf);
    torch::Tensor expected = zeros.index_add(0, index, source);
    EXPECT_TRUE(zeros.cuda().index_add(0, index.cuda(), source.cuda()).cpu().equal(expected)) << count;
    torch::Tensor put = zeros.index_put({index}, source), copied = zeros.index_copy(0, index, source);
    EXPECT_TRUE(zeros.cuda().index_put({index.cuda()}, source.cuda()).cpu().equal(put)) << count;
    EXPECT_TRUE(zeros.cuda().index_copy(0, index.cuda(), source.cuda()).cpu().equal(copied)) << count;
  }
  // Lanes with other indices each, and with the same.
  torch::Tensor index = places(200 * 6, 9).view({200, 6}), source = mixed({200, 6}), zeros = torch::zeros({9, 6});
  EXPECT_TRUE(zeros.cuda().scatter_add(0, index.cuda(), source.cuda()).cpu().equal(zeros.scatter_add(0, index, source)));
  EXPECT_TRUE(zeros.cuda().scatter_reduce(0, index.cuda(), source.cuda(), "amax", false).cpu().equal(
      zeros.scatter_reduce(0, index, source, "amax", false)));
  torch::Tensor rows = places(200, 9);
  EXPECT_TRUE(zeros.cuda().index_add(0, rows.cuda(), source.cuda()).cpu().equal(zeros.index_add(0, rows, source)));
}

TEST(CudaIndexing, ReportsAnIndexWhenItIsWaitedFor) {
  torch::Tensor x = mixed({4, 3}).cuda();
  torch::Tensor index = torch::full({2, 3}, 4, torch::kLong).cuda();
  torch::Tensor y = x.gather(0, index);
  EXPECT_EQ(error_of([&] { y.cpu(); }),
            "index 4 is out of bounds for dimension 0 with size 4\n  in operator gather on device cuda:0");
  // Once: the device works on.
  EXPECT_EQ(error_of([] { torch::cuda::synchronize(); }), "no error");
  x.index_select(1, torch::full({1}, -1, torch::kLong).cuda());
  EXPECT_EQ(error_of([] { torch::cuda::synchronize(); }),
            "index out of range in self\nindex -1 is out of bounds for dimension 1 with size 3\n  in operator index_select on device cuda:0");
  torch::embedding(x, torch::full({2}, 9, torch::kLong).cuda());
  EXPECT_EQ(error_of([] { torch::cuda::synchronize(); }),
            "index out of range in self: index 9 for 4 rows\n  in operator embedding on device cuda:0");
  EXPECT_TRUE((x + x).cpu().equal(mixed({4, 3}) * 2));
}

TEST(CudaErrors, NameADivisionByZeroAndATargetThatIsNoClass) {
  torch::Tensor x = torch::arange(10, torch::kInt).cuda(), zero = torch::zeros({10}, torch::kInt).cuda();
  torch::Tensor quotient = torch::div(x, zero, "floor");
  EXPECT_EQ(error_of([&] { quotient.cpu(); }), "ZeroDivisionError\n  in operator div.Tensor_mode on device cuda:0");
  torch::Tensor rest = torch::remainder(x, zero);
  EXPECT_EQ(error_of([&] { rest.cpu(); }), "ZeroDivisionError\n  in operator remainder.Tensor on device cuda:0");
  torch::Tensor target = torch::full({4}, 3, torch::kLong).cuda();
  torch::Tensor loss = torch::nll_loss(mixed({4, 3}).cuda(), target);
  EXPECT_EQ(error_of([&] { loss.item(); }), "Target 3 is out of bounds.\n  in operator nll_loss_forward on device cuda:0");
  EXPECT_EQ(torch::ones({2}).cuda().sum().item<float>(), 2.0f);
}

TEST(CudaScan, ScansPartsOfLongRows) {
  torch::Tensor x = mixed({2, 40000});
  // Multiples of 1/8, whose sums are exact in any order.
  EXPECT_TRUE(x.cuda().cumsum(1).cpu().equal(x.cumsum(1)));
  EXPECT_TRUE(x.t().cuda().cumsum(0).cpu().equal(x.t().cumsum(0)));
  auto [values, indices] = x.cummax(1);
  auto [gpu_values, gpu_indices] = x.cuda().cummax(1);
  EXPECT_TRUE(gpu_values.cpu().equal(values));
  EXPECT_TRUE(gpu_indices.cpu().equal(indices));
  torch::Tensor factors = (x > 0).to(torch::kInt) * 2 - 1;
  EXPECT_TRUE(factors.cuda().cumprod(1).cpu().equal(factors.cumprod(1)));
  torch::Tensor sums = x.cuda().logcumsumexp(1).cpu();
  EXPECT_TRUE(sums.allclose(x.logcumsumexp(1), 1e-5, 1e-5));
}

TEST(CudaSort, MergesRunsAndKeepsTheOrderOfEqualElements) {
  torch::Tensor x = mixed({3, 5000});
  x.index_put_({1, 7}, NAN);
  for (bool descending : {false, true}) {
    auto [values, indices] = x.sort(1, descending);
    auto [gpu_values, gpu_indices] = x.cuda().sort(1, descending);
    EXPECT_TRUE(gpu_indices.cpu().equal(indices)) << descending;
    EXPECT_TRUE(gpu_values.cpu().nan_to_num(1e9).equal(values.nan_to_num(1e9))) << descending;
  }
  EXPECT_TRUE(std::get<0>(x.cuda().topk(20, 1, false)).cpu().equal(std::get<0>(x.topk(20, 1, false))));
  EXPECT_TRUE(std::get<0>(x.cuda().mode(1)).cpu().equal(std::get<0>(x.mode(1))));
  EXPECT_TRUE(x.cuda().nanmedian().cpu().equal(x.nanmedian()));
  torch::Tensor sorted = std::get<0>(x.select(0, 0).sort());
  EXPECT_TRUE(torch::searchsorted(sorted.cuda(), x.cuda()).cpu().equal(torch::searchsorted(sorted, x)));
  EXPECT_TRUE(std::get<0>(torch::_unique2(x.select(0, 2).cuda())).cpu().equal(std::get<0>(torch::_unique2(x.select(0, 2)))));
}

TEST(CudaImages, PoolAndResampleInBothFormats) {
  for (auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    torch::Tensor x = mixed({2, 3, 9, 11}).contiguous(format).requires_grad_(true);
    torch::Tensor gpu = x.detach().cuda().requires_grad_(true);
    auto check = [&](auto f) {
      torch::Tensor expected = f(x), actual = f(gpu);
      EXPECT_TRUE(actual.cpu().allclose(expected, 1e-5, 1e-6));
      torch::Tensor weights = mixed(expected.sizes().vec());
      torch::Tensor grad = torch::autograd::grad({(expected * weights).sum()}, {x})[0];
      torch::Tensor gpu_grad = torch::autograd::grad({(actual * weights.cuda()).sum()}, {gpu})[0];
      EXPECT_TRUE(gpu_grad.cpu().allclose(grad, 1e-5, 1e-5));
    };
    check([](const torch::Tensor& image) { return torch::max_pool2d(image, 3, 2, 1); });
    check([](const torch::Tensor& image) { return torch::avg_pool2d(image, 3, 2, 1); });
    check([](const torch::Tensor& image) { return torch::adaptive_avg_pool2d(image, {4, 5}); });
    check([](const torch::Tensor& image) { return torch::upsample_bilinear2d(image, {14, 7}, false); });
    check([](const torch::Tensor& image) { return torch::upsample_nearest2d(image, {14, 7}); });
    check([](const torch::Tensor& image) { return torch::reflection_pad2d(image, {2, 1, 3, 0}); });
  }
}

TEST(CudaNorm, NormalisesBatchesAndGroups) {
  torch::nn::BatchNorm2d cpu(6), gpu(6);
  gpu->to(torch::kCUDA);
  torch::Tensor x = mixed({4, 6, 5, 5});
  EXPECT_TRUE(gpu(x.cuda()).cpu().allclose(cpu(x), 1e-4, 1e-5));
  EXPECT_TRUE(gpu->running_var.cpu().allclose(cpu->running_var, 1e-5, 1e-6));
  torch::Tensor weight = mixed({6}), bias = mixed({6}) + 1;
  EXPECT_TRUE(torch::group_norm(x.cuda(), 3, weight.cuda(), bias.cuda()).cpu().allclose(torch::group_norm(x, 3, weight, bias), 1e-4, 1e-5));
}

TEST(CudaRandom, HasTheNumbersOfTorchCuda) {
  auto near = [](const torch::Tensor& actual, const std::vector<float>& expected) {
    EXPECT_TRUE(actual.cpu().allclose(torch::tensor(expected), 0, 5e-5)) << actual.cpu();
  };
  // What torch.rand(6, device="cuda") and torch.randn(6, device="cuda") print after torch.manual_seed(0).
  torch::manual_seed(0);
  near(torch::rand({6}, on_gpu), {0.3990f, 0.5167f, 0.0249f, 0.9401f, 0.9459f, 0.7967f});
  torch::manual_seed(0);
  near(torch::randn({6}, on_gpu), {-0.9247f, -0.4253f, -2.6438f, 0.1452f, -0.1209f, -0.5797f});
  // The next call goes on, and elements beyond the threads of the device belong to later calls.
  torch::Tensor first = torch::rand({100000}, on_gpu).cpu(), second = torch::rand({100000}, on_gpu).cpu();
  EXPECT_FALSE(first.equal(second));
  EXPECT_NEAR(first.mean().item<float>(), 0.5, 0.01);
  EXPECT_TRUE(((first >= 0) & (first < 1)).all().item<bool>());
  torch::Tensor integers = torch::randint(-3, 4, {10000}, on_gpu.dtype(torch::kInt)).cpu();
  EXPECT_EQ(integers.min().item<int>(), -3);
  EXPECT_EQ(integers.max().item<int>(), 3);
  torch::Tensor kept = torch::dropout(torch::ones({10000}, on_gpu), 0.25, true).cpu();
  EXPECT_NEAR(kept.mean().item<float>(), 1.0, 0.05);
  EXPECT_EQ((kept == 0).logical_or((kept - 4.0f / 3).abs() < 1e-6).sum().item<int64_t>(), 10000);
}

TEST(CudaRandom, SamplesDistributions) {
  torch::manual_seed(5);
  for (auto dtype : {torch::kFloat, torch::kDouble}) {
    auto options = on_gpu.dtype(dtype);
    auto mean_of = [](const torch::Tensor& samples) { return samples.to(torch::kDouble).mean().item<double>(); };
    torch::Tensor exponential = torch::empty({20000}, options).exponential_(2);
    EXPECT_TRUE((exponential > 0).all().item<bool>());
    EXPECT_NEAR(mean_of(exponential), 0.5, 0.02);
    // The median of a Cauchy distribution, which has no mean.
    EXPECT_NEAR(torch::empty({20000}, options).cauchy_(3, 2).median().item<double>(), 3, 0.15);
    EXPECT_NEAR(mean_of(torch::empty({20000}, options).log_normal_(0, 0.5)), std::exp(0.125), 0.03);
    torch::Tensor tries = torch::empty({20000}, options).geometric_(0.25);
    EXPECT_EQ(tries.min().item<double>(), 1);
    EXPECT_NEAR(mean_of(tries), 4, 0.15);
    // By one event at a time and by rejection.
    for (double rate : {0.5, 4.0, 30.0}) {
      EXPECT_NEAR(mean_of(torch::poisson(torch::full({20000}, rate, options))), rate, 0.05 * rate) << rate;
      EXPECT_NEAR(mean_of(torch::_standard_gamma(torch::full({20000}, rate, options))), rate, 0.05 * rate) << rate;
    }
    for (double p : {0.02, 0.3, 0.8}) {
      torch::Tensor count = torch::full({20000}, 100, options), probability = torch::full({20000}, p, options);
      EXPECT_NEAR(mean_of(torch::binomial(count, probability)), 100 * p, 3 * p + 0.5) << p;
      EXPECT_NEAR(mean_of(torch::bernoulli(probability)), p, 0.02) << p;
    }
    torch::Tensor shares = torch::_sample_dirichlet(torch::tensor({1.0, 2.0, 5.0}).to(options).expand({5000, 3}));
    EXPECT_TRUE(shares.sum(1).allclose(torch::ones({5000}, options), 1e-5, 1e-6));
    EXPECT_TRUE(shares.mean(0).cpu().to(torch::kDouble).allclose(torch::tensor({0.125, 0.25, 0.625}, torch::kDouble), 0, 0.02));
  }
  torch::Tensor whole = torch::empty({1000}, on_gpu.dtype(torch::kByte)).random_();
  EXPECT_LT(whole.min().item<int>(), 10);
  EXPECT_GT(whole.max().item<int>(), 245);
}

TEST(CudaRandom, ReportsParametersThatNoDistributionHas) {
  torch::Tensor samples = torch::bernoulli(torch::full({3}, 1.5, on_gpu));
  EXPECT_EQ(error_of([&] { samples.cpu(); }),
            "Expected p_in >= 0 && p_in <= 1 to be true, but got p=1.5\n  in operator bernoulli on device cuda:0");
  samples = torch::poisson(torch::full({3}, -1.0, on_gpu));
  EXPECT_EQ(error_of([&] { samples.cpu(); }),
            "invalid Poisson rate, expected rate to be non-negative\n  in operator poisson on device cuda:0");
}

TEST(CudaRandom, PermutesAndSelects) {
  torch::manual_seed(6);
  torch::Tensor order = torch::randperm(3000, on_gpu).cpu(), other = torch::randperm(3000, on_gpu).cpu();
  torch::Tensor all = torch::arange(3000, torch::kLong);
  EXPECT_TRUE(std::get<0>(order.sort()).equal(all));
  EXPECT_FALSE(order.equal(all));
  EXPECT_FALSE(order.equal(other));
  torch::Tensor weights = torch::tensor({{0.0f, 1.0f, 0.0f, 3.0f}, {2.0f, 0.0f, 2.0f, 0.0f}}).cuda();
  // A row of two weights that are not 0, in both orders; with replacement, in their proportion.
  torch::Tensor both = torch::multinomial(weights, 2).cpu();
  EXPECT_TRUE(std::get<0>(both.sort(1)).equal(torch::tensor({{1, 3}, {0, 2}}, torch::kLong))) << both;
  torch::Tensor drawn = torch::multinomial(weights, 10000, true).cpu();
  EXPECT_NEAR((drawn[0] == 3).to(torch::kFloat).mean().item<float>(), 0.75, 0.03);
  EXPECT_TRUE(((drawn[0] == 1) | (drawn[0] == 3)).all().item<bool>());
  EXPECT_TRUE(((drawn[1] == 0) | (drawn[1] == 2)).all().item<bool>());
  EXPECT_EQ(error_of([&] { torch::multinomial(weights - 1, 1); }),
            "probability tensor contains either `inf`, `nan` or element < 0\n  in operator multinomial");
}

TEST(CudaHost, ComputesDecompositionsAndTransformsOnTheHost) {
  torch::Tensor a = mixed({3, 5, 4}) / 10;
  a = a.transpose(1, 2).matmul(a) + torch::eye(4);
  auto with_gradient = [](const torch::Tensor& x, auto&& f) {
    torch::Tensor leaf = x.detach().requires_grad_();
    f(leaf).sum().backward();
    return leaf.grad();
  };
  auto inverse = [](const torch::Tensor& x) { return torch::linalg_inv(x) + torch::linalg_eigvalsh(x).unsqueeze(-1); };
  EXPECT_TRUE(torch::linalg_cholesky(a.cuda()).is_cuda());
  EXPECT_TRUE(torch::linalg_cholesky(a.cuda()).cpu().equal(torch::linalg_cholesky(a)));
  EXPECT_TRUE(with_gradient(a.cuda(), inverse).cpu().allclose(with_gradient(a, inverse), 1e-4, 1e-5));
  auto spectrum = [](const torch::Tensor& x) { return torch::fft_rfft(x, 8).abs(); };
  EXPECT_TRUE(with_gradient(a.cuda(), spectrum).cpu().allclose(with_gradient(a, spectrum), 1e-4, 1e-5));
  // Results go to the memory of an argument that has gaps, and errors are the CPU's.
  torch::Tensor out = torch::zeros({3, 4, 8}, on_gpu).slice(2, 0, 8, 2);
  torch::linalg_inv_out(out, a.cuda());
  EXPECT_TRUE(out.cpu().equal(torch::linalg_inv(a)));
  EXPECT_EQ(error_of([] { torch::linalg_inv(torch::zeros({2, 2}, on_gpu)); }),
            error_of([] { torch::linalg_inv(torch::zeros({2, 2})); }));
}

TEST(CudaDistance, MeasuresRowsAsOnTheCpu) {
  torch::Tensor a = mixed({2, 40, 6}), b = mixed({2, 31, 6}).flip(2);
  for (double p : {0.0, 1.0, 2.0, 3.5}) {
    EXPECT_TRUE(torch::cdist(a.cuda(), b.cuda(), p).cpu().allclose(torch::cdist(a, b, p), 1e-4, 1e-4)) << p;
  }
  EXPECT_TRUE(torch::pdist(a[0].cuda()).cpu().allclose(torch::pdist(a[0]), 1e-5, 1e-5));
}

TEST(CudaIntegers, ConvolveAndMultiplyAsOnTheCpu) {
  torch::Tensor image = (mixed({2, 3, 9, 8}) * 4).to(torch::kLong), weight = (mixed({4, 3, 3, 3}) * 4).to(torch::kLong);
  EXPECT_TRUE(torch::conv2d(image.cuda(), weight.cuda()).cpu().equal(torch::conv2d(image, weight)));
  torch::Tensor bytes = (mixed({40, 24})).to(torch::kChar), others = mixed({24, 16}).to(torch::kChar);
  EXPECT_TRUE(torch::_int_mm(bytes.cuda(), others.cuda()).cpu().equal(torch::_int_mm(bytes, others)));
}

TEST(CudaRandom, ScalesNegativeElements) {
  torch::Tensor x = mixed({5000}), y = torch::rrelu(x.cuda(), 0.25, 0.5, true).cpu();
  torch::Tensor slopes = (y / x).masked_select(x < 0);
  EXPECT_TRUE(y.masked_select(x >= 0).equal(x.masked_select(x >= 0)));
  EXPECT_GE(slopes.min().item<float>(), 0.2499f);
  EXPECT_LE(slopes.max().item<float>(), 0.5001f);
  EXPECT_NEAR(slopes.mean().item<float>(), 0.375, 0.02);
}

TEST(CudaBins, CountsAndOrdersAsOnTheCpu) {
  torch::Tensor x = mixed({4000}), weight = mixed({4000}).abs();
  EXPECT_TRUE(torch::histc(x.cuda(), 37, -8, 9).cpu().equal(torch::histc(x, 37, -8, 9)));
  auto counted = torch::histogram(x.cuda(), 21, {}, weight.cuda()), expected = torch::histogram(x, 21, {}, weight);
  EXPECT_TRUE(std::get<0>(counted).cpu().equal(std::get<0>(expected)));
  EXPECT_TRUE(std::get<1>(counted).cpu().equal(std::get<1>(expected)));
  torch::Tensor rows = mixed({300, 3}).fmod(2);
  EXPECT_TRUE(std::get<0>(torch::unique_dim(rows.cuda(), 0)).cpu().equal(std::get<0>(torch::unique_dim(rows, 0))));
}

}  // namespace
