// at::detail::getCUDAHooks: what CUDA devices there are, for programs that do not include the headers of CUDA.
#pragma once

#include <ATen/Context.h>

#include <string>

namespace at {
RLT_NAMESPACE_BEGIN

struct CUDAHooksInterface {
  bool hasCUDA() const { return Context::hasCUDA(); }
  bool hasCUDART() const { return Context::hasCUDART(); }
  bool hasCuDNN() const { return Context::hasCuDNN(); }
  bool hasCuSOLVER() const { return Context::hasCuSOLVER(); }
  bool hasROCM() const { return Context::hasROCM(); }
  DeviceIndex deviceCount() const { return c10::cuda::device_count(); }
  DeviceIndex getNumGPUs() const { return c10::cuda::device_count(); }
  DeviceIndex current_device() const { return hasCUDA() ? c10::cuda::current_device() : DeviceIndex{-1}; }
  RLT_LAZY std::string showConfig() const {
    TORCH_CHECK(hasCUDA(), "Cannot query detailed CUDA version: there is no CUDA device");
    return c10::str("CUDA driver, ", static_cast<int>(deviceCount()), " devices\n");
  }
  long versionCuDNN() const { return Context::versionCuDNN(); }
  Generator getDefaultGenerator(DeviceIndex = -1) const {
    rlt::raise<NotImplementedError>("CUDAHooksInterface::getDefaultGenerator is not available: the generators of CUDA devices have no object; torch::manual_seed seeds them");
  }
};

namespace detail {
inline const CUDAHooksInterface& getCUDAHooks() {
  static constexpr CUDAHooksInterface only;
  return only;
}
}  // namespace detail
RLT_NAMESPACE_END
}  // namespace at
