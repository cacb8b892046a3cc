// TensorAccessor: element access by index, for loops over a CPU tensor.
#pragma once

#include <c10/util/ArrayRef.h>

namespace at {
RLT_NAMESPACE_BEGIN

template <class T, size_t N, class Index = int64_t>
class TensorAccessorBase {
 public:
  TensorAccessorBase(T* data, const Index* sizes, const Index* strides) : data_(data), sizes_(sizes), strides_(strides) {}
  c10::ArrayRef<Index> sizes() const { return {sizes_, N}; }
  c10::ArrayRef<Index> strides() const { return {strides_, N}; }
  Index size(Index dim) const { return sizes_[dim]; }
  Index stride(Index dim) const { return strides_[dim]; }
  T* data() const { return data_; }

 protected:
  T* data_;
  const Index* sizes_;
  const Index* strides_;
};

template <class T, size_t N, class Index = int64_t>
class TensorAccessor : public TensorAccessorBase<T, N, Index> {
 public:
  using TensorAccessorBase<T, N, Index>::TensorAccessorBase;
  TensorAccessor<T, N - 1, Index> operator[](Index i) const {
    return {this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1};
  }
};

template <class T, class Index>
class TensorAccessor<T, 1, Index> : public TensorAccessorBase<T, 1, Index> {
 public:
  using TensorAccessorBase<T, 1, Index>::TensorAccessorBase;
  T& operator[](Index i) const { return this->data_[this->strides_[0] * i]; }
};

/// An accessor that owns its sizes and strides.
template <class T, size_t N, class Index = int64_t>
class GenericPackedTensorAccessor {
 public:
  GenericPackedTensorAccessor(T* data, const int64_t* sizes, const int64_t* strides) : data_(data) {
    for (size_t i = 0; i < N; ++i) {
      sizes_[i] = static_cast<Index>(sizes[i]);
      strides_[i] = static_cast<Index>(strides[i]);
    }
  }
  Index size(Index dim) const { return sizes_[dim]; }
  Index stride(Index dim) const { return strides_[dim]; }
  T* data() const { return data_; }
  decltype(auto) operator[](Index i) const { return TensorAccessor<T, N, Index>(data_, sizes_, strides_)[i]; }

 private:
  T* data_;
  Index sizes_[N];
  Index strides_[N];
};
template <class T, size_t N>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, int32_t>;
template <class T, size_t N>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, int64_t>;

RLT_NAMESPACE_END
}  // namespace at
