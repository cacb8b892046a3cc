// MNIST: handwritten digits, read from the four files in IDX format.
#pragma once

#include <torch/data/datasets/base.h>
#include <torch/serialize/state-dict.h>

#include <string>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace datasets {

class MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };

  /// Reads the training or test files in the folder `root`.
  RLT_LAZY explicit MNIST(const std::string& root, Mode mode = Mode::kTrain) : train_(mode == Mode::kTrain) {
    const int64_t count = train_ ? 60000 : 10000;
    images_ = read(root, "images", train_ ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte", 2051, {count, 1, 28, 28}).to(kFloat).div_(255);
    targets_ = read(root, "targets", train_ ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte", 2049, {count}).to(kLong);
  }
  Example<> get(size_t index) override { return {images_[static_cast<int64_t>(index)], targets_[static_cast<int64_t>(index)]}; }
  std::optional<size_t> size() const override { return static_cast<size_t>(images_.size(0)); }
  bool is_train() const noexcept { return train_; }
  /// All images, between 0 and 1: [count, 1, 28, 28].
  const Tensor& images() const { return images_; }
  /// All labels: [count].
  const Tensor& targets() const { return targets_; }

 private:
  RLT_LAZY static Tensor read(const std::string& root, const char* what, const char* name, uint32_t magic, std::vector<int64_t> sizes) {
    const std::string path = root.empty() || root.back() == '/' ? root + name : root + "/" + name;
    serialize::detail::FilePointer file(std::fopen(path.c_str(), "rb"));
    TORCH_CHECK(file.file, "Error opening ", what, " file at ", path);
    expect(file.file, path, magic);
    for (int64_t size : sizes) {
      if (size != 1) expect(file.file, path, static_cast<uint32_t>(size));
    }
    Tensor tensor = torch::empty(sizes, kByte);
    const size_t count = static_cast<size_t>(tensor.numel());
    TORCH_CHECK(std::fread(tensor.template mutable_data_ptr<uint8_t>(), 1, count, file.file) == count, "Unexpected end of file at ", path);
    return tensor;
  }
  // The next number of the file's head, big-endian.
  RLT_LAZY static void expect(std::FILE* file, const std::string& path, uint32_t expected) {
    unsigned char bytes[4];
    TORCH_CHECK(std::fread(bytes, 1, 4, file) == 4, "Unexpected end of file at ", path);
    const uint32_t found = uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
    TORCH_CHECK(found == expected, "Expected to read number ", expected, " but found ", found, " instead");
  }

  bool train_;
  Tensor images_, targets_;
};

}  // namespace datasets
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
