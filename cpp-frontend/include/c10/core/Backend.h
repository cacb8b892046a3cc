// Backend: a device and a layout in one word, as old programs name them.
#pragma once

#include <c10/core/TensorOptions.h>

#include <new>

namespace c10 {
RLT_NAMESPACE_BEGIN

enum class Backend { CPU, CUDA, SparseCPU, SparseCUDA, Meta, MPS, Undefined };

constexpr DeviceType backendToDeviceType(Backend backend) {
  switch (backend) {
    case Backend::CUDA:
    case Backend::SparseCUDA: return DeviceType::CUDA;
    case Backend::Meta: return DeviceType::Meta;
    case Backend::MPS: return DeviceType::MPS;
    case Backend::Undefined: rlt::raise<Error>("Undefined backend is not a valid device type");
    default: return DeviceType::CPU;
  }
}
inline Layout layout_from_backend(Backend backend) {
  return backend == Backend::SparseCPU || backend == Backend::SparseCUDA ? kSparse : kStrided;
}
inline const char* toString(Backend backend) {
  switch (backend) {
    case Backend::CPU: return "CPU";
    case Backend::CUDA: return "CUDA";
    case Backend::SparseCPU: return "SparseCPU";
    case Backend::SparseCUDA: return "SparseCUDA";
    case Backend::Meta: return "Meta";
    case Backend::MPS: return "MPS";
    default: return "UNKNOWN_BACKEND";
  }
}

RLT_NAMESPACE_END
}  // namespace c10

namespace at {
RLT_NAMESPACE_BEGIN

/// The predecessor of TensorOptions: a backend and a dtype.
class DeprecatedTypeProperties {
 public:
  DeprecatedTypeProperties(Backend backend, ScalarType dtype) : backend_(backend), dtype_(dtype) {}
  Backend backend() const { return backend_; }
  ScalarType scalarType() const { return dtype_; }
  caffe2::TypeMeta typeMeta() const { return dtype_; }
  Layout layout() const { return layout_from_backend(backend_); }
  DeviceType device_type() const { return backendToDeviceType(backend_); }
  bool is_cuda() const { return device_type() == kCUDA; }
  bool is_sparse() const { return layout() == kSparse; }
  TensorOptions options() const { return TensorOptions(dtype_).device(device_type()).layout(layout()); }
  operator TensorOptions() const { return options(); }
  std::string toString() const {
    std::string base = c10::toString(backend_);
    return base + c10::toString(dtype_) + "Type";
  }
  DeprecatedTypeProperties toBackend(Backend backend) const { return {backend, dtype_}; }
  DeprecatedTypeProperties toScalarType(ScalarType dtype) const { return {backend_, dtype}; }
  bool operator==(const DeprecatedTypeProperties& other) const { return backend_ == other.backend_ && dtype_ == other.dtype_; }
  bool operator!=(const DeprecatedTypeProperties& other) const { return !(*this == other); }

 private:
  Backend backend_;
  ScalarType dtype_;
};

inline std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type) { return out << type.toString(); }

/// The properties of a backend and a dtype; the reference is valid forever.
inline DeprecatedTypeProperties& getDeprecatedTypeProperties(Backend backend, ScalarType dtype) {
  constexpr size_t backends = static_cast<size_t>(Backend::Undefined) + 1, dtypes = static_cast<size_t>(ScalarType::NumOptions);
  struct All {
    All() {
      for (size_t i = 0; i < backends * dtypes; ++i) new (bytes[i]) DeprecatedTypeProperties(static_cast<Backend>(i / dtypes), static_cast<ScalarType>(i % dtypes));
    }
    // Not a std::vector, whose functions every program would compile.
    alignas(DeprecatedTypeProperties) unsigned char bytes[backends * dtypes][sizeof(DeprecatedTypeProperties)];
  };
  static All all;
  return reinterpret_cast<DeprecatedTypeProperties*>(all.bytes)[static_cast<size_t>(backend) * static_cast<size_t>(ScalarType::NumOptions) + static_cast<size_t>(dtype)];
}
inline DeprecatedTypeProperties& CPU(ScalarType dtype) { return getDeprecatedTypeProperties(Backend::CPU, dtype); }
inline DeprecatedTypeProperties& CUDA(ScalarType dtype) { return getDeprecatedTypeProperties(Backend::CUDA, dtype); }
inline DeprecatedTypeProperties& MPS(ScalarType dtype) { return getDeprecatedTypeProperties(Backend::MPS, dtype); }

RLT_NAMESPACE_END
}  // namespace at
