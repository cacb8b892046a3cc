/* Loading and unloading the library 100 times, with work in between, leaves no mapping, no thread and no growth.
 * The argument is the path of librushlight.so; this program is not linked to it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);    \
      exit(1);                                                           \
    }                                                                    \
  } while (0)

static void *library;

static void *function(const char *name) {
  void *address = dlsym(library, name);
  CHECK(address != NULL);
  return address;
}

#define CALL(name, ...) ((int32_t(*)())function(name))(__VA_ARGS__)

static void *work(void *unused) {
  (void)unused;
  /* Large enough for the library's own threads, and for memory that it keeps. */
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

static long read_status(const char *key) {
  char text[256];
  long value = -1;
  FILE *file = fopen("/proc/self/status", "r");
  CHECK(file != NULL);
  while (fgets(text, sizeof text, file))
    if (strncmp(text, key, strlen(key)) == 0) value = atol(text + strlen(key));
  fclose(file);
  return value;
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

int main(int argc, char **argv) {
  CHECK(argc == 2);
  long resident = 0;
  for (int round = 0; round < 100; round++) {
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fprintf(stderr, "%s\n", dlerror());
    CHECK(library != NULL);
    work(NULL);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(dlclose(library) == 0);
    CHECK(!is_mapped());
    CHECK(read_status("Threads:") == 1);
    if (round == 9) resident = read_status("VmRSS:");
  }
  long growth = read_status("VmRSS:") - resident;
  if (growth > 256) fprintf(stderr, "grew by %ld KiB in 90 rounds\n", growth);
  CHECK(growth <= 256);
  return 0;
}
