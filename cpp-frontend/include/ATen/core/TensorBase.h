// TensorBase: the handle and its metadata. Operators are methods of Tensor (TensorBody.h).
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/TensorAccessor.h>
#include <c10/core/QScheme.h>
#include <c10/core/Scalar.h>
#include <c10/core/Storage.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>
#include <rushlight/autograd.h>
#include <rushlight/hooks.h>
#include <rushlight/tensor.h>

#include <limits>
#include <memory>
#include <string>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {
struct Node;
}
RLT_NAMESPACE_END
}  // namespace torch

namespace at {
RLT_NAMESPACE_BEGIN

class Tensor;
using TensorList = ArrayRef<Tensor>;
using ITensorListRef = TensorList;
class IOptTensorListRef;

class TensorBase {
 public:
  /// Undefined: no tensor at all. Its metadata is that of a tensor of the size [0] without a dtype, a device and strides.
  TensorBase() = default;
  /// Takes ownership of one reference.
  explicit TensorBase(rlt_tensor* adopted) noexcept : handle_(adopted) {}
  TensorBase(const TensorBase& other) {
    if (other.handle_) rlt::check(rlt_tensor_retain(other.handle_, &handle_));
  }
  TensorBase(TensorBase&& other) noexcept : handle_(rlt::exchange_value(other.handle_, nullptr)) {}
  TensorBase& operator=(const TensorBase& other) {
    TensorBase copy(other);
    rlt::swap_values(handle_, copy.handle_);
    return *this;
  }
  TensorBase& operator=(TensorBase&& other) noexcept {
    rlt::swap_values(handle_, other.handle_);
    return *this;
  }
  ~TensorBase() {
    if (handle_) rlt_tensor_free(handle_);
  }

  rlt_tensor* handle() const noexcept { return handle_; }
  /// Releases ownership of the reference.
  rlt_tensor* release() noexcept { return rlt::exchange_value(handle_, nullptr); }
  c10::TensorImpl* unsafeGetTensorImpl() const noexcept { return reinterpret_cast<c10::TensorImpl*>(handle_); }
  c10::intrusive_ptr<c10::TensorImpl> getIntrusivePtr() const { return c10::intrusive_ptr<c10::TensorImpl>::reclaim_copy(unsafeGetTensorImpl()); }

  bool defined() const noexcept { return handle_ != nullptr; }
  void reset() { *this = TensorBase(); }
  bool is_same(const TensorBase& other) const noexcept { return handle_ == other.handle_; }
  size_t use_count() const { return static_cast<size_t>(defined() ? get<int64_t>(rlt_tensor_use_count) : 0); }
  /// The number of weak references, and 1 for all others.
  size_t weak_use_count() const { return static_cast<size_t>(defined() ? get<int64_t>(rlt_tensor_weak_use_count) : 0); }

  int64_t dim() const { return defined() ? get<int64_t>(rlt_tensor_ndim) : 1; }
  int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const { return defined() ? geometry().first : IntArrayRef(&no_elements, 1); }
  IntArrayRef strides() const {
    if (C10_UNLIKELY(!defined())) rlt::raise<Error>("strides() called on an undefined Tensor");
    return geometry().second;
  }
  c10::SymIntArrayRef sym_sizes() const { return c10::fromIntArrayRefUnchecked(sizes()); }
  c10::SymIntArrayRef sym_strides() const { return c10::fromIntArrayRefUnchecked(strides()); }
  int64_t size(int64_t dim) const {
    IntArrayRef all = sizes();
    return all[wrap(dim, all)];
  }
  c10::SymInt sym_size(int64_t dim) const { return size(dim); }
  int64_t stride(int64_t dim) const {
    auto both = geometry();
    return both.second[wrap(dim, both.first)];
  }
  c10::SymInt sym_stride(int64_t dim) const { return stride(dim); }
  int64_t numel() const { return defined() ? get<int64_t>(rlt_tensor_numel) : 0; }
  c10::SymInt sym_numel() const { return numel(); }
  size_t itemsize() const { return static_cast<size_t>(element_size()); }
  int64_t element_size() const { return get<int64_t>(rlt_tensor_element_size); }
  size_t nbytes() const { return static_cast<size_t>(get<int64_t>(rlt_tensor_nbytes)); }
  c10::SymInt sym_nbytes() const { return static_cast<int64_t>(nbytes()); }
  int64_t storage_offset() const { return defined() ? get<int64_t>(rlt_tensor_storage_offset) : 0; }
  c10::SymInt sym_storage_offset() const { return storage_offset(); }

  ScalarType scalar_type() const { return defined() ? static_cast<ScalarType>(get<int32_t>(rlt_tensor_dtype)) : ScalarType::Undefined; }
  caffe2::TypeMeta dtype() const { return scalar_type(); }
  Device device() const {
    if (C10_UNLIKELY(!defined())) rlt::raise<Error>("tensor does not have a device");
    return Device(get<rlt_device>(rlt_tensor_device));
  }
  DeviceIndex get_device() const { return device().index(); }
  Layout layout() const { return defined() ? static_cast<Layout>(get<int32_t>(rlt_tensor_layout)) : kStrided; }
  TensorOptions options() const { return TensorOptions(scalar_type()).device(device()).layout(layout()); }

  bool is_conj() const {
    int32_t result = 0;
    rlt::check(rlt_tensor_is_conj(handle_, &result));
    return result != 0;
  }
  bool is_neg() const {
    int32_t result = 0;
    rlt::check(rlt_tensor_is_neg(handle_, &result));
    return result != 0;
  }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    if (C10_UNLIKELY(!defined())) return format == MemoryFormat::Contiguous;
    int32_t result = 0;
    rlt::check(rlt_tensor_is_contiguous(handle_, static_cast<int32_t>(format), &result));
    return result != 0;
  }
  /// The memory format that the order of the strides implies. It is the same for slices, which have gaps, unless
  /// `exact` requires the strides of a tensor without gaps.
  MemoryFormat suggest_memory_format(bool exact = false) const {
    auto both = geometry();
    if (c10::is_channels_last_strides_2d(both.first, both.second)) {
      bool dense = !exact || both.second.equals(c10::get_channels_last_strides_2d(both.first));
      return dense ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous;
    }
    if (c10::is_channels_last_strides_3d(both.first, both.second)) {
      bool dense = !exact || both.second.equals(c10::get_channels_last_strides_3d(both.first));
      return dense ? MemoryFormat::ChannelsLast3d : MemoryFormat::Contiguous;
    }
    return MemoryFormat::Contiguous;
  }
  /// Whether the elements fill a range of memory without gaps, each at its own address, in any order of dimensions.
  bool is_non_overlapping_and_dense() const {
    auto both = geometry();
    int64_t filled = 1, elements = 1;
    for (int64_t size : both.first) elements *= size;
    if (elements == 0) return true;
    // Each iteration finds the dimension whose stride is the number of elements of the dimensions found so far.
    for (bool grown = true; grown && filled != elements;) {
      grown = false;
      for (size_t d = 0; d < both.first.size() && !grown; ++d) {
        if (both.first[d] > 1 && both.second[d] == filled) {
          filled *= both.first[d];
          grown = true;
        }
      }
    }
    return filled == elements;
  }
  bool is_cpu() const { return defined() && device().is_cpu(); }
  bool is_cuda() const { return defined() && device().is_cuda(); }
  bool is_meta() const { return defined() && device().is_meta(); }
  bool is_mps() const { return defined() && device().is_mps(); }
  // No tensor is on a device of these types.
  bool is_hip() const { return false; }
  bool is_hpu() const { return false; }
  bool is_ipu() const { return false; }
  bool is_lazy() const { return false; }
  bool is_maia() const { return false; }
  bool is_metal() const { return false; }
  bool is_mtia() const { return false; }
  bool is_privateuseone() const { return false; }
  bool is_ve() const { return false; }
  bool is_vulkan() const { return false; }
  bool is_xla() const { return false; }
  bool is_xpu() const { return false; }
  bool is_sparse() const { return layout() == kSparse; }
  bool is_sparse_csr() const { return layout() == kSparseCsr; }
  int64_t sparse_dim() const { return get<int64_t>(rlt_tensor_sparse_dim); }
  int64_t _dimI() const { return sparse_dim(); }
  int64_t dense_dim() const { return get<int64_t>(rlt_tensor_dense_dim); }
  int64_t _dimV() const { return dense_dim(); }
  int64_t _nnz() const { return get<int64_t>(rlt_tensor_nnz); }
  bool is_coalesced() const { return get<int32_t>(rlt_tensor_is_coalesced) != 0; }
  bool is_quantized() const { return isQIntType(scalar_type()); }
  QScheme qscheme() const { return static_cast<QScheme>(get<int32_t>(rlt_tensor_qscheme)); }
  bool is_mkldnn() const { return false; }
  bool is_nested() const { return defined() && get<int32_t>(rlt_tensor_is_nested) != 0; }
  bool is_complex() const { return isComplexType(scalar_type()); }
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  bool is_signed() const { return isSignedType(scalar_type()); }
  bool is_view() const { return get<int32_t>(rlt_tensor_is_view) != 0; }
  /// Whether the tensor was created in inference mode, or is a view of such a tensor.
  bool is_inference() const { return get<int32_t>(rlt_tensor_is_inference) != 0; }
  bool is_alias_of(const TensorBase& other) const {
    int32_t result = 0;
    rlt::check(rlt_tensor_is_alias_of(handle_, other.handle_, &result));
    return result != 0;
  }
  /// Page-locked memory is for copies to a device.
  bool is_pinned(std::optional<Device> = {}) const { return false; }
  bool has_storage() const { return defined() && layout() == kStrided; }
  /// A `const` value, so that `auto& storage = x.storage()` compiles.
  const c10::Storage storage() const { return c10::Storage(handle_); }
  int64_t _version() const { return defined() ? get<int64_t>(rlt_tensor_version) : 0; }

  /// Address of the first element. The pointer is valid as long as the tensor's storage.
  void* data_ptr() const { return get<void*>(rlt_tensor_data_ptr); }
  void* mutable_data_ptr() const { return data_ptr(); }
  const void* const_data_ptr() const { return data_ptr(); }
  template <class T>
  T* data_ptr() const {
    ScalarType expected = CppTypeToScalarType<std::remove_const_t<T>>::value, found = scalar_type();
    if (C10_UNLIKELY(expected != found)) {
      rlt::raise<Error>(std::string("expected scalar type ") + c10::toString(expected) + " but found " + c10::toString(found));
    }
    return static_cast<T*>(data_ptr());
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  const std::remove_const_t<T>* const_data_ptr() const {
    return data_ptr<std::remove_const_t<T>>();
  }
  template <class T>
  [[deprecated("Tensor.data<T>() is deprecated. Please use Tensor.data_ptr<T>() instead.")]] T* data() const {
    return data_ptr<T>();
  }

  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    static_assert(N > 0, "an accessor needs a dimension; for a single number use *data_ptr<T>()");
    expect_dim(N);
    auto both = geometry();
    return {data_ptr<T>(), both.first.data(), both.second.data()};
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> generic_packed_accessor() const& {
    static_assert(N > 0, "an accessor needs a dimension; for a single number use *data_ptr<T>()");
    expect_dim(N);
    auto both = geometry();
    return {data_ptr<T>(), both.first.data(), both.second.data()};
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> generic_packed_accessor() && = delete;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
  [[deprecated("packed_accessor is deprecated, use packed_accessor32 or packed_accessor64 instead")]]
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> packed_accessor() const& {
    return generic_packed_accessor<T, N, PtrTraits, Index>();
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> packed_accessor() && = delete;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const& {
    if (C10_UNLIKELY(numel() > std::numeric_limits<int32_t>::max())) {
      rlt::raise<Error>("numel needs to be smaller than int32_t max; otherwise, please use packed_accessor64");
    }
    return generic_packed_accessor<T, N, PtrTraits, int32_t>();
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() && = delete;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const& {
    return generic_packed_accessor<T, N, PtrTraits, int64_t>();
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() && = delete;

  bool requires_grad() const { return defined() && get<int32_t>(rlt_tensor_requires_grad) != 0; }
  bool is_leaf() const { return get<int32_t>(rlt_tensor_is_leaf) != 0; }
  int64_t output_nr() const { return get<int64_t>(rlt_tensor_output_nr); }
  void retain_grad() const { rlt::check(rlt_tensor_retain_grad(handle_)); }
  bool retains_grad() const { return get<int32_t>(rlt_tensor_retains_grad) != 0; }
  /// The operator that computed this tensor; empty for a leaf. Defined in torch/csrc/autograd/function.h.
  std::shared_ptr<torch::autograd::Node> grad_fn() const;
  void remove_hook(unsigned hook) const { rlt::check(rlt_tensor_remove_hook(handle_, hook)); }

  /// Tensors have no names: an empty string.
  const std::string& name() const {
    static const std::string none;
    if (!defined()) rlt::raise<Error>("name() called on an undefined Tensor");
    return none;
  }
  std::string toString() const {
    if (!defined()) return "UndefinedType";
    std::string backend = DeviceTypeName(device().type());
    if (backend == "META") backend = "Meta";
    if (is_quantized()) backend = "Quantized" + backend;
    if (layout() == kSparse) backend = "Sparse" + backend;
    if (layout() == kSparseCsr) backend = "SparseCsr" + backend;
    return backend + c10::toString(scalar_type()) + "Type";
  }

 protected:
  template <class T>
  T get(int32_t (*getter)(const rlt_tensor*, T*)) const {
    T value{};
    rlt::check(getter(handle_, &value));
    return value;
  }
  std::pair<IntArrayRef, IntArrayRef> geometry() const {
    const int64_t *sizes = nullptr, *strides = nullptr;
    int64_t ndim = 0;
    rlt::check(rlt_tensor_geometry(handle_, &sizes, &strides, &ndim));
    return {IntArrayRef(sizes, static_cast<size_t>(ndim)), IntArrayRef(strides, static_cast<size_t>(ndim))};
  }
  static size_t wrap(int64_t dim, IntArrayRef sizes) {
    int64_t ndim = static_cast<int64_t>(sizes.size());
    if (C10_UNLIKELY(dim < -ndim || dim >= ndim)) dim_out_of_range(dim, ndim);
    return static_cast<size_t>(dim < 0 ? dim + ndim : dim);
  }

 private:
  [[noreturn]] RLT_COLD static void dim_out_of_range(int64_t dim, int64_t ndim) {
    if (ndim == 0) rlt::raise<IndexError>("Dimension specified as " + std::to_string(dim) + " but tensor has no dimensions");
    rlt::raise<IndexError>("Dimension out of range (expected to be in range of [" + std::to_string(-ndim) + ", " + std::to_string(ndim - 1) +
                           "], but got " + std::to_string(dim) + ")");
  }
  void expect_dim(size_t expected) const {
    if (C10_UNLIKELY(dim() != static_cast<int64_t>(expected))) {
      rlt::raise<Error>("TensorAccessor expected " + std::to_string(expected) + " dims but tensor has " + std::to_string(dim()));
    }
  }

  /// The size of the only dimension of an undefined tensor.
  static constexpr int64_t no_elements = 0;

  rlt_tensor* handle_ = nullptr;
};

RLT_NAMESPACE_END
}  // namespace at
