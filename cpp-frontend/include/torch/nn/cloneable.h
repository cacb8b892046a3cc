// Cloneable: a Module that can be copied deeply and started afresh.
#pragma once

#include <torch/nn/module.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

template <class Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  /// Makes parameters and submodules, with fresh values. Called by constructors and by clone.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    c10::NoGradGuard guard;
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    Module& fresh = *copy;
    fresh.parameters_.clear();
    fresh.buffers_.clear();
    fresh.children_.clear();
    copy->reset();
    check_size("parameters", fresh.parameters_.size(), parameters_.size());
    for (const auto& parameter : named_parameters(/*recurse=*/false)) {
      fresh.parameters_[parameter.key()].set_data(copied(parameter.value(), device));
    }
    check_size("buffers", fresh.buffers_.size(), buffers_.size());
    for (const auto& buffer : named_buffers(/*recurse=*/false)) {
      fresh.buffers_[buffer.key()].set_data(copied(buffer.value(), device));
    }
    check_size("child modules", fresh.children_.size(), children_.size());
    for (const auto& child : children_) fresh.children_[child.key()]->clone_(*child.value(), device);
    return copy;
  }
  const void* type_token() const override { return detail::type_token<Derived>(); }

 private:
  void clone_(Module& other, const std::optional<Device>& device) final {
    // A child has the class that the parent's reset() gave it.
    auto copy = std::static_pointer_cast<Derived>(other.clone(device));
    if (!copy || !other.as<Derived>()) {
      rlt::raise<Error>("Attempted to clone submodule, but it is of a different type than the submodule it was to be cloned into");
    }
    static_cast<Derived&>(*this) = *copy;
  }
  static Tensor copied(const Tensor& tensor, const std::optional<Device>& device) {
    Tensor copy = tensor.detach().clone();
    return device ? copy.to(TensorOptions(*device)) : copy;
  }
  static void check_size(const char* what, size_t cloned, size_t expected) {
    if (cloned == expected) return;
    rlt::raise<Error>(std::string("The cloned module does not have the same number of ") + what +
                      " as the original module after calling reset(). Are you sure you called register_parameter(), register_buffer() or "
                      "register_module() inside reset() and not the constructor?");
  }
};

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
