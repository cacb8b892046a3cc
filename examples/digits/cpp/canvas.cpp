#include "canvas.h"

#include <cstdio>

namespace {

std::string hex(Color color) {
  char text[32];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", color.red, color.green, color.blue);
  return text;
}

torch::Tensor tensor_of(Color color) { return torch::tensor({color.red, color.green, color.blue}, torch::kFloat32); }

}  // namespace

Canvas::Canvas(const std::string& path, int64_t height, int64_t width) : file_(path) {
  TORCH_CHECK(file_, "cannot write ", path);
  file_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height << "\" font-family=\"monospace\">\n";
  fill({0, 0, height, width}, {255, 255, 255});
}

void Canvas::finish() {
  file_ << "</svg>\n";
  file_.close();
  TORCH_CHECK(file_, "cannot write a picture");
}

void Canvas::fill(Area area, Color color) {
  file_ << "<rect x=\"" << area.x << "\" y=\"" << area.y << "\" width=\"" << area.width << "\" height=\"" << area.height << "\" fill=\""
        << hex(color) << "\"/>\n";
}

void Canvas::text(int64_t y, int64_t x, const std::string& text, int size, Color color, Align align) {
  const char* anchor = align == Align::kLeft ? "start" : align == Align::kCenter ? "middle" : "end";
  // A capital letter is 0.7 times as high as the font.
  file_ << "<text x=\"" << x << "\" y=\"" << y + size * 7 / 10 << "\" font-size=\"" << size << "\" text-anchor=\"" << anchor
        << "\" fill=\"" << hex(color) << "\">" << text << "</text>\n";
}

void Canvas::squares(int64_t y, int64_t x, const torch::Tensor& colors, int64_t size) {
  auto rounded = colors.round().to(torch::kInt64).contiguous();
  auto channel = rounded.accessor<int64_t, 3>();
  for (int64_t row = 0; row < rounded.size(0); ++row) {
    for (int64_t column = 0; column < rounded.size(1); ++column) {
      auto color = channel[row][column];
      fill({y + row * size, x + column * size, size, size},
           {static_cast<int>(color[0]), static_cast<int>(color[1]), static_cast<int>(color[2])});
    }
  }
}

void Canvas::curve(Area area, const torch::Tensor& values, double low, double high, int thickness, Color color) {
  auto n = values.numel();
  auto scale = static_cast<double>(area.height) / (high - low), step = static_cast<double>(area.width) / static_cast<double>(n);
  auto y = (high - values.to(torch::kFloat64)).mul(scale).clamp(0, area.height).add(area.y);
  auto x = torch::arange(1, n + 1).to(torch::kFloat64).mul(step).add(area.x);
  // Tenths of a pixel; rounding here, not in snprintf, gives every language the same digits.
  auto points = torch::stack({x, y}, 1).round(/*decimals=*/1);
  auto point = points.accessor<double, 2>();
  file_ << "<polyline fill=\"none\" stroke=\"" << hex(color) << "\" stroke-width=\"" << thickness
        << "\" stroke-linejoin=\"round\" points=\"";
  for (int64_t i = 0; i < n; ++i) {
    char text[64];
    std::snprintf(text, sizeof text, "%s%.1f,%.1f", i ? " " : "", point[i][0], point[i][1]);
    file_ << text;
  }
  file_ << "\"/>\n";
}

torch::Tensor blend(Color from, Color to, const torch::Tensor& weight) {
  return tensor_of(from).lerp(tensor_of(to), weight.unsqueeze(2));
}
