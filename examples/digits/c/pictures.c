/* Pictures, made with operators and written with stb_image_write. */
#include "digits.h"

#include <stdio.h>
#include <stdlib.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include "../../third_party/stb_image_write.h"

void write_picture(const rlt_tensor* shares, const char* path) {
  /* What full ink takes from white in red, green and blue. */
  static const float ink[3] = {223, 160, 66};
  const int64_t three = 3;
  const rlt_scalar white = {RLT_SCALAR_INT, 0, 255, 0, 0};
  const rlt_scalar one = {RLT_SCALAR_INT, 0, 1, 0, 0};
  const int64_t *sizes, *strides;
  int64_t ndim;
  rlt_tensor *color, *picture, *next;
  void* pixels;
  TRY(rlt_tensor_from_data(ink, sizeof ink, &three, 1, RLT_DTYPE_FLOAT32, &color));
  TRY(rlt_tensor_unsqueeze(shares, 2, &picture));
  TRY(rlt_tensor_mul_Tensor(picture, color, &next));
  advance(&picture, next);
  TRY(rlt_tensor_rsub_Scalar(picture, &white, &one, &next));
  advance(&picture, next);
  TRY(rlt_tensor_to_dtype(picture, RLT_DTYPE_UINT8, 0, 0, NULL, &next));
  advance(&picture, next);
  TRY(rlt_tensor_geometry(picture, &sizes, &strides, &ndim));
  TRY(rlt_tensor_data_ptr(picture, &pixels));
  if (!stbi_write_png(path, (int)sizes[1], (int)sizes[0], 3, pixels, (int)strides[0])) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  rlt_tensor_free(color);
  rlt_tensor_free(picture);
}

void draw_confusion(const rlt_tensor* counts, const char* path) {
  enum { CELL = 32 };
  const int64_t columns = 1;
  const int64_t apart[4] = {CLASSES, 1, CLASSES, 1};
  const int64_t enlarged[4] = {CLASSES, CELL, CLASSES, CELL};
  const int64_t joined[2] = {CLASSES * CELL, CLASSES * CELL};
  rlt_tensor *total, *shares, *next;
  TRY(rlt_tensor_sum_dim_IntList(counts, &columns, 1, 1, NULL, &total));
  TRY(rlt_tensor_div_Tensor(counts, total, &shares));
  TRY(rlt_tensor_view(shares, apart, 4, &next));
  advance(&shares, next);
  TRY(rlt_tensor_expand(shares, enlarged, 4, 0, &next));
  advance(&shares, next);
  TRY(rlt_tensor_reshape(shares, joined, 2, &next));
  advance(&shares, next);
  write_picture(shares, path);
  rlt_tensor_free(total);
  rlt_tensor_free(shares);
}

/* One bar per step, as high as the loss. */
void draw_losses(const rlt_tensor* losses, const char* path) {
  const rlt_scalar height = {RLT_SCALAR_INT, 0, 160, 0, 0};
  const rlt_scalar bottom = {RLT_SCALAR_INT, 0, 0, 0, 0};
  const rlt_scalar down = {RLT_SCALAR_INT, 0, -1, 0, 0};
  rlt_tensor *highest, *bars, *rows, *filled, *next;
  TRY(rlt_tensor_max(losses, &highest));
  TRY(rlt_tensor_div_Tensor(losses, highest, &bars));
  TRY(rlt_tensor_mul_Scalar_(bars, &height));
  TRY(rlt_tensor_arange_start_step(&height, &bottom, &down, NULL, &rows));
  TRY(rlt_tensor_unsqueeze(rows, 1, &next));
  advance(&rows, next);
  TRY(rlt_tensor_le_Tensor(rows, bars, &filled));
  TRY(rlt_tensor_to_dtype(filled, RLT_DTYPE_FLOAT32, 0, 0, NULL, &next));
  advance(&filled, next);
  write_picture(filled, path);
  rlt_tensor_free(highest);
  rlt_tensor_free(bars);
  rlt_tensor_free(rows);
  rlt_tensor_free(filled);
}
