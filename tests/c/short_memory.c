/* malloc fails from the first request of a call on, from the second on, and so on: the host never ends, every call succeeds or
   returns an out-of-memory error, no handle leaks, and once memory is available everything works again. */
#include "check.h"
#include <errno.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

/* Number of requests that still succeed; negative: all. */
static volatile long left = -1;

static int fails_now(void) {
  if (left > 0) --left;
  return left == 0;
}

void *malloc(size_t size) { return fails_now() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails_now() ? NULL : __libc_calloc(count, size); }
void *realloc(void *block, size_t size) { return fails_now() ? NULL : __libc_realloc(block, size); }
void *aligned_alloc(size_t alignment, size_t size) { return fails_now() ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void **block, size_t alignment, size_t size) {
  if (fails_now()) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return 0;
}

/* A product, its sum and their gradients; everything is freed in any case. */
static int32_t step(float *gradient) {
  const float values[] = {1, 2, 3, 4};
  const int64_t sizes[] = {2, 2};
  rlt_tensor *x = NULL, *product = NULL, *sum = NULL, *grad = NULL;
  void *data = NULL;
  int32_t status = rlt_tensor_from_data(values, sizeof values, sizes, 2, RLT_DTYPE_FLOAT32, &x);
  if (!status) status = rlt_tensor_set_requires_grad(x, 1);
  if (!status) status = rlt_tensor_mm(x, x, &product);
  if (!status) status = rlt_tensor_sum(product, NULL, &sum);
  if (!status) status = rlt_tensor_backward(sum, NULL, 0, 0);
  if (!status) status = rlt_tensor_grad(x, &grad);
  if (!status) status = rlt_tensor_data_ptr(grad, &data);
  if (!status) *gradient = ((const float *)data)[0];
  rlt_tensor_free(x);
  rlt_tensor_free(product);
  rlt_tensor_free(sum);
  rlt_tensor_free(grad);
  return status;
}

/* Another operator by name with a list, and an error with its message. */
static int32_t others(void) {
  rlt_value size = {RLT_VALUE_INT_LIST, 0, 2, {0}}, result = {RLT_VALUE_NONE, 0, 0, {0}};
  const int64_t sizes[] = {2, 3};
  rlt_tensor *wrong = NULL;
  int64_t count = 0;
  int32_t status;
  size.as.ints = sizes;
  status = rlt_op_call("aten::ones", "", &size, 1, NULL, 0, &result, 1, &count);
  if (!status) {
    int32_t error = rlt_tensor_mm(result.as.tensor, result.as.tensor, &wrong);
    CHECK(error == RLT_ERROR_RUNTIME || error == RLT_ERROR_OUT_OF_MEMORY);
  }
  rlt_value_free(&result);
  return status;
}

int main(void) {
  long n, failed = 0;
  float gradient = 0, expected = 0;
  int warm;
  for (warm = 0; warm < 2; ++warm) {
    for (n = 1; n < 400; ++n) {
      int32_t first, second;
      left = n;
      first = step(&gradient);
      second = others();
      left = -1;
      CHECK(first == RLT_OK || first == RLT_ERROR_OUT_OF_MEMORY);
      CHECK(second == RLT_OK || second == RLT_ERROR_OUT_OF_MEMORY);
      failed += first != RLT_OK;
      CHECK(live() == 0);
    }
    /* Again, after the first calls of the process have initialized everything. */
    OK(step(&expected));
    CHECK(expected == 7);
    OK(others());
  }
  CHECK(failed > 0);
  printf("memory ran out in %ld steps, and none ended the program\n", failed);
  return 0;
}
