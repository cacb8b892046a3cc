/* A program that has used up all pthread keys can load and use the library: loops run on several threads, threads come and
 * go without a leak, and backward passes nest deeply. The library may stay loaded then.
 * The argument is the path of librushlight.so; this program is not linked to it. */
#define _GNU_SOURCE
#include "loaded_library.h"

#include <pthread.h>

/* Enough for the library's own threads; an error with a message; a panic. */
static void *work(void *unused) {
  (void)unused;
  int64_t size = 100000;
  void *ones = NULL, *sum = NULL;
  CHECK(CALL("rlt_tensor_ones", &size, (int64_t)1, NULL, &ones) == 0);
  CHECK(CALL("rlt_tensor_set_requires_grad", ones, 1) == 0);
  CHECK(CALL("rlt_tensor_sum", ones, NULL, &sum) == 0);
  CHECK(CALL("rlt_tensor_backward", sum, NULL, 0, 0) == 0);
  CALL("rlt_tensor_free", ones);
  CALL("rlt_tensor_free", sum);
  CHECK(CALL("rlt_set_num_threads", -1) != 0);
  CHECK(CALL("rlt_debug_panic", "on purpose") == 13);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_key_t key, last = 0;
  long resident = 0;
  int64_t handles = -1;
  CHECK(argc == 2);
  while (pthread_key_create(&key, NULL) == 0) last = key;
  for (int round = 0; round < 3; round++) {
    load(argv[1]);
    CHECK(CALL("rlt_set_num_threads", 2) == 0);
    /* More threads than the library has slots for: each thread returns its slot. */
    for (int index = 0; index < 600; index++) {
      pthread_t thread;
      CHECK(pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0);
      if (round == 0 && index == 100) resident = read_status("VmRSS:");
    }
    work(NULL);
    CHECK(read_status("Threads:") == 2);
    CHECK(CALL("rlt_live_handles", &handles) == 0 && handles == 0);
    CHECK(dlclose(library) == 0);
  }
  long growth = read_status("VmRSS:") - resident;
  if (growth > 2048) fprintf(stderr, "grew by %ld KiB\n", growth);
  CHECK(growth <= 2048);
  /* With a free key the library works as usual. */
  CHECK(pthread_key_delete(last) == 0);
  load(argv[1]);
  work(NULL);
  CHECK(dlclose(library) == 0);
  return 0;
}
