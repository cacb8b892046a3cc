/* Many threads run one loaded module, round after round: each result must equal that of a single thread bit by bit, and no round may
 * leak anything.
 *   c_module_soak model.pt [minutes] [threads] [sizes of the input...]   (0 minutes: three rounds; by default 1 3 32 32) */
#include "check.h"
#include "resident.h"
#include <pthread.h>
#include <time.h>

enum { MOST_THREADS = 1024, MOST_DIMS = 8, FEWEST_ROUNDS = 3, RUNS = 8 };

struct work {
  rlt_module *module;
  rlt_tensor *input;
  const rlt_tensor *expected;
};

static rlt_tensor *forward(const struct work *work) {
  rlt_value argument = {RLT_VALUE_TENSOR, 0, 0, {0}}, result = {RLT_VALUE_NONE, 0, 0, {0}};
  argument.as.tensor = work->input;
  OK(rlt_module_run(work->module, "forward", &argument, 1, NULL, 0, &result));
  CHECK(result.tag == RLT_VALUE_TENSOR);
  return result.as.tensor;
}

static void *run(void *argument) {
  const struct work *work = argument;
  int64_t bytes = 0;
  OK(rlt_tensor_numel(work->expected, &bytes));
  bytes *= (int64_t)sizeof(float);
  for (int at = 0; at < RUNS; at++) {
    rlt_tensor *result = forward(work);
    CHECK(memcmp(floats(result), floats(work->expected), (size_t)bytes) == 0);
    rlt_tensor_free(result);
  }
  return NULL;
}

static void run_round(struct work *work, int threads) {
  pthread_t ids[MOST_THREADS];
  const int64_t before = live();
  for (int at = 0; at < threads; at++) CHECK(pthread_create(&ids[at], NULL, run, work) == 0);
  for (int at = 0; at < threads; at++) CHECK(pthread_join(ids[at], NULL) == 0);
  CHECK(live() == before);
}

int main(int argc, char **argv) {
  const double minutes = argc > 2 ? atof(argv[2]) : 0;
  const int threads = argc > 3 ? atoi(argv[3]) : 64;
  int64_t sizes[MOST_DIMS] = {1, 3, 32, 32}, dims = 4;
  const time_t start = time(NULL);
  struct work work = {NULL, NULL, NULL};
  rlt_generator *generator = NULL;
  long rounds = 0, early = 0;
  CHECK(argc > 1 && minutes >= 0 && threads > 0 && threads <= MOST_THREADS && argc - 4 <= MOST_DIMS);
  if (argc > 4) {
    dims = argc - 4;
    for (int at = 0; at < argc - 4; at++) sizes[at] = atoll(argv[at + 4]);
  }
  OK(rlt_generator_new(5, &generator));
  OK(rlt_tensor_randn_generator(sizes, dims, generator, NULL, &work.input));
  rlt_generator_free(generator);
  OK(rlt_module_load(argv[1], &work.module));
  OK(rlt_module_train(work.module, 0));
  work.expected = forward(&work);
  while (rounds < FEWEST_ROUNDS || difftime(time(NULL), start) < 60 * minutes) {
    run_round(&work, threads);
    if (++rounds == 2) early = resident();
  }
  const long end = resident();
  printf("%ld rounds of %d threads, %d runs each: the same bits; %ld KiB resident after two rounds, %ld KiB at the end\n", rounds, threads,
         RUNS, early, end);
  CHECK(end <= early + SLACK);
  rlt_tensor_free((rlt_tensor *)work.expected);
  rlt_tensor_free(work.input);
  rlt_module_free(work.module);
  OK(rlt_runtime_shutdown());
  return 0;
}
