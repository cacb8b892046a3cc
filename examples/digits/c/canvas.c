#include "canvas.h"

#include <stdlib.h>

#include "digits.h"

canvas canvas_new(const char* path, int64_t height, int64_t width) {
  canvas self = {fopen(path, "w")};
  if (!self.file) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fprintf(self.file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" font-family=\"monospace\">\n",
          (long long)width, (long long)height);
  const area all = {0, 0, height, width};
  const color white = {255, 255, 255};
  canvas_fill(&self, all, white);
  return self;
}

void canvas_finish(canvas* self) {
  fprintf(self->file, "</svg>\n");
  const int failed = ferror(self->file);
  if (fclose(self->file) || failed) {
    fprintf(stderr, "cannot write a picture\n");
    exit(1);
  }
}

void canvas_fill(canvas* self, area where, color ink) {
  fprintf(self->file, "<rect x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" fill=\"#%02x%02x%02x\"/>\n", (long long)where.x,
          (long long)where.y, (long long)where.width, (long long)where.height, ink.red, ink.green, ink.blue);
}

void canvas_text(canvas* self, int64_t y, int64_t x, const char* text, int size, color ink, align align) {
  static const char* const anchors[] = {"start", "middle", "end"};
  /* A capital letter is 0.7 times as high as the font. */
  fprintf(self->file, "<text x=\"%lld\" y=\"%lld\" font-size=\"%d\" text-anchor=\"%s\" fill=\"#%02x%02x%02x\">%s</text>\n", (long long)x,
          (long long)y + size * 7 / 10, size, anchors[align], ink.red, ink.green, ink.blue, text);
}

void canvas_squares(canvas* self, int64_t y, int64_t x, const rlt_tensor* colors, int64_t size) {
  const int64_t *sizes, *strides;
  int64_t ndim;
  void* data;
  rlt_tensor* rounded;
  TRY(rlt_tensor_round(colors, &rounded));
  STEP(rounded, rlt_tensor_to_dtype(rounded, RLT_DTYPE_INT64, 0, 0, NULL, &next));
  STEP(rounded, rlt_tensor_contiguous(rounded, RLT_MEMORY_FORMAT_CONTIGUOUS, &next));
  TRY(rlt_tensor_geometry(rounded, &sizes, &strides, &ndim));
  TRY(rlt_tensor_data_ptr(rounded, &data));
  const int64_t* channel = data;
  for (int64_t row = 0; row < sizes[0]; ++row) {
    for (int64_t column = 0; column < sizes[1]; ++column, channel += 3) {
      const area square = {y + row * size, x + column * size, size, size};
      const color ink = {(int)channel[0], (int)channel[1], (int)channel[2]};
      canvas_fill(self, square, ink);
    }
  }
  rlt_tensor_free(rounded);
}

/* The points of a curve: float64 [n, 2], x before y. */
static rlt_tensor* points_of(area where, const rlt_tensor* values, double low, double high) {
  int64_t count;
  rlt_tensor *x, *y, *points;
  TRY(rlt_tensor_numel(values, &count));
  TRY(rlt_tensor_to_dtype(values, RLT_DTYPE_FLOAT64, 0, 0, NULL, &y));
  STEP(y, rlt_tensor_rsub_Scalar(y, RLT_FLOAT(high), RLT_INT(1), &next));
  STEP(y, rlt_tensor_mul_Scalar(y, RLT_FLOAT((double)where.height / (high - low)), &next));
  STEP(y, rlt_tensor_clamp(y, RLT_INT(0), RLT_INT(where.height), &next));
  STEP(y, rlt_tensor_add_Scalar(y, RLT_INT(where.y), RLT_INT(1), &next));
  TRY(rlt_tensor_arange_start(RLT_INT(1), RLT_INT(count + 1), NULL, &x));
  STEP(x, rlt_tensor_to_dtype(x, RLT_DTYPE_FLOAT64, 0, 0, NULL, &next));
  STEP(x, rlt_tensor_mul_Scalar(x, RLT_FLOAT((double)where.width / (double)count), &next));
  STEP(x, rlt_tensor_add_Scalar(x, RLT_INT(where.x), RLT_INT(1), &next));
  const rlt_tensor* const both[2] = {x, y};
  TRY(rlt_tensor_stack(both, 2, 1, &points));
  rlt_tensor_free(x);
  rlt_tensor_free(y);
  return points;
}

void canvas_curve(canvas* self, area where, const rlt_tensor* values, double low, double high, int thickness, color ink) {
  int64_t count;
  void* data;
  rlt_tensor* points = points_of(where, values, low, high);
  /* Tenths of a pixel; rounding here, not in printf, gives every language the same digits. */
  STEP(points, rlt_tensor_round_decimals(points, 1, &next));
  TRY(rlt_tensor_numel(points, &count));
  TRY(rlt_tensor_data_ptr(points, &data));
  const double* point = data;
  fprintf(self->file, "<polyline fill=\"none\" stroke=\"#%02x%02x%02x\" stroke-width=\"%d\" stroke-linejoin=\"round\" points=\"", ink.red,
          ink.green, ink.blue, thickness);
  for (int64_t i = 0; i < count; i += 2) fprintf(self->file, "%s%.1f,%.1f", i ? " " : "", point[i], point[i + 1]);
  fprintf(self->file, "\"/>\n");
  rlt_tensor_free(points);
}

static rlt_tensor* color_tensor(color ink) {
  const float values[3] = {(float)ink.red, (float)ink.green, (float)ink.blue};
  const int64_t three = 3;
  rlt_tensor* out;
  TRY(rlt_tensor_from_data(values, sizeof values, &three, 1, RLT_DTYPE_FLOAT32, &out));
  return out;
}

rlt_tensor* blend(color from, color to, const rlt_tensor* weight) {
  rlt_tensor *start = color_tensor(from), *end = color_tensor(to), *channels, *out;
  TRY(rlt_tensor_unsqueeze(weight, 2, &channels));
  TRY(rlt_tensor_lerp_Tensor(start, end, channels, &out));
  rlt_tensor_free(start);
  rlt_tensor_free(end);
  rlt_tensor_free(channels);
  return out;
}
