// NormalizeOps: replaces the names of aliases by those of their operators in a graph.
#pragma once

#include <torch/csrc/jit/api/function.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

/// Nothing to do: graphs have the names of the operators.
inline void NormalizeOps(const std::shared_ptr<Graph>&) {}

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
