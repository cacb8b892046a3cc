// c10::utils::bitset: the bits of one 64-bit word.
#pragma once

#include <c10/macros/Macros.h>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace utils {

struct bitset final {
 private:
  using word = uint64_t;

 public:
  static constexpr size_t NUM_BITS() { return 8 * sizeof(word); }

  constexpr bitset() noexcept = default;
  constexpr void set(size_t index) noexcept { bits_ |= word{1} << index; }
  constexpr void unset(size_t index) noexcept { bits_ &= ~(word{1} << index); }
  constexpr bool get(size_t index) const noexcept { return (bits_ >> index & 1) != 0; }
  constexpr bool is_entirely_unset() const noexcept { return bits_ == 0; }

  /// Calls `function` with the index of every bit that is set, in ascending order.
  template <class Function>
  constexpr void for_each_set_bit(Function&& function) const {
    size_t index = 0;
    for (word rest = bits_; rest != 0; rest >>= 1, ++index) {
      if (rest & 1) function(index);
    }
  }

  friend constexpr bool operator==(bitset a, bitset b) noexcept { return a.bits_ == b.bits_; }
  friend constexpr bool operator!=(bitset a, bitset b) noexcept { return a.bits_ != b.bits_; }

 private:
  word bits_ = 0;
};

}  // namespace utils
RLT_NAMESPACE_END
}  // namespace c10
