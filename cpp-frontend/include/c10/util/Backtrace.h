// The functions that are running, as text: what() of an error has them if TORCH_SHOW_CPP_STACKTRACES is set.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Lazy.h>

#if __has_include(<execinfo.h>)
#include <cxxabi.h>
#include <execinfo.h>
#define RLT_BACKTRACE 1
#else
#define RLT_BACKTRACE 0
#endif

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace detail {

/// Memory of malloc. This header precedes all others, and what std::unique_ptr and std::vector instantiate costs more than all of it.
template <class T>
struct Allocated {
  T* data;
  ~Allocated() { std::free(data); }
};

/// `program(_ZN1f...+0x12) [0x...]` with the name of the function as in its source, where the program has it.
RLT_COLD inline std::string readable_frame(const std::string& frame) {
#if RLT_BACKTRACE
  size_t start = frame.find('('), end = frame.find('+', start);
  if (start == std::string::npos || end == std::string::npos) return frame;
  int status = 0;
  Allocated<char> name{abi::__cxa_demangle(frame.substr(start + 1, end - start - 1).c_str(), nullptr, nullptr, &status)};
  if (status == 0 && name.data) return std::string(name.data) + " " + frame.substr(end, frame.find(')', end) - end) + " in " + frame.substr(0, start);
#endif
  return frame;
}

/// Whether errors are to have the functions that are running.
RLT_COLD inline bool shows_stacktraces() {
  const char* value = std::getenv("TORCH_SHOW_CPP_STACKTRACES");
  return value && std::strcmp(value, "") != 0 && std::strcmp(value, "0") != 0;
}

}  // namespace detail

/// The functions that are running, innermost first, a line `frame #0: ...` for each. Empty where the C library has no
/// <execinfo.h>. The last argument is libtorch's; there are no Python frames here.
RLT_COLD inline std::string get_backtrace(size_t frames_to_skip = 0, size_t maximum_number_of_frames = 64, bool = true) {
  std::string lines;
#if RLT_BACKTRACE
  // This function is not among them.
  ++frames_to_skip;
  size_t capacity = frames_to_skip + maximum_number_of_frames;
  detail::Allocated<void*> frames{static_cast<void**>(std::malloc(capacity * sizeof(void*)))};
  if (!frames.data) return lines;
  int count = backtrace(frames.data, static_cast<int>(capacity));
  detail::Allocated<char*> symbols{backtrace_symbols(frames.data, count)};
  if (!symbols.data) return lines;
  for (size_t i = frames_to_skip; i < static_cast<size_t>(count); ++i) {
    lines += "frame #" + std::to_string(i - frames_to_skip) + ": " + detail::readable_frame(symbols.data[i]) + "\n";
  }
#else
  (void)frames_to_skip, (void)maximum_number_of_frames;
#endif
  return lines;
}

RLT_NAMESPACE_END
}  // namespace c10
