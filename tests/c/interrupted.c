/* Interrupted operators: an in-place or out= write bumps the tensor's version, so that backward rejects it. A parallel loop of the
   host that fails, or does not run each share once, interrupts an operator. */
#include "check.h"

#define COUNT 400000

enum behaviour { ALL, FAIL, FAIL_WITH_TEXT, NONE, TWICE, BEYOND, NEGATIVE };
static enum behaviour behaviour;

static int32_t run(void *ctx, int64_t shares, rlt_share body, void *body_ctx) {
  int64_t half = shares / 2, share;
  (void)ctx;
  for (share = 0; share < (behaviour == ALL ? shares : half); ++share) body(body_ctx, share);
  switch (behaviour) {
    case FAIL: return 7;
    case FAIL_WITH_TEXT: return rlt_set_last_error(RLT_ERROR_VALUE, "my pool is full");
    case TWICE:
      for (share = 0; share < shares - half; ++share) body(body_ctx, half - 1);
      return RLT_OK;
    case BEYOND: body(body_ctx, shares); return RLT_OK;
    case NEGATIVE: body(body_ctx, -1); return RLT_OK;
    default: return RLT_OK;
  }
}

static rlt_tensor *ones(void) {
  const int64_t count = COUNT;
  rlt_tensor *tensor = NULL;
  OK(rlt_tensor_ones(&count, 1, NULL, &tensor));
  return tensor;
}

static int64_t version(const rlt_tensor *tensor) {
  int64_t version = 0;
  OK(rlt_tensor_version(tensor, &version));
  return version;
}

static void a_loop_that_does_not_run_its_shares_is_an_error(void) {
  static const struct {
    enum behaviour behaviour;
    int32_t code;
    const char *text;
  } cases[] = {{FAIL, RLT_ERROR_CALLBACK, "the callback of the parallel-for hook failed with status 7"},
               {FAIL_WITH_TEXT, RLT_ERROR_VALUE, "my pool is full"},
               {NONE, RLT_ERROR_CALLBACK, "shares"},
               {TWICE, RLT_ERROR_CALLBACK, "one share twice"},
               {BEYOND, RLT_ERROR_CALLBACK, "a share that does not exist"},
               {NEGATIVE, RLT_ERROR_CALLBACK, "a share that does not exist"}};
  rlt_tensor *x = ones(), *result = NULL;
  size_t i;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    behaviour = cases[i].behaviour;
    FAILS(rlt_tensor_exp(x, &result), cases[i].code, cases[i].text);
    CHECK(result == NULL);
    CHECK(version(x) == 0 && floats(x)[0] == 1 && floats(x)[COUNT - 1] == 1);
  }
  rlt_tensor_free(x);
  behaviour = ALL;
}

static void half_a_write_counts(void) {
  rlt_tensor *w = ones(), *x = ones(), *y = NULL, *sum = NULL, *out = ones();
  OK(rlt_tensor_set_requires_grad(w, 1));
  OK(rlt_tensor_mul_Tensor(w, x, &y));
  OK(rlt_tensor_sum(y, NULL, &sum));

  behaviour = FAIL;
  FAILS(rlt_tensor_exp_out(x, out), RLT_ERROR_CALLBACK, "exp");
  CHECK(version(out) == 1);
  FAILS(rlt_tensor_exp_(x), RLT_ERROR_CALLBACK, "exp_");
  CHECK(version(x) == 1);
  /* Invalid arguments are found before anything is written. */
  FAILS(rlt_tensor_exp_out(w, x), RLT_ERROR_RUNTIME, "");
  CHECK(version(x) == 1);

  behaviour = ALL;
  FAILS(rlt_tensor_backward(sum, NULL, 0, 0), RLT_ERROR_RUNTIME, "modified by an inplace operation");
  rlt_tensor_free(w);
  rlt_tensor_free(x);
  rlt_tensor_free(y);
  rlt_tensor_free(sum);
  rlt_tensor_free(out);
}

int main(void) {
  rlt_parallel_for hook = {sizeof hook, NULL, NULL};
  hook.run = run;
  OK(rlt_set_num_threads(2));
  OK(rlt_set_parallel_for(&hook));
  a_loop_that_does_not_run_its_shares_is_an_error();
  half_a_write_counts();
  OK(rlt_set_parallel_for(NULL));
  CHECK(live() == 0);
  return 0;
}
