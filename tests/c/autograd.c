/* Gradients, hooks, the recorded graph, and custom functions. */
#include "check.h"

static void count_call(void *ctx) { ++*(int *)ctx; }

static rlt_tensor *leaf(float x) {
  rlt_tensor *tensor = vector(&x, 1);
  OK(rlt_tensor_set_requires_grad(tensor, 1));
  return tensor;
}

static double grad_of(const rlt_tensor *tensor) {
  rlt_tensor *grad = NULL;
  OK(rlt_tensor_grad(tensor, &grad));
  CHECK(grad != NULL);
  double value = item(grad);
  rlt_tensor_free(grad);
  return value;
}

static void leaves_and_nodes(void) {
  rlt_tensor *x = leaf(3), *y = NULL, *none = x;
  int32_t flag = -1;
  OK(rlt_tensor_mul_Tensor(x, x, &y));
  OK(rlt_tensor_grad(x, &none));
  CHECK(none == NULL);
  OK(rlt_tensor_is_leaf(x, &flag));
  CHECK(flag == 1);
  OK(rlt_tensor_is_leaf(y, &flag));
  CHECK(flag == 0);
  OK(rlt_tensor_requires_grad(y, &flag));
  CHECK(flag == 1);

  rlt_node *node = NULL, *next = NULL, *again = NULL;
  const char *name = NULL;
  int64_t count = 0, input = -1;
  uint64_t sequence = 0;
  OK(rlt_tensor_grad_fn(x, &node));
  CHECK(node == NULL);
  OK(rlt_tensor_grad_fn(y, &node));
  OK(rlt_node_name(node, &name));
  CHECK(strcmp(name, "MulBackward0") == 0);
  OK(rlt_node_next_count(node, &count));
  CHECK(count == 2);
  OK(rlt_node_num_inputs(node, &count));
  CHECK(count == 1);
  OK(rlt_node_sequence_nr(node, &sequence));
  OK(rlt_node_next_at(node, 1, &next, &input));
  OK(rlt_node_name(next, &name));
  CHECK(strcmp(name, "torch::autograd::AccumulateGrad") == 0 && input == 0);
  FAILS(rlt_node_next_at(node, 2, &again, &input), RLT_ERROR_INDEX, "index 2 is out of range for 2 edges");
  OK(rlt_node_retain(node, &again));
  rlt_node_free(node);
  rlt_node_free(again);
  rlt_node_free(next);

  OK(rlt_tensor_retain_grad(y));
  OK(rlt_tensor_retains_grad(y, &flag));
  CHECK(flag == 1);
  OK(rlt_tensor_backward(y, NULL, 0, 0));
  CHECK(grad_of(x) == 6 && grad_of(y) == 1);
  FAILS(rlt_tensor_backward(y, NULL, 0, 0), RLT_ERROR_RUNTIME, "backward through the graph a second time");
  OK(rlt_tensor_set_grad(x, NULL));
  OK(rlt_tensor_grad(x, &none));
  CHECK(none == NULL);
  rlt_tensor *plain = NULL;
  OK(rlt_set_grad_enabled(0));
  OK(rlt_tensor_mul_Tensor(x, x, &plain));
  OK(rlt_set_grad_enabled(1));
  OK(rlt_tensor_requires_grad(plain, &flag));
  CHECK(flag == 0);
  FAILS(rlt_tensor_backward(plain, NULL, 0, 0), RLT_ERROR_RUNTIME, "does not require grad and does not have a grad_fn");
  rlt_tensor_free(plain);
  rlt_tensor_free(x);
  rlt_tensor_free(y);
}

static void gradients_of_gradients(void) {
  rlt_tensor *x = leaf(2), *unused = leaf(1), *y = NULL, *cube = NULL;
  OK(rlt_tensor_mul_Tensor(x, x, &y));
  OK(rlt_tensor_mul_Tensor(y, x, &cube));
  const rlt_tensor *outputs[1], *inputs[2];
  rlt_tensor *first[2] = {NULL, NULL}, *second[1] = {NULL};
  outputs[0] = cube;
  inputs[0] = x;
  inputs[1] = unused;
  FAILS(rlt_grad(outputs, 1, inputs, 2, NULL, 1, 1, 0, first), RLT_ERROR_RUNTIME, "not have been used in the graph");
  OK(rlt_grad(outputs, 1, inputs, 2, NULL, 1, 1, 1, first));
  CHECK(item(first[0]) == 12 && first[1] == NULL);
  outputs[0] = first[0];
  OK(rlt_grad(outputs, 1, inputs, 1, NULL, 0, 0, 0, second));
  CHECK(item(second[0]) == 12);
  rlt_tensor_free(first[0]);
  rlt_tensor_free(second[0]);
  rlt_tensor_free(cube);
  rlt_tensor_free(y);
  rlt_tensor_free(unused);
  rlt_tensor_free(x);
}

static int32_t ten_times(void *ctx, const rlt_tensor *grad, rlt_tensor **replacement) {
  ++*(int *)ctx;
  CHECK(*replacement == NULL);
  rlt_scalar ten = number(10);
  return rlt_tensor_mul_Scalar(grad, &ten, replacement);
}

static int32_t failing_hook(void *ctx, const rlt_tensor *grad, rlt_tensor **replacement) {
  (void)ctx, (void)grad, (void)replacement;
  return rlt_set_last_error(RLT_ERROR_VALUE, "the hook says no");
}

static void hooks(void) {
  rlt_tensor *x = leaf(3), *y = NULL;
  int calls[2] = {0, 0};
  uint64_t id = 0, other = 0;
  OK(rlt_tensor_register_hook(x, ten_times, &calls[0], count_call, &id));
  OK(rlt_tensor_mul_Tensor(x, x, &y));
  OK(rlt_tensor_backward(y, NULL, 1, 0));
  CHECK(calls[0] == 1 && grad_of(x) == 60);
  OK(rlt_tensor_remove_hook(x, id));
  /* The deleter has run. */
  CHECK(calls[0] == 2);
  FAILS(rlt_tensor_remove_hook(x, id), RLT_ERROR_INDEX, "no hook");
  OK(rlt_tensor_register_hook(y, failing_hook, &calls[1], count_call, &other));
  FAILS(rlt_tensor_backward(y, NULL, 1, 0), RLT_ERROR_VALUE, "the hook says no");
  CHECK(grad_of(x) == 60 && calls[1] == 0);
  rlt_tensor_free(y);
  CHECK(calls[1] == 1);
  rlt_tensor *plain = vector((const float[]){1}, 1);
  int untouched = 0;
  FAILS(rlt_tensor_register_hook(plain, failing_hook, &untouched, count_call, &id), RLT_ERROR_RUNTIME, "doesn't require gradient");
  CHECK(untouched == 0);
  rlt_tensor_free(plain);
  rlt_tensor_free(x);
}

/* exp(x) whose derivative is its result. */
struct exponential {
  rlt_saved_tensor *result;
  int backwards, deleted;
};

static int32_t exponential_backward(void *ctx, const rlt_tensor *const *grad_outputs, int64_t n_outputs,
                                    rlt_tensor **grad_inputs, int64_t n_inputs) {
  struct exponential *self = ctx;
  CHECK(n_outputs == 1 && n_inputs == 2 && grad_inputs[0] == NULL);
  self->backwards++;
  rlt_tensor *result = NULL;
  int32_t status = rlt_saved_tensor_unpack(self->result, &result);
  if (status == RLT_OK) status = rlt_tensor_mul_Tensor(grad_outputs[0], result, &grad_inputs[0]);
  rlt_tensor_free(result);
  return status;
}

static void exponential_delete(void *ctx) {
  struct exponential *self = ctx;
  rlt_saved_tensor_free(self->result);
  self->result = NULL;
  self->deleted++;
}

static rlt_tensor *exponential(struct exponential *self, const rlt_tensor *x) {
  memset(self, 0, sizeof *self);
  rlt_custom_function function = {sizeof function, "Exponential", NULL, exponential_backward, exponential_delete, 0, 0, NULL};
  function.ctx = self;
  rlt_tensor *y = NULL;
  int32_t was = 0, recorded = -1;
  OK(rlt_get_grad_enabled(&was));
  OK(rlt_set_grad_enabled(0));
  OK(rlt_tensor_exp(x, &y));
  OK(rlt_set_grad_enabled(was));
  const rlt_tensor *inputs[2] = {NULL, NULL}, *outputs[1];
  inputs[0] = x;
  outputs[0] = y;
  OK(rlt_custom_function_record(&function, inputs, 2, outputs, 1, NULL, &recorded));
  if (recorded) OK(rlt_saved_tensor_new(y, 1, &self->result));
  return y;
}

static void custom_functions(void) {
  struct exponential state;
  rlt_tensor *x = leaf(0.5f);
  rlt_tensor *y = exponential(&state, x);
  rlt_node *node = NULL;
  const char *name = NULL;
  OK(rlt_tensor_grad_fn(y, &node));
  OK(rlt_node_name(node, &name));
  CHECK(strcmp(name, "Exponential") == 0);
  rlt_node_free(node);
  OK(rlt_tensor_backward(y, NULL, 1, 0));
  CHECK(state.backwards == 1 && state.deleted == 0);
  CHECK(grad_of(x) == item(y));
  OK(rlt_tensor_backward(y, NULL, 0, 0));
  CHECK(state.backwards == 2 && state.deleted == 1);
  rlt_tensor_free(y);
  CHECK(state.deleted == 1);

  /* Dropping a graph also frees the context. */
  y = exponential(&state, x);
  rlt_tensor_free(y);
  CHECK(state.deleted == 1 && state.backwards == 0);

  /* Differentiated twice: exp''(x) = exp(x). */
  y = exponential(&state, x);
  const rlt_tensor *outputs[1], *inputs[1];
  rlt_tensor *first = NULL, *second = NULL;
  outputs[0] = y;
  inputs[0] = x;
  OK(rlt_grad(outputs, 1, inputs, 1, NULL, 1, 1, 0, &first));
  outputs[0] = first;
  OK(rlt_grad(outputs, 1, inputs, 1, NULL, 0, 0, 0, &second));
  CHECK(item(second) == item(y));
  rlt_tensor_free(first);
  rlt_tensor_free(second);
  rlt_tensor_free(y);
  CHECK(state.deleted == 1);

  /* Nothing to record: the caller keeps the context. */
  rlt_tensor *plain = vector((const float[]){1}, 1);
  y = exponential(&state, plain);
  CHECK(state.deleted == 0 && state.result == NULL);
  rlt_tensor_free(y);
  rlt_tensor_free(plain);

  /* An in-place write to a saved tensor is detected. */
  rlt_saved_tensor *saved = NULL;
  rlt_tensor *buffer = vector((const float[]){1}, 1), *back = NULL;
  OK(rlt_saved_tensor_new(buffer, 0, &saved));
  OK(rlt_saved_tensor_unpack(saved, &back));
  rlt_tensor_free(back);
  rlt_scalar one = integer(1);
  OK(rlt_tensor_add_Scalar_(buffer, &one, &one));
  FAILS(rlt_saved_tensor_unpack(saved, &back), RLT_ERROR_RUNTIME, "modified by an inplace operation");
  rlt_saved_tensor_free(saved);
  rlt_tensor_free(buffer);
  rlt_tensor_free(x);
}

static void in_place_misuse(void) {
  rlt_tensor *x = leaf(1), *y = NULL;
  rlt_scalar one = integer(1);
  FAILS(rlt_tensor_add_Scalar_(x, &one, &one), RLT_ERROR_RUNTIME,
        "a leaf Variable that requires grad is being used in an in-place operation");
  OK(rlt_tensor_exp(x, &y));
  OK(rlt_tensor_add_Scalar_(y, &one, &one));
  FAILS(rlt_tensor_backward(y, NULL, 0, 0), RLT_ERROR_RUNTIME, "modified by an inplace operation");
  rlt_tensor_free(x);
  rlt_tensor_free(y);
}

int main(void) {
  leaves_and_nodes();
  gradients_of_gradients();
  hooks();
  custom_functions();
  in_place_misuse();
  CHECK(live() == 0);
  OK(rlt_runtime_shutdown());
  return 0;
}
