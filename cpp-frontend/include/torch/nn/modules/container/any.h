// AnyModule: a module of any class, called with values of any type. Sequential is a list of them.
#pragma once

#include <torch/detail/owned.h>
#include <torch/nn/pimpl.h>

#include <array>
#include <memory>
#include <tuple>
#include <utility>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// Identifies types: typeid if there is RTTI (it works across shared libraries), an address otherwise.
struct TypeId {
#if RLT_RTTI
  const std::type_info* info;
  template <class T>
  static TypeId of() {
    return {&typeid(T)};
  }
  std::string name() const { return c10::demangle(info->name()); }
  friend bool operator==(const TypeId& a, const TypeId& b) { return *a.info == *b.info; }
#else
  const void* info;
  template <class T>
  static TypeId of() {
    return {type_token<T>()};
  }
  std::string name() const { return "(unknown without RTTI)"; }
  friend bool operator==(const TypeId& a, const TypeId& b) { return a.info == b.info; }
#endif
};
}  // namespace detail

/// A value of any type.
class AnyValue final {
 public:
  AnyValue(AnyValue&&) = default;
  AnyValue& operator=(AnyValue&&) = default;
  AnyValue(const AnyValue& other) : content_(other.content_->clone()) {}
  AnyValue& operator=(const AnyValue& other) {
    content_ = torch::detail::Owned<Content>(other.content_->clone());
    return *this;
  }
  template <class T, class = std::enable_if_t<!std::is_same_v<std::decay_t<T>, AnyValue>>>
  explicit AnyValue(T&& value) : content_(new Holder<std::decay_t<T>>(std::forward<T>(value))) {}

  /// The value, if it is a T.
  template <class T>
  T* try_get() {
    static_assert(!std::is_reference_v<T>, "AnyValue stores decayed types, you cannot cast it to a reference type");
    if (!(content_->type == detail::TypeId::of<T>())) return nullptr;
    return &static_cast<Holder<T>*>(content_.get())->value;
  }
  template <class T>
  T get() {
    if (T* value = try_get<T>()) return *value;
    rlt::raise<Error>("Attempted to cast AnyValue to " + detail::TypeId::of<T>().name() + ", but its actual type is " + content_->type.name());
  }
#if RLT_RTTI
  const std::type_info& type_info() const noexcept { return *content_->type.info; }
#endif
  detail::TypeId type() const { return content_->type; }

 private:
  struct Content {
    explicit Content(detail::TypeId id) : type(id) {}
    virtual ~Content() = default;
    virtual Content* clone() const = 0;
    detail::TypeId type;
  };
  template <class T>
  struct Holder final : Content {
    template <class U>
    explicit Holder(U&& content) : Content(detail::TypeId::of<T>()), value(std::forward<U>(content)) {}
    Content* clone() const override { return new Holder(value); }
    T value;
  };
  torch::detail::Owned<Content> content_;
};

namespace detail {

/// The parameter of forward if a call has no argument at this position.
struct DefaultArgument {
  unsigned int position;
  AnyValue value;
};

template <class T>
struct ForwardSignature;
template <class C, class R, class... Args>
struct ForwardSignature<R (C::*)(Args...)> {
  using Return = R;
  using Arguments = std::tuple<std::decay_t<Args>...>;
};
template <class C, class R, class... Args>
struct ForwardSignature<R (C::*)(Args...) const> : ForwardSignature<R (C::*)(Args...)> {};

template <class M, class = void>
constexpr bool has_forward = false;
template <class M>
constexpr bool has_forward<M, std::void_t<decltype(&M::forward)>> = true;

// Defaults of arguments are not part of a member pointer: FORWARD_HAS_DEFAULT_ARGS declares them.
struct AnyModuleAccess {
  template <class M>
  static auto required(int) -> decltype(M::_forward_num_required_args(), size_t{}) {
    return M::_forward_num_required_args();
  }
  template <class M>
  static size_t required(...) {
    return SIZE_MAX;
  }
  template <class M>
  static auto defaults(std::vector<AnyValue>& args, int) -> decltype(M::_forward_populate_default_args(std::move(args)), void()) {
    args = M::_forward_populate_default_args(std::move(args));
  }
  template <class M>
  static void defaults(std::vector<AnyValue>&, ...) {}
};

struct AnyModuleContent {
  virtual ~AnyModuleContent() = default;
  virtual AnyValue forward(std::vector<AnyValue>&& args) = 0;
  virtual std::shared_ptr<Module> ptr() const = 0;
  virtual AnyModuleContent* copy() const = 0;
  virtual AnyModuleContent* clone(const std::optional<Device>& device) const = 0;
  virtual TypeId type() const = 0;
};

template <class M>
struct AnyModuleHolder final : AnyModuleContent {
  using Signature = ForwardSignature<decltype(&M::forward)>;
  using Arguments = typename Signature::Arguments;

  explicit AnyModuleHolder(std::shared_ptr<M> held) : module(std::move(held)) {}

  AnyValue forward(std::vector<AnyValue>&& args) override {
    constexpr size_t count = std::tuple_size_v<Arguments>;
    size_t given = args.size();
    if (given < count && AnyModuleAccess::required<M>(0) <= given) AnyModuleAccess::defaults<M>(args, 0);
    if (args.size() != count) {
      size_t required = AnyModuleAccess::required<M>(0);
      std::string wanted = required < count
                               ? " expects at least " + std::to_string(required) + " argument(s) and at most " + std::to_string(count) + " argument(s), but received "
                               : " expects " + std::to_string(count) + " argument(s), but received ";
      std::string hint = given < count && required == SIZE_MAX
                             ? ". If " + module->name() + "'s forward() method has default arguments, please make sure the forward() method is declared with a corresponding `FORWARD_HAS_DEFAULT_ARGS` macro."
                             : ".";
      rlt::raise<Error>(module->name() + "'s forward() method" + wanted + std::to_string(given) + hint);
    }
    return call(args, std::make_index_sequence<count>());
  }
  std::shared_ptr<Module> ptr() const override { return module; }
  AnyModuleContent* copy() const override { return new AnyModuleHolder(module); }
  AnyModuleContent* clone(const std::optional<Device>& device) const override {
    return new AnyModuleHolder(std::static_pointer_cast<M>(module->clone(device)));
  }
  TypeId type() const override { return TypeId::of<M>(); }

  std::shared_ptr<M> module;

 private:
  template <size_t... I>
  AnyValue call(std::vector<AnyValue>& args, std::index_sequence<I...>) {
    (void)args;
    return AnyValue(module->forward(argument<std::tuple_element_t<I, Arguments>>(args[I], I)...));
  }
  template <class T>
  static T&& argument(AnyValue& value, size_t index) {
    T* found = value.try_get<T>();
    if (C10_UNLIKELY(!found)) {
      rlt::raise<Error>("Expected argument #" + std::to_string(index) + " to be of type " + TypeId::of<T>().name() +
                        ", but received value of type " + value.type().name());
    }
    return std::move(*found);
  }
};

}  // namespace detail

struct AnyModule {
 public:
  AnyModule() = default;
  template <class M, class = std::enable_if_t<detail::is_module<M>>>
  explicit AnyModule(std::shared_ptr<M> module) : content_(make(std::move(module))) {}
  /// A module by value moves into shared ownership.
  template <class M, class = std::enable_if_t<detail::is_module<M> && !std::is_lvalue_reference_v<M>>>
  explicit AnyModule(M&& module) : AnyModule(std::make_shared<std::decay_t<M>>(std::forward<M>(module))) {}
  template <class M>
  explicit AnyModule(const ModuleHolder<M>& holder) : AnyModule(holder.ptr()) {}
  AnyModule(AnyModule&&) = default;
  AnyModule& operator=(AnyModule&&) = default;
  AnyModule(const AnyModule& other) : content_(other.is_empty() ? nullptr : other.content_->copy()) {}
  AnyModule& operator=(const AnyModule& other) {
    content_ = torch::detail::Owned<detail::AnyModuleContent>(other.is_empty() ? nullptr : other.content_->copy());
    return *this;
  }
  template <class M, class = std::enable_if_t<detail::is_module<M>>>
  AnyModule& operator=(std::shared_ptr<M> module) {
    return *this = AnyModule(std::move(module));
  }

  AnyModule clone(std::optional<Device> device = std::nullopt) const {
    AnyModule copy;
    if (!is_empty()) copy.content_ = torch::detail::Owned<detail::AnyModuleContent>(content_->clone(device));
    return copy;
  }

  template <class... Args>
  AnyValue any_forward(Args&&... args) {
    check("forward");
    std::vector<AnyValue> values;
    values.reserve(sizeof...(Args));
    (values.push_back(as_value(std::forward<Args>(args))), ...);
    return content_->forward(std::move(values));
  }
  template <class Return = Tensor, class... Args>
  Return forward(Args&&... args) {
    return any_forward(std::forward<Args>(args)...).template get<Return>();
  }

  template <class M, class = std::enable_if_t<detail::is_module<M>>>
  M& get() {
    return *checked<M>("get");
  }
  template <class M, class = std::enable_if_t<detail::is_module<M>>>
  const M& get() const {
    return *checked<M>("get");
  }
  template <class T, class Contained = typename T::ContainedType>
  T get() const {
    return T(checked<Contained>("get"));
  }
  std::shared_ptr<Module> ptr() const {
    check("ptr");
    return content_->ptr();
  }
  template <class M, class = std::enable_if_t<detail::is_module<M>>>
  std::shared_ptr<M> ptr() const {
    return checked<M>("ptr");
  }
#if RLT_RTTI
  const std::type_info& type_info() const {
    check("type_info");
    return *content_->type().info;
  }
#endif
  bool is_empty() const noexcept { return content_.get() == nullptr; }

 private:
  template <class M>
  static detail::AnyModuleContent* make(std::shared_ptr<M> module) {
    static_assert(detail::has_forward<M>, "the module needs one forward method that is neither overloaded nor a template");
    return new detail::AnyModuleHolder<M>(std::move(module));
  }
  static AnyValue as_value(AnyValue&& value) { return std::move(value); }
  template <class T, class = std::enable_if_t<!std::is_same_v<std::decay_t<T>, AnyValue>>>
  static AnyValue as_value(T&& value) {
    return AnyValue(std::forward<T>(value));
  }
  void check(const char* method) const {
    if (C10_UNLIKELY(is_empty())) rlt::raise<Error>(std::string("Cannot call ") + method + "() on an empty AnyModule");
  }
  template <class M>
  std::shared_ptr<M> checked(const char* method) const {
    check(method);
    if (content_->type() == detail::TypeId::of<M>()) return static_cast<detail::AnyModuleHolder<M>*>(content_.get())->module;
    rlt::raise<Error>("Attempted to cast module of type " + content_->type().name() + " to type " + detail::TypeId::of<M>().name());
  }

  torch::detail::Owned<detail::AnyModuleContent> content_;
};

/// A module and its name: `{"fc", nn::Linear(2, 1)}`.
class NamedAnyModule {
 public:
  template <class M>
  NamedAnyModule(std::string name, std::shared_ptr<M> module) : NamedAnyModule(std::move(name), AnyModule(std::move(module))) {}
  template <class M, class = std::enable_if_t<detail::is_module<M>>>
  NamedAnyModule(std::string name, M&& module) : NamedAnyModule(std::move(name), AnyModule(std::forward<M>(module))) {}
  template <class M>
  NamedAnyModule(std::string name, const ModuleHolder<M>& holder) : NamedAnyModule(std::move(name), AnyModule(holder)) {}
  NamedAnyModule(std::string name, AnyModule module) : name_(std::move(name)), module_(std::move(module)) {}

  const std::string& name() const noexcept { return name_; }
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch

/// Tells AnyModule the default arguments of forward: `FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(2)}, ...)` with positions.
#define FORWARD_HAS_DEFAULT_ARGS(...)                                                                      \
  friend struct torch::nn::detail::AnyModuleAccess;                                                        \
  static size_t _forward_num_required_args() {                                                             \
    torch::nn::detail::DefaultArgument defaults[] = {__VA_ARGS__};                               \
    return defaults[0].position;                                                                             \
  }                                                                                                        \
  static std::vector<torch::nn::AnyValue> _forward_populate_default_args(std::vector<torch::nn::AnyValue>&& args) { \
    torch::nn::detail::DefaultArgument defaults[] = {__VA_ARGS__};                               \
    std::vector<torch::nn::AnyValue> all(std::move(args));                                                 \
    for (auto& entry : defaults) {                                                                         \
      if (entry.position >= all.size()) all.push_back(std::move(entry.value));                             \
    }                                                                                                      \
    return all;                                                                                            \
  }
