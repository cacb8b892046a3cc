// The functions of the system that tempfile.h calls, for Windows.
#pragma once

#include <c10/macros/Macros.h>

#ifdef _WIN32
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <string>
#include <sys/stat.h>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace detail {

/// The folder for temporary files.
inline std::string tempfile_folder() {
  for (const char* variable : {"TMP", "TEMP"}) {
    const char* folder = std::getenv(variable);
    if (folder && *folder) return folder;
  }
  return ".";
}
/// Replaces the six letters at the end of the path until `create` returns a number that is not negative, and returns that; -1 if
/// creation fails for another reason than that the name is in use.
template <class Create>
int with_unused_name(std::string& path, Create create) {
  auto random = static_cast<uint64_t>(std::chrono::high_resolution_clock::now().time_since_epoch().count());
  random ^= static_cast<uint64_t>(reinterpret_cast<uintptr_t>(path.data()));
  for (int attempt = 0; attempt < 10000; ++attempt) {
    // Multiplier and increment of Knuth's MMIX: the upper bits are random.
    random = random * 6364136223846793005u + 1442695040888963407u;
    uint64_t digits = random >> 32;
    for (size_t at = path.size() - 6; at < path.size(); ++at, digits /= 36) path[at] = "abcdefghijklmnopqrstuvwxyz0123456789"[digits % 36];
    int created = create(path.c_str());
    if (created >= 0 || errno != EEXIST) return created;
  }
  return -1;
}
/// Creates a file, or a folder, with a name that is not in use; writes the name over the X at the end of the path.
inline int create_tempfile(std::string& path) {
  return with_unused_name(path, [](const char* name) { return _open(name, _O_RDWR | _O_CREAT | _O_EXCL | _O_BINARY, _S_IREAD | _S_IWRITE); });
}
inline bool create_tempdir(std::string& path) {
  return with_unused_name(path, [](const char* name) { return _mkdir(name); }) >= 0;
}

}  // namespace detail
RLT_NAMESPACE_END
}  // namespace c10
#endif
