// A training step in which the Nth request for memory fails, for every N and every optimizer: the step throws and
// changes no parameter, and the following steps have the same results as without the failed one.
#include "../c/aligned.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <functional>
#include <memory>

namespace {

using torch::optim::Optimizer;
using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(std::vector<torch::Tensor>)>;

// An allocator that fails the request with this number.
struct Failing {
  long requests = 0, fail_at = 0;

  static void* allocate(void* ctx, size_t size, size_t alignment) {
    auto* self = static_cast<Failing*>(ctx);
    if (++self->requests == self->fail_at) return nullptr;
    return aligned_block(size, alignment);
  }
  static void deallocate(void*, void* block, size_t, size_t) { free_aligned_block(block); }

  Failing() {
    rlt_allocator hooks{sizeof hooks, this, allocate, deallocate};
    rlt::check(rlt_set_allocator(&hooks));
  }
  ~Failing() { rlt_set_allocator(nullptr); }
  void fail(long nth) {
    requests = 0;
    fail_at = nth;
  }
};

struct Training {
  torch::nn::Sequential net;
  std::unique_ptr<Optimizer> optimizer;
  torch::Tensor images, labels;

  explicit Training(const MakeOptimizer& make) {
    torch::manual_seed(1);
    net = torch::nn::Sequential(torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 2, 3).padding(1)), torch::nn::BatchNorm2d(2), torch::nn::ReLU(),
                                torch::nn::Flatten(), torch::nn::Linear(32, 3));
    optimizer = make(net->parameters());
    images = torch::randn({2, 1, 4, 4});
    labels = torch::tensor({0, 2});
  }
  void step() {
    optimizer->zero_grad();
    torch::nn::functional::cross_entropy(net->forward(images), labels).backward();
    optimizer->step();
  }
  // The state that training changes, except the counters of batch norm.
  std::vector<torch::Tensor> values() const {
    std::vector<torch::Tensor> copies;
    for (const torch::Tensor& parameter : net->parameters()) copies.push_back(parameter.detach().clone());
    return copies;
  }
};

bool same(const std::vector<torch::Tensor>& one, const std::vector<torch::Tensor>& other) {
  for (size_t i = 0; i < one.size(); ++i) {
    if (!torch::equal(one[i], other[i])) return false;
  }
  return one.size() == other.size();
}

void check(const MakeOptimizer& make) {
  Failing memory;
  Training untouched(make);
  const auto before = untouched.values();
  memory.fail(0);
  untouched.step();
  const long needed = memory.requests;
  ASSERT_GT(needed, 20);
  const auto after_one = untouched.values();
  untouched.step();
  const auto after_two = untouched.values();
  ASSERT_FALSE(same(before, after_one) || same(after_one, after_two));

  for (long nth = 1; nth <= needed; ++nth) {
    Training training(make);
    memory.fail(nth);
    EXPECT_THROW(training.step(), c10::OutOfMemoryError) << "request " << nth;
    memory.fail(0);
    ASSERT_TRUE(same(training.values(), before)) << "request " << nth << " changed parameters";
    training.step();
    ASSERT_TRUE(same(training.values(), after_one)) << "the step after request " << nth;
    training.step();
    ASSERT_TRUE(same(training.values(), after_two)) << "the second step after request " << nth;
  }
}

TEST(FailingStep, SGD) {
  check([](auto parameters) {
    return std::make_unique<torch::optim::SGD>(std::move(parameters), torch::optim::SGDOptions(0.1).momentum(0.9).dampening(0.1));
  });
}

TEST(FailingStep, Adam) {
  check([](auto parameters) { return std::make_unique<torch::optim::Adam>(std::move(parameters), torch::optim::AdamOptions(0.1).amsgrad(true)); });
}

TEST(FailingStep, AdamW) {
  check([](auto parameters) { return std::make_unique<torch::optim::AdamW>(std::move(parameters), torch::optim::AdamWOptions(0.1)); });
}

TEST(FailingStep, Adagrad) {
  check([](auto parameters) {
    return std::make_unique<torch::optim::Adagrad>(std::move(parameters), torch::optim::AdagradOptions(0.1).lr_decay(0.5));
  });
}

TEST(FailingStep, RMSprop) {
  check([](auto parameters) {
    return std::make_unique<torch::optim::RMSprop>(std::move(parameters), torch::optim::RMSpropOptions(0.1).momentum(0.9).centered(true));
  });
}

}  // namespace
