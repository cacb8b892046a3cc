#include "digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void check(int32_t status, const char* call) {
  if (status == RLT_OK) return;
  fprintf(stderr, "%s\n  %s\n", call, rlt_last_error_message());
  exit(1);
}

/* ---- Small chains ---- */

static rlt_scalar integer(int64_t value) {
  rlt_scalar scalar = {RLT_SCALAR_INT, 0, value, 0, 0};
  return scalar;
}

void advance(rlt_tensor** tensor, rlt_tensor* next) {
  rlt_tensor_free(*tensor);
  *tensor = next;
}

static rlt_tensor* to(const rlt_tensor* self, int32_t dtype) {
  rlt_tensor* out;
  TRY(rlt_tensor_to_dtype(self, dtype, 0, 0, NULL, &out));
  return out;
}

rlt_tensor* slice(const rlt_tensor* self, int64_t start, int64_t end) {
  rlt_tensor* out;
  TRY(rlt_tensor_slice_Tensor(self, 0, &start, &end, 1, &out));
  return out;
}

double number(const rlt_tensor* self) {
  rlt_scalar value;
  TRY(rlt_tensor_item(self, &value));
  return value.tag == RLT_SCALAR_FLOAT ? value.re : (double)value.i;
}

/* ---- Data ---- */

digits digits_load(const char* path) {
  rlt_state_dict* file;
  digits set;
  rlt_scalar sixteen = integer(16);
  TRY(rlt_state_dict_load(path, RLT_FORMAT_AUTO, &file));
  TRY(rlt_state_dict_get(file, "labels", &set.labels));
  TRY(rlt_state_dict_get(file, "images", &set.images));
  rlt_state_dict_free(file);
  advance(&set.images, to(set.images, RLT_DTYPE_FLOAT32));
  TRY(rlt_tensor_div_Scalar_(set.images, &sixteen));
  return set;
}

digits digits_rows(const digits* from, const rlt_tensor* rows) {
  digits set;
  TRY(rlt_tensor_index_select(from->images, 0, rows, &set.images));
  TRY(rlt_tensor_index_select(from->labels, 0, rows, &set.labels));
  return set;
}

void digits_free(digits* set) {
  rlt_tensor_free(set->images);
  rlt_tensor_free(set->labels);
}

/* ---- Model ---- */

const char* const parameter_names[PARAMETERS] = {"0.weight", "0.bias", "3.weight", "3.bias", "5.weight", "5.bias"};

model model_new(void) {
  static const int64_t widths[] = {64, 128, 64, 10};
  model self;
  for (int layer = 0; layer < 3; ++layer) {
    int64_t shape[2] = {widths[layer + 1], widths[layer]};
    double bound = 1 / sqrt((double)widths[layer]);
    rlt_tensor** weight = &self.parameters[2 * layer];
    rlt_tensor** bias = &self.parameters[2 * layer + 1];
    TRY(rlt_tensor_empty_memory_format(shape, 2, NULL, NULL, weight));
    TRY(rlt_tensor_uniform_(*weight, -bound, bound, NULL));
    TRY(rlt_tensor_empty_memory_format(shape, 1, NULL, NULL, bias));
    TRY(rlt_tensor_uniform_(*bias, -bound, bound, NULL));
  }
  for (int i = 0; i < PARAMETERS; ++i) TRY(rlt_tensor_set_requires_grad(self.parameters[i], 1));
  return self;
}

model model_load(const char* path) {
  rlt_state_dict* file;
  model self;
  TRY(rlt_state_dict_load(path, RLT_FORMAT_AUTO, &file));
  for (int i = 0; i < PARAMETERS; ++i) TRY(rlt_state_dict_get(file, parameter_names[i], &self.parameters[i]));
  rlt_state_dict_free(file);
  return self;
}

void model_save(const model* self, const char* path) {
  rlt_state_dict* file;
  TRY(rlt_state_dict_new(&file));
  for (int i = 0; i < PARAMETERS; ++i) TRY(rlt_state_dict_insert(file, parameter_names[i], self->parameters[i]));
  TRY(rlt_state_dict_save(file, path, RLT_FORMAT_AUTO));
  rlt_state_dict_free(file);
}

void model_free(model* self) {
  for (int i = 0; i < PARAMETERS; ++i) rlt_tensor_free(self->parameters[i]);
}

rlt_tensor* model_forward(const model* self, const rlt_tensor* images, int training) {
  rlt_tensor* const* p = self->parameters;
  rlt_tensor* x;
  rlt_tensor* next;
  TRY(rlt_tensor_linear(images, p[0], p[1], &x));
  TRY(rlt_tensor_relu(x, &next));
  advance(&x, next);
  TRY(rlt_tensor_dropout(x, 0.1, training, &next));
  advance(&x, next);
  TRY(rlt_tensor_linear(x, p[2], p[3], &next));
  advance(&x, next);
  TRY(rlt_tensor_relu(x, &next));
  advance(&x, next);
  TRY(rlt_tensor_linear(x, p[4], p[5], &next));
  advance(&x, next);
  return x;
}

/* ---- Evaluation ---- */

rlt_tensor* predict(const model* self, const digits* set) {
  const int64_t classes = 1;
  rlt_tensor* predicted;
  TRY(rlt_set_grad_enabled(0));
  rlt_tensor* scores = model_forward(self, set->images, 0);
  TRY(rlt_tensor_argmax(scores, &classes, 0, &predicted));
  rlt_tensor_free(scores);
  TRY(rlt_set_grad_enabled(1));
  return predicted;
}

double accuracy(const rlt_tensor* predicted, const rlt_tensor* labels) {
  const int32_t float64 = RLT_DTYPE_FLOAT64;
  rlt_tensor* right;
  rlt_tensor* share;
  TRY(rlt_tensor_eq_Tensor(predicted, labels, &right));
  TRY(rlt_tensor_mean(right, &float64, &share));
  double result = number(share);
  rlt_tensor_free(right);
  rlt_tensor_free(share);
  return result;
}

rlt_tensor* confusion_matrix(const rlt_tensor* predicted, const rlt_tensor* labels) {
  const int64_t cells = CLASSES * CLASSES;
  const int64_t shape[2] = {CLASSES, CLASSES};
  rlt_scalar one = integer(1);
  rlt_scalar classes = integer(CLASSES);
  rlt_tensor_options int64 = RLT_TENSOR_OPTIONS_INIT;
  rlt_tensor *row, *cell, *ones, *counts, *matrix;
  int64.dtype = RLT_DTYPE_INT64;
  TRY(rlt_tensor_mul_Scalar(labels, &classes, &row));
  TRY(rlt_tensor_add_Tensor(row, predicted, &one, &cell));
  TRY(rlt_tensor_ones_like(cell, NULL, NULL, &ones));
  TRY(rlt_tensor_zeros(&cells, 1, &int64, &counts));
  TRY(rlt_tensor_index_add_(counts, 0, cell, ones, &one));
  TRY(rlt_tensor_view(counts, shape, 2, &matrix));
  rlt_tensor_free(row);
  rlt_tensor_free(cell);
  rlt_tensor_free(ones);
  rlt_tensor_free(counts);
  return matrix;
}

void print_matrix(const rlt_tensor* counts) {
  void* data;
  TRY(rlt_tensor_data_ptr(counts, &data));
  const int64_t* cell = data;
  for (int row = 0; row < CLASSES; ++row) {
    fprintf(stderr, "%d |", row);
    for (int column = 0; column < CLASSES; ++column) fprintf(stderr, "%4lld", (long long)*cell++);
    fputc('\n', stderr);
  }
}
