/* Loading and unloading the library 100 times, with work in between, leaves no mapping, no thread, no growth and no
 * pthread key. The program first uses up nearly all keys, so that a library that leaks one key per round fails within 8
 * rounds. RUSHLIGHT_UNLOAD_ROUNDS sets the number of rounds and leaves the keys alone. The argument is the path of
 * librushlight.so; this program is not linked to it. */
#define _GNU_SOURCE
#include "loaded_library.h"

#include <pthread.h>

static void *work(void *unused) {
  (void)unused;
  /* Large enough for the library's own threads, and for memory that it caches. */
  int64_t size = 1000000;
  void *ones = NULL, *sum = NULL;
  CHECK(CALL("rlt_set_num_threads", 2) == 0);
  CHECK(CALL("rlt_tensor_ones", &size, (int64_t)1, NULL, &ones) == 0);
  CHECK(CALL("rlt_tensor_set_requires_grad", ones, 1) == 0);
  CHECK(CALL("rlt_tensor_sum", ones, NULL, &sum) == 0);
  CHECK(CALL("rlt_tensor_backward", sum, NULL, 0, 0) == 0);
  CHECK(CALL("rlt_set_num_threads", -1) != 0);
  CHECK(CALL("rlt_set_num_threads", 3) == 0);
  CHECK(CALL("rlt_debug_panic", "on purpose") == 13);
  CALL("rlt_tensor_free", ones);
  CALL("rlt_tensor_free", sum);
  void *op = NULL;
  CHECK(CALL("rlt_op_define", "mine::op(Tensor self) -> Tensor", &op) == 0);
  CALL("rlt_op_unregister", op);
  CHECK(CALL("rlt_manual_seed", (uint64_t)7) == 0);
  return NULL;
}

static int is_mapped(void) {
  char text[4096];
  int found = 0;
  FILE *file = fopen("/proc/self/maps", "r");
  CHECK(file != NULL);
  while (fgets(text, sizeof text, file)) found |= strstr(text, "librushlight") != NULL;
  fclose(file);
  return found;
}

/* Takes pthread keys until `free` are left. */
static void take_keys(int free) {
  pthread_key_t keys[4096];
  int count = 0;
  while (count < 4096 && pthread_key_create(&keys[count], NULL) == 0) count++;
  CHECK(count >= free && count < 4096);
  for (int index = 0; index < free; index++) CHECK(pthread_key_delete(keys[--count]) == 0);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  const char *setting = getenv("RUSHLIGHT_UNLOAD_ROUNDS");
  int rounds = setting != NULL ? atoi(setting) : 100;
  long resident = 0;
  if (setting == NULL) take_keys(8);
  for (int round = 0; round < rounds; round++) {
    load(argv[1]);
    work(NULL);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(dlclose(library) == 0);
    CHECK(!is_mapped());
    CHECK(read_status("Threads:") == 1);
    if (round == 9) resident = read_status("VmRSS:");
  }
  long growth = read_status("VmRSS:") - resident;
  if (growth > 256) fprintf(stderr, "grew by %ld KiB in %d rounds\n", growth, rounds - 10);
  CHECK(growth <= 256);
  return 0;
}
