// Philox4_32: the counter-based random generator of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (2011).
//
// Each counter of 128 bits yields 4 numbers. The upper half of the counter is the subsequence, the lower half the offset.
#pragma once

#include <c10/macros/Macros.h>

#include <array>
#include <cmath>

namespace at {
RLT_NAMESPACE_BEGIN

class philox_engine {
 public:
  explicit philox_engine(uint64_t seed = 67280421310721, uint64_t subsequence = 0, uint64_t offset = 0) {
    reset_state(seed, subsequence);
    incr_n(offset);
  }
  void reset_state(uint64_t seed = 67280421310721, uint64_t subsequence = 0) {
    key_ = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    counter_ = {0, 0, static_cast<uint32_t>(subsequence), static_cast<uint32_t>(subsequence >> 32)};
    used_ = 0;
  }
  void set_offset(uint64_t offset) {
    counter_[0] = static_cast<uint32_t>(offset);
    counter_[1] = static_cast<uint32_t>(offset >> 32);
  }
  uint64_t get_offset() const { return counter_[0] | static_cast<uint64_t>(counter_[1]) << 32; }

  /// The next number; `rounds` is at most 10.
  uint32_t operator()(int rounds = 10) {
    if (used_ == 0) {
      output_ = encrypt(rounds);
      incr();
    }
    uint32_t result = output_[used_];
    used_ = (used_ + 1) % 4;
    return result;
  }
  /// A sample of the normal distribution, by the transform of Box and Muller.
  float randn(int rounds) {
    if (used_ == 0) {
      output_ = encrypt(rounds);
      incr();
      used_ = 1;
    }
    // Numbers in (0, 1]: the logarithm of 0 is infinite.
    float u1 = 1 - unit(output_[0]), u2 = 1 - unit(output_[1]);
    used_ = 0;
    return std::sqrt(-2 * std::log(u1)) * std::cos(6.283185307179586f * u2);
  }
  /// Skips `count` counters.
  void incr_n(uint64_t count) {
    uint64_t low = get_offset(), sum = low + count;
    set_offset(sum);
    if (sum < low) carry();
  }
  /// Skips one counter.
  void incr() { incr_n(1); }

 private:
  using Counter = std::array<uint32_t, 4>;

  void carry() {
    if (++counter_[2] == 0) ++counter_[3];
  }
  static float unit(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
  Counter encrypt(int rounds) const {
    Counter c = counter_;
    std::array<uint32_t, 2> key = key_;
    for (int round = 0; round < rounds; ++round) {
      uint64_t first = uint64_t{0xD2511F53} * c[0], second = uint64_t{0xCD9E8D57} * c[2];
      c = {static_cast<uint32_t>(second >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(second), static_cast<uint32_t>(first >> 32) ^ c[3] ^ key[1],
           static_cast<uint32_t>(first)};
      key[0] += 0x9E3779B9;
      key[1] += 0xBB67AE85;
    }
    return c;
  }

  std::array<uint32_t, 2> key_{};
  Counter counter_{}, output_{};
  uint32_t used_ = 0;
};
using Philox4_32 = philox_engine;

RLT_NAMESPACE_END
}  // namespace at
