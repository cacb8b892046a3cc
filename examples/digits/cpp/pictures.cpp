#include "pictures.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "canvas.h"

namespace {

constexpr Color kInk{40, 44, 52}, kGrey{120, 126, 136}, kGrid{228, 231, 236}, kPaper{244, 246, 249}, kWhite{255, 255, 255};
constexpr Color kBlue{28, 94, 184}, kPale{176, 205, 240}, kRed{208, 62, 48};

// A plot: its area, and the values at its bottom and top.
struct Axes {
  Area area;
  double low, high;
};

void draw_axes(Canvas& canvas, const Axes& axes, const char* title, const std::vector<std::pair<const char*, double>>& ticks,
               int64_t epochs) {
  const auto& [y, x, height, width] = axes.area;
  canvas.text(y - 34, x, title, 20, kInk);
  for (auto& [label, value] : ticks) {
    auto at = y + static_cast<int64_t>((axes.high - value) / (axes.high - axes.low) * height);
    canvas.fill({at, x, 1, width}, kGrid);
    canvas.text(at - 7, x - 10, label, 20, kGrey, Align::kRight);
  }
  for (int64_t epoch = 0; epoch <= epochs; ++epoch) canvas.fill({y + height, x + epoch * width / epochs, 6, 1}, kGrey);
  canvas.fill({y, x - 1, height, 1}, kGrey);
  canvas.fill({y + height, x - 1, 1, width + 1}, kGrey);
}

void draw_curve(Canvas& canvas, const Axes& axes, const torch::Tensor& values, int thickness, Color color) {
  canvas.curve(axes.area, values, axes.low, axes.high, thickness, color);
}

// A line of a legend; returns the position of the next one.
int64_t draw_key(Canvas& canvas, int64_t y, int64_t x, const std::string& label, Color color) {
  canvas.fill({y + 5, x, 4, 28}, color);
  canvas.text(y, x + 38, label, 20, kInk);
  return x + 68 + 12 * static_cast<int64_t>(label.size());
}

}  // namespace

void draw_curves(const History& history, const std::string& path) {
  auto epochs = history.test_losses.size(0);
  const Axes loss{{110, 90, 260, 840}, -3, 0.5}, accuracy{{430, 90, 170, 840}, 80, 100};  // log10 of the loss, percent
  Canvas canvas(path, 680, 960);
  canvas.text(24, 480, "Learning curve", 30, kInk, Align::kCenter);

  draw_axes(canvas, loss, "loss", {{"1", 0}, {"0.1", -1}, {"0.01", -2}, {"0.001", -3}}, epochs);
  auto key = draw_key(canvas, 76, 260, "training batch", kPale);
  key = draw_key(canvas, 76, key, "mean of the epoch", kBlue);
  draw_key(canvas, 76, key, "test", kRed);
  draw_curve(canvas, loss, history.losses.log10(), 2, kPale);
  draw_curve(canvas, loss, history.losses.view({epochs, -1}).mean(1).log10(), 3, kBlue);
  draw_curve(canvas, loss, history.test_losses.log10(), 3, kRed);

  draw_axes(canvas, accuracy, "test accuracy", {{"80 %", 80}, {"85 %", 85}, {"90 %", 90}, {"95 %", 95}, {"100 %", 100}}, epochs);
  draw_curve(canvas, accuracy, history.test_accuracies * 100, 3, kRed);
  for (int64_t epoch = 0; epoch <= epochs; ++epoch) {
    canvas.text(614, 90 + epoch * 840 / epochs, std::to_string(epoch), 20, kGrey, Align::kCenter);
  }
  canvas.text(646, 510, "epoch", 20, kInk, Align::kCenter);
  canvas.finish();
}

namespace {

constexpr int64_t kTop = 110, kLeft = 80, kCell = 48;

// The cells: blue on the diagonal, as strong as the share of the row; red elsewhere, saturating early.
void draw_cells(Canvas& canvas, const torch::Tensor& counts) {
  auto share = counts.div(counts.sum(1, /*keepdim=*/true));
  auto right = blend(kPaper, kBlue, share), wrong = blend(kPaper, kRed, share.mul(20).clamp_max(1));
  auto diagonal = torch::eye(10, torch::kBool).unsqueeze(2);
  canvas.squares(kTop, kLeft, torch::where(diagonal, right, wrong), kCell);
}

void draw_numbers(Canvas& canvas, const torch::Tensor& counts) {
  for (int64_t row = 0; row < 10; ++row) {
    auto y = kTop + row * kCell, x = kLeft + row * kCell;
    canvas.fill({y, kLeft, 2, 10 * kCell}, kWhite);
    canvas.fill({kTop, x, 10 * kCell, 2}, kWhite);
    canvas.text(y + 18, kLeft - 14, std::to_string(row), 20, kInk, Align::kRight);
    canvas.text(kTop + 10 * kCell + 8, x + 24, std::to_string(row), 20, kInk, Align::kCenter);
  }
  auto filled = counts.nonzero();
  for (int64_t i = 0; i < filled.size(0); ++i) {
    auto row = filled[i][0].item<int64_t>(), column = filled[i][1].item<int64_t>();
    auto count = std::to_string(counts[row][column].item<int64_t>());
    canvas.text(kTop + row * kCell + 18, kLeft + column * kCell + 25, count, 20, kWhite, Align::kCenter);
  }
}

// The first eight misclassified images, two in a row.
void draw_misread(Canvas& canvas, const torch::Tensor& predicted, const Digits& test) {
  canvas.text(kTop - 34, 620, "misread", 20, kInk);
  auto wrong = predicted.ne(test.labels).nonzero().view(-1);
  for (int64_t i = 0; i < std::min<int64_t>(wrong.size(0), 8); ++i) {
    auto row = wrong[i].item<int64_t>();
    auto y = kTop + i / 2 * 124, x = 620 + i % 2 * 110;
    auto digit = std::to_string(test.labels[row].item<int64_t>()), said = std::to_string(predicted[row].item<int64_t>());
    canvas.fill({y, x, 76, 76}, kGrid);
    canvas.squares(y + 2, x + 2, blend(kWhite, kInk, test.images[row][0]), 9);
    canvas.text(y + 84, x + 38, digit + " as " + said, 20, kRed, Align::kCenter);
  }
}

}  // namespace

void draw_confusion(const torch::Tensor& logits, const Digits& test, const std::string& path) {
  auto counts = confusion_matrix(logits, test.labels);
  char title[64];
  auto images = static_cast<int>(test.labels.size(0));
  std::snprintf(title, sizeof title, "%.2f %% of %d digits read right", 100 * accuracy(logits, test.labels), images);
  Canvas canvas(path, 660, 860);
  canvas.text(24, 430, title, 30, kInk, Align::kCenter);
  canvas.text(kTop - 34, kLeft, "digit", 20, kInk);
  canvas.text(kTop + 10 * kCell + 36, kLeft + 5 * kCell, "what the model says", 20, kInk, Align::kCenter);
  draw_cells(canvas, counts);
  draw_numbers(canvas, counts);
  draw_misread(canvas, logits.argmax(1), test);
  canvas.finish();
}
