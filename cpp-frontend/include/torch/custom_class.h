// torch::class_: C++ classes whose objects programs of TorchScript hold and whose methods they call.
//
//   struct Counter : torch::CustomClassHolder {
//     explicit Counter(int64_t start) : count(start) {}
//     int64_t add(int64_t n) { return count += n; }
//     int64_t count;
//   };
//   TORCH_LIBRARY(my, m) {
//     m.class_<Counter>("Counter").def(torch::init<int64_t>()).def("add", &Counter::add, "", {torch::arg("n") = 1});
//   }
#pragma once

#include <ATen/core/type_of.h>
#include <torch/csrc/jit/api/function.h>
#include <torch/library.h>

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace torch {
RLT_NAMESPACE_BEGIN

/// The arguments of a constructor: `def(torch::init<int64_t, double>())`.
namespace detail {
template <class... Args>
struct Types {};
template <class F>
struct InitLambda {
  F function;
};
}  // namespace detail
template <class... Args>
detail::Types<Args...> init() {
  return {};
}
/// A function that creates the object.
template <class F, std::enable_if_t<!std::is_same_v<F, void>, bool> = true>
detail::InitLambda<std::decay_t<F>> init(F&& function) {
  return {std::forward<F>(function)};
}

/// The name of an argument with its default: `torch::arg("n") = 1`.
struct arg {
  explicit arg(std::string name) : name_(std::move(name)) {}
  static c10::IValue none() { return c10::IValue(); }
  arg& operator=(const c10::IValue& value) {
    value_ = value;
    return *this;
  }
  const std::string& name() const { return name_; }
  const std::optional<c10::IValue>& value() const { return value_; }

 private:
  std::string name_;
  std::optional<c10::IValue> value_;
};

namespace detail {

/// The classes that this program has registered, by qualified name.
struct ClassRecord {
  c10::ClassTypePtr type;
  std::map<std::string, std::shared_ptr<jit::Function>> methods;
};
struct ClassRegistry {
  std::mutex mutex;
  std::map<std::string, ClassRecord> classes;
};
inline ClassRegistry& class_registry() {
  static auto* only = new ClassRegistry;  // outlives static objects
  return *only;
}

/// The signature of a method: of a member function, or of a function whose first parameter is the object.
template <class F, class = void>
struct MethodOf : MethodOf<decltype(&F::operator())> {};
template <class R, class... Args>
struct MethodOf<R (*)(Args...)> {
  using Result = R;
  using Arguments = Types<Args...>;
};
template <class R, class F, class... Args>
struct MethodOf<R (F::*)(Args...)> : MethodOf<R (*)(Args...)> {};
template <class R, class F, class... Args>
struct MethodOf<R (F::*)(Args...) const> : MethodOf<R (*)(Args...)> {};

/// A type in the grammar of schemas, which names classes as annotations do.
template <class T>
c10::TypePtr parameter_type() {
  if constexpr (std::is_void_v<T>) return c10::NoneType::get();
  else return c10::getTypePtr<T>();
}

template <class F>
struct BoxedMethod {
  explicit BoxedMethod(F f) : function(std::move(f)) {}
  F function;
  static void destroy(void* ctx) { delete static_cast<BoxedMethod*>(ctx); }
  static int32_t call(void* ctx, const rlt_value* args, int64_t n_args, rlt_value* outs, int64_t) {
    return rlt::trampoline([&] {
      std::vector<c10::IValue> stack;
      for (int64_t i = 0; i < n_args; ++i) stack.push_back(rlt::Unbox<c10::IValue>(args[i]).object);
      c10::IValue result = static_cast<BoxedMethod*>(ctx)->function(std::move(stack));
      rlt::Lent<c10::IValue> lent(result);
      rlt::check(rlt_value_copy(&lent.value, outs));
    });
  }
};

/// Calls a function with the values of a stack.
template <class F, class... Args>
c10::IValue apply_stack(F& function, jit::Stack& stack, Types<Args...>) {
  [[maybe_unused]] auto next = [at = stack.begin()]() mutable -> c10::IValue& { return *at++; };
  // They live until the function returns: a parameter may be a reference.
  std::tuple<std::decay_t<Args>...> values{next().template to<std::decay_t<Args>>()...};
  auto call = [&function](auto&... value) -> decltype(auto) { return function(static_cast<Args&&>(value)...); };
  if constexpr (std::is_void_v<typename MethodOf<F>::Result>) {
    std::apply(call, values);
    return c10::IValue();
  } else {
    return c10::IValue(std::apply(call, values));
  }
}

}  // namespace detail

template <class CurClass>
class class_ {
  static_assert(std::is_base_of_v<CustomClassHolder, CurClass>, "a class of torch::class_ derives from torch::CustomClassHolder");

 public:
  explicit class_(const std::string& namespace_name, const std::string& class_name, std::string doc_string = "")
      : name_("__torch__.torch.classes." + namespace_name + "." + class_name) {
    rlt::check(rlt_class_define(name_.c_str()));
    c10::detail::custom_class_name<CurClass>() = name_;
    auto type = std::make_shared<c10::ClassType>(c10::QualifiedName(name_), std::shared_ptr<jit::CompilationUnit>(), false, std::move(doc_string));
    std::lock_guard<std::mutex> lock(detail::class_registry().mutex);
    detail::class_registry().classes[name_].type = std::move(type);
  }

  template <class... Args>
  class_& def(detail::Types<Args...>, std::string doc_string = "", std::initializer_list<arg> default_args = {}) {
    return constructor([](Args... args) { return c10::make_intrusive<CurClass>(std::forward<Args>(args)...); }, std::move(doc_string), default_args);
  }
  template <class F>
  class_& def(detail::InitLambda<F> init, std::string doc_string = "", std::initializer_list<arg> default_args = {}) {
    return constructor(std::move(init.function), std::move(doc_string), default_args);
  }
  /// A member function, or a function whose first parameter is an intrusive_ptr of the class.
  template <class F>
  class_& def(const std::string& name, F function, std::string doc_string = "", std::initializer_list<arg> default_args = {}) {
    method(name, std::move(function), std::move(doc_string), default_args);
    return *this;
  }
  template <class F>
  class_& def_static(const std::string& name, F function, std::string doc_string = "") {
    add<typename detail::MethodOf<F>::Result>(name, Kind::Static, std::move(function), std::move(doc_string), {});
    return *this;
  }
  template <class GetterFunction, class SetterFunction>
  class_& def_property(const std::string& name, GetterFunction getter, SetterFunction setter, std::string doc_string = "") {
    method(name + "_getter", std::move(getter), doc_string, {});
    method(name + "_setter", std::move(setter), std::move(doc_string), {});
    return *this;
  }
  template <class GetterFunction>
  class_& def_property(const std::string& name, GetterFunction getter, std::string doc_string = "") {
    method(name + "_getter", std::move(getter), std::move(doc_string), {});
    return *this;
  }
  template <class T>
  class_& def_readwrite(const std::string& name, T CurClass::*field) {
    using Pointer = c10::intrusive_ptr<CurClass>;
    return def_property(
        name, [field](const Pointer& self) -> T { return self.get()->*field; }, [field](const Pointer& self, T value) { self.get()->*field = std::move(value); });
  }
  template <class T>
  class_& def_readonly(const std::string& name, T CurClass::*field) {
    return def_property(name, [field](const c10::intrusive_ptr<CurClass>& self) -> std::remove_const_t<T> { return self.get()->*field; });
  }
  /// How objects are saved: `get_state(self)` returns a value, `set_state(value)` an object.
  template <class GetStateFn, class SetStateFn>
  class_& def_pickle(GetStateFn&& get_state, SetStateFn&& set_state) {
    method("__getstate__", std::decay_t<GetStateFn>(std::forward<GetStateFn>(get_state)), "", {});
    add<void>("__setstate__", Kind::Constructor, std::decay_t<SetStateFn>(std::forward<SetStateFn>(set_state)), "", {});
    return *this;
  }

 private:
  enum class Kind { Method, Static, Constructor };

  template <class F>
  class_& constructor(F function, std::string doc_string, std::initializer_list<arg> default_args) {
    add<void>("__init__", Kind::Constructor, std::move(function), std::move(doc_string), default_args);
    return *this;
  }
  template <class F>
  void method(const std::string& name, F function, std::string doc_string, std::initializer_list<arg> default_args) {
    if constexpr (std::is_member_function_pointer_v<F>) {
      member<typename detail::MethodOf<F>::Result>(name, function, std::move(doc_string), default_args, typename detail::MethodOf<F>::Arguments());
    } else {
      add<typename detail::MethodOf<F>::Result>(name, Kind::Method, std::move(function), std::move(doc_string), default_args);
    }
  }
  template <class R, class F, class... Args>
  void member(const std::string& name, F function, std::string doc_string, std::initializer_list<arg> default_args, detail::Types<Args...>) {
    auto call = [function](const c10::intrusive_ptr<CurClass>& self, Args... args) -> R { return ((*self).*function)(std::forward<Args>(args)...); };
    add<R>(name, Kind::Method, std::move(call), std::move(doc_string), default_args);
  }

  template <class... Args>
  static std::vector<c10::TypePtr> types(detail::Types<Args...>) {
    return {detail::parameter_type<std::decay_t<Args>>()...};
  }
  /// Adds a method, whose parameters begin with the object unless it is static or a constructor.
  template <class Result, class F>
  void add(const std::string& name, Kind kind, F function, std::string doc_string, std::initializer_list<arg> default_args) {
    std::vector<c10::TypePtr> kinds = types(typename detail::MethodOf<F>::Arguments());
    size_t skipped = kind == Kind::Method ? 1 : 0, count = kinds.size() - skipped;
    if (default_args.size() != 0 && default_args.size() != count) {
      rlt::raise<c10::Error>("Default values must be specified for none or all arguments of the method '" + name + "'");
    }
    std::vector<c10::Argument> arguments;
    for (size_t i = 0; i < count; ++i) {
      const arg* given = default_args.size() ? default_args.begin() + i : nullptr;
      arguments.emplace_back(given ? given->name() : "_" + std::to_string(i), kinds[i + skipped], std::nullopt, given ? given->value() : std::nullopt);
    }
    c10::TypePtr result = detail::parameter_type<Result>();
    c10::FunctionSchema own(name, "", arguments, {});
    std::ostringstream text;
    text << own;
    std::string schema = text.str();
    schema = schema.substr(0, schema.rfind(" -> ")) + " -> ";
    if (result->kind() == c10::TypeKind::NoneType) schema += "()";
    else if (result->kind() == c10::TypeKind::TupleType) schema += "(" + result->str() + ")";
    else schema += result->str();

    auto bound = [function = std::move(function)](jit::Stack stack) mutable {
      return detail::apply_stack(function, stack, typename detail::MethodOf<F>::Arguments());
    };
    using Boxed = detail::BoxedMethod<decltype(bound)>;
    auto boxed = std::make_unique<Boxed>(bound);
    rlt::check(rlt_class_method(name_.c_str(), schema.c_str(), kind == Kind::Static, &Boxed::call, boxed.get(), &Boxed::destroy));
    boxed.release();

    if (kind == Kind::Method) arguments.insert(arguments.begin(), c10::Argument("self", kinds[0]));
    c10::FunctionSchema whole(name, "", std::move(arguments), {c10::Argument("", result)});
    auto method = std::make_shared<jit::Function>(name_ + "." + name, std::move(whole), std::move(bound), std::move(doc_string));
    detail::ClassRegistry& registry = detail::class_registry();
    std::lock_guard<std::mutex> lock(registry.mutex);
    detail::ClassRecord& record = registry.classes[name_];
    record.methods[name] = method;
    record.type->function_cache()[name] = std::move(method);
  }

  std::string name_;
};

/// The type of a class that torch::class_ registered; null if there is none of this name.
inline c10::ClassTypePtr getCustomClass(const std::string& name) {
  detail::ClassRegistry& registry = detail::class_registry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  auto found = registry.classes.find(name);
  return found == registry.classes.end() ? nullptr : found->second.type;
}
inline std::vector<std::string> customClassesForTest() {
  std::vector<std::string> names;
  std::lock_guard<std::mutex> lock(detail::class_registry().mutex);
  for (const auto& [name, record] : detail::class_registry().classes) names.push_back(name);
  return names;
}
/// A new object of a registered class, as a value.
template <class CurClass, class... Args>
c10::IValue make_custom_class(Args&&... args) {
  if (c10::detail::custom_class_name<CurClass>().empty()) {
    rlt::raise<c10::Error>("Trying to instantiate a class that isn't a registered custom class: " + std::string(c10::demangle_type<CurClass>()));
  }
  return c10::IValue(c10::make_intrusive<CurClass>(std::forward<Args>(args)...));
}
template <class CurClass>
bool isCustomClassRegistered() {
  return !c10::detail::custom_class_name<CurClass>().empty();
}

template <class CurClass>
class_<CurClass> Library::class_(const std::string& class_name) {
  return torch::class_<CurClass>(ns_, class_name);
}
template <class CurClass>
class_<CurClass> Library::class_(const std::string& class_name, const std::string& doc_string) {
  return torch::class_<CurClass>(ns_, class_name, doc_string);
}

namespace jit {
using torch::class_;
using torch::getCustomClass;
using torch::init;
using torch::make_custom_class;
}  // namespace jit

RLT_NAMESPACE_END
}  // namespace torch
