// torch::jit::load: modules from files and streams.
#pragma once

#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <istream>
#include <iterator>
#include <optional>
#include <string>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {
namespace detail {

RLT_LAZY Module finished(rlt_module* handle, std::optional<at::Device> device, ExtraFilesMap* extra_files) {
  Module module(handle);
  if (device) module.to(*device);
  if (!extra_files) return module;
  for (auto& [name, content] : *extra_files) {
    rlt_tensor* found = nullptr;
    // Files that the archive lacks leave their entry as it is.
    if (rlt_module_extra_file(handle, name.c_str(), &found) != 0) continue;
    at::Tensor bytes(found);
    content.assign(static_cast<const char*>(bytes.data_ptr()), static_cast<size_t>(bytes.numel()));
  }
  return module;
}
RLT_LAZY Module load_file(const std::string& filename, std::optional<at::Device> device, ExtraFilesMap* extra_files) {
  rlt_module* handle = nullptr;
  rlt::check(rlt_module_load(filename.c_str(), &handle));
  return finished(handle, device, extra_files);
}
RLT_LAZY Module load_bytes(const std::string& bytes, std::optional<at::Device> device, ExtraFilesMap* extra_files) {
  rlt_module* handle = nullptr;
  rlt::check(rlt_module_load_memory(bytes.data(), static_cast<int64_t>(bytes.size()), &handle));
  return finished(handle, device, extra_files);
}
RLT_LAZY Module load_stream(std::istream& stream, std::optional<at::Device> device, ExtraFilesMap* extra_files) {
  return load_bytes(std::string(std::istreambuf_iterator<char>(stream), {}), device, extra_files);
}
RLT_LAZY Module load_adapter(const caffe2::serialize::ReadAdapterInterface& adapter, std::optional<at::Device> device, ExtraFilesMap* extra_files) {
  std::string bytes(adapter.size(), '\0');
  if (adapter.read(0, bytes.data(), bytes.size(), "the whole file") != bytes.size()) rlt::raise<c10::Error>("the file was not read completely");
  return load_bytes(bytes, device, extra_files);
}

}  // namespace detail

/// Loads a file that torch.jit.save wrote. The entries of `extra_files` receive the extra files of these names.
RLT_LAZY Module load(const std::string& filename, std::optional<at::Device> device = std::nullopt, bool load_debug_files = true) {
  (void)load_debug_files;
  return detail::load_file(filename, device, nullptr);
}
RLT_LAZY Module load(const std::string& filename, std::optional<at::Device> device, ExtraFilesMap& extra_files, bool load_debug_files = true,
                   bool restore_shapes = false) {
  (void)load_debug_files, (void)restore_shapes;
  return detail::load_file(filename, device, &extra_files);
}
/// Loads the rest of a stream.
RLT_LAZY Module load(std::istream& stream, std::optional<at::Device> device = std::nullopt, bool load_debug_files = true) {
  (void)load_debug_files;
  return detail::load_stream(stream, device, nullptr);
}
RLT_LAZY Module load(std::istream& stream, std::optional<at::Device> device, ExtraFilesMap& extra_files, bool load_debug_files = true,
                   bool restore_shapes = false) {
  (void)load_debug_files, (void)restore_shapes;
  return detail::load_stream(stream, device, &extra_files);
}
/// Loads what an adapter reads.
RLT_LAZY Module load(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> adapter, std::optional<at::Device> device = std::nullopt,
                   bool load_debug_files = true) {
  (void)load_debug_files;
  return detail::load_adapter(*adapter, device, nullptr);
}
RLT_LAZY Module load(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> adapter, std::optional<at::Device> device, ExtraFilesMap& extra_files,
                   bool load_debug_files = true) {
  (void)load_debug_files;
  return detail::load_adapter(*adapter, device, &extra_files);
}
/// The classes of the file belong to a program of their own, not to `unit`.
RLT_LAZY Module import_ir_module(std::shared_ptr<CompilationUnit> unit, const std::string& filename, std::optional<at::Device> device = std::nullopt,
                               bool load_debug_files = true) {
  (void)unit;
  return load(filename, device, load_debug_files);
}
RLT_LAZY Module import_ir_module(std::shared_ptr<CompilationUnit> unit, std::istream& stream, std::optional<at::Device> device = std::nullopt,
                               bool load_debug_files = true) {
  (void)unit;
  return load(stream, device, load_debug_files);
}

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
