// The order of a tensor's dimensions in memory.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <ostream>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d, NumOptions };

#define LEGACY_CONTIGUOUS_MEMORY_FORMAT c10::get_contiguous_memory_format()
inline MemoryFormat get_contiguous_memory_format() { return MemoryFormat::Contiguous; }

inline std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  static constexpr const char* names[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
  if (format < MemoryFormat::Contiguous || format >= MemoryFormat::NumOptions) {
    rlt::raise<Error>("Unknown memory format " + std::to_string(static_cast<int>(format)));
  }
  return out << names[static_cast<int>(format)];
}

namespace detail {
/// The strides of a dense image whose channels are the fastest dimension, followed by width, height and, in 3d, depth;
/// the batch dimension, if there is one, is the slowest.
inline std::vector<int64_t> channels_last_strides(IntArrayRef sizes, size_t spatial, const char* name) {
  if (sizes.size() != spatial + 1 && sizes.size() != spatial + 2) {
    rlt::raise<Error>(std::string(name) + " doesn't support size " + std::to_string(sizes.size()));
  }
  size_t channels = sizes.size() - spatial - 1;
  std::vector<int64_t> strides(sizes.size());
  strides[channels] = 1;
  int64_t step = sizes[channels];
  for (size_t d = sizes.size() - 1; d > channels; step *= sizes[d--]) strides[d] = step;
  if (channels == 1) strides[0] = step;
  return strides;
}

/// Whether the strides increase from the channels over width, height and depth to the samples, each at least as large
/// as the extent of the previous dimensions. Gaps are allowed. A tensor of one channel and one pixel, which fits both
/// orders, is contiguous.
inline bool strides_show_channels_last(IntArrayRef sizes, IntArrayRef strides, size_t spatial) {
  if (sizes.size() != spatial + 2 || strides[1] == 0) return false;
  int64_t reach = 0;
  for (size_t place = 0; place < sizes.size(); ++place) {
    bool samples = place + 1 == sizes.size();
    size_t d = place == 0 ? 1 : samples ? 0 : sizes.size() - place;
    if (sizes[d] == 0 || strides[d] < reach || (samples && reach == strides[1])) return false;
    reach = strides[d] * sizes[d];
  }
  return true;
}
}  // namespace detail

inline std::vector<int64_t> get_channels_last_strides_2d(IntArrayRef sizes) {
  return detail::channels_last_strides(sizes, 2, "ChannelsLast2d");
}
inline std::vector<int64_t> get_channels_last_strides_3d(IntArrayRef sizes) {
  return detail::channels_last_strides(sizes, 3, "ChannelsLast3d");
}
inline bool is_channels_last_strides_2d(IntArrayRef sizes, IntArrayRef strides) {
  return detail::strides_show_channels_last(sizes, strides, 2);
}
inline bool is_channels_last_strides_3d(IntArrayRef sizes, IntArrayRef strides) {
  return detail::strides_show_channels_last(sizes, strides, 3);
}

RLT_NAMESPACE_END
}  // namespace c10
