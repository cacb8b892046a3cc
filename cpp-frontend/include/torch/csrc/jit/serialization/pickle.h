// Values as pickles and as files: torch::jit::pickle, torch::jit::pickle_save and their inverses.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <functional>
#include <string>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

using PickleReader = std::function<size_t(char*, size_t)>;

/// Pickles a value. Its tensors are appended to `tensor_table`; without a table they are an error.
RLT_LAZY std::vector<char> pickle(const c10::IValue& value, std::vector<at::Tensor>* tensor_table = nullptr) {
  RLT_LATER(rlt::Lent<c10::IValue>) lent(value);
  rlt_tensor* bytes = nullptr;
  rlt_value table = {};
  rlt::check(rlt_value_pickle(&lent.value, &bytes, &table));
  at::Tensor pickled(bytes);
  rlt::OwnedValue owned(table);
  auto tensors = rlt::Unbox<c10::IValue>(owned.get()).object.to<std::vector<at::Tensor>>();
  if (!tensors.empty()) {
    if (!tensor_table || !tensor_table->empty()) rlt::raise<c10::Error>("pickle: a value with tensors needs an empty table for them");
    *tensor_table = std::move(tensors);
  }
  const char* data = static_cast<const char*>(pickled.data_ptr());
  return std::vector<char>(data, data + pickled.numel());
}
RLT_LAZY void pickle(const std::function<void(const char*, size_t)>& writer, const c10::IValue& value, std::vector<at::Tensor>* tensor_table = nullptr) {
  RLT_LATER(std::vector<char>) bytes = pickle(value, tensor_table);
  writer(bytes.data(), bytes.size());
}
/// The value of a pickle, with the tensors that it refers to.
RLT_LAZY c10::IValue unpickle(const char* data, size_t size, std::nullptr_t, c10::ArrayRef<at::Tensor> tensor_table = {}) {
  rlt::Lent<c10::ArrayRef<at::Tensor>> lent(tensor_table);
  return c10::detail::described([&](rlt_value* out) { return rlt_value_unpickle(data, static_cast<int64_t>(size), &lent.value, nullptr, out); });
}
RLT_LAZY c10::IValue unpickle(const char* data, size_t size) { return unpickle(data, size, nullptr); }
RLT_LAZY c10::IValue unpickle(const PickleReader& reader, std::nullptr_t, c10::ArrayRef<at::Tensor> tensor_table = {}) {
  RLT_LATER(std::vector<char>) bytes;
  char block[4096];
  while (size_t count = reader(block, sizeof block)) bytes.insert(bytes.end(), block, block + count);
  return unpickle(bytes.data(), bytes.size(), nullptr, tensor_table);
}

/// A value as a file that torch.load of PyTorch reads.
RLT_LAZY std::vector<char> pickle_save(const c10::IValue& value) {
  RLT_LATER(rlt::Lent<c10::IValue>) lent(value);
  rlt_tensor* bytes = nullptr;
  rlt::check(rlt_value_save_memory(&lent.value, &bytes));
  at::Tensor file(bytes);
  const char* data = static_cast<const char*>(file.data_ptr());
  return std::vector<char>(data, data + file.numel());
}
/// The value of such a file.
RLT_LAZY c10::IValue pickle_load(const std::vector<char>& data) {
  return c10::detail::described([&](rlt_value* out) { return rlt_value_load_memory(data.data(), static_cast<int64_t>(data.size()), out); });
}

}  // namespace jit
using jit::pickle_load;
using jit::pickle_save;
RLT_NAMESPACE_END
}  // namespace torch
