/* A custom operator and a custom derivative.
 *
 * `mine::smooth_step` is composed of other operators: it is differentiable, and C, C++ and Java can call it by name.
 * `round_through` has a straight-through derivative: it rounds, and passes the gradient unchanged. */
#include <rushlight/rushlight.h>
#include <stdio.h>

/* x * x * (3 - 2 x). The callback returns the status of a failed call; its message is kept. */
static int32_t smooth_step(void *ctx, const rlt_value *args, int64_t n_args, rlt_value *outs, int64_t n_outs) {
  (void)ctx, (void)n_args, (void)n_outs;
  const rlt_tensor *x = args[0].as.tensor;
  rlt_tensor *square = NULL, *twice = NULL, *rest = NULL, *result = NULL;
  int32_t status = rlt_tensor_mul_Tensor(x, x, &square);
  if (!status) status = rlt_tensor_mul_Scalar(x, RLT_INT(2), &twice);
  if (!status) status = rlt_tensor_rsub_Scalar(twice, RLT_INT(3), RLT_INT(1), &rest);
  if (!status) status = rlt_tensor_mul_Tensor(square, rest, &result);
  rlt_tensor_free(rest);
  rlt_tensor_free(twice);
  rlt_tensor_free(square);
  if (status) return status;
  /* Ownership of the handle is transferred with its value. */
  outs[0].tag = RLT_VALUE_TENSOR;
  outs[0].flags = RLT_VALUE_OWNED;
  outs[0].as.tensor = result;
  return RLT_OK;
}

static int32_t pass_through(void *ctx, const rlt_tensor *const *grads, int64_t n_outputs, rlt_tensor **results, int64_t n_inputs) {
  (void)ctx, (void)n_outputs, (void)n_inputs;
  return rlt_tensor_alias(grads[0], &results[0]);
}

static int32_t round_through(const rlt_tensor *x, rlt_tensor **out) {
  rlt_custom_function function = {sizeof function, "RoundThrough", NULL, pass_through, NULL, 1, 0, NULL};
  int32_t before = 0, recorded = 0;
  /* The forward runs without recording. */
  int32_t status = rlt_get_grad_enabled(&before);
  if (!status) status = rlt_set_grad_enabled(0);
  if (status) return status;
  status = rlt_tensor_round(x, out);
  rlt_set_grad_enabled(before);
  if (status) return status;
  const rlt_tensor *inputs[1] = {x}, *outputs[1] = {*out};
  status = rlt_custom_function_record(&function, inputs, 1, outputs, 1, NULL, &recorded);
  if (status) {
    rlt_tensor_free(*out);
    *out = NULL;
  }
  return status;
}

static void print(const char *what, const rlt_tensor *tensor) {
  void *data = NULL;
  int64_t count = 0;
  if (rlt_tensor_data_ptr(tensor, &data) || rlt_tensor_numel(tensor, &count)) return;
  printf("%s:", what);
  for (int64_t i = 0; i < count; ++i) printf(" %g", ((const float *)data)[i]);
  printf("\n");
}

/* Sums `y`, runs backward, prints the gradient of `x` and clears it. */
static int32_t print_gradient(const char *what, const rlt_tensor *y, rlt_tensor *x) {
  rlt_tensor *sum = NULL, *grad = NULL;
  int32_t status = rlt_tensor_sum(y, NULL, &sum);
  if (!status) status = rlt_tensor_backward(sum, NULL, 0, 0);
  if (!status) status = rlt_tensor_grad(x, &grad);
  if (!status) print(what, grad);
  rlt_tensor_free(grad);
  rlt_tensor_free(sum);
  return status ? status : rlt_tensor_set_grad(x, NULL);
}

static int32_t run(rlt_tensor *x, rlt_op *op) {
  rlt_value argument = {RLT_VALUE_TENSOR, 0, 0, {0}}, result;
  int64_t results = 0;
  rlt_tensor *rounded = NULL;
  argument.as.tensor = x;
  int32_t status = rlt_op_impl(op, RLT_KEY_COMPOSITE, smooth_step, NULL, NULL);
  if (!status) status = rlt_op_call("mine::smooth_step", "", &argument, 1, NULL, 0, &result, 1, &results);
  if (status) return status;
  print("smooth_step", result.as.tensor);
  status = print_gradient("its gradient", result.as.tensor, x);
  rlt_value_free(&result);
  if (!status) status = round_through(x, &rounded);
  if (status) return status;
  print("round_through", rounded);
  status = print_gradient("its gradient", rounded, x);
  rlt_tensor_free(rounded);
  return status;
}

int main(void) {
  const float values[3] = {0, 0.25f, 1};
  const int64_t size = 3;
  rlt_tensor *x = NULL;
  rlt_op *op = NULL;
  int32_t status = rlt_tensor_from_data(values, sizeof values, &size, 1, RLT_DTYPE_FLOAT32, &x);
  if (!status) status = rlt_tensor_set_requires_grad(x, 1);
  if (!status) status = rlt_op_define("mine::smooth_step(Tensor x) -> Tensor", &op);
  if (!status) status = run(x, op);
  if (status) fprintf(stderr, "%s\n", rlt_last_error_message());
  if (op) rlt_op_unregister(op);
  rlt_tensor_free(x);
  return status != RLT_OK;
}
