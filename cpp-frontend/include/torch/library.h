// TORCH_LIBRARY: operators that a program defines. They are called by name from every language, and pass autograd and the
// other layers as built-in ones do.
//
//   TORCH_LIBRARY(my, m) {
//     m.def("scaled(Tensor self, float scale=1) -> Tensor");
//   }
//   TORCH_LIBRARY_IMPL(my, CPU, m) {
//     m.impl("scaled", [](const at::Tensor& self, double scale) { return self * scale; });
//   }
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/CompileTimeFunctionPointer.h>

#include <memory>
#include <mutex>

namespace torch {
RLT_NAMESPACE_BEGIN

using DispatchKey = c10::DispatchKey;
template <class CurClass>
class class_;

namespace detail {

/// A kernel in the form that the C interface calls. Each registration owns a holder.
struct BoxedKernel {
  rlt_op_callback call = nullptr;
  std::shared_ptr<void> function;
};

struct KernelHolder {
  std::shared_ptr<void> function;
  static void destroy(void* ctx) { delete static_cast<KernelHolder*>(ctx); }
};

template <class F>
struct KernelOf {
  static int32_t call(void* ctx, const rlt_value* args, int64_t n_args, rlt_value* outs, int64_t n_outs) {
    return rlt::trampoline([&] {
      using Signature = rlt::FunctionOf<F>;
      constexpr size_t results = rlt::Results<typename Signature::Result>::count;
      if (n_args != static_cast<int64_t>(Signature::arity) || n_outs != static_cast<int64_t>(results)) {
        rlt::raise<Error>("the kernel takes " + std::to_string(Signature::arity) + " arguments and returns " + std::to_string(results) +
                          " values, the operator's schema has " + std::to_string(n_args) + " and " + std::to_string(n_outs));
      }
      F& function = *static_cast<F*>(static_cast<KernelHolder*>(ctx)->function.get());
      Signature::call(function, args, outs, std::make_index_sequence<Signature::arity>());
    });
  }
};

}  // namespace detail

/// A function that becomes a kernel: a function pointer, a lambda or another object with one operator().
class CppFunction final {
 public:
  template <class F, std::enable_if_t<!std::is_same_v<std::decay_t<F>, CppFunction>, bool> = true>
  CppFunction(F&& function) : schema_(rlt::FunctionOf<std::decay_t<F>>::schema()) {
    using Plain = std::decay_t<F>;
    kernel_.call = &detail::KernelOf<Plain>::call;
    kernel_.function = std::make_shared<Plain>(std::forward<F>(function));
  }
  /// No kernel: the library's default behaviour is used.
  static CppFunction makeFallthrough() { return CppFunction(); }

  const std::optional<DispatchKey>& key() const { return key_; }
  const detail::BoxedKernel& kernel() const { return kernel_; }
  /// The result for a schema without a name.
  const std::string& schema() const { return schema_; }

 private:
  CppFunction() = default;
  template <class F>
  friend CppFunction dispatch(DispatchKey key, F&& function);

  std::optional<DispatchKey> key_;
  detail::BoxedKernel kernel_;
  std::string schema_;
};

/// A function with the key it is for: `m.def("op", torch::dispatch(DispatchKey::CPU, &op_cpu))`.
template <class F>
CppFunction dispatch(DispatchKey key, F&& function) {
  CppFunction result(std::forward<F>(function));
  result.key_ = key;
  return result;
}

/// Defines operators of a namespace, or registers kernels for them. Its destructor removes its registrations.
class Library final {
 public:
  enum Kind { DEF, IMPL, FRAGMENT };

  Library(Kind kind, std::string ns, std::optional<DispatchKey> key, const char* file, uint32_t line) : kind_(kind), ns_(std::move(ns)), key_(key) {
    (void)file;
    (void)line;
    if (ns_ == "_") rlt::raise<NotImplementedError>("a fallback for every operator is not implemented");
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library(Library&& other) noexcept
      : kind_(other.kind_), ns_(std::move(other.ns_)), key_(other.key_), defined_(std::move(other.defined_)), given_(std::move(other.given_)) {
    other.defined_.clear();
    other.given_.clear();
  }
  ~Library() {
    {
      std::lock_guard<std::mutex> lock(waiting().mutex);
      for (const Given& given : given_) waiting().forget(given);
    }
    for (const Given& given : given_) {
      rlt_op* op = nullptr;
      if (rlt_op_find(given.name.c_str(), given.overload.c_str(), &op) != RLT_OK || !op) continue;
      rlt_op_remove_impl(op, given.key);
      rlt_op_free(op);
    }
    for (rlt_op* op : defined_) rlt_op_unregister(op);
  }

  /// An operator without a kernel: `scaled(Tensor self, float scale=1) -> Tensor`.
  Library& def(const char* schema) & {
    if (kind_ == IMPL) rlt::raise<Error>(std::string("def(\"") + schema + "\"): operators are defined in TORCH_LIBRARY, not in TORCH_LIBRARY_IMPL");
    std::string text = qualified(schema);
    rlt_op* op = nullptr;
    rlt::check(rlt_op_define(text.c_str(), &op));
    defined_.push_back(op);
    std::string full = text.substr(0, text.find('('));
    give_waiting(op, full);
    return *this;
  }
  Library& def(const std::string& schema) & { return def(schema.c_str()); }
  /// A composite operator. Without a schema, the schema is inferred from the function.
  template <class F>
  Library& def(const char* name_or_schema, F&& function) & {
    CppFunction kernel(std::forward<F>(function));
    std::string schema = name_or_schema;
    if (schema.find('(') == std::string::npos) schema += kernel.schema();
    def(schema.c_str());
    return give(schema.substr(0, schema.find('(')), kernel.key().value_or(DispatchKey::CompositeImplicitAutograd), kernel);
  }

  /// A kernel for this library's key, or the one that `torch::dispatch` names.
  template <class F>
  Library& impl(const char* name, F&& function) & {
    CppFunction kernel(std::forward<F>(function));
    std::optional<DispatchKey> key = kernel.key() ? kernel.key() : key_;
    return give(name, key.value_or(DispatchKey::CompositeImplicitAutograd), kernel);
  }
  template <class F>
  Library& impl(const char* name, DispatchKey key, F&& function) & {
    return give(name, key, CppFunction(std::forward<F>(function)));
  }

  /// Registers a C++ class (torch/custom_class.h).
  template <class CurClass>
  torch::class_<CurClass> class_(const std::string& class_name);
  template <class CurClass>
  torch::class_<CurClass> class_(const std::string& class_name, const std::string& doc_string);
  /// The Python module with the operators' fake kernels: there is no Python.
  Library& impl_abstract_pystub(const char*, const char* = "") { return *this; }
  Library& set_python_module(const char*, const char* = "") { return *this; }

 private:
  /// A kernel registered for an operator.
  struct Given {
    std::string name, overload;
    int32_t key = 0;
    detail::BoxedKernel kernel;
  };
  /// Kernels of operators that are not defined yet: static objects of other files are initialized in any order.
  struct Waiting {
    std::mutex mutex;
    std::vector<Given> list;
    void forget(const Given& given) {
      for (size_t i = list.size(); i-- > 0;) {
        if (list[i].kernel.function == given.kernel.function && list[i].key == given.key) list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  };
  static Waiting& waiting() {
    static Waiting* only = new Waiting;  // outlives the static libraries
    return *only;
  }

  std::string qualified(std::string name) const {
    size_t end = name.find("::");
    if (end == std::string::npos || end > name.find('(')) return ns_ + "::" + name;
    if (name.compare(0, end, ns_) != 0) rlt::raise<Error>("operator " + name + " is not of the namespace of its library, " + ns_);
    return name;
  }
  /// The library's keys for one of libtorch's. The CPU is the device whose tensors autograd sees here.
  static std::vector<int32_t> keys_of(DispatchKey key) {
    switch (key) {
      case DispatchKey::CPU: return {RLT_KEY_CPU};
      case DispatchKey::CUDA: return {RLT_KEY_CUDA};
      case DispatchKey::Meta: return {RLT_KEY_META};
      case DispatchKey::Autograd:
      case DispatchKey::AutogradCPU: return {RLT_KEY_AUTOGRAD};
      // Operators without tensors have no other key.
      case DispatchKey::BackendSelect:
      case DispatchKey::CompositeImplicitAutograd: return {RLT_KEY_COMPOSITE};
      // Any device, but no derivative from the operators it calls.
      case DispatchKey::CompositeExplicitAutograd: return {RLT_KEY_CPU, RLT_KEY_CUDA, RLT_KEY_META};
      case DispatchKey::ADInplaceOrView:
      case DispatchKey::AutogradOther:
      case DispatchKey::AutogradCUDA:
      case DispatchKey::AutogradMeta:
      case DispatchKey::Undefined: rlt::raise<NotImplementedError>(std::string("a kernel for the dispatch key ") + c10::toString(key) + " is not implemented");
      // Such tensors or modes do not exist: the kernel is not called.
      default: return {};
    }
  }
  Library& give(const std::string& name, DispatchKey key, const CppFunction& function) {
    if (!function.kernel().call) return *this;
    std::string full = qualified(name);
    size_t dot = full.rfind('.');
    Given given;
    given.name = full.substr(0, dot);
    if (dot != std::string::npos) given.overload = full.substr(dot + 1);
    given.kernel = function.kernel();
    for (int32_t number : keys_of(key)) {
      given.key = number;
      rlt_op* op = nullptr;
      rlt::check(rlt_op_find(given.name.c_str(), given.overload.c_str(), &op));
      if (op) {
        int32_t status = put(op, given);
        rlt_op_free(op);
        rlt::check(status);
      } else {
        std::lock_guard<std::mutex> lock(waiting().mutex);
        waiting().list.push_back(given);
      }
      given_.push_back(given);
    }
    return *this;
  }
  static int32_t put(rlt_op* op, const Given& given) {
    auto* holder = new detail::KernelHolder{given.kernel.function};
    int32_t status = rlt_op_impl(op, given.key, given.kernel.call, holder, &detail::KernelHolder::destroy);
    if (status != RLT_OK) delete holder;
    return status;
  }
  static void give_waiting(rlt_op* op, const std::string& full) {
    std::lock_guard<std::mutex> lock(waiting().mutex);
    for (const Given& given : waiting().list) {
      if (full == (given.overload.empty() ? given.name : given.name + "." + given.overload)) rlt::check(put(op, given));
    }
    // They stay in the list until their library is destroyed: the operator may be defined again.
  }

  Kind kind_;
  std::string ns_;
  std::optional<DispatchKey> key_;
  std::vector<rlt_op*> defined_;
  std::vector<Given> given_;
};

namespace detail {
/// Runs the block of a TORCH_LIBRARY when the program starts.
class TorchLibraryInit final {
 public:
  TorchLibraryInit(Library::Kind kind, void (*block)(Library&), const char* ns, std::optional<DispatchKey> key, const char* file, uint32_t line)
      : library_(kind, ns, key, file, line) {
    block(library_);
  }

 private:
  Library library_;
};
}  // namespace detail

RLT_NAMESPACE_END
}  // namespace torch

#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema

#define RLT_LIBRARY(kind, ns, key, block, m)                                                                                           \
  static void block(torch::Library&);                                                                                                  \
  static const torch::detail::TorchLibraryInit C10_CONCATENATE(block, _init)(torch::Library::kind, &block, #ns, key, __FILE__, __LINE__); \
  void block(torch::Library& m)

#define TORCH_LIBRARY(ns, m) RLT_LIBRARY(DEF, ns, std::nullopt, C10_CONCATENATE(TORCH_LIBRARY_, ns), m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) RLT_LIBRARY_FRAGMENT(ns, m, C10_UID)
#define RLT_LIBRARY_FRAGMENT(ns, m, uid) RLT_LIBRARY(FRAGMENT, ns, std::nullopt, C10_CONCATENATE(TORCH_LIBRARY_FRAGMENT_##ns##_, uid), m)
#define TORCH_LIBRARY_IMPL(ns, k, m) RLT_LIBRARY_IMPL(ns, k, m, C10_UID)
#define RLT_LIBRARY_IMPL(ns, k, m, uid) \
  RLT_LIBRARY(IMPL, ns, std::make_optional(c10::DispatchKey::k), C10_CONCATENATE(TORCH_LIBRARY_IMPL_##ns##_##k##_, uid), m)
#define MAKE_TORCH_LIBRARY(ns) torch::Library(torch::Library::DEF, #ns, std::nullopt, __FILE__, __LINE__)
#define MAKE_TORCH_LIBRARY_IMPL(ns, k) torch::Library(torch::Library::IMPL, #ns, std::make_optional(c10::DispatchKey::k), __FILE__, __LINE__)

// Library::class_ returns a class_.
#include <torch/custom_class.h>
