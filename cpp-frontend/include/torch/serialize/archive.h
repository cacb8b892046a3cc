// Archives: named tensors on their way to a file (.pt or .safetensors) and back. A nested archive is a prefix.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/util/tempfile.h>
#include <rushlight/io.h>

#include <cstdio>
#include <cstring>
#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

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
struct FilePointer {
  explicit FilePointer(std::FILE* opened) : file(opened) {}
  ~FilePointer() {
    if (file) std::fclose(file);
  }
  FilePointer(const FilePointer&) = delete;
  FilePointer& operator=(const FilePointer&) = delete;
  std::FILE* file;
};
inline bool ends_with(const std::string& text, const char* end) {
  std::string tail(end);
  return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}
}  // namespace detail

class OutputArchive final {
 public:
  OutputArchive() : dict_(detail::new_state_dict()) {}

  void write(const std::string& key, const at::Tensor& tensor, bool is_buffer = false) {
    (void)is_buffer;
    // A tensor without values (a layer without bias) leaves no entry.
    if (tensor.defined()) rlt::check(rlt_state_dict_insert(dict_.get(), key.c_str(), tensor.handle()));
  }
  void write(const std::string& key, OutputArchive& nested) {
    int64_t count = 0;
    rlt::check(rlt_state_dict_len(nested.dict_.get(), &count));
    for (int64_t i = 0; i < count; ++i) {
      const char* name = nullptr;
      rlt_tensor* tensor = nullptr;
      rlt::check(rlt_state_dict_name_at(nested.dict_.get(), i, &name));
      rlt::check(rlt_state_dict_tensor_at(nested.dict_.get(), i, &tensor));
      write(key + "." + name, at::Tensor(tensor));
    }
  }
  /// Writes a number as a tensor without dimensions.
  void write(const std::string& key, double number) { write(key, at::full({}, number, at::kDouble)); }
  void write(const std::string& key, int64_t number) { write(key, at::full({}, number, at::kLong)); }

  /// Saves as safetensors if the name ends in `.safetensors`, as .pt otherwise.
  void save_to(const std::string& path) {
    int32_t format = detail::ends_with(path, ".safetensors") ? RLT_FORMAT_SAFETENSORS : RLT_FORMAT_PT;
    rlt::check(rlt_state_dict_save(dict_.get(), path.c_str(), format));
  }
  /// Saves as .pt to a stream.
  void save_to(std::ostream& stream) {
    c10::TempFile file = c10::make_tempfile();
    rlt::check(rlt_state_dict_save(dict_.get(), file.name.c_str(), RLT_FORMAT_PT));
    detail::FilePointer content(std::fopen(file.name.c_str(), "rb"));
    char block[4096];
    for (size_t count; content.file && (count = std::fread(block, 1, sizeof block, content.file)) > 0;) {
      stream.write(block, static_cast<std::streamsize>(count));
    }
  }
  rlt_state_dict* handle() const { return dict_.get(); }

 private:
  detail::StateDict dict_;
};

class InputArchive final {
 public:
  InputArchive() = default;

  void load_from(const std::string& path, std::optional<at::Device> device = std::nullopt) {
    rlt_state_dict* dict = nullptr;
    rlt::check(rlt_state_dict_load(path.c_str(), RLT_FORMAT_AUTO, &dict));
    dict_ = detail::StateDict(dict, detail::FreeStateDict());
    device_ = device;
    prefix_.clear();
  }

  void load_from(std::istream& stream, std::optional<at::Device> device = std::nullopt) {
    c10::TempFile file = c10::make_tempfile();
    {
      detail::FilePointer content(std::fopen(file.name.c_str(), "wb"));
      char block[4096];
      while (content.file && (stream.read(block, sizeof block) || stream.gcount() > 0)) {
        std::fwrite(block, 1, static_cast<size_t>(stream.gcount()), content.file);
      }
    }
    load_from(file.name, device);
  }

  bool try_read(const std::string& key, at::Tensor& tensor, bool is_buffer = false) {
    (void)is_buffer;
    if (!contains(prefix_ + key)) return false;
    rlt_tensor* found = nullptr;
    rlt::check(rlt_state_dict_get(dict_.get(), (prefix_ + key).c_str(), &found));
    at::Tensor value(found);
    if (device_) value = value.to(at::TensorOptions(*device_));
    if (!tensor.defined()) {
      tensor = std::move(value);
      return true;
    }
    c10::NoGradGuard guard;
    tensor.set_data(device_ ? value : value.to(at::TensorOptions(tensor.device())));
    return true;
  }
  void read(const std::string& key, at::Tensor& tensor, bool is_buffer = false) {
    if (!try_read(key, tensor, is_buffer)) rlt::raise<Error>("No such serialized tensor '" + prefix_ + key + "'");
  }
  bool try_read(const std::string& key, InputArchive& nested) {
    std::string prefix = prefix_ + key + ".";
    nested.dict_ = dict_;
    nested.device_ = device_;
    nested.prefix_ = prefix;
    int64_t count = length();
    for (int64_t i = 0; i < count; ++i) {
      if (std::strncmp(name_at(i), prefix.c_str(), prefix.size()) == 0) return true;
    }
    return false;
  }
  /// A submodule without parameters leaves nothing in the file, so that an empty nested archive is no error.
  void read(const std::string& key, InputArchive& nested) { try_read(key, nested); }
  bool try_read(const std::string& key, double& number) {
    at::Tensor value;
    if (!try_read(key, value)) return false;
    number = value.item<double>();
    return true;
  }
  bool try_read(const std::string& key, int64_t& number) {
    at::Tensor value;
    if (!try_read(key, value)) return false;
    number = value.item<int64_t>();
    return true;
  }
  /// The names at this level.
  RLT_LAZY std::vector<std::string> keys() {
    std::vector<std::string> keys;
    int64_t count = length();
    for (int64_t i = 0; i < count; ++i) {
      std::string name = name_at(i);
      if (name.compare(0, prefix_.size(), prefix_) != 0) continue;
      std::string key = name.substr(prefix_.size(), name.find('.', prefix_.size()) - prefix_.size());
      if (keys.empty() || keys.back() != key) keys.push_back(key);
    }
    return keys;
  }
  rlt_state_dict* handle() const { return dict_.get(); }

 private:
  int64_t length() const {
    int64_t count = 0;
    if (dict_) rlt::check(rlt_state_dict_len(dict_.get(), &count));
    return count;
  }
  const char* name_at(int64_t position) const {
    const char* name = nullptr;
    rlt::check(rlt_state_dict_name_at(dict_.get(), position, &name));
    return name;
  }
  bool contains(const std::string& full) const {
    int64_t count = length();
    for (int64_t i = 0; i < count; ++i) {
      if (full == name_at(i)) return true;
    }
    return false;
  }

  detail::StateDict dict_;
  std::string prefix_;
  std::optional<at::Device> device_;
};

}  // namespace serialize
RLT_NAMESPACE_END
}  // namespace torch
