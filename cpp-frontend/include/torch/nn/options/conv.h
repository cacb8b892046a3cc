// Options of convolutions.
#pragma once

#include <torch/arg.h>
#include <torch/expanding_array.h>
#include <torch/types.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
using conv_padding_mode_t = enumtype::OneOf<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
/// Numbers, no padding (kValid), or padding that preserves the size (kSame).
template <size_t D>
class conv_padding_t : public enumtype::VariantLike<conv_padding_t<D>> {
 public:
  using Variant = std::variant<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>;

  conv_padding_t(enumtype::kValid) : numbers_(0), index_(1) {}
  conv_padding_t(enumtype::kSame) : numbers_(0), index_(2) {}
  template <class Numbers, std::enable_if_t<std::is_convertible_v<Numbers, ExpandingArray<D>>, bool> = true>
  conv_padding_t(const Numbers& numbers) : numbers_(numbers) {}
  template <class Other, std::enable_if_t<std::is_same_v<Other, Variant>, bool> = false>
  conv_padding_t(const Other& choice) : numbers_(choice.index() ? 0 : std::get<0>(choice)), index_(choice.index()) {}
  operator Variant() const {
    if (index_ == 0) return numbers_;
    if (index_ == 1) return torch::kValid;
    return torch::kSame;
  }

  size_t index() const noexcept { return index_; }
  /// The numbers or the enumerator, if that is selected, else nullptr.
  template <class Alternative>
  const Alternative* get_if() const noexcept {
    if constexpr (std::is_same_v<Alternative, ExpandingArray<D>>) {
      return index_ == 0 ? &numbers_ : nullptr;
    } else {
      constexpr size_t wanted = std::is_same_v<Alternative, enumtype::kSame> ? 2 : 1;
      static_assert(wanted == 2 || std::is_same_v<Alternative, enumtype::kValid>, "not an alternative of a padding");
      return index_ == wanted ? &enumtype::enumerator<Alternative> : nullptr;
    }
  }

 private:
  ExpandingArray<D> numbers_;
  size_t index_ = 0;
};
}  // namespace detail

template <size_t D>
struct ConvOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  using padding_t = detail::conv_padding_t<D>;
  ConvOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  TORCH_ARG(int64_t, in_channels);
  TORCH_ARG(int64_t, out_channels);
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride) = 1;
  TORCH_ARG(padding_t, padding) = ExpandingArray<D>(0);

 public:
  decltype(auto) padding(std::initializer_list<int64_t> list) { return padding(padding_t(ExpandingArray<D>(list))); }
  /// The distance between the elements that a kernel reads.
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
  /// Number of groups of channels, which are convolved separately.
  TORCH_ARG(int64_t, groups) = 1;
  TORCH_ARG(bool, bias) = true;
  TORCH_ARG(padding_mode_t, padding_mode) = torch::kZeros;
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

template <size_t D>
struct ConvTransposeOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  ConvTransposeOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  TORCH_ARG(int64_t, in_channels);
  TORCH_ARG(int64_t, out_channels);
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride) = 1;
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  /// Added to one side of the output's size.
  TORCH_ARG(ExpandingArray<D>, output_padding) = 0;
  TORCH_ARG(int64_t, groups) = 1;
  TORCH_ARG(bool, bias) = true;
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
  TORCH_ARG(padding_mode_t, padding_mode) = torch::kZeros;
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

namespace detail {
/// Options common to all convolutions.
template <size_t D>
struct ConvNdOptions {
  using padding_t = conv_padding_t<D>;
  ConvNdOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  ConvNdOptions(const ConvOptions<D>& from)
      : in_channels_(from.in_channels()), out_channels_(from.out_channels()), kernel_size_(from.kernel_size()), stride_(from.stride()),
        padding_(from.padding()), dilation_(from.dilation()), groups_(from.groups()), bias_(from.bias()), padding_mode_(from.padding_mode()) {}
  ConvNdOptions(const ConvTransposeOptions<D>& from)
      : in_channels_(from.in_channels()), out_channels_(from.out_channels()), kernel_size_(from.kernel_size()), stride_(from.stride()),
        padding_(from.padding()), dilation_(from.dilation()), transposed_(true), output_padding_(from.output_padding()), groups_(from.groups()),
        bias_(from.bias()), padding_mode_(from.padding_mode()) {}
  TORCH_ARG(int64_t, in_channels);
  TORCH_ARG(int64_t, out_channels);
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride) = 1;
  TORCH_ARG(padding_t, padding) = ExpandingArray<D>(0);

 public:
  decltype(auto) padding(std::initializer_list<int64_t> list) { return padding(padding_t(ExpandingArray<D>(list))); }
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
  TORCH_ARG(bool, transposed) = false;
  TORCH_ARG(ExpandingArray<D>, output_padding) = 0;
  TORCH_ARG(int64_t, groups) = 1;
  TORCH_ARG(bool, bias) = true;
  TORCH_ARG(conv_padding_mode_t, padding_mode) = torch::kZeros;
};
}  // namespace detail

namespace functional {
template <size_t D>
struct ConvFuncOptions {
  using padding_t = torch::nn::detail::conv_padding_t<D>;
  TORCH_ARG(torch::Tensor, bias) = Tensor();
  TORCH_ARG(ExpandingArray<D>, stride) = 1;
  TORCH_ARG(padding_t, padding) = ExpandingArray<D>(0);

 public:
  decltype(auto) padding(std::initializer_list<int64_t> list) { return padding(padding_t(ExpandingArray<D>(list))); }
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
  TORCH_ARG(int64_t, groups) = 1;
};
using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;

template <size_t D>
struct ConvTransposeFuncOptions {
  TORCH_ARG(torch::Tensor, bias) = Tensor();
  TORCH_ARG(ExpandingArray<D>, stride) = 1;
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  TORCH_ARG(ExpandingArray<D>, output_padding) = 0;
  TORCH_ARG(int64_t, groups) = 1;
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;
}  // namespace functional

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
