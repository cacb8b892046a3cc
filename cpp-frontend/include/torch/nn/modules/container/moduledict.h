// ModuleDict: modules by name, in the order of insertion.
#pragma once

#include <torch/nn/modules/container/modulelist.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// Copies the modules of the container.
template <class List>
class ModuleDictCopy : public Cloneable<List> {
 public:
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    auto copy = std::make_shared<List>();
    for (const auto& item : static_cast<const List&>(*this)) copy->insert(item.key(), item.value()->clone(device));
    return copy;
  }
};
}  // namespace detail

class ModuleDictImpl : public detail::ModuleDictCopy<ModuleDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, std::shared_ptr<Module>>::Iterator;
  using ConstIterator = OrderedDict<std::string, std::shared_ptr<Module>>::ConstIterator;

  ModuleDictImpl() = default;
  template <class M = Module>
  explicit ModuleDictImpl(const std::vector<std::pair<std::string, std::shared_ptr<M>>>& modules) {
    update(modules);
  }
  RLT_LAZY explicit ModuleDictImpl(const OrderedDict<std::string, std::shared_ptr<Module>>& modules) { update(modules); }

  template <class M = Module>
  std::vector<std::pair<std::string, std::shared_ptr<M>>> items() const {
    return modules_.pairs();
  }
  RLT_LAZY std::vector<std::string> keys() const { return modules_.keys(); }
  RLT_LAZY std::vector<std::shared_ptr<Module>> values() const { return modules_.values(); }
  Iterator begin() { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator begin() const { return modules_.begin(); }
  ConstIterator end() const { return modules_.end(); }
  size_t size() const noexcept { return modules_.size(); }
  bool empty() const noexcept { return modules_.is_empty(); }
  bool contains(const std::string& key) const noexcept { return modules_.contains(key); }
  /// The modules stay children, as in Python.
  void clear() { modules_.clear(); }

  /// The modules are reset; the dictionary is unchanged.
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::ModuleDict"; }

  std::shared_ptr<Module> operator[](const std::string& key) const { return modules_[key]; }
  template <class T>
  T& at(const std::string& key) {
    static_assert(detail::is_module<T>, "Can only call ModuleDict::at with an nn::Module type");
    return detail::cast_module<T>(*modules_[key], key);
  }
  template <class T>
  const T& at(const std::string& key) const {
    static_assert(detail::is_module<T>, "Can only call ModuleDict::at with an nn::Module type");
    return detail::cast_module<T>(*modules_[key], key);
  }
  /// Removes a module from the dictionary; it stays a child, as in Python.
  RLT_LAZY std::shared_ptr<Module> pop(const std::string& key) {
    std::shared_ptr<Module> module = modules_[key];
    modules_.erase(key);
    return module;
  }
  template <class M = Module>
  void update(const std::vector<std::pair<std::string, std::shared_ptr<M>>>& modules) {
    for (const auto& item : modules) insert(item.first, item.second);
  }
  template <class Container>
  void update(const Container& container) {
    for (const auto& item : container) insert(item.key(), item.value());
  }

 private:
  friend class detail::ModuleDictCopy<ModuleDictImpl>;
  RLT_LAZY void insert(const std::string& key, std::shared_ptr<Module> module) {
    if (contains(key)) {
      replace_module(key, module);
      modules_[key] = std::move(module);
    } else {
      register_module(key, module);
      modules_.insert(key, std::move(module));
    }
  }
  OrderedDict<std::string, std::shared_ptr<Module>> modules_;
};
TORCH_MODULE(ModuleDict);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
