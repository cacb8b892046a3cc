// FixupTraceScopeBlocks: turns the blocks of modules in the graph of a trace into calls of their methods.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

/// Nothing to do: traces have no blocks of modules.
inline void FixupTraceScopeBlocks(std::shared_ptr<Graph>&, Module*) {}

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
