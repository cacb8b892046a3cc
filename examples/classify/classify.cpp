// Names what is in a picture, with a classifier that Python saved by torch.jit.save. This is a libtorch program.
//
//   classify MODEL PICTURE.bmp
//
// The picture is prepared as torchvision prepares it for its classifiers: resize, crop, normalize. The extra file
// classes.txt of the model has the name of a class in each line.
#include <torch/script.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int64_t kResized = 256, kCropped = 224, kShown = 3;

/// A Windows bitmap with 24 bits for each pixel, as bytes of shape (H, W, 3), red first.
torch::Tensor read_bitmap(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  auto number = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    return static_cast<int64_t>(static_cast<int32_t>(value));
  };
  if (bytes.size() < 54 || bytes[0] != 'B' || bytes[1] != 'M') throw std::runtime_error(path + " is not a bitmap");
  int64_t start = number(10), width = number(18), height = number(22), row = (3 * width + 3) / 4 * 4;
  bool plain = bytes[28] == 24 && number(30) == 0 && 0 < width && width < 1 << 16 && 0 < height && height < 1 << 16;
  if (!plain || start < 54 || start + row * height > static_cast<int64_t>(bytes.size()))
    throw std::runtime_error(path + ": only complete bitmaps with 24 bits for each pixel are read");
  // Rows start at the bottom, their length is a multiple of 4 bytes, and blue is the first color.
  auto rows = torch::from_blob(&bytes[static_cast<size_t>(start)], {height, row}, torch::kByte);
  return rows.slice(1, 0, 3 * width).reshape({height, width, 3}).flip({0, 2});
}

/// (H, W, 3) bytes -> (1, 3, 224, 224): the shorter side is resized to 256, the middle is cropped.
torch::Tensor prepare(const torch::Tensor& picture) {
  auto x = picture.permute({2, 0, 1}).unsqueeze(0).to(torch::kFloat) / 255;
  int64_t height = x.size(2), width = x.size(3), shorter = std::min(height, width);
  std::vector<int64_t> size{kResized * height / shorter, kResized * width / shorter};
  x = torch::_upsample_bilinear2d_aa(x, size, /*align_corners=*/false);
  x = x.narrow(2, (size[0] - kCropped) / 2, kCropped).narrow(3, (size[1] - kCropped) / 2, kCropped);
  auto mean = torch::tensor({0.485f, 0.456f, 0.406f}).view({3, 1, 1});
  auto deviation = torch::tensor({0.229f, 0.224f, 0.225f}).view({3, 1, 1});
  return (x - mean) / deviation;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL PICTURE.bmp\n", argv[0]);
    return 2;
  }
  try {
    torch::jit::ExtraFilesMap files{{"classes.txt", ""}};
    torch::jit::Module model = torch::jit::load(argv[1], torch::kCPU, files);
    model.eval();
    std::vector<std::string> names;
    std::istringstream lines(files["classes.txt"]);
    for (std::string line; std::getline(lines, line);) names.push_back(line);

    torch::InferenceMode guard;
    auto scores = model.forward({prepare(read_bitmap(argv[2]))}).toTensor().softmax(1)[0];
    auto [values, indices] = scores.topk(std::min(kShown, scores.size(0)));
    for (int64_t i = 0; i < values.size(0); ++i) {
      auto index = static_cast<size_t>(indices[i].item<int64_t>());
      std::string name = index < names.size() ? names[index] : "class " + std::to_string(index);
      std::printf("%-20s %.4f\n", name.c_str(), values[i].item<float>());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
