// torch::optim::serialize<State, Options>: saves and loads custom optimizers, and the macros with which these save and load
// the fields of their options and state.
#pragma once

#include <torch/optim/optimizer.h>

#include <deque>
#include <type_traits>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

template <class State, class Options>
void serialize(torch::serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.Optimizer::save(archive);
}
template <class State, class Options>
void serialize(torch::serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load_new(archive, [] { return std::unique_ptr<OptimizerParamState>(new State); });
}

template <class T>
c10::List<T> deque_to_list(const std::deque<T>& values) {
  c10::List<T> list;
  for (const T& value : values) list.push_back(value);
  return list;
}
template <class T>
std::deque<T> list_to_deque(const c10::List<T>& list) {
  std::deque<T> values;
  for (const T& value : list) values.push_back(value);
  return values;
}

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch

// For `serialize(archive)` of options and states whose fields are declared by TORCH_ARG: `name` is the field.
#define _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(Name) torch::optim::serialize<Name##ParamState, Name##Options>(archive, self)
// An undefined tensor has no entry.
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name) archive.write(#name, c10::IValue(name()))
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(name) archive.write(#name, c10::IValue(torch::optim::deque_to_list(name())))
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name)                                                                   \
  do {                                                                                                                \
    c10::IValue rlt_read;                                                                                             \
    if (archive.try_read(#name, rlt_read)) {                                                                          \
      name(rlt_read.to<T>());                                                                                         \
    } else {                                                                                                          \
      TORCH_INTERNAL_ASSERT((std::is_base_of_v<at::Tensor, T>), "The archive has no entry \"" #name "\"");            \
    }                                                                                                                 \
  } while (false)
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(T, name)                   \
  do {                                                                         \
    c10::IValue rlt_read;                                                      \
    if (archive.try_read(#name, rlt_read)) name(rlt_read.toOptional<T>());     \
  } while (false)
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(T, name)                                     \
  do {                                                                                        \
    c10::IValue rlt_read;                                                                     \
    archive.read(#name, rlt_read);                                                            \
    name(torch::optim::list_to_deque(rlt_read.to<c10::List<T::value_type>>()));               \
  } while (false)
