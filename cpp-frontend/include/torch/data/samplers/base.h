// Sampler: chooses the next examples of a dataset.
#pragma once

#include <torch/serialize/archive.h>
#include <torch/types.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace samplers {

template <class BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;
  virtual ~Sampler() = default;
  /// Begins an epoch, of another size if one is given.
  virtual void reset(std::optional<size_t> new_size) = 0;
  /// The next request, or nothing at the end of an epoch.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

namespace detail {
/// The position of a sampler, as it is saved.
inline void write_place(serialize::OutputArchive& archive, const char* name, size_t place) {
  archive.write(name, torch::full({}, static_cast<int64_t>(place), kLong), /*is_buffer=*/true);
}
inline size_t read_place(serialize::InputArchive& archive, const char* name) {
  Tensor place;
  archive.read(name, place, /*is_buffer=*/true);
  return static_cast<size_t>(place.item<int64_t>());
}
}  // namespace detail

}  // namespace samplers
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
