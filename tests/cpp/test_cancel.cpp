// Cancel tokens end the calls of the thread that entered them, and no others.
#include <gtest/gtest.h>
#include <torch/cancel.h>
#include <torch/torch.h>

#include <string>
#include <thread>

namespace {

std::string error_of(const torch::Tensor& tensor) {
  try {
    tensor.neg();
    return "";
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
}

TEST(Cancel, EndsTheCallsWithinItsScope) {
  const torch::Tensor ones = torch::ones({2});
  torch::CancelToken token;
  {
    torch::CancelScope scope(token);
    EXPECT_EQ(error_of(ones), "");
    torch::CancelToken(token).cancel();
    EXPECT_NE(error_of(ones).find("the operation was cancelled"), std::string::npos);
    std::thread([&] { EXPECT_EQ(error_of(ones), ""); }).join();
  }
  EXPECT_TRUE(token.is_cancelled());
  EXPECT_EQ(error_of(ones), "");
}

TEST(Cancel, ADeadlineEndsARunningProduct) {
  const torch::Tensor large = torch::zeros({6000, 6000});
  torch::CancelToken token;
  torch::CancelScope scope(token);
  token.set_timeout(std::chrono::milliseconds(20));
  EXPECT_THROW(large.mm(large), c10::Error);
  EXPECT_NE(error_of(large).find("the deadline of the operation has passed"), std::string::npos);
  token.clear_timeout();
  EXPECT_EQ(error_of(torch::ones({2})), "");
}

TEST(Cancel, ABackwardPassEndsOnTheThreadsThatItUses) {
  torch::Tensor weight = torch::ones({2}, torch::requires_grad());
  torch::CancelToken token;
  torch::CancelScope scope(token);
  torch::Tensor sum = (weight * 2).sum();
  sum.register_hook([&](torch::Tensor gradient) { token.cancel(); return gradient; });
  EXPECT_THROW(sum.backward(), c10::Error);
}

}  // namespace
