/* Rushlight's static library and that of another Rust project in one program. Built by tests/c/static.sh. */
#include "check.h"

size_t other_catches_a_panic(void);

int main(void) {
  CHECK(other_catches_a_panic() == strlen("elsewhere"));
  FAILS(rlt_debug_panic("here"), RLT_ERROR_INTERNAL, "internal error: here");
  CHECK(other_catches_a_panic() == strlen("elsewhere"));
  return 0;
}
