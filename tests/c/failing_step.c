/* A training step (convolution, batch norm, linear layer, cross entropy, Adam) in which the Nth request for memory fails, for
 * every N. The step must end in an error, parameters and moments must be unchanged, and the step must then succeed with the
 * result of a run without failures. */
#include "aligned.h"
#include "check.h"

enum { PARAMETERS = 6, BUFFERS = 2, WEIGHT = 0, BIAS, SCALE, SHIFT, LAST_WEIGHT, LAST_BIAS, BATCH = 4, SIDE = 6, CHANNELS = 3, CLASSES = 5 };

/* ---- An allocator that fails once ---- */

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

/* ---- The model and its optimizer ---- */

struct model {
  rlt_tensor *parameters[PARAMETERS], *means[PARAMETERS], *squares[PARAMETERS], *steps[PARAMETERS];
  rlt_tensor *buffers[BUFFERS]; /* running mean and variance of the batch norm */
  rlt_tensor *images, *labels;
};

/* Calls visit with each tensor that a step may write, and with its counterpart in `other`. */
static void for_each_pair(struct model *model, struct model *other, void (*visit)(rlt_tensor **, rlt_tensor **)) {
  for (int at = 0; at < PARAMETERS; at++) {
    visit(&model->parameters[at], &other->parameters[at]);
    visit(&model->means[at], &other->means[at]);
    visit(&model->squares[at], &other->squares[at]);
    visit(&model->steps[at], &other->steps[at]);
  }
  for (int at = 0; at < BUFFERS; at++) visit(&model->buffers[at], &other->buffers[at]);
}

static void make_model(struct model *model) {
  static const int64_t sizes[PARAMETERS][4] = {{CHANNELS, 1, 3, 3}, {CHANNELS}, {CHANNELS}, {CHANNELS}, {CLASSES, CHANNELS * SIDE * SIDE}, {CLASSES}};
  static const int64_t dims[PARAMETERS] = {4, 1, 1, 1, 2, 1};
  static const int64_t labels[BATCH] = {0, 3, 1, 4}, image_sizes[4] = {BATCH, 1, SIDE, SIDE}, channels = CHANNELS, batch = BATCH;
  OK(rlt_manual_seed(1));
  for (int at = 0; at < PARAMETERS; at++) {
    OK(rlt_tensor_randn(sizes[at], dims[at], NULL, &model->parameters[at]));
    OK(rlt_tensor_zeros_like(model->parameters[at], NULL, NULL, &model->means[at]));
    OK(rlt_tensor_zeros_like(model->parameters[at], NULL, NULL, &model->squares[at]));
    OK(rlt_tensor_zeros(NULL, 0, NULL, &model->steps[at]));
    OK(rlt_tensor_set_requires_grad(model->parameters[at], 1));
  }
  OK(rlt_tensor_zeros(&channels, 1, NULL, &model->buffers[0]));
  OK(rlt_tensor_ones(&channels, 1, NULL, &model->buffers[1]));
  OK(rlt_tensor_randn(image_sizes, 4, NULL, &model->images));
  OK(rlt_tensor_from_data(labels, sizeof labels, &batch, 1, RLT_DTYPE_INT64, &model->labels));
}

static void release(rlt_tensor **tensor, rlt_tensor **unused) {
  (void)unused;
  rlt_tensor_free(*tensor);
}

static void clone(rlt_tensor **tensor, rlt_tensor **copy) {
  OK(rlt_set_grad_enabled(0));
  OK(rlt_tensor_clone(*tensor, NULL, copy));
  OK(rlt_set_grad_enabled(1));
}

static void restore(rlt_tensor **tensor, rlt_tensor **copy) {
  OK(rlt_set_grad_enabled(0));
  OK(rlt_tensor_copy_(*tensor, *copy, 0));
  OK(rlt_set_grad_enabled(1));
}

static int64_t elements(const rlt_tensor *tensor) {
  int64_t count = 0;
  OK(rlt_tensor_numel(tensor, &count));
  return count;
}

static int same(const rlt_tensor *one, const rlt_tensor *other) {
  return elements(one) == elements(other) && memcmp(floats(one), floats(other), (size_t)elements(one) * sizeof(float)) == 0;
}

static void check_same(rlt_tensor **one, rlt_tensor **other) { CHECK(same(*one, *other)); }

/* ---- The step ---- */

/* From the images to the loss; `made` receives the intermediate tensors. */
static int32_t forward(const struct model *model, rlt_tensor *made[6]) {
  const int64_t one = 1;
  rlt_tensor *const *p = model->parameters;
  int32_t status = rlt_tensor_conv2d(model->images, p[WEIGHT], p[BIAS], &one, 1, &one, 1, &one, 1, 1, &made[0]);
  if (!status) status = rlt_tensor_batch_norm(made[0], p[SCALE], p[SHIFT], model->buffers[0], model->buffers[1], 1, 0.1, 1e-5, 0, &made[1]);
  if (!status) status = rlt_tensor_relu(made[1], &made[2]);
  if (!status) status = rlt_tensor_flatten_using_ints(made[2], 1, -1, &made[3]);
  if (!status) status = rlt_tensor_linear(made[3], p[LAST_WEIGHT], p[LAST_BIAS], &made[4]);
  if (!status) status = rlt_tensor_cross_entropy_loss(made[4], model->labels, NULL, 1, -100, 0.0, &made[5]);
  return status;
}

static int32_t adam(const struct model *model) {
  const rlt_tensor *grads[PARAMETERS];
  rlt_tensor *owned[PARAMETERS] = {NULL};
  rlt_scalar one = number(1);
  int32_t status = rlt_set_grad_enabled(0);
  for (int at = 0; at < PARAMETERS && !status; at++) {
    status = rlt_tensor_grad(model->parameters[at], &owned[at]);
    grads[at] = owned[at];
    if (!status) status = rlt_tensor_add_Scalar_(model->steps[at], &one, &one);
  }
#define LIST(tensors) (const rlt_tensor *const *)(tensors), PARAMETERS
  if (!status)
    status = rlt_tensor__fused_adam_(LIST(model->parameters), LIST(grads), LIST(model->means), LIST(model->squares), NULL, 0,
                                     LIST(model->steps), 0.01, 0.9, 0.999, 0.0, 1e-8, 0, 0, NULL, NULL);
#undef LIST
  for (int at = 0; at < PARAMETERS; at++) rlt_tensor_free(owned[at]);
  OK(rlt_set_grad_enabled(1));
  return status;
}

/* Returns the first status that is not RLT_OK. */
static int32_t training_step(const struct model *model, float *loss) {
  rlt_tensor *made[6] = {NULL};
  int32_t status = RLT_OK;
  for (int at = 0; at < PARAMETERS && !status; at++) status = rlt_tensor_set_grad(model->parameters[at], NULL);
  if (!status) status = forward(model, made);
  if (!status) status = rlt_tensor_backward(made[5], NULL, 0, 0);
  if (!status) status = adam(model);
  if (!status) *loss = *floats(made[5]);
  for (int at = 0; at < 6; at++) rlt_tensor_free(made[at]);
  return status;
}

int main(void) {
  struct pool pool = {0, 0, 0};
  rlt_allocator allocator = {sizeof allocator, NULL, pool_allocate, pool_deallocate};
  struct model model, before, after;
  float expected = 0, loss = 0;
  allocator.ctx = &pool;
  OK(rlt_set_allocator(&allocator));
  make_model(&model);
  OK(training_step(&model, &expected)); /* the averages are not zero in the steps that count */
  for_each_pair(&model, &before, clone);
  pool.requests = 0;
  OK(training_step(&model, &expected));
  const long needed = pool.requests;
  CHECK(needed > 20 && expected > 0);
  for_each_pair(&model, &after, clone);
  for (int at = 0; at < PARAMETERS; at++) CHECK(!same(before.parameters[at], after.parameters[at]));
  for (int at = 0; at < PARAMETERS; at++) OK(rlt_tensor_set_grad(model.parameters[at], NULL));
  const long held = pool.live;
  const int64_t handles = live();

  for (long nth = 1; nth <= needed; nth++) {
    for_each_pair(&model, &before, restore);
    pool.requests = 0;
    pool.fail_at = nth;
    FAILS(training_step(&model, &loss), RLT_ERROR_OUT_OF_MEMORY, "not enough memory");
    pool.fail_at = 0;
    for (int at = 0; at < PARAMETERS; at++) {
      CHECK(same(model.parameters[at], before.parameters[at]));
      CHECK(same(model.means[at], before.means[at]));
      CHECK(same(model.squares[at], before.squares[at]));
    }
    /* A forward pass that succeeded has updated its buffers; one that failed has not. */
    const int updated = same(model.buffers[0], after.buffers[0]);
    for (int at = 0; at < BUFFERS; at++) CHECK(same(model.buffers[at], (updated ? &after : &before)->buffers[at]));
    for (int at = 0; at < PARAMETERS; at++) OK(rlt_tensor_set_grad(model.parameters[at], NULL));
    CHECK(pool.live == held && live() == handles);

    for_each_pair(&model, &before, restore);
    OK(training_step(&model, &loss));
    CHECK(memcmp(&loss, &expected, sizeof loss) == 0);
    for_each_pair(&model, &after, check_same);
    for (int at = 0; at < PARAMETERS; at++) OK(rlt_tensor_set_grad(model.parameters[at], NULL));
    CHECK(pool.live == held && live() == handles);
  }
  printf("%ld requests for memory, each failed once\n", needed);

  for_each_pair(&model, &model, release);
  for_each_pair(&before, &before, release);
  for_each_pair(&after, &after, release);
  rlt_tensor_free(model.images);
  rlt_tensor_free(model.labels);
  CHECK(live() == 0);
  OK(rlt_set_allocator(NULL));
  OK(rlt_runtime_shutdown());
  CHECK(pool.live == 0);
  return 0;
}
