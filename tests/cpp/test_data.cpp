// torch::data: samplers, loaders with and without workers, chunks, MNIST. Orders and error messages are those of
// libtorch 2.7.1, printed by a program compiled with it from the calls in this file.
#include <c10/util/tempfile.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "messages.h"

namespace {

namespace data = torch::data;
using Indices = std::vector<size_t>;

struct Squares : data::datasets::Dataset<Squares, int> {
  explicit Squares(int count) : count_(count) {}
  int get(size_t index) override {
    if (static_cast<int>(index) == failing_) throw std::out_of_range("no square of it");
    return static_cast<int>(index * index);
  }
  std::optional<size_t> size() const override { return count_; }
  int count_;
  int failing_ = -1;
};

TEST(Data, DistributedSamplersDealOutLikeLibtorch) {
  const std::vector<Indices> expected = {{9, 0, 4, 7}, {0, 4, 6, 3}, {4, 8, 3}};
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    data::samplers::DistributedRandomSampler sampler(11, 3, 1, /*allow_duplicates=*/epoch != 2);
    sampler.set_epoch(epoch);
    sampler.reset();
    EXPECT_EQ(sampler.next(20).value(), expected[epoch]);
    EXPECT_FALSE(sampler.next(1).has_value());
  }
  EXPECT_EQ(data::samplers::DistributedSequentialSampler(11, 3, 2).next(20).value(), (Indices{8, 9, 10, 0}));
}

TEST(Data, RandomSamplerDrawsLibtorchsPermutations) {
  torch::manual_seed(3);
  data::samplers::RandomSampler sampler(11);
  EXPECT_EQ(sampler.next(20).value(), (Indices{9, 0, 3, 6, 4, 5, 2, 8, 1, 10, 7}));
  sampler.reset();
  EXPECT_EQ(sampler.next(4).value(), (Indices{8, 2, 4, 1}));
  std::stringstream stream;
  torch::save(sampler, stream);
  data::samplers::RandomSampler restored(2);
  torch::load(restored, stream);
  EXPECT_EQ(restored.index(), 4u);
  EXPECT_EQ(restored.next(20).value(), (Indices{10, 6, 5, 9, 3, 7, 0}));
}

TEST(Data, LoaderKeepsTheOrderWithWorkers) {
  for (size_t workers : {0, 3}) {
    auto loader = data::make_data_loader<data::samplers::SequentialSampler>(Squares(100), data::DataLoaderOptions(7).workers(workers));
    for (int epoch = 0; epoch < 2; ++epoch) {
      int next = 0;
      for (const std::vector<int>& batch : *loader) {
        for (int value : batch) {
          EXPECT_EQ(value, next * next);
          ++next;
        }
      }
      EXPECT_EQ(next, 100);
    }
  }
}

TEST(Data, WithoutOrderEveryBatchComesOnce) {
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      Squares(100), data::DataLoaderOptions(7).workers(3).enforce_ordering(false).drop_last(true));
  int64_t sum = 0, count = 0;
  for (const std::vector<int>& batch : *loader) {
    sum = std::accumulate(batch.begin(), batch.end(), sum);
    count += static_cast<int64_t>(batch.size());
  }
  EXPECT_EQ(count, 98);
  EXPECT_EQ(sum, 97 * 98 * 195 / 6);
}

TEST(Data, WorkersHandTheirExceptionsOver) {
  Squares squares(10);
  squares.failing_ = 4;
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(squares, data::DataLoaderOptions(1).workers(2));
  int before = 0;
  try {
    for (const std::vector<int>& batch : *loader) before += static_cast<int>(batch.size());
    FAIL() << "nothing was thrown";
  } catch (const data::WorkerException& error) {
    EXPECT_STREQ(error.what(), "Caught exception in DataLoader worker thread. Original message: no square of it");
    EXPECT_THROW(std::rethrow_exception(error.original_exception), std::out_of_range);
  }
  EXPECT_EQ(before, 4);
}

TEST(Data, LoaderWaitsNoLongerThanAsked) {
  struct Slow : data::datasets::Dataset<Slow, int> {
    int get(size_t) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return 0;
    }
    std::optional<size_t> size() const override { return 2; }
  };
  auto loader = data::make_data_loader(Slow(), data::DataLoaderOptions(1).workers(1).timeout(std::chrono::milliseconds(5)));
  EXPECT_EQ(message_of([&] { *loader->begin(); }), "Timeout in DataLoader queue while waiting for next batch (timeout was 5 ms)");
}

TEST(Data, IteratorsKnowTheirEnd) {
  auto loader = data::make_data_loader(Squares(4), data::DataLoaderOptions(4));
  auto iterator = loader->begin(), end = loader->end();
  EXPECT_EQ(message_of([&] { ++end; }), "Incrementing the DataLoader's past-the-end iterator is not allowed");
  EXPECT_NE(iterator, end);
  EXPECT_EQ(++iterator, end);
  EXPECT_EQ(message_of([&] { ++iterator; }), "Attempted to increment iterator past the end");
  EXPECT_EQ(message_of([&] { *iterator; }), "Attempted to dereference iterator that was past the end");
}

TEST(Data, TransformsChain) {
  auto set = data::datasets::TensorDataset(torch::arange(6, torch::kFloat).view({3, 2, 1, 1}))
                 .map(data::transforms::Lambda<data::TensorExample>([](data::TensorExample example) { return data::TensorExample(example.data + 1); }))
                 .map(data::transforms::Stack<data::TensorExample>());
  torch::Tensor batch = set.get_batch(Indices{2, 0}).data;
  EXPECT_TRUE(batch.view({2, 2}).equal(torch::tensor({{5.0f, 6.0f}, {1.0f, 2.0f}})));
  data::transforms::Normalize<> normalize({0.5, 1.5}, {0.5, 0.25});
  EXPECT_TRUE(normalize(torch::ones({2, 1, 2})).equal(torch::tensor({{{1.0f, 1.0f}}, {{-2.0f, -2.0f}}})));
}

/// Three chunks of 4, 0 and 6 numbers; chunk 1 may fail.
struct Reader : data::datasets::ChunkDataReader<int> {
  using BatchType = std::vector<int>;
  BatchType read_chunk(size_t index) override {
    if (index == 1 && fail) throw std::runtime_error("chunk 1 is broken");
    BatchType numbers(index == 0 ? 4 : index == 1 ? 0 : 6);
    std::iota(numbers.begin(), numbers.end(), index == 0 ? 0 : 4);
    return numbers;
  }
  size_t chunk_count() override { return 3; }
  void reset() override {}
  bool fail = false;
};
using Sequential = data::samplers::SequentialSampler;
using Chunks = data::datasets::ChunkDataset<Reader, Sequential, Sequential>;

TEST(Data, ChunksAreBatchedAcrossTheirEnds) {
  auto chunks = data::datasets::make_shared_dataset<Chunks>(Reader(), Sequential(0), Sequential(0), data::datasets::ChunkDatasetOptions(1, 3));
  auto loader = data::make_data_loader(chunks, data::DataLoaderOptions(3));
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<std::vector<int>> batches;
    for (const std::vector<int>& batch : *loader) batches.push_back(batch);
    EXPECT_EQ(batches, (std::vector<std::vector<int>>{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9}}));
  }
  EXPECT_EQ(chunks->chunk_sampler().index(), 3u);
}

TEST(Data, BrokenChunksAreReported) {
  Reader reader;
  reader.fail = true;
  auto chunks = data::datasets::make_shared_dataset<Chunks>(reader, Sequential(0), Sequential(0), data::datasets::ChunkDatasetOptions(1, 4));
  chunks->reset();
  EXPECT_EQ(chunks->get_batch().value(), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(message_of([&] { chunks->get_batch(); }), "Caught exception in DataLoader worker thread. Original message: chunk 1 is broken");
  EXPECT_EQ(chunks->get_batch().value(), (std::vector<int>{4, 5, 6, 7}));
  EXPECT_EQ(chunks->get_batch().value(), (std::vector<int>{8, 9}));
  EXPECT_FALSE(chunks->get_batch().has_value());
}

/// A folder for files in IDX format.
struct Folder {
  ~Folder() {
    for (const char* name : {images, labels}) std::remove((path + "/" + name).c_str());
  }
  // Header fields, then bytes up to the given size; the last byte has the given value.
  void write(const char* name, std::vector<uint32_t> head, size_t bytes, char last) const {
    std::ofstream file(path + "/" + name, std::ios::binary);
    for (uint32_t number : head) {
      for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(number >> shift));
    }
    if (bytes == 0) return;
    file.seekp(static_cast<std::streamoff>(bytes - 1), std::ios::cur);
    file.put(last);
  }
  static constexpr const char* images = "t10k-images-idx3-ubyte";
  static constexpr const char* labels = "t10k-labels-idx1-ubyte";
  // Removed after the files in it.
  c10::TempDir folder = c10::make_tempdir("rushlight_mnist_");
  std::string path = folder.name;
};

TEST(Data, MnistReadsIdxFiles) {
  using data::datasets::MNIST;
  Folder folder;
  auto load = [&] { MNIST(folder.path, MNIST::Mode::kTest); };
  EXPECT_EQ(message_of([&] { MNIST("/nowhere"); }), "Error opening images file at /nowhere/train-images-idx3-ubyte");
  folder.write(Folder::images, {1234, 10000, 28, 28}, 0, 0);
  EXPECT_EQ(message_of(load), "Expected to read number 2051 but found 1234 instead");
  folder.write(Folder::images, {2051, 7, 28, 28}, 0, 0);
  EXPECT_EQ(message_of(load), "Expected to read number 10000 but found 7 instead");
  folder.write(Folder::images, {2051, 10000, 28, 28}, 28 * 28, 1);
  EXPECT_EQ(message_of(load), "Unexpected end of file at " + folder.path + "/" + Folder::images);
  folder.write(Folder::images, {2051, 10000, 28, 28}, 10000 * 28 * 28, static_cast<char>(255));
  EXPECT_EQ(message_of(load), "Error opening targets file at " + folder.path + "/" + Folder::labels);
  folder.write(Folder::labels, {2049, 10000}, 10000, 7);
  MNIST set(folder.path, MNIST::Mode::kTest);
  EXPECT_FALSE(set.is_train());
  EXPECT_EQ(set.size().value(), 10000u);
  EXPECT_EQ(set.images().sizes(), (std::vector<int64_t>{10000, 1, 28, 28}));
  EXPECT_EQ(set.images().dtype(), torch::kFloat);
  EXPECT_EQ(set.get(9999).data[0][27][27].item<float>(), 1);
  EXPECT_EQ(set.get(9999).data.sum().item<float>(), 1);
  EXPECT_EQ(set.get(9999).target.item<int64_t>(), 7);
  EXPECT_EQ(set.targets().dtype(), torch::kLong);
}

}  // namespace
