// Checkpoints: nested values in files, as torch.save of Python writes them, with the options of optimizers. libtorch, whose
// archives have another form, does not have this header.
#pragma once

#include <rushlight/checkpoint.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/optim/adam.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN

/// The value of a file that save_checkpoint or torch.save of Python wrote, usually a dict.
RLT_LAZY c10::IValue load_checkpoint(const std::string& path) {
  return c10::detail::described([&](rlt_value* out) { return rlt_checkpoint_load(path.c_str(), out); });
}
/// Writes a value to a file, which `torch.load(path, weights_only=True)` reads. The file is replaced atomically.
RLT_LAZY void save_checkpoint(const c10::IValue& value, const std::string& path) {
  RLT_LATER(rlt::Lent<c10::IValue>) lent(value);
  rlt::check(rlt_checkpoint_save(&lent.value, path.c_str()));
}

namespace optim {
namespace detail {

using AnyDict = c10::impl::GenericDict;

RLT_LAZY AnyDict dict_by(const c10::TypePtr& key) { return AnyDict(key, c10::AnyType::get()); }

RLT_LAZY c10::IValue at_key(const AnyDict& dict, const c10::IValue& key) {
  auto found = dict.find(key);
  return found == dict.end() ? c10::IValue() : found->value();
}

/// What an object writes into an archive, to be read again.
template <class Object>
serialize::InputArchive written_by(const Object& object) {
  serialize::OutputArchive out;
  object.serialize(out);
  std::stringstream bytes;
  out.save_to(bytes);
  serialize::InputArchive in;
  in.load_from(bytes);
  return in;
}

/// The fields of an object by their names.
template <class Object>
AnyDict fields_of(const Object& object) {
  AnyDict fields = dict_by(c10::StringType::get());
  serialize::InputArchive archive = written_by(object);
  for (const std::string& name : archive.keys()) {
    c10::IValue value;
    archive.read(name, value);
    // PyTorch's pairs are tuples, and its step counts are tensors.
    if (name == "betas") value = c10::ivalue::Tuple::create(value.toDoubleVector()[0], value.toDoubleVector()[1]);
    if (name == "step" && value.isInt()) value = torch::full({}, static_cast<double>(value.toInt()), kFloat);
    fields.insert(name, value);
  }
  return fields;
}

/// A value of Python as the type that a field has now.
RLT_LAZY c10::IValue converted(const std::string& name, const c10::IValue& value, const c10::IValue& now) {
  auto number = [&]() -> c10::Scalar {
    if (value.isTensor()) return value.toTensor().item();
    TORCH_CHECK(value.isScalar(), "the option '", name, "' is ", value.tagKind(), ", not a number");
    return value.toScalar();
  };
  if (now.isDouble()) return number().toDouble();
  if (now.isInt()) return number().toLong();
  if (now.isBool()) return number().toBool();
  if (now.isDoubleList() && value.isTuple()) {
    c10::List<double> list;
    for (const c10::IValue& item : value.toTupleRef().elements()) list.push_back(item.toDouble());
    return list;
  }
  return value;
}

/// The options of a group of Python, of the names and types of the options that a group has here.
RLT_LAZY serialize::OutputArchive options_of(const AnyDict& group, const OptimizerOptions& now, bool decoupled) {
  // These select an implementation; initial_lr belongs to a schedule.
  static const std::set<std::string> none = {"params", "foreach", "fused", "capturable", "differentiable", "initial_lr"};
  serialize::OutputArchive archive;
  serialize::InputArchive known = written_by(now);
  for (const auto& entry : group) {
    const std::string& name = entry.key().toStringRef();
    c10::IValue field;
    if (none.count(name)) continue;
    if (name == "decoupled_weight_decay") {
      TORCH_CHECK(entry.value().toBool() == decoupled, "the state is one of ", decoupled ? "Adam, not of AdamW" : "AdamW, not of Adam");
    } else if (name == "maximize") {
      TORCH_CHECK(!entry.value().toBool(), "the option 'maximize' is not supported in C++");
    } else {
      TORCH_CHECK(known.try_read(name, field), "the optimizer has no option '", name, "'");
      archive.write(name, converted(name, entry.value(), field));
    }
  }
  return archive;
}

/// The state of a parameter; a step count is an integer here.
RLT_LAZY serialize::OutputArchive state_of_python(const AnyDict& state) {
  serialize::OutputArchive archive;
  for (const auto& entry : state) {
    const std::string& name = entry.key().toStringRef();
    const c10::IValue& value = entry.value();
    if (value.isNone()) continue;
    if (name == "step" && value.isTensor()) {
      archive.write(name, c10::IValue(value.toTensor().item().toLong()));
    } else if (value.isTensor()) {
      archive.write(name, value.toTensor());
    } else {
      archive.write(name, value);
    }
  }
  return archive;
}

}  // namespace detail

/// The state and the options of an optimizer in PyTorch's form, for save_checkpoint: `optimizer.load_state_dict` of Python
/// reads it, except for that of LBFGS.
template <class AnyOptimizer>
c10::IValue checkpoint(const AnyOptimizer& optimizer) {
  auto states = detail::dict_by(c10::IntType::get());
  c10::impl::GenericList groups(c10::AnyType::get());
  int64_t position = 0;
  for (const OptimizerParamGroup& group : optimizer.param_groups()) {
    detail::AnyDict options = detail::fields_of(group.options());
    std::vector<int64_t> params;
    for (const Tensor& param : group.params()) {
      auto found = optimizer.state().find(param.unsafeGetTensorImpl());
      if (found != optimizer.state().end()) states.insert(position, detail::fields_of(*found->second));
      params.push_back(position++);
    }
    options.insert("params", params);
    groups.push_back(options);
  }
  auto whole = detail::dict_by(c10::StringType::get());
  whole.insert("state", states);
  whole.insert("param_groups", groups);
  return whole;
}

/// Restores the state and the options of an optimizer from PyTorch's form: what checkpoint returned, or
/// `optimizer.state_dict()` of Python. An option or a number of parameters that does not fit is an error before anything
/// changes. The state of LBFGS is not loaded.
template <class AnyOptimizer>
void load_checkpoint(AnyOptimizer& optimizer, const c10::IValue& value) {
  detail::AnyDict whole = value.toGenericDict();
  c10::IValue states = detail::at_key(whole, "state"), groups = detail::at_key(whole, "param_groups");
  TORCH_CHECK(states.isGenericDict() && groups.isList(), "the state of an optimizer has 'state' and 'param_groups'");
  auto list = groups.toList();
  TORCH_CHECK(list.size() == optimizer.param_groups().size(), "loaded state dict has a different number of parameter groups");
  constexpr bool decoupled = std::is_same_v<AnyOptimizer, AdamW>;
  auto size = [](size_t count) { return at::full({}, static_cast<int64_t>(count), at::kLong); };
  serialize::OutputArchive archive, all_states, all_groups;
  archive.write("pytorch_version", c10::IValue("1.5.0"));
  all_groups.write("param_groups/size", size(list.size()));
  int64_t position = 0;
  for (size_t g = 0; g < list.size(); ++g) {
    const OptimizerParamGroup& now = optimizer.param_groups()[g];
    c10::IValue item = list.get(g);
    detail::AnyDict group = item.toGenericDict();
    TORCH_CHECK(detail::at_key(group, "params").toList().size() == now.params().size(),
                "loaded state dict contains a parameter group that has a different size than the optimizer's parameter group");
    serialize::OutputArchive one, options = detail::options_of(group, now.options(), decoupled);
    one.write("params/size", size(now.params().size()));
    for (size_t i = 0; i < now.params().size(); ++i, ++position) {
      one.write("params/" + std::to_string(i), c10::IValue(std::to_string(position)));
      c10::IValue state = detail::at_key(states.toGenericDict(), position);
      if (!state.isGenericDict()) continue;
      serialize::OutputArchive fields = detail::state_of_python(state.toGenericDict());
      all_states.write(std::to_string(position), fields);
    }
    one.write("options", options);
    all_groups.write("param_groups/" + std::to_string(g), one);
  }
  archive.write("state", all_states);
  archive.write("param_groups", all_groups);
  std::stringstream bytes;
  archive.save_to(bytes);
  serialize::InputArchive in;
  in.load_from(bytes);
  optimizer.load(in);
}

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch
