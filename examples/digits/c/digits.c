#include "digits.h"

#include <stdio.h>
#include <stdlib.h>

void check(int32_t status, const char* call) {
  if (status == RLT_OK) return;
  fprintf(stderr, "%s\n  %s\n", call, rlt_last_error_message());
  exit(1);
}

double number(const rlt_tensor* self) {
  rlt_scalar value;
  TRY(rlt_tensor_item(self, &value));
  return value.tag == RLT_SCALAR_FLOAT ? value.re : (double)value.i;
}

double number_at(const rlt_tensor* self, int64_t index) {
  rlt_tensor* element;
  TRY(rlt_tensor_select_int(self, 0, index, &element));
  double value = number(element);
  rlt_tensor_free(element);
  return value;
}

rlt_tensor* slice(const rlt_tensor* self, int64_t start, int64_t end) {
  rlt_tensor* out;
  TRY(rlt_tensor_slice_Tensor(self, 0, &start, &end, 1, &out));
  return out;
}

const char* path_in(const char* folder, const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

digits digits_load(const char* path) {
  const int64_t shape[4] = {-1, 1, 8, 8};
  rlt_state_dict* file;
  digits set;
  TRY(rlt_state_dict_load(path, RLT_FORMAT_AUTO, &file));
  TRY(rlt_state_dict_get(file, "labels", &set.labels));
  TRY(rlt_state_dict_get(file, "images", &set.images));
  rlt_state_dict_free(file);
  STEP(set.images, rlt_tensor_to_dtype(set.images, RLT_DTYPE_FLOAT32, 0, 0, NULL, &next));
  STEP(set.images, rlt_tensor_div_Scalar(set.images, RLT_INT(16), &next));
  STEP(set.images, rlt_tensor_view(set.images, shape, 4, &next));
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

void digits_split(const digits* all, digits* train, digits* test) {
  rlt_tensor* order;
  TRY(rlt_tensor_randperm(ALL_ROWS, NULL, &order));
  rlt_tensor* train_rows = slice(order, 0, TRAIN_ROWS);
  rlt_tensor* test_rows = slice(order, TRAIN_ROWS, ALL_ROWS);
  *train = digits_rows(all, train_rows);
  *test = digits_rows(all, test_rows);
  rlt_tensor_free(order);
  rlt_tensor_free(train_rows);
  rlt_tensor_free(test_rows);
}
