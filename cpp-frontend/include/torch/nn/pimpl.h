// ModuleHolder: a module as a value with shared ownership. TORCH_MODULE(Net) creates Net from NetImpl.
#pragma once

#include <torch/nn/module.h>

#include <new>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// A std::shared_ptr<T> that is instantiated where it is used: a hundred unused holders would cost a program half a
/// second.
template <class T>
class SharedSlot {
 public:
  SharedSlot(std::shared_ptr<T> pointer) { new (bytes_) std::shared_ptr<T>(std::move(pointer)); }
  SharedSlot(const SharedSlot& other) : SharedSlot(other.get()) {}
  SharedSlot(SharedSlot&& other) noexcept : SharedSlot(std::move(other.get())) {}
  SharedSlot& operator=(const SharedSlot& other) {
    get() = other.get();
    return *this;
  }
  SharedSlot& operator=(SharedSlot&& other) noexcept {
    get() = std::move(other.get());
    return *this;
  }
  ~SharedSlot() {
    using Pointer = std::shared_ptr<T>;
    get().~Pointer();
  }

  std::shared_ptr<T>& get() {
    static_assert(sizeof(std::shared_ptr<T>) == sizeof bytes_, "shared pointers have one size");
    return *std::launder(reinterpret_cast<std::shared_ptr<T>*>(bytes_));
  }
  const std::shared_ptr<T>& get() const { return const_cast<SharedSlot*>(this)->get(); }
  operator const std::shared_ptr<T>&() const { return get(); }
  T* operator->() const { return get().get(); }
  T& operator*() const { return *get(); }
  explicit operator bool() const { return get() != nullptr; }

 private:
  alignas(std::shared_ptr<Module>) unsigned char bytes_[sizeof(std::shared_ptr<Module>)];
};
}  // namespace detail

template <class Contained>
class ModuleHolder : detail::ModuleHolderIndicator {
 public:
  using ContainedType = Contained;

  /// A new module from the default constructor.
  ModuleHolder() : impl_(make()) {}
  /// An empty holder.
  ModuleHolder(std::nullptr_t) : impl_(nullptr) {}
  /// A new module from the arguments of its constructor.
  template <class Head, class... Tail,
            class = std::enable_if_t<sizeof...(Tail) != 0 || !std::disjunction_v<std::is_base_of<ModuleHolder, std::decay_t<Head>>,
                                                                                 std::is_convertible<Head, std::shared_ptr<Contained>>>>>
  explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(std::make_shared<Contained>(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}

  explicit operator bool() const noexcept { return !is_empty(); }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  const std::shared_ptr<Contained>& ptr() const {
    check();
    return impl_.get();
  }
  Contained* get() {
    check();
    return &*impl_;
  }
  const Contained* get() const {
    check();
    return &*impl_;
  }
  bool is_empty() const noexcept { return !impl_; }

  /// Calls forward.
  template <class... Args, class C = Contained>
  auto operator()(Args&&... args) -> decltype(std::declval<C&>().forward(std::forward<Args>(args)...)) {
    return get()->forward(std::forward<Args>(args)...);
  }
  template <class Key>
  decltype(auto) operator[](Key&& key) {
    return (*get())[std::forward<Key>(key)];
  }

 protected:
  detail::SharedSlot<Contained> impl_;

 private:
  static std::shared_ptr<Contained> make() {
    if constexpr (std::is_default_constructible_v<Contained>) {
      return std::make_shared<Contained>();
    } else {
      static_assert(std::is_default_constructible_v<Contained>,
                    "the module has no constructor without arguments; construct its holder with nullptr to make an empty one");
      return nullptr;
    }
  }
  void check() const {
    if (C10_UNLIKELY(!impl_)) rlt::raise<Error>("Accessing empty ModuleHolder");
  }
};

template <class Contained>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<Contained>& holder) {
  return stream << *holder;
}
template <class Contained>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const ModuleHolder<Contained>& holder) {
  return archive << std::static_pointer_cast<Module>(holder.ptr());
}
template <class Contained>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, ModuleHolder<Contained>& holder) {
  return archive >> std::static_pointer_cast<Module>(holder.ptr());
}

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch

/// The attribute of `Impl`, for programs that write holders of templates themselves.
#define TORCH_UNUSED_EXCEPT_CUDA [[maybe_unused]]

/// Defines the holder `Name` of the module class `ImplType`.
#define TORCH_MODULE_IMPL(Name, ImplType)                               \
  class Name : public torch::nn::ModuleHolder<ImplType> {               \
   public:                                                              \
    using torch::nn::ModuleHolder<ImplType>::ModuleHolder;              \
    using Impl TORCH_UNUSED_EXCEPT_CUDA = ImplType;                     \
  }
/// Defines the holder `Name` of the module class `NameImpl`.
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
