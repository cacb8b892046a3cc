// TensorOptions: dtype, device, layout and the other options of a factory, each of them set or not.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Optional.h>
#include <rushlight/tensor.h>

#include <ostream>

namespace c10 {
RLT_NAMESPACE_BEGIN

inline Layout layout_or_default(std::optional<Layout> layout) { return layout.value_or(kStrided); }
inline Device device_or_default(std::optional<Device> device) { return device.value_or(Device(kCPU)); }
inline ScalarType dtype_or_default(std::optional<ScalarType> dtype) { return dtype ? *dtype : get_default_dtype_as_scalartype(); }
inline bool pinned_memory_or_default(std::optional<bool> pinned) { return pinned.value_or(false); }

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(Layout layout) : TensorOptions() { raw_.layout = static_cast<int32_t>(layout); }
  // A template, so that the literal 0 (a null `const char*`) is not converted to a device.
  template <class T, std::enable_if_t<std::is_same_v<std::decay_t<T>, Device> || std::is_same_v<std::decay_t<T>, DeviceType> ||
                                          std::is_same_v<std::decay_t<T>, std::string> || std::is_same_v<std::decay_t<T>, const char*> ||
                                          std::is_same_v<std::decay_t<T>, char*>,
                                      bool> = true>
  TensorOptions(T&& device) : TensorOptions() {
    set(Device(std::forward<T>(device)));
  }
  // `{kCUDA, 1}`. Also a template: a single number is not an index.
  template <class Index, std::enable_if_t<std::is_integral_v<Index>, bool> = true>
  TensorOptions(DeviceType type, Index index) : TensorOptions(Device(type, static_cast<DeviceIndex>(index))) {}
  TensorOptions(caffe2::TypeMeta dtype) : TensorOptions() { raw_.dtype = static_cast<int32_t>(dtype.toScalarType()); }
  TensorOptions(ScalarType dtype) : TensorOptions() { raw_.dtype = static_cast<int32_t>(dtype); }
  TensorOptions(MemoryFormat format) : TensorOptions() { memory_format_ = format; }
  explicit TensorOptions(const rlt_tensor_options& raw) : raw_(raw) {}

  [[nodiscard]] TensorOptions device(std::optional<Device> device) const noexcept {
    TensorOptions result = *this;
    if (device) result.set(*device);
    else result.raw_.device_type = result.raw_.device_index = -1;
    return result;
  }
  template <class... Args>
  [[nodiscard]] TensorOptions device(Args&&... args) const {
    return device(std::optional<Device>(std::in_place, std::forward<Args>(args)...));
  }
  [[nodiscard]] TensorOptions device_index(DeviceIndex index) const noexcept { return device(Device(DeviceType::CUDA, index)); }
  [[nodiscard]] TensorOptions dtype(std::optional<ScalarType> dtype) const noexcept {
    TensorOptions result = *this;
    result.raw_.dtype = dtype ? static_cast<int32_t>(*dtype) : -1;
    return result;
  }
  [[nodiscard]] TensorOptions dtype(caffe2::TypeMeta type) const noexcept { return dtype(std::optional<ScalarType>(type.toScalarType())); }
  [[nodiscard]] TensorOptions dtype(ScalarType type) const noexcept { return dtype(std::optional<ScalarType>(type)); }
  template <class T>
  TensorOptions& dtype() {
    raw_.dtype = static_cast<int32_t>(CppTypeToScalarType<T>::value);
    return *this;
  }
  [[nodiscard]] TensorOptions layout(std::optional<Layout> layout) const noexcept {
    TensorOptions result = *this;
    result.raw_.layout = layout ? static_cast<int32_t>(*layout) : -1;
    return result;
  }
  [[nodiscard]] TensorOptions requires_grad(std::optional<bool> requires_grad) const noexcept {
    TensorOptions result = *this;
    result.raw_.requires_grad = requires_grad ? *requires_grad : -1;
    return result;
  }
  [[nodiscard]] TensorOptions pinned_memory(std::optional<bool> pinned) const noexcept {
    TensorOptions result = *this;
    result.raw_.pin_memory = pinned ? *pinned : -1;
    return result;
  }
  [[nodiscard]] TensorOptions memory_format(std::optional<MemoryFormat> format) const noexcept {
    TensorOptions result = *this;
    result.memory_format_ = format;
    return result;
  }

  Device device() const noexcept { return device_opt().value_or(Device(kCPU)); }
  bool has_device() const noexcept { return raw_.device_type >= 0; }
  std::optional<Device> device_opt() const noexcept {
    if (!has_device()) return std::nullopt;
    return Device(rlt_device{raw_.device_type, raw_.device_index});
  }
  int32_t device_index() const noexcept { return device().index(); }
  caffe2::TypeMeta dtype() const { return has_dtype() ? static_cast<ScalarType>(raw_.dtype) : get_default_dtype_as_scalartype(); }
  bool has_dtype() const noexcept { return raw_.dtype >= 0; }
  template <class Type = caffe2::TypeMeta>
  std::optional<Type> dtype_opt() const noexcept {
    if (!has_dtype()) return std::nullopt;
    return Type(static_cast<ScalarType>(raw_.dtype));
  }
  Layout layout() const noexcept { return has_layout() ? static_cast<Layout>(raw_.layout) : kStrided; }
  bool has_layout() const noexcept { return raw_.layout >= 0; }
  std::optional<Layout> layout_opt() const noexcept { return has_layout() ? std::optional<Layout>(layout()) : std::nullopt; }
  bool requires_grad() const noexcept { return raw_.requires_grad > 0; }
  bool has_requires_grad() const noexcept { return raw_.requires_grad >= 0; }
  std::optional<bool> requires_grad_opt() const noexcept {
    return has_requires_grad() ? std::optional<bool>(requires_grad()) : std::nullopt;
  }
  bool pinned_memory() const noexcept { return raw_.pin_memory > 0; }
  bool has_pinned_memory() const noexcept { return raw_.pin_memory >= 0; }
  std::optional<bool> pinned_memory_opt() const noexcept {
    return has_pinned_memory() ? std::optional<bool>(pinned_memory()) : std::nullopt;
  }
  bool has_memory_format() const noexcept { return memory_format_.has_value(); }
  std::optional<MemoryFormat> memory_format_opt() const noexcept { return memory_format_; }
  bool is_sparse() const { return layout() == kSparse; }

  /// These options, overridden by those that `other` sets.
  TensorOptions merge_in(TensorOptions other) const noexcept {
    TensorOptions result = *this;
    if (other.has_device()) result.set(*other.device_opt());
    if (other.has_dtype()) result.raw_.dtype = other.raw_.dtype;
    if (other.has_layout()) result.raw_.layout = other.raw_.layout;
    if (other.has_requires_grad()) result.raw_.requires_grad = other.raw_.requires_grad;
    if (other.has_pinned_memory()) result.raw_.pin_memory = other.raw_.pin_memory;
    if (other.has_memory_format()) result.memory_format_ = other.memory_format_;
    return result;
  }
  TensorOptions merge_memory_format(std::optional<MemoryFormat> format) const noexcept { return format ? memory_format(format) : *this; }
  bool type_equal(const TensorOptions& other) const {
    return device().type() == other.device().type() && layout() == other.layout() && dtype() == other.dtype();
  }
  /// The members of `RLT_TENSOR_OPTIONS_INIT`, plus the ones that are set.
  const rlt_tensor_options& raw() const { return raw_; }

 private:
  void set(Device device) noexcept {
    raw_.device_type = device.raw().type;
    raw_.device_index = device.raw().index;
  }

  rlt_tensor_options raw_ = RLT_TENSOR_OPTIONS_INIT;
  std::optional<MemoryFormat> memory_format_;
};

inline TensorOptions dtype(caffe2::TypeMeta type) { return TensorOptions(type); }
inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
template <class T>
TensorOptions dtype() {
  return TensorOptions(CppTypeToScalarType<T>::value);
}
inline TensorOptions layout(Layout layout) { return TensorOptions(layout); }
inline TensorOptions device(Device device) { return TensorOptions(device); }
inline TensorOptions device_index(DeviceIndex index) { return TensorOptions().device_index(index); }
inline TensorOptions requires_grad(bool requires_grad = true) { return TensorOptions().requires_grad(requires_grad); }
inline TensorOptions memory_format(MemoryFormat format) { return TensorOptions(format); }
inline std::string toString(const TensorOptions& options);

inline std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  auto mark = [](bool given) { return given ? "" : " (default)"; };
  auto text = [](bool value) { return value ? "true" : "false"; };
  out << "TensorOptions(dtype=" << options.dtype() << mark(options.has_dtype()) << ", device=" << options.device() << mark(options.has_device())
      << ", layout=" << options.layout() << mark(options.has_layout()) << ", requires_grad=" << text(options.requires_grad())
      << mark(options.has_requires_grad()) << ", pinned_memory=" << text(options.pinned_memory()) << mark(options.has_pinned_memory())
      << ", memory_format=";
  if (options.has_memory_format()) return out << *options.memory_format_opt() << ")";
  return out << "(nullopt))";
}
inline std::string toString(const TensorOptions& options) { return str(options); }

RLT_NAMESPACE_END
}  // namespace c10
