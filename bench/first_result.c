/* The time from starting a process to the first result of a saved model, `first_result MODEL SIZE...`: the sizes of its input,
 * a tensor of ones. Prints the milliseconds from the start to `main`, of reading the file, of the first and of the second
 * call, the sum without the second call, and resident KiB. `mapped` before the model maps the file. */
#define _POSIX_C_SOURCE 200809L
#include "process.h"
#include <rushlight/rushlight.h>
#include <string.h>

#define MOST_SIZES 8

static int measure(double start, int mapped, const char* path, const int64_t* sizes, int64_t count) {
  const double begun = milliseconds();
  rlt_tensor* input = NULL;
  rlt_module* model = NULL;
  rlt_value argument = {RLT_VALUE_TENSOR, 0, 0, {0}}, results[2] = {{RLT_VALUE_NONE, 0, 0, {0}}, {RLT_VALUE_NONE, 0, 0, {0}}};
  double after[3] = {0, 0, 0};
  int failed = mapped ? rlt_module_load_mapped(path, &model) : rlt_module_load(path, &model);
  after[0] = milliseconds();
  if (!failed) {
    rlt_set_grad_enabled(0);
    failed = rlt_tensor_ones(sizes, count, NULL, &input) || rlt_module_train(model, 0);
  }
  argument.as.tensor = input;
  for (int call = 0; call < 2 && !failed; ++call) {
    failed = rlt_module_run(model, "forward", &argument, 1, NULL, 0, &results[call]);
    after[call + 1] = milliseconds();
  }
  if (failed) fprintf(stderr, "%s\n", rlt_last_error_message());
  else
    printf("%.1f %.1f %.1f %.1f %.1f %ld\n", begun - start, after[0] - begun, after[1] - after[0], after[2] - after[1], after[1] - start,
           resident_kib());
  rlt_value_free(&results[0]);
  rlt_value_free(&results[1]);
  rlt_tensor_free(input);
  rlt_module_free(model);
  return failed;
}

int main(int argc, char** argv) {
  const char* begun = getenv(START);
  const int mapped = argc > 1 && strcmp(argv[1], "mapped") == 0;
  const int first = mapped ? 2 : 1;
  if (argc <= first || argc - first - 1 > MOST_SIZES) {
    fprintf(stderr, "usage: %s [mapped] MODEL SIZE...\n", argv[0]);
    return 2;
  }
  if (begun != NULL) {
    int64_t sizes[MOST_SIZES];
    for (int at = first + 1; at < argc; ++at) sizes[at - first - 1] = atoll(argv[at]);
    return measure(atof(begun), mapped, argv[first], sizes, argc - first - 1);
  }
  return run_again(argv);
}
