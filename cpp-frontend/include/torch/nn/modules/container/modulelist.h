// ModuleList: modules by index.
#pragma once

#include <torch/detail/static.h>
#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/any.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// The module as a T, or an error that names its position in the container.
template <class T, class Key>
T& cast_module(Module& module, const Key& key) {
  T* typed = module.as<T>();
  if (!typed) rlt::raise<Error>(c10::str("Unable to cast module[", key, "] to ", TypeId::of<T>().name()));
  return *typed;
}
}  // namespace detail

namespace detail {
/// Copies the modules of the container.
template <class List>
class ModuleListCopy : public Cloneable<List> {
 public:
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    auto copy = std::make_shared<List>();
    for (const auto& module : static_cast<const List&>(*this)) copy->push_back(module->clone(device));
    return copy;
  }
};
}  // namespace detail

class ModuleListImpl : public detail::ModuleListCopy<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl() = default;
  template <class... Modules, class = std::enable_if_t<(sizeof...(Modules) > 0) && !(std::is_same_v<std::decay_t<Modules>, ModuleListImpl> || ...)>>
  explicit ModuleListImpl(Modules&&... modules) {
    modules_.reserve(sizeof...(Modules));
    (push_back(std::forward<Modules>(modules)), ...);
  }

  /// The modules are reset; the list is unchanged.
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::ModuleList"; }

  RLT_LAZY void push_back(std::shared_ptr<Module> module) {
    register_module(std::to_string(modules_.size()), module);
    modules_.push_back(std::move(module));
  }
  template <class M, class = torch::detail::enable_if_module_t<M>>
  void push_back(M&& module) {
    push_back(std::shared_ptr<Module>(std::make_shared<std::decay_t<M>>(std::forward<M>(module))));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(std::shared_ptr<Module>(holder.ptr()));
  }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }
  /// The following modules move by one.
  RLT_LAZY void insert(size_t index, std::shared_ptr<Module> module) {
    TORCH_CHECK(index <= size(), "Index out of range");
    push_back(module);
    for (size_t place = size() - 1; place > index; --place) put(place, modules_[place - 1]);
    put(index, std::move(module));
  }
  template <class M>
  void insert(size_t index, const ModuleHolder<M>& holder) {
    insert(index, std::shared_ptr<Module>(holder.ptr()));
  }
  template <class M, class = torch::detail::enable_if_module_t<M>>
  void insert(size_t index, M&& module) {
    insert(index, std::shared_ptr<Module>(std::make_shared<std::decay_t<M>>(std::forward<M>(module))));
  }

  Iterator begin() { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator begin() const { return modules_.begin(); }
  ConstIterator end() const { return modules_.end(); }
  template <class T>
  T& at(size_t index) {
    static_assert(detail::is_module<T>, "Can only call ModuleList::at with an nn::Module type");
    return detail::cast_module<T>(*ptr(index), index);
  }
  template <class T>
  const T& at(size_t index) const {
    static_assert(detail::is_module<T>, "Can only call ModuleList::at with an nn::Module type");
    return detail::cast_module<T>(*ptr(index), index);
  }
  std::shared_ptr<Module> ptr(size_t index) const {
    TORCH_CHECK(index < size(), "Index out of range");
    return modules_[index];
  }
  /// Empty if the module is not a T.
  template <class T>
  std::shared_ptr<T> ptr(size_t index) const {
    std::shared_ptr<Module> module = ptr(index);
    return std::shared_ptr<T>(module, module->as<T>());
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  RLT_LAZY void put(size_t index, std::shared_ptr<Module> module) {
    modules_[index] = std::move(module);
    replace_module(std::to_string(index), modules_[index]);
  }
  std::vector<std::shared_ptr<Module>> modules_;
};
TORCH_MODULE(ModuleList);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
