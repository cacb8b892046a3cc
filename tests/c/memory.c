/* Memory of the caller: from_blob, DLPack, allocator, failing allocations; and the other hooks. */
#include "aligned.h"
#include "check.h"
#include "dlpack_structs.h"

/* ---- from_blob ---- */

struct blob {
  int deleted;
  void *data;
};

static void delete_blob(void *ctx, void *data) {
  struct blob *blob = ctx;
  blob->deleted++;
  blob->data = data;
}

static void from_blob(void) {
  float values[6] = {1, 2, 3, 4, 5, 6};
  int64_t sizes[2] = {2, 2}, strides[2] = {3, 1};
  struct blob blob = {0, NULL};
  rlt_tensor *tensor = NULL, *row = NULL;
  OK(rlt_tensor_from_blob(values, sizes, strides, 2, NULL, delete_blob, &blob, &tensor));
  const int64_t *seen_sizes = NULL, *seen_strides = NULL;
  int64_t ndim = 0;
  OK(rlt_tensor_geometry(tensor, &seen_sizes, &seen_strides, &ndim));
  CHECK(ndim == 2 && seen_sizes[1] == 2 && seen_strides[0] == 3);
  OK(rlt_tensor_select_int(tensor, 0, 1, &row));
  CHECK(floats(row) == values + 3);
  rlt_scalar one = integer(1);
  OK(rlt_tensor_add_Scalar_(row, &one, &one));
  CHECK(values[3] == 5 && values[4] == 6 && values[5] == 6);
  rlt_tensor_free(tensor);
  CHECK(blob.deleted == 0);
  rlt_tensor_free(row);
  CHECK(blob.deleted == 1 && blob.data == values);

  FAILS(rlt_tensor_from_blob((char *)values + 1, sizes, NULL, 2, NULL, delete_blob, &blob, &tensor), RLT_ERROR_VALUE,
        "not aligned to 4 bytes");
  strides[0] = -3;
  FAILS(rlt_tensor_from_blob(values, sizes, strides, 2, NULL, delete_blob, &blob, &tensor), RLT_ERROR_VALUE,
        "strides must not be negative");
  FAILS(rlt_tensor_from_blob(NULL, sizes, NULL, 2, NULL, delete_blob, &blob, &tensor), RLT_ERROR_NULL_POINTER, "data");
  CHECK(blob.deleted == 1);
  rlt_tensor_options options = RLT_TENSOR_OPTIONS_INIT;
  options.requires_grad = 1;
  OK(rlt_tensor_from_blob(values, sizes, NULL, 2, &options, NULL, NULL, &tensor));
  int32_t asked = 0;
  OK(rlt_tensor_requires_grad(tensor, &asked));
  CHECK(asked == 1);
  rlt_tensor_free(tensor);
}

/* ---- DLPack ---- */

static int produced_deleted;

static void delete_produced(DLManagedTensorVersioned *self) {
  (void)self;
  produced_deleted++;
}

static void delete_produced_legacy(DLManagedTensor *self) {
  (void)self;
  produced_deleted++;
}

static void dlpack_out(void) {
  const float values[6] = {1, 2, 3, 4, 5, 6};
  rlt_tensor *tensor = matrix(values, 2, 3), *transposed = NULL, *back = NULL;
  DLManagedTensorVersioned *managed = NULL;
  OK(rlt_tensor_transpose_int(tensor, 0, 1, &transposed));
  OK(rlt_tensor_to_dlpack(transposed, &managed));
  rlt_tensor_free(transposed);
  CHECK(managed->version.major == 1 && managed->flags == 0);
  CHECK(managed->dl_tensor.ndim == 2 && managed->dl_tensor.shape[0] == 3 && managed->dl_tensor.strides[0] == 1);
  CHECK(managed->dl_tensor.dtype.code == 2 && managed->dl_tensor.dtype.bits == 32 && managed->dl_tensor.dtype.lanes == 1);
  CHECK(managed->dl_tensor.data == floats(tensor) && managed->dl_tensor.device.device_type == 1);
  /* And in again, without a copy. */
  OK(rlt_tensor_from_dlpack(managed, &back));
  CHECK(floats(back) == floats(tensor));
  rlt_tensor_free(tensor);
  int64_t offset = 0;
  OK(rlt_tensor_storage_offset(back, &offset));
  CHECK(floats(back)[1] == 2 && offset == 0);
  DLManagedTensor *legacy = NULL;
  OK(rlt_tensor_to_dlpack_legacy(back, &legacy));
  rlt_tensor_free(back);
  CHECK(legacy->dl_tensor.shape[1] == 2);
  legacy->deleter(legacy);
  CHECK(live() == 0);

  /* An exported struct keeps its memory alive, even if the tensor gets other memory. */
  float given[2] = {7, 8};
  const int64_t two = 2;
  struct blob blob = {0, NULL};
  OK(rlt_tensor_from_blob(given, &two, NULL, 1, NULL, delete_blob, &blob, &tensor));
  rlt_tensor *other = vector(values, 2);
  OK(rlt_tensor_to_dlpack(tensor, &managed));
  OK(rlt_tensor_set_data(tensor, other));
  CHECK(blob.deleted == 0);
  managed->deleter(managed);
  CHECK(blob.deleted == 1);
  rlt_tensor_free(other);
  rlt_tensor_free(tensor);

  tensor = vector(values, 2);
  OK(rlt_tensor_set_requires_grad(tensor, 1));
  FAILS(rlt_tensor_to_dlpack(tensor, &managed), RLT_ERROR_RUNTIME, "Can't export tensors that require gradient");
  rlt_tensor_free(tensor);
}

static void dlpack_in(void) {
  int16_t values[4] = {10, 11, 12, 13};
  int64_t shape[1] = {2}, strides[1] = {2};
  DLManagedTensorVersioned managed;
  memset(&managed, 0, sizeof managed);
  managed.version.major = 1;
  managed.version.minor = 1;
  managed.deleter = delete_produced;
  managed.dl_tensor.data = values;
  managed.dl_tensor.device.device_type = 1;
  managed.dl_tensor.ndim = 1;
  managed.dl_tensor.dtype.bits = 16;
  managed.dl_tensor.dtype.lanes = 1;
  managed.dl_tensor.shape = shape;
  managed.dl_tensor.strides = strides;
  managed.dl_tensor.byte_offset = 2;
  rlt_tensor *tensor = NULL, *last = NULL;
  OK(rlt_tensor_from_dlpack(&managed, &tensor));
  OK(rlt_tensor_select_int(tensor, 0, 1, &last));
  CHECK(item(last) == 13);
  rlt_tensor_free(tensor);
  CHECK(produced_deleted == 0);
  rlt_tensor_free(last);
  CHECK(produced_deleted == 1);

  managed.flags = 1;
  FAILS(rlt_tensor_from_dlpack(&managed, &tensor), RLT_ERROR_VALUE, "read-only");
  managed.flags = 0;
  managed.version.major = 2;
  FAILS(rlt_tensor_from_dlpack(&managed, &tensor), RLT_ERROR_VALUE, "DLPack version 2.1 is not supported");
  managed.version.major = 1;
  managed.dl_tensor.dtype.lanes = 4;
  FAILS(rlt_tensor_from_dlpack(&managed, &tensor), RLT_ERROR_TYPE, "4 lanes");
  managed.dl_tensor.dtype.lanes = 1;
  managed.dl_tensor.device.device_type = 7;
  FAILS(rlt_tensor_from_dlpack(&managed, &tensor), RLT_ERROR_NOT_IMPLEMENTED, "DLPack device type 7");
  CHECK(produced_deleted == 1);

  DLManagedTensor legacy;
  memset(&legacy, 0, sizeof legacy);
  legacy.dl_tensor = managed.dl_tensor;
  legacy.dl_tensor.device.device_type = 1;
  legacy.dl_tensor.strides = NULL;
  legacy.deleter = delete_produced_legacy;
  OK(rlt_tensor_from_dlpack_legacy(&legacy, &tensor));
  OK(rlt_tensor_select_int(tensor, 0, 1, &last));
  CHECK(item(last) == 12);
  rlt_tensor_free(tensor);
  rlt_tensor_free(last);
  CHECK(produced_deleted == 2);
}

/* ---- The allocator, and what a training step does when it fails ---- */

struct pool {
  long requests, fail_at, live;
};

static void *pool_allocate(void *ctx, size_t size, size_t alignment) {
  struct pool *pool = ctx;
  if (++pool->requests == pool->fail_at) return NULL;
  void *block = aligned_block(size, alignment);
  if (block == NULL) return NULL;
  pool->live++;
  return block;
}

static void pool_deallocate(void *ctx, void *block, size_t size, size_t alignment) {
  struct pool *pool = ctx;
  (void)size, (void)alignment;
  pool->live--;
  free_aligned_block(block);
}

/* Linear, relu, linear, cross entropy, backward, SGD. Returns the first status that is not RLT_OK. */
static int32_t training_step(double *loss_value) {
  int32_t status = RLT_OK;
  int64_t count = 0, n_params = 4;
  int64_t batch = 3, in = 4, hidden = 5, classes = 2;
  int64_t shapes[4][2], ndims[4] = {2, 1, 2, 1};
  rlt_tensor *params[4] = {NULL, NULL, NULL, NULL}, *grads[4] = {NULL, NULL, NULL, NULL};
  rlt_tensor *x = NULL, *h = NULL, *r = NULL, *y = NULL, *l = NULL, *target = NULL, *loss = NULL;
  rlt_tensor_options as_int = RLT_TENSOR_OPTIONS_INIT;
  int64_t input[2];
  input[0] = batch, input[1] = in;
  as_int.dtype = RLT_DTYPE_INT64;
  shapes[0][0] = hidden, shapes[0][1] = in, shapes[1][0] = hidden;
  shapes[2][0] = classes, shapes[2][1] = hidden, shapes[3][0] = classes;

#define TRY(call) if ((status = (call)) != RLT_OK) goto end
  for (count = 0; count < n_params; count++) {
    rlt_scalar value = number(0.1 * (double)(count + 1));
    TRY(rlt_tensor_full(shapes[count], ndims[count], &value, NULL, &params[count]));
    TRY(rlt_tensor_set_requires_grad(params[count], 1));
  }
  TRY(rlt_tensor_ones(input, 2, NULL, &x));
  TRY(rlt_tensor_zeros(&batch, 1, &as_int, &target));
  TRY(rlt_tensor_linear(x, params[0], params[1], &h));
  TRY(rlt_tensor_relu(h, &r));
  TRY(rlt_tensor_linear(r, params[2], params[3], &y));
  TRY(rlt_tensor_log_softmax_int(y, 1, NULL, &l));
  TRY(rlt_tensor_nll_loss(l, target, NULL, 1, -100, &loss));
  TRY(rlt_tensor_backward(loss, NULL, 0, 0));
  for (count = 0; count < n_params; count++) TRY(rlt_tensor_grad(params[count], &grads[count]));
  TRY(rlt_set_grad_enabled(0));
  TRY(rlt_tensor__fused_sgd_((const rlt_tensor *const *)params, n_params, (const rlt_tensor *const *)grads, n_params, NULL,
                             0, 0.0, 0.0, 0.1, 0.0, 0, 0, 0, NULL, NULL));
  *loss_value = item(loss);
#undef TRY
end:
  if (status != RLT_OK && rlt_last_error_message()[0] == '\0') status = -1;
  rlt_set_grad_enabled(1);
  for (count = 0; count < n_params; count++) {
    rlt_tensor_free(params[count]);
    rlt_tensor_free(grads[count]);
  }
  rlt_tensor_free(x);
  rlt_tensor_free(h);
  rlt_tensor_free(r);
  rlt_tensor_free(y);
  rlt_tensor_free(l);
  rlt_tensor_free(target);
  rlt_tensor_free(loss);
  return status;
}

static void failing_allocations(void) {
  struct pool pool = {0, 0, 0};
  rlt_allocator allocator = {sizeof allocator, NULL, pool_allocate, pool_deallocate};
  double loss = 0, expected = 0;
  allocator.ctx = &pool;
  OK(rlt_set_allocator(&allocator));
  OK(training_step(&expected));
  long needed = pool.requests;
  CHECK(needed > 10 && pool.live == 0 && expected > 0.5 && expected < 0.9);
  for (long nth = 1; nth <= needed; nth++) {
    pool.requests = 0;
    pool.fail_at = nth;
    FAILS(training_step(&loss), RLT_ERROR_OUT_OF_MEMORY, "not enough memory");
    CHECK(pool.live == 0 && live() == 0);
  }
  pool.requests = 0;
  pool.fail_at = 0;
  OK(training_step(&loss));
  CHECK(loss == expected && pool.live == 0);

  /* A block is freed by the allocator it came from, even after that was replaced. */
  const float value = 1;
  rlt_tensor *tensor = vector(&value, 1);
  CHECK(pool.live == 1);
  OK(rlt_set_allocator(NULL));
  rlt_tensor_free(tensor);
  CHECK(pool.live == 0);
  allocator.deallocate = NULL;
  FAILS(rlt_set_allocator(&allocator), RLT_ERROR_NULL_POINTER, "allocate and deallocate must not be NULL");
  rlt_memory_stats stats;
  stats.struct_size = sizeof stats;
  OK(rlt_memory_get_stats(&stats));
  CHECK(stats.allocated == 0 && stats.peak > 0);
  OK(rlt_memory_reset_peak());
  OK(rlt_memory_trim());
  OK(rlt_memory_get_stats(&stats));
  CHECK(stats.peak == 0 && stats.reserved == 0);

  /* Freed memory is cached, up to a limit. */
  OK(rlt_memory_set_cache_limit(1 << 20));
  tensor = vector(&value, 1);
  rlt_tensor_free(tensor);
  OK(rlt_memory_get_stats(&stats));
  CHECK(stats.allocated == 0 && stats.reserved > 0);
  OK(rlt_memory_set_cache_limit(0));
  tensor = vector(&value, 1);
  rlt_tensor_free(tensor);
  OK(rlt_memory_get_stats(&stats));
  CHECK(stats.reserved == 0);
  FAILS(rlt_memory_set_cache_limit(-1), RLT_ERROR_VALUE, "a limit of -1 bytes is not possible");
}

/* ---- Log and parallel-for ---- */

static char line[256];

static void write_line(void *ctx, int32_t level, const char *text) {
  (void)ctx;
  snprintf(line, sizeof line, "%d %s", (int)level, text);
}

static void log_hook(void) {
  rlt_log log = {sizeof log, NULL, write_line};
  const float value = 1;
  rlt_tensor *tensor = vector(&value, 1), *out = NULL;
  OK(rlt_set_log(&log));
  OK(rlt_record_start(NULL, NULL));
  OK(rlt_tensor_neg(tensor, &out));
  OK(rlt_record_stop());
  OK(rlt_set_log(NULL));
  CHECK(strcmp(line, "0 neg([1] float32)") == 0);
  rlt_tensor_free(tensor);
  rlt_tensor_free(out);
}

static int32_t run_backwards(void *ctx, int64_t shares, void (*body)(void *, int64_t), void *body_ctx) {
  ++*(int *)ctx;
  for (int64_t share = shares - 1; share >= 0; share--) body(body_ctx, share);
  return 0;
}

static void parallel_hook(void) {
  int calls = 0;
  rlt_parallel_for loop = {sizeof loop, NULL, run_backwards};
  int64_t size = 1000000;
  rlt_tensor *ones = NULL, *before = NULL, *after = NULL;
  loop.ctx = &calls;
  OK(rlt_tensor_ones(&size, 1, NULL, &ones));
  OK(rlt_tensor_sum(ones, NULL, &before));
  OK(rlt_set_parallel_for(&loop));
  OK(rlt_set_num_threads(4));
  OK(rlt_tensor_sum(ones, NULL, &after));
  OK(rlt_set_parallel_for(NULL));
  CHECK(item(before) == 1e6 && item(after) == 1e6);
  rlt_tensor_free(ones);
  rlt_tensor_free(before);
  rlt_tensor_free(after);
}

int main(void) {
  from_blob();
  dlpack_out();
  dlpack_in();
  failing_allocations();
  log_hook();
  parallel_hook();
  CHECK(live() == 0);
  OK(rlt_runtime_shutdown());
  return 0;
}
