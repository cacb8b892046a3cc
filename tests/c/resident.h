/* The memory of a process that runs for a long time. */
#ifndef RUSHLIGHT_TESTS_C_RESIDENT_H
#define RUSHLIGHT_TESTS_C_RESIDENT_H

#include <stdio.h>

/* Allowed growth of the process after its first rounds, in KiB: allocators round. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED /* quarantines freed memory */
#endif
#endif
#ifdef SANITIZED
enum { SLACK = 2 << 20 };
#else
enum { SLACK = 16 << 10 };
#endif

/* Memory of the process in KiB; 0 if unknown. */
static long resident(void) {
  char line[128];
  long found = 0;
  FILE *status = fopen("/proc/self/status", "r");
  if (status == NULL) return 0;
  while (fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmRSS: %ld", &found) == 1) break;
  }
  fclose(status);
  return found;
}

#endif
