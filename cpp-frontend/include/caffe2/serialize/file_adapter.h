// FileAdapter: a file as a ReadAdapterInterface.
#pragma once

#include <caffe2/serialize/istream_adapter.h>

#include <fstream>
#include <string>

namespace caffe2 {
RLT_NAMESPACE_BEGIN
namespace serialize {

class FileAdapter final : public ReadAdapterInterface {
 public:
  explicit FileAdapter(const std::string& name) : file_(name, std::ios::binary), adapter_(&file_) {
    if (!file_) rlt::raise<c10::Error>("open file failed, file path: " + name);
  }
  size_t size() const override { return adapter_.size(); }
  size_t read(uint64_t pos, void* buf, size_t n, const char* what = "") const override { return adapter_.read(pos, buf, n, what); }

 private:
  mutable std::ifstream file_;
  IStreamAdapter adapter_;
};

}  // namespace serialize
RLT_NAMESPACE_END
}  // namespace caffe2
