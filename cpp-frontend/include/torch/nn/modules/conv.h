// Convolutions.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/conv.h>
#include <torch/nn/functional/padding.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/common.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// Weight and bias of a convolution; fan-in and fan-out include the window of the weight.
template <size_t D, class Derived>
class ConvNdImpl : public Cloneable<Derived> {
 public:
  explicit ConvNdImpl(detail::ConvNdOptions<D> options_) : options(std::move(options_)) { ConvNdImpl::reset(); }

  void reset() override {
    if (!(options.in_channels() > 0 && options.groups() > 0 && options.out_channels() > 0)) {
      rlt::raise<Error>("in_channels, groups and out_channels must be a positive integer.");
    }
    if (options.in_channels() % options.groups() != 0) rlt::raise<Error>("in_channels must be divisible by groups");
    if (options.out_channels() % options.groups() != 0) rlt::raise<Error>("out_channels must be divisible by groups");
    set_padding();
    int64_t rows = options.out_channels(), columns = options.in_channels();
    if (options.transposed()) std::swap(rows, columns);
    int64_t size[D + 2] = {rows, columns / options.groups()};
    std::copy(options.kernel_size()->begin(), options.kernel_size()->end(), size + 2);
    weight = this->register_parameter("weight", torch::empty(size));
    bias = this->register_parameter("bias", options.bias() ? torch::empty({options.out_channels()}) : Tensor(), options.bias());
    reset_parameters();
  }
  void reset_parameters() {
    init::kaiming_uniform_(weight, std::sqrt(5));
    if (!bias.defined()) return;
    double bound = 1 / std::sqrt(static_cast<double>(std::get<0>(init::_calculate_fan_in_and_fan_out(weight))));
    init::uniform_(bias, -bound, bound);
  }
  void pretty_print(std::ostream& stream) const override {
    static constexpr const char* names[] = {"", "'valid'", "'same'"};
    detail::Words words(options.transposed() ? "torch::nn::ConvTranspose" : "torch::nn::Conv");
    words.add(static_cast<int64_t>(D)).add("d(").add(options.in_channels()).add(", ").add(options.out_channels());
    words.sizes("kernel_size", options.kernel_size()).sizes("stride", options.stride());
    if (size_t index = options.padding().index()) {
      words.named("padding", names[index]);
    } else {
      sizes_unless(words, "padding", *options.padding().template get_if<ExpandingArray<D>>(), 0);
    }
    sizes_unless(words, "dilation", options.dilation(), 1);
    sizes_unless(words, "output_padding", options.output_padding(), 0);
    if (options.groups() != 1) words.named("groups", options.groups());
    if (!options.bias()) words.named("bias", false);
    if (options.padding_mode().index() != 0) words.named("padding_mode", enumtype::get_enum_name(options.padding_mode()));
    words.close(stream);
  }

  detail::ConvNdOptions<D> options;
  Tensor weight;
  Tensor bias;

 protected:
  std::vector<int64_t> _reversed_padding_repeated_twice;

 private:
  static void sizes_unless(detail::Words& words, const char* name, const ExpandingArray<D>& sizes, int64_t usual) {
    if (*sizes != *ExpandingArray<D>(usual)) words.sizes(name, sizes);
  }
  void set_padding() {
    _reversed_padding_repeated_twice.assign(2 * D, 0);
    for (size_t i = 0; i < D; ++i) {
      int64_t* both = &_reversed_padding_repeated_twice[2 * i];
      if (const ExpandingArray<D>* numbers = options.padding().template get_if<ExpandingArray<D>>()) {
        both[0] = both[1] = (**numbers)[D - 1 - i];
      } else if (options.padding().index() == 2) {
        if ((*options.stride())[i] != 1) rlt::raise<Error>("padding='same' is not supported for strided convolutions");
        int64_t total = (*options.dilation())[i] * ((*options.kernel_size())[i] - 1);
        both[0] = total / 2;
        both[1] = total - total / 2;
      }
    }
  }
};

namespace detail {
/// forward of a convolution, in a template: programs without convolutions do not compile it.
template <size_t D, class Derived>
class ForwardConvNd : public ConvNdImpl<D, Derived> {
 public:
  using ConvNdImpl<D, Derived>::ConvNdImpl;

  Tensor forward(const Tensor& input) {
    const ConvNdOptions<D>& own = this->options;
    functional::ConvFuncOptions<D> with;
    with.bias(this->bias).stride(own.stride()).padding(own.padding()).dilation(own.dilation()).groups(own.groups());
    if (own.padding_mode().index() == 0) return convolve(input, with);
    functional::PadFuncOptions pad(this->_reversed_padding_repeated_twice);
    switch (own.padding_mode().index()) {
      case 1: pad.mode(torch::kReflect); break;
      case 2: pad.mode(torch::kReplicate); break;
      default: pad.mode(torch::kCircular);
    }
    return convolve(functional::pad(input, pad), with.padding(ExpandingArray<D>(0)));
  }

 private:
  Tensor convolve(const Tensor& input, const functional::ConvFuncOptions<D>& with) {
    if constexpr (D == 1) return functional::conv1d(input, this->weight, with);
    if constexpr (D == 2) return functional::conv2d(input, this->weight, with);
    if constexpr (D == 3) return functional::conv3d(input, this->weight, with);
  }
};
}  // namespace detail

/// Convolution of sequences.
class Conv1dImpl : public detail::ForwardConvNd<1, Conv1dImpl> {
 public:
  RLT_LAZY Conv1dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<1> kernel_size)
      : ForwardConvNd(Conv1dOptions(input_channels, output_channels, kernel_size)) {}
  RLT_LAZY explicit Conv1dImpl(Conv1dOptions options_) : ForwardConvNd(options_) {}
};
TORCH_MODULE(Conv1d);

/// Convolution of images.
class Conv2dImpl : public detail::ForwardConvNd<2, Conv2dImpl> {
 public:
  RLT_LAZY Conv2dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<2> kernel_size)
      : ForwardConvNd(Conv2dOptions(input_channels, output_channels, kernel_size)) {}
  RLT_LAZY explicit Conv2dImpl(Conv2dOptions options_) : ForwardConvNd(options_) {}
};
TORCH_MODULE(Conv2d);

/// Convolution of volumes.
class Conv3dImpl : public detail::ForwardConvNd<3, Conv3dImpl> {
 public:
  RLT_LAZY Conv3dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<3> kernel_size)
      : ForwardConvNd(Conv3dOptions(input_channels, output_channels, kernel_size)) {}
  RLT_LAZY explicit Conv3dImpl(Conv3dOptions options_) : ForwardConvNd(options_) {}
};
TORCH_MODULE(Conv3d);

/// Base of transposed convolutions: the gradient of a convolution with respect to its input, as a layer.
template <size_t D, class Derived>
class ConvTransposeNdImpl : public ConvNdImpl<D, Derived> {
 public:
  explicit ConvTransposeNdImpl(detail::ConvNdOptions<D> options_) : ConvNdImpl<D, Derived>(std::move(options_)) {
    TORCH_INTERNAL_ASSERT(this->options.padding().index() == 0, "ConvTranspose padding cannot be a string");
  }

  /// `output_size` selects one of the sizes that the convolution maps to the size of the input.
  Tensor forward(const Tensor& input, const std::optional<at::IntArrayRef>& output_size = std::nullopt) {
    functional::ConvTransposeFuncOptions<D> with = operator_options(input, output_size);
    if constexpr (D == 1) return functional::conv_transpose1d(input, this->weight, with);
    if constexpr (D == 2) return functional::conv_transpose2d(input, this->weight, with);
    if constexpr (D == 3) return functional::conv_transpose3d(input, this->weight, with);
  }

 protected:
  functional::ConvTransposeFuncOptions<D> operator_options(const Tensor& input, const std::optional<at::IntArrayRef>& output_size) {
    const detail::ConvNdOptions<D>& own = this->options;
    if (own.padding_mode().index() != 0) {
      detail::Words("Only `zeros` padding mode is supported for ConvTranspose").add(static_cast<int64_t>(D)).add("d").raise();
    }
    const ExpandingArray<D>& padding = *own.padding().template get_if<ExpandingArray<D>>();
    functional::ConvTransposeFuncOptions<D> with;
    with.bias(this->bias).stride(own.stride()).padding(padding).groups(own.groups()).dilation(own.dilation());
    with.output_padding(_output_padding(input, output_size, own.stride(), padding, own.kernel_size()));
    return with;
  }
  /// The output padding that gives the requested size.
  std::vector<int64_t> _output_padding(const Tensor& input, const std::optional<at::IntArrayRef>& output_size, const ExpandingArray<D>& stride,
                                       const ExpandingArray<D>& padding, const ExpandingArray<D>& kernel_size) {
    using detail::Words;
    if (!output_size) return std::vector<int64_t>(this->options.output_padding()->begin(), this->options.output_padding()->end());
    size_t dims = static_cast<size_t>(input.dim()) - 2;
    IntArrayRef wanted = *output_size;
    if (wanted.size() == dims + 2) wanted = wanted.slice(2);
    if (wanted.size() != dims) {
      Words("output_size must have ").add(rlt::length(dims)).add(" or ").add(rlt::length(dims + 2)).add(" elements (got ").add(rlt::length(wanted.size()))
          .add(")").raise();
    }
    std::vector<int64_t> least, most, missing;
    for (size_t i = 0; i < dims; ++i) {
      least.push_back((input.sizes()[i + 2] - 1) * (*stride)[i] - 2 * (*padding)[i] + (*kernel_size)[i]);
      most.push_back(least[i] + (*stride)[i] - 1);
      missing.push_back(wanted[i] - least[i]);
    }
    for (size_t i = 0; i < dims; ++i) {
      if (wanted[i] >= least[i] && wanted[i] <= most[i]) continue;
      Words words("requested an output size of ");
      words.add(wanted).add(", but valid sizes range from");
      for (int64_t size : least) words.add(" ").add(size);
      words.add(" to");
      for (int64_t size : most) words.add(" ").add(size);
      words.add(" (for an input of ").add(input.sizes().slice(2)).add(")").raise();
    }
    return missing;
  }

  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<at::IntArrayRef>())})
};

/// Transposed convolution of sequences.
class ConvTranspose1dImpl : public ConvTransposeNdImpl<1, ConvTranspose1dImpl> {
 public:
  RLT_LAZY ConvTranspose1dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<1> kernel_size)
      : ConvTransposeNdImpl(ConvTranspose1dOptions(input_channels, output_channels, kernel_size)) {}
  RLT_LAZY explicit ConvTranspose1dImpl(ConvTranspose1dOptions options_) : ConvTransposeNdImpl(options_) {}
};
TORCH_MODULE(ConvTranspose1d);

/// Transposed convolution of images.
class ConvTranspose2dImpl : public ConvTransposeNdImpl<2, ConvTranspose2dImpl> {
 public:
  RLT_LAZY ConvTranspose2dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<2> kernel_size)
      : ConvTransposeNdImpl(ConvTranspose2dOptions(input_channels, output_channels, kernel_size)) {}
  RLT_LAZY explicit ConvTranspose2dImpl(ConvTranspose2dOptions options_) : ConvTransposeNdImpl(options_) {}
};
TORCH_MODULE(ConvTranspose2d);

/// Transposed convolution of volumes.
class ConvTranspose3dImpl : public ConvTransposeNdImpl<3, ConvTranspose3dImpl> {
 public:
  RLT_LAZY ConvTranspose3dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<3> kernel_size)
      : ConvTransposeNdImpl(ConvTranspose3dOptions(input_channels, output_channels, kernel_size)) {}
  RLT_LAZY explicit ConvTranspose3dImpl(ConvTranspose3dOptions options_) : ConvTransposeNdImpl(options_) {}
};
TORCH_MODULE(ConvTranspose3d);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
