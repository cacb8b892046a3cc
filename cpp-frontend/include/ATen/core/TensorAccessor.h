// TensorAccessor: element access by index, for loops over a CPU tensor. Packed accessors own their sizes and strides, so that a
// kernel of a program can take them by value.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <utility>

namespace at {
RLT_NAMESPACE_BEGIN

/// The type of an accessor's pointer.
template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
/// A pointer to memory that no other pointer of the function refers to.
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* C10_RESTRICT;
};

template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
class TensorAccessorBase {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;
  C10_HOST_DEVICE TensorAccessorBase(PtrType data, const Index* sizes, const Index* strides) : data_(data), sizes_(sizes), strides_(strides) {}
  c10::ArrayRef<Index> sizes() const { return {sizes_, N}; }
  c10::ArrayRef<Index> strides() const { return {strides_, N}; }
  C10_HOST_DEVICE Index size(Index dim) const { return sizes_[dim]; }
  C10_HOST_DEVICE Index stride(Index dim) const { return strides_[dim]; }
  C10_HOST_DEVICE PtrType data() const { return data_; }

 protected:
  PtrType data_;
  const Index* sizes_;
  const Index* strides_;
};

template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
class TensorAccessor : public TensorAccessorBase<T, N, PtrTraits, Index> {
 public:
  using TensorAccessorBase<T, N, PtrTraits, Index>::TensorAccessorBase;
  C10_HOST_DEVICE TensorAccessor<T, N - 1, PtrTraits, Index> operator[](Index i) const {
    return {this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1};
  }
};

template <class T, template <class> class PtrTraits, class Index>
class TensorAccessor<T, 1, PtrTraits, Index> : public TensorAccessorBase<T, 1, PtrTraits, Index> {
 public:
  using TensorAccessorBase<T, 1, PtrTraits, Index>::TensorAccessorBase;
  C10_HOST_DEVICE T& operator[](Index i) const { return this->data_[this->strides_[0] * i]; }
};

/// An accessor that owns its sizes and strides.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
class GenericPackedTensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;
  template <class Source>
  GenericPackedTensorAccessor(PtrType data, const Source* sizes, const Source* strides) : data_(data) {
    for (size_t i = 0; i < N; ++i) {
      sizes_[i] = static_cast<Index>(sizes[i]);
      strides_[i] = static_cast<Index>(strides[i]);
    }
  }
  C10_HOST_DEVICE Index size(Index dim) const { return sizes_[dim]; }
  C10_HOST_DEVICE Index stride(Index dim) const { return strides_[dim]; }
  C10_HOST_DEVICE PtrType data() const { return data_; }
  C10_HOST_DEVICE decltype(auto) operator[](Index i) const { return TensorAccessor<T, N, PtrTraits, Index>(data_, sizes_, strides_)[i]; }
  /// The same elements with two dimensions swapped.
  GenericPackedTensorAccessor transpose(Index dim0, Index dim1) const {
    check_dim(dim0);
    check_dim(dim1);
    GenericPackedTensorAccessor swapped = *this;
    std::swap(swapped.sizes_[dim0], swapped.sizes_[dim1]);
    std::swap(swapped.strides_[dim0], swapped.strides_[dim1]);
    return swapped;
  }

 private:
  static void check_dim(Index dim) {
    TORCH_CHECK_INDEX(dim >= 0 && dim < static_cast<Index>(N), "Index ", dim, " is not within bounds of a tensor of dimension ", N);
  }

  PtrType data_;
  Index sizes_[N];
  Index strides_[N];
};
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int32_t>;
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, int64_t>;
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
using PackedTensorAccessor [[deprecated("use GenericPackedTensorAccessor, PackedTensorAccessor32 or PackedTensorAccessor64")]] =
    GenericPackedTensorAccessor<T, N, PtrTraits, Index>;

RLT_NAMESPACE_END
}  // namespace at
