/* Invalid calls return an error with a message, leave outputs untouched, and the library usable. */
#include "check.h"
#include <pthread.h>

static void *other_thread(void *unused) {
  (void)unused;
  CHECK(rlt_last_error_code() == RLT_OK);
  CHECK(strcmp(rlt_last_error_message(), "") == 0);
  FAILS(rlt_set_num_threads(0), RLT_ERROR_RUNTIME, "expected a positive number of threads, got 0");
  return NULL;
}

static void shapes_dtypes_devices(void) {
  const float values[6] = {1, 2, 3, 4, 5, 6};
  rlt_tensor *two = vector(values, 2), *three = vector(values, 3), *square = matrix(values, 2, 3);
  rlt_tensor *untouched = (rlt_tensor *)(void *)values, *out = untouched;
  rlt_scalar one = integer(1);

  FAILS(rlt_tensor_add_Tensor(two, three, &one, &out), RLT_ERROR_RUNTIME,
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0");
  CHECK(out == untouched);
  CHECK(strstr(rlt_last_error_message(), "add.Tensor") != NULL);
  FAILS(rlt_tensor_mm(square, square, &out), RLT_ERROR_RUNTIME, "mat1 and mat2 shapes cannot be multiplied");
  FAILS(rlt_tensor_select_int(two, 5, 0, &out), RLT_ERROR_INDEX, "Dimension out of range");
  FAILS(rlt_tensor_select_int(two, 0, 7, &out), RLT_ERROR_INDEX, "out of range");

  int64_t size = 2;
  rlt_tensor *integers = NULL, *meta = NULL;
  rlt_tensor_options options = RLT_TENSOR_OPTIONS_INIT;
  options.dtype = RLT_DTYPE_INT64;
  OK(rlt_tensor_zeros(&size, 1, &options, &integers));
  FAILS(rlt_tensor_set_requires_grad(integers, 1), RLT_ERROR_RUNTIME,
        "Only Tensors of floating point and complex dtype can require gradients");
  FAILS(rlt_tensor_mean(integers, NULL, &out), RLT_ERROR_RUNTIME, "mean");
  options.dtype = 99;
  FAILS(rlt_tensor_zeros(&size, 1, &options, &out), RLT_ERROR_TYPE, "dtype number 99 is not supported");
  options.dtype = -1;
  options.device_type = RLT_DEVICE_CUDA;
  FAILS(rlt_tensor_zeros(&size, 1, &options, &out), RLT_ERROR_RUNTIME, "no CUDA device");
  options.device_type = RLT_DEVICE_META;
  OK(rlt_tensor_zeros(&size, 1, &options, &meta));
  FAILS(rlt_tensor_add_Tensor(two, meta, &one, &out), RLT_ERROR_RUNTIME, "Expected all tensors to be on the same device");
  void *data = NULL;
  FAILS(rlt_tensor_data_ptr(meta, &data), RLT_ERROR_RUNTIME, "meta");
  int64_t negative = -2;
  FAILS(rlt_tensor_zeros(&negative, 1, NULL, &out), RLT_ERROR_RUNTIME, "negative dimension -2");
  int64_t huge[2] = {INT64_MAX, 16};
  FAILS(rlt_tensor_zeros(huge, 2, NULL, &out), RLT_ERROR_RUNTIME, "overflow");
  int64_t much = INT64_C(1) << 60;
  FAILS(rlt_tensor_empty_memory_format(&much, 1, NULL, NULL, &out), RLT_ERROR_OUT_OF_MEMORY, "not enough memory");
  FAILS(rlt_tensor_from_data(values, 7, &size, 1, RLT_DTYPE_FLOAT32, &out), RLT_ERROR_VALUE, "8 bytes, but 7 were given");
  FAILS(rlt_tensor_zeros(&size, -1, NULL, &out), RLT_ERROR_VALUE, "the length of argument `size` is negative");
  options.struct_size = 3;
  FAILS(rlt_tensor_zeros(&size, 1, &options, &out), RLT_ERROR_VALUE, "struct_size is 3");
  rlt_scalar wrong = {77, 0, 0, 0.0, 0.0};
  FAILS(rlt_tensor_add_Scalar(two, &wrong, &one, &out), RLT_ERROR_TYPE, "argument `other`: 77 is not the tag of a number");
  rlt_scalar value;
  FAILS(rlt_tensor_item(square, &value), RLT_ERROR_RUNTIME, "a Tensor with 6 elements cannot be converted to Scalar");

  rlt_tensor_free(two);
  rlt_tensor_free(three);
  rlt_tensor_free(square);
  rlt_tensor_free(integers);
  rlt_tensor_free(meta);
}

static void shorter_and_longer_structs(void) {
  int64_t size = 2;
  int32_t dtype = -1;
  /* An older caller's struct has only the dtype: the rest is not read. */
  struct { size_t struct_size; int32_t dtype; int32_t garbage; } older = {sizeof(size_t) + sizeof(int32_t), RLT_DTYPE_FLOAT64, 12345};
  rlt_tensor *tensor = NULL;
  OK(rlt_tensor_zeros(&size, 1, (const rlt_tensor_options *)(const void *)&older, &tensor));
  OK(rlt_tensor_dtype(tensor, &dtype));
  CHECK(dtype == RLT_DTYPE_FLOAT64);
  rlt_tensor_free(tensor);
  /* A newer caller's struct has fields that are unknown to this library. */
  struct { rlt_tensor_options known; int64_t unknown; } newer = {RLT_TENSOR_OPTIONS_INIT, 7};
  newer.known.struct_size = sizeof newer;
  newer.known.dtype = RLT_DTYPE_BOOL;
  OK(rlt_tensor_zeros(&size, 1, &newer.known, &tensor));
  OK(rlt_tensor_dtype(tensor, &dtype));
  CHECK(dtype == RLT_DTYPE_BOOL);
  rlt_tensor_free(tensor);
  rlt_memory_stats stats;
  stats.struct_size = sizeof stats;
  OK(rlt_memory_get_stats(&stats));
  CHECK(stats.struct_size == sizeof stats && stats.allocated >= 0 && stats.peak >= stats.allocated);
}

static void the_last_error(void) {
  FAILS(rlt_set_num_threads(-3), RLT_ERROR_RUNTIME, "got -3");
  /* A successful call leaves it unchanged. */
  int32_t threads = 0;
  OK(rlt_get_num_threads(&threads));
  CHECK(threads > 0 && rlt_last_error_code() == RLT_ERROR_RUNTIME);
  rlt_error *error = NULL, *none = (rlt_error *)(void *)&error;
  OK(rlt_last_error_take(&error));
  CHECK(rlt_last_error_code() == RLT_OK);
  OK(rlt_last_error_take(&none));
  CHECK(none == NULL);
  FAILS(rlt_set_num_threads(-4), RLT_ERROR_RUNTIME, "got -4");
  CHECK(rlt_error_code(error) == RLT_ERROR_RUNTIME && strstr(rlt_error_message(error), "got -3") != NULL);
  rlt_error_free(error);
  CHECK(rlt_set_last_error(RLT_ERROR_VALUE, "mine") == RLT_ERROR_VALUE);
  CHECK(strcmp(rlt_last_error_message(), "mine") == 0);
  CHECK(rlt_set_last_error(4711, NULL) == RLT_ERROR_CALLBACK);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(strcmp(rlt_last_error_message(), "unknown error") == 0);
}

static void a_panic_inside(void) {
  for (int round = 0; round < 3; round++)
    FAILS(rlt_debug_panic("the sky fell"), RLT_ERROR_INTERNAL, "rlt_debug_panic: internal error: the sky fell (at ");
  FAILS(rlt_debug_panic(NULL), RLT_ERROR_NULL_POINTER, "rlt_debug_panic: argument `message` is NULL");
  const float values[2] = {1, 2};
  rlt_tensor *tensor = vector(values, 2), *sum = NULL;
  OK(rlt_tensor_sum(tensor, NULL, &sum));
  CHECK(item(sum) == 3);
  rlt_tensor_free(tensor);
  rlt_tensor_free(sum);
}

static void cancelling(void) {
  const float values[2] = {1, 2};
  rlt_tensor *tensor = vector(values, 2), *out = NULL;
  int32_t on = -1;
  OK(rlt_cancel_set(1));
  OK(rlt_cancel_get(&on));
  CHECK(on == 1);
  FAILS(rlt_tensor_neg(tensor, &out), RLT_ERROR_CANCELLED, "cancelled");
  OK(rlt_cancel_set(0));
  OK(rlt_tensor_neg(tensor, &out));
  rlt_tensor_free(tensor);
  rlt_tensor_free(out);
}

static void *cancel_soon(void *token) {
  const struct timespec while_it_runs = {.tv_nsec = 20 * 1000 * 1000};
  nanosleep(&while_it_runs, NULL);
  OK(rlt_cancel_token_cancel(token));
  return NULL;
}

static void *calls_of_another_thread(void *tensor) {
  rlt_tensor *out = NULL;
  OK(rlt_tensor_neg(tensor, &out));
  rlt_tensor_free(out);
  return NULL;
}

/* The thread ends within a token, whose handle is freed. */
static void *cancelling_one_thread(void *nothing) {
  const float values[2] = {1, 2};
  rlt_tensor *tensor = vector(values, 2), *out = NULL;
  rlt_cancel_token *token = NULL, *other = NULL;
  int32_t cancelled = -1;
  OK(rlt_cancel_token_new(&token));
  OK(rlt_cancel_token_is_cancelled(token, &cancelled));
  CHECK(cancelled == 0);
  FAILS(rlt_cancel_token_leave(token), RLT_ERROR_RUNTIME, "did not enter");
  OK(rlt_cancel_token_enter(token));

  /* A running operator ends: without the token this product takes a second. */
  const int64_t sizes[2] = {6000, 6000};
  rlt_tensor *large = NULL, *product = NULL;
  pthread_t thread;
  OK(rlt_tensor_zeros(sizes, 2, NULL, &large));
  CHECK(pthread_create(&thread, NULL, cancel_soon, token) == 0);
  FAILS(rlt_tensor_mm(large, large, &product), RLT_ERROR_CANCELLED, "the operation was cancelled");
  CHECK(pthread_join(thread, NULL) == 0);
  rlt_tensor_free(large);
  FAILS(rlt_tensor_neg(tensor, &out), RLT_ERROR_CANCELLED, "the operation was cancelled");
  CHECK(pthread_create(&thread, NULL, calls_of_another_thread, tensor) == 0 && pthread_join(thread, NULL) == 0);

  /* An inner token does not hide an outer one. */
  OK(rlt_cancel_token_new(&other));
  OK(rlt_cancel_token_enter(other));
  FAILS(rlt_tensor_neg(tensor, &out), RLT_ERROR_CANCELLED, "the operation was cancelled");
  FAILS(rlt_cancel_token_leave(token), RLT_ERROR_RUNTIME, "entered another one after it");
  OK(rlt_cancel_token_leave(other));
  rlt_cancel_token_free(other);
  rlt_cancel_token_free(token);
  token = NULL;

  OK(rlt_cancel_token_new(&token));
  OK(rlt_cancel_token_set_timeout(token, 0));
  OK(rlt_cancel_token_is_cancelled(token, &cancelled));
  CHECK(cancelled == 1);
  rlt_cancel_token_free(token);
  rlt_tensor_free(tensor);
  return nothing;
}

int main(void) {
  CHECK(rlt_abi_version() == RLT_ABI_VERSION);
  CHECK(strcmp(rlt_version(), "0.1.0") == 0);
  CHECK(rlt_last_error_code() == RLT_OK && strcmp(rlt_last_error_message(), "") == 0);
  shapes_dtypes_devices();
  shorter_and_longer_structs();
  the_last_error();
  a_panic_inside();
  cancelling();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, cancelling_one_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
  /* NULL is nothing to free. */
  rlt_tensor_free(NULL);
  rlt_tensor_list_free(NULL);
  rlt_generator_free(NULL);
  rlt_error_free(NULL);
  rlt_node_free(NULL);
  rlt_saved_tensor_free(NULL);
  rlt_state_dict_free(NULL);
  rlt_op_free(NULL);
  rlt_value_free(NULL);
  CHECK(live() == 0);
  return 0;
}
