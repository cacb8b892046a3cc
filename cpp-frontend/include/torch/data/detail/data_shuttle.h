// DataShuttle: passes jobs to the workers and results back.
#pragma once

#include <torch/data/detail/queue.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace detail {

template <class Job, class Result>
class DataShuttle {
 public:
  void push_job(Job job) {
    jobs_.push(std::move(job));
    ++in_flight_;
  }
  void push_result(Result result) { results_.push(std::move(result)); }
  Job pop_job() { return jobs_.pop(); }
  /// The next result, or nothing if no job is pending.
  std::optional<Result> pop_result(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    if (in_flight_ == 0) return std::nullopt;
    std::optional<Result> result = results_.pop(timeout);
    --in_flight_;
    return result;
  }
  /// Takes back the jobs that have not started, and waits for the others.
  void drain() {
    in_flight_ -= jobs_.clear();
    while (in_flight_ > 0) pop_result();
  }
  /// Known to the thread that pushes jobs only.
  size_t in_flight_jobs() const noexcept { return in_flight_; }

 private:
  Queue<Job> jobs_;
  Queue<Result> results_;
  size_t in_flight_ = 0;
};

}  // namespace detail
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
