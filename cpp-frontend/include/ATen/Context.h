// The process-wide settings that at::globalContext() holds.
//
// Settings of libraries and devices that this build does not use (cuDNN, cuBLAS, MKL-DNN, scaled dot product backends) are kept
// and read back, and change nothing else. Determinism, the fill of uninitialized memory and the generator have their effect.
#pragma once

#include <ATen/BlasBackend.h>
#include <ATen/LinalgBackend.h>
#include <ATen/SDPBackend.h>
#include <ATen/core/Generator.h>
#include <c10/core/Backend.h>
#include <c10/core/QEngine.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>
#include <rushlight/runtime.h>

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace at {
RLT_NAMESPACE_BEGIN

enum class Float32MatmulPrecision { HIGHEST, HIGH, MEDIUM };
enum class ROCmFABackend : int8_t { Default, AOTriton, Ck };

// Libraries and devices that this build does not have: a member of Context and a function of at:: each.
#define RLT_ABSENT_FEATURES(X) \
  X(hasMTIA) X(hasHIP) X(hasIPU) X(hasXLA) X(hasMPS) X(hasMAIA) \
  X(hasXPU) X(hasHPU) X(hasOpenMP) X(hasMKL) X(hasKleidiAI) X(hasMAGMA) X(hasMKLDNN)

class Context {
 public:
  /// Enables deterministic mode. Every operator of this library is deterministic anyway, with any number of threads.
  /// The mode changes whether uninitialized memory is filled, and the result of alertNotDeterministic.
  void setDeterministicAlgorithms(bool on, bool warn_only = false) {
    rlt::check(rlt_set_determinism(!on ? RLT_DETERMINISM_OFF : warn_only ? RLT_DETERMINISM_WARN : RLT_DETERMINISM_ERROR));
  }
  bool deterministicAlgorithms() const { return determinism() != RLT_DETERMINISM_OFF; }
  bool deterministicAlgorithmsWarnOnly() const { return determinism() == RLT_DETERMINISM_WARN; }
  /// True if deterministic mode fills the elements that empty and similar factories leave unset with NaN or the largest integer.
  bool deterministicFillUninitializedMemory() const {
    int32_t on = 0;
    rlt::check(rlt_get_fill_uninitialized_memory(&on));
    return on != 0;
  }
  void setDeterministicFillUninitializedMemory(bool on) { rlt::check(rlt_set_fill_uninitialized_memory(on)); }
  /// For custom operators that are not deterministic: throws or warns in deterministic mode.
  static void alertNotDeterministic(const std::string& caller) {
    if (determinism() == RLT_DETERMINISM_WARN) {
      TORCH_WARN(caller,
                 " does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True, warn_only=True)'. "
                 "You can file an issue at https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic support "
                 "for this operation.");
    } else {
      rlt::check(rlt_alert_not_deterministic(caller.c_str()));
    }
  }
  void alertCuBLASConfigNotDeterministic() const {}

  /// The generator of a device.
  const Generator& defaultGenerator(Device device) const {
    if (!device.is_cpu()) reject_device(device.type());
    static const Generator generator = detail::getDefaultCPUGenerator();
    return generator;
  }
  Device getDeviceFromPtr(void*, DeviceType type) const {
    lazyInitDevice(type);
    return Device(type);
  }
  bool isPinnedPtr(const void*, std::optional<DeviceType> = {}) const { return false; }
  /// Does nothing for the CPU, and fails for devices that this build or this machine does not have.
  void lazyInitDevice(DeviceType type) const {
    if (type == kCUDA) (void)c10::cuda::device_count_ensure_non_zero();
    else if (type != kCPU) reject_device(type);
  }
  void lazyInitCUDA() const { lazyInitDevice(kCUDA); }

  // The features of this build. Linear algebra on the CPU does not need LAPACK here, and is always available.
  static bool hasLAPACK() { return true; }
  /// Whether this machine has a CUDA device.
  static bool hasCUDA() { return c10::cuda::device_count() > 0; }
#define RLT_ABSENT(name) \
  static bool name() { return false; }
  RLT_ABSENT_FEATURES(RLT_ABSENT)
  RLT_ABSENT(hasCUDART)
  RLT_ABSENT(hasCuDNN)
  RLT_ABSENT(hasCuSOLVER)
  RLT_ABSENT(hasCuBLASLt)
  RLT_ABSENT(hasROCM)
  RLT_ABSENT(hasLazy)
  RLT_ABSENT(isXNNPACKAvailable)
#undef RLT_ABSENT
  static long versionCUDART() { rlt::raise<Error>("Cannot query CUDART version: this build has no CUDA."); }
  static long versionCuDNN() { rlt::raise<Error>("Cannot query cuDNN version: this build has no CUDA."); }
  /// False: this build cannot flush denormal numbers to zero.
  static bool setFlushDenormal(bool) { return false; }

  // Settings that are stored: the getter, the setter, the initial value.
#define RLT_SETTING(getter, setter, initial)                     \
  bool getter() const { return getter##_; }                      \
  void setter(bool on) { getter##_ = on; }                       \
                                                                 \
 private:                                                        \
  std::atomic<bool> getter##_{initial};                          \
                                                                 \
 public:
  RLT_SETTING(userEnabledCuDNN, setUserEnabledCuDNN, true)
  RLT_SETTING(userEnabledMkldnn, setUserEnabledMkldnn, true)
  RLT_SETTING(userEnabledNNPACK, setUserEnabledNNPACK, true)
  RLT_SETTING(benchmarkCuDNN, setBenchmarkCuDNN, false)
  RLT_SETTING(deterministicCuDNN, setDeterministicCuDNN, false)
  RLT_SETTING(deterministicMkldnn, setDeterministicMkldnn, false)
  RLT_SETTING(userEnabledFlashSDP, setSDPUseFlash, true)
  RLT_SETTING(userEnabledMemEfficientSDP, setSDPUseMemEfficient, true)
  RLT_SETTING(userEnabledMathSDP, setSDPUseMath, true)
  RLT_SETTING(userEnabledCuDNNSDP, setSDPUseCuDNN, true)
  RLT_SETTING(userEnabledOverrideableSDP, setSDPUseOverrideable, true)
  RLT_SETTING(allowFP16BF16ReductionMathSDP, setAllowFP16BF16ReductionMathSDP, false)
  RLT_SETTING(allowTF32CuDNN, setAllowTF32CuDNN, true)
  RLT_SETTING(allowTF32OneDNN, setAllowTF32OneDNN, false)
  RLT_SETTING(allowFP16ReductionCuBLAS, setAllowFP16ReductionCuBLAS, true)
  RLT_SETTING(allowBF16ReductionCuBLAS, setAllowBF16ReductionCuBLAS, true)
  RLT_SETTING(allowFP16AccumulationCuBLAS, setAllowFP16AccumulationCuBLAS, false)
  RLT_SETTING(checkSparseTensorInvariants, setCheckSparseTensorInvariants, false)
  RLT_SETTING(releaseWeightsWhenPrepacking, setReleaseWeightsWhenPrepacking, false)
  RLT_SETTING(areVmapFallbackWarningsEnabled, setDisplayVmapFallbackWarnings, false)
#undef RLT_SETTING

  int benchmarkLimitCuDNN() const { return benchmark_limit_; }
  void setBenchmarkLimitCuDNN(int limit) { benchmark_limit_ = limit; }

  /// Precision of float matrix products on devices. The CPU always computes in full precision.
  Float32MatmulPrecision float32MatmulPrecision() const { return static_cast<Float32MatmulPrecision>(matmul_precision_.load()); }
  void setFloat32MatmulPrecision(Float32MatmulPrecision precision) { matmul_precision_ = static_cast<int>(precision); }
  /// `highest`, `high` or `medium`; any other name causes a warning and changes nothing.
  void setFloat32MatmulPrecision(const std::string& name) {
    static constexpr const char* names[] = {"highest", "high", "medium"};
    for (int index = 0; index < 3; ++index) {
      if (name == names[index]) {
        matmul_precision_ = index;
        return;
      }
    }
    TORCH_WARN(name, " is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call has no effect.");
  }
  bool allowTF32CuBLAS() const { return float32MatmulPrecision() != Float32MatmulPrecision::HIGHEST; }
  void setAllowTF32CuBLAS(bool on) { setFloat32MatmulPrecision(on ? Float32MatmulPrecision::HIGH : Float32MatmulPrecision::HIGHEST); }

  /// False: half precision sums on the CPU are computed in float.
  bool allowFP16ReductionCPU() const { return false; }
  void setAllowFP16ReductionCPU(bool on) {
    if (on) rlt::raise<Error>("Float16 arithmetic is not supported by the CPU!");
  }

  LinalgBackend linalgPreferredBackend() const { return static_cast<LinalgBackend>(linalg_backend_.load()); }
  void setLinalgPreferredBackend(LinalgBackend backend) {
    if (backend == LinalgBackend::Cusolver) reject_backend("cuSOLVER");
    if (backend == LinalgBackend::Magma) reject_backend("MAGMA");
    linalg_backend_ = static_cast<int>(backend);
  }
  BlasBackend blasPreferredBackend() const { return static_cast<BlasBackend>(blas_backend_.load()); }
  void setBlasPreferredBackend(BlasBackend backend) {
    if (backend == BlasBackend::Cublaslt) reject_backend("cuBLASLt");
    if (backend == BlasBackend::Ck) reject_backend("CK");
    blas_backend_ = static_cast<int>(backend);
  }
  ROCmFABackend getROCmFAPreferredBackend() const { return static_cast<ROCmFABackend>(rocm_backend_.load()); }
  void setROCmFAPreferredBackend(ROCmFABackend backend) {
    if (backend == ROCmFABackend::Ck) reject_backend("CK");
    rocm_backend_ = static_cast<int>(backend);
  }

  std::array<SDPBackend, num_sdp_backends> sDPPriorityOrder() const {
    std::array<SDPBackend, num_sdp_backends> order{};
    for (size_t place = 0; place < order.size(); ++place) order[place] = static_cast<SDPBackend>(sdp_order_[place].load());
    return order;
  }
  void setSDPPriorityOrder(const std::vector<int64_t>& order) {
    if (order.size() != sdp_order_.size()) rlt::raise<Error>("setSDPPriority order expected the same length as the number of SDP backends");
    for (size_t place = 0; place < order.size(); ++place) sdp_order_[place] = static_cast<int>(order[place]);
  }

  QEngine qEngine() const { return QEngine::NoQEngine; }
  RLT_LAZY static const std::vector<QEngine>& supportedQEngines() {
    static const RLT_LATER(std::vector<QEngine>) engines{QEngine::NoQEngine};
    return engines;
  }
  void setQEngine(QEngine engine) {
    if (engine != QEngine::NoQEngine) rlt::raise<Error>("quantized engine " + c10::toString(engine) + " is not supported");
  }

 private:
  static int32_t determinism() {
    int32_t level = 0;
    rlt::check(rlt_get_determinism(&level));
    return level;
  }
  [[noreturn]] RLT_COLD static void reject_device(DeviceType type) {
    rlt::raise<Error>("Cannot use device " + DeviceTypeName(type, true) + ": this build of the C++ frontend computes on the CPU.");
  }
  [[noreturn]] RLT_COLD static void reject_backend(const char* name) {
    rlt::raise<Error>(std::string("Cannot set preferred backend to ") + name + ": this build was not compiled with " + name + ".");
  }

  std::atomic<int> benchmark_limit_{10}, matmul_precision_{0}, linalg_backend_{0}, blas_backend_{0}, rocm_backend_{0};
  // Flash, memory-efficient, math, cuDNN, overrideable.
  std::array<std::atomic<int>, num_sdp_backends> sdp_order_{{{1}, {2}, {0}, {3}, {4}}};
};

inline Context& globalContext() {
  static Context context;
  return context;
}

inline void init() { globalContext(); }
#define RLT_HAS(name) \
  inline bool name() { return Context::name(); }
RLT_ABSENT_FEATURES(RLT_HAS)
RLT_HAS(hasLAPACK)
RLT_HAS(hasCUDA)
#undef RLT_HAS
#undef RLT_ABSENT_FEATURES
inline size_t getNumGPUs() { return static_cast<size_t>(c10::cuda::device_count()); }

/// Full float precision in its scope. It has no effect: the CPU always computes in full precision.
struct NoTF32Guard {
  NoTF32Guard() : before_(rlt::exchange_value(flag(), true)) {}
  ~NoTF32Guard() { flag() = before_; }
  NoTF32Guard(const NoTF32Guard&) = delete;
  NoTF32Guard& operator=(const NoTF32Guard&) = delete;
  static bool should_disable_tf32() { return flag(); }

 private:
  static bool& flag() {
    static thread_local bool on = false;
    return on;
  }
  bool before_;
};

RLT_NAMESPACE_END
}  // namespace at
