// Distributed samplers: each of several processes gets its share of the indices.
#pragma once

#include <ATen/core/MT19937RNGEngine.h>
#include <torch/data/samplers/base.h>

#include <algorithm>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace samplers {

/// The share of process `rank` of `num_replicas`. With duplicates all shares have the same size, and some examples are
/// in two of them; without, some examples are in none.
template <class BatchRequest = std::vector<size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  DistributedSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {}
  /// Sets the number of the epoch, which determines random orders from the next reset on.
  void set_epoch(size_t epoch) { epoch_ = epoch; }
  size_t epoch() const { return epoch_; }

 protected:
  size_t local_sample_count() const { return allow_duplicates_ ? (size_ + num_replicas_ - 1) / num_replicas_ : size_ / num_replicas_; }

  size_t size_;
  size_t num_replicas_;
  size_t rank_;
  size_t epoch_ = 0;
  bool allow_duplicates_;
};

namespace detail {

// The samplers are templates, so that only programs that instantiate one compile it.

/// Base class of the samplers of indices.
template <class Request>
class DistributedIndexSampler : public DistributedSampler<Request> {
 public:
  using DistributedSampler<Request>::DistributedSampler;
  std::optional<Request> next(size_t batch_size) override {
    if (place_ >= end_) return std::nullopt;
    const auto first = indices_.begin() + static_cast<std::ptrdiff_t>(place_);
    const size_t count = std::min(batch_size, end_ - place_);
    place_ += count;
    return Request(first, first + static_cast<std::ptrdiff_t>(count));
  }
  size_t index() const noexcept { return place_; }

 protected:
  // All indices in order, wrapping around at the end so that all processes get equally many.
  void begin_epoch(std::optional<size_t> new_size) {
    size_t& size = this->size_;
    size = new_size.value_or(size);
    const size_t share = this->local_sample_count();
    indices_.resize(this->num_replicas_ == 1 ? size : share * this->num_replicas_);
    for (size_t i = 0; i < indices_.size(); ++i) indices_[i] = i < size ? i : i - size;
    place_ = this->rank_ * share;
    end_ = place_ + share;
  }

  size_t place_ = 0;
  size_t end_ = 0;
  Request indices_;
};

template <class Request>
class DistributedRandomSamplerOf : public DistributedIndexSampler<Request> {
 public:
  DistributedRandomSamplerOf(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : DistributedIndexSampler<Request>(size, num_replicas, rank, allow_duplicates) {
    shuffle(std::nullopt);
  }
  void reset(std::optional<size_t> new_size = std::nullopt) override { shuffle(new_size); }
  void save(serialize::OutputArchive& archive) const override {
    write_place(archive, "sample_index_", this->place_);
    write_place(archive, "epoch_", this->epoch_);
  }
  void load(serialize::InputArchive& archive) override {
    this->epoch_ = read_place(archive, "epoch_");
    shuffle(std::nullopt);
    this->place_ = read_place(archive, "sample_index_");
  }

 private:
  void shuffle(std::optional<size_t> new_size) {
    this->begin_epoch(new_size);
    std::shuffle(this->indices_.begin(), this->indices_.end(), at::mt19937(this->epoch_));
  }
};

template <class Request>
class DistributedSequentialSamplerOf : public DistributedIndexSampler<Request> {
 public:
  DistributedSequentialSamplerOf(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : DistributedIndexSampler<Request>(size, num_replicas, rank, allow_duplicates) {
    this->begin_epoch(std::nullopt);
  }
  void reset(std::optional<size_t> new_size = std::nullopt) override { this->begin_epoch(new_size); }
  void save(serialize::OutputArchive& archive) const override { write_place(archive, "sample_index_", this->place_); }
  void load(serialize::InputArchive& archive) override { this->place_ = read_place(archive, "sample_index_"); }
};

}  // namespace detail

/// A random permutation seeded by the epoch, so that all processes compute the same one.
class DistributedRandomSampler : public detail::DistributedRandomSamplerOf<std::vector<size_t>> {
 public:
  using DistributedRandomSamplerOf::DistributedRandomSamplerOf;
};

/// Shares of consecutive indices.
class DistributedSequentialSampler : public detail::DistributedSequentialSamplerOf<std::vector<size_t>> {
 public:
  using DistributedSequentialSamplerOf::DistributedSequentialSamplerOf;
};

}  // namespace samplers
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
