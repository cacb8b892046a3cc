// FunctionSchema: the name, the arguments and the results of an operator, a function or a method.
#pragma once

#include <ATen/core/jit_type.h>
#include <ATen/core/operator_name.h>

#include <optional>
#include <ostream>
#include <string>
#include <unordered_map>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN

enum class AliasAnalysisKind : uint8_t { INTERNAL_SPECIAL_CASE, CONSERVATIVE, FROM_SCHEMA, PURE_FUNCTION };

/// The memory that an argument or result shares with others.
struct AliasInfo {
  RLT_LAZY AliasInfo(bool is_write, std::vector<std::string> sets) : is_write_(is_write), sets_(std::move(sets)) {}
  bool isWrite() const { return is_write_; }
  const std::vector<std::string>& beforeSets() const { return sets_; }
  RLT_LAZY friend bool operator==(const AliasInfo& a, const AliasInfo& b) { return a.is_write_ == b.is_write_ && a.sets_ == b.sets_; }

 private:
  bool is_write_;
  std::vector<std::string> sets_;
};

struct Argument {
  RLT_LAZY explicit Argument(std::string name = "", TypePtr type = nullptr, std::optional<int32_t> N = std::nullopt, std::optional<IValue> default_value = std::nullopt,
                    bool kwarg_only = false, std::optional<AliasInfo> alias_info = std::nullopt)
      : name_(std::move(name)),
        type_(type ? std::move(type) : TypePtr(TensorTypeOf<RltLazy>::get())),
        size_(N),
        default_(std::move(default_value)),
        kwarg_only_(kwarg_only),
        alias_(std::move(alias_info)) {}
  const std::string& name() const { return name_; }
  const TypePtr& type() const { return type_; }
  const TypePtr& real_type() const { return type_; }
  /// The 2 of `int[2]`.
  std::optional<int32_t> N() const { return size_; }
  const std::optional<IValue>& default_value() const { return default_; }
  bool kwarg_only() const { return kwarg_only_; }
  RLT_LAZY bool is_out() const { return kwarg_only_ && alias_ && alias_->isWrite(); }
  const AliasInfo* alias_info() const { return alias_ ? &*alias_ : nullptr; }
  bool is_inferred_type() const { return false; }
  RLT_LAZY Argument cloneWithType(TypePtr type) const { return Argument(name_, std::move(type), size_, default_, kwarg_only_, alias_); }
  RLT_LAZY friend bool operator==(const Argument& a, const Argument& b) {
    return a.name_ == b.name_ && *a.type_ == *b.type_ && a.size_ == b.size_ && a.default_ == b.default_ && a.kwarg_only_ == b.kwarg_only_ && a.alias_ == b.alias_;
  }
  RLT_LAZY friend bool operator!=(const Argument& a, const Argument& b) { return !(a == b); }
  RLT_LAZY friend std::ostream& operator<<(std::ostream& stream, const Argument& argument) {
    std::string type = argument.type_->str();
    if (argument.size_ && type.size() > 2) type.insert(type.rfind(']'), std::to_string(*argument.size_));
    stream << type;
    if (argument.alias_) {
      stream << '(';
      const auto& sets = argument.alias_->beforeSets();
      for (size_t i = 0; i < sets.size(); ++i) stream << (i ? "|" : "") << sets[i];
      stream << (argument.alias_->isWrite() ? "!)" : ")");
    }
    if (!argument.name_.empty()) stream << ' ' << argument.name_;
    if (argument.default_) {
      stream << '=';
      argument.default_->repr(stream, [](std::ostream&, const IValue&) { return false; });
    }
    return stream;
  }

 private:
  std::string name_;
  TypePtr type_;
  std::optional<int32_t> size_;
  std::optional<IValue> default_;
  bool kwarg_only_;
  std::optional<AliasInfo> alias_;
};

struct FunctionSchema {
  RLT_LAZY FunctionSchema(std::string name, std::string overload_name, std::vector<Argument> arguments, std::vector<Argument> returns, bool is_vararg = false,
                 bool is_varret = false)
      : name_{std::move(name), std::move(overload_name)},
        arguments_(std::move(arguments)),
        returns_(std::move(returns)),
        is_vararg_(is_vararg),
        is_varret_(is_varret) {}
  /// A schema that the library describes: see rlt_schema_parse.
  RLT_LAZY static FunctionSchema of(const IValue& description, const detail::ScriptHandle& program = nullptr) {
    const auto& parts = description.toTupleRef().elements();
    // Functions of programs are printed without the path of their names.
    std::string name = parts[1].toStringRef(), text = parts[0].toStringRef();
    size_t path = name.find("::") == std::string::npos ? name.rfind('.') : std::string::npos;
    if (path != std::string::npos && text.compare(0, name.size(), name) == 0) text = text.substr(path + 1);
    if (path != std::string::npos) name = name.substr(path + 1);
    FunctionSchema schema(std::move(name), parts[2].toStringRef(), arguments_of(parts[3], program), arguments_of(parts[4], program), parts[5].toBool(),
                          parts[6].toBool());
    schema.text_ = std::move(text);
    return schema;
  }

  const OperatorName& operator_name() const { return name_; }
  const std::string& name() const { return name_.name; }
  const std::string& overload_name() const { return name_.overload_name; }
  RLT_LAZY std::optional<std::string> getNamespace() const {
    size_t end = name_.name.find("::");
    return end == std::string::npos ? std::nullopt : std::optional<std::string>(name_.name.substr(0, end));
  }
  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::vector<Argument>& returns() const { return returns_; }
  bool is_vararg() const { return is_vararg_; }
  bool is_varret() const { return is_varret_; }
  RLT_LAZY bool is_mutable() const {
    return std::any_of(arguments_.begin(), arguments_.end(), [](const Argument& argument) { return argument.alias_info() && argument.alias_info()->isWrite(); });
  }
  RLT_LAZY RLT_LATER(std::optional<int>) argumentIndexWithName(std::string_view name) const {
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (arguments_[i].name() == name) return static_cast<int>(i);
    }
    return std::nullopt;
  }
  RLT_LAZY FunctionSchema cloneWithName(std::string name, std::string overload_name) const {
    return FunctionSchema(std::move(name), std::move(overload_name), arguments_, returns_, is_vararg_, is_varret_);
  }
  RLT_LAZY FunctionSchema cloneWithArguments(std::vector<Argument> arguments) const {
    return FunctionSchema(name_.name, name_.overload_name, std::move(arguments), returns_, is_vararg_, is_varret_);
  }
  RLT_LAZY FunctionSchema cloneWithReturns(std::vector<Argument> returns) const {
    return FunctionSchema(name_.name, name_.overload_name, arguments_, std::move(returns), is_vararg_, is_varret_);
  }

  /// Orders the arguments: missing ones take their defaults, keyword arguments get their positions, types are checked.
  RLT_LAZY void checkAndNormalizeInputs(std::vector<IValue>& inputs, const std::unordered_map<std::string, IValue>& kwargs = {}) const {
    std::string shown = toText();
    if (inputs.size() > arguments_.size() && !is_vararg_) {
      rlt::raise<Error>(name() + "() expected at most " + std::to_string(arguments_.size()) + " argument(s) but received " + std::to_string(inputs.size()) +
                        " argument(s). Declaration: " + shown);
    }
    size_t used = 0;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const Argument& argument = arguments_[i];
      if (i < inputs.size()) {
        checkArg(inputs[i], argument, i);
        continue;
      }
      auto found = kwargs.find(argument.name());
      if (found != kwargs.end()) {
        checkArg(found->second, argument, i);
        inputs.push_back(found->second);
        ++used;
      } else if (argument.default_value()) {
        inputs.push_back(*argument.default_value());
      } else {
        rlt::raise<Error>(name() + "() is missing value for argument '" + argument.name() + "'. Declaration: " + shown);
      }
    }
    if (used == kwargs.size()) return;
    for (const auto& [key, value] : kwargs) {
      auto at = argumentIndexWithName<RltLazy>(key);
      if (!at) rlt::raise<Error>("Unknown keyword argument '" + key + "' for operator '" + name() + "'. Schema: " + shown);
      rlt::raise<Error>("Argument '" + key + "' specified both as positional and keyword argument. Schema: " + shown);
    }
  }
  RLT_LAZY void checkArg(const IValue& value, const Argument& argument, std::optional<size_t> position) const {
    if (value.isTensor() && argument.type()->kind() == TypeKind::TensorType) return;
    if (value.type()->isSubtypeOf(*argument.type())) return;
    rlt::raise<Error>(name() + "() Expected a value of type '" + argument.type()->repr_str() + "' for argument '" + argument.name() + "' but instead found type '" +
                      value.type()->repr_str() + "'." + (position ? "\nPosition: " + std::to_string(*position) : "") + "\nDeclaration: " + toText());
  }
  RLT_LAZY std::string toText() const {
    std::ostringstream stream;
    stream << *this;
    return stream.str();
  }

  RLT_LAZY friend bool operator==(const FunctionSchema& a, const FunctionSchema& b) {
    return a.name_ == b.name_ && a.arguments_ == b.arguments_ && a.returns_ == b.returns_ && a.is_vararg_ == b.is_vararg_ && a.is_varret_ == b.is_varret_;
  }
  RLT_LAZY friend bool operator!=(const FunctionSchema& a, const FunctionSchema& b) { return !(a == b); }
  RLT_LAZY friend std::ostream& operator<<(std::ostream& stream, const FunctionSchema& schema) {
    if (!schema.text_.empty()) return stream << schema.text_;
    stream << schema.name_ << '(';
    bool first = true, keywords = false;
    for (const Argument& argument : schema.arguments_) {
      stream << (first ? "" : ", ");
      first = false;
      if (argument.kwarg_only() && !keywords) {
        keywords = true;
        stream << "*, ";
      }
      stream << argument;
    }
    if (schema.is_vararg_) stream << (first ? "..." : ", ...");
    stream << ") -> ";
    const auto& returns = schema.returns_;
    if (schema.is_varret_) return stream << "...";
    if (returns.size() == 1 && returns[0].name().empty() && returns[0].type()->kind() != TypeKind::TupleType) return stream << returns[0];
    stream << '(';
    for (size_t i = 0; i < returns.size(); ++i) stream << (i ? ", " : "") << returns[i];
    return stream << ')';
  }

 private:
  RLT_LAZY static std::vector<Argument> arguments_of(const IValue& list, const detail::ScriptHandle& program) {
    RLT_LATER(std::vector<Argument>) arguments;
    for (const IValue& each : list.toTupleRef().elements()) {
      const auto& parts = each.toTupleRef().elements();
      auto sets = parts[7].to<std::vector<std::string>>();
      RLT_LATER(std::optional<AliasInfo>) alias;
      if (parts[6].toBool() || !sets.empty()) alias.emplace(parts[6].toBool(), std::move(sets));
      arguments.emplace_back(parts[0].toStringRef(), detail::type_of_tree(parts[1], program),
                             parts[5].isNone() ? std::nullopt : std::optional<int32_t>(static_cast<int32_t>(parts[5].toInt())),
                             parts[2].toBool() ? std::optional<IValue>(parts[3]) : std::nullopt, parts[4].toBool(), std::move(alias));
    }
    return arguments;
  }

  OperatorName name_;
  std::vector<Argument> arguments_, returns_;
  bool is_vararg_, is_varret_;
  std::string text_;
};

RLT_LAZY std::string toString(const FunctionSchema& schema) { return schema.toText(); }

template <class RltLazy>
std::shared_ptr<FunctionSchema> TupleTypeOf<RltLazy>::schema() const {
  if (!names()) return nullptr;
  std::vector<Argument> fields;
  for (size_t i = 0; i < fields_.size(); ++i) fields.emplace_back(fields_[i], contained_[i]);
  return std::make_shared<FunctionSchema>(name() ? name()->qualifiedName() : std::string(), "", std::move(fields), std::vector<Argument>());
}

RLT_NAMESPACE_END
}  // namespace c10
namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {
/// Reads a schema in PyTorch's grammar.
RLT_LAZY c10::FunctionSchema parseSchema(const std::string& schema, bool = true) {
  return c10::FunctionSchema::of(c10::detail::described([&](rlt_value* out) { return rlt_schema_parse(schema.c_str(), out); }));
}
}  // namespace jit
/// A schema for `Library::def`.
RLT_LAZY c10::FunctionSchema schema(const char* text, c10::AliasAnalysisKind = c10::AliasAnalysisKind::FROM_SCHEMA, bool = false) { return jit::parseSchema(text); }
RLT_NAMESPACE_END
}  // namespace torch
