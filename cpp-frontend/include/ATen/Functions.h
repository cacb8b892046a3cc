// Free functions: one per operator (generated), and the few that are not operators.
#pragma once

#include <ATen/CopiedFunctions.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/TensorBody.h>
#include <ATen/generated/functions.h>

#include <atomic>
#include <functional>
#include <thread>

namespace at {
RLT_NAMESPACE_BEGIN

/// The dtype to which two dtypes are promoted.
inline ScalarType promote_types(ScalarType a, ScalarType b) { return c10::promoteTypes(a, b); }
inline bool can_cast(ScalarType from, ScalarType to) { return c10::canCast(from, to); }

// A single dimension as a plain 0 is a dimension, not `unbiased`.
inline Tensor var(const Tensor& self, int dim) { return at::var(self, IntArrayRef(static_cast<int64_t>(dim))); }
inline Tensor std(const Tensor& self, int dim) { return at::std(self, IntArrayRef(static_cast<int64_t>(dim))); }
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, int dim) { return at::var_mean(self, IntArrayRef(static_cast<int64_t>(dim))); }
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, int dim) { return at::std_mean(self, IntArrayRef(static_cast<int64_t>(dim))); }

/// A number as a 0-dim tensor.
inline Tensor scalar_to_tensor(const Scalar& value, Device device = Device(kCPU)) {
  return at::scalar_tensor(value, TensorOptions(value.isBoolean() ? kBool : value.isComplex() ? kComplexDouble : value.isFloatingPoint() ? kDouble : kLong).device(device));
}
inline int64_t numel(const Tensor& tensor) { return tensor.numel(); }
inline bool is_floating_point(const Tensor& tensor) { return tensor.is_floating_point(); }
inline bool is_complex(const Tensor& tensor) { return tensor.is_complex(); }
inline bool is_signed(const Tensor& tensor) { return tensor.is_signed(); }
inline bool is_nonzero(const Tensor& tensor) { return tensor.is_nonzero(); }
inline bool is_same_size(const Tensor& self, const Tensor& other) { return self.is_same_size(other); }
inline bool is_inference(const Tensor& tensor) { return tensor.is_inference(); }
inline bool is_conj(const Tensor& tensor) { return tensor.is_conj(); }
inline bool is_neg(const Tensor& tensor) { return tensor.is_neg(); }

/// The histogram of points, whose coordinates are the last dimension, over bins of equal width; and the edges of the bins.
inline std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, IntArrayRef bins, OptionalArrayRef<double> range = {},
                                                           const std::optional<Tensor>& weight = {}, bool density = false) {
  return {at::_histogramdd_from_bin_cts(self, bins, range, weight, density),
          at::_histogramdd_bin_edges(self, bins, range, weight, density)};
}
inline std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, int64_t bins, OptionalArrayRef<double> range = {},
                                                           const std::optional<Tensor>& weight = {}, bool density = false) {
  std::vector<int64_t> all(static_cast<size_t>(self.size(-1)), bins);
  return at::histogramdd(self, IntArrayRef(all), range, weight, density);
}
inline std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, TensorList bins, OptionalArrayRef<double> = {},
                                                           const std::optional<Tensor>& weight = {}, bool density = false) {
  return {at::_histogramdd_from_bin_tensors(self, bins, weight, density), bins.vec()};
}
#define RLT_NAMED(name)                                                                           \
    inline Tensor name(const Tensor& self, const Tensor& other) { return self.name(other); }        \
    inline Tensor name(const Tensor& self, const Scalar& other) { return self.name(other); }
RLT_NAMED(__and__)
RLT_NAMED(__or__)
RLT_NAMED(__xor__)
RLT_NAMED(__lshift__)
RLT_NAMED(__rshift__)
#undef RLT_NAMED
/// Zeros. Those of libtorch have no memory.
inline Tensor _efficientzerotensor(IntArrayRef size, const TensorOptions& options = {}) { return at::zeros(size, options); }
/// A copy. libtorch defers the copy until one of the tensors is written.
inline Tensor _lazy_clone(const Tensor& self) { return self.clone(); }
namespace native {
// libtorch's kernels: here they are the operators.
using namespace at;
inline Tensor _stack(TensorList tensors, int64_t dim = 0) { return at::stack(tensors, dim); }
inline Tensor _stack_cpu(TensorList tensors, int64_t dim = 0) { return at::stack(tensors, dim); }
inline bool cpu_equal(const Tensor& self, const Tensor& other) { return at::equal(self, other); }
inline Tensor _upsample_nearest_exact2d(const Tensor& input, OptionalIntArrayRef output_size, OptionalArrayRef<double> scale_factors) {
  return at::_upsample_nearest_exact2d(input, output_size, scale_factors);
}
inline Tensor _upsample_bilinear2d_aa(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                                      OptionalArrayRef<double> scale_factors) {
  return at::_upsample_bilinear2d_aa(input, output_size, align_corners, scale_factors);
}
inline Tensor _upsample_bicubic2d_aa(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                                     OptionalArrayRef<double> scale_factors) {
  return at::_upsample_bicubic2d_aa(input, output_size, align_corners, scale_factors);
}
}  // namespace native

namespace detail {
/// A tensor with a copy of the elements.
inline Tensor from_elements(const void* data, size_t bytes, IntArrayRef sizes, ScalarType dtype) {
  rlt_tensor* tensor = nullptr;
  rlt::check(rlt_tensor_from_data(data, static_cast<int64_t>(bytes), sizes.data(), static_cast<int64_t>(sizes.size()),
                                  static_cast<int32_t>(dtype), &tensor));
  return Tensor(tensor);
}
template <class Deleter>
struct BlobDeleter {
  Deleter deleter;
  static void call(void* ctx, void* data) {
    BlobDeleter* self = static_cast<BlobDeleter*>(ctx);
    self->deleter(data);
    delete self;
  }
};

inline Tensor from_blob(void* data, IntArrayRef sizes, const int64_t* strides, void (*deleter)(void*, void*), void* ctx,
                        const TensorOptions& options) {
  rlt_tensor* tensor = nullptr;
  rlt::check(rlt_tensor_from_blob(data, sizes.data(), strides, static_cast<int64_t>(sizes.size()), &options.raw(), deleter, ctx,
                                  &tensor));
  return Tensor(tensor);
}

template <class Deleter>
Tensor from_blob_owned(void* data, IntArrayRef sizes, const int64_t* strides, Deleter&& deleter, const TensorOptions& options) {
  using Owned = BlobDeleter<std::decay_t<Deleter>>;
  std::unique_ptr<Owned> owned(new Owned{std::forward<Deleter>(deleter)});
  Tensor tensor = from_blob(data, sizes, strides, &Owned::call, owned.get(), options);
  owned.release();
  return tensor;
}
template <class T>
using enable_if_deleter = std::enable_if_t<std::is_invocable_v<T, void*>, bool>;
}  // namespace detail

/// The steps of from_blob one by one: `for_blob(data, sizes).strides(...).options(...).make_tensor()`.
class TensorMaker {
 public:
  TensorMaker(void* data, IntArrayRef sizes) : data_(data), sizes_(sizes) {}
  TensorMaker& strides(OptionalIntArrayRef value) { return strides_ = value, *this; }
  TensorMaker& storage_offset(std::optional<int64_t> value) { return storage_offset_ = value.value_or(0), *this; }
  RLT_LAZY TensorMaker& deleter(std::function<void(void*)> value) { return deleter_ = std::move(value), *this; }
  TensorMaker& target_device(std::optional<Device> value) { return device_ = value, *this; }
  TensorMaker& options(TensorOptions value) { return options_ = value, *this; }
  RLT_LAZY Tensor make_tensor() {
    TensorOptions options = device_ ? options_.device(*device_) : options_;
    char* start = static_cast<char*>(data_) + storage_offset_ * static_cast<int64_t>(options.dtype().itemsize());
    const int64_t* strides = strides_ ? strides_->data() : nullptr;
    if (!deleter_) return detail::from_blob(start, sizes_, strides, nullptr, nullptr, options);
    return detail::from_blob_owned(start, sizes_, strides, [deleter = deleter_, data = data_](void*) { deleter(data); }, options);
  }

 private:
  void* data_;
  IntArrayRef sizes_;
  OptionalIntArrayRef strides_;
  int64_t storage_offset_ = 0;
  std::function<void(void*)> deleter_;
  std::optional<Device> device_;
  TensorOptions options_;
};
inline TensorMaker for_blob(void* data, IntArrayRef sizes) { return TensorMaker(data, sizes); }

/// A tensor over memory that the caller keeps alive.
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
  return detail::from_blob(data, sizes, nullptr, nullptr, nullptr, options);
}
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {}) {
  return detail::from_blob(data, sizes, strides.data(), nullptr, nullptr, options);
}
/// A tensor over memory that `deleter` releases when no tensor uses it any more.
template <class Deleter, detail::enable_if_deleter<Deleter> = true>
Tensor from_blob(void* data, IntArrayRef sizes, Deleter&& deleter, const TensorOptions& options = {}) {
  return detail::from_blob_owned(data, sizes, nullptr, std::forward<Deleter>(deleter), options);
}
template <class Deleter, detail::enable_if_deleter<Deleter> = true>
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, Deleter&& deleter, const TensorOptions& options = {}) {
  return detail::from_blob_owned(data, sizes, strides.data(), std::forward<Deleter>(deleter), options);
}

/// A tensor of the numbers with the dtype of their C++ type, or with that of `options`.
template <class T, ScalarType Dtype = CppTypeToScalarType<T>::value>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
  TensorOptions given = options.has_dtype() ? options : options.dtype(Dtype);
  ScalarType target = given.dtype().toScalarType();
  TORCH_CHECK(!isComplexType(Dtype) || isComplexType(target), "\"tensor_cpu\" not implemented for '", c10::toString(target), "'");
  Tensor result = detail::from_elements(values.data(), values.size() * sizeof(T), IntArrayRef(static_cast<int64_t>(values.size())), Dtype);
  result = result.to(given.requires_grad(false));
  return options.requires_grad() ? result.set_requires_grad(true) : result;
}
template <class T, ScalarType = CppTypeToScalarType<T>::value>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  return at::tensor(ArrayRef<T>(values), options);
}
template <class T, ScalarType = CppTypeToScalarType<T>::value>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
  return at::tensor(ArrayRef<T>(values), options);
}
/// A tensor of one element and one dimension.
template <class T, ScalarType = CppTypeToScalarType<T>::value>
Tensor tensor(T value, const TensorOptions& options = {}) {
  return at::tensor(ArrayRef<T>(value), options);
}

inline void set_num_threads(int threads) { rlt::check(rlt_set_num_threads(threads)); }
inline int get_num_threads() {
  int32_t threads = 0;
  rlt::check(rlt_get_num_threads(&threads));
  return threads;
}
/// The number of threads of the operators, and of the machine.
RLT_LAZY std::string get_parallel_info() {
  return c10::str("ATen/Parallel:\n\tat::get_num_threads() : ", get_num_threads(), "\nstd::thread::hardware_concurrency() : ",
                  std::thread::hardware_concurrency(), "\nATen parallel backend: native thread pool\n");
}
inline void init_num_threads() {}

// Threads between operators. This library starts none: the number can be set once, is stored and has no other effect.
namespace detail {
inline std::atomic<int>& interop_threads() {
  static std::atomic<int> threads{0};
  return threads;
}
}  // namespace detail
inline void set_num_interop_threads(int threads) {
  if (threads <= 0) rlt::raise<Error>("Expected positive number of threads");
  int unset = 0;
  if (!detail::interop_threads().compare_exchange_strong(unset, threads)) {
    rlt::raise<Error>("Error: cannot set number of interop threads after parallel work has started or set_num_interop_threads called");
  }
}
inline int get_num_interop_threads() {
  int threads = detail::interop_threads();
  return threads > 0 ? threads : get_num_threads();
}

RLT_NAMESPACE_END
}  // namespace at
