// CPUGeneratorImpl: the class behind a Generator, with the random numbers themselves.
#pragma once

#include <ATen/core/MT19937RNGEngine.h>
#include <ATen/core/TensorBody.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>

namespace at {
RLT_NAMESPACE_BEGIN

class CPUGeneratorImpl {
 public:
  explicit CPUGeneratorImpl(rlt_generator* handle) : handle_(handle) {}
  CPUGeneratorImpl(const CPUGeneratorImpl&) = delete;
  CPUGeneratorImpl& operator=(const CPUGeneratorImpl&) = delete;

  /// The object of a generator. It stays for the next generator at the same address, and owns nothing of it.
  RLT_LAZY static CPUGeneratorImpl* of(rlt_generator* handle) {
    static std::mutex guard;
    static RLT_LATER(std::map<rlt_generator*, CPUGeneratorImpl>) all;
    std::lock_guard<std::mutex> lock(guard);
    return &all.try_emplace(handle, handle).first->second;
  }

  static DeviceType device_type() { return DeviceType::CPU; }
  Device device() const { return Device(kCPU); }
  void set_current_seed(uint64_t seed) { rlt::check(rlt_generator_manual_seed(handle_, seed)); }
  uint64_t current_seed() const {
    uint64_t seed = 0;
    rlt::check(rlt_generator_initial_seed(handle_, &seed));
    return seed;
  }
  uint64_t seed() {
    uint64_t seed = 0;
    rlt::check(rlt_generator_seed(handle_, &seed));
    return seed;
  }

  /// The next number of the stream.
  RLT_LAZY uint32_t random() {
    State state(handle_);
    uint32_t number = state.next();
    state.store(handle_);
    return number;
  }
  /// The next two numbers; the first is the upper half.
  RLT_LAZY uint64_t random64() {
    State state(handle_);
    uint64_t upper = state.next(), lower = state.next();
    state.store(handle_);
    return upper << 32 | lower;
  }

  /// For Generator::mutex.
  std::mutex mutex_;

 private:
  /// The state in PyTorch's format: the seed, the numbers left before the words are renewed, and the 624 words of the generator,
  /// each in 8 bytes.
  class State {
   public:
    explicit State(const rlt_generator* generator) {
      rlt_tensor* state = nullptr;
      rlt::check(rlt_generator_get_state(generator, &state));
      tensor_ = Tensor(state).clone();
      bytes_ = tensor_.data_ptr<uint8_t>();
    }
    RLT_LAZY uint32_t next() {
      mt19937::State words;
      for (size_t i = 0; i < mt19937::count; ++i) words[i] = static_cast<uint32_t>(read<uint64_t>(words_at + i * 8));
      mt19937 engine(words, read<int32_t>(left_at) <= 1 ? mt19937::count : static_cast<uint32_t>(read<uint64_t>(next_at)));
      uint32_t number = engine();
      for (size_t i = 0; i < mt19937::count; ++i) write<uint64_t>(words_at + i * 8, engine.state()[i]);
      write<uint64_t>(next_at, engine.next());
      write<int32_t>(left_at, static_cast<int32_t>(mt19937::count - engine.next() + 1));
      return number;
    }
    void store(const rlt_generator* generator) const { rlt::check(rlt_generator_set_state(generator, tensor_.handle())); }

   private:
    static constexpr size_t left_at = 8, next_at = 16, words_at = 24;
    template <class T>
    T read(size_t offset) const {
      T value;
      std::memcpy(&value, bytes_ + offset, sizeof value);
      return value;
    }
    template <class T>
    void write(size_t offset, T value) {
      std::memcpy(bytes_ + offset, &value, sizeof value);
    }

    Tensor tensor_;
    uint8_t* bytes_ = nullptr;
  };

  rlt_generator* handle_;
};

template <class RltLazy>
std::mutex& Generator::mutex() const { return CPUGeneratorImpl::of(handle_)->mutex_; }

RLT_NAMESPACE_END
}  // namespace at
