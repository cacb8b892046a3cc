/* How much stack the library needs of a thread that calls it: docs/embedding.md promises that one call needs at most 64 KiB, and that
   512 KiB are enough for nested backward passes. A JVM promises 80 KiB to native code. Each kind of work runs in its own thread on
   a stack that was filled with a pattern. */
#define main examples_main
#include "examples.c"
#undef main
#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

enum { STACK = 4 << 20, ONE_CALL = 64 << 10, NESTED = 256 << 10, SOURCE = 128 << 10, PATTERN = 0xa5 };

/* The first backward of a process prepares what later ones use. */
static void first_backward(void) {
  const float values[3] = {1, 2, 3};
  rlt_tensor *x = vector(values, 3), *square = NULL, *sum = NULL;
  OK(rlt_tensor_set_requires_grad(x, 1));
  OK(rlt_tensor_mul_Tensor(x, x, &square));
  OK(rlt_tensor_sum(square, NULL, &sum));
  OK(rlt_tensor_backward(sum, NULL, 0, 0));
  rlt_tensor_free(sum);
  rlt_tensor_free(square);
  rlt_tensor_free(x);
}

static rlt_tensor *uniform(const int64_t *sizes, int64_t ndim, int32_t dtype) {
  rlt_tensor_options options = RLT_TENSOR_OPTIONS_INIT;
  rlt_tensor *out = NULL;
  options.dtype = dtype;
  OK(rlt_tensor_rand(sizes, ndim, &options, &out));
  return out;
}

static const int32_t dtypes[] = {RLT_DTYPE_FLOAT32, RLT_DTYPE_FLOAT64, RLT_DTYPE_BFLOAT16, RLT_DTYPE_COMPLEX64};

/* Large enough for each code path of matrix products. */
static void products(void) {
  for (int64_t size = 8; size <= 512; size *= 4) {
    for (size_t at = 0; at < sizeof dtypes / sizeof *dtypes; ++at) {
      const int64_t sizes[2] = {size, size};
      rlt_tensor *a = uniform(sizes, 2, dtypes[at]), *product = NULL;
      OK(rlt_tensor_mm(a, a, &product));
      rlt_tensor_free(product);
      rlt_tensor_free(a);
    }
  }
}

/* Forward and backward through a convolution, and the layers around it. */
static void network(void) {
  const int64_t image[4] = {4, 3, 32, 32}, kernel[4] = {8, 3, 3, 3}, ones[2] = {1, 1}, zeros[2] = {0, 0}, two[1] = {2};
  rlt_tensor *x = uniform(image, 4, RLT_DTYPE_FLOAT32), *w = uniform(kernel, 4, RLT_DTYPE_FLOAT32);
  rlt_tensor *y = NULL, *pooled = NULL, *shares = NULL, *sum = NULL;
  OK(rlt_tensor_set_requires_grad(w, 1));
  OK(rlt_tensor_conv2d(x, w, NULL, ones, 2, zeros, 2, ones, 2, 1, &y));
  OK(rlt_tensor_max_pool2d(y, two, 1, NULL, 0, zeros, 2, ones, 2, 0, &pooled));
  OK(rlt_tensor_softmax_int(pooled, 1, NULL, &shares));
  OK(rlt_tensor_sum(shares, NULL, &sum));
  OK(rlt_tensor_backward(sum, NULL, 0, 0));
  rlt_tensor_free(sum);
  rlt_tensor_free(shares);
  rlt_tensor_free(pooled);
  rlt_tensor_free(y);
  rlt_tensor_free(w);
  rlt_tensor_free(x);
}

/* Large enough for each code path of a reduction: lines and tiles, contiguous and strided, in pieces and at once. */
static void reductions(void) {
  static const int64_t shapes[][2] = {{300, 40}, {40, 300}, {20000, 3}, {3, 20000}, {3000, 300}};
  for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; ++shape) {
    for (size_t at = 0; at < sizeof dtypes / sizeof *dtypes; ++at) {
      rlt_tensor *x = uniform(shapes[shape], 2, dtypes[at]), *turned = NULL, *sum = NULL;
      OK(rlt_tensor_t(x, &turned));
      for (int64_t dim = 0; dim < 2; ++dim) {
        OK(rlt_tensor_sum_dim_IntList(x, &dim, 1, 0, NULL, &sum));
        rlt_tensor_free(sum);
        OK(rlt_tensor_sum_dim_IntList(turned, &dim, 1, 0, NULL, &sum));
        rlt_tensor_free(sum);
      }
      rlt_tensor_free(turned);
      rlt_tensor_free(x);
    }
  }
}

/* A hook that runs another backward pass, whose hook does the same: nested passes use one stack. */
static int32_t differentiate(void *levels, const rlt_tensor *grad, rlt_tensor **replacement) {
  const float value = 1;
  rlt_tensor *x = vector(&value, 1), *y = NULL;
  uint64_t id;
  int32_t was = 0;
  (void)grad;
  (void)replacement;
  OK(rlt_get_grad_enabled(&was));
  OK(rlt_set_grad_enabled(1));
  OK(rlt_tensor_set_requires_grad(x, 1));
  if (*(int *)levels > 0) {
    --*(int *)levels;
    OK(rlt_tensor_register_hook(x, differentiate, levels, NULL, &id));
  }
  OK(rlt_tensor_mul_Tensor(x, x, &y));
  OK(rlt_tensor_backward(y, NULL, 0, 0));
  OK(rlt_set_grad_enabled(was));
  rlt_tensor_free(y);
  rlt_tensor_free(x);
  return RLT_OK;
}

static void nested(void) {
  int levels = 100;
  CHECK(differentiate(&levels, NULL, NULL) == RLT_OK);
  CHECK(levels == 0);
}

/* Every operator, once. */
static void operators(void) { CHECK(examples_main() == 0); }

/* A file, and errors with long messages. */
static void files(void) {
  const float values[3] = {1, 2, 3};
  const int64_t many[5] = {1, 2, 3, 4, 5};
  rlt_tensor *x = vector(values, 3), *wide = uniform(many, 5, RLT_DTYPE_FLOAT32), *sum = NULL;
  rlt_state_dict *dict = NULL, *loaded = NULL;
  char path[64];
  snprintf(path, sizeof path, "/tmp/rushlight-small-stack-%d", (int)getpid());
  OK(rlt_state_dict_new(&dict));
  OK(rlt_state_dict_insert(dict, "x", x));
  for (int format = RLT_FORMAT_PT; format <= RLT_FORMAT_SAFETENSORS; ++format) {
    OK(rlt_state_dict_save(dict, path, format));
    OK(rlt_state_dict_load(path, RLT_FORMAT_AUTO, &loaded));
    rlt_state_dict_free(loaded);
  }
  remove(path);
  CHECK(rlt_state_dict_load(path, RLT_FORMAT_AUTO, &loaded) != RLT_OK);
  CHECK(rlt_tensor_add_Tensor(x, wide, &(const rlt_scalar){RLT_SCALAR_INT, 0, 1, 0.0, 0.0}, &sum) != RLT_OK);
  rlt_state_dict_free(dict);
  rlt_tensor_free(wide);
  rlt_tensor_free(x);
}

/* Source code that nests as deeply as the compiler accepts, and code that nests deeper or is a long chain. */
static void sources(void) {
  static const struct {
    const char *open, *close;
  } kinds[] = {{"(", ",)"}, {"[", "]"}, {"-(", ")"}, {"not (", ")"}, {"[i for i in ", "]"}, {"x[", "]"}};
  enum { LONGEST = 400000 };
  char *source = malloc(LONGEST), *end;
  CHECK(source != NULL);
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind) {
    int accepted = 0;
    for (int depth = 1; depth <= 4096; depth *= 2) {
      rlt_script *script = NULL;
      end = source + sprintf(source, "def f(x: List[int]):\n  y = ");
      for (int at = 0; at < depth; ++at) end += sprintf(end, "%s", kinds[kind].open);
      end += sprintf(end, "x");
      for (int at = 0; at < depth; ++at) end += sprintf(end, "%s", kinds[kind].close);
      sprintf(end, "\n");
      accepted += rlt_script_compile(source, &script) == RLT_OK;
      rlt_script_free(script);
    }
    CHECK(accepted < 13);
  }
  rlt_script *chain = NULL;
  end = source + sprintf(source, "def f(x: int) -> int:\n  return x");
  for (int at = 0; at < 20000; ++at) end += sprintf(end, " + x");
  sprintf(end, "\n");
  OK(rlt_script_compile(source, &chain));
  rlt_script_free(chain);
  free(source);
}

static void *run(void *work) {
  ((void (**)(void))work)[0]();
  return NULL;
}

/* Bytes of the stack that `work` wrote to. */
static size_t used_by(void (*work)(void), unsigned char *stack) {
  pthread_attr_t attributes;
  pthread_t thread;
  size_t untouched = 0;
  memset(stack, PATTERN, STACK);
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstack(&attributes, stack, STACK) == 0);
  CHECK(pthread_create(&thread, &attributes, run, &work) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(pthread_attr_destroy(&attributes) == 0);
  while (untouched < STACK && stack[untouched] == PATTERN) ++untouched;
  return STACK - untouched;
}

int main(void) {
  static const struct {
    const char *name;
    void (*work)(void);
    size_t most;
  } works[] = {{"the first backward", first_backward, ONE_CALL}, {"products of matrices", products, ONE_CALL},
               {"a network", network, ONE_CALL}, {"reductions", reductions, ONE_CALL},
               {"100 backward passes, one within the other", nested, NESTED}, {"every operator", operators, ONE_CALL},
               {"files and errors", files, ONE_CALL},
               {"source code", sources, SOURCE}};
  unsigned char *memory = malloc(STACK + 4096), *stack;
  int failures = 0;
  CHECK(memory != NULL);
  stack = (unsigned char *)(((uintptr_t)memory + 4095) & ~(uintptr_t)4095);
  for (size_t at = 0; at < sizeof works / sizeof *works; ++at) {
    const size_t used = used_by(works[at].work, stack);
    printf("%s: %zu bytes of stack\n", works[at].name, used);
    if (used > works[at].most) ++failures;
  }
  free(memory);
  CHECK(live() == 0);
  return failures;
}
