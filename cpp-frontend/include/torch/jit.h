// torch::jit::compile: functions of TorchScript from source code.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <memory>
#include <string>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

/// Compiles functions and classes.
RLT_LAZY std::shared_ptr<CompilationUnit> compile(const std::string& source) { return std::make_shared<CompilationUnit>(source); }

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
