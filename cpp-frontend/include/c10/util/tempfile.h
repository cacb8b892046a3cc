// TempFile and TempDir: a file or an empty folder in the folder for temporary files, removed at the end of its scope.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/Optional.h>
#include <c10/util/tempfile_windows.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

struct TempFile {
  TempFile(std::string path, int descriptor) : fd(descriptor), name(std::move(path)) {}
  TempFile(TempFile&& other) noexcept : fd(rlt::exchange_value(other.fd, -1)), name(rlt::exchange_value(other.name, std::string())) {}
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() {
    if (fd >= 0) close(fd);
    if (!name.empty()) unlink(name.c_str());
  }

  int fd;
  std::string name;
};

struct TempDir {
  TempDir() = delete;
  explicit TempDir(std::string path) : name(std::move(path)) {}
  TempDir(TempDir&& other) noexcept : name(rlt::exchange_value(other.name, std::string())) {}
  TempDir& operator=(TempDir&& other) noexcept {
    name.swap(other.name);
    return *this;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    if (!name.empty()) rmdir(name.c_str());
  }

  std::string name;
};

namespace detail {
#ifndef _WIN32
/// The folder for temporary files.
inline std::string tempfile_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder && *folder ? folder : "/tmp";
}
/// Creates a file, or a folder, with a name that is not in use; writes the name over the X at the end of the path.
inline int create_tempfile(std::string& path) { return mkstemp(&path[0]); }
inline bool create_tempdir(std::string& path) { return mkdtemp(&path[0]) != nullptr; }
#endif
/// A path in the folder for temporary files, with letters to replace.
inline std::string tempfile_pattern(std::string_view prefix) { return tempfile_folder() + "/" + std::string(prefix) + "XXXXXX"; }
/// A new file. Its descriptor is negative if creation failed.
inline TempFile open_tempfile(std::string_view prefix) {
  std::string path = tempfile_pattern(prefix);
  int fd = create_tempfile(path);
  return TempFile(fd < 0 ? std::string() : std::move(path), fd);
}
}  // namespace detail

// (A template, so that only programs that call it compile the returned class.)
template <class File = TempFile>
std::optional<File> try_make_tempfile(std::string_view prefix = "torch-file-") {
  File file = detail::open_tempfile(prefix);
  if (file.fd < 0) return std::nullopt;
  return file;
}
template <class Dir = TempDir>
std::optional<Dir> try_make_tempdir(std::string_view prefix = "torch-dir-") {
  std::string path = detail::tempfile_pattern(prefix);
  if (!detail::create_tempdir(path)) return std::nullopt;
  return Dir(std::move(path));
}
inline TempDir make_tempdir(std::string_view prefix = "torch-dir-") {
  std::string path = detail::tempfile_pattern(prefix);
  if (!detail::create_tempdir(path)) rlt::raise<Error>("Error generating temporary directory");
  return TempDir(std::move(path));
}
inline TempFile make_tempfile(std::string_view prefix = "torch-file-") {
  TempFile file = detail::open_tempfile(prefix);
  if (file.fd < 0) rlt::raise<Error>("Error generating temporary file");
  return file;
}

RLT_NAMESPACE_END
}  // namespace c10
