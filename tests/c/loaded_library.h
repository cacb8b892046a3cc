/* For tests of programs that load the library and are not linked to it: checks, calls by name, memory and threads. */
#ifndef RUSHLIGHT_TESTS_LOADED_LIBRARY_H
#define RUSHLIGHT_TESTS_LOADED_LIBRARY_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the test unless the condition holds. */
#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);    \
      exit(1);                                                           \
    }                                                                    \
  } while (0)

/* The loaded library. */
static void *library;

static void load(const char *path) {
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  CHECK(library != NULL);
}

static void *function(const char *name) {
  void *address = dlsym(library, name);
  CHECK(address != NULL);
  return address;
}

/* Calls a function of the library. Arguments need the types of its parameters. */
#define CALL(name, ...) ((int32_t(*)())function(name))(__VA_ARGS__)

/* A number of /proc/self/status, such as "VmRSS:" in KiB. */
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

#endif /* RUSHLIGHT_TESTS_LOADED_LIBRARY_H */
