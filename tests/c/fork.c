/* A forked child computes, also when the parent has used the library on several threads before. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static double compute(void) {
  int64_t size = 100000;
  rlt_tensor *ones = NULL, *sum = NULL;
  OK(rlt_tensor_ones(&size, 1, NULL, &ones));
  OK(rlt_tensor_set_requires_grad(ones, 1));
  OK(rlt_tensor_sum(ones, NULL, &sum));
  OK(rlt_tensor_backward(sum, NULL, 0, 0));
  double value = item(sum);
  rlt_tensor_free(ones);
  rlt_tensor_free(sum);
  return value;
}

int main(void) {
  OK(rlt_set_num_threads(4));
  CHECK(compute() == 100000);
  for (int round = 0; round < 4; round++) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) _exit(compute() == 100000 && live() == 0 ? 0 : 1);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  CHECK(compute() == 100000);
  return 0;
}
