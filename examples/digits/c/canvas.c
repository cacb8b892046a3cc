#include "canvas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include "../../third_party/stb_image_write.h"

canvas canvas_new(const char* font, int64_t height, int64_t width) {
  const int64_t shape[3] = {height, width, 3};
  rlt_state_dict* file;
  canvas self;
  TRY(rlt_tensor_full(shape, 3, RLT_FLOAT(255), NULL, &self.pixels));
  TRY(rlt_state_dict_load(font, RLT_FORMAT_AUTO, &file));
  TRY(rlt_state_dict_get(file, "glyphs", &self.glyphs));
  rlt_state_dict_free(file);
  STEP(self.glyphs, rlt_tensor_to_dtype(self.glyphs, RLT_DTYPE_FLOAT32, 0, 0, NULL, &next));
  return self;
}

void canvas_finish(canvas* self, const char* path) {
  const int64_t *sizes, *strides;
  int64_t ndim;
  void* bytes;
  STEP(self->pixels, rlt_tensor_round(self->pixels, &next));
  STEP(self->pixels, rlt_tensor_to_dtype(self->pixels, RLT_DTYPE_UINT8, 0, 0, NULL, &next));
  TRY(rlt_tensor_geometry(self->pixels, &sizes, &strides, &ndim));
  TRY(rlt_tensor_data_ptr(self->pixels, &bytes));
  if (!stbi_write_png(path, (int)sizes[1], (int)sizes[0], 3, bytes, (int)strides[0])) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  rlt_tensor_free(self->pixels);
  rlt_tensor_free(self->glyphs);
}

/* A view: what is written into it is written into the canvas. */
static rlt_tensor* region(const canvas* self, area where) {
  rlt_tensor* view;
  TRY(rlt_tensor_narrow(self->pixels, 0, where.y, where.height, &view));
  STEP(view, rlt_tensor_narrow(view, 1, where.x, where.width, &next));
  return view;
}

/* The region at a place that is as high and as wide as another tensor. */
static rlt_tensor* region_for(const canvas* self, int64_t y, int64_t x, const rlt_tensor* like) {
  const int64_t *sizes, *strides;
  int64_t ndim;
  TRY(rlt_tensor_geometry(like, &sizes, &strides, &ndim));
  area where = {y, x, sizes[0], sizes[1]};
  return region(self, where);
}

rlt_tensor* color_tensor(color ink) {
  const float values[3] = {ink.red, ink.green, ink.blue};
  const int64_t three = 3;
  rlt_tensor* out;
  TRY(rlt_tensor_from_data(values, sizeof values, &three, 1, RLT_DTYPE_FLOAT32, &out));
  return out;
}

rlt_tensor* enlarge(const rlt_tensor* picture, int64_t size) {
  const int64_t rows = 0, columns = 1;
  rlt_tensor* out;
  TRY(rlt_tensor_repeat_interleave_self_int(picture, size, &rows, NULL, &out));
  STEP(out, rlt_tensor_repeat_interleave_self_int(out, size, &columns, NULL, &next));
  return out;
}

void canvas_fill(canvas* self, area where, color ink) {
  rlt_tensor *view = region(self, where), *paint = color_tensor(ink);
  TRY(rlt_tensor_copy_(view, paint, 0));
  rlt_tensor_free(view);
  rlt_tensor_free(paint);
}

void canvas_blend(canvas* self, int64_t y, int64_t x, const rlt_tensor* coverage, color ink) {
  rlt_tensor *view = region_for(self, y, x, coverage), *paint = color_tensor(ink), *weight;
  TRY(rlt_tensor_unsqueeze(coverage, 2, &weight));
  TRY(rlt_tensor_lerp_Tensor_(view, paint, weight));
  rlt_tensor_free(view);
  rlt_tensor_free(paint);
  rlt_tensor_free(weight);
}

void canvas_paste(canvas* self, int64_t y, int64_t x, const rlt_tensor* picture) {
  rlt_tensor* view = region_for(self, y, x, picture);
  TRY(rlt_tensor_copy_(view, picture, 0));
  rlt_tensor_free(view);
}

/* The letters of a text beside each other: [9, 6 * letters]. */
static rlt_tensor* typeset(const canvas* self, const char* text) {
  const int64_t length = (int64_t)strlen(text), rows_first[3] = {1, 0, 2}, joined[2] = {9, -1};
  rlt_tensor *codes, *letters;
  TRY(rlt_tensor_from_data(text, length, &length, 1, RLT_DTYPE_UINT8, &codes));
  STEP(codes, rlt_tensor_to_dtype(codes, RLT_DTYPE_INT64, 0, 0, NULL, &next));
  TRY(rlt_tensor_sub_Scalar_(codes, RLT_INT(' '), RLT_INT(1)));
  TRY(rlt_tensor_index_select(self->glyphs, 0, codes, &letters));
  STEP(letters, rlt_tensor_permute(letters, rows_first, 3, &next));
  STEP(letters, rlt_tensor_reshape(letters, joined, 2, &next));
  rlt_tensor_free(codes);
  return letters;
}

void canvas_text(canvas* self, int64_t y, int64_t x, const char* text, int scale, color ink, align align) {
  int64_t width = (6 * (int64_t)strlen(text) - 1) * scale; /* without the gap after the last letter */
  rlt_tensor *letters = typeset(self, text), *large = enlarge(letters, scale);
  canvas_blend(self, y, align == LEFT ? x : align == CENTER ? x - width / 2 : x - width, large, ink);
  rlt_tensor_free(letters);
  rlt_tensor_free(large);
}

/* How far below the top of the area each value is, and between values in each column, [columns + 2]. */
static rlt_tensor* heights(area where, int64_t columns, const rlt_tensor* values, double low, double high) {
  const int64_t one_row[3] = {1, 1, -1}, flat = -1, points = columns + 2;
  rlt_tensor* x;
  TRY(rlt_tensor_rsub_Scalar(values, RLT_FLOAT(high), RLT_INT(1), &x));
  STEP(x, rlt_tensor_div_Scalar(x, RLT_FLOAT(high - low), &next));
  STEP(x, rlt_tensor_mul_Scalar(x, RLT_INT(where.height), &next));
  STEP(x, rlt_tensor_clamp(x, RLT_INT(0), RLT_INT(where.height), &next));
  STEP(x, rlt_tensor_to_dtype(x, RLT_DTYPE_FLOAT32, 0, 0, NULL, &next));
  STEP(x, rlt_tensor_view(x, one_row, 3, &next));
  STEP(x, rlt_tensor_upsample_linear1d(x, &points, 1, /* align_corners */ 1, NULL, &next));
  STEP(x, rlt_tensor_view(x, &flat, 1, &next));
  return x;
}

/* How much of each pixel lies below `top` and above `bottom`, which have a number for each column: [height, columns]. */
static rlt_tensor* coverage_between(const rlt_tensor* top, const rlt_tensor* bottom, int64_t height) {
  rlt_tensor *row, *covered, *begin;
  TRY(rlt_tensor_arange(RLT_INT(height), NULL, &row));
  STEP(row, rlt_tensor_unsqueeze(row, 1, &next));
  TRY(rlt_tensor_maximum(row, top, &begin));
  TRY(rlt_tensor_add_Scalar(row, RLT_INT(1), RLT_INT(1), &covered));
  STEP(covered, rlt_tensor_minimum(covered, bottom, &next));
  STEP(covered, rlt_tensor_sub_Tensor(covered, begin, RLT_INT(1), &next));
  STEP(covered, rlt_tensor_clamp(covered, RLT_INT(0), RLT_INT(1), &next));
  rlt_tensor_free(row);
  rlt_tensor_free(begin);
  return covered;
}

void canvas_curve(canvas* self, area where, const rlt_tensor* values, double low, double high, double thickness, color ink) {
  const int64_t neighbors = 1;
  int64_t count;
  rlt_tensor *top, *bottom, *covered;
  TRY(rlt_tensor_numel(values, &count));
  int64_t start = where.width / count, columns = where.width - start;
  rlt_tensor* line = heights(where, columns, values, low, high);
  /* A column's line reaches from its own height to those of the next two, so that steep parts are as thick as flat ones. */
  STEP(line, rlt_tensor_unfold(line, 0, 3, 1, &next));
  TRY(rlt_tensor_amin(line, &neighbors, 1, 0, &top));
  TRY(rlt_tensor_amax(line, &neighbors, 1, 0, &bottom));
  TRY(rlt_tensor_sub_Scalar_(top, RLT_FLOAT(thickness / 2), RLT_INT(1)));
  TRY(rlt_tensor_add_Scalar_(bottom, RLT_FLOAT(thickness / 2), RLT_INT(1)));
  covered = coverage_between(top, bottom, where.height);
  canvas_blend(self, where.y, where.x + start, covered, ink);
  rlt_tensor_free(line);
  rlt_tensor_free(top);
  rlt_tensor_free(bottom);
  rlt_tensor_free(covered);
}
