/* For programs that measure a process from its start: the program runs itself again, with the time in the environment. */
#ifndef RUSHLIGHT_BENCH_PROCESS_H
#define RUSHLIGHT_BENCH_PROCESS_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START "RUSHLIGHT_BENCH_START"

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static long resident_kib(void) {
  long total = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
  if (file != NULL) fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Runs this program again with the same arguments, and returns its exit status. */
static int run_again(char** argv) {
  char start[64];
  int status = 1;
  snprintf(start, sizeof start, "%.6f", milliseconds());
  setenv(START, start, 1);
  pid_t child = fork();
  if (child == 0) {
    execv("/proc/self/exe", argv);
    _exit(127);
  }
  return child > 0 && waitpid(child, &status, 0) == child ? status != 0 : 1;
}

#endif
