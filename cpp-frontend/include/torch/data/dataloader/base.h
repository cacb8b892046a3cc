// DataLoaderBase: batches of a dataset, loaded by the caller's thread or by workers.
#pragma once

#include <torch/data/dataloader_options.h>
#include <torch/data/detail/data_shuttle.h>
#include <torch/data/detail/sequencers.h>
#include <torch/data/iterator.h>
#include <torch/data/worker_exception.h>

#include <memory>
#include <thread>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {

template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  DataLoaderBase(DataLoaderOptions options, std::unique_ptr<Dataset> main_thread_dataset = nullptr)
      : options_(options), main_thread_dataset_(std::move(main_thread_dataset)), sequencer_(new_sequencer()) {}
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;
  virtual ~DataLoaderBase() { join(); }

  /// Begins an epoch. Only one may be running.
  Iterator<Batch> begin() {
    TORCH_CHECK(shuttle_.in_flight_jobs() == 0, "Attempted to get a new DataLoader iterator while another iterator is not yet exhausted");
    reset();
    return Iterator<Batch>(std::make_unique<detail::ValidIterator<Batch>>([this] { return next(); }));
  }
  Iterator<Batch> end() { return Iterator<Batch>(std::make_unique<detail::SentinelIterator<Batch>>()); }

  /// Ends the workers.
  void join() {
    if (joined_) return;
    joined_ = true;
    shuttle_.drain();
    for (size_t i = 0; i < workers_.size(); ++i) push_job(std::nullopt);
    for (std::thread& worker : workers_) worker.join();
  }
  const FullDataLoaderOptions& options() const noexcept { return options_; }

 protected:
  struct Sequenced {
    size_t sequence_number = 0;
  };
  /// A request for a batch, or to stop.
  struct Job : Sequenced {
    std::optional<BatchRequest> batch_request;
  };
  /// A batch (or nothing, at the end of the dataset), or the thrown exception.
  struct Result : Sequenced {
    std::optional<Batch> batch;
    std::exception_ptr exception;
  };

  virtual std::optional<BatchRequestType> get_batch_request() = 0;

  virtual void reset() {
    shuttle_.drain();
    sequence_number_ = 0;
    sequencer_ = new_sequencer();
    prefetch(options_.max_jobs);
  }
  void prefetch(size_t jobs) {
    while (jobs-- > 0) {
      std::optional<BatchRequest> request = get_batch_request();
      if (!request) break;
      push_job(std::move(request));
    }
  }
  std::optional<BatchType> next() {
    if (options_.workers == 0) {
      if (auto request = get_batch_request()) return main_thread_dataset_->get_batch(std::move(*request));
      return std::nullopt;
    }
    while (std::optional<Result> result = sequencer_->next([this] { return shuttle_.pop_result(options_.timeout); })) {
      if (result->exception) detail::throw_worker_exception(result->exception);
      if (result->batch) {
        prefetch(1);
        return std::move(result->batch);
      }
    }
    return std::nullopt;
  }

  /// The main loop of a worker.
  void worker_thread(Dataset& dataset) {
    while (true) {
      Job job = shuttle_.pop_job();
      if (!job.batch_request) return;
      Result result;
      result.sequence_number = job.sequence_number;
#if RLT_EXCEPTIONS
      try {
        result.batch = dataset.get_batch(std::move(*job.batch_request));
      } catch (...) {
        result.exception = std::current_exception();
      }
#else
      result.batch = dataset.get_batch(std::move(*job.batch_request));
#endif
      shuttle_.push_result(std::move(result));
    }
  }
  void push_job(std::optional<BatchRequest> request) {
    Job job;
    job.sequence_number = sequence_number_++;
    job.batch_request = std::move(request);
    shuttle_.push_job(std::move(job));
  }
  std::unique_ptr<detail::sequencers::Sequencer<Result>> new_sequencer() {
    if (options_.enforce_ordering) return std::make_unique<detail::sequencers::OrderedSequencer<Result>>(options_.max_jobs);
    return std::make_unique<detail::sequencers::NoSequencer<Result>>();
  }

  const FullDataLoaderOptions options_;
  std::unique_ptr<Dataset> main_thread_dataset_;
  size_t sequence_number_ = 0;
  std::vector<std::thread> workers_;
  detail::DataShuttle<Job, Result> shuttle_;
  std::unique_ptr<detail::sequencers::Sequencer<Result>> sequencer_;
  bool joined_ = false;
};

}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
