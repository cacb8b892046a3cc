// Dispatcher: operators by name, built in or defined by programs (torch/library.h), called with C++ types.
#pragma once

#include <ATen/core/boxing/values.h>
#include <ATen/core/operator_name.h>
#include <c10/core/DispatchKey.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class Signature>
class TypedOperatorHandle;

/// An operator that exists.
class OperatorHandle {
 public:
  OperatorHandle(OperatorName name, const std::string& schema) : name_(std::move(name)) { read(schema); }
  const OperatorName& operator_name() const { return name_; }
  /// The operator as a function of these C++ types, which must be those of its schema.
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const {
    return TypedOperatorHandle<Signature>(*this);
  }

 protected:
  // The C interface takes arguments after the `*` of a schema by name.
  void read(const std::string& schema) {
    size_t start = schema.find('(') + 1, depth = 0;
    bool named = false;
    for (size_t i = start; i < schema.size(); ++i) {
      char c = schema[i];
      bool ends = depth == 0 && c == ')';
      if (depth == 0 && (ends || c == ',')) {
        std::string argument = schema.substr(start, i - start);
        argument = argument.substr(0, argument.find('='));
        start = i + 1;
        if (argument.find_first_not_of(' ') == std::string::npos) break;
        bool star = argument[argument.find_last_not_of(' ')] == '*';
        if (named) keywords_.push_back(argument.substr(argument.rfind(' ') + 1));
        else if (!star) ++positional_;
        named = named || star;
      }
      if (ends) break;
      if (c == '(' || c == '[') ++depth;
      if (c == ')' || c == ']') --depth;
    }
  }

  OperatorName name_;
  size_t positional_ = 0;
  std::vector<std::string> keywords_;
};

template <class R, class... Args>
class TypedOperatorHandle<R(Args...)> final : public OperatorHandle {
 public:
  explicit TypedOperatorHandle(const OperatorHandle& op) : OperatorHandle(op) {}

  R call(Args... args) const {
    std::tuple<rlt::Lent<std::decay_t<Args>>...> lent{args...};
    std::array<rlt_value, sizeof...(Args) + 1> given =
        std::apply([](const auto&... each) { return std::array<rlt_value, sizeof...(Args) + 1>{each.value...}; }, lent);
    rlt_value* inputs = given.data();
    constexpr size_t expected = rlt::Results<R>::count;
    struct Outputs {
      rlt_value values[expected + 1] = {};
      ~Outputs() {
        for (rlt_value& value : values) rlt_value_free(&value);
      }
    } outputs;
    if (sizeof...(Args) != positional_ + keywords_.size()) {
      rlt::raise<Error>("operator " + name_.name + " takes " + std::to_string(positional_ + keywords_.size()) + " arguments, and was called with " +
                        std::to_string(sizeof...(Args)));
    }
    rlt_named_value named[sizeof...(Args) + 1] = {};
    for (size_t i = 0; i < keywords_.size(); ++i) named[i] = {keywords_[i].c_str(), inputs[positional_ + i]};
    int64_t count = 0;
    rlt::check(rlt_op_call(name_.name.c_str(), name_.overload_name.c_str(), inputs, static_cast<int64_t>(positional_), named,
                           static_cast<int64_t>(keywords_.size()), outputs.values, static_cast<int64_t>(expected), &count));
    if (count != static_cast<int64_t>(expected)) {
      rlt::raise<Error>("operator " + name_.name + " returns " + std::to_string(count) + " values, and was called for " + std::to_string(expected));
    }
    if constexpr (std::is_reference_v<R>) {
      // A result returned by reference is an argument.
      std::decay_t<R>* found = nullptr;
      auto look = [&](auto& arg) {
        if constexpr (std::is_same_v<std::decay_t<decltype(arg)>, at::Tensor>) {
          if (!found && arg.handle() == outputs.values[0].as.tensor) found = const_cast<at::Tensor*>(&arg);
        }
      };
      (look(args), ...);
      if (!found) rlt::raise<Error>("operator " + name_.name + " does not return one of its arguments");
      return *found;
    } else if constexpr (!std::is_void_v<R>) {
      return rlt::Results<R>::take(outputs.values);
    }
  }
};

class Dispatcher {
 public:
  static Dispatcher& singleton() {
    static Dispatcher only;
    return only;
  }
  RLT_LAZY RLT_LATER(std::optional<OperatorHandle>) findSchema(const OperatorName& name) const {
    rlt_value schema = {};
    if (rlt_op_schema(name.name.c_str(), name.overload_name.c_str(), &schema) != RLT_OK) return std::nullopt;
    OperatorHandle found(name, schema.as.string);
    rlt_value_free(&schema);
    return found;
  }
  RLT_LAZY RLT_LATER(std::optional<OperatorHandle>) findOp(const OperatorName& name) const { return findSchema<RltLazy>(name); }
  RLT_LAZY OperatorHandle findSchemaOrThrow(const char* name, const char* overload_name) const {
    auto found = findSchema<RltLazy>({name, overload_name});
    if (!found) rlt::raise<Error>(std::string("Could not find schema for ") + name + "." + overload_name);
    return *found;
  }

 private:
  Dispatcher() = default;
};

RLT_NAMESPACE_END
}  // namespace c10
