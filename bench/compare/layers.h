// Layers that several networks have.
#pragma once

#include <torch/torch.h>

namespace compare {

/// A convolution of this kernel that keeps the size, but for the stride. Before a batch norm, it has no use for a bias.
inline torch::nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, int64_t groups = 1, bool bias = false) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).groups(groups).bias(bias));
}

}  // namespace compare
