/* The profiler, ranges of the program, and callbacks of calls. */
#include "check.h"

#include <pthread.h>

static rlt_tensor *leaf(void) {
  const float values[2] = {1, 2};
  rlt_tensor *x = vector(values, 2);
  OK(rlt_tensor_set_requires_grad(x, 1));
  return x;
}

static void start(int32_t shapes, int32_t memory) {
  rlt_profiler_options options = {.struct_size = sizeof options};
  options.record_shapes = shapes;
  options.profile_memory = memory;
  options.this_thread = 1;
  OK(rlt_profiler_start(&options));
}

static rlt_profile *stop(void) {
  rlt_profile *profile = NULL;
  OK(rlt_profiler_stop(&profile));
  return profile;
}

static int64_t count(const rlt_profile *profile) {
  int64_t events;
  OK(rlt_profile_len(profile, &events));
  return events;
}

static rlt_profile_event at(const rlt_profile *profile, int64_t index) {
  rlt_profile_event event = {.struct_size = sizeof event};
  OK(rlt_profile_event_at(profile, index, &event));
  return event;
}

/* The first event with this name. */
static rlt_profile_event find(const rlt_profile *profile, const char *name) {
  for (int64_t i = 0; i < count(profile); i++) {
    rlt_profile_event event = at(profile, i);
    if (strcmp(event.name, name) == 0) return event;
  }
  fprintf(stderr, "no event %s\n", name);
  exit(1);
}

static rlt_record_function *begin(const char *name) {
  rlt_record_function *range = NULL;
  OK(rlt_record_function_begin(RLT_SCOPE_USER, name, NULL, 0, NULL, &range));
  return range;
}

static void nesting_and_backward(void) {
  rlt_tensor *x = leaf(), *y = NULL, *sum = NULL;
  start(1, 1);
  rlt_record_function *step = begin("step \"1\"\n");
  OK(rlt_tensor_mul_Tensor(x, x, &y));
  OK(rlt_tensor_sum(y, NULL, &sum));
  OK(rlt_tensor_backward(sum, NULL, 0, 0));
  rlt_record_function_end(step);
  rlt_profile *profile = stop();

  rlt_profile_event outer = at(profile, 0), forward = find(profile, "aten::mul"), node = find(profile, "MulBackward0");
  CHECK(outer.scope == RLT_SCOPE_USER && outer.depth == 0 && outer.parent == -1 && outer.sequence == -1);
  CHECK(strcmp(outer.name, "step \"1\"\n") == 0);
  CHECK(forward.scope == RLT_SCOPE_FUNCTION && forward.depth == 1 && forward.parent == 0 && forward.forward_thread == 0);
  CHECK(node.scope == RLT_SCOPE_BACKWARD_FUNCTION && node.sequence >= 0 && node.sequence == forward.sequence);
  CHECK(node.forward_thread == rlt_current_thread() && node.thread == rlt_current_thread());
  CHECK(strcmp(at(profile, node.parent).name, "autograd::engine::evaluate_function: MulBackward0") == 0);
  CHECK(forward.allocated == 8 && forward.freed == 0 && forward.self_bytes == 8);
  int64_t inner = 0;
  for (int64_t i = 0; i < count(profile); i++) {
    if (at(profile, i).parent == 0) inner += at(profile, i).duration_ns;
  }
  CHECK(outer.self_ns == outer.duration_ns - inner && outer.start_ns >= 0);

  int64_t argument, ndim;
  int32_t dtype;
  const int64_t *sizes;
  CHECK(forward.n_inputs == 2);
  OK(rlt_profile_event_input(profile, 1, 1, &argument, &dtype, &sizes, &ndim));
  CHECK(argument == 1 && dtype == RLT_DTYPE_FLOAT32 && ndim == 1 && sizes[0] == 2);
  FAILS(rlt_profile_event_input(profile, 1, 2, &argument, &dtype, &sizes, &ndim), RLT_ERROR_INDEX, "no input 2");
  rlt_profile_event event = {.struct_size = sizeof event};
  FAILS(rlt_profile_event_at(profile, count(profile), &event), RLT_ERROR_INDEX, "no event at index");

  rlt_value text = {RLT_VALUE_NONE, 0, 0, {0}};
  OK(rlt_profile_table(profile, "count", 2, 1, &text));
  CHECK(strstr(text.as.string, "Self CPU %") && strstr(text.as.string, "# of Calls") && strstr(text.as.string, "CPU Mem"));
  CHECK(strstr(text.as.string, "Input Shapes") && strstr(text.as.string, "Self CPU time total: "));
  rlt_value_free(&text);
  FAILS(rlt_profile_table(profile, "speed", -1, 0, &text), RLT_ERROR_VALUE, "self_cpu_time_total");
  OK(rlt_profile_chrome_trace_string(profile, &text));
  CHECK(strstr(text.as.string, "\"traceEvents\":[") && strstr(text.as.string, "\"step \\\"1\\\"\\n\""));
  CHECK(strstr(text.as.string, "\"ph\":\"s\"") && strstr(text.as.string, "\"Input Dims\":[[2],[2]]"));
  rlt_value_free(&text);
  FAILS(rlt_profile_chrome_trace(profile, "/no/such/folder/trace.json"), RLT_ERROR_IO, "/no/such/folder/trace.json");
  rlt_profile_free(profile);
  rlt_tensor_free(sum);
  rlt_tensor_free(y);
  rlt_tensor_free(x);
}

static void off(void) {
  rlt_tensor *x = leaf(), *y = NULL, *product = NULL;
  rlt_profile *profile = NULL;
  int32_t on = 1;
  CHECK(begin("off") == NULL);
  OK(rlt_profiler_is_enabled(&on));
  CHECK(on == 0);
  FAILS(rlt_profiler_stop(&profile), RLT_ERROR_RUNTIME, "not running");
  start(0, 0);
  FAILS(rlt_profiler_start(&(rlt_profiler_options){sizeof(rlt_profiler_options), 0, 0, 1, 0}), RLT_ERROR_RUNTIME, "already on");
  rlt_record_function *open = begin("open");
  FAILS(rlt_tensor_mm(x, x, &product), RLT_ERROR_RUNTIME, "in operator mm");
  profile = stop();
  OK(rlt_tensor_neg(x, &y));
  /* The failed call ended, the range was cut. */
  CHECK(count(profile) == 2 && find(profile, "aten::mm").depth == 1 && at(profile, 0).duration_ns >= at(profile, 1).duration_ns);
  rlt_record_function_end(open);
  rlt_profile_free(profile);
  rlt_tensor_free(y);
  rlt_tensor_free(x);
}

/* What callbacks saw, a line for each. */
static char seen[4096];

static void see(const char *who, const char *what, const rlt_call *call) {
  size_t used = strlen(seen);
  snprintf(seen + used, sizeof seen - used, "%s %s %s %d %d\n", who, what, call->name, (int)call->n_inputs, (int)call->n_outputs);
}

static int32_t saw_begin(void *ctx, const rlt_call *call, void **state) {
  see(ctx, "begins", call);
  if (call->inputs && call->scope == RLT_SCOPE_FUNCTION) CHECK(call->inputs[0].tag == RLT_VALUE_TENSOR && *state == NULL);
  *state = (void *)(size_t)call->id;
  return RLT_OK;
}

static int32_t saw_end(void *ctx, const rlt_call *call, void *state) {
  CHECK((size_t)state == (size_t)call->id && call->id != 0);
  if (call->outputs && call->n_outputs == 1) CHECK(call->outputs[0].tag == RLT_VALUE_TENSOR);
  see(ctx, "ends", call);
  return RLT_OK;
}

static int32_t fails(void *ctx, const rlt_call *call, void **state) {
  (void)call, (void)state;
  ++*(int *)ctx;
  return rlt_set_last_error(RLT_ERROR_VALUE, "no");
}

static int freed;
static void freeing(void *ctx) { (void)ctx, ++freed; }

static void callbacks(void) {
  uint64_t global, local;
  int failing = 0;
  rlt_tensor *x = leaf(), *y = NULL;
  rlt_callback_options options = {.struct_size = sizeof options};
  options.needs_inputs = options.needs_outputs = 1;
  options.this_thread = 1;
  OK(rlt_add_callback(saw_begin, saw_end, "local", freeing, &options, &local));
  options.this_thread = 0;
  options.scopes = 1u << RLT_SCOPE_USER;
  OK(rlt_add_callback(saw_begin, saw_end, "global", freeing, &options, &global));
  rlt_record_function *range = begin("range");
  OK(rlt_tensor_neg(x, &y));
  rlt_value output = {RLT_VALUE_TENSOR, 0, 0, {0}};
  output.as.tensor = y;
  OK(rlt_record_function_set_outputs(range, &output, 1));
  rlt_record_function_end(range);
  CHECK(strcmp(seen, "global begins range 0 0\nlocal begins range 0 0\nlocal begins aten::neg 1 0\nlocal ends aten::neg 1 1\n"
                     "global ends range 0 1\nlocal ends range 0 1\n") == 0);
  seen[0] = 0;
  OK(rlt_set_callback_enabled(local, 0));
  rlt_record_function_end(begin("again"));
  CHECK(strcmp(seen, "global begins again 0 0\nglobal ends again 0 0\n") == 0);
  seen[0] = 0;
  OK(rlt_record_function_set_enabled(0));
  CHECK(begin("silent") == NULL);
  OK(rlt_record_function_set_enabled(1));
  /* A removed callback still ends the range that it was notified of. */
  range = begin("last");
  OK(rlt_remove_callback(global));
  CHECK(freed == 0);
  rlt_record_function_end(range);
  CHECK(freed == 1 && strcmp(seen, "global begins last 0 0\nglobal ends last 0 0\n") == 0);
  OK(rlt_remove_callback(local));
  CHECK(freed == 2);
  FAILS(rlt_remove_callback(local), RLT_ERROR_INDEX, "there is no callback");
  int32_t any = 1;
  OK(rlt_has_callbacks(0, &any));
  CHECK(any == 0 && begin("none") == NULL);
  OK(rlt_add_callback(fails, NULL, &failing, NULL, NULL, &global));
  rlt_tensor_free(y);
  OK(rlt_tensor_neg(x, &y));
  OK(rlt_remove_callback(global));
  CHECK(failing == 1);
  options.is_sampled = 1;
  options.sampling_probability = 2;
  FAILS(rlt_add_callback(fails, NULL, &failing, freeing, &options, &global), RLT_ERROR_VALUE, "Invalid sampling probability");
  CHECK(freed == 2);
  rlt_tensor_free(y);
  rlt_tensor_free(x);
}

enum { THREADS = 2, CALLS = 500 };

static void *calls(void *thread) {
  const float one = 1;
  rlt_tensor *x = vector(&one, 1);
  for (int i = 0; i < CALLS; i++) {
    rlt_tensor *y = NULL;
    OK(rlt_tensor_neg(x, &y));
    rlt_tensor_free(y);
  }
  rlt_tensor_free(x);
  *(uint64_t *)thread = rlt_current_thread();
  return NULL;
}

static void *starts_and_stops(void *result) {
  for (int i = 0; i < 100; i++) {
    rlt_profile *profile = NULL;
    /* The other thread may have started or stopped the profile. */
    if (rlt_profiler_start(NULL) == RLT_OK && rlt_profiler_stop(&profile) == RLT_OK) rlt_profile_free(profile);
  }
  return result;
}

static void threads(void) {
  pthread_t running[2 * THREADS];
  uint64_t numbers[THREADS];
  OK(rlt_profiler_start(NULL));
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&running[i], NULL, calls, &numbers[i]) == 0);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(running[i], NULL) == 0);
  rlt_profile *profile = stop();
  int found[THREADS] = {0};
  for (int64_t i = 0; i < count(profile); i++) {
    rlt_profile_event event = at(profile, i);
    for (int thread = 0; thread < THREADS; thread++) {
      found[thread] += event.thread == numbers[thread] && strcmp(event.name, "aten::neg") == 0;
    }
  }
  CHECK(found[0] == CALLS && found[1] == CALLS && numbers[0] != numbers[1]);
  rlt_profile_free(profile);

  for (int i = 0; i < 2 * THREADS; i++) {
    CHECK(pthread_create(&running[i], NULL, i < THREADS ? calls : starts_and_stops, i < THREADS ? &numbers[i] : NULL) == 0);
  }
  for (int i = 0; i < 2 * THREADS; i++) CHECK(pthread_join(running[i], NULL) == 0);
  int32_t on = 1;
  OK(rlt_profiler_is_enabled(&on));
  CHECK(on == 0);
}

int main(void) {
  nesting_and_backward();
  off();
  callbacks();
  threads();
  CHECK(live() == 0);
  OK(rlt_runtime_shutdown());
  return 0;
}
