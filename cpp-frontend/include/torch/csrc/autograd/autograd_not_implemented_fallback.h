// Kernels for Autograd and ADInplaceOrView of operators without a derivative. The library does this for every such
// operator: its results have a node, and backward through them is an error that names the operator.
#pragma once

#include <torch/library.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

inline CppFunction autogradNotImplementedFallback() { return CppFunction::makeFallthrough(); }
inline CppFunction autogradNotImplementedInplaceOrViewFallback() { return CppFunction::makeFallthrough(); }

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
