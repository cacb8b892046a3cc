// TORCH_ARG: an option with a chaining setter and a getter.
#pragma once

#include <utility>

#define TORCH_ARG(T, name)                             \
 public:                                               \
  auto name(const T& new_##name) -> decltype(*this) {  \
    this->name##_ = new_##name;                        \
    return *this;                                      \
  }                                                    \
  auto name(T&& new_##name) -> decltype(*this) {       \
    this->name##_ = std::move(new_##name);             \
    return *this;                                      \
  }                                                    \
  const T& name() const noexcept { return this->name##_; } \
  T& name() noexcept { return this->name##_; }         \
                                                       \
 private:                                              \
  T name##_
