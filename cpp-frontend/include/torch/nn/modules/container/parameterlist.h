// ParameterList: parameters by index.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// The string that ParameterList and ParameterDict print.
RLT_LAZY void print_parameters(std::ostream& stream, const char* name, const OrderedDict<std::string, Tensor>& parameters) {
  stream << "torch::nn::" << name << "(\n";
  for (const auto& item : parameters) {
    stream << "(" << item.key() << "): Parameter containing: [" << c10::toString(item.value().scalar_type()) << " of size " << item.value().sizes() << "]\n";
  }
  stream << ")";
}
}  // namespace detail

class ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Iterator = std::vector<OrderedDict<std::string, Tensor>::Item>::iterator;
  using ConstIterator = std::vector<OrderedDict<std::string, Tensor>::Item>::const_iterator;

  ParameterListImpl() = default;
  template <class... Tensors, class = std::enable_if_t<(sizeof...(Tensors) > 0) && !(std::is_base_of_v<Module, std::decay_t<Tensors>> || ...)>>
  explicit ParameterListImpl(Tensors&&... params) {
    parameters_.reserve(sizeof...(Tensors));
    (append(std::forward<Tensors>(params)), ...);
  }

  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::print_parameters(stream, "ParameterList", parameters_); }

  RLT_LAZY void append(Tensor&& param) {
    bool requires_grad = param.requires_grad();
    register_parameter(std::to_string(size()), std::move(param), requires_grad);
  }
  RLT_LAZY void append(const Tensor& param) { append(Tensor(param)); }
  RLT_LAZY void append(const OrderedDict<std::string, Tensor>::Item& item) { append(item.value()); }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& param : container) append(param);
  }
  template <class Container>
  ParameterListImpl& operator+=(const Container& other) {
    extend(other);
    return *this;
  }

  Iterator begin() { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator begin() const { return parameters_.begin(); }
  ConstIterator end() const { return parameters_.end(); }
  Tensor& at(size_t index) {
    TORCH_CHECK(index < size(), "Index out of range");
    return parameters_[std::to_string(index)];
  }
  const Tensor& at(size_t index) const { return const_cast<ParameterListImpl*>(this)->at(index); }
  Tensor& operator[](size_t index) { return at(index); }
  const Tensor& operator[](size_t index) const { return at(index); }
  size_t size() const noexcept { return parameters_.size(); }
  bool is_empty() const noexcept { return parameters_.is_empty(); }
};
TORCH_MODULE(ParameterList);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
