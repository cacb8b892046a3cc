// Sequential: modules, each called with the result of the previous one.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/any.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// Copies the modules of the container.
template <class List>
class SequentialCopy : public Cloneable<List> {
 public:
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    auto copy = std::make_shared<List>();
    for (const AnyModule& module : static_cast<const List&>(*this)) copy->push_back(module.clone(device));
    return copy;
  }
};
}  // namespace detail

class SequentialImpl : public detail::SequentialCopy<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl() = default;
  template <class... Modules, class = std::enable_if_t<(sizeof...(Modules) > 0) && !std::is_same_v<std::tuple<std::decay_t<Modules>...>, std::tuple<SequentialImpl>>>>
  explicit SequentialImpl(Modules&&... modules) {
    modules_.reserve(sizeof...(Modules));
    (push_back(std::forward<Modules>(modules)), ...);
  }
  RLT_LAZY explicit SequentialImpl(OrderedDict<std::string, AnyModule>&& modules) {
    for (auto& item : modules) push_back(item.key(), std::move(item.value()));
  }
  RLT_LAZY explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
    for (const NamedAnyModule& item : modules) push_back(item.name(), item.module());
  }

  /// The modules are reset; the list is unchanged.
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::Sequential"; }

  template <class Return = Tensor, class... Args>
  Return forward(Args&&... args) {
    if (is_empty()) rlt::raise<Error>("Cannot call forward() on an empty Sequential");
    Iterator module = modules_.begin();
    AnyValue value = module->any_forward(std::forward<Args>(args)...);
    for (++module; module != modules_.end(); ++module) value = module->any_forward(std::move(value));
    if (Return* result = value.template try_get<Return>()) return std::move(*result);
    rlt::raise<Error>("The type of the return value is " + value.type().name() + ", but you asked for type " + detail::TypeId::of<Return>().name());
  }

  template <class M>
  void push_back(std::shared_ptr<M> module) {
    push_back(std::to_string(modules_.size()), std::move(module));
  }
  template <class M>
  void push_back(std::string name, std::shared_ptr<M> module) {
    push_back(std::move(name), AnyModule(std::move(module)));
  }
  template <class M, class = std::enable_if_t<detail::is_module<M>>>
  void push_back(M&& module) {
    push_back(std::to_string(modules_.size()), std::forward<M>(module));
  }
  template <class M, class = std::enable_if_t<detail::is_module<M>>>
  void push_back(std::string name, M&& module) {
    push_back(std::move(name), std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(std::to_string(modules_.size()), holder);
  }
  template <class M>
  void push_back(std::string name, const ModuleHolder<M>& holder) {
    push_back(std::move(name), holder.ptr());
  }
  RLT_LAZY void push_back(AnyModule module) { push_back(std::to_string(modules_.size()), std::move(module)); }
  RLT_LAZY void push_back(std::string name, AnyModule module) {
    modules_.push_back(std::move(module));
    register_module(std::move(name), modules_.back().ptr());
  }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }

  Iterator begin() { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator begin() const { return modules_.begin(); }
  ConstIterator end() const { return modules_.end(); }
  template <class T>
  T& at(size_t index) {
    check(index);
    return modules_[index].get<T>();
  }
  template <class T>
  const T& at(size_t index) const {
    check(index);
    return modules_[index].get<T>();
  }
  std::shared_ptr<Module> ptr(size_t index) const {
    check(index);
    return modules_[index].ptr();
  }
  template <class T>
  std::shared_ptr<T> ptr(size_t index) const {
    check(index);
    return modules_[index].ptr<T>();
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  void check(size_t index) const {
    if (index >= modules_.size()) rlt::raise<Error>("Index out of range");
  }
  std::vector<AnyModule> modules_;
};

class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl = SequentialImpl;

  Sequential() = default;
  /// Modules with names: `Sequential({{"in", Linear(3, 2)}, {"out", Linear(2, 1)}})`.
  RLT_LAZY Sequential(std::initializer_list<NamedAnyModule> modules) : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}
};

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
