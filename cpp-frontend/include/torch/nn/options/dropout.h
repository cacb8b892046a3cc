// Options of dropout.
#pragma once

#include <torch/arg.h>
#include <torch/types.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

struct DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}
  /// The probability that an element becomes zero.
  TORCH_ARG(double, p) = 0.5;
  /// Writes over the input.
  TORCH_ARG(bool, inplace) = false;
};

namespace functional {
struct DropoutFuncOptions {
  TORCH_ARG(double, p) = 0.5;
  /// Nothing happens unless training.
  TORCH_ARG(bool, training) = true;
  TORCH_ARG(bool, inplace) = false;
};
}  // namespace functional

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
