// Grid sampling.
#pragma once

#include <torch/nn/detail/words.h>
#include <torch/nn/options/vision.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

/// The grid of an affine transformation, for grid_sample.
inline Tensor affine_grid(const Tensor& theta, const IntArrayRef& size, bool align_corners = false) {
  using nn::detail::Words;
  if (!theta.is_floating_point()) {
    Words("Expected theta to have floating point type, but got ").add(std::string(theta.dtype().name())).raise();
  }
  bool flat = size.size() == 4;
  if (!flat && size.size() != 5) {
    Words("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size ").add(size).raise();
  }
  int64_t rows = flat ? 2 : 3;
  if (theta.dim() != 3 || theta.size(-2) != rows || theta.size(-1) != rows + 1) {
    Words(flat ? "Expected a batch of 2D affine matrices of shape Nx2x3 for size " : "Expected a batch of 3D affine matrices of shape Nx3x4 for size ")
        .add(size).add(". Got ").add(theta.sizes()).add(".").raise();
  }
  for (int64_t extent : size) {
    if (extent <= 0) Words("Expected non-zero, positive output size. Got ").add(size).raise();
  }
  return torch::affine_grid_generator(theta, size, align_corners);
}

/// Samples the input at the points of the grid, from -1 to 1.
inline Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options = {}) {
  if (!options.align_corners()) {
    TORCH_WARN(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify align_corners=True if the old "
        "behavior is desired. See the documentation of grid_sample for details.");
  }
  return torch::grid_sampler(input, grid, static_cast<int64_t>(options.mode().index()), static_cast<int64_t>(options.padding_mode().index()),
                             options.align_corners().value_or(false));
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
