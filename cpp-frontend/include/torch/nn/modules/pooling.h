// Pooling.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/pooling.h>
#include <torch/nn/modules/common.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// The mean of each window.
template <size_t D, class Derived>
class AvgPoolImpl : public detail::WithOptions<Derived, AvgPoolOptions<D>> {
 public:
  using detail::WithOptions<Derived, AvgPoolOptions<D>>::WithOptions;
  AvgPoolImpl(ExpandingArray<D> kernel_size) : AvgPoolImpl(AvgPoolOptions<D>(kernel_size)) {}
  void pretty_print(std::ostream& stream) const override {
    const auto& own = this->options;
    detail::Words("torch::nn::AvgPool").add(static_cast<int64_t>(D)).add("d(").sizes("kernel_size", own.kernel_size()).sizes("stride", own.stride())
        .sizes("padding", own.padding()).close(stream);
  }
};

class AvgPool1dImpl : public AvgPoolImpl<1, AvgPool1dImpl> {
 public:
  using AvgPoolImpl<1, AvgPool1dImpl>::AvgPoolImpl;
  Tensor forward(const Tensor& input) { return functional::avg_pool1d(input, options); }
};
TORCH_MODULE(AvgPool1d);

class AvgPool2dImpl : public AvgPoolImpl<2, AvgPool2dImpl> {
 public:
  using AvgPoolImpl<2, AvgPool2dImpl>::AvgPoolImpl;
  Tensor forward(const Tensor& input) { return functional::avg_pool2d(input, options); }
};
TORCH_MODULE(AvgPool2d);

class AvgPool3dImpl : public AvgPoolImpl<3, AvgPool3dImpl> {
 public:
  using AvgPoolImpl<3, AvgPool3dImpl>::AvgPoolImpl;
  Tensor forward(const Tensor& input) { return functional::avg_pool3d(input, options); }
};
TORCH_MODULE(AvgPool3d);

/// The maximum of each window.
template <size_t D, class Derived>
class MaxPoolImpl : public detail::WithOptions<Derived, MaxPoolOptions<D>> {
 public:
  using detail::WithOptions<Derived, MaxPoolOptions<D>>::WithOptions;
  MaxPoolImpl(ExpandingArray<D> kernel_size) : MaxPoolImpl(MaxPoolOptions<D>(kernel_size)) {}
  void pretty_print(std::ostream& stream) const override {
    const auto& own = this->options;
    detail::Words("torch::nn::MaxPool").add(static_cast<int64_t>(D)).add("d(").sizes("kernel_size", own.kernel_size()).sizes("stride", own.stride())
        .sizes("padding", own.padding()).sizes("dilation", own.dilation()).named("ceil_mode", own.ceil_mode()).close(stream);
  }
};

class MaxPool1dImpl : public MaxPoolImpl<1, MaxPool1dImpl> {
 public:
  using MaxPoolImpl<1, MaxPool1dImpl>::MaxPoolImpl;
  Tensor forward(const Tensor& input) { return functional::max_pool1d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) { return functional::max_pool1d_with_indices(input, options); }
};
TORCH_MODULE(MaxPool1d);

class MaxPool2dImpl : public MaxPoolImpl<2, MaxPool2dImpl> {
 public:
  using MaxPoolImpl<2, MaxPool2dImpl>::MaxPoolImpl;
  Tensor forward(const Tensor& input) { return functional::max_pool2d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) { return functional::max_pool2d_with_indices(input, options); }
};
TORCH_MODULE(MaxPool2d);

class MaxPool3dImpl : public MaxPoolImpl<3, MaxPool3dImpl> {
 public:
  using MaxPoolImpl<3, MaxPool3dImpl>::MaxPoolImpl;
  Tensor forward(const Tensor& input) { return functional::max_pool3d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) { return functional::max_pool3d_with_indices(input, options); }
};
TORCH_MODULE(MaxPool3d);

namespace detail {
/// `5`, or `[5, None]`.
inline void add_sizes(Words& words, const ExpandingArray<1>& sizes) { words.sizes("output_size", sizes); }
inline void add_sizes(Words& words, c10::ArrayRef<std::optional<int64_t>> sizes) {
  words.add("output_size=[");
  for (size_t i = 0; i < sizes.size(); ++i) words.add(i ? ", " : "").add(sizes[i] ? std::to_string(*sizes[i]) : "None");
  words.add("]");
}
}  // namespace detail

/// The maximum of each of as many windows as the output has elements.
template <size_t D, class output_size_t, class Derived>
class AdaptiveMaxPoolImpl : public detail::WithOptions<Derived, AdaptiveMaxPoolOptions<output_size_t>> {
 public:
  using detail::WithOptions<Derived, AdaptiveMaxPoolOptions<output_size_t>>::WithOptions;
  AdaptiveMaxPoolImpl(output_size_t output_size) : AdaptiveMaxPoolImpl(AdaptiveMaxPoolOptions<output_size_t>(output_size)) {}
  void pretty_print(std::ostream& stream) const override {
    detail::Words words("torch::nn::AdaptiveMaxPool");
    detail::add_sizes(words.add(static_cast<int64_t>(D)).add("d("), this->options.output_size());
    words.close(stream);
  }
};

class AdaptiveMaxPool1dImpl : public AdaptiveMaxPoolImpl<1, ExpandingArray<1>, AdaptiveMaxPool1dImpl> {
 public:
  using AdaptiveMaxPoolImpl<1, ExpandingArray<1>, AdaptiveMaxPool1dImpl>::AdaptiveMaxPoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_max_pool1d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) { return functional::adaptive_max_pool1d_with_indices(input, options); }
};
TORCH_MODULE(AdaptiveMaxPool1d);

class AdaptiveMaxPool2dImpl : public AdaptiveMaxPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveMaxPool2dImpl> {
 public:
  using AdaptiveMaxPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveMaxPool2dImpl>::AdaptiveMaxPoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_max_pool2d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) { return functional::adaptive_max_pool2d_with_indices(input, options); }
};
TORCH_MODULE(AdaptiveMaxPool2d);

class AdaptiveMaxPool3dImpl : public AdaptiveMaxPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveMaxPool3dImpl> {
 public:
  using AdaptiveMaxPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveMaxPool3dImpl>::AdaptiveMaxPoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_max_pool3d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) { return functional::adaptive_max_pool3d_with_indices(input, options); }
};
TORCH_MODULE(AdaptiveMaxPool3d);

/// The mean of each of as many windows as the output has elements.
template <size_t D, class output_size_t, class Derived>
class AdaptiveAvgPoolImpl : public detail::WithOptions<Derived, AdaptiveAvgPoolOptions<output_size_t>> {
 public:
  using detail::WithOptions<Derived, AdaptiveAvgPoolOptions<output_size_t>>::WithOptions;
  AdaptiveAvgPoolImpl(output_size_t output_size) : AdaptiveAvgPoolImpl(AdaptiveAvgPoolOptions<output_size_t>(output_size)) {}
  void pretty_print(std::ostream& stream) const override {
    detail::Words words("torch::nn::AdaptiveAvgPool");
    detail::add_sizes(words.add(static_cast<int64_t>(D)).add("d("), this->options.output_size());
    words.close(stream);
  }
};

class AdaptiveAvgPool1dImpl : public AdaptiveAvgPoolImpl<1, ExpandingArray<1>, AdaptiveAvgPool1dImpl> {
 public:
  using AdaptiveAvgPoolImpl<1, ExpandingArray<1>, AdaptiveAvgPool1dImpl>::AdaptiveAvgPoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_avg_pool1d(input, options); }
};
TORCH_MODULE(AdaptiveAvgPool1d);

class AdaptiveAvgPool2dImpl : public AdaptiveAvgPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveAvgPool2dImpl> {
 public:
  using AdaptiveAvgPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveAvgPool2dImpl>::AdaptiveAvgPoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_avg_pool2d(input, options); }
};
TORCH_MODULE(AdaptiveAvgPool2d);

class AdaptiveAvgPool3dImpl : public AdaptiveAvgPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveAvgPool3dImpl> {
 public:
  using AdaptiveAvgPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveAvgPool3dImpl>::AdaptiveAvgPoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_avg_pool3d(input, options); }
};
TORCH_MODULE(AdaptiveAvgPool3d);

/// Writes elements to the positions at which MaxPool found them, and zeros elsewhere.
template <size_t D, class Derived>
class MaxUnpoolImpl : public detail::WithOptions<Derived, MaxUnpoolOptions<D>> {
 public:
  using detail::WithOptions<Derived, MaxUnpoolOptions<D>>::WithOptions;
  MaxUnpoolImpl(ExpandingArray<D> kernel_size) : MaxUnpoolImpl(MaxUnpoolOptions<D>(kernel_size)) {}
  void pretty_print(std::ostream& stream) const override {
    const auto& own = this->options;
    detail::Words("torch::nn::MaxUnpool").add(static_cast<int64_t>(D)).add("d(").sizes("kernel_size", own.kernel_size()).sizes("stride", own.stride())
        .sizes("padding", own.padding()).close(stream);
  }

  Tensor forward(const Tensor& input, const Tensor& indices, const std::optional<std::vector<int64_t>>& output_size = std::nullopt) {
    const auto& own = this->options;
    functional::MaxUnpoolFuncOptions<D> with(own.kernel_size());
    with.stride(own.stride()).padding(own.padding()).output_size(output_size);
    if constexpr (D == 1) return functional::max_unpool1d(input, indices, with);
    if constexpr (D == 2) return functional::max_unpool2d(input, indices, with);
    if constexpr (D == 3) return functional::max_unpool3d(input, indices, with);
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(std::optional<std::vector<int64_t>>())})
};

class MaxUnpool1dImpl : public MaxUnpoolImpl<1, MaxUnpool1dImpl> {
 public:
  using MaxUnpoolImpl<1, MaxUnpool1dImpl>::MaxUnpoolImpl;
};
TORCH_MODULE(MaxUnpool1d);

class MaxUnpool2dImpl : public MaxUnpoolImpl<2, MaxUnpool2dImpl> {
 public:
  using MaxUnpoolImpl<2, MaxUnpool2dImpl>::MaxUnpoolImpl;
};
TORCH_MODULE(MaxUnpool2d);

class MaxUnpool3dImpl : public MaxUnpoolImpl<3, MaxUnpool3dImpl> {
 public:
  using MaxUnpoolImpl<3, MaxUnpool3dImpl>::MaxUnpoolImpl;
};
TORCH_MODULE(MaxUnpool3d);

namespace detail {
/// Fractional max pooling: the maximum of each window at a random position.
template <size_t D, class Derived>
class FractionalMaxPoolNd : public WithOptions<Derived, FractionalMaxPoolOptions<D>> {
 public:
  FractionalMaxPoolNd(ExpandingArray<D> kernel_size) : FractionalMaxPoolNd(FractionalMaxPoolOptions<D>(kernel_size)) {}
  explicit FractionalMaxPoolNd(FractionalMaxPoolOptions<D> options_)
      : WithOptions<Derived, FractionalMaxPoolOptions<D>>(std::move(options_)) {
    FractionalMaxPoolNd::reset();
  }
  void reset() override {
    const auto& own = this->options;
    _random_samples = this->register_buffer("_random_samples", own._random_samples());
    if (!own.output_size() && !own.output_ratio()) {
      Words("FractionalMaxPool").add(static_cast<int64_t>(D)).add("d requires specifying either an output size, or a pooling ratio").raise();
    }
    if (own.output_size() && own.output_ratio()) rlt::raise<Error>("only one of output_size and output_ratio may be specified");
    if (!own.output_ratio()) return;
    c10::ArrayRef<double> ratio = *own.output_ratio();
    for (double each : ratio) {
      if (!(each > 0 && each < 1)) Words("output_ratio must be between 0 and 1 (got ").add(ratio).add(")").raise();
    }
  }
  void pretty_print(std::ostream& stream) const override {
    Words("torch::nn::FractionalMaxPool").add(static_cast<int64_t>(D)).add("d(").close(stream);
  }

  Tensor forward(const Tensor& input) { return std::get<0>(forward_with_indices(input)); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) {
    FractionalMaxPoolOptions<D> with(this->options);
    with._random_samples(_random_samples);
    if constexpr (D == 2) return functional::fractional_max_pool2d_with_indices(input, with);
    if constexpr (D == 3) return functional::fractional_max_pool3d_with_indices(input, with);
  }

  Tensor _random_samples;
};
}  // namespace detail

class FractionalMaxPool2dImpl : public detail::FractionalMaxPoolNd<2, FractionalMaxPool2dImpl> {
 public:
  using detail::FractionalMaxPoolNd<2, FractionalMaxPool2dImpl>::FractionalMaxPoolNd;
};
TORCH_MODULE(FractionalMaxPool2d);

class FractionalMaxPool3dImpl : public detail::FractionalMaxPoolNd<3, FractionalMaxPool3dImpl> {
 public:
  using detail::FractionalMaxPoolNd<3, FractionalMaxPool3dImpl>::FractionalMaxPoolNd;
};
TORCH_MODULE(FractionalMaxPool3d);

/// The norm of each window.
template <size_t D, class Derived>
class LPPoolImpl : public detail::WithOptions<Derived, LPPoolOptions<D>> {
 public:
  using detail::WithOptions<Derived, LPPoolOptions<D>>::WithOptions;
  LPPoolImpl(double norm_type, ExpandingArray<D> kernel_size) : LPPoolImpl(LPPoolOptions<D>(norm_type, kernel_size)) {}
  void pretty_print(std::ostream& stream) const override {
    const auto& own = this->options;
    detail::Words("torch::nn::LPPool").add(static_cast<int64_t>(D)).add("d(").named("norm_type", own.norm_type()).sizes("kernel_size", own.kernel_size())
        .sizes("stride", own.stride()).named("ceil_mode", own.ceil_mode()).close(stream);
  }
};

class LPPool1dImpl : public LPPoolImpl<1, LPPool1dImpl> {
 public:
  using LPPoolImpl<1, LPPool1dImpl>::LPPoolImpl;
  Tensor forward(const Tensor& input) { return functional::lp_pool1d(input, options); }
};
TORCH_MODULE(LPPool1d);

class LPPool2dImpl : public LPPoolImpl<2, LPPool2dImpl> {
 public:
  using LPPoolImpl<2, LPPool2dImpl>::LPPoolImpl;
  Tensor forward(const Tensor& input) { return functional::lp_pool2d(input, options); }
};
TORCH_MODULE(LPPool2d);

class LPPool3dImpl : public LPPoolImpl<3, LPPool3dImpl> {
 public:
  using LPPoolImpl<3, LPPool3dImpl>::LPPoolImpl;
  Tensor forward(const Tensor& input) { return functional::lp_pool3d(input, options); }
};
TORCH_MODULE(LPPool3d);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
