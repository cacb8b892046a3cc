/* A chain of 1,000,000 recorded operators runs forward, backward, and is freed without a deep stack. */
#include "check.h"

static rlt_tensor *chain(rlt_tensor *start, long length) {
  rlt_scalar one = integer(1);
  rlt_tensor *last = NULL;
  OK(rlt_tensor_retain(start, &last));
  for (long index = 0; index < length; index++) {
    rlt_tensor *next = NULL;
    OK(rlt_tensor_add_Scalar(last, &one, &one, &next));
    rlt_tensor_free(last);
    last = next;
  }
  return last;
}

int main(int argc, char **argv) {
  long length = argc > 1 ? atol(argv[1]) : 1000000;
  const float zero = 0;
  rlt_tensor *leaf = vector(&zero, 1), *grad = NULL;
  OK(rlt_tensor_set_requires_grad(leaf, 1));
  rlt_tensor *last = chain(leaf, length);
  CHECK(item(last) == (double)length);
  OK(rlt_tensor_backward(last, NULL, 0, 0));
  OK(rlt_tensor_grad(leaf, &grad));
  CHECK(item(grad) == 1);
  rlt_tensor_free(last);
  /* And one that never runs backward. */
  last = chain(leaf, length);
  rlt_tensor_free(last);
  rlt_tensor_free(grad);
  rlt_tensor_free(leaf);
  CHECK(live() == 0);
  return 0;
}
