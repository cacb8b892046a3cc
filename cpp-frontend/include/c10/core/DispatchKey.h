// The keys for which programs register kernels, and which a thread includes or excludes.
//
// The library has its own keys. These are libtorch's names; TorchLibrary (torch/library.h) maps them to the library's.
#pragma once

#include <c10/core/GradMode.h>

#include <initializer_list>

namespace c10 {
RLT_NAMESPACE_BEGIN

enum class DispatchKey : uint16_t {
  Undefined = 0,
  CPU,
  CUDA,
  Meta,
  ADInplaceOrView,
  AutogradOther,
  AutogradCPU,
  AutogradCUDA,
  AutogradMeta,
  Autograd,
  CompositeImplicitAutograd,
  CompositeExplicitAutograd,
  BackendSelect,
  CatchAll = CompositeImplicitAutograd,
};

inline const char* toString(DispatchKey key) {
  switch (key) {
    case DispatchKey::CPU: return "CPU";
    case DispatchKey::CUDA: return "CUDA";
    case DispatchKey::Meta: return "Meta";
    case DispatchKey::ADInplaceOrView: return "ADInplaceOrView";
    case DispatchKey::AutogradOther: return "AutogradOther";
    case DispatchKey::AutogradCPU: return "AutogradCPU";
    case DispatchKey::AutogradCUDA: return "AutogradCUDA";
    case DispatchKey::AutogradMeta: return "AutogradMeta";
    case DispatchKey::Autograd: return "Autograd";
    case DispatchKey::CompositeImplicitAutograd: return "CompositeImplicitAutograd";
    case DispatchKey::CompositeExplicitAutograd: return "CompositeExplicitAutograd";
    case DispatchKey::BackendSelect: return "BackendSelect";
    default: return "Undefined";
  }
}

class DispatchKeySet {
 public:
  enum Full { FULL };
  /// Every key.
  constexpr explicit DispatchKeySet(Full) : bits_((2u << static_cast<uint32_t>(DispatchKey::BackendSelect)) - 2) {}
  constexpr DispatchKeySet() = default;
  constexpr explicit DispatchKeySet(DispatchKey key) : bits_(bit(key)) {}
  constexpr DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (DispatchKey key : keys) bits_ |= bit(key);
  }
  constexpr bool has(DispatchKey key) const { return (bits_ & bit(key)) != 0; }
  constexpr bool has_any(DispatchKeySet other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool has_all(DispatchKeySet other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr DispatchKeySet operator|(DispatchKeySet other) const { return DispatchKeySet(bits_ | other.bits_, 0); }
  constexpr DispatchKeySet operator&(DispatchKeySet other) const { return DispatchKeySet(bits_ & other.bits_, 0); }
  constexpr DispatchKeySet operator-(DispatchKeySet other) const { return DispatchKeySet(bits_ & ~other.bits_, 0); }
  /// Iterates over the keys in the order of their numbers.
  class iterator {
   public:
    constexpr iterator(uint32_t bits, uint32_t key) : bits_(bits), key_(key) { skip(); }
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
      while (key_ < 32 && !((bits_ >> key_) & 1)) ++key_;
    }
    uint32_t bits_, key_;
  };
  constexpr iterator begin() const { return {bits_, 0}; }
  constexpr iterator end() const { return {0, 32}; }

  constexpr bool operator==(DispatchKeySet other) const { return bits_ == other.bits_; }
  constexpr bool operator!=(DispatchKeySet other) const { return bits_ != other.bits_; }

 private:
  constexpr DispatchKeySet(uint32_t bits, int) : bits_(bits) {}
  static constexpr uint32_t bit(DispatchKey key) { return key == DispatchKey::Undefined ? 0 : 1u << static_cast<uint32_t>(key); }
  uint32_t bits_ = 0;
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
