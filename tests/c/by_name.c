/* Operators by name, defaults and keyword arguments, operators defined at run time, recording. */
#include "check.h"

static rlt_value of_tensor(rlt_tensor *tensor) {
  rlt_value value;
  memset(&value, 0, sizeof value);
  value.tag = RLT_VALUE_TENSOR;
  value.as.tensor = tensor;
  return value;
}

static rlt_value of_int(int64_t i) {
  rlt_value value;
  memset(&value, 0, sizeof value);
  value.tag = RLT_VALUE_INT;
  value.as.i = i;
  return value;
}

static rlt_value of_float(double f) {
  rlt_value value;
  memset(&value, 0, sizeof value);
  value.tag = RLT_VALUE_FLOAT;
  value.as.f = f;
  return value;
}

static void built_in(void) {
  const float values[4] = {4, 1, 3, 2};
  rlt_tensor *a = matrix(values, 2, 2);
  rlt_value args[2], outs[2];
  rlt_named_value kwargs[1];
  int64_t n = -1;

  args[0] = of_tensor(a);
  args[1] = of_tensor(a);
  OK(rlt_op_call("aten::add", "Tensor", args, 2, NULL, 0, outs, 2, &n));
  CHECK(n == 1 && outs[0].tag == RLT_VALUE_TENSOR && outs[0].flags == RLT_VALUE_OWNED);
  CHECK(floats(outs[0].as.tensor)[0] == 8);
  rlt_value_free(&outs[0]);
  CHECK(outs[0].tag == RLT_VALUE_NONE);

  kwargs[0].name = "alpha";
  kwargs[0].value = of_int(10);
  OK(rlt_op_call("add", "Tensor", args, 2, kwargs, 1, outs, 2, &n));
  CHECK(floats(outs[0].as.tensor)[1] == 11);
  rlt_value_free(&outs[0]);

  args[1] = of_int(1);
  OK(rlt_op_call("aten::max", "dim", args, 2, NULL, 0, outs, 2, &n));
  CHECK(n == 2 && floats(outs[0].as.tensor)[0] == 4);
  /* To keep a tensor, take it out of the value. */
  rlt_tensor *kept = outs[0].as.tensor;
  outs[0].tag = RLT_VALUE_NONE;
  rlt_value_free(&outs[0]);
  rlt_value_free(&outs[1]);
  CHECK(floats(kept)[1] == 3);
  rlt_tensor_free(kept);

  /* A list argument, and a list result. */
  rlt_tensor *both[2];
  both[0] = a;
  both[1] = a;
  memset(args, 0, sizeof args);
  args[0].tag = RLT_VALUE_TENSOR_LIST;
  args[0].len = 2;
  args[0].as.tensors = both;
  OK(rlt_op_call("cat", NULL, args, 1, NULL, 0, outs, 2, &n));
  int64_t numel = 0;
  OK(rlt_tensor_numel(outs[0].as.tensor, &numel));
  CHECK(numel == 8);
  rlt_value_free(&outs[0]);

  FAILS(rlt_op_call("aten::no_such_operator", "", args, 1, NULL, 0, outs, 2, &n), RLT_ERROR_UNKNOWN_OPERATOR,
        "there is no operator 'aten::no_such_operator'");
  FAILS(rlt_op_call("aten::add", "Nothing", args, 1, NULL, 0, outs, 2, &n), RLT_ERROR_UNKNOWN_OPERATOR,
        "operator 'aten::add' has no overload 'Nothing'; it has: ");
  args[0] = of_tensor(a);
  FAILS(rlt_op_call("aten::add", "Tensor", args, 1, NULL, 0, outs, 2, &n), RLT_ERROR_TYPE, "missing value for argument 'other'");
  kwargs[0].name = "beta";
  args[1] = of_tensor(a);
  FAILS(rlt_op_call("aten::add", "Tensor", args, 2, kwargs, 1, outs, 2, &n), RLT_ERROR_TYPE,
        "unexpected keyword argument 'beta'");
  args[1] = of_int(0);
  n = 77;
  FAILS(rlt_op_call("aten::max", "dim", args, 2, NULL, 0, outs, 1, &n), RLT_ERROR_VALUE,
        "the operator returns 2 values, but outs_capacity is 1");
  CHECK(n == 77);
  args[1].tag = 1234;
  FAILS(rlt_op_call("aten::max", "dim", args, 2, NULL, 0, outs, 2, &n), RLT_ERROR_TYPE, "1234 is not the tag of a value");

  rlt_value text;
  OK(rlt_op_schema("aten::relu", "", &text));
  CHECK(text.tag == RLT_VALUE_STRING && strstr(text.as.string, "relu(Tensor self) -> Tensor") != NULL);
  rlt_value copy;
  OK(rlt_value_copy(&text, &copy));
  CHECK(copy.as.string != text.as.string && strcmp(copy.as.string, text.as.string) == 0);
  rlt_value_free(&copy);
  rlt_value_free(&text);
  int64_t count = 0;
  OK(rlt_op_count(&count));
  CHECK(count > 40);
  for (int64_t index = 0; index < count; index++) {
    OK(rlt_op_at(index, &text));
    CHECK(strchr(text.as.string, '(') != NULL);
    rlt_value_free(&text);
  }
  FAILS(rlt_op_at(count, &text), RLT_ERROR_INDEX, "there is no operator at index");
  rlt_tensor_free(a);
}

/* scale * self, in C. */
static int32_t scaled(void *ctx, const rlt_value *args, int64_t n_args, rlt_value *outs, int64_t n_outs) {
  ++*(int *)ctx;
  if (n_args != 2 || n_outs != 1 || args[0].tag != RLT_VALUE_TENSOR || args[1].tag != RLT_VALUE_FLOAT)
    return rlt_set_last_error(RLT_ERROR_TYPE, "scaled: unexpected arguments");
  if (args[1].as.f < 0) return rlt_set_last_error(RLT_ERROR_VALUE, "scaled: scale must not be negative");
  rlt_scalar scale = number(args[1].as.f);
  rlt_tensor *result = NULL;
  int32_t status = rlt_tensor_mul_Scalar(args[0].as.tensor, &scale, &result);
  if (status != RLT_OK) return status;
  outs[0].tag = RLT_VALUE_TENSOR;
  outs[0].flags = RLT_VALUE_OWNED;
  outs[0].as.tensor = result;
  return RLT_OK;
}

static int32_t silent_failure(void *ctx, const rlt_value *args, int64_t n_args, rlt_value *outs, int64_t n_outs) {
  (void)ctx, (void)args, (void)n_args, (void)outs, (void)n_outs;
  return 99;
}

static void count_call(void *ctx) { ++*(int *)ctx; }

static void run_time(void) {
  const float values[2] = {1, 2};
  rlt_tensor *a = vector(values, 2);
  rlt_value args[2], outs[1];
  int64_t n = 0;
  int calls = 0, deleted = 0;
  rlt_op *op = NULL;

  FAILS(rlt_op_define("scaled(Tensor self) -> Tensor", &op), RLT_ERROR_VALUE, "namespace");
  FAILS(rlt_op_define("mine::scaled(Tensor self", &op), RLT_ERROR_VALUE, "mine::scaled");
  OK(rlt_op_define("mine::scaled(Tensor self, float scale=2) -> Tensor", &op));
  rlt_op *twice = NULL;
  FAILS(rlt_op_define("mine::scaled(Tensor self, float scale=2) -> Tensor", &twice), RLT_ERROR_RUNTIME, "defined already");
  args[0] = of_tensor(a);
  FAILS(rlt_op_call("mine::scaled", "", args, 1, NULL, 0, outs, 1, &n), RLT_ERROR_NOT_IMPLEMENTED,
        "no kernel for operator mine::scaled");
  FAILS(rlt_op_impl(op, 55, scaled, &calls, NULL), RLT_ERROR_VALUE, "unknown dispatch key 55");
  OK(rlt_op_impl(op, RLT_KEY_COMPOSITE, scaled, &calls, NULL));
  OK(rlt_op_call("mine::scaled", "", args, 1, NULL, 0, outs, 1, &n));
  CHECK(calls == 1 && n == 1 && floats(outs[0].as.tensor)[1] == 4);
  rlt_value_free(&outs[0]);
  args[1] = of_float(-1);
  FAILS(rlt_op_call("mine::scaled", "", args, 2, NULL, 0, outs, 1, &n), RLT_ERROR_VALUE, "scale must not be negative");

  /* A composite operator is differentiable. */
  OK(rlt_tensor_set_requires_grad(a, 1));
  args[1] = of_float(3);
  OK(rlt_op_call("mine::scaled", "", args, 2, NULL, 0, outs, 1, &n));
  rlt_tensor *sum = NULL, *grad = NULL;
  OK(rlt_tensor_sum(outs[0].as.tensor, NULL, &sum));
  OK(rlt_tensor_backward(sum, NULL, 0, 0));
  OK(rlt_tensor_grad(a, &grad));
  CHECK(floats(grad)[0] == 3 && floats(grad)[1] == 3);
  rlt_tensor_free(grad);
  rlt_tensor_free(sum);
  rlt_value_free(&outs[0]);

  OK(rlt_op_impl(op, RLT_KEY_COMPOSITE, silent_failure, &deleted, count_call));
  FAILS(rlt_op_call("mine::scaled", "", args, 2, NULL, 0, outs, 1, &n), RLT_ERROR_CALLBACK,
        "the callback of mine::scaled failed with status 99");
  CHECK(deleted == 0);
  OK(rlt_op_unregister(op));
  CHECK(deleted == 1);
  FAILS(rlt_op_call("mine::scaled", "", args, 2, NULL, 0, outs, 1, &n), RLT_ERROR_UNKNOWN_OPERATOR, "mine::scaled");
  rlt_tensor_free(a);
}

/* An operator with a CPU kernel, a meta kernel, and a custom derivative: square. */
static int32_t square_on_cpu(void *ctx, const rlt_value *args, int64_t n_args, rlt_value *outs, int64_t n_outs) {
  (void)ctx, (void)n_args, (void)n_outs;
  outs[0].tag = RLT_VALUE_TENSOR;
  outs[0].flags = RLT_VALUE_OWNED;
  return rlt_tensor_mul_Tensor(args[0].as.tensor, args[0].as.tensor, &outs[0].as.tensor);
}

static int32_t square_on_meta(void *ctx, const rlt_value *args, int64_t n_args, rlt_value *outs, int64_t n_outs) {
  (void)ctx, (void)n_args, (void)n_outs;
  /* A borrowed result is retained: the input itself has the right shape. */
  outs[0] = args[0];
  return RLT_OK;
}

static int32_t square_backward(void *ctx, const rlt_tensor *const *grads, int64_t n, rlt_tensor **results, int64_t m) {
  rlt_tensor *input = NULL, *twice = NULL;
  rlt_scalar two = integer(2);
  CHECK(n == 1 && m == 1);
  OK(rlt_saved_tensor_unpack(ctx, &input));
  OK(rlt_tensor_mul_Scalar(input, &two, &twice));
  int32_t status = rlt_tensor_mul_Tensor(grads[0], twice, &results[0]);
  rlt_tensor_free(input);
  rlt_tensor_free(twice);
  return status;
}

static void free_saved(void *ctx) { rlt_saved_tensor_free(ctx); }

static int32_t square_with_gradient(void *ctx, const rlt_value *args, int64_t n_args, rlt_value *outs, int64_t n_outs) {
  (void)ctx;
  int32_t excluded = 0, recorded = 0;
  int64_t n = 0;
  rlt_saved_tensor *saved = NULL;
  OK(rlt_get_autograd_excluded(&excluded));
  OK(rlt_set_autograd_excluded(1));
  int32_t status = rlt_op_call("mine::square", "", args, n_args, NULL, 0, outs, n_outs, &n);
  OK(rlt_set_autograd_excluded(excluded));
  if (status != RLT_OK) return status;
  const rlt_tensor *inputs[1], *outputs[1];
  inputs[0] = args[0].as.tensor;
  outputs[0] = outs[0].as.tensor;
  OK(rlt_saved_tensor_new(inputs[0], 0, &saved));
  rlt_custom_function function = {sizeof function, "SquareBackward", NULL, square_backward, free_saved, 0, 0, NULL};
  function.ctx = saved;
  status = rlt_custom_function_record(&function, inputs, 1, outputs, 1, NULL, &recorded);
  if (status != RLT_OK || !recorded) rlt_saved_tensor_free(saved);
  return status;
}

static void keys(void) {
  const float values[2] = {3, -2};
  rlt_tensor *a = vector(values, 2), *meta = NULL, *sum = NULL, *grad = NULL;
  rlt_value args[1], outs[1];
  rlt_op *op = NULL;
  int64_t n = 0, size = 7;
  int32_t asked = -1;
  OK(rlt_op_define("mine::square(Tensor self) -> Tensor", &op));
  OK(rlt_op_impl(op, RLT_KEY_CPU, square_on_cpu, NULL, NULL));
  args[0] = of_tensor(a);
  OK(rlt_op_call("mine::square", "", args, 1, NULL, 0, outs, 1, &n));
  CHECK(floats(outs[0].as.tensor)[0] == 9);
  rlt_value_free(&outs[0]);

  /* A device kernel has no derivative: backward fails with an error. */
  OK(rlt_tensor_set_requires_grad(a, 1));
  OK(rlt_op_call("mine::square", "", args, 1, NULL, 0, outs, 1, &n));
  OK(rlt_tensor_sum(outs[0].as.tensor, NULL, &sum));
  FAILS(rlt_tensor_backward(sum, NULL, 0, 0), RLT_ERROR_NOT_IMPLEMENTED, "derivative for mine::square is not implemented");
  rlt_tensor_free(sum);
  rlt_value_free(&outs[0]);

  OK(rlt_op_impl(op, RLT_KEY_AUTOGRAD, square_with_gradient, NULL, NULL));
  OK(rlt_op_call("mine::square", "", args, 1, NULL, 0, outs, 1, &n));
  OK(rlt_tensor_requires_grad(outs[0].as.tensor, &asked));
  CHECK(asked == 1);
  OK(rlt_tensor_sum(outs[0].as.tensor, NULL, &sum));
  OK(rlt_tensor_backward(sum, NULL, 0, 0));
  OK(rlt_tensor_grad(a, &grad));
  CHECK(floats(grad)[0] == 6 && floats(grad)[1] == -4);
  rlt_tensor_free(grad);
  rlt_tensor_free(sum);
  rlt_value_free(&outs[0]);

  rlt_tensor_options options = RLT_TENSOR_OPTIONS_INIT;
  options.device_type = RLT_DEVICE_META;
  OK(rlt_tensor_zeros(&size, 1, &options, &meta));
  args[0] = of_tensor(meta);
  FAILS(rlt_op_call("mine::square", "", args, 1, NULL, 0, outs, 1, &n), RLT_ERROR_NOT_IMPLEMENTED,
        "no kernel for operator mine::square on device meta");
  OK(rlt_op_impl(op, RLT_KEY_META, square_on_meta, NULL, NULL));
  OK(rlt_op_call("mine::square", "", args, 1, NULL, 0, outs, 1, &n));
  OK(rlt_tensor_numel(outs[0].as.tensor, &n));
  CHECK(n == 7);
  rlt_value_free(&outs[0]);
  rlt_tensor_free(meta);
  rlt_tensor_free(a);
  OK(rlt_op_unregister(op));
}

static char heard[512];

static void hear(void *ctx, const char *call) {
  (void)ctx;
  size_t used = strlen(heard);
  snprintf(heard + used, sizeof heard - used, "%s;", call);
}

static void recording(void) {
  const float values[2] = {1, -2};
  rlt_tensor *a = vector(values, 2), *out = NULL;
  OK(rlt_record_start(hear, NULL));
  OK(rlt_tensor_relu(a, &out));
  OK(rlt_record_stop());
  rlt_tensor_free(out);
  OK(rlt_tensor_neg(a, &out));
  CHECK(strcmp(heard, "relu([2] float32);") == 0);
  rlt_tensor_free(out);
  rlt_tensor_free(a);
}

/* Reductions of the element losses 1 and 9. */
static void reductions(void) {
  const float values[2] = {1, 3}, zeros[2] = {0, 0};
  rlt_tensor *x = vector(values, 2), *target = vector(zeros, 2), *none = NULL, *mean = NULL, *sum = NULL;
  OK(rlt_tensor_mse_loss(x, target, RLT_REDUCTION_NONE, &none));
  OK(rlt_tensor_mse_loss(x, target, RLT_REDUCTION_MEAN, &mean));
  OK(rlt_tensor_mse_loss(x, target, RLT_REDUCTION_SUM, &sum));
  CHECK(floats(none)[0] == 1 && floats(none)[1] == 9 && item(mean) == 5 && item(sum) == 10);
  rlt_tensor_free(sum);
  rlt_tensor_free(mean);
  rlt_tensor_free(none);
  rlt_tensor_free(target);
  rlt_tensor_free(x);
}

int main(void) {
  reductions();
  built_in();
  run_time();
  keys();
  recording();
  CHECK(live() == 0);
  OK(rlt_runtime_shutdown());
  return 0;
}
