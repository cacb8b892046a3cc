// Saving and loading samplers in archives.
#pragma once

#include <torch/data/samplers/base.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace samplers {

template <class BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Sampler<BatchRequest>& sampler) {
  sampler.save(archive);
  return archive;
}
template <class BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Sampler<BatchRequest>& sampler) {
  sampler.load(archive);
  return archive;
}

}  // namespace samplers
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
