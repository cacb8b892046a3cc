// Generator: the state of a random number stream (PyTorch's mt19937 on the CPU).
#pragma once

#include <c10/core/Device.h>
#include <rushlight/generator.h>
#include <rushlight/runtime.h>

#include <mutex>
#include <utility>

namespace at {
RLT_NAMESPACE_BEGIN

class Tensor;

namespace detail {
constexpr uint64_t default_seed = 67280421310721;
}
constexpr uint64_t default_rng_seed_val = detail::default_seed;

struct Generator {
  Generator() = default;
  explicit Generator(rlt_generator* adopted) : handle_(adopted) {}
  Generator(const Generator& other) {
    if (other.handle_) rlt::check(rlt_generator_retain(other.handle_, &handle_));
  }
  Generator(Generator&& other) noexcept : handle_(rlt::exchange_value(other.handle_, nullptr)) {}
  Generator& operator=(Generator other) noexcept {
    rlt::swap_values(handle_, other.handle_);
    return *this;
  }
  ~Generator() { rlt_generator_free(handle_); }

  bool defined() const { return handle_ != nullptr; }
  /// Restarts the stream.
  void set_current_seed(uint64_t seed) { rlt::check(rlt_generator_manual_seed(handle_, seed)); }
  uint64_t current_seed() const {
    uint64_t seed = 0;
    rlt::check(rlt_generator_initial_seed(handle_, &seed));
    return seed;
  }
  /// Sets a nondeterministic seed from the system, and returns it.
  uint64_t seed() {
    uint64_t seed = 0;
    rlt::check(rlt_generator_seed(handle_, &seed));
    return seed;
  }
  inline Tensor get_state() const;
  inline void set_state(const Tensor& state);
  Generator clone() const;
  Device device() const { return Device(kCPU); }
  rlt_generator* handle() const { return handle_; }
  /// The generator under the name of its class, CPUGeneratorImpl; valid as long as the generator. See ATen/CPUGeneratorImpl.h.
  template <class T>
  T* get() const {
    return T::of(handle_);
  }
  /// Lock it to call several functions of the generator as one. Functions of the library do not need it.
  RLT_LAZY std::mutex& mutex() const;

  friend bool operator==(const Generator& a, const Generator& b) { return a.handle_ == b.handle_; }
  friend bool operator!=(const Generator& a, const Generator& b) { return !(a == b); }

 private:
  rlt_generator* handle_ = nullptr;
};

class CPUGeneratorImpl;

template <class Impl>
Generator make_generator(uint64_t seed = default_rng_seed_val) {
  rlt_generator* handle = nullptr;
  rlt::check(rlt_generator_new(seed, &handle));
  return Generator(handle);
}

namespace detail {
inline Generator getDefaultCPUGenerator() {
  rlt_generator* handle = nullptr;
  rlt::check(rlt_generator_default(&handle));
  return Generator(handle);
}
inline Generator createCPUGenerator(uint64_t seed = default_rng_seed_val) { return make_generator<CPUGeneratorImpl>(seed); }
}  // namespace detail

/// Seeds the default generator of every device.
inline void manual_seed(uint64_t seed) { rlt::check(rlt_manual_seed(seed)); }

RLT_NAMESPACE_END
}  // namespace at

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace detail {
/// A random number of the system.
inline uint64_t getNonDeterministicRandom(bool = false) { return at::make_generator<at::CPUGeneratorImpl>().seed(); }
}  // namespace detail
RLT_NAMESPACE_END
}  // namespace c10
