// Cloneable: a Module that supports deep copies and reset().
#pragma once

#include <torch/nn/module.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

template <class Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  /// Creates parameters and submodules with initial values. Called by constructors and by clone.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    c10::NoGradGuard guard;
    Derived* copy = new Derived(static_cast<const Derived&>(*this));
    // Owned as a Module: one kind of reference count serves every class.
    std::shared_ptr<Module> owner(static_cast<Module*>(copy));
    owner->forget_registrations();
    copy->reset();
    owner->copy_values(*this, device);
    return owner;
  }
  const void* type_token() const override { return detail::type_token<Derived>(); }

 private:
  void clone_(Module& other, const std::optional<Device>& device) final {
    // The parent's reset() determined the class of the child.
    std::shared_ptr<Module> copy = other.clone(device);
    Derived* typed = copy->as<Derived>();
    if (!typed) {
      rlt::raise<Error>("Attempted to clone submodule, but it is of a different type than the submodule it was to be cloned into");
    }
    static_cast<Derived&>(*this) = *typed;
  }
};

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
