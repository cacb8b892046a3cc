// at::autocast: which dtype a region of automatic mixed precision computes in, and casts to it. The library's operators have no
// such mode: it cannot be enabled.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/DispatchKey.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace at {
RLT_NAMESPACE_BEGIN
namespace autocast {

namespace detail {
/// The state of a thread.
struct State {
  State() {
    dtypes.fill(kHalf);
    dtypes[static_cast<size_t>(kCPU)] = kBFloat16;
  }
  std::array<ScalarType, static_cast<size_t>(DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES)> dtypes;
  int nesting = 0;
  bool cache = true;
};
inline State& state() {
  thread_local State own;
  return own;
}
}  // namespace detail

inline bool is_autocast_available(DeviceType) { return false; }
inline bool is_autocast_enabled(DeviceType) { return false; }
inline void set_autocast_enabled(DeviceType device_type, bool on) {
  TORCH_CHECK_NOT_IMPLEMENTED(!on, "autocast for ", device_type, " devices is not implemented");
}
inline bool is_enabled() { return is_autocast_enabled(kCUDA); }
inline void set_enabled(bool on) { set_autocast_enabled(kCUDA, on); }
inline bool is_cpu_enabled() { return is_autocast_enabled(kCPU); }
inline void set_cpu_enabled(bool on) { set_autocast_enabled(kCPU, on); }

/// The dtype of half precision for a device.
inline ScalarType get_autocast_dtype(DeviceType device_type) { return detail::state().dtypes[static_cast<size_t>(device_type)]; }
inline void set_autocast_dtype(DeviceType device_type, ScalarType dtype) { detail::state().dtypes[static_cast<size_t>(device_type)] = dtype; }
inline ScalarType get_autocast_gpu_dtype() { return get_autocast_dtype(kCUDA); }
inline void set_autocast_gpu_dtype(ScalarType dtype) { set_autocast_dtype(kCUDA, dtype); }
inline ScalarType get_autocast_cpu_dtype() { return get_autocast_dtype(kCPU); }
inline void set_autocast_cpu_dtype(ScalarType dtype) { set_autocast_dtype(kCPU, dtype); }
inline ScalarType get_lower_precision_fp_from_device_type(DeviceType device_type) { return get_autocast_dtype(device_type); }

/// Casts are not cached: `cached_cast` computes each one.
inline void clear_cache() {}
inline int increment_nesting() { return ++detail::state().nesting; }
inline int decrement_nesting() { return --detail::state().nesting; }
inline bool is_autocast_cache_enabled() { return detail::state().cache; }
inline void set_autocast_cache_enabled(bool on) { detail::state().cache = on; }

/// Floating-point tensors of the device, except double precision.
inline bool is_autocast_eligible(const Tensor& tensor, DeviceType device_type) { return tensor.device().type() == device_type && tensor.is_floating_point(); }
inline bool is_eligible(const Tensor& tensor, DeviceType device_type = kCUDA) {
  return tensor.defined() && is_autocast_eligible(tensor, device_type) && tensor.scalar_type() != kDouble;
}
inline DispatchKey get_autocast_dispatch_key_from_device_type(DeviceType device_type) {
  switch (device_type) {
    case kCUDA: return DispatchKey::AutocastCUDA;
    case kCPU: return DispatchKey::AutocastCPU;
    default: TORCH_CHECK(false, "unknown device type for autocast in get_autocast_dispatch_key_from_device_type");
  }
}

/// An eligible tensor in another dtype; other values stay.
inline Tensor cached_cast(ScalarType to_type, const Tensor& arg, DeviceType device_type = kCUDA) {
  return is_eligible(arg, device_type) && arg.scalar_type() != to_type ? arg.to(to_type) : arg;
}
inline std::optional<Tensor> cached_cast(ScalarType to_type, const std::optional<Tensor>& arg, DeviceType device_type = kCUDA) {
  return arg ? std::optional<Tensor>(cached_cast(to_type, *arg, device_type)) : std::nullopt;
}
inline std::vector<Tensor> cached_cast(ScalarType to_type, const TensorList& arg, DeviceType device_type = kCUDA) {
  std::vector<Tensor> results;
  results.reserve(arg.size());
  for (const Tensor& tensor : arg) results.push_back(cached_cast(to_type, tensor, device_type));
  return results;
}
template <class T>
T cached_cast(ScalarType, T arg, DeviceType = kCUDA) {
  return arg;
}

/// The wider dtype of eligible arguments.
inline ScalarType prioritize(ScalarType current, const Tensor& next, DeviceType device_type = kCUDA) {
  TORCH_CHECK(current != kDouble, "promote type is double in at::autocast::prioritize");
  if (!is_eligible(next, device_type)) return current;
  return current == kFloat || next.scalar_type() == kFloat ? kFloat : next.scalar_type() == get_autocast_dtype(device_type) ? current : kFloat;
}
inline ScalarType prioritize(ScalarType current, const TensorList& list, DeviceType device_type = kCUDA) {
  for (const Tensor& tensor : list) current = prioritize(current, tensor, device_type);
  return current;
}
template <class T>
ScalarType prioritize(ScalarType current, T, DeviceType = kCUDA) {
  return current;
}
inline ScalarType promote_type(ScalarType current, DeviceType) { return current; }
template <class Arg0, class... Args>
ScalarType promote_type(ScalarType current, DeviceType device_type, Arg0 first, Args... rest) {
  return promote_type(prioritize(current, first, device_type), device_type, rest...);
}

}  // namespace autocast
RLT_NAMESPACE_END
}  // namespace at
