// DataLoaderOptions: batch size, number of workers and similar options.
#pragma once

#include <torch/arg.h>
#include <torch/types.h>

#include <chrono>
#include <optional>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {

struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}
  TORCH_ARG(size_t, batch_size) = 1;
  /// Number of worker threads; with none the caller's own thread loads.
  TORCH_ARG(size_t, workers) = 0;
  /// Batches requested ahead, two per worker by default.
  TORCH_ARG(std::optional<size_t>, max_jobs);
  /// Maximum wait for a batch.
  TORCH_ARG(std::optional<std::chrono::milliseconds>, timeout);
  /// Whether batches arrive in the sampler's order, or as they become ready.
  TORCH_ARG(bool, enforce_ordering) = true;
  /// Whether to drop an incomplete last batch.
  TORCH_ARG(bool, drop_last) = false;
};

/// The options with all defaults resolved.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(DataLoaderOptions options)
      : batch_size(options.batch_size()), workers(options.workers()), max_jobs(options.max_jobs().value_or(2 * workers)),
        timeout(options.timeout()), enforce_ordering(options.enforce_ordering()), drop_last(options.drop_last()) {}

  size_t batch_size;
  size_t workers;
  size_t max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering;
  bool drop_last;
};

}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
