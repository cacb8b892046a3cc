#include "pictures.h"

#include <stdio.h>
#include <string.h>

#include "canvas.h"
#include "model.h"

static const color INK = {40, 44, 52}, GREY = {120, 126, 136}, GRID = {228, 231, 236}, PAPER = {244, 246, 249}, WHITE = {255, 255, 255};
static const color BLUE = {28, 94, 184}, PALE = {176, 205, 240}, RED = {208, 62, 48};

static void fill(canvas* paper, int64_t y, int64_t x, int64_t height, int64_t width, color ink) {
  area where = {y, x, height, width};
  canvas_fill(paper, where, ink);
}

static void number_text(canvas* paper, int64_t y, int64_t x, int64_t value, color ink, align align) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)value);
  canvas_text(paper, y, x, text, 20, ink, align);
}

/* ---- The learning curve ---- */

/* A plot: its area, and the values at its bottom and top. */
typedef struct axes {
  area where;
  double low, high;
} axes;

typedef struct tick {
  const char* label;
  double value;
} tick;

static void draw_axes(canvas* paper, const axes* axes, const char* title, const tick* ticks, int count, int64_t epochs) {
  const area a = axes->where;
  canvas_text(paper, a.y - 34, a.x, title, 20, INK, LEFT);
  for (int i = 0; i < count; ++i) {
    int64_t at = a.y + (int64_t)((axes->high - ticks[i].value) / (axes->high - axes->low) * (double)a.height);
    fill(paper, at, a.x, 1, a.width, GRID);
    canvas_text(paper, at - 7, a.x - 10, ticks[i].label, 20, GREY, RIGHT);
  }
  for (int64_t epoch = 0; epoch <= epochs; ++epoch) fill(paper, a.y + a.height, a.x + epoch * a.width / epochs, 6, 1, GREY);
  fill(paper, a.y, a.x - 1, a.height, 1, GREY);
  fill(paper, a.y + a.height, a.x - 1, 1, a.width + 1, GREY);
}

static void draw_curve(canvas* paper, const axes* axes, const rlt_tensor* values, int thickness, color ink) {
  canvas_curve(paper, axes->where, values, axes->low, axes->high, thickness, ink);
}

/* A curve of logarithms: the plot of the losses counts powers of ten. */
static void draw_loss(canvas* paper, const axes* axes, const rlt_tensor* losses, int thickness, color ink) {
  rlt_tensor* powers;
  TRY(rlt_tensor_log10(losses, &powers));
  draw_curve(paper, axes, powers, thickness, ink);
  rlt_tensor_free(powers);
}

/* A line of a legend; returns the position of the next one. */
static int64_t draw_key(canvas* paper, int64_t y, int64_t x, const char* label, color ink) {
  fill(paper, y + 5, x, 4, 28, ink);
  canvas_text(paper, y, x + 38, label, 20, INK, LEFT);
  return x + 68 + 12 * (int64_t)strlen(label);
}

static rlt_tensor* epoch_means(const history* run) {
  const int64_t shape[2] = {run->epochs, run->batches}, batches = 1;
  rlt_tensor* means;
  TRY(rlt_tensor_view(run->losses, shape, 2, &means));
  STEP(means, rlt_tensor_mean_dim(means, &batches, 1, 0, NULL, &next));
  return means;
}

void draw_curves(const history* run, const char* path) {
  static const tick powers[] = {{"1", 0}, {"0.1", -1}, {"0.01", -2}, {"0.001", -3}};
  static const tick percents[] = {{"80 %", 80}, {"85 %", 85}, {"90 %", 90}, {"95 %", 95}, {"100 %", 100}};
  const axes loss = {{110, 90, 260, 840}, -3, 0.5}, accuracy = {{430, 90, 170, 840}, 80, 100};
  rlt_tensor *means = epoch_means(run), *shares;
  canvas paper = canvas_new(path, 680, 960);
  canvas_text(&paper, 24, 480, "Learning curve", 30, INK, CENTER);

  draw_axes(&paper, &loss, "loss", powers, 4, run->epochs);
  int64_t key = draw_key(&paper, 76, 260, "training batch", PALE);
  key = draw_key(&paper, 76, key, "mean of the epoch", BLUE);
  draw_key(&paper, 76, key, "test", RED);
  draw_loss(&paper, &loss, run->losses, 2, PALE);
  draw_loss(&paper, &loss, means, 3, BLUE);
  draw_loss(&paper, &loss, run->test_losses, 3, RED);

  draw_axes(&paper, &accuracy, "test accuracy", percents, 5, run->epochs);
  TRY(rlt_tensor_mul_Scalar(run->test_accuracies, RLT_INT(100), &shares));
  draw_curve(&paper, &accuracy, shares, 3, RED);
  for (int64_t epoch = 0; epoch <= run->epochs; ++epoch) number_text(&paper, 614, 90 + epoch * 840 / run->epochs, epoch, GREY, CENTER);
  canvas_text(&paper, 646, 510, "epoch", 20, INK, CENTER);
  canvas_finish(&paper);
  rlt_tensor_free(means);
  rlt_tensor_free(shares);
}

/* ---- The confusion matrix ---- */

enum { TOP = 110, LEFT_SIDE = 80, CELL = 48 };

/* The cells: blue on the diagonal, as strong as the share of the row; red elsewhere, saturating early. */
static void draw_cells(canvas* paper, const rlt_tensor* counts) {
  const int64_t columns = 1;
  rlt_tensor_options truth = RLT_TENSOR_OPTIONS_INIT;
  rlt_tensor *total, *share, *strong, *diagonal, *cells;
  truth.dtype = RLT_DTYPE_BOOL;
  TRY(rlt_tensor_sum_dim_IntList(counts, &columns, 1, 1, NULL, &total));
  TRY(rlt_tensor_div_Tensor(counts, total, &share));
  TRY(rlt_tensor_mul_Scalar(share, RLT_INT(20), &strong));
  STEP(strong, rlt_tensor_clamp_max(strong, RLT_INT(1), &next));
  TRY(rlt_tensor_eye(CLASSES, &truth, &diagonal));
  STEP(diagonal, rlt_tensor_unsqueeze(diagonal, 2, &next));
  rlt_tensor *right = blend(PAPER, BLUE, share), *wrong = blend(PAPER, RED, strong);
  TRY(rlt_tensor_where_self(diagonal, right, wrong, &cells));
  canvas_squares(paper, TOP, LEFT_SIDE, cells, CELL);
  rlt_tensor* const mine[] = {total, share, strong, diagonal, right, wrong, cells};
  for (size_t i = 0; i < sizeof mine / sizeof *mine; ++i) rlt_tensor_free(mine[i]);
}

static void draw_numbers(canvas* paper, const rlt_tensor* counts) {
  void* data;
  TRY(rlt_tensor_data_ptr(counts, &data));
  const int64_t* count = data;
  for (int row = 0; row < CLASSES; ++row) {
    int64_t y = TOP + row * CELL, x = LEFT_SIDE + row * CELL;
    fill(paper, y, LEFT_SIDE, 2, CLASSES * CELL, WHITE);
    fill(paper, TOP, x, CLASSES * CELL, 2, WHITE);
    number_text(paper, y + 18, LEFT_SIDE - 14, row, INK, RIGHT);
    number_text(paper, TOP + CLASSES * CELL + 8, x + 24, row, INK, CENTER);
  }
  for (int row = 0; row < CLASSES; ++row) {
    for (int column = 0; column < CLASSES; ++column, ++count) {
      if (*count) number_text(paper, TOP + row * CELL + 18, LEFT_SIDE + column * CELL + 25, *count, WHITE, CENTER);
    }
  }
}

static void draw_image(canvas* paper, int64_t y, int64_t x, const digits* set, int64_t row) {
  rlt_tensor* image;
  TRY(rlt_tensor_select_int(set->images, 0, row, &image));
  STEP(image, rlt_tensor_select_int(image, 0, 0, &next));
  rlt_tensor* colors = blend(WHITE, INK, image);
  fill(paper, y, x, 76, 76, GRID);
  canvas_squares(paper, y + 2, x + 2, colors, 9);
  rlt_tensor_free(colors);
  rlt_tensor_free(image);
}

/* The first eight misclassified images, two in a row. */
static void draw_misread(canvas* paper, const rlt_tensor* logits, const digits* test) {
  const int64_t flat = -1;
  int64_t misread;
  rlt_tensor *predicted = predict(logits), *wrong;
  canvas_text(paper, TOP - 34, 620, "misread", 20, INK, LEFT);
  TRY(rlt_tensor_ne_Tensor(predicted, test->labels, &wrong));
  STEP(wrong, rlt_tensor_nonzero(wrong, &next));
  STEP(wrong, rlt_tensor_view(wrong, &flat, 1, &next));
  TRY(rlt_tensor_numel(wrong, &misread));
  for (int64_t i = 0; i < misread && i < 8; ++i) {
    char text[16];
    int64_t row = (int64_t)number_at(wrong, i), y = TOP + i / 2 * 124, x = 620 + i % 2 * 110;
    snprintf(text, sizeof text, "%.0f as %.0f", number_at(test->labels, row), number_at(predicted, row));
    draw_image(paper, y, x, test, row);
    canvas_text(paper, y + 84, x + 38, text, 20, RED, CENTER);
  }
  rlt_tensor_free(predicted);
  rlt_tensor_free(wrong);
}

void draw_confusion(const rlt_tensor* logits, const digits* test, const char* path) {
  char title[64];
  rlt_tensor* counts = confusion_matrix(logits, test->labels);
  canvas paper = canvas_new(path, 660, 860);
  snprintf(title, sizeof title, "%.2f %% of %d digits read right", 100 * accuracy(logits, test->labels), ALL_ROWS - TRAIN_ROWS);
  canvas_text(&paper, 24, 430, title, 30, INK, CENTER);
  canvas_text(&paper, TOP - 34, LEFT_SIDE, "digit", 20, INK, LEFT);
  canvas_text(&paper, TOP + CLASSES * CELL + 36, LEFT_SIDE + CLASSES * CELL / 2, "what the model says", 20, INK, CENTER);
  draw_cells(&paper, counts);
  draw_numbers(&paper, counts);
  draw_misread(&paper, logits, test);
  canvas_finish(&paper);
  rlt_tensor_free(counts);
}
