/* Common parts of the C tests: checks that report their location, and short names for common calls. */
#ifndef RUSHLIGHT_TESTS_CHECK_H
#define RUSHLIGHT_TESTS_CHECK_H

#include <rushlight/rushlight.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the test unless the condition holds. */
#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition,                       \
              rlt_last_error_message());                                                                     \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

/* The call must succeed. */
#define OK(call) CHECK((call) == RLT_OK)

/* The call must fail with this code and a message that contains this string. */
#define FAILS(call, code, text)                                                                              \
  do {                                                                                                       \
    int32_t status_ = (call);                                                                                \
    if (status_ != (code) || rlt_last_error_code() != (code) ||                                              \
        strstr(rlt_last_error_message(), (text)) == NULL) {                                                  \
      fprintf(stderr, "%s:%d: %s\n  wanted %d with \"%s\"\n  got %d: %s\n", __FILE__, __LINE__, #call,       \
              (int)(code), (text), (int)status_, rlt_last_error_message());                                  \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

/* A float32 tensor of one dimension with these values. */
static inline rlt_tensor *vector(const float *values, int64_t count) {
  rlt_tensor *tensor = NULL;
  OK(rlt_tensor_from_data(values, count * (int64_t)sizeof(float), &count, 1, RLT_DTYPE_FLOAT32, &tensor));
  return tensor;
}

/* A float32 matrix with these values. */
static inline rlt_tensor *matrix(const float *values, int64_t rows, int64_t columns) {
  rlt_tensor *tensor = NULL;
  int64_t sizes[2];
  sizes[0] = rows;
  sizes[1] = columns;
  OK(rlt_tensor_from_data(values, rows * columns * (int64_t)sizeof(float), sizes, 2, RLT_DTYPE_FLOAT32, &tensor));
  return tensor;
}

/* The value of a tensor with one element. */
static inline double item(const rlt_tensor *tensor) {
  rlt_scalar value;
  OK(rlt_tensor_item(tensor, &value));
  return value.tag == RLT_SCALAR_FLOAT ? value.re : (double)value.i;
}

/* A real number. */
static inline rlt_scalar number(double value) {
  rlt_scalar scalar = {RLT_SCALAR_FLOAT, 0, 0, 0.0, 0.0};
  scalar.re = value;
  return scalar;
}

/* An integer. */
static inline rlt_scalar integer(int64_t value) {
  rlt_scalar scalar = {RLT_SCALAR_INT, 0, 0, 0.0, 0.0};
  scalar.i = value;
  return scalar;
}

/* The values of a contiguous float32 tensor. */
static inline const float *floats(const rlt_tensor *tensor) {
  void *data = NULL;
  OK(rlt_tensor_data_ptr(tensor, &data));
  return (const float *)data;
}

/* Number of live handles. */
static inline int64_t live(void) {
  int64_t count = -1;
  OK(rlt_live_handles(&count));
  return count;
}

#endif /* RUSHLIGHT_TESTS_CHECK_H */
