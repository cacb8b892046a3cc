// Interpolation.
#pragma once

#include <torch/nn/detail/words.h>
#include <torch/nn/functional/pooling.h>
#include <torch/nn/options/upsampling.h>

#include <cmath>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

namespace detail {
/// The size of the output, from a size or from factors.
inline std::vector<int64_t> interpolated_size(const Tensor& input, const InterpolateFuncOptions& options) {
  size_t dims = static_cast<size_t>(input.dim()) - 2;
  if (!options.size() && !options.scale_factor()) rlt::raise<Error>("either size or scale_factor should be defined");
  if (options.size() && options.scale_factor()) rlt::raise<Error>("only one of size or scale_factor should be defined");
  if (options.size()) return *options.size();
  const std::vector<double>& factors = *options.scale_factor();
  if (factors.size() != dims) {
    nn::detail::Words("scale_factor shape must match input shape. Input is ").add(rlt::length(dims)).add("D, scale_factor size is ")
        .add(c10::ArrayRef<double>(factors)).raise();
  }
  if (!options.recompute_scale_factor() && std::floor(factors.back()) != factors.back()) {
    TORCH_WARN(
        "The default behavior for interpolate/upsample with float scale_factor changed in 1.6.0 to align with other frameworks/libraries, and uses "
        "scale_factor directly, instead of relying on the computed output size. If you wish to keep the old behavior, please set "
        "recompute_scale_factor=True. See the documentation of nn.Upsample for details. ");
  }
  std::vector<int64_t> size;
  for (size_t i = 0; i < dims; ++i) {
    size.push_back(static_cast<int64_t>(std::floor(static_cast<double>(input.size(static_cast<int64_t>(i) + 2)) * factors[i])));
  }
  return size;
}
}  // namespace detail

inline Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {}) {
  using nn::detail::Words;
  enum Mode { Nearest, Linear, Bilinear, Bicubic, Trilinear, Area, NearestExact };
  Mode mode = static_cast<Mode>(options.mode().index());
  if (mode == Nearest || mode == Area) {
    if (options.align_corners()) {
      rlt::raise<Error>("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear");
    }
  } else if (!options.align_corners()) {
    c10::warn(c10::Warning(Words("Default upsampling behavior when mode=").add(enumtype::get_enum_name(options.mode()))
                               .add(" is changed to align_corners=False since 0.4.0. Please specify align_corners=True if the old behavior is desired. "
                                    "See the documentation of nn.Upsample for details.").text(),
                           RLT_SOURCE_LOCATION));
  }
  bool align = options.align_corners().value_or(false);
  int64_t dim = input.dim();
  auto unsupported = [&] {
    Words("Input Error: Only 3D, 4D and 5D input Tensors supported (got ").add(dim).add("D) for the modes: nearest | linear | bilinear | bicubic | trilinear (got ")
        .add(enumtype::get_enum_name(options.mode())).add(")").raise();
  };
  if (dim < 3 || dim > 5) unsupported();
  std::optional<double> scale[3];
  if (options.scale_factor() && !options.recompute_scale_factor().value_or(false)) {
    const std::vector<double>& factors = *options.scale_factor();
    for (size_t i = 0; i < factors.size() && i < 3; ++i) scale[i] = factors[i];
  }
  if (options.antialias()) {
    if (dim != 4 || (mode != Bilinear && mode != Bicubic)) rlt::raise<Error>("Anti-alias option is only supported for bilinear and bicubic modes");
    std::vector<int64_t> size = detail::interpolated_size(input, options);
    if (mode == Bilinear) return torch::_upsample_bilinear2d_aa(input, IntArrayRef(size), align, scale[0], scale[1]);
    return torch::_upsample_bicubic2d_aa(input, IntArrayRef(size), align, scale[0], scale[1]);
  }
  int64_t needed = mode == Linear ? 3 : mode == Bilinear ? 4 : mode == Trilinear ? 5 : dim;
  if (needed != dim) {
    static constexpr const char* names[] = {"", "linear", "bilinear", "", "trilinear"};
    Words("Got ").add(dim).add("D input, but ").add(names[mode]).add(" mode needs ").add(needed).add("D input").raise();
  }
  if (mode == Bicubic && dim != 4) unsupported();
  std::vector<int64_t> size = detail::interpolated_size(input, options);
  switch (mode) {
    case Nearest:
      if (dim == 3) return torch::upsample_nearest1d(input, IntArrayRef(size), scale[0]);
      if (dim == 4) return torch::upsample_nearest2d(input, IntArrayRef(size), scale[0], scale[1]);
      return torch::upsample_nearest3d(input, IntArrayRef(size), scale[0], scale[1], scale[2]);
    case NearestExact:
      if (dim == 3) return torch::_upsample_nearest_exact1d(input, IntArrayRef(size), scale[0]);
      if (dim == 4) return torch::_upsample_nearest_exact2d(input, IntArrayRef(size), scale[0], scale[1]);
      return torch::_upsample_nearest_exact3d(input, IntArrayRef(size), scale[0], scale[1], scale[2]);
    case Area:
      if (dim == 3) return torch::adaptive_avg_pool1d(input, size);
      if (dim == 4) return torch::adaptive_avg_pool2d(input, size);
      return torch::adaptive_avg_pool3d(input, size);
    case Linear: return torch::upsample_linear1d(input, IntArrayRef(size), align, scale[0]);
    case Bilinear: return torch::upsample_bilinear2d(input, IntArrayRef(size), align, scale[0], scale[1]);
    case Bicubic: return torch::upsample_bicubic2d(input, IntArrayRef(size), align, scale[0], scale[1]);
    case Trilinear: return torch::upsample_trilinear3d(input, IntArrayRef(size), align, scale[0], scale[1], scale[2]);
  }
  unsupported();
  return {};
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
