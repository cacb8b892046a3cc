/* Memory with an alignment, for the allocators of tests: Windows has other functions, and its free() takes no such block. */
#ifndef RUSHLIGHT_TESTS_ALIGNED_H
#define RUSHLIGHT_TESTS_ALIGNED_H

#include <stdlib.h>

#ifdef _WIN32
#include <malloc.h>
static inline void *aligned_block(size_t size, size_t alignment) { return _aligned_malloc(size, alignment); }
static inline void free_aligned_block(void *block) { _aligned_free(block); }
#else
static inline void *aligned_block(size_t size, size_t alignment) {
  void *block = NULL;
  return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}
static inline void free_aligned_block(void *block) { free(block); }
#endif

#endif
