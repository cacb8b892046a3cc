// torch::jit::_load_for_mobile: modules from files of the lite interpreter, archives and flatbuffers.
#pragma once

#include <torch/csrc/jit/mobile/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstdint>
#include <istream>
#include <iterator>
#include <optional>
#include <string>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

enum MobileModuleLoadOptions : uint64_t {
  OPERATOR_CHECK = 1,
};
inline constexpr uint64_t kDefaultMobileLoadOptions = OPERATOR_CHECK;

namespace detail {

inline mobile::Module finished_lite(rlt_module* handle, std::optional<at::Device> device, ExtraFilesMap* extra_files) {
  // The copy of the handle shares the module, which `finished` moves to the device.
  rlt_module* shared = nullptr;
  mobile::Module module(handle);
  rlt::check(rlt_module_retain(handle, &shared));
  finished(shared, device, extra_files);
  return module;
}
inline mobile::Module load_lite_file(const std::string& filename, std::optional<at::Device> device, ExtraFilesMap* extra_files) {
  rlt_module* handle = nullptr;
  rlt::check(rlt_module_load_lite(filename.c_str(), &handle));
  return finished_lite(handle, device, extra_files);
}
inline mobile::Module load_lite_stream(std::istream& in, std::optional<at::Device> device, ExtraFilesMap* extra_files) {
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  rlt_module* handle = nullptr;
  rlt::check(rlt_module_load_lite_memory(bytes.data(), static_cast<int64_t>(bytes.size()), &handle));
  return finished_lite(handle, device, extra_files);
}

}  // namespace detail

/// Loads a file that _save_for_lite_interpreter or _save_for_mobile wrote. The entries of `extra_files` receive the extra
/// files of these names. Operators that this build lacks are an error when they are called.
inline mobile::Module _load_for_mobile(const std::string& filename, std::optional<at::Device> device = std::nullopt) {
  return detail::load_lite_file(filename, device, nullptr);
}
inline mobile::Module _load_for_mobile(const std::string& filename, std::optional<at::Device> device, ExtraFilesMap& extra_files,
                                       uint64_t module_load_options = kDefaultMobileLoadOptions) {
  (void)module_load_options;
  return detail::load_lite_file(filename, device, &extra_files);
}
/// Loads the rest of a stream.
inline mobile::Module _load_for_mobile(std::istream& in, std::optional<at::Device> device = std::nullopt) {
  return detail::load_lite_stream(in, device, nullptr);
}
inline mobile::Module _load_for_mobile(std::istream& in, std::optional<at::Device> device, ExtraFilesMap& extra_files,
                                       uint64_t module_load_options = kDefaultMobileLoadOptions) {
  (void)module_load_options;
  return detail::load_lite_stream(in, device, &extra_files);
}

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
