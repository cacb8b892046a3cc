// ParameterDict: parameters by name, in the order of insertion.
#pragma once

#include <torch/nn/modules/container/parameterlist.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

class ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterDictImpl() = default;
  RLT_LAZY explicit ParameterDictImpl(const OrderedDict<std::string, Tensor>& params) { parameters_ = params; }

  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::print_parameters(stream, "ParameterDict", parameters_); }

  RLT_LAZY Tensor& insert(const std::string& key, const Tensor& param) { return register_parameter(key, param, param.requires_grad()); }
  RLT_LAZY Tensor pop(const std::string& key) {
    Tensor param = parameters_[key];
    parameters_.erase(key);
    return param;
  }
  /// Replaces existing parameters.
  template <class Container>
  void update(const Container& container) {
    for (auto& item : container) parameters_[item.key()] = item.value();
  }
  void clear() { parameters_.clear(); }

  RLT_LAZY std::vector<std::string> keys() const { return parameters_.keys(); }
  RLT_LAZY std::vector<Tensor> values() const { return parameters_.values(); }
  Iterator begin() { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator begin() const { return parameters_.begin(); }
  ConstIterator end() const { return parameters_.end(); }
  size_t size() const noexcept { return parameters_.size(); }
  bool empty() const noexcept { return parameters_.is_empty(); }
  bool contains(const std::string& key) const noexcept { return parameters_.contains(key); }
  Tensor& get(const std::string& key) { return parameters_[key]; }
  const Tensor& get(const std::string& key) const { return parameters_[key]; }
  Tensor& operator[](const std::string& key) { return parameters_[key]; }
  const Tensor& operator[](const std::string& key) const { return parameters_[key]; }
};
TORCH_MODULE(ParameterDict);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
