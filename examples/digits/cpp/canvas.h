// A picture that is drawn with operators: a tensor of colors that rectangles, letters and curves are mixed into.
#pragma once

#include <torch/torch.h>

#include <array>
#include <string>

using Color = std::array<float, 3>;  // red, green and blue, 0 to 255
struct Area {
  int64_t y, x, height, width;
};
enum class Align { kLeft, kCenter, kRight };

class Canvas {
 public:
  // A white one. `font` is the file of the examples: its tensor `glyphs`, [95, 9, 6], has the characters from ' ' to '~'.
  Canvas(const std::string& font, int64_t height, int64_t width);

  void fill(Area area, Color color);
  // Mixes a color in: coverage 0 leaves a pixel as it is, 1 paints it over.
  void blend(int64_t y, int64_t x, const torch::Tensor& coverage, Color color);
  // Paints [height, width, 3] over.
  void paste(int64_t y, int64_t x, const torch::Tensor& picture);
  // Letters of 7 * scale pixels above the line; `x` is where the text begins, its middle, or its end.
  void text(int64_t y, int64_t x, const std::string& text, int scale, Color color, Align align = Align::kLeft);
  // n values as a line between `low` at the bottom and `high` at the top of the area: value i stands at (i + 1) / n of the width.
  void curve(Area area, const torch::Tensor& values, double low, double high, double thickness, Color color);
  void save(const std::string& path) const;

 private:
  torch::Tensor region(Area area) const { return pixels_.narrow(0, area.y, area.height).narrow(1, area.x, area.width); }

  torch::Tensor pixels_;  // float32 [height, width, 3]
  torch::Tensor glyphs_;  // float32, 1 is ink
};

// Every element as a square of size * size.
torch::Tensor enlarge(const torch::Tensor& picture, int64_t size);
