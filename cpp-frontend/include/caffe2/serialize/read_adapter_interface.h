// ReadAdapterInterface: a source of bytes that torch::jit::load reads.
#pragma once

#include <c10/macros/Macros.h>

#include <cstddef>
#include <cstdint>

namespace caffe2 {
RLT_NAMESPACE_BEGIN
namespace serialize {

class ReadAdapterInterface {
 public:
  virtual size_t size() const = 0;
  /// Reads `n` bytes from the position `pos`. Returns how many were read; `what` is for messages.
  virtual size_t read(uint64_t pos, void* buf, size_t n, const char* what = "") const = 0;
  virtual ~ReadAdapterInterface() = default;
};

}  // namespace serialize
RLT_NAMESPACE_END
}  // namespace caffe2
