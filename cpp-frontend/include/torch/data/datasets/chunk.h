// ChunkDataset: large data read chunk by chunk, ahead of its use, by its own threads.
#pragma once

#include <torch/arg.h>
#include <torch/data/datasets/stateful.h>
#include <torch/data/samplers/random.h>
#include <torch/data/worker_exception.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace datasets {

/// Reads chunks, from several threads at once.
template <class Example, class Chunk = std::vector<Example>>
class ChunkDataReader {
 public:
  using ChunkType = Chunk;
  using ExampleType = Example;
  virtual ~ChunkDataReader() = default;
  virtual ChunkType read_chunk(size_t chunk_index) = 0;
  virtual size_t chunk_count() = 0;
  /// Begins an epoch.
  virtual void reset() = 0;
};

namespace detail {

/// Batches between the threads that read chunks and those that take batches.
template <class UnwrappedBatch, class ExampleSampler = samplers::RandomSampler>
class BatchDataBuffer {
 public:
  using UnwrappedBatchType = UnwrappedBatch;
  using BatchType = std::optional<UnwrappedBatchType>;
  using BatchRequestType = typename ExampleSampler::BatchRequestType;

  BatchDataBuffer(size_t batch_size, ExampleSampler& example_sampler, size_t queue_capacity)
      : batch_size_(batch_size), capacity_(queue_capacity), sampler_(example_sampler) {}

  /// The next batch, once it is full or no more data comes; nothing at the end.
  BatchType get_batch() {
    std::unique_lock<std::mutex> lock(mutex_);
    filled_.wait(lock, [this] { return examples_ >= batch_size_ || failed_ || stopped_; });
    if (batches_.empty()) return std::nullopt;
    Waiting batch = std::move(batches_.front());
    batches_.pop_front();
    if (batch.exception) {
      --failed_;
      torch::data::detail::throw_worker_exception(batch.exception);
    }
    examples_ -= batch.data.size();
    lock.unlock();
    emptied_.notify_all();
    return std::move(batch.data);
  }
  /// Distributes the examples of a chunk over batches, in the sampler's order.
  void add_chunk_data(UnwrappedBatchType data) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!wait_for_room(lock)) return;
    size_t left = data.size();
    sampler_.reset(left);
    if (batches_.empty() || batches_.back().exception || batches_.back().data.size() >= batch_size_) batches_.emplace_back();
    while (true) {
      UnwrappedBatchType& batch = batches_.back().data;
      batch.reserve(batch_size_);
      const size_t count = std::min(left, batch_size_ - batch.size());
      std::optional<BatchRequestType> indices = sampler_.next(count);
      TORCH_INTERNAL_ASSERT(indices && indices->size() == count, "the sampler of examples gives too few");
      for (size_t index : *indices) {
        TORCH_CHECK(index < data.size(), "Index out of range");
        batch.emplace_back(std::move(data[index]));
      }
      left -= count;
      if (left == 0) break;
      batches_.emplace_back();
    }
    examples_ += data.size();
    lock.unlock();
    filled_.notify_all();
  }
  /// Passes an exception to the thread that takes the next batch.
  void add_chunk_data(std::exception_ptr exception) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!wait_for_room(lock)) return;
    batches_.emplace_back();
    batches_.back().exception = std::move(exception);
    ++failed_;
    lock.unlock();
    filled_.notify_all();
  }
  /// Marks the end of the data and wakes all waiting threads.
  void stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopped_ = true;
    }
    emptied_.notify_all();
    filled_.notify_all();
  }

 private:
  struct Waiting {
    UnwrappedBatchType data;
    std::exception_ptr exception;
  };
  bool wait_for_room(std::unique_lock<std::mutex>& lock) {
    emptied_.wait(lock, [this] { return examples_ < capacity_ || stopped_; });
    return !stopped_;
  }

  const size_t batch_size_, capacity_;
  ExampleSampler& sampler_;
  std::mutex mutex_;
  std::condition_variable filled_, emptied_;
  std::deque<Waiting> batches_;
  size_t examples_ = 0;
  size_t failed_ = 0;
  bool stopped_ = false;
};

}  // namespace detail

struct ChunkDatasetOptions {
  ChunkDatasetOptions() = delete;
  RLT_LAZY ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048, size_t cross_chunk_shuffle_count = 1)
      : preloader_count_(preloader_count), batch_size_(batch_size), cache_size_(cache_size), cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
    TORCH_CHECK(preloader_count_ > 0, "Preloader count is 0. At least one preloader needs to be specified.");
    TORCH_CHECK(batch_size_ > 0, "Batch size is 0. A positive batch size needs to be specified.");
    TORCH_CHECK(cache_size_ > 0, "Cache size is 0. A positive cache size needs to be specified.");
    TORCH_CHECK(cache_size_ >= batch_size_, "Cache size is less than batch size. Cache needs to be large enough to hold at least one batch.");
    TORCH_CHECK(cross_chunk_shuffle_count_ > 0, "cross_chunk_shuffle_count needs to be greater than 0.");
  }
  /// Number of reading threads.
  TORCH_ARG(size_t, preloader_count);
  TORCH_ARG(size_t, batch_size);
  /// Examples held ahead.
  TORCH_ARG(size_t, cache_size) = 2048;
  /// Chunks whose examples are mixed.
  TORCH_ARG(size_t, cross_chunk_shuffle_count) = 1;
};

/// One sampler chooses chunks, the other the order of examples in them.
template <class ChunkReader, class ChunkSampler = samplers::RandomSampler, class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final
    : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>, typename ChunkReader::BatchType, size_t> {
 public:
  using BatchType = std::optional<typename ChunkReader::BatchType>;
  using UnwrappedBatchType = typename ChunkReader::BatchType;
  using BatchRequestType = size_t;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;

  ChunkDataset(ChunkReader chunk_reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler, ChunkDatasetOptions options,
               std::function<void(UnwrappedBatchType&)> preprocessing_policy = {})
      : reader_(std::move(chunk_reader)), chunk_sampler_(std::move(chunk_sampler)), example_sampler_(std::move(example_sampler)),
        options_(std::move(options)), policy_(std::move(preprocessing_policy)) {}
  ~ChunkDataset() override { end_preloaders(); }

  BatchType get_batch(size_t batch_size) override {
    TORCH_CHECK(buffer_ != nullptr, "Dataset needs to call reset() before calling get_batch().");
    TORCH_CHECK(batch_size == options_.batch_size(),
                "The requested batch size does not match with the initialized batch size.\n The requested batch size is ", batch_size,
                ", while the dataset is created with batch size equal to ", options_.batch_size());
    return buffer_->get_batch();
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }

  /// Begins an epoch, or continues with the one that was loaded.
  void reset() override {
    end_preloaders();
    if (!loaded_) {
      reader_.reset();
      chunk_sampler_.reset(reader_.chunk_count());
    }
    loaded_ = false;
    buffer_ = std::make_unique<Buffer>(options_.batch_size(), example_sampler_, options_.cache_size());
    quit_ = false;
    running_ = options_.preloader_count();
    for (size_t i = 0; i < options_.preloader_count(); ++i) preloaders_.emplace_back([this] { preload(); });
  }
  /// The number of examples in the chunks is not known.
  std::optional<size_t> size() const override { return std::nullopt; }
  ChunkSamplerType& chunk_sampler() { return chunk_sampler_; }

  void save(serialize::OutputArchive& archive) const override {
    std::lock_guard<std::mutex> lock(sampler_mutex_);
    chunk_sampler_.save(archive);
  }
  void load(serialize::InputArchive& archive) override {
    std::lock_guard<std::mutex> lock(sampler_mutex_);
    chunk_sampler_.load(archive);
    loaded_ = true;
  }

 private:
  using Buffer = detail::BatchDataBuffer<UnwrappedBatchType, ExampleSamplerType>;

  // The main loop of a reading thread, until there are no chunks left.
  void preload() {
    while (!quit_) {
#if RLT_EXCEPTIONS
      std::exception_ptr failure;
      try {
        if (!preload_chunks()) break;
      } catch (...) {
        failure = std::current_exception();
      }
      // Outside of the handler: the exception is freed by the thread that receives it, not by this one later.
      if (failure) buffer_->add_chunk_data(std::move(failure));
#else
      if (!preload_chunks()) break;
#endif
    }
    if (--running_ == 0) buffer_->stop();
  }
  bool preload_chunks() {
    std::optional<typename ChunkSampler::BatchRequestType> chunks;
    {
      std::lock_guard<std::mutex> lock(sampler_mutex_);
      chunks = chunk_sampler_.next(options_.cross_chunk_shuffle_count());
    }
    if (!chunks) return false;
    UnwrappedBatchType data = reader_.read_chunk((*chunks)[0]);
    for (size_t i = 1; i < chunks->size(); ++i) {
      auto more = reader_.read_chunk((*chunks)[i]);
      std::move(more.begin(), more.end(), std::back_inserter(data));
    }
    if (policy_) policy_(data);
    if (!data.empty()) buffer_->add_chunk_data(std::move(data));
    return true;
  }
  void end_preloaders() {
    quit_ = true;
    if (buffer_) buffer_->stop();
    for (std::thread& preloader : preloaders_) preloader.join();
    preloaders_.clear();
  }

  ChunkReader reader_;
  ChunkSampler chunk_sampler_;
  ExampleSampler example_sampler_;
  std::unique_ptr<Buffer> buffer_;
  std::vector<std::thread> preloaders_;
  const ChunkDatasetOptions options_;
  std::function<void(UnwrappedBatchType&)> policy_;
  std::atomic<bool> quit_{false};
  std::atomic<size_t> running_{0};
  mutable std::mutex sampler_mutex_;
  bool loaded_ = false;
};

}  // namespace datasets
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
