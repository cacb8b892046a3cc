/* A progress line on standard error, for the C and the C++ program. Without a terminal it keeps silent until an epoch is done. */
#ifndef DIGITS_PROGRESS_H
#define DIGITS_PROGRESS_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline void progress(const char* label, int done, int total) {
  enum { WIDTH = 30 };
  char bar[WIDTH + 1];
  int filled = done * WIDTH / total;
  if (!isatty(STDERR_FILENO)) return;
  memset(bar, '.', WIDTH);
  memset(bar, '#', (size_t)filled);
  bar[WIDTH] = '\0';
  fprintf(stderr, "\r%s [%s] %d/%d", label, bar, done, total);
  fflush(stderr);
}

/* Replaces the bar by a line that stays. */
static inline void progress_done(const char* label, double loss, double accuracy) {
  const char* start = isatty(STDERR_FILENO) ? "\r\033[K" : "";
  fprintf(stderr, "%s%s  loss %.4f  test accuracy %.4f\n", start, label, loss, accuracy);
}

#endif
