// torch::jit::save: modules as files that torch.jit.load of PyTorch reads. Module::save is declared in api/module.h.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {
namespace detail {

/// Extra files as arguments of the C functions. It borrows the names and contents.
class ExtraFiles {
 public:
  explicit ExtraFiles(const ExtraFilesMap& files) {
    for (const auto& [name, content] : files) {
      at::Tensor bytes = at::empty({static_cast<int64_t>(content.size())}, at::kByte);
      if (!content.empty()) std::memcpy(bytes.data_ptr(), content.data(), content.size());
      bytes_.push_back(std::move(bytes));
      rlt_named_value value = {name.c_str(), {RLT_VALUE_TENSOR, 0, 0, {0}}};
      value.value.as.tensor = bytes_.back().handle();
      values_.push_back(value);
    }
  }
  RLT_LAZY const rlt_named_value* data() const { return values_.data(); }
  RLT_LAZY int64_t size() const { return static_cast<int64_t>(values_.size()); }

 private:
  std::vector<at::Tensor> bytes_;
  std::vector<rlt_named_value> values_;
};

RLT_LAZY std::function<ExtraFilesMap(const Module&)>& extra_files_hook() {
  static auto* hook = new std::function<ExtraFilesMap(const Module&)>;  // outlives static objects that save
  return *hook;
}
/// The extra files with those of the hook; files that the caller names precede.
RLT_LAZY ExtraFilesMap all_extra_files(const Module& module, const ExtraFilesMap& files) {
  RLT_LATER(ExtraFilesMap) all = files;
  if (extra_files_hook()) all.merge(extra_files_hook()(module));
  return all;
}

RLT_LAZY at::Tensor saved_bytes(const Module& module, const ExtraFilesMap& files) {
  RLT_LATER(ExtraFilesMap) all = all_extra_files(module, files);
  ExtraFiles extra(all);
  rlt_tensor* bytes = nullptr;
  rlt::check(rlt_module_save_memory(module.handle(), extra.data(), extra.size(), &bytes));
  return at::Tensor(bytes);
}

}  // namespace detail

/// Every module that is saved gets the extra files that `hook` returns.
RLT_LAZY void SetExportModuleExtraFilesHook(std::function<ExtraFilesMap(const Module&)> hook) { detail::extra_files_hook() = std::move(hook); }

RLT_LAZY void ExportModule(const Module& module, const std::string& filename, const ExtraFilesMap& extra_files = ExtraFilesMap()) {
  RLT_LATER(ExtraFilesMap) all = detail::all_extra_files(module, extra_files);
  detail::ExtraFiles extra(all);
  rlt::check(rlt_module_save(module.handle(), filename.c_str(), extra.data(), extra.size()));
}
/// Calls `writer` with the contents of the file.
RLT_LAZY void ExportModule(const Module& module, const std::function<size_t(const void*, size_t)>& writer,
                         const ExtraFilesMap& extra_files = ExtraFilesMap()) {
  at::Tensor bytes = detail::saved_bytes(module, extra_files);
  auto size = static_cast<size_t>(bytes.numel());
  if (writer(bytes.data_ptr(), size) != size) rlt::raise<c10::Error>("the module was not written completely");
}
RLT_LAZY void ExportModule(const Module& module, std::ostream& out, const ExtraFilesMap& extra_files = ExtraFilesMap()) {
  at::Tensor bytes = detail::saved_bytes(module, extra_files);
  out.write(static_cast<const char*>(bytes.data_ptr()), static_cast<std::streamsize>(bytes.numel()));
  if (!out) rlt::raise<c10::Error>("the module was not written completely");
}

template <class RltLazy>
void Module::save(std::ostream& out, const ExtraFilesMap& extra_files) const { ExportModule(*this, out, extra_files); }
template <class RltLazy>
void Module::save(const std::string& filename, const ExtraFilesMap& extra_files) const { ExportModule(*this, filename, extra_files); }

template <class RltLazy>
void Module::_save_for_mobile(std::ostream& out, const ExtraFilesMap& extra_files, bool, bool use_flatbuffer) const {
  if (use_flatbuffer) rlt::raise<c10::NotImplementedError>("modules are saved for the lite interpreter as archives only");
  detail::ExtraFiles extra(extra_files);
  rlt_tensor* handle = nullptr;
  rlt::check(rlt_module_save_lite_memory(this->handle(), extra.data(), extra.size(), &handle));
  at::Tensor bytes(handle);
  out.write(static_cast<const char*>(bytes.data_ptr()), static_cast<std::streamsize>(bytes.numel()));
  if (!out) rlt::raise<c10::Error>("the module was not written completely");
}
template <class RltLazy>
void Module::_save_for_mobile(const std::string& filename, const ExtraFilesMap& extra_files, bool, bool use_flatbuffer) const {
  if (use_flatbuffer) rlt::raise<c10::NotImplementedError>("modules are saved for the lite interpreter as archives only");
  detail::ExtraFiles extra(extra_files);
  rlt::check(rlt_module_save_lite(handle(), filename.c_str(), extra.data(), extra.size()));
}

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
