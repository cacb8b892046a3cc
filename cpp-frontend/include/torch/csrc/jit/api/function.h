// Functions: of a program, methods of its classes, and methods of C++ classes; and their graphs.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue_all.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

// libtorch's programs name these without a namespace.
#define RLT_DEFINE(kind) using c10::kind;
C10_FORALL_TYPES(RLT_DEFINE)
#undef RLT_DEFINE
using c10::Argument;
using c10::ClassTypePtr;
using c10::FunctionSchema;
using c10::QualifiedName;
using c10::Type;
using c10::TypeKind;
using c10::TypePtr;
using c10::unifyTypes;
namespace ivalue = c10::ivalue;

using Stack = std::vector<c10::IValue>;
using Kwargs = std::unordered_map<std::string, c10::IValue>;
using ObjectPtr = c10::intrusive_ptr<c10::ivalue::Object>;
using TaskLauncher = std::function<void(std::function<void()>)>;

namespace detail {

using c10::detail::adopt_module;
using c10::detail::adopt_script;
using c10::detail::ModuleHandle;
using c10::detail::ScriptHandle;

/// Whether a program can change what the value contains.
RLT_LAZY bool can_change(const c10::IValue& value) {
  if (value.isTuple()) {
    const auto& elements = value.toTupleRef().elements();
    return std::any_of(elements.begin(), elements.end(), [](const c10::IValue& element) { return can_change<RltLazy>(element); });
  }
  return value.isList() || value.isGenericDict();
}
/// Makes a list or dict what a call has made of its copy; lists and dicts in it stay the same objects. Returns whether the
/// two are of one kind.
template <class RltLazy>
bool update(const c10::IValue& value, const c10::IValue& changed) {
  if (value.isList() && changed.isList()) {
    c10::List<c10::IValue> items = value.toList(), after = changed.toList();
    size_t kept = std::min(items.size(), after.size());
    items.resize(after.size());
    for (size_t i = 0; i < after.size(); ++i) {
      if (i >= kept || !update<RltLazy>(items.get(i), after.get(i))) items.set(i, after.get(i));
    }
    return true;
  }
  if (value.isGenericDict() && changed.isGenericDict()) {
    auto entries = value.toGenericDict(), after = changed.toGenericDict();
    std::vector<std::pair<c10::IValue, c10::IValue>> wanted;
    for (const auto& entry : after) {
      auto before = entries.find(entry.key());
      bool same = before != entries.end() && update<RltLazy>(before->value(), entry.value());
      wanted.emplace_back(entry.key(), same ? before->value() : entry.value());
    }
    entries.clear();
    for (auto& [key, item] : wanted) entries.insert(key, item);
    return true;
  }
  if (!value.isTuple() || !changed.isTuple() || !can_change<RltLazy>(value)) return false;
  const auto &elements = value.toTupleRef().elements(), &after = changed.toTupleRef().elements();
  for (size_t i = 0; i < std::min(elements.size(), after.size()); ++i) update<RltLazy>(elements[i], after[i]);
  return true;
}

/// Arguments on their way to C.
template <class RltLazy>
class ArgumentsOf {
 public:
  ArgumentsOf(const Stack& stack, const Kwargs& kwargs, ScriptHandle program = nullptr) : program_(std::move(program)) {
    for (const c10::IValue& value : stack) positional_.push_back(lend(value));
    for (const auto& [name, value] : kwargs) named_.push_back({name.c_str(), lend(value)});
  }
  ArgumentsOf(const ArgumentsOf&) = delete;
  /// The status of `function(args, n_args, kwargs, n_kwargs)`.
  template <class Function>
  int32_t pass(Function function) const {
    return function(positional_.data(), static_cast<int64_t>(positional_.size()), named_.data(), static_cast<int64_t>(named_.size()));
  }
  /// The result of `function(args, n_args, kwargs, n_kwargs, changed, out)`. Lists and dicts are passed as copies; afterwards
  /// the caller's are what the call has made of them.
  template <class Function>
  c10::IValue call(Function function) const {
    Changed changed{std::vector<RLT_LATER(rlt_value)>(can_change_ ? originals_.size() : 0)};
    rlt_value* slots = can_change_ ? changed.values.data() : nullptr;
    c10::IValue result =
        c10::detail::described([&](rlt_value* out) { return pass([&](auto... arguments) { return function(arguments..., slots, out); }); }, program_);
    for (size_t i = 0; i < changed.values.size(); ++i) {
      if (changed.values[i].tag == RLT_VALUE_NONE) continue;
      update<RltLazy>(*originals_[i], c10::detail::described([&](rlt_value* out) { return *out = std::exchange(changed.values[i], rlt_value{}), 0; }, program_));
    }
    return result;
  }

 private:
  /// Owned values; those that were moved out are None.
  struct Changed {
    std::vector<RLT_LATER(rlt_value)> values;
    ~Changed() {
      for (auto& value : values) rlt_value_free(&value);
    }
  };

  rlt_value lend(const c10::IValue& value) {
    originals_.push_back(&value);
    can_change_ = can_change_ || can_change<RltLazy>(value);
    return lent_.emplace_back(value).value;
  }

  ScriptHandle program_;
  /// The arguments, which the caller keeps; the positional ones first.
  std::vector<const c10::IValue*> originals_;
  bool can_change_ = false;
  std::deque<RLT_LATER(rlt::Lent<c10::IValue>)> lent_;
  std::vector<RLT_LATER(rlt_value)> positional_;
  std::vector<RLT_LATER(rlt_named_value)> named_;
};

/// An owned string of the C interface.
template <class Function>
std::string text(Function function) {
  rlt_value value = {};
  rlt::check(function(&value));
  return rlt::adopt_string(value);
}
template <class Function>
std::vector<std::string> texts(Function function) {
  return c10::detail::described(function).template to<std::vector<std::string>>();
}

}  // namespace detail

[[noreturn]] RLT_COLD inline void refuse_to_build(const char* function) {
  rlt::raise<c10::NotImplementedError>(std::string(function) + " is not available: programs cannot build graphs; torch::jit::trace records them");
}
/// A value and a node of a graph: only their names, for programs that build graphs.
struct Value {
  Value* setType(const c10::TypePtr&) { refuse_to_build("torch::jit::Value::setType"); }
};
struct Node {
  std::vector<c10::Symbol> attributeNames() const { refuse_to_build("torch::jit::Node::attributeNames"); }
};

/// The graph of a function, as text. That of torch::jit::tracer::trace can become a function (CompilationUnit::create_function).
struct Graph {
  using Body = std::function<c10::IValue(Stack)>;
  explicit Graph(std::string text) : text_(std::move(text)) {}
  RLT_LAZY Graph(std::string text, Body body, std::shared_ptr<c10::FunctionSchema> schema) : text_(std::move(text)), body_(std::move(body)), schema_(std::move(schema)) {}
  std::string toString(bool = true) const { return text_; }
  RLT_LAZY std::shared_ptr<Graph> copy() const { return std::make_shared<Graph>(*this); }
  /// What a trace recorded, and its signature; null for other graphs.
  const Body& body() const { return body_; }
  const std::shared_ptr<c10::FunctionSchema>& schema() const { return schema_; }

  Value* insertInput(size_t, const std::string& = "") { refuse_to_build("torch::jit::Graph::insertInput"); }
  Value* addInput(const std::string& = "") { refuse_to_build("torch::jit::Graph::addInput"); }
  size_t registerOutput(Value*) { refuse_to_build("torch::jit::Graph::registerOutput"); }
  Node* param_node() { refuse_to_build("torch::jit::Graph::param_node"); }

  RLT_LAZY void dump() const { std::fputs(text_.c_str(), stdout); }
  friend std::ostream& operator<<(std::ostream& stream, const Graph& graph) { return stream << graph.text_; }

 private:
  std::string text_;
  Body body_;
  std::shared_ptr<c10::FunctionSchema> schema_;
};

struct Function {
  /// A function or method of a program, by its qualified name.
  RLT_LAZY Function(detail::ScriptHandle program, std::string qualified_name) : program_(std::move(program)), name_(std::move(qualified_name)) {}
  /// A function of C++.
  RLT_LAZY Function(std::string qualified_name, c10::FunctionSchema schema, std::function<c10::IValue(Stack)> body, std::string doc = "")
      : name_(std::move(qualified_name)), schema_(std::make_shared<c10::FunctionSchema>(std::move(schema))), body_(std::move(body)), doc_(std::move(doc)) {}

  RLT_LAZY const std::string& name() const {
    if (short_name_.empty()) short_name_ = name_.substr(name_.rfind('.') + 1);
    return short_name_;
  }
  c10::QualifiedName qualname() const { return c10::QualifiedName(name_); }
  const std::string& doc_string() const { return doc_; }
  RLT_LAZY const c10::FunctionSchema& getSchema() const {
    if (!schema_) {
      c10::IValue description = c10::detail::described([&](rlt_value* out) { return rlt_script_signature(program_.get(), name_.c_str(), out); }, program_);
      schema_ = std::make_shared<c10::FunctionSchema>(c10::FunctionSchema::of(description, program_));
    }
    return *schema_;
  }
  RLT_LAZY size_t num_inputs() const { return getSchema().arguments().size(); }
  bool isGraphFunction() const { return !body_; }
  void ensure_defined() const {}
  RLT_LAZY std::shared_ptr<Graph> graph() const {
    return std::make_shared<Graph>(detail::text([&](rlt_value* out) { return rlt_script_graph(program_.get(), name_.c_str(), 0, out); }));
  }
  /// The graph with the nodes of the functions that it calls in place of the calls.
  RLT_LAZY std::shared_ptr<Graph> optimized_graph() const {
    return std::make_shared<Graph>(detail::text([&](rlt_value* out) { return rlt_script_graph(program_.get(), name_.c_str(), 1, out); }));
  }
  RLT_LAZY c10::IValue operator()(Stack stack, const Kwargs& kwargs = Kwargs()) const {
    if (body_) {
      getSchema().checkAndNormalizeInputs(stack, kwargs);
      return body_(std::move(stack));
    }
    return detail::ArgumentsOf<RltLazy>(stack, kwargs, program_).call([&](auto... arguments) { return rlt_script_run_v2(program_.get(), name_.c_str(), arguments...); });
  }
  /// Replaces the arguments on the stack by the result.
  RLT_LAZY void run(Stack& stack) const {
    c10::IValue result = (*this)(std::move(stack));
    stack.clear();
    stack.push_back(std::move(result));
  }

 private:
  detail::ScriptHandle program_;
  std::string name_;
  mutable std::string short_name_;
  mutable std::shared_ptr<c10::FunctionSchema> schema_;
  std::function<c10::IValue(Stack)> body_;
  std::string doc_;
};
/// Functions of both kinds have one class here.
using GraphFunction = Function;
inline GraphFunction& toGraphFunction(Function& function) { return function; }

inline void push(Stack&) {}
template <class Value, class... Rest>
void push(Stack& stack, Value&& value, Rest&&... rest) {
  stack.emplace_back(std::forward<Value>(value));
  push(stack, std::forward<Rest>(rest)...);
}
RLT_LAZY c10::IValue pop(Stack& stack) {
  c10::IValue value = std::move(stack.back());
  stack.pop_back();
  return value;
}
RLT_LAZY void drop(Stack& stack, size_t count) { stack.erase(stack.end() - static_cast<std::ptrdiff_t>(count), stack.end()); }

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch

namespace c10 {
RLT_NAMESPACE_BEGIN
template <class RltLazy>
template <class Lazy>
torch::jit::Function* ClassTypeOf<RltLazy>::findMethod(const std::string& method) const {
  auto known = functions_.find(method);
  if (known != functions_.end()) return known->second.get();
  const detail::ScriptHandle& program = program_ ? program_ : bound_;
  if (!program || !hasMethod(method)) return nullptr;
  auto& place = functions_[method];
  place = std::make_shared<torch::jit::Function>(program, annotation_str() + "." + method);
  return place.get();
}
template <class RltLazy>
template <class Lazy>
torch::jit::Function& ClassTypeOf<RltLazy>::getMethod(const std::string& method) const {
  if (torch::jit::Function* found = findMethod(method)) return *found;
  rlt::raise<Error>("Couldn't find method: '" + method + "' on class: '" + repr_str() + "'");
}
template <class RltLazy>
template <class Lazy>
std::vector<torch::jit::Function*> ClassTypeOf<RltLazy>::methods() const {
  RLT_LATER(std::vector<torch::jit::Function*>) found;
  for (const std::string& method : method_names()) found.push_back(findMethod(method));
  return found;
}
RLT_NAMESPACE_END
}  // namespace c10
