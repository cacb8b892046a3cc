/* For the tests in Wine, which has no bcryptprimitives.dll before version 9: the function of it that Rust's standard library
 * calls, by the system's generator of random bytes. It is a part of Windows. */
#include <stddef.h>

__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *buffer, unsigned long length);

__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *buffer, size_t length) {
  while (length > 0) {
    const unsigned long part = length < 1u << 20 ? (unsigned long)length : 1u << 20;
    if (!SystemFunction036(buffer, part)) return 0;
    buffer += part;
    length -= part;
  }
  return 1;
}
