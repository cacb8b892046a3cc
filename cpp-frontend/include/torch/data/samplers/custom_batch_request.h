// CustomBatchRequest: the base of requests other than lists of indices.
#pragma once

#include <c10/macros/Macros.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace samplers {

struct CustomBatchRequest {
  CustomBatchRequest() = default;
  CustomBatchRequest(const CustomBatchRequest&) = default;
  CustomBatchRequest(CustomBatchRequest&&) noexcept = default;
  CustomBatchRequest& operator=(const CustomBatchRequest&) = default;
  CustomBatchRequest& operator=(CustomBatchRequest&&) noexcept = default;
  virtual ~CustomBatchRequest() = default;
  /// The number of requested examples.
  virtual size_t size() const = 0;
};

}  // namespace samplers
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
