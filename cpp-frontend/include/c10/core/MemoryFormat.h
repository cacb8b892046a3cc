// The order of a tensor's dimensions in memory.
#pragma once

#include <c10/macros/Macros.h>

#include <ostream>

namespace c10 {
RLT_NAMESPACE_BEGIN

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d, NumOptions };

inline MemoryFormat get_contiguous_memory_format() { return MemoryFormat::Contiguous; }

inline std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  static constexpr const char* names[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
  return out << names[static_cast<int>(format)];
}

RLT_NAMESPACE_END
}  // namespace c10
