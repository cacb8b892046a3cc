// mt19937: the Mersenne Twister of Matsumoto & Nishimura (1998), the numbers of std::mt19937 without <random>.
#pragma once

#include <c10/macros/Macros.h>

namespace at {
RLT_NAMESPACE_BEGIN

class mt19937 {
 public:
  using result_type = uint32_t;
  explicit mt19937(uint64_t seed = 5489) : seed_(seed) {
    state_[0] = static_cast<uint32_t>(seed);
    for (uint32_t i = 1; i < count; ++i) state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
  static constexpr uint32_t count = 624;
  using State = uint32_t[count];
  /// The state of another generator; `next` is the index of its next word, or `count` if the words have to be renewed first.
  mt19937(const State& words, uint32_t next) : seed_(0), next_(next) {
    for (uint32_t i = 0; i < count; ++i) state_[i] = words[i];
  }
  const State& state() const { return state_; }
  uint32_t next() const { return next_; }
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xffffffffu; }
  uint64_t seed() const { return seed_; }

  uint32_t operator()() {
    if (next_ == count) renew();
    uint32_t y = state_[next_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

 private:
  static constexpr uint32_t middle = 397;

  void renew() {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % count] & 0x7fffffffu);
      state_[i] = state_[(i + middle) % count] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    next_ = 0;
  }

  uint64_t seed_;
  uint32_t state_[count];
  uint32_t next_ = count;
};

RLT_NAMESPACE_END
}  // namespace at
