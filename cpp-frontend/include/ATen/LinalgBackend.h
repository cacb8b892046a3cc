// The implementations of decompositions on CUDA devices among which a program chooses.
#pragma once

#include <c10/util/Exception.h>

#include <ostream>
#include <string>

namespace at {
RLT_NAMESPACE_BEGIN

enum class LinalgBackend : int8_t { Default, Cusolver, Magma };

inline std::string LinalgBackendToString(LinalgBackend backend) {
  switch (backend) {
    case LinalgBackend::Default: return "at::LinalgBackend::Default";
    case LinalgBackend::Cusolver: return "at::LinalgBackend::Cusolver";
    case LinalgBackend::Magma: return "at::LinalgBackend::Magma";
  }
  TORCH_CHECK(false, "Unknown linalg backend");
}
inline std::ostream& operator<<(std::ostream& stream, LinalgBackend backend) { return stream << LinalgBackendToString(backend); }

RLT_NAMESPACE_END
}  // namespace at
