// SizesAndStrides: the sizes and strides of a tensor; those of up to five dimensions are within the object.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#define C10_SIZES_AND_STRIDES_MAX_INLINE_SIZE 5

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace impl {

/// One dimension of size 0 with stride 1 at first. A moved-from object has no dimensions.
class SizesAndStrides {
 public:
  using sizes_iterator = int64_t*;
  using sizes_const_iterator = const int64_t*;
  using strides_iterator = int64_t*;
  using strides_const_iterator = const int64_t*;

  SizesAndStrides() : sizes_(1, 0), strides_(1, 1) {}
  SizesAndStrides(const SizesAndStrides&) = default;
  SizesAndStrides(SizesAndStrides&& other) : sizes_(std::move(other.sizes_)), strides_(std::move(other.strides_)) { other.clear(); }
  SizesAndStrides& operator=(const SizesAndStrides&) = default;
  SizesAndStrides& operator=(SizesAndStrides&& other) {
    if (this == &other) return *this;
    sizes_ = std::move(other.sizes_);
    strides_ = std::move(other.strides_);
    other.clear();
    return *this;
  }
  ~SizesAndStrides() = default;

  size_t size() const noexcept { return sizes_.size(); }
  const int64_t* sizes_data() const noexcept { return sizes_.data(); }
  int64_t* sizes_data() noexcept { return sizes_.data(); }
  sizes_const_iterator sizes_begin() const noexcept { return sizes_.begin(); }
  sizes_iterator sizes_begin() noexcept { return sizes_.begin(); }
  sizes_const_iterator sizes_end() const noexcept { return sizes_.end(); }
  sizes_iterator sizes_end() noexcept { return sizes_.end(); }
  IntArrayRef sizes_arrayref() const noexcept { return {sizes_.data(), sizes_.size()}; }
  const int64_t* strides_data() const noexcept { return strides_.data(); }
  int64_t* strides_data() noexcept { return strides_.data(); }
  strides_const_iterator strides_begin() const noexcept { return strides_.begin(); }
  strides_iterator strides_begin() noexcept { return strides_.begin(); }
  strides_const_iterator strides_end() const noexcept { return strides_.end(); }
  strides_iterator strides_end() noexcept { return strides_.end(); }
  IntArrayRef strides_arrayref() const noexcept { return {strides_.data(), strides_.size()}; }

  int64_t size_at(size_t index) const { return sizes_.at(index); }
  int64_t& size_at(size_t index) { return sizes_.at(index); }
  int64_t size_at_unchecked(size_t index) const noexcept { return sizes_[index]; }
  int64_t& size_at_unchecked(size_t index) noexcept { return sizes_[index]; }
  int64_t stride_at(size_t index) const { return strides_.at(index); }
  int64_t& stride_at(size_t index) { return strides_.at(index); }
  int64_t stride_at_unchecked(size_t index) const noexcept { return strides_[index]; }
  int64_t& stride_at_unchecked(size_t index) noexcept { return strides_[index]; }

  /// The number of dimensions becomes that of the sizes; new strides are 0.
  void set_sizes(IntArrayRef sizes) {
    resize(sizes.size());
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  }
  void set_strides(IntArrayRef strides) {
    TORCH_INTERNAL_ASSERT(strides.size() == size(), "set_strides: ", strides.size(), " strides for ", size(), " dimensions");
    std::copy(strides.begin(), strides.end(), strides_.begin());
  }
  /// New sizes and strides are 0.
  void resize(size_t dimensions) {
    sizes_.resize(dimensions);
    strides_.resize(dimensions);
  }

 private:
  using Numbers = SmallVector<int64_t, C10_SIZES_AND_STRIDES_MAX_INLINE_SIZE>;
  void clear() noexcept {
    sizes_.clear();
    strides_.clear();
  }
  Numbers sizes_;
  Numbers strides_;
};

}  // namespace impl
RLT_NAMESPACE_END
}  // namespace c10
