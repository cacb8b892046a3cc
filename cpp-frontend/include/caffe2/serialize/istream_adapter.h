// IStreamAdapter: a stream as a ReadAdapterInterface.
#pragma once

#include <c10/util/Exception.h>
#include <caffe2/serialize/read_adapter_interface.h>

#include <istream>

namespace caffe2 {
RLT_NAMESPACE_BEGIN
namespace serialize {

class IStreamAdapter final : public ReadAdapterInterface {
 public:
  explicit IStreamAdapter(std::istream* stream) : stream_(stream) {}
  size_t size() const override {
    auto before = stream_->tellg();
    stream_->seekg(0, std::ios::end);
    auto end = stream_->tellg();
    stream_->seekg(before);
    check("size");
    return static_cast<size_t>(end);
  }
  size_t read(uint64_t pos, void* buf, size_t n, const char* what = "") const override {
    stream_->seekg(static_cast<std::streamoff>(pos));
    check(what);
    stream_->read(static_cast<char*>(buf), static_cast<std::streamsize>(n));
    check(what);
    return n;
  }

 private:
  void check(const char* what) const {
    if (!*stream_) rlt::raise<c10::Error>(std::string("istream reader failed: ") + what + ".");
  }
  std::istream* stream_;
};

}  // namespace serialize
RLT_NAMESPACE_END
}  // namespace caffe2
