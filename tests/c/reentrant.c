/* Re-entrant backward, deep and on several threads; undefined gradients; which gradients are needed; anomaly mode of higher
   derivatives; deterministic mode. */
#include "check.h"

#include <math.h>
#include <pthread.h>

static rlt_tensor *leaf(float value) {
  rlt_tensor *tensor = vector(&value, 1);
  OK(rlt_tensor_set_requires_grad(tensor, 1));
  return tensor;
}

static double grad_of(const rlt_tensor *tensor) {
  rlt_tensor *grad = NULL;
  double value;
  OK(rlt_tensor_grad(tensor, &grad));
  CHECK(grad != NULL);
  value = item(grad);
  rlt_tensor_free(grad);
  return value;
}

/* Another handle of `tensor`. */
static rlt_tensor *again(const rlt_tensor *tensor) {
  rlt_tensor *same = NULL;
  OK(rlt_tensor_retain(tensor, &same));
  return same;
}

/* y = x by a custom function: `backward` gets `ctx`. */
static rlt_tensor *copied_by(rlt_custom_function function, const rlt_tensor *x) {
  rlt_tensor *y = NULL;
  const rlt_tensor *outputs[1];
  int32_t was = 0, recorded = 0;
  OK(rlt_get_grad_enabled(&was));
  OK(rlt_set_grad_enabled(0));
  OK(rlt_tensor_clone(x, NULL, &y));
  OK(rlt_set_grad_enabled(was));
  outputs[0] = y;
  OK(rlt_custom_function_record(&function, &x, 1, outputs, 1, NULL, &recorded));
  CHECK(recorded == 1);
  return y;
}

/* A function whose backward differentiates its own graph, `levels` deep. */
struct level {
  int levels;
  int *deepest;
};

static int32_t descend(void *ctx, const rlt_tensor *const *grads, int64_t n_outputs, rlt_tensor **results, int64_t n_inputs);

static void free_level(void *ctx) { free(ctx); }

static rlt_tensor *nested(const rlt_tensor *x, int levels, int *deepest) {
  rlt_custom_function function = {sizeof function, "Nested", NULL, descend, free_level, 0, 0, NULL};
  struct level *level = malloc(sizeof *level);
  level->levels = levels;
  level->deepest = deepest;
  function.ctx = level;
  return copied_by(function, x);
}

static int32_t descend(void *ctx, const rlt_tensor *const *grads, int64_t n_outputs, rlt_tensor **results, int64_t n_inputs) {
  struct level *level = ctx;
  int32_t recording = 1, was = 0;
  CHECK(n_outputs == 1 && n_inputs == 1);
  OK(rlt_get_grad_enabled(&recording));
  CHECK(recording == 0);
  ++*level->deepest;
  if (level->levels > 0) {
    rlt_tensor *x = leaf(1), *y;
    OK(rlt_get_grad_enabled(&was));
    OK(rlt_set_grad_enabled(1));
    y = nested(x, level->levels - 1, level->deepest);
    OK(rlt_tensor_backward(y, NULL, 0, 0));
    OK(rlt_set_grad_enabled(was));
    CHECK(grad_of(x) == 1);
    rlt_tensor_free(x);
    rlt_tensor_free(y);
  }
  results[0] = again(grads[0]);
  return RLT_OK;
}

static void backward_within_backward(void) {
  int deepest = 0;
  rlt_tensor *x = leaf(1), *y = nested(x, 3000, &deepest);
  OK(rlt_tensor_backward(y, NULL, 0, 0));
  CHECK(deepest == 3001 && grad_of(x) == 1);
  rlt_tensor_free(x);
  rlt_tensor_free(y);
}

/* A nested error propagates with its kind and message. */
static int32_t fail_at_the_end(void *ctx, const rlt_tensor *const *grads, int64_t n_outputs, rlt_tensor **results, int64_t n_inputs) {
  struct level *level = ctx;
  int32_t status;
  rlt_tensor *x, *y;
  rlt_custom_function function = {sizeof function, "Failing", NULL, fail_at_the_end, NULL, 0, 0, NULL};
  struct level below = *level;
  (void)grads, (void)n_outputs, (void)results, (void)n_inputs;
  if (level->levels == 0) return rlt_set_last_error(RLT_ERROR_VALUE, "from the depths");
  below.levels = level->levels - 1;
  function.ctx = &below;
  x = leaf(1);
  OK(rlt_set_grad_enabled(1));
  y = copied_by(function, x);
  status = rlt_tensor_backward(y, NULL, 0, 0);
  rlt_tensor_free(x);
  rlt_tensor_free(y);
  return status;
}

static void errors_come_up_from_the_depths(void) {
  struct level top = {200, NULL};
  rlt_custom_function function = {sizeof function, "Failing", NULL, fail_at_the_end, NULL, 0, 0, NULL};
  rlt_tensor *x = leaf(1), *y;
  function.ctx = &top;
  y = copied_by(function, x);
  FAILS(rlt_tensor_backward(y, NULL, 0, 0), RLT_ERROR_VALUE, "from the depths");
  rlt_tensor_free(x);
  rlt_tensor_free(y);
}

/* A hook that starts a backward of another graph, which ends in a shared leaf. */
static rlt_tensor *shared;

static int32_t start_another(void *ctx, const rlt_tensor *grad, rlt_tensor **replacement) {
  rlt_tensor *square = NULL;
  (void)ctx, (void)grad, (void)replacement;
  OK(rlt_set_grad_enabled(1));
  OK(rlt_tensor_mul_Tensor(shared, shared, &square));
  OK(rlt_tensor_backward(square, NULL, 0, 0));
  OK(rlt_set_grad_enabled(0));
  rlt_tensor_free(square);
  return RLT_OK;
}

static void *many_times(void *unused) {
  for (int i = 0; i < 50; ++i) {
    int deepest = 0;
    uint64_t id = 0;
    rlt_tensor *x = leaf(2), *y = NULL, *z;
    OK(rlt_tensor_register_hook(x, start_another, NULL, NULL, &id));
    OK(rlt_tensor_mul_Tensor(x, shared, &y));
    z = nested(y, 70, &deepest);
    OK(rlt_tensor_backward(z, NULL, 0, 0));
    CHECK(deepest == 71 && grad_of(x) == 3);
    rlt_tensor_free(x);
    rlt_tensor_free(y);
    rlt_tensor_free(z);
  }
  return unused;
}

static void several_threads(void) {
  pthread_t threads[8];
  shared = leaf(3);
  for (int i = 0; i < 8; ++i) CHECK(pthread_create(&threads[i], NULL, many_times, NULL) == 0);
  for (int i = 0; i < 8; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  /* 2 from each product, 6 from each hook. */
  CHECK(grad_of(shared) == 8 * 50 * (2 + 6));
  rlt_tensor_free(shared);
}

/* Undefined gradients: hooks receive NULL, custom functions zeros or NULL. PyTorch 2.7.1's order. */
static char log_text[512];

static int32_t gives_none(void *ctx, const rlt_tensor *const *grads, int64_t n_outputs, rlt_tensor **results, int64_t n_inputs) {
  (void)ctx, (void)grads, (void)n_outputs, (void)results, (void)n_inputs;
  return RLT_OK;
}

static int32_t gives_on(void *ctx, const rlt_tensor *const *grads, int64_t n_outputs, rlt_tensor **results, int64_t n_inputs) {
  (void)ctx, (void)n_outputs, (void)n_inputs;
  strcat(log_text, grads[0] ? "backward(zeros) " : "backward(none) ");
  if (grads[0]) results[0] = again(grads[0]);
  return RLT_OK;
}

static int32_t note_tensor(void *ctx, const rlt_tensor *grad, rlt_tensor **replacement) {
  (void)replacement;
  strcat(strcat(log_text, ctx), grad ? "(some) " : "(none) ");
  return RLT_OK;
}

static int32_t note_node(void *ctx, const rlt_tensor *const *grads, int64_t n, const rlt_tensor *const *others, int64_t n_others,
                         rlt_tensor **replacements) {
  (void)n, (void)others, (void)n_others, (void)replacements;
  strcat(strcat(log_text, ctx), grads[0] ? "(some) " : "(none) ");
  return RLT_OK;
}

static int32_t note_leaf(void *ctx, const rlt_tensor *tensor) {
  (void)tensor;
  strcat(strcat(log_text, ctx), " ");
  return RLT_OK;
}

static int32_t replace_none(void *ctx, const rlt_tensor *grad, rlt_tensor **replacement) {
  (void)ctx, (void)grad;
  *replacement = vector((const float[]){1}, 1);
  return RLT_OK;
}

static void nothing_arrives_at(const char *expected, int custom, int32_t zeros, int32_t has_grad) {
  rlt_custom_function none = {sizeof none, "None", NULL, gives_none, NULL, 0, 0, NULL};
  rlt_custom_function on = {sizeof on, "On", NULL, gives_on, NULL, 0, 0, NULL};
  rlt_scalar two = number(2);
  rlt_tensor *x = leaf(1), *y = NULL, *z, *grad = NULL;
  rlt_node *node = NULL;
  uint64_t id = 0;
  on.materialize_grads = zeros;
  if (custom) y = copied_by(on, x);
  else OK(rlt_tensor_mul_Scalar(x, &two, &y));
  log_text[0] = 0;
  OK(rlt_tensor_register_hook(y, note_tensor, "tensor", NULL, &id));
  OK(rlt_tensor_grad_fn(y, &node));
  OK(rlt_node_register_prehook(node, note_node, "pre", NULL, &id));
  OK(rlt_node_register_hook(node, note_node, "post", NULL, &id));
  OK(rlt_tensor_register_hook(x, note_tensor, "leaf", NULL, &id));
  OK(rlt_tensor_register_post_accumulate_grad_hook(x, note_leaf, "landed", NULL, &id));
  z = copied_by(none, y);
  OK(rlt_tensor_backward(z, NULL, 1, 0));
  if (strcmp(log_text, expected) != 0) fprintf(stderr, "got %s\n", log_text);
  CHECK(strcmp(log_text, expected) == 0);
  OK(rlt_tensor_grad(x, &grad));
  CHECK((grad != NULL) == has_grad);
  OK(rlt_tensor_register_hook(y, replace_none, NULL, NULL, &id));
  FAILS(rlt_tensor_backward(z, NULL, 0, 0), RLT_ERROR_RUNTIME, "can't replace a empty gradient with a non-empty value");
  rlt_tensor_free(grad);
  rlt_node_free(node);
  rlt_tensor_free(x);
  rlt_tensor_free(y);
  rlt_tensor_free(z);
}

static void gradients_that_do_not_arrive(void) {
  nothing_arrives_at("tensor(none) pre(none) backward(zeros) post(some) leaf(some) landed ", 1, 1, 1);
  nothing_arrives_at("tensor(none) pre(none) backward(none) post(none) leaf(none) ", 1, 0, 0);
  nothing_arrives_at("tensor(none) pre(none) post(none) leaf(none) ", 0, 0, 0);
}

/* The needed gradients are those that the caller of backward requested. */
static int32_t wanted[2];

static int32_t product_backward(void *ctx, const rlt_tensor *const *grads, int64_t n_outputs, rlt_tensor **results, int64_t n_inputs) {
  int32_t more = 0;
  (void)ctx, (void)n_outputs;
  CHECK(n_inputs == 2);
  for (int64_t i = 0; i < 2; ++i) {
    OK(rlt_custom_function_needs_input_grad(i, &wanted[i]));
    if (wanted[i]) results[i] = again(grads[0]);
  }
  FAILS(rlt_custom_function_needs_input_grad(2, &more), RLT_ERROR_INDEX, "index 2 is out of range for 2 inputs");
  return RLT_OK;
}

static void wanted_gradients(void) {
  rlt_tensor *x = leaf(1), *y = leaf(1), *z = NULL, *grad = NULL;
  rlt_custom_function function = {sizeof function, "Product", NULL, product_backward, NULL, 0, 0, NULL};
  const rlt_tensor *inputs[2], *outputs[1];
  int32_t recorded = 0, answer = 0;
  inputs[0] = x, inputs[1] = y;
  OK(rlt_set_grad_enabled(0));
  OK(rlt_tensor_mul_Tensor(x, y, &z));
  OK(rlt_set_grad_enabled(1));
  outputs[0] = z;
  OK(rlt_custom_function_record(&function, inputs, 2, outputs, 1, NULL, &recorded));
  OK(rlt_grad(outputs, 1, &inputs[1], 1, NULL, 1, 0, 0, &grad));
  CHECK(wanted[0] == 0 && wanted[1] == 1);
  OK(rlt_tensor_backward(z, NULL, 0, 0));
  CHECK(wanted[0] == 1 && wanted[1] == 1);
  FAILS(rlt_custom_function_needs_input_grad(0, &answer), RLT_ERROR_RUNTIME, "only available in the backward of a custom function");
  rlt_tensor_free(grad);
  rlt_tensor_free(x);
  rlt_tensor_free(y);
  rlt_tensor_free(z);
}

/* The derivative of the derivative of x^1.5 at 0: its forward call was part of a backward, whose forward call is named, too. */
static void anomalies_in_derivatives_of_derivatives(void) {
  rlt_scalar power = number(1.5);
  rlt_tensor *x = leaf(0), *y = NULL, *first = NULL, *second = NULL, *zero = vector((const float[]){0}, 1);
  const rlt_tensor *inputs[1], *outputs[1], *seeds[1];
  inputs[0] = x, seeds[0] = zero;
  OK(rlt_set_anomaly_mode(1));
  OK(rlt_tensor_pow_Tensor_Scalar(x, &power, &y));
  outputs[0] = y;
  OK(rlt_grad(outputs, 1, inputs, 1, NULL, 1, 1, 0, &first));
  outputs[0] = first;
  FAILS(rlt_grad(outputs, 1, inputs, 1, seeds, 1, 0, 0, &second), RLT_ERROR_RUNTIME, "returned nan values in its 0th output.");
  CHECK(strstr(rlt_last_error_note(0), "Traceback of forward call that caused the error:\n  call ") != NULL);
  CHECK(strstr(rlt_last_error_note(1), "Previous calculation was induced by PowBackward0. Traceback of forward call that induced the "
                                       "previous calculation:\n  call ") != NULL);
  CHECK(rlt_last_error_note(2) == NULL && rlt_last_error_note(-1) == NULL);
  OK(rlt_set_anomaly_check_nan(0));
  OK(rlt_grad(outputs, 1, inputs, 1, seeds, 0, 0, 0, &second));
  CHECK(isnan(item(second)));
  OK(rlt_set_anomaly_check_nan(1));
  OK(rlt_set_anomaly_mode(0));
  rlt_tensor_free(first);
  rlt_tensor_free(second);
  rlt_tensor_free(x);
  rlt_tensor_free(y);
  rlt_tensor_free(zero);
}

/* Deterministic mode: PyTorch 2.7.1 fills with NaN, and with the largest integer. */
static void deterministic_mode(void) {
  const int64_t two = 2, three = 3;
  rlt_tensor_options options = RLT_TENSOR_OPTIONS_INIT;
  rlt_tensor *made = NULL, *grown = vector((const float[]){1, 2}, 2);
  int32_t level = -1;
  void *data = NULL;
  FAILS(rlt_set_determinism(3), RLT_ERROR_VALUE, "3 is not a level of determinism");
  OK(rlt_alert_not_deterministic("mine"));
  OK(rlt_set_determinism(RLT_DETERMINISM_ERROR));
  OK(rlt_get_determinism(&level));
  CHECK(level == RLT_DETERMINISM_ERROR);
  FAILS(rlt_alert_not_deterministic("mine"), RLT_ERROR_RUNTIME,
        "mine does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)'. You can turn off");
  OK(rlt_tensor_empty_memory_format(&two, 1, &options, NULL, &made));
  CHECK(isnan(floats(made)[0]) && isnan(floats(made)[1]));
  rlt_tensor_free(made);
  options.dtype = RLT_DTYPE_INT16;
  OK(rlt_tensor_empty_memory_format(&two, 1, &options, NULL, &made));
  OK(rlt_tensor_data_ptr(made, &data));
  CHECK(((const int16_t *)data)[1] == 32767);
  rlt_tensor_free(made);
  OK(rlt_tensor_resize_(grown, &three, 1, NULL));
  CHECK(floats(grown)[1] == 2 && isnan(floats(grown)[2]));
  rlt_tensor_free(grown);
  OK(rlt_set_determinism(RLT_DETERMINISM_WARN));
  OK(rlt_alert_not_deterministic("mine"));
  OK(rlt_set_determinism(RLT_DETERMINISM_OFF));
}

/* A write that the library has not seen. */
static void writes_that_bump_the_version(void) {
  rlt_tensor *x = leaf(1), *y = NULL, *z = NULL;
  int64_t before = 0, after = 0;
  OK(rlt_tensor_exp(x, &y));
  OK(rlt_tensor_exp(y, &z));
  OK(rlt_tensor_version(y, &before));
  OK(rlt_tensor_bump_version(y));
  OK(rlt_tensor_version(y, &after));
  CHECK(after == before + 1);
  FAILS(rlt_tensor_backward(z, NULL, 0, 0), RLT_ERROR_RUNTIME, "which is output 0 of ExpBackward0, is at version 1; expected version 0");
  rlt_tensor_free(x);
  rlt_tensor_free(y);
  rlt_tensor_free(z);
}

int main(void) {
  backward_within_backward();
  errors_come_up_from_the_depths();
  several_threads();
  gradients_that_do_not_arrive();
  wanted_gradients();
  anomalies_in_derivatives_of_derivatives();
  deterministic_mode();
  writes_that_bump_the_version();
  CHECK(live() == 0);
  OK(rlt_runtime_shutdown());
  return 0;
}
