// Saving and loading a single tensor in archives.
#pragma once

#include <torch/serialize/archive.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace serialize {

inline OutputArchive& operator<<(OutputArchive& archive, const at::Tensor& tensor) {
  archive.write("0", tensor);
  return archive;
}
inline InputArchive& operator>>(InputArchive& archive, at::Tensor& tensor) {
  archive.read("0", tensor);
  return archive;
}

}  // namespace serialize
RLT_NAMESPACE_END
}  // namespace torch
