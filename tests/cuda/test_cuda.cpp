// CUDA devices through the C++ frontend. ctest runs the program with the driver of tests/fakecuda, which interprets the
// kernels; on a machine with a GPU it runs on the card (`make gpu`).
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <sstream>
#include <string>

#include "support.h"

namespace {

TEST(CudaDevice, IsThereAndHasProperties) {
  ASSERT_TRUE(torch::cuda::is_available());
  EXPECT_TRUE(at::hasCUDA());
  auto properties = at::cuda::getDeviceProperties(0);
  EXPECT_FALSE(properties.name.empty());
  EXPECT_GE(properties.major, 7);
  EXPECT_EQ(properties.warpSize, 32);
  EXPECT_GT(properties.multiProcessorCount, 0);
  EXPECT_GT(properties.totalGlobalMem, size_t{1} << 28);
  EXPECT_NE(error_of([] { at::cuda::getDeviceProperties(100); }).find("invalid device ordinal"), std::string::npos);
}

TEST(CudaDevice, GuardMakesItTheCurrentOne) {
  const auto before = c10::cuda::current_device();
  const auto last = static_cast<c10::DeviceIndex>(torch::cuda::device_count() - 1);
  {
    c10::cuda::CUDAGuard guard(last);
    EXPECT_EQ(c10::cuda::current_device(), last);
    EXPECT_EQ(torch::empty({2}, on_gpu).device(), torch::Device(torch::kCUDA, last));
    c10::DeviceGuard inner(torch::Device(torch::kCUDA, 0));
    EXPECT_EQ(c10::cuda::current_device(), 0);
  }
  EXPECT_EQ(c10::cuda::current_device(), before);
}

TEST(CudaTensor, GoesToTheDeviceAndBack) {
  for (auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kInt, torch::kLong, torch::kBool, torch::kUInt8}) {
    torch::Tensor x = values({3, 4}).to(dtype);
    torch::Tensor there = x.to(torch::kCUDA);
    EXPECT_TRUE(there.is_cuda());
    EXPECT_EQ(there.device(), torch::Device(torch::kCUDA, 0));
    EXPECT_EQ(there.dtype(), x.dtype());
    EXPECT_TRUE(there.cpu().equal(x)) << dtype;
    EXPECT_TRUE(there.to(torch::kCUDA).is_same(there));
  }
  torch::Tensor empty = torch::empty({0, 3}).cuda();
  EXPECT_EQ(empty.cpu().sizes(), (std::vector<int64_t>{0, 3}));
}

TEST(CudaTensor, KeepsStridesAndViews) {
  torch::Tensor x = values({3, 4});
  torch::Tensor transposed = x.t().cuda();
  EXPECT_EQ(transposed.strides(), (std::vector<int64_t>{1, 4}));
  EXPECT_TRUE(transposed.cpu().equal(x.t()));
  torch::Tensor part = x.cuda().slice(0, 1, 3).select(1, 2);
  EXPECT_TRUE(part.cpu().equal(x.slice(0, 1, 3).select(1, 2)));
  torch::Tensor spread = x.select(0, 0).expand({2, 4}).cuda();
  EXPECT_TRUE(spread.cpu().equal(x.select(0, 0).expand({2, 4})));
  // A copy into a part of a tensor on the device.
  torch::Tensor target = torch::zeros({3, 4}).cuda();
  target.select(1, 1).copy_(values({3}));
  torch::Tensor expected = torch::zeros({3, 4});
  expected.select(1, 1).copy_(values({3}));
  EXPECT_TRUE(target.cpu().equal(expected));
}

TEST(CudaTensor, IsReadByTheHost) {
  torch::Tensor x = values({2, 3}).cuda();
  EXPECT_EQ(x.select(0, 1).select(0, 2).item<float>(), 1.5f);
  std::ostringstream text;
  text << x;
  EXPECT_NE(text.str().find("CUDAFloatType{2,3}"), std::string::npos) << text.str();
}

TEST(CudaTensor, ComputesWhatTheCpuComputes) {
  torch::Tensor a = values({5, 7}), b = values({7}) - 1;
  torch::Tensor x = a.cuda(), y = b.cuda();
  EXPECT_TRUE((x + y).cpu().equal(a + b));
  EXPECT_TRUE((x * 3 - y).cpu().equal(a * 3 - b));
  EXPECT_TRUE((x / (y + 2)).cpu().equal(a / (b + 2)));
  EXPECT_TRUE(x.t().add(1).cpu().equal(a.t().add(1)));
  EXPECT_TRUE(torch::where(x > 3, x, y).cpu().equal(torch::where(a > 3, a, b)));
  EXPECT_TRUE(torch::relu(y).cpu().equal(torch::relu(b)));
  EXPECT_TRUE(x.exp().cpu().allclose(a.exp(), 1e-6, 0));
  EXPECT_TRUE(x.to(torch::kInt).cpu().equal(a.to(torch::kInt)));
  // A number on the CPU joins.
  EXPECT_TRUE((x + torch::tensor(2.5)).cpu().equal(a + 2.5));
  x.mul_(2).add_(y);
  EXPECT_TRUE(x.cpu().equal(a * 2 + b));
  torch::Tensor zeros = torch::zeros({2, 2}, on_gpu), ones = torch::ones({2, 2}, on_gpu);
  EXPECT_TRUE((zeros + ones).cpu().equal(torch::ones({2, 2})));
  EXPECT_TRUE(torch::cat({zeros, ones}, 1).cpu().equal(torch::cat({torch::zeros({2, 2}), torch::ones({2, 2})}, 1)));
}

TEST(CudaTensor, MultipliesMatrices) {
  torch::Tensor a = torch::randn({65, 130}), b = torch::randn({130, 33}), bias = torch::randn({33});
  EXPECT_TRUE(a.cuda().mm(b.cuda()).cpu().allclose(a.mm(b), 1e-4, 1e-4));
  EXPECT_TRUE(torch::addmm(bias.cuda(), a.cuda(), b.cuda()).cpu().allclose(torch::addmm(bias, a, b), 1e-4, 1e-4));
  EXPECT_TRUE(torch::mm(b.t().cuda(), a.t().cuda()).cpu().allclose(torch::mm(b.t(), a.t()), 1e-4, 1e-4));
  torch::Tensor s = torch::randn({3, 4, 5}), t = torch::randn({3, 5, 6});
  EXPECT_TRUE(torch::bmm(s.cuda(), t.cuda()).cpu().allclose(torch::bmm(s, t), 1e-4, 1e-5));
}

TEST(CudaTensor, Reduces) {
  torch::Tensor a = values({6, 50});
  EXPECT_TRUE(a.cuda().sum().cpu().allclose(a.sum()));
  EXPECT_TRUE(a.cuda().mean(1).cpu().allclose(a.mean(1)));
  EXPECT_TRUE(a.cuda().amax(0).cpu().equal(a.amax(0)));
  EXPECT_TRUE(torch::softmax(a.cuda(), 1).cpu().allclose(torch::softmax(a, 1), 1e-6, 1e-8));
  EXPECT_TRUE(torch::log_softmax(a.cuda(), 0).cpu().allclose(torch::log_softmax(a, 0), 1e-6, 1e-6));
}

TEST(CudaTensor, LearnsAsOnTheCpu) {
  auto losses = [](torch::Device device) {
    torch::manual_seed(3);
    torch::nn::Sequential net(torch::nn::Linear(4, 16), torch::nn::Tanh(), torch::nn::Linear(16, 3));
    net->to(device);
    torch::Tensor x = torch::randn({20, 4}).to(device), target = (torch::arange(20) % 3).to(device);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
    std::vector<double> all;
    for (int step = 0; step < 5; ++step) {
      optimizer.zero_grad();
      torch::Tensor loss = torch::nll_loss(torch::log_softmax(net->forward(x), 1), target);
      loss.backward();
      optimizer.step();
      all.push_back(loss.item<double>());
    }
    return all;
  };
  auto cpu = losses(torch::kCPU), gpu = losses(torch::kCUDA);
  for (size_t step = 0; step < cpu.size(); ++step) EXPECT_NEAR(cpu[step], gpu[step], 1e-5) << step;
  EXPECT_LT(gpu.back(), gpu.front());
}

TEST(CudaTensor, RefusesWhatItCannotDo) {
  torch::Tensor x = values({2, 2}).cuda();
  EXPECT_EQ(error_of([&] { x + values({2, 2}); }),
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!\n  in operator add.Tensor");
  // An operator without a kernel on the device names itself, and leaves everything usable.
  EXPECT_EQ(error_of([&] { torch::mm(x.to_sparse(), x); }), "no kernel for operator mm on device cuda:0");
  EXPECT_TRUE((x + x).cpu().equal(values({2, 2}) * 2));
}

TEST(CudaStream, OrdersWorkByEvents) {
  auto stream = c10::cuda::getStreamFromPool();
  EXPECT_NE(stream.id(), c10::cuda::getDefaultCUDAStream().id());
  EXPECT_EQ(c10::cuda::getCurrentCUDAStream(), c10::cuda::getDefaultCUDAStream());
  torch::Tensor x = values({1000}).cuda();
  torch::cuda::synchronize();
  at::cuda::CUDAEvent done;
  torch::Tensor y;
  {
    c10::cuda::CUDAStreamGuard guard(stream);
    EXPECT_EQ(c10::cuda::getCurrentCUDAStream(), stream);
    y = x * 2;
    done.record();
  }
  EXPECT_EQ(c10::cuda::getCurrentCUDAStream(), c10::cuda::getDefaultCUDAStream());
  done.block(c10::cuda::getCurrentCUDAStream());
  torch::Tensor z = y + 1;
  EXPECT_TRUE(z.cpu().equal(values({1000}) * 2 + 1));
  EXPECT_TRUE(done.query());
  stream.synchronize();
  EXPECT_TRUE(stream.query());
}

TEST(CudaStream, MeasuresTime) {
  at::cuda::CUDAEvent start(cudaEventDefault), end(cudaEventDefault);
  start.record();
  torch::Tensor x = torch::ones({1000}, on_gpu) + 1;
  end.record();
  end.synchronize();
  EXPECT_GE(start.elapsed_time(end), 0.0f);
  at::cuda::CUDAEvent without;
  without.record();
  without.synchronize();
  EXPECT_THROW(start.elapsed_time(without), c10::Error);
}

TEST(CudaMemory, IsCachedAndCounted) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  torch::cuda::synchronize();
  allocator::emptyCache();
  const int64_t before = allocator::getDeviceStats(0).allocated_bytes[0].current;
  {
    torch::Tensor x = torch::empty({1000}, on_gpu);
    EXPECT_EQ(allocator::getDeviceStats(0).allocated_bytes[0].current - before, 4096);
    EXPECT_GE(allocator::getDeviceStats(0).reserved_bytes[0].current, 2 << 20);
    const void* address = x.data_ptr();
    x.reset();
    // The block is reused at once.
    torch::Tensor y = torch::empty({1000}, on_gpu);
    EXPECT_EQ(y.data_ptr(), address);
  }
  EXPECT_EQ(allocator::getDeviceStats(0).allocated_bytes[0].current, before);
  const int64_t reserved = allocator::getDeviceStats(0).reserved_bytes[0].current;
  allocator::emptyCache();
  EXPECT_LT(allocator::getDeviceStats(0).reserved_bytes[0].current, reserved);
}

TEST(CudaMemory, RunsOutWithAnErrorThatNamesTheSizes) {
  std::string text = error_of([] { torch::empty({int64_t{1} << 50}, on_gpu.dtype(torch::kByte)); });
  EXPECT_EQ(text.find("CUDA out of memory. Tried to allocate 1048576.00 GiB. GPU 0 has a total capacity of "), 0u) << text;
  EXPECT_THROW(torch::empty({int64_t{1} << 50}, on_gpu.dtype(torch::kByte)), c10::OutOfMemoryError);
  EXPECT_EQ(torch::ones({2}, on_gpu).add(1).cpu().select(0, 1).item<float>(), 2.0f);
}

}  // namespace
