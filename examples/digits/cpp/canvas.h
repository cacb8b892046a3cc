// A picture as an SVG file: rectangles, text, squares and curves whose coordinates and colors come from tensors.
#pragma once

#include <torch/torch.h>

#include <fstream>
#include <string>

struct Color {
  int red, green, blue;  // 0 to 255
};
struct Area {
  int64_t y, x, height, width;
};
enum class Align { kLeft, kCenter, kRight };

class Canvas {
 public:
  // Creates the file, with a white background.
  Canvas(const std::string& path, int64_t height, int64_t width);
  // Completes and closes the file.
  void finish();

  void fill(Area area, Color color);
  // `y` is the top of the capital letters; `x` is the start, the middle or the end of the text. The text has no `<` or `&`.
  void text(int64_t y, int64_t x, const std::string& text, int size, Color color, Align align = Align::kLeft);
  // Draws each color of a tensor [rows, columns, 3] as a square.
  void squares(int64_t y, int64_t x, const torch::Tensor& colors, int64_t size);
  // n values as a line between `low` at the bottom and `high` at the top of the area: value i is at (i + 1) / n of the width.
  void curve(Area area, const torch::Tensor& values, double low, double high, int thickness, Color color);

 private:
  std::ofstream file_;
};

// Interpolates from one color (weight 0) to another (weight 1): [rows, columns, 3] for weights [rows, columns].
torch::Tensor blend(Color from, Color to, const torch::Tensor& weight);
