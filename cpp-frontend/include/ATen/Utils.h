// Functions for kernels outside of the library: generators and their defaults.
#pragma once

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

namespace at {
RLT_NAMESPACE_BEGIN

/// The class behind a generator.
template <class T>
T* check_generator(const std::optional<Generator>& generator) {
  TORCH_CHECK(generator.has_value(), "Expected Generator but received nullopt");
  TORCH_CHECK(generator->defined(), "Generator with undefined implementation is not allowed");
  TORCH_CHECK(T::device_type() == generator->device().type(), "Expected a '", T::device_type(), "' device type for generator but found '",
              generator->device().type(), "'");
  return generator->get<T>();
}
template <class T>
T* get_generator_or_default(const std::optional<Generator>& generator, const Generator& default_generator) {
  return generator.has_value() && generator->defined() ? check_generator<T>(generator) : check_generator<T>(default_generator);
}

RLT_NAMESPACE_END
}  // namespace at
