// The keys for which programs register kernels, and which a thread includes or excludes.
//
// The library has its own keys. These are libtorch's names; TorchLibrary (torch/library.h) maps them to the library's.
#pragma once

#include <c10/core/GradMode.h>

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <ostream>

namespace c10 {
RLT_NAMESPACE_BEGIN

// The keys. The library has no layer or device for those of the second list: programs may register kernels, which are not called.
#define RLT_DISPATCH_KEYS(X) \
  X(CPU) X(CUDA) X(Meta) X(ADInplaceOrView) X(AutogradOther) X(AutogradCPU) X(AutogradCUDA) X(AutogradMeta) \
  X(Autograd) X(CompositeImplicitAutograd) X(CompositeExplicitAutograd) X(BackendSelect) \
  RLT_OTHER_DISPATCH_KEYS(X)
#define RLT_OTHER_DISPATCH_KEYS(X) \
  X(FPGA) X(MAIA) X(Vulkan) X(Metal) X(Quantized) X(CustomRNGKeyId) X(MkldnnCPU) X(Sparse) X(SparseCsr) \
  X(NestedTensor) X(Fake) X(FuncTorchDynamicLayerBackMode) X(Functionalize) X(Named) X(Conjugate) X(Negative) \
  X(ZeroTensor) X(Tracer) X(AutocastCPU) X(AutocastXPU) X(AutocastIPU) X(AutocastHPU) X(AutocastXLA) X(AutocastMPS) \
  X(AutocastCUDA) X(AutocastPrivateUse1) X(FuncTorchBatched) X(BatchedNestedTensor) X(FuncTorchVmapMode) X(Batched) \
  X(VmapMode) X(FuncTorchGradWrapper) X(PythonTLSSnapshot) X(PreDispatch) X(PythonDispatcher) X(Python) X(HIP) \
  X(XLA) X(MPS) X(IPU) X(XPU) X(HPU) X(VE) X(Lazy) X(MTIA) X(PrivateUse1) X(PrivateUse2) X(PrivateUse3) \
  X(QuantizedCPU) X(QuantizedCUDA) X(QuantizedPrivateUse1) X(SparseCPU) X(SparseCUDA) X(SparsePrivateUse1) \
  X(SparseCsrCPU) X(SparseCsrCUDA) X(NestedTensorCPU) X(NestedTensorCUDA) X(AutogradFunctionality) \
  X(AutogradNestedTensor) X(AutogradHIP) X(AutogradXLA) X(AutogradMPS) X(AutogradIPU) X(AutogradXPU) X(AutogradHPU) \
  X(AutogradLazy) X(AutogradMTIA) X(AutogradPrivateUse1) X(AutogradPrivateUse2) X(AutogradPrivateUse3) \
  X(FuncTorchBatchedDecomposition) X(CompositeImplicitAutogradNestedTensor) \
  X(CompositeExplicitAutogradNonFunctional)

enum class DispatchKey : uint16_t {
  Undefined = 0,
#define RLT_DISPATCH_KEY(key) key,
  RLT_DISPATCH_KEYS(RLT_DISPATCH_KEY)
#undef RLT_DISPATCH_KEY
  EndOfKeys,
  CatchAll = CompositeImplicitAutograd,
  Autocast = AutocastCUDA,
};

inline const char* toString(DispatchKey key) {
  switch (key) {
#define RLT_DISPATCH_KEY(key) case DispatchKey::key: return #key;
    RLT_DISPATCH_KEYS(RLT_DISPATCH_KEY)
#undef RLT_DISPATCH_KEY
    default: return "Undefined";
  }
}
#undef RLT_DISPATCH_KEYS
#undef RLT_OTHER_DISPATCH_KEYS
inline std::ostream& operator<<(std::ostream& out, DispatchKey key) { return out << toString(key); }

class DispatchKeySet {
 public:
  enum Full { FULL };
  /// Every key.
  constexpr explicit DispatchKeySet(Full) {
    for (uint32_t key = 1; key < count; ++key) insert(static_cast<DispatchKey>(key));
  }
  constexpr DispatchKeySet() = default;
  constexpr explicit DispatchKeySet(DispatchKey key) { insert(key); }
  constexpr DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (DispatchKey key : keys) insert(key);
  }
  constexpr bool has(DispatchKey key) const { return has_any(DispatchKeySet(key)); }
  constexpr bool has_any(DispatchKeySet other) const { return !(*this & other).empty(); }
  constexpr bool has_all(DispatchKeySet other) const { return (*this & other) == other; }
  constexpr bool empty() const { return low_ == 0 && high_ == 0; }
  constexpr DispatchKeySet add(DispatchKey key) const { return *this | DispatchKeySet(key); }
  constexpr DispatchKeySet remove(DispatchKey key) const { return *this - DispatchKeySet(key); }
  constexpr DispatchKeySet operator|(DispatchKeySet other) const { return {low_ | other.low_, high_ | other.high_}; }
  constexpr DispatchKeySet operator&(DispatchKeySet other) const { return {low_ & other.low_, high_ & other.high_}; }
  constexpr DispatchKeySet operator-(DispatchKeySet other) const { return {low_ & ~other.low_, high_ & ~other.high_}; }
  /// Iterates over the keys in the order of their numbers.
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = DispatchKey;
    using difference_type = std::ptrdiff_t;
    using pointer = const DispatchKey*;
    using reference = DispatchKey;

    constexpr iterator(uint64_t low, uint64_t high, uint32_t key) : low_(low), high_(high), key_(key) { skip(); }
    constexpr DispatchKey operator*() const { return static_cast<DispatchKey>(key_); }
    constexpr iterator& operator++() {
      ++key_;
      skip();
      return *this;
    }
    constexpr bool operator!=(const iterator& other) const { return key_ != other.key_; }
    constexpr bool operator==(const iterator& other) const { return key_ == other.key_; }

   private:
    constexpr void skip() {
      while (key_ < count && !((key_ < 64 ? low_ >> key_ : high_ >> (key_ - 64)) & 1)) ++key_;
    }
    uint64_t low_, high_;
    uint32_t key_;
  };
  constexpr iterator begin() const { return {low_, high_, 0}; }
  constexpr iterator end() const { return {0, 0, count}; }

  constexpr bool operator==(DispatchKeySet other) const { return low_ == other.low_ && high_ == other.high_; }
  constexpr bool operator!=(DispatchKeySet other) const { return !(*this == other); }

 private:
  static constexpr auto count = static_cast<uint32_t>(DispatchKey::EndOfKeys);
  static_assert(count <= 128, "a set has two words");
  constexpr DispatchKeySet(uint64_t low, uint64_t high) : low_(low), high_(high) {}
  constexpr void insert(DispatchKey key) {
    auto number = static_cast<uint32_t>(key);
    if (number == 0) return;
    if (number < 64) low_ |= uint64_t(1) << number;
    else high_ |= uint64_t(1) << (number - 64);
  }
  uint64_t low_ = 0, high_ = 0;
};

constexpr DispatchKeySet autograd_dispatch_keyset = {DispatchKey::AutogradOther, DispatchKey::AutogradCPU, DispatchKey::AutogradCUDA,
                                                     DispatchKey::AutogradMeta};

namespace impl {

/// Calls of this thread bypass autograd: in inference mode, and inside the kernels of custom operators.
inline bool tls_is_dispatch_keyset_excluded(DispatchKeySet keys) {
  int32_t excluded = 0;
  rlt::check(rlt_get_autograd_excluded(&excluded));
  return keys == (keys & autograd_dispatch_keyset) && (excluded || InferenceMode::is_enabled());
}
inline bool tls_is_dispatch_key_excluded(DispatchKey key) { return tls_is_dispatch_keyset_excluded(DispatchKeySet(key)); }
/// Outside of inference mode every call tracks views and in-place writes.
inline bool tls_is_dispatch_key_included(DispatchKey key) { return key == DispatchKey::ADInplaceOrView && !InferenceMode::is_enabled(); }
inline bool tls_is_dispatch_keyset_included(DispatchKeySet keys) {
  return keys == DispatchKeySet(DispatchKey::ADInplaceOrView) && !InferenceMode::is_enabled();
}

/// In the scope of such an object, calls of this thread bypass autograd if the set has one of its keys. The library has no
/// layers for other keys.
class ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys) : excludes_(keys.has_any(autograd_dispatch_keyset) || keys.has(DispatchKey::Autograd)) {
    if (!excludes_) return;
    rlt::check(rlt_get_autograd_excluded(&before_));
    rlt::check(rlt_set_autograd_excluded(1));
  }
  explicit ExcludeDispatchKeyGuard(DispatchKey key) : ExcludeDispatchKeyGuard(DispatchKeySet(key)) {}
  ~ExcludeDispatchKeyGuard() {
    if (excludes_) rlt_set_autograd_excluded(before_);
  }
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;

 private:
  bool excludes_;
  int32_t before_ = 0;
};

}  // namespace impl

RLT_NAMESPACE_END
}  // namespace c10

namespace at {
RLT_NAMESPACE_BEGIN

/// Calls in this scope bypass autograd: a kernel for Autograd uses it to call the kernel of its operator below.
class AutoDispatchBelowAutograd {
 public:
  AutoDispatchBelowAutograd() {
    rlt::check(rlt_get_autograd_excluded(&before_));
    rlt::check(rlt_set_autograd_excluded(1));
  }
  ~AutoDispatchBelowAutograd() { rlt_set_autograd_excluded(before_); }
  AutoDispatchBelowAutograd(const AutoDispatchBelowAutograd&) = delete;
  AutoDispatchBelowAutograd& operator=(const AutoDispatchBelowAutograd&) = delete;

 private:
  int32_t before_ = 0;
};
using AutoDispatchBelowADInplaceOrView = AutoDispatchBelowAutograd;

/// The former name of the guard.
struct AutoNonVariableTypeMode : AutoDispatchBelowAutograd {
  explicit AutoNonVariableTypeMode(bool enabled = true) {
    TORCH_WARN_ONCE(
        "AutoNonVariableTypeMode is deprecated and will be removed in 1.10 release. For kernel implementations please use "
        "AutoDispatchBelowADInplaceOrView instead, If you are looking for a user facing API to enable running your inference-only workload, "
        "please use c10::InferenceMode. Using AutoDispatchBelowADInplaceOrView in user code is under risk of producing silent wrong result in "
        "some edge cases. See Note [AutoDispatchBelowAutograd] for more details.");
    if (!enabled) rlt::raise<Error>("AutoNonVariableTypeMode(false) is not implemented");
  }
};

RLT_NAMESPACE_END
}  // namespace at
