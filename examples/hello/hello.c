/* The derivative of the sum of x * x is 2 x. */
#include <rushlight/rushlight.h>
#include <stdio.h>

int main(void) {
  const float values[3] = {1, 2, 3};
  const int64_t size = 3;
  rlt_tensor *x = NULL, *square = NULL, *sum = NULL, *grad = NULL;
  void* result;
  int failed = rlt_tensor_from_data(values, sizeof values, &size, 1, RLT_DTYPE_FLOAT32, &x) ||
               rlt_tensor_set_requires_grad(x, 1) || rlt_tensor_mul_Tensor(x, x, &square) ||
               rlt_tensor_sum(square, NULL, &sum) || rlt_tensor_backward(sum, NULL, 0, 0) ||
               rlt_tensor_grad(x, &grad) || rlt_tensor_data_ptr(grad, &result);
  if (failed) fprintf(stderr, "%s\n", rlt_last_error_message());
  else for (int i = 0; i < size; ++i) printf("%g ", ((const float*)result)[i]);
  rlt_tensor_free(grad);
  rlt_tensor_free(sum);
  rlt_tensor_free(square);
  rlt_tensor_free(x);
  return failed;
}
