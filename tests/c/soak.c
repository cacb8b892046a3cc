/* Many threads train concurrently, round after round, each with its own model: each must reach the loss of a single-threaded run
 * bit by bit, and no round may leak anything.
 *   c_soak [minutes] [threads]   (0 minutes: three rounds) */
#include "check.h"
#include "resident.h"
#include <pthread.h>
#include <time.h>

enum { STEPS = 30, BATCH = 8, INPUTS = 16, HIDDEN = 32, CLASSES = 4, PARAMETERS = 4, MOST_THREADS = 1024, FEWEST_ROUNDS = 3 };

struct model {
  rlt_tensor *parameters[PARAMETERS], *momenta[PARAMETERS], *images, *labels;
};

/* Reproducible numbers. */
static void make(struct model *model) {
  static const int64_t sizes[PARAMETERS][2] = {{HIDDEN, INPUTS}, {HIDDEN}, {CLASSES, HIDDEN}, {CLASSES}};
  static const int64_t dims[PARAMETERS] = {2, 1, 2, 1}, image_sizes[2] = {BATCH, INPUTS}, batch = BATCH;
  static const int64_t labels[BATCH] = {0, 1, 2, 3, 0, 1, 2, 3};
  rlt_generator *generator = NULL;
  OK(rlt_generator_new(5, &generator));
  for (int at = 0; at < PARAMETERS; at++) {
    OK(rlt_tensor_randn_generator(sizes[at], dims[at], generator, NULL, &model->parameters[at]));
    OK(rlt_tensor_zeros_like(model->parameters[at], NULL, NULL, &model->momenta[at]));
    OK(rlt_tensor_set_requires_grad(model->parameters[at], 1));
  }
  OK(rlt_tensor_randn_generator(image_sizes, 2, generator, NULL, &model->images));
  OK(rlt_tensor_from_data(labels, sizeof labels, &batch, 1, RLT_DTYPE_INT64, &model->labels));
  rlt_generator_free(generator);
}

static void release(struct model *model) {
  for (int at = 0; at < PARAMETERS; at++) {
    rlt_tensor_free(model->parameters[at]);
    rlt_tensor_free(model->momenta[at]);
  }
  rlt_tensor_free(model->images);
  rlt_tensor_free(model->labels);
}

static void descend(const struct model *model, int is_first) {
  rlt_tensor *grads[PARAMETERS] = {NULL};
  for (int at = 0; at < PARAMETERS; at++) OK(rlt_tensor_grad(model->parameters[at], &grads[at]));
  OK(rlt_set_grad_enabled(0));
#define LIST(tensors) (const rlt_tensor *const *)(tensors), PARAMETERS
  OK(rlt_tensor__fused_sgd_(LIST(model->parameters), LIST(grads), LIST(model->momenta), 0.0, 0.9, 0.05, 0.0, 0, 0, is_first, NULL, NULL));
#undef LIST
  OK(rlt_set_grad_enabled(1));
  for (int at = 0; at < PARAMETERS; at++) {
    rlt_tensor_free(grads[at]);
    OK(rlt_tensor_set_grad(model->parameters[at], NULL));
  }
}

static float step(const struct model *model, int is_first) {
  rlt_tensor *const *p = model->parameters;
  rlt_tensor *hidden = NULL, *active = NULL, *scores = NULL, *loss = NULL, *wrong = NULL;
  OK(rlt_tensor_linear(model->images, p[0], p[1], &hidden));
  OK(rlt_tensor_relu(hidden, &active));
  OK(rlt_tensor_linear(active, p[2], p[3], &scores));
  OK(rlt_tensor_cross_entropy_loss(scores, model->labels, NULL, 1, -100, 0.0, &loss));
  OK(rlt_tensor_backward(loss, NULL, 0, 0));
  descend(model, is_first);
  /* A long-running program also encounters errors. */
  FAILS(rlt_tensor_linear(model->images, p[2], NULL, &wrong), RLT_ERROR_RUNTIME, "mat1 and mat2 shapes cannot be multiplied");
  const float value = *floats(loss);
  rlt_tensor_free(hidden);
  rlt_tensor_free(active);
  rlt_tensor_free(scores);
  rlt_tensor_free(loss);
  return value;
}

/* Trains a new model; the last loss is stored in `*loss`. */
static void *train(void *loss) {
  struct model model;
  float first = 0, last = 0;
  make(&model);
  for (int number = 0; number < STEPS; number++) {
    last = step(&model, number == 0);
    if (number == 0) first = last;
  }
  CHECK(last < first / 2);
  release(&model);
  *(float *)loss = last;
  return NULL;
}

static void run_round(int threads, float expected) {
  pthread_t ids[MOST_THREADS];
  float losses[MOST_THREADS];
  for (int at = 0; at < threads; at++) CHECK(pthread_create(&ids[at], NULL, train, &losses[at]) == 0);
  for (int at = 0; at < threads; at++) CHECK(pthread_join(ids[at], NULL) == 0);
  for (int at = 0; at < threads; at++) CHECK(memcmp(&losses[at], &expected, sizeof expected) == 0);
  CHECK(live() == 0);
}

int main(int argc, char **argv) {
  const double minutes = argc > 1 ? atof(argv[1]) : 0;
  const int threads = argc > 2 ? atoi(argv[2]) : 64;
  const time_t start = time(NULL);
  long rounds = 0, early = 0;
  float expected = 0;
  CHECK(minutes >= 0 && threads > 0 && threads <= MOST_THREADS);
  train(&expected);
  while (rounds < FEWEST_ROUNDS || difftime(time(NULL), start) < 60 * minutes) {
    run_round(threads, expected);
    if (++rounds == 2) early = resident();
  }
  const long end = resident();
  printf("%ld rounds of %d threads, %d steps each: loss %.6f in every one; %ld KiB resident after two rounds, %ld KiB at the end\n", rounds,
         threads, STEPS, (double)expected, early, end);
  CHECK(end <= early + SLACK);
  OK(rlt_runtime_shutdown());
  return 0;
}
