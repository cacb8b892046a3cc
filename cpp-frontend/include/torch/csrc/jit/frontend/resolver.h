// torch::jit::Resolver: finds the types that source code names.
#pragma once

#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/frontend/source_range.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

struct Resolver {
  virtual ~Resolver() = default;
  /// Null if there is no such type.
  virtual c10::TypePtr resolveType(const std::string&, const SourceRange&) { return nullptr; }
};

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
