// torch::save and torch::load: tensors, lists and dicts of tensors, modules and optimizers to files.
#pragma once

#include <torch/serialize/archive.h>
#include <torch/serialize/tensor.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN

/// Saves a tensor, a module or an optimizer to a file.
template <class Value, class... Args>
void save(const Value& value, Args&&... args) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<Args>(args)...);
}
/// Saves a list of tensors to a file.
template <class... Args>
void save(const std::vector<at::Tensor>& tensors, Args&&... args) {
  serialize::OutputArchive archive;
  for (size_t i = 0; i < tensors.size(); ++i) archive.write(std::to_string(i), tensors[i]);
  archive.save_to(std::forward<Args>(args)...);
}
/// Saves tensors by name, such as a module's state_dict: Python's torch.load returns a dict of the same names.
template <class... Args>
void save(const OrderedDict<std::string, at::Tensor>& tensors, Args&&... args) {
  serialize::OutputArchive archive;
  for (const auto& item : tensors) archive.write(item.key(), item.value());
  archive.save_to(std::forward<Args>(args)...);
}

/// Loads the output of save (or a state_dict that Python saved) into a tensor, a module or an optimizer.
template <class Value, class... Args>
void load(Value& value, Args&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<Args>(args)...);
  archive >> value;
}
template <class... Args>
void load(std::vector<at::Tensor>& tensors, Args&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<Args>(args)...);
  at::Tensor tensor;
  for (size_t i = 0; archive.try_read(std::to_string(i), tensor); ++i) tensors.push_back(rlt::exchange_value(tensor, at::Tensor()));
}
/// Loads the tensors of a file by name, from a state_dict that Python saved or from safetensors.
template <class... Args>
void load(OrderedDict<std::string, at::Tensor>& tensors, Args&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<Args>(args)...);
  tensors = archive.named_tensors();
}

RLT_NAMESPACE_END
}  // namespace torch
