// Sequencers: the order in which results leave the loader.
#pragma once

#include <c10/util/Exception.h>

#include <functional>
#include <optional>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace detail {
namespace sequencers {

template <class Result>
struct Sequencer {
  using ResultProducer = std::function<std::optional<Result>()>;
  virtual ~Sequencer() = default;
  virtual std::optional<Result> next(ResultProducer next_result) = 0;
};

/// Returns results in order of completion.
template <class Result>
struct NoSequencer final : public Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  std::optional<Result> next(ResultProducer next_result) override { return next_result(); }
};

/// By index: early results wait in a ring buffer.
template <class Result>
struct OrderedSequencer : public Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  explicit OrderedSequencer(size_t max_jobs) : buffer_(max_jobs) {}

  std::optional<Result> next(ResultProducer next_result) override {
    if (std::optional<Result>& waiting = buffer(next_sequence_number_)) {
      std::optional<Result> result = std::move(waiting);
      waiting.reset();
      ++next_sequence_number_;
      return result;
    }
    while (std::optional<Result> result = next_result()) {
      if (result->sequence_number == next_sequence_number_) {
        ++next_sequence_number_;
        return result;
      }
      std::optional<Result>& place = buffer(result->sequence_number);
      TORCH_INTERNAL_ASSERT(!place, "two results in one place");
      place = std::move(result);
    }
    return std::nullopt;
  }
  std::optional<Result>& buffer(size_t index) { return buffer_.at(index % buffer_.size()); }

  size_t next_sequence_number_ = 0;
  std::vector<std::optional<Result>> buffer_;
};

}  // namespace sequencers
}  // namespace detail
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
