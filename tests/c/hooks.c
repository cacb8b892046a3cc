/* Hooks of nodes, leaves and saved tensors, inference tensors, in-place writes to views, anomaly mode, gradcheck. The
   results of PyTorch 2.7.1 for the same calls are in tests/data/graph_rules.txt (tests/oracle/graph_rules.py). */
#include "check.h"

static char log_text[512];

static void note(const char *what) {
  strcat(log_text, what);
  strcat(log_text, " ");
}

static void count_call(void *ctx) { ++*(int *)ctx; }

static rlt_tensor *leaf(void) {
  const float values[] = {1, 2};
  rlt_tensor *tensor = vector(values, 2);
  OK(rlt_tensor_set_requires_grad(tensor, 1));
  return tensor;
}

static rlt_tensor *times(const rlt_tensor *tensor, double factor) {
  rlt_tensor *result = NULL;
  rlt_scalar by = number(factor);
  OK(rlt_tensor_mul_Scalar(tensor, &by, &result));
  return result;
}

static void backward_of_sum(const rlt_tensor *tensor) {
  rlt_tensor *sum = NULL;
  OK(rlt_tensor_sum(tensor, NULL, &sum));
  OK(rlt_tensor_backward(sum, NULL, 0, 0));
  rlt_tensor_free(sum);
}

static void expect_grad(const rlt_tensor *tensor, float first, float second) {
  rlt_tensor *grad = NULL;
  OK(rlt_tensor_grad(tensor, &grad));
  CHECK(grad != NULL);
  CHECK(floats(grad)[0] == first && floats(grad)[1] == second);
  rlt_tensor_free(grad);
}

static int32_t plus_one(void *ctx, const rlt_tensor *grad, rlt_tensor **replacement) {
  rlt_scalar one = integer(1), alpha = integer(1);
  note((const char *)ctx);
  return rlt_tensor_add_Scalar(grad, &one, &alpha, replacement);
}

static int32_t only_note(void *ctx, const rlt_tensor *grad, rlt_tensor **replacement) {
  (void)grad;
  (void)replacement;
  note((const char *)ctx);
  return RLT_OK;
}

static int32_t landed(void *ctx, const rlt_tensor *tensor) {
  rlt_tensor *grad = NULL;
  OK(rlt_tensor_grad(tensor, &grad));
  CHECK(floats(grad)[0] == 40);
  rlt_tensor_free(grad);
  note((const char *)ctx);
  return RLT_OK;
}

static int32_t times_ten(void *ctx, const rlt_tensor *const *grads, int64_t n, const rlt_tensor *const *others,
                         int64_t n_others, rlt_tensor **replacements) {
  rlt_scalar ten = integer(10);
  CHECK(n == 1 && n_others == 0 && others != NULL);
  note((const char *)ctx);
  return rlt_tensor_mul_Scalar(grads[0], &ten, &replacements[0]);
}

static int32_t after(void *ctx, const rlt_tensor *const *grads, int64_t n, const rlt_tensor *const *others,
                     int64_t n_others, rlt_tensor **replacements) {
  CHECK(n >= 1 && n_others == 1 && replacements[0] == NULL);
  CHECK(floats(grads[0])[0] == 40 && floats(others[0])[0] == 20);
  note((const char *)ctx);
  return RLT_OK;
}

static void hooks_fire_in_pytorchs_order(void) {
  rlt_tensor *x = leaf(), *y = times(x, 2);
  rlt_node *node = NULL;
  uint64_t id = 0, pre = 0;
  log_text[0] = 0;
  OK(rlt_tensor_retain_grad(y));
  OK(rlt_tensor_grad_fn(y, &node));
  OK(rlt_node_register_prehook(node, times_ten, "prehook", NULL, &pre));
  OK(rlt_tensor_register_hook(y, plus_one, "tensor", NULL, &id));
  OK(rlt_node_register_hook(node, after, "post", NULL, &id));
  OK(rlt_tensor_register_hook(x, only_note, "leaf", NULL, &id));
  OK(rlt_tensor_register_post_accumulate_grad_hook(x, landed, "acc", NULL, &id));
  backward_of_sum(y);
  CHECK(strcmp(log_text, "tensor prehook post leaf acc ") == 0);
  expect_grad(y, 2, 2);
  expect_grad(x, 40, 40);
  OK(rlt_node_remove_hook(node, pre));
  FAILS(rlt_node_remove_hook(node, pre), RLT_ERROR_INDEX, "the node has no hook with id");
  FAILS(rlt_tensor_register_post_accumulate_grad_hook(y, landed, NULL, NULL, &id), RLT_ERROR_RUNTIME,
        "post accumulate grad hooks cannot be registered on non-leaf tensors");
  rlt_node_free(node);
  rlt_tensor_free(y);
  rlt_tensor_free(x);
}

static int32_t three(void *ctx, const rlt_tensor *grad, rlt_tensor **replacement) {
  const float values[] = {1, 2, 3};
  (void)ctx;
  (void)grad;
  *replacement = vector(values, 3);
  return RLT_OK;
}

static int32_t times_five(void *ctx, const rlt_tensor *grad, rlt_tensor **replacement) {
  rlt_scalar five = integer(5);
  (void)ctx;
  return rlt_tensor_mul_Scalar(grad, &five, replacement);
}

/* The hook of a leaf sees its gradient although `grad` stops there; it must keep the shape. */
static void hooks_of_leaves(void) {
  rlt_tensor *x = leaf(), *y = times(x, 2), *sum = NULL, *grad = NULL;
  uint64_t id = 0;
  int freed = 0;
  OK(rlt_tensor_register_hook(x, times_five, &freed, count_call, &id));
  OK(rlt_tensor_sum(y, NULL, &sum));
  const rlt_tensor *outputs[] = {sum}, *inputs[] = {x};
  OK(rlt_grad(outputs, 1, inputs, 1, NULL, 1, 0, 0, &grad));
  CHECK(floats(grad)[0] == 10);
  rlt_tensor_free(grad);
  OK(rlt_tensor_remove_hook(x, id));
  CHECK(freed == 1);
  OK(rlt_tensor_register_hook(x, three, NULL, NULL, &id));
  FAILS(rlt_tensor_backward(sum, NULL, 0, 0), RLT_ERROR_RUNTIME, "has changed the size of value");
  rlt_tensor_free(sum);
  rlt_tensor_free(y);
  rlt_tensor_free(x);
}

static int32_t pack(void *ctx, const rlt_tensor *tensor, void **packed) {
  rlt_tensor *copy = NULL;
  ++((int *)ctx)[0];
  OK(rlt_tensor_clone(tensor, NULL, &copy));
  *packed = copy;
  return RLT_OK;
}

static int32_t pack_by_writing(void *ctx, const rlt_tensor *tensor, void **packed) {
  rlt_scalar one = integer(1), alpha = integer(1);
  (void)ctx;
  *packed = NULL;
  return rlt_tensor_add_Scalar_((rlt_tensor *)tensor, &one, &alpha);
}

static int32_t unpack(void *ctx, void *packed, rlt_tensor **tensor) {
  ++((int *)ctx)[1];
  return rlt_tensor_retain((const rlt_tensor *)packed, tensor);
}

static void free_packed(void *packed) { rlt_tensor_free((rlt_tensor *)packed); }

static void finished(void *ctx) { ++((int *)ctx)[2]; }

static void saved_tensors_go_through_hooks(void) {
  int counts[3] = {0, 0, 0};
  rlt_tensor *x = leaf(), *e = NULL, *y = NULL, *plain = NULL;
  const float values[] = {3, 4};
  plain = vector(values, 2);
  OK(rlt_saved_tensors_hooks_push(pack, unpack, free_packed, counts, finished));
  OK(rlt_tensor_exp(x, &e));
  OK(rlt_tensor_mul_Tensor(e, x, &y));
  OK(rlt_saved_tensors_hooks_pop());
  CHECK(counts[0] == 3 && counts[1] == 0 && counts[2] == 0);
  backward_of_sum(y);
  CHECK(counts[1] == 3 && counts[2] == 1);
  rlt_tensor *grad = NULL;
  OK(rlt_tensor_grad(x, &grad));
  /* (x e^x)' = (1 + x) e^x */
  CHECK(floats(grad)[0] > 5.43655f && floats(grad)[0] < 5.43658f);
  rlt_tensor_free(grad);
  rlt_tensor_free(y);
  rlt_tensor_free(e);
  e = y = NULL;

  OK(rlt_saved_tensors_hooks_push(pack_by_writing, unpack, free_packed, counts, NULL));
  FAILS(rlt_tensor_mul_Tensor(plain, x, &y), RLT_ERROR_RUNTIME,
        "A saved tensor pack hook is modifying its input in place.");
  FAILS(rlt_saved_tensors_hooks_disable("no hooks"), RLT_ERROR_RUNTIME, "no hooks");
  OK(rlt_saved_tensors_hooks_pop());
  FAILS(rlt_saved_tensors_hooks_pop(), RLT_ERROR_RUNTIME, "no hooks for saved tensors");
  OK(rlt_saved_tensors_hooks_disable("no hooks here"));
  FAILS(rlt_saved_tensors_hooks_push(pack, unpack, free_packed, counts, NULL), RLT_ERROR_RUNTIME, "no hooks here");
  OK(rlt_saved_tensors_hooks_disable(NULL));
  rlt_tensor_free(plain);
  rlt_tensor_free(x);
}

static void inference_tensors(void) {
  rlt_tensor *x = leaf(), *i = NULL, *y = NULL, *view = NULL;
  const int64_t sizes[] = {2};
  rlt_scalar one = integer(1), alpha = integer(1);
  int32_t flag = -1;
  OK(rlt_set_inference_mode(1));
  OK(rlt_tensor_exp(x, &i));
  OK(rlt_tensor_is_inference(i, &flag));
  CHECK(flag == 1);
  OK(rlt_tensor_add_Scalar_(i, &one, &alpha));
  OK(rlt_tensor_view(x, sizes, 1, &view));
  OK(rlt_tensor_is_inference(view, &flag));
  CHECK(flag == 0);
  OK(rlt_set_inference_mode(0));
  FAILS(rlt_tensor_mul_Tensor(x, i, &y), RLT_ERROR_RUNTIME, "Inference tensors cannot be saved for backward.");
  FAILS(rlt_tensor_add_Scalar_(i, &one, &alpha), RLT_ERROR_RUNTIME,
        "Inplace update to inference tensor outside InferenceMode is not allowed.");
  FAILS(rlt_tensor_set_requires_grad(i, 1), RLT_ERROR_RUNTIME,
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  FAILS(rlt_tensor_add_Scalar_(view, &one, &alpha), RLT_ERROR_RUNTIME,
        "A view was created in inference mode and is being modified inplace in normal mode.");
  rlt_tensor_free(view);
  OK(rlt_tensor_view(i, sizes, 1, &view));
  OK(rlt_tensor_is_inference(view, &flag));
  CHECK(flag == 1);
  OK(rlt_tensor_add_Tensor(x, i, &alpha, &y));
  OK(rlt_tensor_is_inference(y, &flag));
  CHECK(flag == 0);
  rlt_tensor_free(view);
  rlt_tensor_free(y);
  rlt_tensor_free(i);
  rlt_tensor_free(x);
}

static void views_that_cannot_be_written(void) {
  rlt_tensor *x = leaf(), *y = times(x, 1), *view = NULL;
  rlt_scalar one = integer(1), alpha = integer(1);
  const int64_t sizes[] = {2};
  OK(rlt_set_grad_enabled(0));
  OK(rlt_tensor_view(y, sizes, 1, &view));
  OK(rlt_set_grad_enabled(1));
  FAILS(rlt_tensor_add_Scalar_(view, &one, &alpha), RLT_ERROR_RUNTIME,
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled.");
  rlt_tensor_free(view);

  rlt_value arg, outs[1];
  int64_t count = 0;
  memset(&arg, 0, sizeof arg);
  arg.tag = RLT_VALUE_TENSOR;
  arg.as.tensor = y;
  OK(rlt_op_call("unbind", "int", &arg, 1, NULL, 0, outs, 1, &count));
  FAILS(rlt_tensor_add_Scalar_(outs[0].as.tensors[1], &one, &alpha), RLT_ERROR_RUNTIME,
        "Output 1 of UnbindBackward0 is a view and is being modified inplace. This view is the output of a function that "
        "returns multiple views.");
  rlt_value_free(&outs[0]);

  /* A retained gradient belongs to the tensor after the write. */
  rlt_scalar by = integer(3);
  rlt_tensor *z = times(x, 2);
  OK(rlt_tensor_retain_grad(z));
  OK(rlt_tensor_mul_Scalar_(z, &by));
  backward_of_sum(z);
  expect_grad(z, 1, 1);
  expect_grad(x, 6, 6);
  rlt_tensor_free(z);

  /* Retained gradients also accumulate. */
  rlt_tensor *sum = NULL;
  z = times(x, 2);
  OK(rlt_tensor_retain_grad(z));
  OK(rlt_tensor_sum(z, NULL, &sum));
  OK(rlt_tensor_backward(sum, NULL, 1, 0));
  OK(rlt_tensor_backward(sum, NULL, 0, 0));
  expect_grad(z, 2, 2);
  rlt_tensor_free(sum);
  rlt_tensor_free(z);
  rlt_tensor_free(y);
  rlt_tensor_free(x);
}

static void assigned_gradients(void) {
  rlt_tensor *x = leaf(), *wrong = NULL, *wide = NULL;
  const float values[] = {1, 2, 3};
  const double doubles[] = {1, 2};
  const int64_t sizes[] = {2};
  wrong = vector(values, 3);
  OK(rlt_tensor_from_data(doubles, sizeof doubles, sizes, 1, RLT_DTYPE_FLOAT64, &wide));
  FAILS(rlt_tensor_set_grad(x, wrong), RLT_ERROR_RUNTIME,
        "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. Please ensure that the gradient and the "
        "tensor are the same size");
  FAILS(rlt_tensor_set_grad(x, wide), RLT_ERROR_RUNTIME,
        "attempting to assign a gradient with dtype 'double' to a tensor with dtype 'float'. Please ensure that the "
        "gradient and the tensor have the same dtype");
  rlt_tensor_free(wide);
  rlt_tensor_free(wrong);
  rlt_tensor_free(x);
}

static void anomaly_mode_names_the_call(void) {
  const float values[] = {-1, 4};
  rlt_tensor *x = vector(values, 2), *y = NULL, *sum = NULL;
  OK(rlt_tensor_set_requires_grad(x, 1));
  OK(rlt_set_anomaly_mode(1));
  OK(rlt_tensor_sqrt(x, &y));
  OK(rlt_tensor_sum(y, NULL, &sum));
  FAILS(rlt_tensor_backward(sum, NULL, 1, 0), RLT_ERROR_RUNTIME,
        "Function 'SqrtBackward0' returned nan values in its 0th output.");
  CHECK(strstr(rlt_last_error_message(), "in the backward of SqrtBackward0, recorded by call ") != NULL);
  CHECK(strstr(rlt_last_error_message(), "([2] float32) -> ([2] float32)") != NULL);
  OK(rlt_set_anomaly_mode(0));
  rlt_tensor_free(sum);
  rlt_tensor_free(y);
  rlt_tensor_free(x);
}

/* x^2 exp(x) */
static int32_t smooth(void *ctx, const rlt_tensor *const *inputs, int64_t n, rlt_tensor **outputs, int64_t capacity,
                      int64_t *n_outputs) {
  rlt_tensor *square = NULL, *power = NULL;
  int32_t status;
  (void)ctx;
  CHECK(n == 1 && capacity >= 1);
  OK(rlt_tensor_mul_Tensor(inputs[0], inputs[0], &square));
  OK(rlt_tensor_exp(inputs[0], &power));
  status = rlt_tensor_mul_Tensor(square, power, &outputs[0]);
  rlt_tensor_free(square);
  rlt_tensor_free(power);
  *n_outputs = 1;
  return status;
}

/* x * detach(x): backward computes half of the derivative. */
static int32_t half(void *ctx, const rlt_tensor *const *inputs, int64_t n, rlt_tensor **outputs, int64_t capacity,
                    int64_t *n_outputs) {
  rlt_tensor *cut = NULL;
  int32_t status;
  (void)ctx;
  CHECK(n == 1 && capacity >= 1);
  OK(rlt_tensor_detach(inputs[0], &cut));
  status = rlt_tensor_mul_Tensor(inputs[0], cut, &outputs[0]);
  rlt_tensor_free(cut);
  *n_outputs = 1;
  return status;
}

static void gradients_are_checked(void) {
  const double values[] = {0.5, -1.25, 2};
  const int64_t sizes[] = {3};
  rlt_tensor *x = NULL;
  rlt_gradcheck_options options;
  int32_t passed = -1;
  OK(rlt_tensor_from_data(values, sizeof values, sizes, 1, RLT_DTYPE_FLOAT64, &x));
  const rlt_tensor *inputs[] = {x};
  FAILS(rlt_gradcheck(smooth, NULL, inputs, 1, NULL, &passed), RLT_ERROR_VALUE,
        "gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True.");
  OK(rlt_tensor_set_requires_grad(x, 1));
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  for (options.fast_mode = 0; options.fast_mode < 2; ++options.fast_mode) {
    OK(rlt_gradcheck(smooth, NULL, inputs, 1, &options, &passed));
    CHECK(passed == 1);
    OK(rlt_gradgradcheck(smooth, NULL, inputs, 1, NULL, 0, &options, &passed));
    CHECK(passed == 1);
    FAILS(rlt_gradcheck(half, NULL, inputs, 1, &options, &passed), RLT_ERROR_RUNTIME,
          "Jacobian mismatch for output 0 with respect to input 0");
    options.no_exception = 1;
    OK(rlt_gradcheck(half, NULL, inputs, 1, &options, &passed));
    CHECK(passed == 0);
    options.no_exception = 0;
  }
  options.check_batched_grad = 1;
  FAILS(rlt_gradcheck(smooth, NULL, inputs, 1, &options, &passed), RLT_ERROR_NOT_IMPLEMENTED, "check_batched_grad");
  rlt_tensor_free(x);
}

int main(void) {
  hooks_fire_in_pytorchs_order();
  hooks_of_leaves();
  saved_tensors_go_through_hooks();
  inference_tensors();
  views_that_cannot_be_written();
  assigned_gradients();
  anomaly_mode_names_the_call();
  gradients_are_checked();
  CHECK(live() == 0);
  return 0;
}
