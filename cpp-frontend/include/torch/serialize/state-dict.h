// The library's state dict, and the files it is read from and written to, in the hands of C++.
#pragma once

#include <ATen/ATen.h>
#include <c10/util/tempfile.h>
#include <rushlight/io.h>
#include <torch/detail/tensor_data.h>

#include <cstdio>
#include <memory>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace serialize {
namespace detail {

struct FreeStateDict {
  void operator()(rlt_state_dict* dict) const { rlt_state_dict_free(dict); }
};
using StateDict = std::shared_ptr<rlt_state_dict>;
inline StateDict new_state_dict() {
  rlt_state_dict* dict = nullptr;
  rlt::check(rlt_state_dict_new(&dict));
  return StateDict(dict, FreeStateDict());
}

/// A C file that closes itself.
struct FilePointer {
  explicit FilePointer(std::FILE* opened) : file(opened) {}
  ~FilePointer() {
    if (file) std::fclose(file);
  }
  FilePointer(const FilePointer&) = delete;
  FilePointer& operator=(const FilePointer&) = delete;
  std::FILE* file;
};

}  // namespace detail
}  // namespace serialize
RLT_NAMESPACE_END
}  // namespace torch
