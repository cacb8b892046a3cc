/* 16 threads run backward on graphs that share leaves; the gradients add up exactly. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 16, ROUNDS = 50 };

static rlt_tensor *shared[2];

static void *work(void *unused) {
  (void)unused;
  for (int round = 0; round < ROUNDS; round++) {
    rlt_tensor *product = NULL, *sum = NULL;
    OK(rlt_tensor_mul_Tensor(shared[0], shared[1], &product));
    OK(rlt_tensor_sum(product, NULL, &sum));
    OK(rlt_tensor_backward(sum, NULL, 0, 0));
    rlt_tensor_free(product);
    rlt_tensor_free(sum);
  }
  return NULL;
}

int main(void) {
  const float first[3] = {1, 2, 3}, second[3] = {4, 5, 6};
  pthread_t threads[THREADS];
  shared[0] = vector(first, 3);
  shared[1] = vector(second, 3);
  OK(rlt_tensor_set_requires_grad(shared[0], 1));
  OK(rlt_tensor_set_requires_grad(shared[1], 1));
  for (int index = 0; index < THREADS; index++) CHECK(pthread_create(&threads[index], NULL, work, NULL) == 0);
  for (int index = 0; index < THREADS; index++) CHECK(pthread_join(threads[index], NULL) == 0);
  for (int index = 0; index < 3; index++) {
    rlt_tensor *grads[2] = {NULL, NULL};
    OK(rlt_tensor_grad(shared[0], &grads[0]));
    OK(rlt_tensor_grad(shared[1], &grads[1]));
    CHECK(floats(grads[0])[index] == THREADS * ROUNDS * second[index]);
    CHECK(floats(grads[1])[index] == THREADS * ROUNDS * first[index]);
    rlt_tensor_free(grads[0]);
    rlt_tensor_free(grads[1]);
  }
  rlt_tensor_free(shared[0]);
  rlt_tensor_free(shared[1]);
  CHECK(live() == 0);
  return 0;
}
