// Dispatcher: operators by name, built in or defined by programs (torch/library.h), called with C++ types.
#pragma once

#include <ATen/core/boxing/values.h>
#include <c10/core/DispatchKey.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

struct OperatorName {
  std::string name;
  std::string overload_name;
};

template <class Signature>
class TypedOperatorHandle;

/// An operator that exists.
class OperatorHandle {
 public:
  explicit OperatorHandle(OperatorName name) : name_(std::move(name)) {}
  const OperatorName& operator_name() const { return name_; }
  /// The operator as a function of these C++ types, which must be those of its schema.
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const {
    return TypedOperatorHandle<Signature>(*this);
  }

 protected:
  OperatorName name_;
};

template <class R, class... Args>
class TypedOperatorHandle<R(Args...)> final : public OperatorHandle {
 public:
  explicit TypedOperatorHandle(const OperatorHandle& op) : OperatorHandle(op) {}

  R call(Args... args) const {
    rlt_value inputs[sizeof...(Args) + 1] = {rlt::Box<std::decay_t<Args>>::lend(args)...};
    constexpr size_t expected = rlt::Results<R>::count;
    struct Outputs {
      rlt_value values[expected + 1] = {};
      ~Outputs() {
        for (rlt_value& value : values) rlt_value_free(&value);
      }
    } outputs;
    int64_t count = 0;
    rlt::check(rlt_op_call(name_.name.c_str(), name_.overload_name.c_str(), inputs, static_cast<int64_t>(sizeof...(Args)), nullptr, 0, outputs.values,
                           static_cast<int64_t>(expected), &count));
    if (count != static_cast<int64_t>(expected)) {
      rlt::raise<Error>("operator " + name_.name + " returns " + std::to_string(count) + " values, and was called for " + std::to_string(expected));
    }
    if constexpr (std::is_reference_v<R>) {
      // What is returned by reference is an argument.
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
  std::optional<OperatorHandle> findSchema(const OperatorName& name) const {
    rlt_value schema = {};
    bool found = rlt_op_schema(name.name.c_str(), name.overload_name.c_str(), &schema) == RLT_OK;
    rlt_value_free(&schema);
    return found ? std::optional<OperatorHandle>(OperatorHandle(name)) : std::nullopt;
  }
  std::optional<OperatorHandle> findOp(const OperatorName& name) const { return findSchema(name); }
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload_name) const {
    std::optional<OperatorHandle> found = findSchema({name, overload_name});
    if (!found) rlt::raise<Error>(std::string("Could not find schema for ") + name + "." + overload_name);
    return *found;
  }

 private:
  Dispatcher() = default;
};

RLT_NAMESPACE_END
}  // namespace c10
