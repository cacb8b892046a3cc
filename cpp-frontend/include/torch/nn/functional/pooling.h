// Functional forms of pooling.
#pragma once

#include <torch/nn/detail/words.h>
#include <torch/nn/options/pooling.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

inline Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options) {
  return torch::avg_pool1d(input, options.kernel_size(), options.stride(), options.padding(), options.ceil_mode(), options.count_include_pad());
}
inline Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options) {
  return torch::avg_pool2d(input, options.kernel_size(), options.stride(), options.padding(), options.ceil_mode(), options.count_include_pad(), options.divisor_override());
}
inline Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options) {
  return torch::avg_pool3d(input, options.kernel_size(), options.stride(), options.padding(), options.ceil_mode(), options.count_include_pad(), options.divisor_override());
}

inline Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options) {
  return torch::max_pool1d(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), options.ceil_mode());
}
inline std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input, const MaxPool1dFuncOptions& options) {
  return torch::max_pool1d_with_indices(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), options.ceil_mode());
}
inline Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options) {
  return torch::max_pool2d(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), options.ceil_mode());
}
inline std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, const MaxPool2dFuncOptions& options) {
  return torch::max_pool2d_with_indices(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), options.ceil_mode());
}
inline Tensor max_pool3d(const Tensor& input, const MaxPool3dFuncOptions& options) {
  return torch::max_pool3d(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), options.ceil_mode());
}
inline std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input, const MaxPool3dFuncOptions& options) {
  return torch::max_pool3d_with_indices(input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), options.ceil_mode());
}

namespace detail {
/// The requested sizes; a missing one is the size of the input.
inline std::vector<int64_t> sizes_or_own(c10::ArrayRef<std::optional<int64_t>> sizes, const Tensor& input) {
  IntArrayRef own = input.sizes();
  if (own.size() <= sizes.size()) nn::detail::Words("Input dimension should be at least ").add(rlt::length(sizes.size() + 1)).raise();
  own = own.slice(own.size() - sizes.size());
  std::vector<int64_t> result(own.begin(), own.end());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i]) result[i] = *sizes[i];
  }
  return result;
}
}  // namespace detail

inline Tensor adaptive_avg_pool1d(const Tensor& input, const AdaptiveAvgPool1dFuncOptions& options) {
  return torch::adaptive_avg_pool1d(input, options.output_size());
}
inline std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options) {
  return torch::adaptive_max_pool1d(input, options.output_size());
}
inline Tensor adaptive_max_pool1d(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options) {
  return std::get<0>(adaptive_max_pool1d_with_indices(input, options));
}
inline Tensor adaptive_avg_pool2d(const Tensor& input, const AdaptiveAvgPool2dFuncOptions& options) {
  return torch::adaptive_avg_pool2d(input, detail::sizes_or_own(options.output_size(), input));
}
inline std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options) {
  return torch::adaptive_max_pool2d(input, detail::sizes_or_own(options.output_size(), input));
}
inline Tensor adaptive_max_pool2d(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options) {
  return std::get<0>(adaptive_max_pool2d_with_indices(input, options));
}
inline Tensor adaptive_avg_pool3d(const Tensor& input, const AdaptiveAvgPool3dFuncOptions& options) {
  return torch::adaptive_avg_pool3d(input, detail::sizes_or_own(options.output_size(), input));
}
inline std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options) {
  return torch::adaptive_max_pool3d(input, detail::sizes_or_own(options.output_size(), input));
}
inline Tensor adaptive_max_pool3d(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options) {
  return std::get<0>(adaptive_max_pool3d_with_indices(input, options));
}

/// The size that pools to the size of the input; `output_size` selects one of the possible sizes.
inline std::vector<int64_t> _unpool_output_size(const Tensor& input, const IntArrayRef& kernel_size, const IntArrayRef& stride, const IntArrayRef& padding,
                                                const std::optional<std::vector<int64_t>>& output_size) {
  using nn::detail::Words;
  size_t dims = kernel_size.size();
  IntArrayRef sizes = input.sizes();
  std::vector<int64_t> usual(dims);
  for (size_t i = 0; i < dims; ++i) usual[i] = (sizes[sizes.size() - dims + i] - 1) * stride[i] + kernel_size[i] - 2 * padding[i];
  if (!output_size) return usual;
  IntArrayRef wanted = *output_size;
  if (wanted.size() == dims + 2) wanted = wanted.slice(2);
  if (wanted.size() != dims) {
    Words("output_size should be a sequence containing ").add(rlt::length(dims)).add(" or ").add(rlt::length(dims + 2)).add(" elements, but it has a length of '")
        .add(rlt::length(wanted.size())).add("'").raise();
  }
  for (size_t i = 0; i < dims; ++i) {
    int64_t low = usual[i] - stride[i], high = usual[i] + stride[i];
    if (wanted[i] < low || wanted[i] > high) {
      Words words("invalid output_size");
      for (int64_t size : wanted) words.add(" ").add(size);
      words.add(" (dim ").add(rlt::length(i)).add(" must be between ").add(low).add(" and ").add(high).add(")").raise();
    }
  }
  return std::vector<int64_t>(wanted.begin(), wanted.end());
}

inline Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const MaxUnpool1dFuncOptions& options) {
  std::vector<int64_t> size = _unpool_output_size(input, options.kernel_size(), options.stride(), options.padding(), options.output_size());
  size.push_back(1);
  return torch::max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1);
}
inline Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const MaxUnpool2dFuncOptions& options) {
  return torch::max_unpool2d(input, indices,
                             _unpool_output_size(input, options.kernel_size(), options.stride(), options.padding(), options.output_size()));
}
inline Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const MaxUnpool3dFuncOptions& options) {
  return torch::max_unpool3d(input, indices,
                             _unpool_output_size(input, options.kernel_size(), options.stride(), options.padding(), options.output_size()),
                             options.stride(), options.padding());
}

namespace detail {
/// Size of the output and positions of the windows.
template <size_t D>
void complete_fractional(const char* name, const Tensor& input, FractionalMaxPoolOptions<D>& options) {
  if (!options.output_size() && !options.output_ratio()) {
    nn::detail::Words(name).add(" requires specifying either an output_size or an output_ratio").raise();
  }
  int64_t dims = static_cast<int64_t>(D);
  if (!options.output_size()) {
    ExpandingArray<D> size(0);
    for (int64_t i = 0; i < dims; ++i) (*size)[i] = static_cast<int64_t>(static_cast<double>(input.size(i - dims)) * (**options.output_ratio())[i]);
    options.output_size(size);
  }
  if (!options._random_samples().defined()) {
    int64_t batch = input.dim() == dims + 1 ? 1 : input.size(0);
    options._random_samples(torch::rand({batch, input.size(-dims - 1), dims}, TensorOptions(input.dtype()).device(input.device())));
  }
}
}  // namespace detail

RLT_LAZY std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(const Tensor& input, FractionalMaxPool2dFuncOptions options) {
  detail::complete_fractional("fractional_max_pool2d", input, options);
  return torch::fractional_max_pool2d(input, options.kernel_size(), *options.output_size(), options._random_samples());
}
RLT_LAZY Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options) {
  return std::get<0>(fractional_max_pool2d_with_indices(input, options));
}
RLT_LAZY std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(const Tensor& input, FractionalMaxPool3dFuncOptions options) {
  detail::complete_fractional("fractional_max_pool3d", input, options);
  return torch::fractional_max_pool3d(input, options.kernel_size(), *options.output_size(), options._random_samples());
}
RLT_LAZY Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& options) {
  return std::get<0>(fractional_max_pool3d_with_indices(input, options));
}

namespace detail {
/// Converts means of powers to norms.
inline Tensor norm_of_mean(const Tensor& mean, int64_t count, double norm_type) {
  return (torch::sign(mean) * torch::relu(torch::abs(mean))).mul(count).pow(1. / norm_type);
}
}  // namespace detail

inline Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options) {
  Tensor mean = torch::avg_pool1d(input.pow(options.norm_type()), options.kernel_size(), options.stride(), 0, options.ceil_mode());
  return detail::norm_of_mean(mean, (*options.kernel_size())[0], options.norm_type());
}
inline Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options) {
  Tensor mean = torch::avg_pool2d(input.pow(options.norm_type()), options.kernel_size(), options.stride(), 0, options.ceil_mode());
  return detail::norm_of_mean(mean, (*options.kernel_size())[0] * (*options.kernel_size())[1], options.norm_type());
}
inline Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options) {
  Tensor mean = torch::avg_pool3d(input.pow(options.norm_type()), options.kernel_size(), options.stride(), 0, options.ceil_mode());
  return detail::norm_of_mean(mean, (*options.kernel_size())[0] * (*options.kernel_size())[1] * (*options.kernel_size())[2], options.norm_type());
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
