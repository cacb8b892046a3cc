#include "canvas.h"

#include <vector>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include "../../third_party/stb_image_write.h"

static torch::Tensor tensor_of(Color color) { return torch::tensor({color[0], color[1], color[2]}); }

Canvas::Canvas(const std::string& font, int64_t height, int64_t width) : pixels_(torch::full({height, width, 3}, 255.0f)) {
  torch::serialize::InputArchive file;
  file.load_from(font);
  file.read("glyphs", glyphs_);
  glyphs_ = glyphs_.to(torch::kFloat32);
}

void Canvas::fill(Area area, Color color) { region(area).copy_(tensor_of(color)); }

void Canvas::blend(int64_t y, int64_t x, const torch::Tensor& coverage, Color color) {
  region({y, x, coverage.size(0), coverage.size(1)}).lerp_(tensor_of(color), coverage.unsqueeze(2));
}

void Canvas::paste(int64_t y, int64_t x, const torch::Tensor& picture) {
  region({y, x, picture.size(0), picture.size(1)}).copy_(picture);
}

void Canvas::text(int64_t y, int64_t x, const std::string& text, int scale, Color color, Align align) {
  std::vector<int64_t> codes;
  for (char letter : text) codes.push_back(letter - ' ');
  // [letters, rows, columns] to rows of all letters
  auto letters = glyphs_.index_select(0, torch::tensor(codes)).permute({1, 0, 2}).reshape({9, -1});
  auto ink = enlarge(letters, scale);
  int64_t width = ink.size(1) - scale;  // without the gap after the last letter
  blend(y, align == Align::kLeft ? x : align == Align::kCenter ? x - width / 2 : x - width, ink, color);
}

void Canvas::curve(Area area, const torch::Tensor& values, double low, double high, double thickness, Color color) {
  int64_t start = area.width / values.numel(), columns = area.width - start;
  // How far below the top each value is, and between values in each column; a column's line reaches from its own height to those
  // of the next two, so that steep parts are as thick as flat ones.
  auto heights = ((high - values) / (high - low) * area.height).clamp(0, area.height).to(torch::kFloat32);
  auto line = torch::upsample_linear1d(heights.view({1, 1, -1}), {columns + 2}, /*align_corners=*/true).view(-1).unfold(0, 3, 1);
  auto top = line.amin(1) - thickness / 2, bottom = line.amax(1) + thickness / 2;
  // How much of a pixel lies between the two.
  auto row = torch::arange(area.height).unsqueeze(1);
  blend(area.y, area.x + start, (torch::minimum(row + 1, bottom) - torch::maximum(row, top)).clamp(0, 1), color);
}

void Canvas::save(const std::string& path) const {
  auto bytes = pixels_.round().to(torch::kUInt8).contiguous();
  auto height = static_cast<int>(bytes.size(0)), width = static_cast<int>(bytes.size(1));
  TORCH_CHECK(stbi_write_png(path.c_str(), width, height, 3, bytes.data_ptr(), 3 * width), "cannot write ", path);
}

torch::Tensor enlarge(const torch::Tensor& picture, int64_t size) {
  return picture.repeat_interleave(size, 0).repeat_interleave(size, 1);
}
