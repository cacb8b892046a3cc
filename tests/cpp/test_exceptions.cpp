// Exceptions have libtorch's classes, and TORCH_CHECK its messages.
#include <c10/util/env.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

template <class E, class Body>
std::string message(Body body) {
  try {
    body();
  } catch (const E& error) {
    return error.what_without_backtrace();
  }
  return "(nothing thrown)";
}

TEST(Exceptions, ClassesByKind) {
  EXPECT_THROW(torch::ones({2}).sum(3), c10::IndexError);
  EXPECT_THROW(torch::ones({2}) + torch::ones({3}), c10::Error);
  EXPECT_THROW(torch::Tensor().add(1), c10::Error);
  EXPECT_THROW(torch::ones({2}, torch::kCUDA), c10::Error);
  EXPECT_THROW(torch::empty({int64_t{1} << 60}), c10::Error);
}

TEST(Exceptions, AreStandardExceptions) {
  try {
    torch::ones({2}).size(7);
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("Dimension out of range"), std::string::npos);
  }
}

TEST(Exceptions, Check) {
  int x = 3;
  EXPECT_EQ(message<c10::Error>([&] { TORCH_CHECK(x == 4, "x is ", x, ", not ", 4.5); }), "x is 3, not 4.5");
  EXPECT_NE(message<c10::Error>([&] { TORCH_CHECK(x == 4); }).find("Expected x == 4 to be true, but got false."), std::string::npos);
  EXPECT_EQ(message<c10::IndexError>([&] { TORCH_CHECK_INDEX(false, "index ", 7); }), "index 7");
  EXPECT_EQ(message<c10::ValueError>([&] { TORCH_CHECK_VALUE(false, "value"); }), "value");
  EXPECT_EQ(message<c10::TypeError>([&] { TORCH_CHECK_TYPE(false, "type"); }), "type");
  EXPECT_EQ(message<c10::NotImplementedError>([&] { TORCH_CHECK_NOT_IMPLEMENTED(false, "later"); }), "later");
  EXPECT_EQ(message<c10::LinAlgError>([&] { TORCH_CHECK_LINALG(false, "singular"); }), "singular");
  // libtorch aborts on the comparing ones; here they throw.
  EXPECT_NE(message<c10::Error>([&] { TORCH_CHECK_EQ(x, 5); }).find("(3 vs. 5)"), std::string::npos);
  EXPECT_NE(message<c10::Error>([&] { TORCH_INTERNAL_ASSERT(x == 5, "hm"); }).find("INTERNAL ASSERT FAILED"), std::string::npos);
  EXPECT_EQ(message<c10::Error>([&] { AT_ERROR("a", 1); }), "a1");
  TORCH_CHECK(true, "never");
}

TEST(Exceptions, StacktracesOnRequest) {
  auto text = [] {
    try {
      torch::ones({2}).size(7);
    } catch (const c10::Error& error) {
      EXPECT_EQ(std::string(error.what_without_backtrace()).find("frame #"), std::string::npos);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(text().find("frame #"), std::string::npos);
  c10::utils::set_env("TORCH_SHOW_CPP_STACKTRACES", "1");
  std::string shown = text();
  c10::utils::set_env("TORCH_SHOW_CPP_STACKTRACES", "");
#if RLT_BACKTRACE
  EXPECT_EQ(shown.find("Dimension out of range"), 0u);
  EXPECT_NE(shown.find("\nframe #0: "), std::string::npos);
  EXPECT_NE(shown.find("\nframe #3: "), std::string::npos);
#endif
  EXPECT_EQ(text().find("frame #"), std::string::npos);
}

TEST(Exceptions, Context) {
  c10::Error error("went wrong");
  error.add_context("while testing");
  EXPECT_STREQ(error.what_without_backtrace(), "went wrong (while testing)");
  error.add_context("again");
  EXPECT_STREQ(error.what_without_backtrace(), "went wrong\n  while testing\n  again");
}

struct Collector : c10::WarningHandler {
  void process(const c10::Warning& warning) override { texts.push_back(warning.msg()); }
  std::vector<std::string> texts;
};

TEST(Exceptions, Warnings) {
  Collector collector;
  c10::WarningUtils::WarningHandlerGuard guard(&collector);
  for (int i = 0; i < 3; ++i) TORCH_WARN_ONCE("once");
  TORCH_WARN("number ", 5);
  EXPECT_EQ(collector.texts, (std::vector<std::string>{"once", "number 5"}));
  collector.texts.clear();
  torch::Tensor x = torch::ones({3}), mask = torch::zeros({3}, torch::kByte);
  x.index({mask});
  x.index_put_({mask}, torch::ones({0}), /*accumulate=*/true);
  const std::string text = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.";
  EXPECT_EQ(collector.texts, (std::vector<std::string>{text, text}));
}

TEST(Exceptions, OptionsThatCannotBeMet) {
  torch::Tensor x = torch::ones({2}, torch::requires_grad());
  EXPECT_THROW(x.to(torch::TensorOptions().requires_grad(true)), c10::Error);
  EXPECT_TRUE(x.to(torch::TensorOptions(torch::kDouble).requires_grad(false)).requires_grad());
}

}  // namespace
