// Padding layers.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/padding.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
template <class Mode>
Tensor pad(const Tensor& input, IntArrayRef padding, Mode mode, double value) {
  return functional::pad(input, functional::PadFuncOptions(padding.vec()).mode(mode).value(value));
}
}  // namespace detail

/// Pads by reflection at the edges.
template <size_t D, class Derived>
class ReflectionPadImpl : public detail::WithOptions<Derived, ReflectionPadOptions<D>> {
 public:
  using detail::WithOptions<Derived, ReflectionPadOptions<D>>::WithOptions;
  ReflectionPadImpl(ExpandingArray<D * 2> padding) : ReflectionPadImpl(ReflectionPadOptions<D>(padding)) {}
  Tensor forward(const Tensor& input) { return detail::pad(input, this->options.padding(), torch::kReflect, 0); }
  void pretty_print(std::ostream& stream) const override {
    detail::Words("torch::nn::ReflectionPad").add(static_cast<int64_t>(D)).add("d(").named("padding", IntArrayRef(this->options.padding())).close(stream);
  }
};
class ReflectionPad1dImpl : public ReflectionPadImpl<1, ReflectionPad1dImpl> {
 public:
  using ReflectionPadImpl<1, ReflectionPad1dImpl>::ReflectionPadImpl;
};
TORCH_MODULE(ReflectionPad1d);
class ReflectionPad2dImpl : public ReflectionPadImpl<2, ReflectionPad2dImpl> {
 public:
  using ReflectionPadImpl<2, ReflectionPad2dImpl>::ReflectionPadImpl;
};
TORCH_MODULE(ReflectionPad2d);
class ReflectionPad3dImpl : public ReflectionPadImpl<3, ReflectionPad3dImpl> {
 public:
  using ReflectionPadImpl<3, ReflectionPad3dImpl>::ReflectionPadImpl;
};
TORCH_MODULE(ReflectionPad3d);

/// Pads by repeating the edges.
template <size_t D, class Derived>
class ReplicationPadImpl : public detail::WithOptions<Derived, ReplicationPadOptions<D>> {
 public:
  using detail::WithOptions<Derived, ReplicationPadOptions<D>>::WithOptions;
  ReplicationPadImpl(ExpandingArray<D * 2> padding) : ReplicationPadImpl(ReplicationPadOptions<D>(padding)) {}
  Tensor forward(const Tensor& input) { return detail::pad(input, this->options.padding(), torch::kReplicate, 0); }
  void pretty_print(std::ostream& stream) const override {
    detail::Words("torch::nn::ReplicationPad").add(static_cast<int64_t>(D)).add("d(").named("padding", IntArrayRef(this->options.padding())).close(stream);
  }
};
class ReplicationPad1dImpl : public ReplicationPadImpl<1, ReplicationPad1dImpl> {
 public:
  using ReplicationPadImpl<1, ReplicationPad1dImpl>::ReplicationPadImpl;
};
TORCH_MODULE(ReplicationPad1d);
class ReplicationPad2dImpl : public ReplicationPadImpl<2, ReplicationPad2dImpl> {
 public:
  using ReplicationPadImpl<2, ReplicationPad2dImpl>::ReplicationPadImpl;
};
TORCH_MODULE(ReplicationPad2d);
class ReplicationPad3dImpl : public ReplicationPadImpl<3, ReplicationPad3dImpl> {
 public:
  using ReplicationPadImpl<3, ReplicationPad3dImpl>::ReplicationPadImpl;
};
TORCH_MODULE(ReplicationPad3d);

/// Pads with zeros.
template <size_t D, class Derived>
class ZeroPadImpl : public detail::WithOptions<Derived, ZeroPadOptions<D>> {
 public:
  using detail::WithOptions<Derived, ZeroPadOptions<D>>::WithOptions;
  ZeroPadImpl(ExpandingArray<D * 2> padding) : ZeroPadImpl(ZeroPadOptions<D>(padding)) {}
  Tensor forward(const Tensor& input) { return detail::pad(input, this->options.padding(), torch::kConstant, 0); }
  void pretty_print(std::ostream& stream) const override {
    detail::Words("torch::nn::ZeroPad").add(static_cast<int64_t>(D)).add("d(").named("padding", IntArrayRef(this->options.padding())).close(stream);
  }
};
class ZeroPad1dImpl : public ZeroPadImpl<1, ZeroPad1dImpl> {
 public:
  using ZeroPadImpl<1, ZeroPad1dImpl>::ZeroPadImpl;
};
TORCH_MODULE(ZeroPad1d);
class ZeroPad2dImpl : public ZeroPadImpl<2, ZeroPad2dImpl> {
 public:
  using ZeroPadImpl<2, ZeroPad2dImpl>::ZeroPadImpl;
};
TORCH_MODULE(ZeroPad2d);
class ZeroPad3dImpl : public ZeroPadImpl<3, ZeroPad3dImpl> {
 public:
  using ZeroPadImpl<3, ZeroPad3dImpl>::ZeroPadImpl;
};
TORCH_MODULE(ZeroPad3d);

/// Pads with a constant.
template <size_t D, class Derived>
class ConstantPadImpl : public detail::WithOptions<Derived, ConstantPadOptions<D>> {
 public:
  using detail::WithOptions<Derived, ConstantPadOptions<D>>::WithOptions;
  ConstantPadImpl(ExpandingArray<D * 2> padding, double value) : ConstantPadImpl(ConstantPadOptions<D>(padding, value)) {}
  Tensor forward(const Tensor& input) { return detail::pad(input, this->options.padding(), torch::kConstant, this->options.value()); }
  void pretty_print(std::ostream& stream) const override {
    detail::Words("torch::nn::ConstantPad").add(static_cast<int64_t>(D)).add("d(").named("padding", IntArrayRef(this->options.padding())).named("value", this->options.value()).close(stream);
  }
};
class ConstantPad1dImpl : public ConstantPadImpl<1, ConstantPad1dImpl> {
 public:
  using ConstantPadImpl<1, ConstantPad1dImpl>::ConstantPadImpl;
};
TORCH_MODULE(ConstantPad1d);
class ConstantPad2dImpl : public ConstantPadImpl<2, ConstantPad2dImpl> {
 public:
  using ConstantPadImpl<2, ConstantPad2dImpl>::ConstantPadImpl;
};
TORCH_MODULE(ConstantPad2d);
class ConstantPad3dImpl : public ConstantPadImpl<3, ConstantPad3dImpl> {
 public:
  using ConstantPadImpl<3, ConstantPad3dImpl>::ConstantPadImpl;
};
TORCH_MODULE(ConstantPad3d);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
