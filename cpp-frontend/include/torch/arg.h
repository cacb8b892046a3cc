// TORCH_ARG: an option with a chaining setter and a getter.
#pragma once

// One setter by value instead of two by reference: hundreds of options are parsed by every program.
#define TORCH_ARG(T, name)                                 \
 public:                                                   \
  auto name(T new_##name) -> decltype(*this) {             \
    this->name##_ = static_cast<T&&>(new_##name);          \
    return *this;                                          \
  }                                                        \
  const T& name() const noexcept { return this->name##_; } \
  T& name() noexcept { return this->name##_; }             \
                                                           \
 private:                                                  \
  T name##_
