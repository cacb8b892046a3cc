// torch::memory: freed memory is cached up to the limit, and released on demand.
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

constexpr int64_t size = 4 << 20;

void make_and_free() { torch::zeros({size}, torch::kByte); }

// Restores the default limit for other tests.
class Memory : public testing::Test {
 protected:
  void TearDown() override { torch::memory::set_cache_limit(1 << 30); }
};

TEST_F(Memory, LiveTensorsAreCounted) {
  int64_t before = torch::memory::stats().allocated;
  torch::memory::reset_peak();
  {
    torch::Tensor x = torch::zeros({size}, torch::kByte);
    EXPECT_EQ(torch::memory::stats().allocated, before + size);
  }
  EXPECT_EQ(torch::memory::stats().allocated, before);
  EXPECT_EQ(torch::memory::stats().peak, before + size);
}

TEST_F(Memory, FreedMemoryIsKeptUntilItIsTrimmed) {
  torch::memory::set_cache_limit(64 << 20);
  make_and_free();
  torch::memory::Stats kept = torch::memory::stats();
  EXPECT_GE(kept.reserved, kept.allocated + size);
  torch::memory::trim();
  torch::memory::Stats trimmed = torch::memory::stats();
  EXPECT_EQ(trimmed.reserved, trimmed.allocated);
}

TEST_F(Memory, NothingIsKeptAtALimitOfZero) {
  torch::memory::set_cache_limit(0);
  make_and_free();
  torch::memory::Stats after = torch::memory::stats();
  EXPECT_EQ(after.reserved, after.allocated);
}

TEST_F(Memory, ANegativeLimitIsAnError) {
  try {
    torch::memory::set_cache_limit(-1);
    FAIL();
  } catch (const c10::ValueError& error) {
    EXPECT_NE(error.msg().find("a limit of -1 bytes is not possible"), std::string::npos) << error.msg();
  }
}

TEST(ForBlob, TakesTheStepsOfFromBlobOneByOne) {
  std::vector<float> data{0, 1, 2, 3, 4, 5};
  int freed = 0;
  {
    torch::Tensor x = torch::for_blob(data.data(), {2, 2}).strides(torch::IntArrayRef{1, 2}).storage_offset(1).deleter([&](void* start) { freed += start == data.data(); }).make_tensor();
    EXPECT_TRUE(x.equal(torch::tensor({{1.0f, 3.0f}, {2.0f, 4.0f}})));
    EXPECT_EQ(freed, 0);
  }
  EXPECT_EQ(freed, 1);
}

}  // namespace
