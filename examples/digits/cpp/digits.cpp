#include "digits.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include "../../third_party/stb_image_write.h"

Digits Digits::load(const std::string& path) {
  torch::serialize::InputArchive file;
  file.load_from(path);
  Digits digits;
  file.read("images", digits.images);
  file.read("labels", digits.labels);
  digits.images = digits.images.to(torch::kFloat32).div_(16);
  return digits;
}

torch::Tensor predict(torch::nn::Sequential& model, const torch::Tensor& images) {
  torch::NoGradGuard no_grad;
  model->eval();
  return model->forward(images).argmax(1);
}

torch::Tensor confusion_matrix(const torch::Tensor& predicted, const torch::Tensor& labels) {
  auto cell = labels * 10 + predicted;
  return torch::zeros({100}, torch::kInt64).index_add_(0, cell, torch::ones_like(cell)).view({10, 10});
}

// Writes shares in [0, 1], [height, width], as a PNG file: 0 is white, 1 is dark blue.
static void write_picture(const torch::Tensor& shares, const std::string& path) {
  auto ink = torch::tensor({223.0f, 160.0f, 66.0f});  // what it takes from white in red, green and blue
  auto picture = (255 - shares.unsqueeze(2) * ink).to(torch::kUInt8).contiguous();
  auto width = static_cast<int>(picture.size(1)), height = static_cast<int>(picture.size(0));
  TORCH_CHECK(stbi_write_png(path.c_str(), width, height, 3, picture.data_ptr(), 3 * width), "cannot write ", path);
}

void draw_confusion(const torch::Tensor& counts, const std::string& path) {
  auto shares = counts / counts.sum(1, /*keepdim=*/true);
  write_picture(shares.view({10, 1, 10, 1}).expand({10, 32, 10, 32}).reshape({320, 320}), path);
}

void draw_losses(const torch::Tensor& losses, const std::string& path) {
  auto bars = losses / losses.max() * 160;
  write_picture(torch::arange(160, 0, -1).unsqueeze(1).le(bars).to(torch::kFloat32), path);
}
