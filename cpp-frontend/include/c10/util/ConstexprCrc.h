// c10::util::crc64: the CRC-64 of Jones (reflected, without inversion) of a string, at compile time too.
#pragma once

#include <c10/util/IdWrapper.h>

#include <string_view>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace util {

namespace detail {
/// The polynomial 0xad93d23594c935a9 with its bits reversed.
constexpr uint64_t crc64_reversed_polynomial = 0x95ac9329ac4bc9b5;

struct Crc64Table {
  uint64_t of_byte[256];
};
constexpr Crc64Table make_crc64_table() {
  Crc64Table table{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    uint64_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest & 1) ? (rest >> 1) ^ crc64_reversed_polynomial : rest >> 1;
    table.of_byte[byte] = rest;
  }
  return table;
}
inline constexpr Crc64Table crc64_table = make_crc64_table();

constexpr uint64_t crc64_of(const char* data, size_t size) {
  uint64_t crc = 0;
  for (size_t i = 0; i < size; ++i) crc = crc64_table.of_byte[(crc ^ static_cast<unsigned char>(data[i])) & 0xff] ^ (crc >> 8);
  return crc;
}
}  // namespace detail

struct crc64_t final : IdWrapper<crc64_t, uint64_t> {
  constexpr crc64_t(uint64_t checksum) : IdWrapper(checksum) {}
  constexpr uint64_t checksum() const { return underlyingId(); }
};

constexpr crc64_t crc64(const char* text, size_t size) { return crc64_t(detail::crc64_of(text, size)); }
constexpr crc64_t crc64(std::string_view text) { return crc64(text.data(), text.size()); }

}  // namespace util
RLT_NAMESPACE_END
}  // namespace c10

C10_DEFINE_HASH_FOR_IDWRAPPER(c10::util::crc64_t)
