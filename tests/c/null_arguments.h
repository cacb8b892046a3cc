/* Valid arguments for the generated program null_arguments.c, and its checks. */


#include "check.h"
#include "dlpack_structs.h"

static int failures;

static rlt_tensor *tensor, *out_tensors[20];
static const rlt_tensor *tensors[1];
static rlt_tensor_list *list, *out_list;
static rlt_generator *generator, *out_generator;
static rlt_cancel_token *token, *out_token;
static rlt_node *node, *out_node;
static const rlt_node *nodes[1];
static rlt_saved_tensor *saved, *out_saved;
static rlt_error *error, *out_error;
static rlt_op *op, *out_op;
static rlt_object *object, *out_object;
static rlt_future *future, *out_future;
static rlt_storage *storage, *out_storage;
static rlt_state_dict *dict, *out_dict;
static rlt_script *script, *out_script;
static rlt_module *module, *out_module;
static rlt_trace *trace, *out_trace;
static rlt_run *stepped, *out_stepped;
static rlt_weak_tensor *weak, *out_weak;
static rlt_cuda_event *event, *out_event;
static rlt_profile *profile, *out_profile;
static rlt_record_function *range, *out_range;
static rlt_profile_event profile_event = {.struct_size = sizeof profile_event};
static rlt_stream stream = {{RLT_DEVICE_CUDA, 0}, 0}, out_stream;
static rlt_cuda_properties properties;
static rlt_cuda_memory_stats cuda_stats;
static rlt_scalar scalar = {RLT_SCALAR_INT, 0, 1, 0.0, 0.0}, out_scalar;
static rlt_device device = {RLT_DEVICE_CPU, -1}, out_device;
static rlt_tensor_options options = RLT_TENSOR_OPTIONS_INIT;
static rlt_value value, out_value;
static rlt_named_value named;
static rlt_memory_stats stats;
static int64_t ints[4] = {1, 1, 1, 1}, out_int;
static const int64_t *out_ints;
static uint64_t out_uint;
static int32_t zero, out_int32;
static double real = 0.5, out_double;
static const char *out_text, *strings[1] = {"text"};
static float data[4];
static void *out_data;
static DLManagedTensorVersioned *out_dlpack, *in_dlpack;
static DLManagedTensor *out_legacy, *in_legacy;

static void *allocate(void *ctx, size_t size, size_t alignment) {
  (void)ctx, (void)size, (void)alignment;
  return NULL;
}

static void deallocate(void *ctx, void *block, size_t size, size_t alignment) {
  (void)ctx, (void)block, (void)size, (void)alignment;
}

static void write_log(void *ctx, int32_t level, const char *text) { (void)ctx, (void)level, (void)text; }

static int32_t run(void *ctx, int64_t shares, void (*body)(void *, int64_t), void *body_ctx) {
  (void)ctx, (void)shares, (void)body, (void)body_ctx;
  return 0;
}

static int32_t hook(void *ctx, const rlt_tensor *grad, rlt_tensor **replacement) {
  (void)ctx, (void)grad, (void)replacement;
  return 0;
}

static int32_t kernel(void *ctx, const rlt_value *args, int64_t n_args, rlt_value *outs, int64_t n_outs) {
  (void)ctx, (void)args, (void)n_args, (void)outs, (void)n_outs;
  return 0;
}

static int32_t backward(void *ctx, const rlt_tensor *const *grads, int64_t n, rlt_tensor **results, int64_t m) {
  (void)ctx, (void)grads, (void)n, (void)results, (void)m;
  return 0;
}

static int32_t leaf_hook(void *ctx, const rlt_tensor *leaf) {
  (void)ctx, (void)leaf;
  return 0;
}

static int32_t node_hook(void *ctx, const rlt_tensor *const *grads, int64_t n, const rlt_tensor *const *others, int64_t m,
                         rlt_tensor **replacements) {
  (void)ctx, (void)grads, (void)n, (void)others, (void)m, (void)replacements;
  return 0;
}

static int32_t pack(void *ctx, const rlt_tensor *saved_one, void **packed) {
  (void)ctx, (void)saved_one;
  *packed = NULL;
  return 0;
}

static int32_t unpack(void *ctx, void *packed, rlt_tensor **out) {
  (void)ctx, (void)packed, (void)out;
  return 1;
}

static int32_t checked(void *ctx, const rlt_tensor *const *inputs, int64_t n, rlt_tensor **outs, int64_t capacity, int64_t *n_outs) {
  (void)ctx, (void)inputs, (void)n, (void)outs, (void)capacity;
  *n_outs = 0;
  return 0;
}

static int32_t call_begin(void *ctx, const rlt_call *call, void **state) {
  (void)ctx, (void)call, (void)state;
  return 0;
}

static int32_t call_end(void *ctx, const rlt_call *call, void *state) {
  (void)ctx, (void)call, (void)state;
  return 0;
}

static rlt_allocator allocator = {sizeof allocator, NULL, allocate, deallocate};
static rlt_log log_hook = {sizeof log_hook, NULL, write_log};
static rlt_parallel_for parallel_for = {sizeof parallel_for, NULL, run};
static rlt_custom_function custom = {sizeof custom, "custom", NULL, backward, NULL, 0, 0, NULL};

static void setup(void) {
  const float one = 1;
  rlt_tensor *leaf = vector(&one, 1), *product = NULL;
  tensor = vector(&one, 1);
  tensors[0] = tensor;
  OK(rlt_tensor_list_new(tensors, 1, &list));
  OK(rlt_generator_new(1, &generator));
  OK(rlt_cancel_token_new(&token));
  OK(rlt_tensor_set_requires_grad(leaf, 1));
  OK(rlt_tensor_mul_Tensor(leaf, leaf, &product));
  OK(rlt_tensor_grad_fn(product, &node));
  nodes[0] = node;
  OK(rlt_saved_tensor_new(tensor, 0, &saved));
  CHECK(rlt_set_num_threads(-1) != RLT_OK);
  OK(rlt_last_error_take(&error));
  OK(rlt_op_define("test::op(Tensor self) -> Tensor", &op));
  OK(rlt_object_new("test.Class", NULL, NULL, &object));
  OK(rlt_future_new(&future));
  OK(rlt_storage_of(tensor, &storage));
  OK(rlt_state_dict_new(&dict));
  OK(rlt_state_dict_insert(dict, "text", tensor));
  OK(rlt_script_compile("def text(x):\n    return x\n", &script));
  OK(rlt_module_load(RUSHLIGHT_TEST_DATA "/script/net.pt", &module));
  OK(rlt_profiler_start(NULL));
  OK(rlt_record_function_begin(RLT_SCOPE_USER, "text", NULL, 0, NULL, &range));
  OK(rlt_profiler_stop(&profile));
  value.tag = RLT_VALUE_TENSOR;
  value.as.tensor = tensor;
  named.name = "text";
  named.value = value;
  OK(rlt_module_begin(module, "forward", &value, 1, NULL, 0, &stepped));
  OK(rlt_weak_tensor_new(tensor, &weak));
  OK(rlt_trace_begin("Text", 0, &trace));
  OK(rlt_cuda_event_new(1, &event));
  properties.struct_size = sizeof properties;
  cuda_stats.struct_size = sizeof cuda_stats;
  OK(rlt_trace_output(trace, &value));
  stats.struct_size = sizeof stats;
  OK(rlt_tensor_to_dlpack(tensor, &in_dlpack));
  OK(rlt_tensor_to_dlpack_legacy(tensor, &in_legacy));
  rlt_tensor_free(leaf);
  rlt_tensor_free(product);
}

/* Frees the results of a successful call, and restores the modes. */
static void forget(void) {
  for (size_t index = 0; index < sizeof out_tensors / sizeof *out_tensors; index++) {
    rlt_tensor_free(out_tensors[index]);
    out_tensors[index] = NULL;
  }
  rlt_tensor_list_free(out_list), out_list = NULL;
  rlt_generator_free(out_generator), out_generator = NULL;
  rlt_cancel_token_free(out_token), out_token = NULL;
  rlt_node_free(out_node), out_node = NULL;
  rlt_saved_tensor_free(out_saved), out_saved = NULL;
  rlt_error_free(out_error), out_error = NULL;
  rlt_op_free(out_op), out_op = NULL;
  rlt_object_free(out_object), out_object = NULL;
  rlt_future_free(out_future), out_future = NULL;
  rlt_storage_free(out_storage), out_storage = NULL;
  rlt_state_dict_free(out_dict), out_dict = NULL;
  rlt_script_free(out_script), out_script = NULL;
  rlt_module_free(out_module), out_module = NULL;
  rlt_trace_free(out_trace), out_trace = NULL;
  rlt_run_free(out_stepped), out_stepped = NULL;
  rlt_weak_tensor_free(out_weak), out_weak = NULL;
  rlt_cuda_event_free(out_event), out_event = NULL;
  rlt_profile_free(out_profile), out_profile = NULL;
  rlt_record_function_end(out_range), out_range = NULL;
  rlt_value_free(&out_value);
  OK(rlt_set_allocator(NULL));
  OK(rlt_set_log(NULL));
  OK(rlt_set_parallel_for(NULL));
  OK(rlt_record_stop());
  OK(rlt_cancel_set(0));
  OK(rlt_set_grad_enabled(1));
  OK(rlt_set_inference_mode(0));
}

static int teardown(int calls) {
  while (rlt_saved_tensors_hooks_pop() == RLT_OK) {
  }
  rlt_tensor_free(tensor);
  rlt_tensor_list_free(list);
  rlt_generator_free(generator);
  rlt_cancel_token_free(token);
  rlt_node_free(node);
  rlt_saved_tensor_free(saved);
  rlt_error_free(error);
  rlt_state_dict_free(dict);
  rlt_script_free(script);
  rlt_module_free(module);
  rlt_trace_free(trace);
  rlt_run_free(stepped);
  rlt_weak_tensor_free(weak);
  rlt_cuda_event_free(event);
  rlt_profile_free(profile);
  rlt_record_function_end(range);
  OK(rlt_op_unregister(op));
  rlt_object_free(object);
  rlt_future_free(future);
  rlt_storage_free(storage);
  in_dlpack->deleter(in_dlpack);
  in_legacy->deleter(in_legacy);
  printf("%d calls with NULL, %d failures\n", calls, failures);
  CHECK(live() == 0);
  OK(rlt_runtime_shutdown());
  return failures != 0;
}

/* Any status is accepted. */
#define MAY_BE_NULL(call)      \
  do {                         \
    (void)(call);              \
    forget();                  \
  } while (0)

#define MUST_NOT_BE_NULL(call, function, argument)                                                                \
  do {                                                                                                            \
    int32_t status_ = (call);                                                                                     \
    const char *message_ = rlt_last_error_message();                                                              \
    if (status_ != RLT_ERROR_NULL_POINTER || strstr(message_, function) == NULL || strstr(message_, argument) == NULL) { \
      fprintf(stderr, "%s\n  wanted RLT_ERROR_NULL_POINTER for %s, got %d: %s\n", #call, argument, (int)status_,  \
              status_ == RLT_OK ? "" : message_);                                                                 \
      failures++;                                                                                                 \
    }                                                                                                             \
    forget();                                                                                                     \
  } while (0)
