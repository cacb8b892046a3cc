// Tensors with private dimensions, as vmap creates them. There are none: at::makeBatched and at::addBatchDim raise an error, and
// no tensor is a batched one. docs/operators-left-out.md lists them.
#pragma once

#include <ATen/ATen.h>
#include <ATen/ArrayRef.h>
#include <ATen/SmallVector.h>

#include <bitset>
#include <ostream>

namespace at {
RLT_NAMESPACE_BEGIN

constexpr int64_t kVmapMaxTensorDims = 64;
constexpr int64_t kVmapNumLevels = 64;
constexpr int64_t kBatchDimsStackSize = 5;

/// A dimension of a tensor that belongs to a level of vmap.
struct BatchDim {
  BatchDim(int64_t level, int64_t dim) : dim_(dim), level_(level) {}
  int64_t dim() const { return dim_; }
  int64_t level() const { return level_; }

 private:
  int64_t dim_;
  int64_t level_;
};

using BatchDims = SmallVector<BatchDim, kBatchDimsStackSize>;
using BatchDimsRef = ArrayRef<BatchDim>;

inline std::ostream& operator<<(std::ostream& out, const BatchDim& dim) {
  return out << "(lvl=" << dim.level() << ", dim=" << dim.dim() << ")";
}

/// The tensor below the private dimensions, and those. There is no object of this class.
class BatchedTensorImpl {
 public:
  BatchedTensorImpl() = delete;
  BatchDimsRef bdims() const { return bdims_; }
  const Tensor& value() const { return value_; }

 private:
  Tensor value_;
  BatchDims bdims_;
};

inline bool isBatchedTensor(const Tensor&) { return false; }
inline BatchedTensorImpl* maybeGetBatchedImpl(const Tensor&) { return nullptr; }

/// The dimensions, as bits.
inline std::bitset<kVmapMaxTensorDims> createBatchDimBitset(BatchDimsRef dims) {
  std::bitset<kVmapMaxTensorDims> bits;
  for (const BatchDim& dim : dims) bits.set(static_cast<size_t>(dim.dim()));
  return bits;
}
/// The levels, as bits.
inline std::bitset<kVmapNumLevels> createVmapLevelsBitset(BatchDimsRef dims) {
  std::bitset<kVmapNumLevels> bits;
  for (const BatchDim& dim : dims) bits.set(static_cast<size_t>(dim.level()));
  return bits;
}

RLT_LAZY Tensor makeBatched(Tensor, BatchDims) { rlt::raise<NotImplementedError>("makeBatched is not available: vmap"); }
RLT_LAZY Tensor addBatchDim(Tensor, int64_t, int64_t) { rlt::raise<NotImplementedError>("addBatchDim is not available: vmap"); }

RLT_NAMESPACE_END
}  // namespace at
