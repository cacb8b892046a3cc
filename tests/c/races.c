/* Threads change the shape, the storage and the elements of shared tensors while others compute with them. The values are
 * unspecified, and calls may fail; the process must survive, and must not leak handles.
 *
 * The run takes about 3 seconds; RUSHLIGHT_RACES_SECONDS sets another time. Each round gives every thread one function.
 * The first rounds combine resize_, set_data and each of the operators that once corrupted the heap together; the later
 * ones are random. With an argument the program runs only the rounds with the operator of this name. */
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { THREADS = 8, MUTATORS_AT_ONCE = 4, TARGETS = 3, SOURCES = 9 };

/* The tensors that the threads share. */
static rlt_tensor *targets[TARGETS], *sources[SOURCES], *counts, *masks, *complexes, *leaves;
/* Views of one storage of 4096 indices. */
static rlt_tensor *flat, *rows, *square, *image, *length;
/* A view of the first source; what sorting writes indices to. */
static rlt_tensor *picture, *sorted;

static int64_t at_random(uint64_t *state, int64_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((*state >> 33) % (uint64_t)below);
}

static rlt_tensor *one_of(rlt_tensor **list, int64_t count, uint64_t *state) { return list[at_random(state, count)]; }

/* Tensors that the functions of this round choose from. */
static int64_t targets_now = TARGETS;

#define TARGET one_of(targets, targets_now, state)
#define SOURCE one_of(sources, SOURCES, state)

static void drop(rlt_tensor *tensor) {
  if (tensor != NULL) rlt_tensor_free(tensor);
}

/* A tensor must stay within its storage. `rlt_tensor_detach` reads both in one snapshot. */
static void inspect(uint64_t *state) {
  rlt_tensor *seen = NULL;
  const int64_t *sizes = NULL, *strides = NULL;
  int64_t ndim = 0, elements = 0, end = 1, nbytes = 0, offset = 0, size = 0;
  void *data = NULL;
  if (rlt_tensor_detach(TARGET, &seen) != RLT_OK) return;
  OK(rlt_tensor_geometry(seen, &sizes, &strides, &ndim));
  OK(rlt_tensor_numel(seen, &elements));
  OK(rlt_tensor_storage_offset(seen, &offset));
  OK(rlt_tensor_storage(seen, &data, &nbytes));
  OK(rlt_tensor_element_size(seen, &size));
  for (int64_t dim = 0; dim < ndim; dim++) end += (sizes[dim] - 1) * strides[dim];
  CHECK(elements == 0 || (offset + end) * size <= nbytes);
  rlt_tensor_free(seen);
}

/* ---- Functions that change the geometry or the storage of a tensor ---- */

static void resize(uint64_t *state) {
  int64_t large = at_random(state, 2) ? 160 : 16, sizes[3];
  int64_t count = at_random(state, 4);
  for (int64_t dim = 0; dim < count; dim++) sizes[dim] = 1 + at_random(state, dim < 2 ? large : 3);
  rlt_tensor_resize_(TARGET, sizes, count, NULL);
}

static void resize_channels_last(uint64_t *state) {
  int64_t sizes[4];
  int32_t format = RLT_MEMORY_FORMAT_CHANNELS_LAST;
  for (int dim = 0; dim < 4; dim++) sizes[dim] = 1 + at_random(state, 20);
  rlt_tensor_resize_(TARGET, sizes, 4, &format);
}

static void resize_as(uint64_t *state) { rlt_tensor_resize_as_(TARGET, SOURCE, NULL); }

static void set_data(uint64_t *state) { rlt_tensor_set_data(TARGET, SOURCE); }

static void set_data_of_each_other(uint64_t *state) { rlt_tensor_set_data(TARGET, TARGET); }

static void transpose(uint64_t *state) { rlt_tensor_transpose_(TARGET, 0, -1); }

static void squeeze(uint64_t *state) { rlt_tensor_squeeze_(TARGET); }

static void unsqueeze(uint64_t *state) { rlt_tensor_unsqueeze_(TARGET, at_random(state, 2)); }

static void as_strided(uint64_t *state) {
  int64_t sizes[2], strides[2], offset = at_random(state, 100);
  for (int dim = 0; dim < 2; dim++) {
    sizes[dim] = at_random(state, 100);
    strides[dim] = at_random(state, 200);
  }
  rlt_tensor_as_strided_(TARGET, sizes, 2, strides, 2, &offset);
}

static void add_into(uint64_t *state) {
  rlt_scalar one = number(1);
  rlt_tensor_add_out(SOURCE, SOURCE, &one, TARGET);
}

static void detach(uint64_t *state) { rlt_tensor_detach_(TARGET); }

static void mark_as_number(uint64_t *state) { rlt_tensor_set_wrapped_number(TARGET, (int32_t)at_random(state, 2)); }

/* Most indices are valid, some are not: a kernel that checks the indices and reads them again may read other values. */
static void change_indices(uint64_t *state) {
  rlt_scalar far = integer(at_random(state, 2) ? 1000000007 : -5000000000);
  if (at_random(state, 4)) rlt_tensor_random_to_(flat, 1 + at_random(state, 8), NULL);
  else rlt_tensor_fill_Scalar_(flat, &far);
  rlt_tensor_random_to_(counts, 1 + at_random(state, 100), NULL);
}

static void change_masks(uint64_t *state) {
  rlt_scalar on = integer(at_random(state, 2));
  if (at_random(state, 2)) rlt_tensor_random_to_(masks, 2, NULL);
  else rlt_tensor_fill_Scalar_(masks, &on);
}

static void change_leaf(uint64_t *state) { rlt_tensor_set_data(leaves, SOURCE); }

/* ---- Operators ---- */

static void fill(uint64_t *state) {
  rlt_scalar value = number(3);
  rlt_tensor_fill_Scalar_(TARGET, &value);
}

static void normal(uint64_t *state) { rlt_tensor_normal_(TARGET, 0, 1, NULL); }

static void uniform(uint64_t *state) { rlt_tensor_uniform_(TARGET, 0, 1, NULL); }

static void cumsum(uint64_t *state) {
  if (at_random(state, 2)) rlt_tensor_cumsum_(TARGET, 0, NULL);
  else rlt_tensor_cumsum_out(TARGET, -1, NULL, TARGET);
}

static void sort(uint64_t *state) {
  rlt_tensor *values = NULL, *order = NULL;
  if (at_random(state, 2)) rlt_tensor_sort_values(TARGET, -1, 0, TARGET, sorted);
  else rlt_tensor_sort(TARGET, 0, 1, &values, &order);
  drop(values);
  drop(order);
}

static void arithmetic(uint64_t *state) {
  rlt_scalar one = number(1);
  rlt_tensor *sum = NULL;
  rlt_tensor_add_Tensor_(TARGET, TARGET, &one);
  rlt_tensor_mul_Tensor_(TARGET, SOURCE);
  rlt_tensor_add_Tensor(TARGET, TARGET, &one, &sum);
  drop(sum);
}

static void copy(uint64_t *state) {
  rlt_tensor *copies = NULL, *alias = NULL;
  rlt_tensor_copy_(TARGET, SOURCE, 0);
  rlt_tensor_clone(TARGET, NULL, &copies);
  rlt_tensor_detach(TARGET, &alias);
  drop(copies);
  drop(alias);
}

static void reduce(uint64_t *state) {
  rlt_tensor *sum = NULL, *median = NULL;
  rlt_tensor_sum(TARGET, NULL, &sum);
  rlt_tensor_median(TARGET, &median);
  drop(sum);
  drop(median);
}

static void multiply(uint64_t *state) {
  rlt_tensor *product = NULL;
  rlt_tensor_matmul(TARGET, TARGET, &product);
  drop(product);
}

static void join(uint64_t *state) {
  rlt_tensor *joined = NULL;
  const rlt_tensor *parts[3];
  for (int part = 0; part < 3; part++) parts[part] = TARGET;
  rlt_tensor_cat(parts, 3, 0, &joined);
  drop(joined);
}

static void look(uint64_t *state) {
  rlt_tensor *part = NULL;
  rlt_scalar value;
  struct DLManagedTensorVersioned *lent = NULL;
  rlt_tensor *same = NULL;
  rlt_tensor_narrow(TARGET, 0, 0, 1, &part);
  drop(part);
  rlt_tensor_item(TARGET, &value);
  if (rlt_tensor_to_dlpack(TARGET, &lent) == RLT_OK && rlt_tensor_from_dlpack(lent, &same) == RLT_OK) {
    rlt_tensor_zero_(same);
    drop(same);
  }
}

static void place(uint64_t *state) {
  enum { TAKEN = 9 };
  rlt_tensor *taken[TAKEN] = {NULL}, *values = sources[0];
  const rlt_tensor *list[1];
  const int64_t sizes[2] = {70, 70};
  rlt_scalar one = number(1);
  list[0] = rows;
  rlt_tensor_index_select(SOURCE, 0, flat, &taken[0]);
  rlt_tensor_take(SOURCE, flat, &taken[1]);
  rlt_tensor_index_Tensor(SOURCE, list, 1, &taken[2]);
  rlt_tensor_gather(values, 0, square, 0, &taken[3]);
  rlt_tensor_embedding(sources[1], flat, -1, 0, 0, &taken[4]);
  rlt_tensor_nll_loss(values, rows, NULL, RLT_REDUCTION_MEAN, -100, &taken[5]);
  rlt_tensor_searchsorted_Tensor(values, values, 0, 0, NULL, square, &taken[6]);
  rlt_tensor_max_unpool2d(picture, image, sizes, 2, &taken[7]);
  rlt_tensor_ctc_loss_Tensor(values, rows, length, length, 0, RLT_REDUCTION_MEAN, 0, &taken[8]);
  rlt_tensor_put_(values, flat, values, 1);
  rlt_tensor_index_add_(values, 0, rows, values, &one);
  rlt_tensor_index_put_(values, list, 1, values, (int32_t)at_random(state, 2));
  rlt_tensor_scatter_add_(values, 0, square, values);
  for (int index = 0; index < TAKEN; index++) drop(taken[index]);
}

/* Operators whose output shape depends on the elements. */
static void count(uint64_t *state) {
  enum { FOUND = 7 };
  rlt_tensor *found[FOUND] = {NULL};
  (void)state;
  rlt_tensor_nonzero(masks, &found[0]);
  rlt_tensor_masked_select(sources[0], masks, &found[1]);
  rlt_tensor_bincount(counts, NULL, 0, &found[2]);
  rlt_tensor_repeat_interleave_Tensor(counts, NULL, &found[3]);
  rlt_tensor__unique2(counts, 1, 1, 1, &found[4], &found[5], &found[6]);
  rlt_tensor_masked_scatter_(sources[0], masks, sources[0]);
  for (int index = 0; index < FOUND; index++) drop(found[index]);
}

static void conjugate(uint64_t *state) {
  rlt_tensor *turned = NULL, *sum = NULL;
  (void)state;
  if (rlt_tensor_conj(complexes, &turned) == RLT_OK) rlt_tensor_set_data(complexes, turned);
  rlt_tensor_mul_Tensor_(complexes, complexes);
  rlt_tensor_t_(complexes);
  rlt_tensor_sum(complexes, NULL, &sum);
  drop(turned);
  drop(sum);
}

static void differentiate(uint64_t *state) {
  rlt_tensor *shown = NULL, *product = NULL, *sum = NULL;
  (void)state;
  if (rlt_tensor_t(leaves, &shown) == RLT_OK && rlt_tensor_mul_Tensor(leaves, leaves, &product) == RLT_OK &&
      rlt_tensor_t_(product) == RLT_OK && rlt_tensor_sum(product, NULL, &sum) == RLT_OK)
    rlt_tensor_backward(sum, NULL, 0, 0);
  drop(shown);
  drop(product);
  drop(sum);
}

typedef struct function {
  const char *name;
  void (*call)(uint64_t *state);
} function;

static const function mutators[] = {
    {"resize_", resize},         {"set_data", set_data},
    {"resize_as_", resize_as},   {"set_data of each other", set_data_of_each_other},
    {"transpose_", transpose},   {"squeeze_", squeeze},
    {"unsqueeze_", unsqueeze},   {"as_strided_", as_strided},
    {"add_out", add_into},       {"resize_ to channels last", resize_channels_last},
    {"detach_", detach},         {"set_wrapped_number", mark_as_number},
    {"indices", change_indices}, {"masks", change_masks},
    {"leaf", change_leaf},
};

static const function operators[] = {
    {"normal_", normal}, {"uniform_", uniform},       {"fill_", fill},     {"cumsum", cumsum},   {"sort", sort},
    {"copy", copy},      {"arithmetic", arithmetic}, {"reduce", reduce}, {"matmul", multiply}, {"cat", join},
    {"look", look},      {"index", place},            {"count", count},   {"conj", conjugate},
    {"backward", differentiate},
};

enum {
  MUTATORS = sizeof mutators / sizeof *mutators,
  OPERATORS = sizeof operators / sizeof *operators,
  FIXED_ROUNDS = 5
};

/* ---- Rounds ---- */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

typedef struct worker {
  pthread_t thread;
  const function *function;
  int inspects;
  uint64_t state;
  double end;
} worker;

static void *work(void *argument) {
  worker *self = (worker *)argument;
  while (now() < self->end) {
    self->function->call(&self->state);
    if (self->inspects) inspect(&self->state);
  }
  return NULL;
}

static void run_round(int round, double seconds, const char *only, uint64_t *state) {
  worker workers[THREADS];
  targets_now = round < FIXED_ROUNDS ? 1 : 1 + at_random(state, TARGETS);
  for (int index = 0; index < THREADS; index++) {
    worker *next = &workers[index];
    if (round < FIXED_ROUNDS) {
      next->function = index < MUTATORS_AT_ONCE ? &mutators[index % 2] : &operators[round];
    } else {
      next->function = index < MUTATORS_AT_ONCE ? &mutators[at_random(state, MUTATORS)]
                                                : &operators[at_random(state, OPERATORS)];
    }
    if (only != NULL && index >= MUTATORS_AT_ONCE) {
      for (int other = 0; other < OPERATORS; other++)
        if (strcmp(operators[other].name, only) == 0) next->function = &operators[other];
    }
    next->inspects = index < MUTATORS_AT_ONCE;
    next->state = (uint64_t)at_random(state, 1 << 30);
    next->end = now() + seconds;
  }
  if (getenv("RUSHLIGHT_RACES_VERBOSE") != NULL) {
    for (int index = 0; index < THREADS; index++) fprintf(stderr, "%s%s", index ? ", " : "", workers[index].function->name);
    fprintf(stderr, "\n");
  }
  for (int index = 0; index < THREADS; index++)
    CHECK(pthread_create(&workers[index].thread, NULL, work, &workers[index]) == 0);
  for (int index = 0; index < THREADS; index++) CHECK(pthread_join(workers[index].thread, NULL) == 0);
}

static rlt_tensor *zeros(int64_t rows, int64_t columns, int32_t dtype, int32_t device) {
  rlt_tensor *tensor = NULL;
  rlt_tensor_options options = {sizeof(rlt_tensor_options), 0, -1, 0, -1, 0, 0};
  int64_t sizes[2];
  sizes[0] = rows;
  sizes[1] = columns;
  options.dtype = dtype;
  options.device_type = device;
  OK(rlt_tensor_zeros(sizes, columns < 0 ? 1 : 2, &options, &tensor));
  return tensor;
}

static rlt_tensor *host(int64_t rows, int64_t columns, int32_t dtype) { return zeros(rows, columns, dtype, RLT_DEVICE_CPU); }

static void set_up(void) {
  const int64_t wide[2] = {300, 300}, two[2] = {64, 64}, three[3] = {1, 64, 64};
  rlt_tensor *one = host(1, 1, RLT_DTYPE_FLOAT32);
  for (int index = 0; index < TARGETS; index++) targets[index] = host(64, 64, RLT_DTYPE_FLOAT32);
  sources[0] = host(64, 64, RLT_DTYPE_FLOAT32);
  sources[1] = host(3, 2, RLT_DTYPE_FLOAT32);
  sources[2] = host(300, 200, RLT_DTYPE_FLOAT32);
  sources[3] = host(16, 16, RLT_DTYPE_FLOAT64);
  sources[4] = host(64, 64, RLT_DTYPE_UINT8);
  sources[5] = zeros(300, 300, RLT_DTYPE_FLOAT32, RLT_DEVICE_META);
  sources[6] = host(0, 5, RLT_DTYPE_FLOAT32);
  sources[7] = host(64, 64, RLT_DTYPE_INT64);
  OK(rlt_tensor_expand(one, wide, 2, 0, &sources[8]));
  rlt_tensor_free(one);
  flat = host(4096, -1, RLT_DTYPE_INT64);
  OK(rlt_tensor_narrow(flat, 0, 0, 64, &rows));
  OK(rlt_tensor_narrow(flat, 0, 0, 1, &length));
  OK(rlt_tensor_view(flat, two, 2, &square));
  OK(rlt_tensor_view(flat, three, 3, &image));
  OK(rlt_tensor_view(sources[0], three, 3, &picture));
  counts = host(4096, -1, RLT_DTYPE_INT64);
  sorted = host(64, -1, RLT_DTYPE_INT64);
  masks = host(64, 64, RLT_DTYPE_BOOL);
  complexes = host(64, 64, RLT_DTYPE_COMPLEX64);
  leaves = host(16, 16, RLT_DTYPE_FLOAT32);
  OK(rlt_tensor_set_requires_grad(leaves, 1));
}

static void tear_down(void) {
  rlt_tensor *others[] = {flat, rows, square, image, length, picture, sorted, counts, masks, complexes, leaves};
  for (int index = 0; index < TARGETS; index++) rlt_tensor_free(targets[index]);
  for (int index = 0; index < SOURCES; index++) rlt_tensor_free(sources[index]);
  for (size_t index = 0; index < sizeof others / sizeof *others; index++) rlt_tensor_free(others[index]);
}

int main(int argc, char **argv) {
  const char *setting = getenv("RUSHLIGHT_RACES_SECONDS");
  double seconds = setting != NULL ? atof(setting) : 3, end = now() + seconds;
  uint64_t state = (uint64_t)time(NULL);
  set_up();
  /* The fixed rounds take half of the time. */
  for (int round = 0; now() < end; round++)
    run_round(round, round < FIXED_ROUNDS ? seconds / 10 : 0.1, argc > 1 ? argv[1] : NULL, &state);
  tear_down();
  CHECK(live() == 0);
  return 0;
}
