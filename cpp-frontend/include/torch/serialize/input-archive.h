// InputArchive: named tensors and values from a file that save wrote, here or in libtorch, or a state_dict that Python saved. A
// nested archive is a prefix.
#pragma once

#include <ATen/core/ivalue_all.h>
#include <c10/core/GradMode.h>
#include <torch/serialize/state-dict.h>

#include <cstring>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace serialize {

class InputArchive final {
 public:
  InputArchive() = default;
  InputArchive(InputArchive&&) = default;
  InputArchive& operator=(InputArchive&&) = default;
  InputArchive(InputArchive&) = delete;
  InputArchive& operator=(InputArchive&) = delete;

  void load_from(const std::string& path, std::optional<at::Device> device = std::nullopt) {
    rlt_state_dict* dict = nullptr;
    rlt::check(rlt_state_dict_load_all(path.c_str(), &dict));
    dict_ = detail::StateDict(dict, detail::FreeStateDict());
    device_ = device;
    prefix_.clear();
  }
  void load_from(const char* path, std::optional<at::Device> device = std::nullopt) { load_from(std::string(path), device); }
  /// Loads the rest of a stream.
  RLT_LAZY void load_from(std::istream& stream, std::optional<at::Device> device = std::nullopt) {
    stream.seekg(0, std::ios_base::end);
    auto left = static_cast<int64_t>(stream.tellg());
    if (left < 0) rlt::raise<Error>("the stream to load from cannot be positioned");
    stream.seekg(0);
    load_blocks(device, [&](char* block, size_t size) {
      auto count = std::min(left, static_cast<int64_t>(size));
      // A read past the end would leave the stream unusable.
      if (count <= 0 || !stream.read(block, static_cast<std::streamsize>(count))) return size_t{0};
      left -= count;
      return static_cast<size_t>(count);
    });
  }
  /// Loads from memory.
  RLT_LAZY void load_from(const char* data, size_t size, std::optional<at::Device> device = std::nullopt) {
    load_blocks(device, [&](char* block, size_t most) {
      size_t count = std::min(most, size);
      std::memcpy(block, data, count);
      data += count;
      size -= count;
      return count;
    });
  }
  /// Loads from two functions: one copies bytes from a position, the other returns their number.
  RLT_LAZY void load_from(const std::function<size_t(uint64_t position, void* buffer, size_t count)>& read_function,
                 const std::function<size_t()>& size_function, std::optional<at::Device> device = std::nullopt) {
    uint64_t position = 0, size = size_function();
    load_blocks(device, [&](char* block, size_t most) {
      size_t count = position < size ? read_function(position, block, std::min<uint64_t>(most, size - position)) : 0;
      position += count;
      return count;
    });
  }

  /// Reads a tensor. If the given tensor has values, they are replaced, and the tensor and its device stay the same.
  bool try_read(const std::string& key, at::Tensor& tensor, bool is_buffer = false) {
    (void)is_buffer;
    at::Tensor value = find(prefix_ + key);
    if (!value.defined()) return false;
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
    if (try_read(key, tensor, is_buffer)) return;
    if (!missing_.empty()) rlt::raise<Error>("No such serialized submodule: '" + missing_ + "'");
    rlt::raise<Error>("No such serialized tensor '" + prefix_ + key + "'");
  }
  RLT_LAZY bool try_read(const std::string& key, c10::IValue& value) {
    const std::string start = prefix_ + key + ":";
    int64_t count = length();
    for (int64_t i = 0; i < count; ++i) {
      const char* name = name_at(i);
      if (std::strncmp(name, start.c_str(), start.size()) == 0 && std::strchr(name + start.size(), '.') == nullptr) {
        value = decoded(key, name + start.size(), find(name));
        return true;
      }
    }
    at::Tensor tensor;
    if (!try_read(key, tensor)) return false;
    value = tensor;
    return true;
  }
  RLT_LAZY void read(const std::string& key, c10::IValue& value) {
    if (!try_read(key, value)) rlt::raise<Error>("__torch__.Module does not have a field with name '" + key + "'");
  }
  bool try_read(const std::string& key, InputArchive& nested) {
    enter(key, nested);
    int64_t count = length();
    for (int64_t i = 0; i < count; ++i) {
      if (std::strncmp(name_at(i), nested.prefix_.c_str(), nested.prefix_.size()) == 0) return true;
    }
    return false;
  }
  void read(const std::string& key, InputArchive& nested) {
    if (!try_read(key, nested)) rlt::raise<Error>("No such serialized submodule: '" + prefix_ + key + "'");
  }
  /// Reads a submodule. A submodule without parameters has no entries in a file, so only a missing tensor is an error.
  void read_submodule(const std::string& key, InputArchive& nested) {
    if (!try_read(key, nested)) nested.missing_ = missing_.empty() ? prefix_ + key : missing_;
  }
  template <class... Args>
  void operator()(Args&&... args) {
    read(std::forward<Args>(args)...);
  }

  /// The tensors at this level and below, by dotted name, without other values.
  RLT_LAZY OrderedDict<std::string, at::Tensor> named_tensors() {
    OrderedDict<std::string, at::Tensor> tensors;
    int64_t count = length();
    for (int64_t i = 0; i < count; ++i) {
      std::string name = name_at(i);
      if (name.compare(0, prefix_.size(), prefix_) != 0 || name.find(':', prefix_.size()) != std::string::npos) continue;
      read(name.substr(prefix_.size()), tensors.insert(name.substr(prefix_.size()), at::Tensor()));
    }
    return tensors;
  }
  /// The names at this level.
  RLT_LAZY std::vector<std::string> keys() {
    std::vector<std::string> keys;
    int64_t count = length();
    for (int64_t i = 0; i < count; ++i) {
      std::string name = name_at(i);
      if (name.compare(0, prefix_.size(), prefix_) != 0) continue;
      std::string key = name.substr(prefix_.size(), name.find_first_of(".:", prefix_.size()) - prefix_.size());
      if (keys.empty() || keys.back() != key) keys.push_back(key);
    }
    return keys;
  }
  rlt_state_dict* handle() const { return dict_.get(); }

 private:
  void enter(const std::string& key, InputArchive& nested) const {
    std::string prefix = prefix_ + key + ".";
    nested.dict_ = dict_;
    nested.device_ = device_;
    nested.prefix_ = std::move(prefix);
    nested.missing_.clear();
  }
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
  at::Tensor find(const std::string& full) const {
    rlt_tensor* found = nullptr;
    if (!dict_) return {};
    int32_t status = rlt_state_dict_get(dict_.get(), full.c_str(), &found);
    if (status == RLT_ERROR_INDEX) return {};
    rlt::check(status);
    return at::Tensor(found);
  }
  RLT_LAZY c10::IValue decoded(const std::string& key, const std::string& type, const at::Tensor& tensor) {
    if (type == "int") return tensor.item<int64_t>();
    if (type == "double") return tensor.item<double>();
    if (type == "bool") return tensor.item<bool>();
    if (type == "complex") return tensor.item<c10::complex<double>>();
    if (type == "str") return std::string(reinterpret_cast<const char*>(tensor.template const_data_ptr<uint8_t>()), static_cast<size_t>(tensor.numel()));
    if (type == "none") return {};
    InputArchive items;
    enter(key, items);
    int64_t count = tensor.item<int64_t>();
    if (type == "tensor_list") return list_of<at::Tensor>(items, count);
    if (type == "int_list") return list_of<int64_t>(items, count);
    if (type == "double_list") return list_of<double>(items, count);
    if (type == "bool_list") return list_of<bool>(items, count);
    c10::IValue list = list_of<c10::IValue>(items, count);
    if (type == "tuple") return c10::ivalue::Tuple::create(list.toListRef().vec());
    return list;
  }
  template <class T>
  static c10::IValue list_of(InputArchive& items, int64_t count) {
    c10::List<T> list;
    for (int64_t i = 0; i < count; ++i) {
      c10::IValue item;
      // An undefined tensor leaves no entry.
      if (!items.try_read(std::to_string(i), item)) item = at::Tensor();
      list.push_back(item.to<T>());
    }
    return list;
  }
  template <class Read>
  void load_blocks(std::optional<at::Device> device, const Read& read) {
    c10::TempFile file = c10::make_tempfile();
    {
      detail::FilePointer content(std::fopen(file.name.c_str(), "wb"));
      char block[16384];
      for (size_t count; content.file && (count = read(block, sizeof block)) > 0;) std::fwrite(block, 1, count, content.file);
    }
    load_from(file.name, device);
  }

  detail::StateDict dict_;
  std::string prefix_;
  // The submodule at or above this level that the file does not have.
  std::string missing_;
  std::optional<at::Device> device_;
};

}  // namespace serialize
RLT_NAMESPACE_END
}  // namespace torch
