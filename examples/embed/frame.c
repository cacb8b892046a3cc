/* A game loop that gives the network a part of each frame.
 *
 * The network runs on its own thread. When a frame has no time left, the loop sets the cancel flag, and the running operator ends
 * with RLT_ERROR_CANCELLED; tensors that it was not writing are unchanged. All tensor memory comes from the game's own allocator,
 * which fails requests beyond its budget: that is an ordinary error, and not the end of the program. */
#define _POSIX_C_SOURCE 200809L
#include <rushlight/rushlight.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef _WIN32
#include <malloc.h>
#endif

/* ---- Memory: limited to a number of bytes. ---- */

static void *aligned_block(size_t size, size_t alignment) {
#ifdef _WIN32
  return _aligned_malloc(size, alignment);
#else
  void *block = NULL;
  return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
#endif
}

static void free_aligned_block(void *block) {
#ifdef _WIN32
  _aligned_free(block);
#else
  free(block);
#endif
}

struct budget {
  size_t most;
  atomic_size_t used;
};

static void *allocate(void *ctx, size_t size, size_t alignment) {
  struct budget *budget = ctx;
  void *block = atomic_fetch_add(&budget->used, size) + size > budget->most ? NULL : aligned_block(size, alignment);
  if (block == NULL) atomic_fetch_sub(&budget->used, size);
  return block;
}

static void deallocate(void *ctx, void *block, size_t size, size_t alignment) {
  struct budget *budget = ctx;
  (void)alignment;
  free_aligned_block(block);
  atomic_fetch_sub(&budget->used, size);
}

/* ---- The network: a chain of products, whose size and number of layers determine its duration. ---- */

struct job {
  rlt_tensor *weight;
  int layers;
  int32_t status;
  atomic_int done;
};

static int32_t forward(const struct job *job) {
  rlt_tensor *x = NULL, *next = NULL;
  int32_t status = rlt_tensor_clone(job->weight, NULL, &x);
  for (int layer = 0; !status && layer < job->layers; ++layer) {
    status = rlt_tensor_matmul(x, job->weight, &next);
    rlt_tensor_free(x);
    x = next;
    next = NULL;
  }
  rlt_tensor_free(x);
  return status;
}

static void *worker(void *argument) {
  struct job *job = argument;
  job->status = forward(job);
  atomic_store(&job->done, 1);
  return NULL;
}

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Runs the network for at most `budget` milliseconds, and prints the outcome. */
static int32_t think(struct job *job, double budget) {
  pthread_t thread;
  double start = milliseconds();
  const struct timespec nap = {0, 200000};
  atomic_store(&job->done, 0);
  if (pthread_create(&thread, NULL, worker, job)) return RLT_ERROR_RUNTIME;
  while (!atomic_load(&job->done) && milliseconds() - start < budget) nanosleep(&nap, NULL); /* The frame's other work. */
  rlt_cancel_set(1);
  pthread_join(thread, NULL);
  rlt_cancel_set(0);
  return job->status;
}

static int32_t square_of(int64_t size, rlt_tensor **out) {
  const int64_t sizes[2] = {size, size};
  rlt_tensor_options options = RLT_TENSOR_OPTIONS_INIT;
  return rlt_tensor_ones(sizes, 2, &options, out);
}

static int failed(void) {
  fprintf(stderr, "%s\n", rlt_last_error_message());
  return 1;
}

int main(void) {
  struct budget budget = {64u << 20, 0};
  rlt_allocator allocator = {sizeof allocator, NULL, allocate, deallocate};
  allocator.ctx = &budget;
  struct job small = {0}, large = {0};
  rlt_tensor *greedy = NULL;
  if (rlt_set_allocator(&allocator) || square_of(8, &small.weight) || square_of(1024, &large.weight)) return failed();
  small.layers = 2;
  large.layers = 100000;

  printf("a network that fits into its frame: %s\n", think(&small, 10e3) == RLT_OK ? "done" : "not done");
  printf("one that does not: %s\n", think(&large, 20) == RLT_ERROR_CANCELLED ? "cancelled" : "not cancelled");
  printf("the next frame: %s\n", think(&small, 10e3) == RLT_OK ? "done" : "not done");
  printf("more memory than there is: %s\n", square_of(10000, &greedy) == RLT_ERROR_OUT_OF_MEMORY ? "out of memory" : "allocated");

  rlt_tensor_free(small.weight);
  rlt_tensor_free(large.weight);
  if (rlt_runtime_shutdown()) return failed();
  printf("bytes left at the end: %zu\n", (size_t)atomic_load(&budget.used));
  return 0;
}
