// A switch of libtorch's conversion of strings to Python's, which does not exist here: it is kept, and changes nothing.
#pragma once

#include <c10/macros/Macros.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

namespace detail {
inline bool& utf8_decoding_ignore() {
  thread_local bool ignore = false;
  return ignore;
}
}  // namespace detail

inline void setUTF8DecodingIgnore(bool on) { detail::utf8_decoding_ignore() = on; }
inline bool getUTF8DecodingIgnore() { return detail::utf8_decoding_ignore(); }

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
