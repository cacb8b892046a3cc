// OutputArchive: named tensors and values that are written to a file (.pt or .safetensors). A nested archive is a
// prefix.
#pragma once

#include <ATen/core/ivalue_all.h>
#include <torch/serialize/state-dict.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {
struct CompilationUnit;
}
namespace serialize {

class OutputArchive final {
 public:
  OutputArchive() : dict_(detail::new_state_dict()) {}
  /// The compilation unit is ignored: an archive has no code.
  explicit OutputArchive(const std::shared_ptr<jit::CompilationUnit>&) : OutputArchive() {}
  OutputArchive(OutputArchive&&) = default;
  OutputArchive& operator=(OutputArchive&&) = default;
  OutputArchive(OutputArchive&) = delete;
  OutputArchive& operator=(OutputArchive&) = delete;
  template <class Unit = jit::CompilationUnit>
  std::shared_ptr<Unit> compilation_unit() const {
    return nullptr;
  }

  /// Writes a tensor. An undefined one (a layer without bias) has no entry.
  void write(const std::string& key, const at::Tensor& tensor, bool is_buffer = false) {
    (void)is_buffer;
    if (tensor.defined()) rlt::check(rlt_state_dict_insert(dict_.get(), key.c_str(), tensor.handle()));
  }
  /// Writes a number, a string, a list or a tuple, as a tensor under a name that states its type: `lr:double`.
  RLT_LAZY void write(const std::string& key, const c10::IValue& value) {
    if (value.isTensor()) return write(key, value.toTensor());
    auto put = [&](const char* type, const at::Tensor& tensor) { write(key + ":" + type, tensor); };
    if (value.isNone()) {
      put("none", at::empty({0}, at::kByte));
    } else if (value.isInt()) {
      put("int", at::full({}, value.toInt(), at::kLong));
    } else if (value.isDouble()) {
      put("double", at::full({}, value.toDouble(), at::kDouble));
    } else if (value.isBool()) {
      put("bool", at::full({}, value.toBool(), at::kBool));
    } else if (value.isComplexDouble()) {
      put("complex", at::full({}, value.toScalar(), at::kComplexDouble));
    } else if (value.isString()) {
      const std::string& text = value.toStringRef();
      put("str", torch::detail::from_elements(text.data(), text.size(), {static_cast<int64_t>(text.size())}, at::kByte));
    } else if (value.isTuple()) {
      put("tuple", at::full({}, static_cast<int64_t>(value.toTuple()->size()), at::kLong));
      int64_t position = 0;
      for (const c10::IValue& item : value.toTuple()->elements()) write(key + "." + std::to_string(position++), item);
    } else {
      // The length, and each element under its position.
      put(kind_of(value), at::full({}, static_cast<int64_t>(value.toList().size()), at::kLong));
      int64_t position = 0;
      for (const c10::IValue& item : value.toList()) write(key + "." + std::to_string(position++), item);
    }
  }
  /// Writes the contents of another archive, under a prefix.
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
  template <class... Args>
  void operator()(Args&&... args) {
    write(std::forward<Args>(args)...);
  }

  /// Saves as safetensors if the name ends in `.safetensors`, as .pt otherwise.
  void save_to(const std::string& path) {
    rlt::check(rlt_state_dict_save(dict_.get(), path.c_str(), RLT_FORMAT_AUTO));
  }
  void save_to(const char* path) { save_to(std::string(path)); }
  /// Saves as .pt, passing the bytes to a function.
  template <class Write, std::enable_if_t<std::is_invocable_v<Write, const void*, size_t>, bool> = true>
  void save_to(const Write& write) {
    for_each_block([&](const char* block, size_t count) { write(block, count); });
  }
  /// Saves as .pt to a stream.
  RLT_LAZY void save_to(std::ostream& stream) {
    for_each_block([&](const char* block, size_t count) { stream.write(block, static_cast<std::streamsize>(count)); });
  }
  rlt_state_dict* handle() const { return dict_.get(); }

 private:
  static const char* kind_of(const c10::IValue& list) {
    return list.isTensorList() ? "tensor_list" : list.isIntList() ? "int_list" : list.isDoubleList() ? "double_list" : list.isBoolList() ? "bool_list" : "list";
  }
  template <class Visit>
  void for_each_block(const Visit& visit) {
    c10::TempFile file = c10::make_tempfile();
    rlt::check(rlt_state_dict_save(dict_.get(), file.name.c_str(), RLT_FORMAT_PT));
    detail::FilePointer content(std::fopen(file.name.c_str(), "rb"));
    char block[16384];
    for (size_t count; content.file && (count = std::fread(block, 1, sizeof block, content.file)) > 0;) visit(block, count);
  }

  detail::StateDict dict_;
};

}  // namespace serialize
RLT_NAMESPACE_END
}  // namespace torch
