// C++ owner of the library's state dict, and the files it is read from and written to.
#pragma once

#include <ATen/ATen.h>
#include <c10/util/tempfile.h>
#include <rushlight/io.h>
#include <torch/detail/tensor_data.h>
#include <torch/ordered_dict.h>

#include <cstdio>
#include <memory>
#include <string>

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

RLT_LAZY StateDict to_state_dict(const OrderedDict<std::string, at::Tensor>& tensors) {
  StateDict dict = new_state_dict();
  for (const auto& item : tensors) rlt::check(rlt_state_dict_insert(dict.get(), item.key().c_str(), item.value().handle()));
  return dict;
}
RLT_LAZY OrderedDict<std::string, at::Tensor> from_state_dict(const rlt_state_dict* dict) {
  OrderedDict<std::string, at::Tensor> tensors;
  int64_t count = 0;
  rlt::check(rlt_state_dict_len(dict, &count));
  for (int64_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    rlt_tensor* tensor = nullptr;
    rlt::check(rlt_state_dict_name_at(dict, i, &name));
    rlt::check(rlt_state_dict_tensor_at(dict, i, &tensor));
    tensors.insert(name, at::Tensor(tensor));
  }
  return tensors;
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
