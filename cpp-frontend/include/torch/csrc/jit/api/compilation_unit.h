// CompilationUnit: functions and classes that were compiled together.
#pragma once

#include <torch/csrc/jit/api/function.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

struct CompilationUnit {
  CompilationUnit() {
    rlt_script* script = nullptr;
    rlt::check(rlt_script_new(&script));
    script_ = detail::adopt_script(script);
  }
  explicit CompilationUnit(const std::string& source) : CompilationUnit() { define(source); }
  /// The unit of a handle of the C interface.
  explicit CompilationUnit(detail::ScriptHandle script) : script_(std::move(script)) {}
  /// The handle of the C interface. Borrowed: valid as long as the unit.
  const detail::ScriptHandle& handle() const { return script_; }

  /// Adds functions and classes from source code.
  RLT_LAZY void define(const std::string& source) const { rlt::check(rlt_script_define(script_.get(), source.c_str())); }
  /// Adds the source of a module, so that its types are found by qualified names as well: `__torch__.First` is the class First of
  /// the module `__torch__`. The types keep the names that they have in the source.
  RLT_LAZY void define_module(const std::string& module, const std::string& source) {
    define(source);
    std::lock_guard<std::mutex> lock(*mutex_);
    modules_.push_back(module);
  }
  /// Adds the function that torch::jit::tracer::trace recorded. With `should_mangle` it gets another name if this one is taken.
  RLT_LAZY Function* create_function(const c10::QualifiedName& name, const std::shared_ptr<Graph>& graph, bool should_mangle = false) {
    if (!graph->body()) refuse_to_build("torch::jit::CompilationUnit::create_function");
    std::string chosen = name.qualifiedName();
    for (int i = 1; should_mangle && find_function(c10::QualifiedName(chosen)); ++i) chosen = name.qualifiedName() + "_" + std::to_string(i);
    if (find_function(c10::QualifiedName(chosen))) rlt::raise<c10::Error>("method '" + chosen + "' already defined.");
    std::lock_guard<std::mutex> lock(*mutex_);
    return (functions_[chosen] = std::make_shared<Function>(chosen, *graph->schema(), graph->body())).get();
  }
  /// A function; null if there is none of this name.
  RLT_LAZY Function* find_function(const c10::QualifiedName& name) const {
    const std::string& wanted = name.qualifiedName();
    std::lock_guard<std::mutex> lock(*mutex_);
    auto known = functions_.find(wanted);
    if (known != functions_.end()) return known->second.get();
    RLT_LATER(std::vector<std::string>) names = function_names();
    if (std::find(names.begin(), names.end(), wanted) == names.end()) return nullptr;
    return (functions_[wanted] = std::make_shared<Function>(script_, wanted)).get();
  }
  RLT_LAZY Function& get_function(const c10::QualifiedName& name) const {
    if (Function* found = find_function(name)) return *found;
    rlt::raise<c10::Error>("attempted to get undefined function " + name.qualifiedName());
  }
  RLT_LAZY RLT_LATER(std::vector<Function*>) get_functions() const {
    RLT_LATER(std::vector<Function*>) functions;
    for (const std::string& name : function_names()) functions.push_back(find_function(name));
    return functions;
  }
  /// Calls a function.
  template <class... Values>
  c10::IValue run_method(const c10::QualifiedName& name, Values&&... values) const {
    return get_function(name)({c10::IValue(std::forward<Values>(values))...});
  }

  /// A class, interface, NamedTuple or Enum; null if there is none of this name.
  RLT_LAZY c10::TypePtr get_type(const c10::QualifiedName& name) const {
    if (c10::TypePtr found = parse_type(name.qualifiedName())) return found;
    std::unique_lock<std::mutex> lock(*mutex_);
    if (std::find(modules_.begin(), modules_.end(), name.prefix()) == modules_.end()) return nullptr;
    lock.unlock();
    return parse_type(name.name());
  }
  RLT_LAZY c10::ClassTypePtr get_class(const c10::QualifiedName& name) const { return of_kind<c10::ClassType>(name); }
  RLT_LAZY c10::InterfaceTypePtr get_interface(const c10::QualifiedName& name) const { return of_kind<c10::InterfaceType>(name); }
  RLT_LAZY c10::TupleTypePtr get_named_tuple(const c10::QualifiedName& name) const { return of_kind<c10::TupleType>(name); }

 private:
  RLT_LAZY c10::TypePtr parse_type(const std::string& name) const {
    rlt_value value = {};
    int32_t status = rlt_type_parse(name.c_str(), script_.get(), &value);
    rlt::OwnedValue owned(value);
    if (status != RLT_OK) return nullptr;
    return c10::detail::type_of_tree(rlt::Unbox<c10::IValue>(owned.get()).object, script_);
  }
  RLT_LAZY std::vector<std::string> function_names() const {
    return detail::texts([&](rlt_value* out) { return rlt_script_functions(script_.get(), out); });
  }
  template <class T>
  std::shared_ptr<T> of_kind(const c10::QualifiedName& name) const {
    c10::TypePtr type = get_type(name);
    return type ? type->cast<T>() : nullptr;
  }

  detail::ScriptHandle script_;
  std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();
  mutable std::map<std::string, std::shared_ptr<Function>> functions_;
  std::vector<std::string> modules_;
};

namespace script {
using CompilationUnit = jit::CompilationUnit;
}
}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
