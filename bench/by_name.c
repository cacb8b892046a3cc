/* What a call by name costs: `add` of two tensors of 4 floats, by each entry of the C interface.
 *
 *     cc -O2 -Iinclude bench/by_name.c -Ltarget/release -lrushlight -o build/by_name
 *     LD_LIBRARY_PATH=target/release build/by_name
 *
 * Each figure is the median over short batches, in nanoseconds per call with the release of the result. To compare two
 * libraries, run it with both in turn. */
#include <rushlight/rushlight.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 4001, CALLS = 250 };

static rlt_tensor *a, *b;
static rlt_op *op;
static rlt_value args[2];

static void expect(int32_t status) {
  if (status) {
    fprintf(stderr, "%s\n", rlt_last_error_message());
    exit(1);
  }
}

static void typed(void) {
  rlt_tensor *out = NULL;
  expect(rlt_tensor_add_Tensor(a, b, RLT_INT(1), &out));
  rlt_tensor_free(out);
}

static void by_name(void) {
  rlt_value out;
  int64_t count;
  expect(rlt_op_call("aten::add", "Tensor", args, 2, NULL, 0, &out, 1, &count));
  rlt_value_free(&out);
}

static void by_handle(void) {
  rlt_value out;
  int64_t count;
  expect(rlt_op_invoke(op, args, 2, NULL, 0, &out, 1, &count));
  rlt_value_free(&out);
}

static int compare(const void *left, const void *right) {
  double x = *(const double *)left, y = *(const double *)right;
  return (x > y) - (x < y);
}

static void measure(const char *name, void (*call)(void)) {
  static double times[BATCHES];
  for (int batch = 0; batch < BATCHES; batch++) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < CALLS; i++) call();
    clock_gettime(CLOCK_MONOTONIC, &end);
    times[batch] = ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / CALLS;
  }
  qsort(times, BATCHES, sizeof *times, compare);
  printf("%-12s %7.1f ns (least %.1f)\n", name, times[BATCHES / 2], times[0]);
}

int main(void) {
  const float values[4] = {1, 2, 3, 4};
  const int64_t sizes[1] = {4};
  expect(rlt_tensor_from_data(values, sizeof values, sizes, 1, RLT_DTYPE_FLOAT32, &a));
  expect(rlt_tensor_from_data(values, sizeof values, sizes, 1, RLT_DTYPE_FLOAT32, &b));
  expect(rlt_op_find("aten::add", "Tensor", &op));
  memset(args, 0, sizeof args);
  args[0].tag = args[1].tag = RLT_VALUE_TENSOR;
  args[0].as.tensor = a;
  args[1].as.tensor = b;
  measure("typed", typed);
  measure("by name", by_name);
  measure("by handle", by_handle);
  /* A boxed layer that does nothing: it reports to the log, which is off. */
  expect(rlt_record_start(NULL, NULL));
  measure("boxed layer", typed);
  expect(rlt_record_stop());
  rlt_op_free(op);
  rlt_tensor_free(a);
  rlt_tensor_free(b);
  return 0;
}
